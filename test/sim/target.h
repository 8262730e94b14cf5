/* A target with transactions, as a Kafka broker has them: two transactional ids, each with an epoch
 * that fences older producers; transactions that are open too long are aborted; what a commit
 * answers may be lost, and a commit may arrive late, when its producer has gone on.
 *
 * Outlives every process. Nothing is random in here: who calls decides.
 */
#ifndef TEST_SIM_TARGET_H
#define TEST_SIM_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#define TARGET_SLOTS   2u
#define TARGET_DELAYS  8u
#define TARGET_OPEN_US INT64_C(300000) /* longer, and a transaction is aborted */

struct target_marker {
    uint64_t lineage, checkpoint; /* lineage 0: none */
};

struct target_slot {
    uint64_t epoch; /* of the only producer that is heard */
    bool is_open;
    int64_t since_us;
    struct target_marker marker; /* in the open transaction */
    uint32_t first;              /* its first row */
};

enum target_fate { TARGET_OPEN, TARGET_COMMITTED, TARGET_ABORTED };

struct target_row {
    char *text;
    uint32_t slot;
    enum target_fate fate;
};

/* A commit that is under way still. */
struct target_delay {
    bool is_set;
    uint32_t slot;
    uint64_t epoch;
    int64_t at_us;
};

struct target {
    struct target_slot slot[TARGET_SLOTS];
    struct target_row *row;
    uint32_t rows, room;
    struct target_marker marker; /* committed */
    struct target_delay delay[TARGET_DELAYS];
    bool times_out;
};

/* Time has passed: time-outs, and commits that arrive. Shows rows with `show`. */
typedef void (*target_show)(void *ctx, const char *row);
void target_tick(struct target *t, int64_t now_us, target_show show, void *ctx);

/* A new producer for an id: what is open is aborted, older producers are fenced. Its epoch. */
uint64_t target_init(struct target *t, uint32_t slot);
/* Each answers false when the producer is fenced. */
bool target_produce(struct target *t, uint32_t slot, uint64_t epoch, int64_t now_us,
                    const char *row, uint32_t len);
bool target_mark(struct target *t, uint32_t slot, uint64_t epoch, int64_t now_us,
                 struct target_marker m);
bool target_commit(struct target *t, uint32_t slot, uint64_t epoch, target_show show, void *ctx);
void target_commit_later(struct target *t, uint32_t slot, uint64_t epoch, int64_t at_us);
bool target_is_heard(const struct target *t, uint32_t slot, uint64_t epoch);
/* The newest row of an open transaction; UINT32_MAX: it has none. */
uint32_t target_last(const struct target *t, uint32_t slot);
void target_done(struct target *t);

#endif
