/* Timestamps of any precision: how they lie in a column (batch.h), and as one kind of value. */
#ifndef SR_EXPR_INSTANT_H
#define SR_EXPR_INSTANT_H

#include <streamrun/batch.h>

#include "engine/expr/moment.h"

#define INSTANT_DIGITS_SMALL 6 /* digits that int64_t us hold */

static inline struct sr_instant instant_of_us(int64_t us)
{
    int64_t ms = moment_floor_div(us, 1000);
    return (struct sr_instant){.ms = ms, .ns = (int32_t)(us - ms * 1000) * 1000};
}

/* Times that 64 bits do not hold wrap, as in Java. */
static inline int64_t instant_us(struct sr_instant v)
{
    return (int64_t)((uint64_t)v.ms * 1000u + (uint64_t)(v.ns / 1000));
}

/* To that many digits, towards the past. */
static inline struct sr_instant instant_cut(struct sr_instant v, int32_t digits)
{
    static const int32_t unit[] = {1000, 100, 10, 1, 100000, 10000, 1000, 100, 10, 1};
    if (digits > 3) {
        v.ns -= v.ns % unit[digits < 9 ? digits : 9];
    } else {
        v.ms = moment_floor_div(v.ms, unit[digits]) * unit[digits];
        v.ns = 0;
    }
    return v;
}

static inline struct sr_instant instant_get(const struct sr_column *c, uint32_t r)
{
    return c->type.length <= INSTANT_DIGITS_SMALL ? instant_of_us(((const int64_t *)c->values)[r])
                                                  : ((const struct sr_instant *)c->values)[r];
}

/* Cut to the digits of the column. */
static inline void instant_put(struct sr_column *c, uint32_t r, struct sr_instant v)
{
    v = instant_cut(v, c->type.length);
    if (c->type.length <= INSTANT_DIGITS_SMALL) {
        ((int64_t *)c->values)[r] = instant_us(v);
    } else {
        v.unused = 0;
        ((struct sr_instant *)c->values)[r] = v;
    }
}

/* Ascends with time. */
static inline __int128 instant_order(struct sr_instant v)
{
    return (__int128)v.ms * 1000000 + v.ns;
}

#endif
