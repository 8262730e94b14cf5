/* A bounded queue between exactly one writer and one reader.
 *
 * Each side owns one index and one cache line, and keeps a stale copy of the other's index, so that
 * it reads the shared one only when the copy says full (or empty). Full is how back-pressure
 * travels: nothing else flows against the stream. One slot is kept for what is urgent: rows and
 * watermarks use the others only, so that a barrier finds room behind a full ring of rows.
 *
 * A put wakes the reader's worker if it sleeps. A writer that was refused is remembered, and woken
 * by the next take.
 */
#ifndef SR_RUN_RING_H
#define SR_RUN_RING_H

#include <stdalign.h>
#include <stdatomic.h>

#include "engine/base/assert.h"
#include "engine/run/msg.h"
#include "engine/run/waker.h"

#define RING_SLOTS  8u /* a power of two: a few batches in flight an edge, no more */
#define RING_URGENT 1u /* of them, for barriers and the end */

_Static_assert((RING_SLOTS & (RING_SLOTS - 1)) == 0, "ring slots must be a power of two");
_Static_assert(RING_URGENT < RING_SLOTS, "rows need slots too");

struct ring {
    alignas(64) _Atomic uint32_t tail; /* the writer's; seq_cst against waker.is_parked */
    uint32_t head_seen;
    struct waker *writer; /* of the task's worker, set before it runs; NULL: nobody sleeps */
    uint32_t writer_task, reader_task;
    alignas(64) _Atomic uint32_t head; /* the reader's; seq_cst against is_refused */
    uint32_t tail_seen;
    struct waker *reader;
    alignas(64) _Atomic bool is_refused; /* the writer found it full, and wants to know of room */
    alignas(64) struct msg slot[RING_SLOTS];
};

static inline bool ring_is_urgent(enum msg_kind kind)
{
    return kind == MSG_BARRIER || kind == MSG_END;
}

/* The writer's: is there room for one more, with `kept` slots left free? */
static inline bool ring_has_room(struct ring *r, uint32_t tail, uint32_t kept)
{
    if (tail - r->head_seen + kept >= RING_SLOTS) r->head_seen = atomic_load(&r->head);
    return tail - r->head_seen + kept < RING_SLOTS;
}

/* Takes what m carries; false: full, m is still the caller's. */
static inline bool ring_put(struct ring *r, const struct msg *m)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint32_t kept = ring_is_urgent(m->kind) ? 0 : RING_URGENT;
    sr_assert_hot(m->kind != MSG_NONE);
    if (!ring_has_room(r, tail, kept)) {
        atomic_store(&r->is_refused, true);
        if (!ring_has_room(r, tail, kept)) return false; /* a take behind this line sees the mark */
    }
    r->slot[tail & (RING_SLOTS - 1)] = *m;
    atomic_store(&r->tail, tail + 1);
    waker_wake(r->reader);
    return true;
}

/* The caller owns what m carries. */
static inline bool ring_take(struct ring *r, struct msg *m)
{
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (head == r->tail_seen) {
        r->tail_seen = atomic_load(&r->tail);
        if (head == r->tail_seen) return false;
    }
    sr_assert_hot(r->tail_seen - head <= RING_SLOTS);
    *m = r->slot[head & (RING_SLOTS - 1)];
    atomic_store(&r->head, head + 1);
    if (atomic_load(&r->is_refused)) {
        atomic_store(&r->is_refused, false);
        waker_wake(r->writer);
    }
    return true;
}

#endif
