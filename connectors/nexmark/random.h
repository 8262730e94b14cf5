/* The random numbers of Nexmark: java.util.SplittableRandom with a fixed gamma, value for value. */
#ifndef NEXMARK_RANDOM_H
#define NEXMARK_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
    r->state += UINT64_C(0x9E3779B97F4A7C15);
    return r->state;
}

static inline uint64_t random_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline int64_t random_i64(struct random *r) { return (int64_t)random_mix64(random_next(r)); }

static inline int32_t random_i32(struct random *r)
{
    uint64_t z = random_next(r);
    z = (z ^ (z >> 33)) * UINT64_C(0x62A9D9ED799705F5);
    return (int32_t)(((z ^ (z >> 28)) * UINT64_C(0xCB24D0A5C88C35B3)) >> 32);
}

/* In [0, 1). */
static inline double random_unit(struct random *r)
{
    return (double)((uint64_t)random_i64(r) >> 11) * 0x1.0p-53;
}

/* In [0, bound), bound > 0. Draws again where a plain remainder would favour small values. */
static inline uint32_t random_below(struct random *r, uint32_t bound)
{
    uint32_t x = (uint32_t)random_i32(r), m = bound - 1;
    if ((bound & m) == 0) return x & m;
    uint32_t u = x >> 1;
    for (;;) {
        uint32_t v = u % bound;
        if ((uint64_t)u - v + m <= INT32_MAX) return v;
        u = (uint32_t)random_i32(r) >> 1;
    }
}

static inline int64_t random_long_below(struct random *r, int64_t bound)
{
    if (bound < INT32_MAX) return random_below(r, (uint32_t)bound);
    int64_t v = random_i64(r) % bound;
    return v < 0 ? -v : v;
}

#endif
