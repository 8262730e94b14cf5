/* Which entries of a map are due next: a heap of times, told of every timer that is set.
 *
 * The truth is in the entries: an element whose entry has another timer by now is stale, and is
 * dropped when it comes up or when stale ones outnumber the live. So a timer is moved and cleared
 * without a search. Elements are ordered by time, then by the hash of their key, which is the same
 * in every run; entries of one time and one hash are put in order by whoever takes them.
 */
#ifndef SR_STATE_TIMERS_H
#define SR_STATE_TIMERS_H

#include <streamrun/error.h>

struct timer {
    int64_t ms;
    uint32_t hash;
    uint32_t slot;
};

struct timers {
    struct timer *heap;
    uint32_t count, room;
    uint32_t armed; /* entries that have a timer; kept by the map */
};

void timers_done(struct timers *t);
sr_rc timers_reserve(struct timers *t, uint32_t more);
void timers_push(struct timers *t, struct timer one); /* room must have been reserved */
struct timer timers_pop(struct timers *t);            /* the first; there must be one */
/* Keeps those that `is_live` says, when stale ones have come to outnumber them. */
void timers_trim(struct timers *t, bool (*is_live)(const void *ctx, const struct timer *one),
                 const void *ctx);

static inline bool timers_before(const struct timer *a, const struct timer *b)
{
    return a->ms != b->ms ? a->ms < b->ms : a->hash < b->hash;
}

#endif
