/* The moment that a row of a TIMESTAMP or TIMESTAMP_LTZ column means: seconds, nanoseconds. */
#ifndef SR_TEXT_INSTANT_H
#define SR_TEXT_INSTANT_H

#include <streamrun/batch.h>

#include "connectors/text/moment.h"

static inline struct moment instant_of(int64_t units, int64_t per_second)
{
    int64_t seconds = units / per_second, rest = units % per_second;
    if (rest < 0) { /* floor, before 1970 too */
        seconds--;
        rest += per_second;
    }
    return (struct moment){.seconds = seconds, .nano = (int32_t)(rest * (1000000000 / per_second))};
}

static inline struct moment instant_of_row(const struct sr_column *c, uint32_t r)
{
    if (c->type.length <= 6) {
        return instant_of(((const int64_t *)c->values)[r], 1000000);
    }
    struct sr_instant i = ((const struct sr_instant *)c->values)[r];
    struct moment m = instant_of(i.ms, 1000);
    m.nano += i.ns;
    return m;
}

#endif
