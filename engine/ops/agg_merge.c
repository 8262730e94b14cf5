#include "engine/base/assert.h"
#include "engine/expr/decimal.h"
#include "engine/expr/instant.h"
#include "engine/ops/agg_kernel.h"

/* Pairs of entries, as one argument of the loops below. */
struct agg_pairs {
    struct sr_map *to;
    const struct sr_map *from;
    const uint32_t *to_slot, *from_slot;
    uint32_t count;
};

static bool agg_has(const struct accumulator *c, const struct agg_pairs *p, uint32_t i)
{
    return p->from_slot[i] != SR_SLOT_NONE && !sr_map_is_null(p->from, p->from_slot[i], c->value);
}

static void agg_merge_counts(const struct agg_pairs *p, uint32_t column)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->from_slot[i] != SR_SLOT_NONE) {
            *(int64_t *)sr_map_at(p->to, p->to_slot[i], column) +=
                *(const int64_t *)sr_map_at(p->from, p->from_slot[i], column);
        }
    }
}

/* As agg_fold does it: integers wrap, the first sum is taken as it is. */
#define AGG_MERGE_SUM(name, type, wide)                                                      \
    static void agg_merge_sum_##name(const struct accumulator *c, const struct agg_pairs *p) \
    {                                                                                        \
        for (uint32_t i = 0; i < p->count; i++) {                                            \
            if (!agg_has(c, p, i)) {                                                         \
                continue;                                                                    \
            }                                                                                \
            type *sum = sr_map_at(p->to, p->to_slot[i], c->value);                           \
            type v = *(const type *)sr_map_at(p->from, p->from_slot[i], c->value);           \
            bool is_first = sr_map_is_null(p->to, p->to_slot[i], c->value);                  \
            *sum = is_first ? v : (type)((wide)*sum + (wide)v);                              \
            sr_map_set_null(p->to, p->to_slot[i], c->value, false);                          \
        }                                                                                    \
    }

AGG_MERGE_SUM(i8, int8_t, uint32_t)
AGG_MERGE_SUM(i16, int16_t, uint32_t)
AGG_MERGE_SUM(i32, int32_t, uint32_t)
AGG_MERGE_SUM(i64, int64_t, uint64_t)
AGG_MERGE_SUM(f32, float, float)
AGG_MERGE_SUM(f64, double, double)

static void agg_merge_sum_decimal(const struct accumulator *c, const struct agg_pairs *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (!agg_has(c, p, i)) {
            continue;
        }
        struct sr_wide *sum = sr_map_at(p->to, p->to_slot[i], c->value);
        bool is_first = sr_map_is_null(p->to, p->to_slot[i], c->value);
        decimal v =
            decimal_of_wide(*(const struct sr_wide *)sr_map_at(p->from, p->from_slot[i], c->value));
        udecimal before = is_first ? 0 : (udecimal)decimal_of_wide(*sum);
        decimal both = (decimal)(before + (udecimal)v); /* may be beyond 2^127: it does not fit */
        bool fits = decimal_fits_most(both);
        *sum = fits ? decimal_to_wide(both) : (struct sr_wide){0};
        sr_map_set_null(p->to, p->to_slot[i], c->value, !fits);
    }
}

/* One loop for MIN and MAX: `is_max` turns the comparison, NaN still replaces nothing. */
#define AGG_MERGE_PICK(name, type)                                                            \
    static void agg_merge_pick_##name(const struct accumulator *c, const struct agg_pairs *p, \
                                      bool is_max)                                            \
    {                                                                                         \
        for (uint32_t i = 0; i < p->count; i++) {                                             \
            if (!agg_has(c, p, i)) {                                                          \
                continue;                                                                     \
            }                                                                                 \
            type *kept = sr_map_at(p->to, p->to_slot[i], c->value);                           \
            type v = *(const type *)sr_map_at(p->from, p->from_slot[i], c->value);            \
            bool is_first = sr_map_is_null(p->to, p->to_slot[i], c->value);                   \
            if (is_first || (is_max ? v > *kept : v < *kept)) {                               \
                *kept = v;                                                                    \
                sr_map_set_null(p->to, p->to_slot[i], c->value, false);                       \
            }                                                                                 \
        }                                                                                     \
    }

AGG_MERGE_PICK(u8, uint8_t)
AGG_MERGE_PICK(i8, int8_t)
AGG_MERGE_PICK(i16, int16_t)
AGG_MERGE_PICK(i32, int32_t)
AGG_MERGE_PICK(i64, int64_t)
AGG_MERGE_PICK(f32, float)
AGG_MERGE_PICK(f64, double)

static void agg_merge_pick_decimal(const struct accumulator *c, const struct agg_pairs *p,
                                   bool is_max)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (!agg_has(c, p, i)) {
            continue;
        }
        struct sr_wide *kept = sr_map_at(p->to, p->to_slot[i], c->value);
        const struct sr_wide *from = sr_map_at(p->from, p->from_slot[i], c->value);
        decimal v = decimal_of_wide(*from), old = decimal_of_wide(*kept);
        bool is_first = sr_map_is_null(p->to, p->to_slot[i], c->value);
        if (is_first || (is_max ? v > old : v < old)) {
            *kept = *from;
            sr_map_set_null(p->to, p->to_slot[i], c->value, false);
        }
    }
}

static void agg_merge_pick_instant(const struct accumulator *c, const struct agg_pairs *p,
                                   bool is_max)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (!agg_has(c, p, i)) {
            continue;
        }
        struct sr_instant *kept = sr_map_at(p->to, p->to_slot[i], c->value);
        struct sr_instant v =
            *(const struct sr_instant *)sr_map_at(p->from, p->from_slot[i], c->value);
        bool is_first = sr_map_is_null(p->to, p->to_slot[i], c->value);
        if (is_first || (is_max ? instant_order(v) > instant_order(*kept)
                                : instant_order(v) < instant_order(*kept))) {
            *kept = v;
            sr_map_set_null(p->to, p->to_slot[i], c->value, false);
        }
    }
}

static sr_rc agg_merge_pick_text(const struct accumulator *c, const struct agg_pairs *p,
                                 bool is_max)
{
    const struct sr_state_calls *calls = p->to->state->calls;
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < p->count && rc == SR_OK; i++) {
        if (!agg_has(c, p, i)) {
            continue;
        }
        uint32_t len, kept_len;
        const uint8_t *v = calls->text(p->from, p->from_slot[i], c->value, &len);
        const uint8_t *kept = calls->text(p->to, p->to_slot[i], c->value, &kept_len);
        bool is_first = sr_map_is_null(p->to, p->to_slot[i], c->value);
        int order = is_first ? 0 : agg_compare_text((const char *)v, len, kept, kept_len);
        if (is_first || (is_max ? order > 0 : order < 0)) {
            rc = calls->set_text(p->to, p->to_slot[i], c->value, v, len);
        }
    }
    return rc;
}

static sr_rc agg_merge_pick(const struct accumulator *c, const struct agg_pairs *p, bool is_max)
{
    switch (c->kernel->form) {
    case AGG_U8:
        agg_merge_pick_u8(c, p, is_max);
        break;
    case AGG_I8:
        agg_merge_pick_i8(c, p, is_max);
        break;
    case AGG_I16:
        agg_merge_pick_i16(c, p, is_max);
        break;
    case AGG_I32:
        agg_merge_pick_i32(c, p, is_max);
        break;
    case AGG_I64:
        agg_merge_pick_i64(c, p, is_max);
        break;
    case AGG_F32:
        agg_merge_pick_f32(c, p, is_max);
        break;
    case AGG_F64:
        agg_merge_pick_f64(c, p, is_max);
        break;
    case AGG_DECIMAL:
        agg_merge_pick_decimal(c, p, is_max);
        break;
    case AGG_INSTANT:
        agg_merge_pick_instant(c, p, is_max);
        break;
    case AGG_TEXT:
        return agg_merge_pick_text(c, p, is_max);
    case AGG_NONE:
    case AGG_FORM_COUNT:
        sr_assert_failed("MIN and MAX have an argument that is compared", __FILE__, __LINE__);
    }
    return SR_OK;
}

/* How the sum lies in memory: for AVG it is wider than the argument. */
static enum agg_form agg_sum_form(const struct agg_kernel *k)
{
    if (k->kind == AGG_AVG && k->form != AGG_DECIMAL) {
        return k->form == AGG_F32 || k->form == AGG_F64 ? AGG_F64 : AGG_I64;
    }
    return k->form;
}

static void agg_merge_sum(const struct accumulator *c, const struct agg_pairs *p)
{
    enum agg_form form = agg_sum_form(c->kernel);
    switch (form) {
    case AGG_I8:
        agg_merge_sum_i8(c, p);
        break;
    case AGG_I16:
        agg_merge_sum_i16(c, p);
        break;
    case AGG_I32:
        agg_merge_sum_i32(c, p);
        break;
    case AGG_I64:
        agg_merge_sum_i64(c, p);
        break;
    case AGG_F32:
        agg_merge_sum_f32(c, p);
        break;
    case AGG_F64:
        agg_merge_sum_f64(c, p);
        break;
    case AGG_DECIMAL:
        agg_merge_sum_decimal(c, p);
        break;
    case AGG_NONE:
    case AGG_INSTANT:
    case AGG_U8:
    case AGG_TEXT:
    case AGG_FORM_COUNT:
        sr_assert_failed("a sum is a number", __FILE__, __LINE__);
    }
    agg_merge_counts(p, c->count);
}

sr_rc agg_merge(const struct accumulator *c, struct sr_map *to, const uint32_t *to_slot,
                const struct sr_map *from, const uint32_t *from_slot, uint32_t count)
{
    struct agg_pairs p = {to, from, to_slot, from_slot, count};
    sr_assert(to->values == from->values);
    switch (c->kernel->kind) {
    case AGG_COUNT:
        agg_merge_counts(&p, c->value);
        return SR_OK;
    case AGG_SUM:
    case AGG_AVG:
        agg_merge_sum(c, &p);
        return SR_OK;
    case AGG_MIN:
        return agg_merge_pick(c, &p, false);
    case AGG_MAX:
        return agg_merge_pick(c, &p, true);
    }
    return SR_OK;
}
