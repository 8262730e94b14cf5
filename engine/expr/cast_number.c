/* Casts among BOOLEAN and numbers. Integers are cut to their low bits and floating point numbers to
 * the nearest end of the range, as in Java; a DECIMAL of too many digits is NULL. */
#include "engine/expr/cast.h"
#include "engine/expr/decimal.h"
#include "engine/expr/number.h"
#include "engine/expr/promote.h"

#define CAST_PLAIN(name, F, T, convert)         \
    static void cast_##name(struct call *k)     \
    {                                           \
        const F *a = k->arg[0]->values;         \
        T *to = k->out->values;                 \
        CALL_LOOP(k, to[r] = (T)convert(a[r])); \
    }

static inline int32_t cast_to_int(double v)
{
    return v != v ? 0 : v >= 2147483647.0 ? INT32_MAX : v <= -2147483648.0 ? INT32_MIN : (int32_t)v;
}

static inline int64_t cast_to_long(double v)
{
    return v != v                        ? 0
           : v >= 9223372036854775808.0  ? INT64_MAX
           : v <= -9223372036854775808.0 ? INT64_MIN
                                         : (int64_t)v;
}

/* From either: said, because a float becomes a double without a word else. */
#define CAST_INT(v)      cast_to_int((double)(v))
#define CAST_LONG(v)     cast_to_long((double)(v))
#define CAST_NOT_ZERO(v) ((v) != 0)
static inline int cast_not_0(int64_t v) { return v != 0; }

/* From integers: one row of kernels for each type. */
#define CAST_FROM_INTEGER(f, F)                  \
    CAST_PLAIN(f##_bool, F, uint8_t, cast_not_0) \
    CAST_PLAIN(f##_i8, F, int8_t, )              \
    CAST_PLAIN(f##_i16, F, int16_t, )            \
    CAST_PLAIN(f##_i32, F, int32_t, )            \
    CAST_PLAIN(f##_i64, F, int64_t, )            \
    CAST_PLAIN(f##_f32, F, float, )              \
    CAST_PLAIN(f##_f64, F, double, )

#define CAST_FROM_APPROX(f, F)                      \
    CAST_PLAIN(f##_bool, F, uint8_t, CAST_NOT_ZERO) \
    CAST_PLAIN(f##_i8, F, int8_t, CAST_INT)         \
    CAST_PLAIN(f##_i16, F, int16_t, CAST_INT)       \
    CAST_PLAIN(f##_i32, F, int32_t, CAST_INT)       \
    CAST_PLAIN(f##_i64, F, int64_t, CAST_LONG)      \
    CAST_PLAIN(f##_f32, F, float, )                 \
    CAST_PLAIN(f##_f64, F, double, )

CAST_FROM_INTEGER(bool, uint8_t)
CAST_FROM_INTEGER(i8, int8_t)
CAST_FROM_INTEGER(i16, int16_t)
CAST_FROM_INTEGER(i32, int32_t)
CAST_FROM_INTEGER(i64, int64_t)
CAST_FROM_APPROX(f32, float)
CAST_FROM_APPROX(f64, double)

#define CAST_ROW(f)                                         \
    {                                                       \
        {.run = cast_##f##_bool, .flags = KERNEL_DENSE},    \
            {.run = cast_##f##_i8, .flags = KERNEL_DENSE},  \
            {.run = cast_##f##_i16, .flags = KERNEL_DENSE}, \
            {.run = cast_##f##_i32, .flags = KERNEL_DENSE}, \
            {.run = cast_##f##_i64, .flags = KERNEL_DENSE}, \
            {.run = cast_##f##_f32, .flags = KERNEL_DENSE}, \
        {                                                   \
            .run = cast_##f##_f64, .flags = KERNEL_DENSE    \
        }                                                   \
    }

/* BOOLEAN to DOUBLE, in the order of enum sr_kind, both ways. */
static const struct kernel cast_plain[][SR_DOUBLE + 1] = {
    CAST_ROW(bool), CAST_ROW(i8),  CAST_ROW(i16), CAST_ROW(i32),
    CAST_ROW(i64),  CAST_ROW(f32), CAST_ROW(f64),
};
_Static_assert(SR_BOOLEAN == 0 && SR_TINYINT == 1 && SR_BIGINT == 4 && SR_DOUBLE == 6,
               "the rows of cast_plain follow enum sr_kind");

/* --- To DECIMAL. ------------------------------------------------------------------------------ */

static void cast_exact_decimal(struct call *k)
{
    decimal x[SR_BATCH_ROWS];
    const struct sr_type *f = &k->arg[0]->type;
    int32_t from = f->kind == SR_DECIMAL ? f->scale : 0, to = k->out->type.scale;
    decimal_load(k->arg[0], k->sel, k->n, x);
    for (uint32_t i = 0; i < k->n; i++) {
        decimal v = 0;
        bool is_good = decimal_rescale(x[i], from, to, &v);
        decimal_store(k, k->sel ? k->sel[i] : i, is_good, v);
    }
}
static const struct kernel cast_k_exact_decimal = {.run = cast_exact_decimal};

static void cast_bool_decimal(struct call *k)
{
    const uint8_t *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r) { decimal_store(k, r, true, a[r] ? decimal_power(k->out->type.scale) : 0); }
}
static const struct kernel cast_k_bool_decimal = {.run = cast_bool_decimal};

/* By way of the text, as BigDecimal.valueOf(double) does it. */
static void cast_approx_row(struct call *k, uint32_t r, double d)
{
    char text[NUMBER_TEXT_MAX];
    decimal v = 0;
    bool is_number;
    uint32_t len = number_double_text(d, text);
    bool is_good = decimal_parse(text, len, k->out->type.scale, &v, &is_number);
    if (!is_number) {
        call_fail(k, r, "%.*s is no DECIMAL", (int)len, text);
    } else {
        decimal_store(k, r, is_good, v);
    }
}

static void cast_f32_decimal(struct call *k)
{
    const float *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r) { cast_approx_row(k, r, (double)a[r]); }
}
static void cast_f64_decimal(struct call *k)
{
    const double *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r) { cast_approx_row(k, r, a[r]); }
}
static const struct kernel cast_k_f32_decimal = {.run = cast_f32_decimal, .flags = KERNEL_FAILS};
static const struct kernel cast_k_f64_decimal = {.run = cast_f64_decimal, .flags = KERNEL_FAILS};

/* --- From DECIMAL. ---------------------------------------------------------------------------- */

#define CAST_DECIMAL(name, T, value)                 \
    static void cast_decimal_##name(struct call *k)  \
    {                                                \
        decimal x[SR_BATCH_ROWS];                    \
        int32_t scale = k->arg[0]->type.scale;       \
        decimal unit = decimal_power(scale);         \
        T *to = k->out->values;                      \
        decimal_load(k->arg[0], k->sel, k->n, x);    \
        for (uint32_t i = 0; i < k->n; i++) {        \
            to[k->sel ? k->sel[i] : i] = (T)(value); \
        }                                            \
        (void)unit;                                  \
    }                                                \
    static const struct kernel cast_k_decimal_##name = {.run = cast_decimal_##name};

CAST_DECIMAL(bool, uint8_t, x[i] != 0)
CAST_DECIMAL(i8, int8_t, x[i] / unit)
CAST_DECIMAL(i16, int16_t, x[i] / unit)
CAST_DECIMAL(i32, int32_t, x[i] / unit)
CAST_DECIMAL(i64, int64_t, x[i] / unit)
CAST_DECIMAL(f32, float, decimal_to_double(x[i], scale))
CAST_DECIMAL(f64, double, decimal_to_double(x[i], scale))

static const struct kernel *const cast_from_decimal[] = {
    &cast_k_decimal_bool, &cast_k_decimal_i8,  &cast_k_decimal_i16, &cast_k_decimal_i32,
    &cast_k_decimal_i64,  &cast_k_decimal_f32, &cast_k_decimal_f64};

const struct kernel *cast_interval(const struct sr_type *from, const struct sr_type *to)
{
    return &cast_plain[from->kind][to->kind == SR_INTERVAL_MONTH ? SR_INT : SR_BIGINT];
}

static bool cast_is_wide(const struct sr_type *t) { return t->length > SR_DECIMAL_SMALL; }

const struct kernel *cast_number(const struct sr_type *from, const struct sr_type *to)
{
    if (from->kind <= SR_DOUBLE && to->kind <= SR_DOUBLE) {
        return from->kind == to->kind ? &cast_alias : &cast_plain[from->kind][to->kind];
    }
    if (from->kind == SR_DECIMAL && to->kind <= SR_DOUBLE) {
        return cast_from_decimal[to->kind];
    }
    if (to->kind != SR_DECIMAL || from->kind > SR_DECIMAL) {
        return NULL;
    }
    if (from->kind == SR_DECIMAL && from->scale == to->scale && from->length <= to->length &&
        cast_is_wide(from) == cast_is_wide(to)) {
        return &cast_alias;
    }
    if (from->kind == SR_BOOLEAN) {
        return &cast_k_bool_decimal;
    }
    return from->kind == SR_FLOAT    ? &cast_k_f32_decimal
           : from->kind == SR_DOUBLE ? &cast_k_f64_decimal
                                     : &cast_k_exact_decimal;
}
