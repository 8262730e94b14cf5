#include "engine/ops/agg.h"

#include <ctype.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/instant.h"
#include "engine/ops/agg_kernel.h"

static inline int agg_sign(const struct agg_rows *rows, uint32_t i)
{
    return rows->sign ? rows->sign[i] : 1;
}

/* Is row i a value, rather than NULL or left alone? */
static inline int agg_value_sign(const struct agg_rows *rows, uint32_t i)
{
    return sr_is_valid(rows->arg, rows->row[i]) ? agg_sign(rows, i) : 0;
}

/* Row of the i-th result. */
static inline uint32_t agg_at(const struct agg_places *p, uint32_t i)
{
    return p->at ? p->at[i] : i;
}

/* Counts one value in or out; true when values remain. */
static inline bool agg_count(struct sr_map *m, uint32_t slot, const struct accumulator *c, int sign)
{
    int64_t *n = sr_map_at(m, slot, c->count);
    *n += sign;
    return *n != 0;
}

/* --- COUNT ------------------------------------------------------------------------------------ */

static sr_rc agg_fold_count(const struct accumulator *c, struct sr_map *m,
                            const struct agg_rows *rows)
{
    bool is_plain = !rows->sign && (!rows->arg || !rows->arg->valid);
    for (uint32_t i = 0; is_plain && i < rows->count; i++) {
        *(int64_t *)sr_map_at(m, rows->slot[i], c->value) += 1;
    }
    for (uint32_t i = 0; !is_plain && i < rows->count; i++) {
        int sign = rows->arg ? agg_value_sign(rows, i) : agg_sign(rows, i);
        *(int64_t *)sr_map_at(m, rows->slot[i], c->value) += sign;
    }
    return SR_OK;
}

/* --- SUM -------------------------------------------------------------------------------------- */

/* Where an accumulator with a count lies in a record, and where the records lie: a row looks for
 * its record once. Good as long as no record is added. */
struct agg_place {
    uint8_t *const *page;
    uint32_t shift, stride;
    uint32_t value, count, null; /* bytes */
    uint8_t bit;                 /* of `null`: set, the value is NULL */
};

static struct agg_place agg_place(const struct accumulator *c, const struct sr_map *m)
{
    return (struct agg_place){.page = m->page,
                              .shift = m->shift,
                              .stride = m->stride,
                              .value = m->column[c->value].offset,
                              .count = m->column[c->count].offset,
                              .null = m->nulls + (c->value >> 3),
                              .bit = (uint8_t)(1u << (c->value & 7))};
}

static inline uint8_t *agg_record(struct agg_place at, uint32_t slot)
{
    return at.page[slot >> at.shift] + (size_t)(slot & ((1u << at.shift) - 1u)) * at.stride;
}

static inline void *agg_at_byte(uint8_t *record, uint32_t at) { return record + at; }

/* Counts one value in or out, and whether the record has a value from now on. */
static inline bool agg_count_at(uint8_t *record, struct agg_place at, int sign)
{
    int64_t *n = agg_at_byte(record, at.count);
    *n += sign;
    return *n != 0;
}

static inline void agg_say_null(uint8_t *record, struct agg_place at, bool is_null)
{
    uint8_t kept = (uint8_t)(record[at.null] & ~at.bit);
    record[at.null] = (uint8_t)(kept | (is_null ? at.bit : 0));
}

/* Integers wrap as Java's do, so they are added unsigned. When the last value was taken back the
 * sum begins anew: what floating point left over must not stay. The first value is the sum, -0.0
 * too. */
#define AGG_SUM(name, type, wide)                                                     \
    static sr_rc agg_fold_sum_##name(const struct accumulator *c, struct sr_map *m,   \
                                     const struct agg_rows *rows)                     \
    {                                                                                 \
        const type *arg = rows->arg->values;                                          \
        const struct agg_place at = agg_place(c, m);                                  \
        for (uint32_t i = 0; i < rows->count; i++) {                                  \
            int sign = agg_value_sign(rows, i);                                       \
            if (sign == 0) {                                                          \
                continue;                                                             \
            }                                                                         \
            uint8_t *record = agg_record(at, rows->slot[i]);                          \
            type *sum = agg_at_byte(record, at.value);                                \
            bool is_first = sign > 0 && (record[at.null] & at.bit);                   \
            wide v = (wide)arg[rows->row[i]];                                         \
            *sum = (type)(is_first ? v : sign > 0 ? (wide)*sum + v : (wide)*sum - v); \
            bool has_values = agg_count_at(record, at, sign);                         \
            *sum = has_values ? *sum : 0;                                             \
            agg_say_null(record, at, !has_values);                                    \
        }                                                                             \
        return SR_OK;                                                                 \
    }

AGG_SUM(i8, int8_t, uint32_t)
AGG_SUM(i16, int16_t, uint32_t)
AGG_SUM(i32, int32_t, uint32_t)
AGG_SUM(i64, int64_t, uint64_t)
AGG_SUM(f32, float, float)
AGG_SUM(f64, double, double)

static decimal agg_decimal(const struct sr_column *c, uint32_t r)
{
    return sr_value_size(&c->type) == sizeof(int64_t)
               ? (decimal)((const int64_t *)c->values)[r]
               : decimal_of_wide(((const struct sr_wide *)c->values)[r]);
}

/* Flink's sum + value is NULL when it needs more than 38 digits, and NULL + value is the value. */
static inline void agg_sum_decimal(uint8_t *record, struct agg_place at, decimal v, int sign)
{
    struct sr_wide *sum = agg_at_byte(record, at.value);
    decimal before = record[at.null] & at.bit ? 0 : decimal_of_wide(*sum);
    /* Two of 38 digits may be beyond 2^127: unsigned, and then it does not fit. */
    decimal after = (decimal)((udecimal)before + (udecimal)(sign > 0 ? v : -v));
    bool has_sum = agg_count_at(record, at, sign) && decimal_fits_most(after);
    *sum = decimal_to_wide(has_sum ? after : 0);
    agg_say_null(record, at, !has_sum);
}

static sr_rc agg_fold_sum_decimal(const struct accumulator *c, struct sr_map *m,
                                  const struct agg_rows *rows)
{
    const struct agg_place at = agg_place(c, m);
    bool is_narrow = sr_value_size(&rows->arg->type) == sizeof(int64_t);
    const int64_t *narrow = rows->arg->values;
    const struct sr_wide *wide = rows->arg->values;
    for (uint32_t i = 0; i < rows->count; i++) {
        int sign = agg_value_sign(rows, i);
        if (sign != 0) {
            uint32_t r = rows->row[i];
            decimal v = is_narrow ? (decimal)narrow[r] : decimal_of_wide(wide[r]);
            agg_sum_decimal(agg_record(at, rows->slot[i]), at, v, sign);
        }
    }
    return SR_OK;
}

/* --- AVG: a wider sum, and the count ---------------------------------------------------------- */

#define AGG_AVG_SUM(name, type, kept, wide)                                                 \
    static sr_rc agg_fold_avg_##name(const struct accumulator *c, struct sr_map *m,         \
                                     const struct agg_rows *rows)                           \
    {                                                                                       \
        const type *arg = rows->arg->values;                                                \
        for (uint32_t i = 0; i < rows->count; i++) {                                        \
            int sign = agg_value_sign(rows, i);                                             \
            if (sign == 0) {                                                                \
                continue;                                                                   \
            }                                                                               \
            uint32_t slot = rows->slot[i];                                                  \
            kept *sum = sr_map_at(m, slot, c->value);                                       \
            wide v = (wide)arg[rows->row[i]];                                               \
            *sum = (kept)(sign > 0 ? (wide)*sum + v : (wide)*sum - v);                      \
            bool has_values = agg_count(m, slot, c, sign);                                  \
            *sum = has_values ? *sum : 0;                                                   \
            sr_map_set_null(m, slot, c->value, !has_values);                                \
        }                                                                                   \
        return SR_OK;                                                                       \
    }                                                                                       \
    static sr_rc agg_result_avg_##name(const struct accumulator *c, const struct sr_map *m, \
                                       const struct agg_places *p)                          \
    {                                                                                       \
        for (uint32_t i = 0; i < p->count; i++) {                                           \
            int64_t n = *(const int64_t *)sr_map_at(m, p->slot[i], c->count);               \
            kept sum = *(const kept *)sr_map_at(m, p->slot[i], c->value);                   \
            if (n == 0) {                                                                   \
                column_set_null(p->to, agg_at(p, i));                                       \
            } else {                                                                        \
                ((type *)p->to->values)[agg_at(p, i)] = (type)(sum / (kept)n);              \
            }                                                                               \
        }                                                                                   \
        return SR_OK;                                                                       \
    }

AGG_AVG_SUM(i8, int8_t, int64_t, uint64_t)
AGG_AVG_SUM(i16, int16_t, int64_t, uint64_t)
AGG_AVG_SUM(i32, int32_t, int64_t, uint64_t)
AGG_AVG_SUM(i64, int64_t, int64_t, uint64_t)
AGG_AVG_SUM(f32, float, double, double)
AGG_AVG_SUM(f64, double, double, double)

static sr_rc agg_result_avg_decimal(const struct accumulator *c, const struct sr_map *m,
                                    const struct agg_places *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t n = *(const int64_t *)sr_map_at(m, p->slot[i], c->count);
        decimal sum = decimal_of_wide(*(const struct sr_wide *)sr_map_at(m, p->slot[i], c->value));
        decimal average = 0;
        bool has = n != 0 && !sr_map_is_null(m, p->slot[i], c->value) &&
                   decimal_divide(sum, c->arg.scale, n, 0, c->result.scale, &average);
        ((struct sr_wide *)p->to->values)[agg_at(p, i)] = decimal_to_wide(average);
        if (!has) {
            column_set_null(p->to, agg_at(p, i));
        }
    }
    return SR_OK;
}

/* --- MIN, MAX: nothing can be taken back ------------------------------------------------------ */

/* A comparison with NaN is false, so that a NaN replaces nothing and, once in, is not replaced. */
#define AGG_PICK(name, type, op)                                                \
    static sr_rc agg_fold_##name(const struct accumulator *c, struct sr_map *m, \
                                 const struct agg_rows *rows)                   \
    {                                                                           \
        const type *arg = rows->arg->values;                                    \
        for (uint32_t i = 0; i < rows->count; i++) {                            \
            if (agg_value_sign(rows, i) == 0) {                                 \
                continue;                                                       \
            }                                                                   \
            uint32_t slot = rows->slot[i];                                      \
            type *kept = sr_map_at(m, slot, c->value);                          \
            type v = arg[rows->row[i]];                                         \
            if (sr_map_is_null(m, slot, c->value)) {                            \
                *kept = v;                                                      \
                sr_map_set_null(m, slot, c->value, false);                      \
            } else {                                                            \
                *kept = v op * kept ? v : *kept;                                \
            }                                                                   \
        }                                                                       \
        return SR_OK;                                                           \
    }

#define AGG_PICK_BOTH(name, type) \
    AGG_PICK(min_##name, type, <) \
    AGG_PICK(max_##name, type, >)

AGG_PICK_BOTH(u8, uint8_t)
AGG_PICK_BOTH(i8, int8_t)
AGG_PICK_BOTH(i16, int16_t)
AGG_PICK_BOTH(i32, int32_t)
AGG_PICK_BOTH(i64, int64_t)
AGG_PICK_BOTH(f32, float)
AGG_PICK_BOTH(f64, double)

/* Only the wide ones come here: DECIMAL to 18 digits are compared as int64_t. */
static sr_rc agg_fold_pick_decimal(const struct accumulator *c, struct sr_map *m,
                                   const struct agg_rows *rows, int wanted)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        if (agg_value_sign(rows, i) == 0) {
            continue;
        }
        uint32_t slot = rows->slot[i];
        struct sr_wide *kept = sr_map_at(m, slot, c->value);
        decimal v = agg_decimal(rows->arg, rows->row[i]);
        decimal old = decimal_of_wide(*kept);
        if (sr_map_is_null(m, slot, c->value) || (wanted < 0 ? v < old : v > old)) {
            *kept = decimal_to_wide(v);
            sr_map_set_null(m, slot, c->value, false);
        }
    }
    return SR_OK;
}

static sr_rc agg_fold_min_decimal(const struct accumulator *c, struct sr_map *m,
                                  const struct agg_rows *rows)
{
    return agg_fold_pick_decimal(c, m, rows, -1);
}

static sr_rc agg_fold_max_decimal(const struct accumulator *c, struct sr_map *m,
                                  const struct agg_rows *rows)
{
    return agg_fold_pick_decimal(c, m, rows, 1);
}

static sr_rc agg_fold_pick_instant(const struct accumulator *c, struct sr_map *m,
                                   const struct agg_rows *rows, bool is_max)
{
    const struct sr_instant *arg = rows->arg->values;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (agg_value_sign(rows, i) == 0) {
            continue;
        }
        uint32_t slot = rows->slot[i];
        struct sr_instant *kept = sr_map_at(m, slot, c->value), v = arg[rows->row[i]];
        bool is_later = instant_order(v) > instant_order(*kept);
        if (sr_map_is_null(m, slot, c->value) || is_later == is_max) {
            *kept = v;
            sr_map_set_null(m, slot, c->value, false);
        }
    }
    return SR_OK;
}

static sr_rc agg_fold_min_instant(const struct accumulator *c, struct sr_map *m,
                                  const struct agg_rows *rows)
{
    return agg_fold_pick_instant(c, m, rows, false);
}

static sr_rc agg_fold_max_instant(const struct accumulator *c, struct sr_map *m,
                                  const struct agg_rows *rows)
{
    return agg_fold_pick_instant(c, m, rows, true);
}

static sr_rc agg_fold_pick_text(const struct accumulator *c, struct sr_map *m,
                                const struct agg_rows *rows, int wanted)
{
    const struct sr_state_calls *calls = m->state->calls;
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < rows->count && rc == SR_OK; i++) {
        if (agg_value_sign(rows, i) == 0) {
            continue;
        }
        uint32_t slot = rows->slot[i];
        uint32_t len = 0, kept_len = 0;
        const char *v = rows->arg->bytes ? sr_text(rows->arg, rows->row[i], &len) : "";
        const uint8_t *kept = calls->text(m, slot, c->value, &kept_len);
        if (sr_map_is_null(m, slot, c->value) ||
            agg_compare_text(v, len, kept, kept_len) * wanted > 0) {
            rc = calls->set_text(m, slot, c->value, v, len);
        }
    }
    return rc;
}

static sr_rc agg_fold_min_text(const struct accumulator *c, struct sr_map *m,
                               const struct agg_rows *rows)
{
    return agg_fold_pick_text(c, m, rows, -1);
}

static sr_rc agg_fold_max_text(const struct accumulator *c, struct sr_map *m,
                               const struct agg_rows *rows)
{
    return agg_fold_pick_text(c, m, rows, 1);
}

/* --- Results that are what is kept ------------------------------------------------------------ */

#define AGG_COPY(type)                                                             \
    do {                                                                           \
        type *to_ = p->to->values;                                                 \
        for (uint32_t i = 0; i < p->count; i++) {                                  \
            to_[agg_at(p, i)] = *(const type *)sr_map_at(m, p->slot[i], c->value); \
        }                                                                          \
    } while (0)

static sr_rc agg_result_kept(const struct accumulator *c, const struct sr_map *m,
                             const struct agg_places *p)
{
    switch (sr_value_size(&p->to->type)) {
    case 1:
        AGG_COPY(uint8_t);
        break;
    case 2:
        AGG_COPY(uint16_t);
        break;
    case 4:
        AGG_COPY(uint32_t);
        break;
    case 8:
        AGG_COPY(uint64_t);
        break;
    default:
        AGG_COPY(struct sr_wide);
        break;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (sr_map_is_null(m, p->slot[i], c->value)) {
            column_set_null(p->to, agg_at(p, i));
        }
    }
    return SR_OK;
}

static sr_rc agg_result_text(const struct accumulator *c, const struct sr_map *m,
                             const struct agg_places *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (sr_map_is_null(m, p->slot[i], c->value)) {
            column_set_null(p->to, agg_at(p, i));
            continue;
        }
        uint32_t len;
        const uint8_t *bytes = m->state->calls->text(m, p->slot[i], c->value, &len);
        if (!column_put_bytes(p->home, p->to, agg_at(p, i), bytes, len)) {
            return SR_ENOMEM;
        }
    }
    return SR_OK;
}

/* --- The table -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct agg_kernel agg_kernels[] = {
    {AGG_COUNT, AGG_NONE,    false, true,  SR_BIGINT,  agg_fold_count,       agg_result_kept},
    {AGG_SUM,   AGG_I8,      true,  true,  SR_NULL,    agg_fold_sum_i8,      agg_result_kept},
    {AGG_SUM,   AGG_I16,     true,  true,  SR_NULL,    agg_fold_sum_i16,     agg_result_kept},
    {AGG_SUM,   AGG_I32,     true,  true,  SR_NULL,    agg_fold_sum_i32,     agg_result_kept},
    {AGG_SUM,   AGG_I64,     true,  true,  SR_NULL,    agg_fold_sum_i64,     agg_result_kept},
    {AGG_SUM,   AGG_F32,     true,  true,  SR_NULL,    agg_fold_sum_f32,     agg_result_kept},
    {AGG_SUM,   AGG_F64,     true,  true,  SR_NULL,    agg_fold_sum_f64,     agg_result_kept},
    {AGG_SUM,   AGG_DECIMAL, true,  true,  SR_DECIMAL, agg_fold_sum_decimal, agg_result_kept},
    {AGG_AVG,   AGG_I8,      true,  true,  SR_BIGINT,  agg_fold_avg_i8,      agg_result_avg_i8},
    {AGG_AVG,   AGG_I16,     true,  true,  SR_BIGINT,  agg_fold_avg_i16,     agg_result_avg_i16},
    {AGG_AVG,   AGG_I32,     true,  true,  SR_BIGINT,  agg_fold_avg_i32,     agg_result_avg_i32},
    {AGG_AVG,   AGG_I64,     true,  true,  SR_BIGINT,  agg_fold_avg_i64,     agg_result_avg_i64},
    {AGG_AVG,   AGG_F32,     true,  true,  SR_DOUBLE,  agg_fold_avg_f32,     agg_result_avg_f32},
    {AGG_AVG,   AGG_F64,     true,  true,  SR_DOUBLE,  agg_fold_avg_f64,     agg_result_avg_f64},
    {AGG_AVG,   AGG_DECIMAL, true,  true, SR_DECIMAL, agg_fold_sum_decimal, agg_result_avg_decimal},
    {AGG_MIN,   AGG_U8,      false, false, SR_NULL,    agg_fold_min_u8,      agg_result_kept},
    {AGG_MIN,   AGG_I8,      false, false, SR_NULL,    agg_fold_min_i8,      agg_result_kept},
    {AGG_MIN,   AGG_I16,     false, false, SR_NULL,    agg_fold_min_i16,     agg_result_kept},
    {AGG_MIN,   AGG_I32,     false, false, SR_NULL,    agg_fold_min_i32,     agg_result_kept},
    {AGG_MIN,   AGG_I64,     false, false, SR_NULL,    agg_fold_min_i64,     agg_result_kept},
    {AGG_MIN,   AGG_F32,     false, false, SR_NULL,    agg_fold_min_f32,     agg_result_kept},
    {AGG_MIN,   AGG_F64,     false, false, SR_NULL,    agg_fold_min_f64,     agg_result_kept},
    {AGG_MIN,   AGG_DECIMAL, false, false, SR_NULL,    agg_fold_min_decimal, agg_result_kept},
    {AGG_MIN,   AGG_INSTANT, false, false, SR_NULL,    agg_fold_min_instant, agg_result_kept},
    {AGG_MIN,   AGG_TEXT,    false, false, SR_NULL,    agg_fold_min_text,    agg_result_text},
    {AGG_MAX,   AGG_U8,      false, false, SR_NULL,    agg_fold_max_u8,      agg_result_kept},
    {AGG_MAX,   AGG_I8,      false, false, SR_NULL,    agg_fold_max_i8,      agg_result_kept},
    {AGG_MAX,   AGG_I16,     false, false, SR_NULL,    agg_fold_max_i16,     agg_result_kept},
    {AGG_MAX,   AGG_I32,     false, false, SR_NULL,    agg_fold_max_i32,     agg_result_kept},
    {AGG_MAX,   AGG_I64,     false, false, SR_NULL,    agg_fold_max_i64,     agg_result_kept},
    {AGG_MAX,   AGG_F32,     false, false, SR_NULL,    agg_fold_max_f32,     agg_result_kept},
    {AGG_MAX,   AGG_F64,     false, false, SR_NULL,    agg_fold_max_f64,     agg_result_kept},
    {AGG_MAX,   AGG_DECIMAL, false, false, SR_NULL,    agg_fold_max_decimal, agg_result_kept},
    {AGG_MAX,   AGG_INSTANT, false, false, SR_NULL,    agg_fold_max_instant, agg_result_kept},
    {AGG_MAX,   AGG_TEXT,    false, false, SR_NULL,    agg_fold_max_text,    agg_result_text},
};
/* clang-format on */

static enum agg_form agg_form(enum agg_kind kind, const struct sr_type *t)
{
    if (kind == AGG_COUNT) {
        return AGG_NONE;
    }
    switch (t->kind) {
    case SR_BOOLEAN:
        return AGG_U8;
    case SR_TINYINT:
        return AGG_I8;
    case SR_SMALLINT:
        return AGG_I16;
    case SR_INT:
    case SR_DATE:
    case SR_TIME:
    case SR_INTERVAL_MONTH:
        return AGG_I32;
    case SR_BIGINT:
    case SR_INTERVAL_SECOND:
        return AGG_I64;
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return t->length <= 6 ? AGG_I64 : AGG_INSTANT;
    case SR_FLOAT:
        return AGG_F32;
    case SR_DOUBLE:
        return AGG_F64;
    case SR_DECIMAL:
        return kind != AGG_SUM && kind != AGG_AVG && t->length <= SR_DECIMAL_SMALL ? AGG_I64
                                                                                   : AGG_DECIMAL;
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
        return AGG_TEXT;
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_VARIANT:
    case SR_KIND_COUNT:
        return AGG_FORM_COUNT;
    }
    return AGG_FORM_COUNT;
}

static const char *agg_name(enum agg_kind kind)
{
    switch (kind) {
    case AGG_COUNT:
        return "count";
    case AGG_SUM:
        return "sum";
    case AGG_MIN:
        return "min";
    case AGG_MAX:
        return "max";
    case AGG_AVG:
        return "avg";
    }
    return "";
}

/* The kernel for a function and the form of its argument; NULL: there is none. */
static const struct agg_kernel *agg_find(enum agg_kind kind, const struct sr_type *arg)
{
    enum agg_form form = agg_form(kind, arg);
    for (size_t i = 0; i < sizeof(agg_kernels) / sizeof(agg_kernels[0]); i++) {
        if (agg_kernels[i].kind == kind && agg_kernels[i].form == form) {
            return &agg_kernels[i];
        }
    }
    return NULL;
}

/* What the value column holds. */
static struct sr_type agg_kept(const struct accumulator *c)
{
    if (c->kernel->kept == SR_DECIMAL) {
        return type_with(SR_DECIMAL, SR_DECIMAL_MAX, c->arg.scale);
    }
    return c->kernel->kept != SR_NULL ? type_of(c->kernel->kept) : c->arg;
}

sr_rc agg_declare(struct agg_fields *f, const struct agg *agg, uint32_t number,
                  struct accumulator *out, struct sr_error *err)
{
    const char *name = agg_name(agg->kind);
    if (agg->is_distinct) {
        return error_set(err, SR_ECONFIG, "%s(DISTINCT ...) cannot be computed yet", name);
    }
    struct accumulator c = {.arg = {.kind = SR_NULL}, .result = agg->type};
    if (agg->arg) {
        c.arg = agg->arg->type;
    }
    c.kernel = agg_find(agg->kind, &c.arg);
    if (!c.kernel) {
        const char *type = type_text(f->arena, &c.arg);
        return error_set(err, SR_ECONFIG, "%s of %s cannot be computed", name, type ? type : "?");
    }
    c.value = f->count++;
    f->field[c.value] =
        (struct sr_field){arena_printf(f->arena, "%s_%u", name, number), agg_kept(&c)};
    if (c.kernel->has_count) {
        c.count = f->count++;
        f->field[c.count] = (struct sr_field){arena_printf(f->arena, "%s_%u_count", name, number),
                                              type_of(SR_BIGINT)};
    }
    *out = c;
    return arena_is_broken(f->arena) ? error_set(err, SR_ENOMEM, "out of memory") : SR_OK;
}

bool agg_can_retract(const struct accumulator *c) { return c->kernel->can_retract; }

void agg_clear(const struct accumulator *c, struct sr_map *m, uint32_t slot)
{
    if (c->kernel->has_count) {
        sr_map_set_null(m, slot, c->count, false);
    }
    if (c->kernel->kind == AGG_COUNT) {
        sr_map_set_null(m, slot, c->value, false);
    }
}

void agg_mark_zero(const struct accumulator *c, uint32_t keys, bool *is_zero)
{
    if (c->kernel->has_count) {
        is_zero[c->count - keys] = true;
    }
    if (c->kernel->kind == AGG_COUNT) {
        is_zero[c->value - keys] = true;
    }
}

sr_rc agg_fold(const struct accumulator *c, struct sr_map *m, const struct agg_rows *rows)
{
    sr_assert(c->kernel->kind == AGG_COUNT || rows->arg != NULL);
    return c->kernel->fold(c, m, rows);
}

sr_rc agg_result(const struct accumulator *c, const struct sr_map *m, const struct agg_places *p)
{
    return c->kernel->result(c, m, p);
}
