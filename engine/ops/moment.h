/* Event time: microseconds in columns, milliseconds in watermarks and windows. */
#ifndef SR_OPS_MOMENT_H
#define SR_OPS_MOMENT_H

#include <streamrun/types.h>

/* The millisecond that a moment lies in, before 1970 too. */
static inline int64_t moment_ms(int64_t us) { return us / 1000 - (us % 1000 < 0); }

/* May a column of this type be a time attribute? */
static inline bool moment_is_time(const struct sr_type *t)
{
    return sr_is_timestamp(t->kind) && t->length <= 3;
}

#endif
