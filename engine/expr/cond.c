#include "engine/expr/cond.h"

#include <string.h>

#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/bits.h"
#include "engine/expr/promote.h"

/* The validity of words of 64 rows; NULL: every row has a value. */
static inline uint64_t cond_word(const uint64_t *valid, uint32_t w)
{
    return valid ? valid[w] : UINT64_MAX;
}

/* --- AND, OR. --------------------------------------------------------------------------------- */

/* `decides` is the value that wins whatever stands beside it: 0 for AND, 1 for OR. */
static void cond_merge_picked(struct call *k, uint8_t decides)
{
    const uint8_t *a = k->arg[0]->values, *b = k->arg[1]->values;
    const uint64_t *av = k->arg[0]->valid, *bv = k->arg[1]->valid;
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        bool has_a = valid_bit(av, r), has_b = valid_bit(bv, r);
        if ((has_a && a[r] == decides) || (has_b && b[r] == decides)) {
            to[r] = decides;
        } else if (has_a && has_b) {
            to[r] = !decides;
        } else {
            call_null(k, r);
        }
    }
}

/* Which rows of an AND or OR have a value, 64 at a time. */
static void cond_merge_valid(struct call *k, uint8_t decides)
{
    uint64_t a[SR_BATCH_WORDS], b[SR_BATCH_WORDS], flip = decides ? 0 : UINT64_MAX;
    bits_pack(k->arg[0]->values, k->n, a);
    bits_pack(k->arg[1]->values, k->n, b);
    k->out->valid = k->out->valid_space;
    for (uint32_t w = 0; w < BITS_OF(k->n); w++) {
        uint64_t has_a = cond_word(k->arg[0]->valid, w), has_b = cond_word(k->arg[1]->valid, w);
        uint64_t decided = ((a[w] ^ flip) & has_a) | ((b[w] ^ flip) & has_b);
        k->out->valid_space[w] = decided | (has_a & has_b);
    }
}

/* NULLs of an AND or OR. True: the values, too. */
static bool cond_merge_nulls(struct call *k, uint8_t decides)
{
    bool has_nulls = k->arg[0]->valid || k->arg[1]->valid;
    if (has_nulls && k->sel) {
        cond_merge_picked(k, decides);
        return true;
    }
    if (has_nulls) {
        cond_merge_valid(k, decides);
    }
    return false;
}

/* Only the lowest bit counts: behind a first argument that decides, the second may be anything. */
KERNEL_WIDE static void cond_run_and(struct call *k)
{
    const uint8_t *a = k->arg[0]->values, *b = k->arg[1]->values;
    uint8_t *to = k->out->values;
    if (cond_merge_nulls(k, 0)) {
        return;
    }
    CALL_LOOP(k, to[r] = (uint8_t)(a[r] & b[r] & 1));
}

KERNEL_WIDE static void cond_run_or(struct call *k)
{
    const uint8_t *a = k->arg[0]->values, *b = k->arg[1]->values;
    uint8_t *to = k->out->values;
    if (cond_merge_nulls(k, 1)) {
        return;
    }
    CALL_LOOP(k, to[r] = (uint8_t)((a[r] | b[r]) & 1));
}
const struct kernel cond_and = {.run = cond_run_and, .flags = KERNEL_NULLS | KERNEL_DENSE};
const struct kernel cond_or = {.run = cond_run_or, .flags = KERNEL_NULLS | KERNEL_DENSE};

/* --- One of two. ------------------------------------------------------------------------------ */

/* By a mask: a branch would be mispredicted. */
#define COND_BLEND(T)                                                                     \
    KERNEL_WIDE static void cond_blend_##T(struct call *k, const uint8_t *by, const T *x, \
                                           const T *y)                                    \
    {                                                                                     \
        T *to = k->out->values;                                                           \
        CALL_LOOP(k, T m = (T)(0u - (T)by[r]); to[r] = (T)((x[r] & m) | (y[r] & (T)~m))); \
    }

COND_BLEND(uint8_t)
COND_BLEND(uint16_t)
COND_BLEND(uint32_t)
COND_BLEND(uint64_t)

static void cond_blend_wide(struct call *k, const uint8_t *by, const struct sr_wide *x,
                            const struct sr_wide *y)
{
    struct sr_wide *to = k->out->values;
    CALL_LOOP(k, uint64_t m = UINT64_C(0) - by[r]; int64_t h = (int64_t)m;
              to[r].low = (x[r].low & m) | (y[r].low & ~m);
              to[r].high = (x[r].high & h) | (y[r].high & ~h));
}

/* by[r]: 1 where row r takes a, else 0. */
static void cond_blend(struct call *k, const uint8_t *by, const struct sr_column *a,
                       const struct sr_column *b)
{
    switch (sr_value_size(&k->out->type)) {
    case 1:
        cond_blend_uint8_t(k, by, a->values, b->values);
        break;
    case 2:
        cond_blend_uint16_t(k, by, a->values, b->values);
        break;
    case 4:
        cond_blend_uint32_t(k, by, a->values, b->values);
        break;
    case 8:
        cond_blend_uint64_t(k, by, a->values, b->values);
        break;
    default:
        cond_blend_wide(k, by, a->values, b->values);
        break;
    }
    if (sr_has_bytes(k->out->type.kind) && !k->out->bytes) {
        k->out->bytes = buffer_hold(a->bytes);
        k->out->bytes_used = a->bytes->capacity; /* not ours to write behind */
    }
}

/* The same for validity: all rows of the view, which is cheaper than picking. */
static void cond_blend_valid(struct call *k, const uint64_t *by, const struct sr_column *a,
                             const struct sr_column *b)
{
    if (!a->valid && !b->valid) {
        return;
    }
    k->out->valid = k->out->valid_space;
    for (uint32_t w = 0; w < BITS_OF(k->out->rows); w++) {
        k->out->valid_space[w] =
            (by[w] & cond_word(a->valid, w)) | (~by[w] & cond_word(b->valid, w));
    }
}

/* by[r]: 1 where a BOOLEAN with NULLs is TRUE. */
static void cond_true_bytes(const struct call *k, const struct sr_column *when, uint8_t *by)
{
    const uint8_t *is = when->values;
    bits_spread(when->valid, k->out->rows, by);
    CALL_LOOP(k, by[r] &= is[r]);
}

static void cond_run_select(struct call *k)
{
    const struct sr_column *when = k->arg[0];
    const uint8_t *is = when->values;
    uint8_t by[SR_BATCH_ROWS];
    uint64_t bits[SR_BATCH_WORDS];
    if (when->valid) {
        cond_true_bytes(k, when, by);
        is = by;
    }
    cond_blend(k, is, k->arg[1], k->arg[2]);
    if (k->arg[1]->valid || k->arg[2]->valid) {
        bits_pack(is, k->out->rows, bits);
        cond_blend_valid(k, bits, k->arg[1], k->arg[2]);
    }
}
const struct kernel cond_select = {.run = cond_run_select, .flags = KERNEL_NULLS | KERNEL_DENSE};

static void cond_run_first(struct call *k)
{
    const struct sr_column *a = k->arg[0];
    uint8_t by[SR_BATCH_ROWS];
    if (!a->valid) {
        call_alias(k, 0);
        return;
    }
    bits_spread(a->valid, k->out->rows, by);
    cond_blend(k, by, a, k->arg[1]);
    if (k->arg[1]->valid) {
        cond_blend_valid(k, a->valid, a, k->arg[1]);
    }
}
const struct kernel cond_first = {.run = cond_run_first, .flags = KERNEL_NULLS | KERNEL_DENSE};

/* --- NOT, IS ... ------------------------------------------------------------------------------ */

static void cond_run_not(struct call *k)
{
    const uint8_t *a = k->arg[0]->values;
    uint8_t *to = k->out->values;
    CALL_LOOP(k, to[r] = a[r] == 0);
}
const struct kernel cond_not = {.run = cond_run_not, .flags = KERNEL_DENSE};

/* Whether a value is there, for all rows of the view; `to` has room for a multiple of 64. */
static void cond_valid_bytes(const struct call *k, uint8_t *to)
{
    if (k->arg[0]->valid) {
        bits_spread(k->arg[0]->valid, k->out->rows, to);
    } else {
        memset(to, 1, k->out->rows);
    }
}

static void cond_run_not_null(struct call *k) { cond_valid_bytes(k, k->out->values); }
static void cond_run_null(struct call *k)
{
    uint8_t *to = k->out->values;
    cond_valid_bytes(k, to);
    for (uint32_t r = 0; r < k->out->rows; r++) {
        to[r] ^= 1;
    }
}
const struct kernel cond_null = {.run = cond_run_null, .flags = KERNEL_NULLS | KERNEL_DENSE};
const struct kernel cond_not_null = {.run = cond_run_not_null,
                                     .flags = KERNEL_NULLS | KERNEL_DENSE};

/* Whether the value is there and is `is`. */
static void cond_is(struct call *k, uint8_t is, uint8_t negated)
{
    const uint8_t *a = k->arg[0]->values;
    uint8_t *to = k->out->values;
    cond_valid_bytes(k, to);
    CALL_LOOP(k, to[r] = (uint8_t)((to[r] & (a[r] == is)) ^ negated));
}
static void cond_run_true(struct call *k) { cond_is(k, 1, 0); }
static void cond_run_not_true(struct call *k) { cond_is(k, 1, 1); }
static void cond_run_false(struct call *k) { cond_is(k, 0, 0); }
static void cond_run_not_false(struct call *k) { cond_is(k, 0, 1); }

const struct kernel cond_tests[4] = {
    {.run = cond_run_true, .flags = KERNEL_NULLS | KERNEL_DENSE},
    {.run = cond_run_not_true, .flags = KERNEL_NULLS | KERNEL_DENSE},
    {.run = cond_run_false, .flags = KERNEL_NULLS | KERNEL_DENSE},
    {.run = cond_run_not_false, .flags = KERNEL_NULLS | KERNEL_DENSE},
};
