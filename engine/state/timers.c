#include "engine/state/timers.h"

#include <stdlib.h>

#include "engine/base/assert.h"

#define TIMERS_START     64u
#define TIMERS_STALE_MIN 1024u /* fewer stale elements are not worth a pass */

static void timers_sink(struct timers *t, uint32_t at)
{
    struct timer one = t->heap[at];
    for (;;) {
        uint64_t child = (uint64_t)at * 2 + 1;
        if (child >= t->count) {
            break;
        }
        if (child + 1 < t->count && timers_before(&t->heap[child + 1], &t->heap[child])) {
            child++;
        }
        if (!timers_before(&t->heap[child], &one)) {
            break;
        }
        t->heap[at] = t->heap[child];
        at = (uint32_t)child;
    }
    t->heap[at] = one;
}

void timers_done(struct timers *t)
{
    free(t->heap);
    *t = (struct timers){0};
}

sr_rc timers_reserve(struct timers *t, uint32_t more)
{
    if (t->room - t->count >= more) {
        return SR_OK;
    }
    uint64_t room = t->room ? t->room : TIMERS_START;
    while (room < (uint64_t)t->count + more) {
        room += room / 2;
    }
    if (room > UINT32_MAX) {
        return SR_ELIMIT;
    }
    struct timer *heap = realloc(t->heap, room * sizeof(*heap));
    if (!heap) {
        return SR_ENOMEM;
    }
    t->heap = heap;
    t->room = (uint32_t)room;
    return SR_OK;
}

void timers_push(struct timers *t, struct timer one)
{
    sr_assert_hot(t->count < t->room);
    uint32_t at = t->count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!timers_before(&one, &t->heap[parent])) {
            break;
        }
        t->heap[at] = t->heap[parent];
        at = parent;
    }
    t->heap[at] = one;
}

struct timer timers_pop(struct timers *t)
{
    sr_assert(t->count > 0);
    struct timer first = t->heap[0];
    t->heap[0] = t->heap[--t->count];
    if (t->count > 0) {
        timers_sink(t, 0);
    }
    return first;
}

void timers_trim(struct timers *t, bool (*is_live)(const void *ctx, const struct timer *one),
                 const void *ctx)
{
    if (t->count < TIMERS_STALE_MIN || t->count / 2 < t->armed) {
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (is_live(ctx, &t->heap[i])) {
            t->heap[kept++] = t->heap[i];
        }
    }
    t->count = kept;
    for (uint32_t i = kept / 2; i-- > 0;) {
        timers_sink(t, i);
    }
}
