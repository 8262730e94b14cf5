/* The dead letters of one task: records set aside, written to the job's `dead-letter:` target.
 *
 * Each task has a writer of its own, so that letters need no edge: what it writes is prepared with
 * the task's own part of a checkpoint and committed with it, exactly as the rows of its sink.
 *
 *   letters_open -> { letters_add* -> letters_write }* -> letters_close
 *                      at a barrier: letters_write (all) -> sink_prepare(&l->sink) -> sink_save
 *
 * letters_add has room for whatever one step of a source, an operator or a sink may refuse, as long
 * as the task writes when letters_is_full says so.
 */
#ifndef SR_RUN_LETTERS_H
#define SR_RUN_LETTERS_H

#include <stdatomic.h>

#include "engine/run/letter.h"
#include "engine/run/sink_task.h"

#define LETTERS_VIEWS_MAX 4u /* full batches of letters that wait to be written */

/* What all tasks of a job count together; limits of 0 are none. */
struct letters_ledger {
    int64_t total_max, minute_max;
    _Atomic int64_t total;        /* ever, restored ones too; relaxed */
    _Atomic int64_t minute_us;    /* when the running minute began; relaxed */
    _Atomic int64_t minute_total; /* in it; relaxed */
};

/* The record that the job fails for. */
struct culprit {
    const struct plan_node *source; /* NULL: not known */
    const struct plan_node *node;   /* whose work it was */
    char *split, *words;            /* owned */
    int64_t offset;
};

void culprit_done(struct culprit *c); /* and empty again */

struct letters {
    const struct plan *plan;
    const struct plan_node *node; /* the target; NULL: this task sets nothing aside */
    const struct env *env;
    struct letters_ledger *ledger;
    struct sink sink;
    struct sr_builder rows;
    bool has_rows; /* the builder is open */
    struct sr_host host;
    struct host_ctx ctx;
    struct sr_view *full[LETTERS_VIEWS_MAX];
    uint32_t fulls;
    uint64_t attempt;
    uint64_t bytes; /* of raw text in the builder */
    /* Writes rows whose bytes are not kept, as JSON. */
    void *encoder; /* NULL: not open */
    const struct sr_schema *encoder_schema;
    struct sr_out json;
    bool is_over; /* a limit was passed: the job is to end */
    struct culprit culprit;
};

struct letters_conf {
    const struct plan *plan;
    const struct env *env;
    struct sr_home *home;
    struct letters_ledger *ledger;
    uint64_t attempt;                /* as people count */
    const struct sr_sink_open *open; /* part and parts count tasks that have letters */
    void (*ask)(void *ctx);          /* a checkpoint is wanted soon */
    void *ask_ctx;
};

sr_rc letters_open(struct letters *l, const struct letters_conf *conf, struct sr_error *err);
void letters_close(struct letters *l); /* half-open and never opened ones too */

/* For a task that has it open. Copies. SR_ELIMIT: more than the job allows were set aside. */
sr_rc letters_add(struct letters *l, const struct letter *one, struct sr_error *err);
bool letters_is_full(const struct letters *l); /* they are to be written before more comes */
/* Writes all there are. */
enum sink_did letters_write(struct letters *l, int64_t now_us, struct sr_wait *wait,
                            struct sr_error *err);

/* What becomes of a bad record, by the node's on-error: SR_EDATA (the job fails, and it is the
 * culprit), or it is counted and, where the job says so, becomes a dead letter. */
sr_rc letters_judge(struct letters *l, struct counters *count, const struct letter *one,
                    struct sr_error *err);

#endif
