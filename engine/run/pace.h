/* How fast a source may read: a quota of records by time, as a plain calculation.
 *
 * What was not read in time is not made up for by more than one second's worth, so that a source
 * that slept does not come back in a flood.
 */
#ifndef SR_RUN_PACE_H
#define SR_RUN_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    double per_us;   /* records; 0: no limit */
    double credit;   /* records that may be read now */
    int64_t last_us; /* when credit was counted */
};

/* `rate` records a second for all of `parts` subtasks together; 0: no limit. */
static inline struct pace pace_of(int64_t rate, uint32_t parts)
{
    return (struct pace){.per_us = (double)rate / (double)parts / 1e6, .credit = 1, .last_us = -1};
}

static inline bool pace_is_on(const struct pace *p) { return p->per_us > 0; }

/* Records that may be read now, at most `max`; 0: none before *due_us. */
static inline uint32_t pace_quota(struct pace *p, int64_t now_us, uint32_t max, int64_t *due_us)
{
    if (p->last_us < 0) p->last_us = now_us;
    p->credit += (double)(now_us - p->last_us) * p->per_us;
    p->last_us = now_us;
    double most = p->per_us * 1e6 > 1 ? p->per_us * 1e6 : 1;
    if (p->credit > most) p->credit = most;
    if (p->credit >= 1) return p->credit < max ? (uint32_t)p->credit : max;
    *due_us = now_us + 1 + (int64_t)((1 - p->credit) / p->per_us);
    return 0;
}

static inline void pace_spend(struct pace *p, uint32_t records) { p->credit -= records; }

#endif
