/* MULTISET as texts show it: each value once, and how often it is there. */
#ifndef SR_TEXT_BAG_H
#define SR_TEXT_BAG_H

#include <string.h>

#include <streamrun/batch.h>

/* The same value; of values with an inside only two NULLs are. */
static inline bool bag_is_same(const struct sr_column *c, uint32_t a, uint32_t b)
{
    if (!sr_is_valid(c, a) || !sr_is_valid(c, b)) {
        return sr_is_valid(c, a) == sr_is_valid(c, b);
    }
    if (sr_has_bytes(c->type.kind)) {
        uint32_t len_a = 0, len_b = 0;
        const char *x = sr_text(c, a, &len_a), *y = sr_text(c, b, &len_b);
        return len_a == len_b && memcmp(x, y, len_a) == 0;
    }
    size_t size = sr_is_nested(c->type.kind) ? 0 : sr_value_size(&c->type);
    const uint8_t *values = c->values;
    return size > 0 && memcmp(values + a * size, values + b * size, size) == 0;
}

/* How many of the elements s are the one at `at`; 0 when one in front of it is, too. */
static inline uint32_t bag_times(const struct sr_column *c, struct sr_span s, uint32_t at)
{
    uint32_t n = 1;
    for (uint32_t i = s.at; i < at; i++) {
        if (bag_is_same(c, i, at)) {
            return 0;
        }
    }
    for (uint32_t i = at + 1; i < s.at + s.len; i++) {
        n += bag_is_same(c, i, at) ? 1 : 0;
    }
    return n;
}

#endif
