/* Wakes the worker of a task, if it sleeps.
 *
 * While everybody is busy nobody makes a system call. The order that keeps a wake from being lost:
 * who sleeps sets is_parked and then looks at its rings once more; who puts writes the ring and
 * then looks at is_parked. All four accesses are sequentially consistent, so one of the two sees
 * the other.
 */
#ifndef SR_RUN_WAKER_H
#define SR_RUN_WAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct waker {
    _Atomic bool is_parked; /* seq_cst, see above */
    void (*wake)(void *ctx);
    void *ctx;
};

/* NULL allowed: whoever steps the tasks looks at all of them anyway. */
static inline void waker_wake(struct waker *w)
{
    if (w && atomic_load(&w->is_parked)) w->wake(w->ctx);
}

#endif
