/* Counters of one node in one task: written by the task's thread, read by anybody.
 *
 * They are part of the checkpoint: a snapshot is taken at the barrier, so that after a restore they
 * count every row once. For every operator holds
 *
 *   in = passed on + filtered + late + absorbed + skipped + dead
 *
 * and the task checks it at each barrier.
 */
#ifndef SR_RUN_METRICS_H
#define SR_RUN_METRICS_H

#include <stdatomic.h>

#include "engine/plan/plan.h"

/* Kept in checkpoints, by these names. */
#define COUNTER_LIST(X) \
    X(in)               \
    X(out)              \
    X(filtered)         \
    X(late)             \
    X(absorbed)         \
    X(skipped)          \
    X(dead)             \
    X(bytes_in)         \
    X(bytes_out)

enum counter_name {
#define COUNTER_ENUM(name) COUNTER_##name,
    COUNTER_LIST(COUNTER_ENUM)
#undef COUNTER_ENUM
        COUNTER_COUNT
};

struct counters {
    _Atomic int64_t value[COUNTER_COUNT]; /* relaxed: each alone is right, not all together */
    _Atomic int64_t bytes_total;          /* of known splits; -1: not known */
    _Atomic int64_t watermark;            /* of the input, ms */
    _Atomic bool is_caught_up;            /* of a source: its last look found nothing to read */
    int64_t owed; /* the owner's: what did not add up in what was restored */
};

/* Plain numbers. */
struct counts {
    int64_t value[COUNTER_COUNT];
};

void counters_init(struct counters *c);

/* Only the owner adds, so a plain load and store will do. */
static inline void counters_add(struct counters *c, enum counter_name name, int64_t by)
{
    int64_t v = atomic_load_explicit(&c->value[name], memory_order_relaxed);
    atomic_store_explicit(&c->value[name], v + by, memory_order_relaxed);
}

static inline void counters_watermark(struct counters *c, int64_t ms)
{
    atomic_store_explicit(&c->watermark, ms, memory_order_relaxed);
}

static inline void counters_caught_up(struct counters *c, bool is)
{
    atomic_store_explicit(&c->is_caught_up, is, memory_order_relaxed);
}

/* Rows that came in and are in none of the other counters: 0, for an operator with state too; the
 * sum is right between views, as at a barrier. */
int64_t counters_lost(const struct counters *c, const struct plan_node *n);
void counters_get(const struct counters *c, struct counts *out);
void counts_add(struct counts *to, const struct counts *by);

const char *counter_text(enum counter_name name); /* "bytes_in" */
/* Name of node `n`'s counter in a manifest: "uid.in", and "uid#2.in" for the second node of the
 * same uid in the order of the plan. False: it does not fit. */
bool counter_path(const struct plan *p, uint32_t n, enum counter_name name, char *out, size_t size);

#endif
