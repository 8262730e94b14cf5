/* A small world for jobs that run without threads, disk or time: a plan made by hand, a source that
 * counts, a keyed operator that counts, a sink whose target outlives crashes, and a scheduler that
 * steps everything in an order drawn from a seed.
 *
 *   rows of split s: (key = (s + n) % keys, n)        n = 0 .. rows - 1
 *   source -> pass -HASH-> count -> ledger            count gives (key, how many so far)
 *
 * So with every row exactly once, the ledger holds (k, 1) .. (k, N_k) once each.
 */
#ifndef TEST_UNIT_RUN_WORLD_H
#define TEST_UNIT_RUN_WORLD_H

#include "engine/base/env.h"
#include "engine/ckpt/store.h"
#include "engine/plan/plan.h"
#include "engine/run/sched.h"

#define WORLD_SPLITS_MAX 16u
#define WORLD_KEYS       5u

/* A row that the ledger was given. */
struct world_row {
    int64_t key, count;
};

/* Rows of one prepare: by whom, and whether they are shown. */
struct world_batch {
    uint64_t lineage, attempt, checkpoint;
    uint32_t part, number;
    bool is_shown, is_discarded;
    uint32_t rows;
    struct world_row *row;
};

struct world {
    struct env env;
    int64_t now_us;
    uint64_t seed;
    bool is_threaded; /* env is the machine's, and chance is each thread's own; no faults then */
    /* what the job is like; set before world_plan */
    uint32_t splits, rows, per_poll; /* rows a split, rows a poll */
    bool is_bounded;
    uint32_t parts_source, parts_count, parts_sink;
    int64_t interval_us, timeout_us;
    int64_t concurrent;     /* checkpoints at once; 0: one */
    bool stops_checkpoints; /* when a source has ended */
    enum settings_restart restart;
    enum settings_mode mode;
    int64_t tolerable;
    int64_t retry_us; /* how long a sink waits for its target; 0: for ever */
    /* faults, by chance in a thousand */
    uint32_t busy_write, busy_commit, busy_prepare;
    int64_t fail_in;   /* calls of pass until one fails; negative: never */
    uint32_t failures; /* that were made */
    bool does_ask;     /* the sink asks for checkpoints */
    bool is_paused;    /* the source has nothing at the moment */
    /* the target */
    struct world_batch *batch;
    uint32_t batches;
    uint32_t opens, recovers, commits, flushes;
    /* the plan */
    struct settings settings;
    struct job job;
    struct plan plan;
    struct plan_node node[4];
    struct plan_vertex vertex[3];
    struct plan_edge edge[2];
    /* the crew that is being stepped */
    struct sched sched;
    struct crew *crew;
    bool was_sent; /* an order, since the last look */
};

void world_init(struct world *w, uint64_t seed);
void world_done(struct world *w);
uint64_t world_random(struct world *w, uint64_t below);
const struct plan *world_plan(struct world *w); /* from what the fields say */
struct store *world_store(struct world *w);     /* in memory; for store_close */

/* Steps until the job has ended, `steps` are done (true: it has not), or `until` answers true. */
bool world_run(struct world *w, struct supervise *s, uint64_t steps,
               bool (*until)(const struct world *w, struct supervise *s));

/* NULL, or what is wrong: every row of the source is in the ledger exactly once. */
const char *world_check(const struct world *w);
int64_t world_shown(const struct world *w); /* rows that are shown */

/* Types, for tests of single parts. */
extern const struct sr_source_type world_source_type;
extern const struct sr_op_type world_pass_type, world_count_type;
extern const struct sr_sink_type world_sink_type;
extern const struct sr_schema world_schema; /* key BIGINT, n BIGINT */

#endif
