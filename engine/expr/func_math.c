/* Functions of numbers. */
#include <math.h>

#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/family.h"
#include "engine/expr/number.h"
#include "engine/expr/promote.h"
#include "engine/expr/time_round.h"

/* --- DOUBLE to DOUBLE. ------------------------------------------------------------------------ */

#define MATH_DOUBLE(name, call_it)                     \
    static void math_##name(struct call *k)            \
    {                                                  \
        const double *a = k->arg[0]->values;           \
        double *to = k->out->values;                   \
        CALL_EACH_ROW(k, r) { to[r] = call_it(a[r]); } \
    }                                                  \
    static const struct kernel math_k_##name = {.run = math_##name, .flags = KERNEL_DENSE};

MATH_DOUBLE(sqrt, sqrt)
MATH_DOUBLE(exp, exp)
MATH_DOUBLE(ln, log)
MATH_DOUBLE(log10, log10)
MATH_DOUBLE(ceil_f64, ceil)
MATH_DOUBLE(floor_f64, floor)
MATH_DOUBLE(abs_f64, fabs)

static double math_cotangent(double v) { return 1.0 / tan(v); }
static double math_to_degrees(double v) { return v * 180.0 / M_PI; }
static double math_to_radians(double v) { return v / 180.0 * M_PI; }
MATH_DOUBLE(log2, log2)
MATH_DOUBLE(sin, sin)
MATH_DOUBLE(cos, cos)
MATH_DOUBLE(tan, tan)
MATH_DOUBLE(cot, math_cotangent)
MATH_DOUBLE(asin, asin)
MATH_DOUBLE(acos, acos)
MATH_DOUBLE(atan, atan)
MATH_DOUBLE(sinh, sinh)
MATH_DOUBLE(cosh, cosh)
MATH_DOUBLE(tanh, tanh)
MATH_DOUBLE(degrees, math_to_degrees)
MATH_DOUBLE(radians, math_to_radians)

static double math_signum(double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : v; }
MATH_DOUBLE(sign_f64, math_signum)

static void math_power(struct call *k)
{
    const double *a = k->arg[0]->values, *b = k->arg[1]->values;
    double *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = pow(a[r], b[r]); }
}
static const struct kernel math_k_power = {.run = math_power, .flags = KERNEL_DENSE};

static void math_atan2(struct call *k)
{
    const double *a = k->arg[0]->values, *b = k->arg[1]->values;
    double *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = atan2(a[r], b[r]); }
}
static const struct kernel math_k_atan2 = {.run = math_atan2, .flags = KERNEL_DENSE};

/* LOG(base, number) */
static void math_log_of(struct call *k)
{
    const double *a = k->arg[0]->values, *b = k->arg[1]->values;
    double *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = log(b[r]) / log(a[r]); }
}
static const struct kernel math_k_log_of = {.run = math_log_of, .flags = KERNEL_DENSE};

#define MATH_FLOAT(name, call_it)                      \
    static void math_##name(struct call *k)            \
    {                                                  \
        const float *a = k->arg[0]->values;            \
        float *to = k->out->values;                    \
        CALL_EACH_ROW(k, r) { to[r] = call_it(a[r]); } \
    }                                                  \
    static const struct kernel math_k_##name = {.run = math_##name, .flags = KERNEL_DENSE};

MATH_FLOAT(ceil_f32, ceilf)
MATH_FLOAT(floor_f32, floorf)
MATH_FLOAT(abs_f32, fabsf)

/* --- Integers: ABS wraps as Java's does. ------------------------------------------------------ */

#define MATH_INTEGER(suffix, T, U)                                                \
    static void math_abs_##suffix(struct call *k)                                 \
    {                                                                             \
        const T *a = k->arg[0]->values;                                           \
        T *to = k->out->values;                                                   \
        CALL_LOOP(k, to[r] = a[r] < 0 ? (T)((U)0 - (U)a[r]) : a[r]);              \
    }                                                                             \
    static const struct kernel math_k_abs_##suffix = {.run = math_abs_##suffix,   \
                                                      .flags = KERNEL_DENSE};     \
    static void math_sign_##suffix(struct call *k)                                \
    {                                                                             \
        const T *a = k->arg[0]->values;                                           \
        T *to = k->out->values;                                                   \
        CALL_LOOP(k, to[r] = (T)((a[r] > 0) - (a[r] < 0)));                       \
    }                                                                             \
    static const struct kernel math_k_sign_##suffix = {.run = math_sign_##suffix, \
                                                       .flags = KERNEL_DENSE};

MATH_INTEGER(i8, int8_t, uint8_t)
MATH_INTEGER(i16, int16_t, uint16_t)
MATH_INTEGER(i32, int32_t, uint32_t)
MATH_INTEGER(i64, int64_t, uint64_t)

/* --- DECIMAL. --------------------------------------------------------------------------------- */

static decimal math_decimal_abs(decimal v, decimal unit) { return (void)unit, v < 0 ? -v : v; }
static decimal math_decimal_sign(decimal v, decimal unit)
{
    return v > 0 ? unit : v < 0 ? -unit : 0;
}
static decimal math_decimal_floor(decimal v, decimal unit)
{
    return v / unit - (v % unit < 0 ? 1 : 0);
}
static decimal math_decimal_ceil(decimal v, decimal unit)
{
    return v / unit + (v % unit > 0 ? 1 : 0);
}

#define MATH_DECIMAL(name)                                                                   \
    static void math_run_decimal_##name(struct call *k)                                      \
    {                                                                                        \
        decimal x[SR_BATCH_ROWS], unit = decimal_power(k->arg[0]->type.scale);               \
        decimal_load(k->arg[0], k->sel, k->n, x);                                            \
        for (uint32_t i = 0; i < k->n; i++) {                                                \
            decimal_store(k, k->sel ? k->sel[i] : i, true, math_decimal_##name(x[i], unit)); \
        }                                                                                    \
    }                                                                                        \
    static const struct kernel math_k_##name##_decimal = {.run = math_run_decimal_##name};

MATH_DECIMAL(abs)
MATH_DECIMAL(sign)
MATH_DECIMAL(floor)
MATH_DECIMAL(ceil)

/* --- ROUND and TRUNCATE: to `digits` behind the point, half away from zero or towards it. ----- */

/* v of scale `from` with nothing behind `digits` digits, still of scale `from`. */
static bool math_round_at(decimal v, int32_t from, int32_t digits, bool is_cut, decimal *out)
{
    if (digits >= from) {
        *out = v;
        return true;
    }
    if (digits < from - DECIMAL_DIGITS_MAX) { /* any INT: the other way round could overflow */
        *out = 0;
        return true;
    }
    if (is_cut) {
        *out = v - v % decimal_power(from - digits);
        return true;
    }
    return decimal_rescale(v, from, digits, out) &&
           !__builtin_mul_overflow(*out, decimal_power(from - digits), out);
}

static void math_round_decimal(struct call *k, bool is_cut)
{
    decimal x[SR_BATCH_ROWS];
    const struct sr_column *a = k->arg[0];
    decimal_load(a, k->sel, k->n, x);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t r = k->sel ? k->sel[i] : i;
        int32_t digits = k->args > 1 ? call_int(k, 1, r) : 0;
        decimal v = 0;
        bool is_good = math_round_at(x[i], a->type.scale, digits, is_cut, &v) &&
                       decimal_rescale(v, a->type.scale, k->out->type.scale, &v);
        decimal_store(k, r, is_good, v);
    }
}

/* Integers wrap around when rounding leaves their range, as in Flink. */
static void math_round_integer(struct call *k, bool is_cut)
{
    const int64_t *a = k->arg[0]->values;
    int64_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        int32_t digits = k->args > 1 ? call_int(k, 1, r) : 0;
        decimal v = 0;
        to[r] = math_round_at(a[r], 0, digits, is_cut, &v) ? (int64_t)v : 0;
    }
}

/* One with room for all digits of a DOUBLE, before the point and behind it. */
static int32_t math_scale_of(double v)
{
    double far = fabs(v);
    return far < 1 ? DECIMAL_DIGITS_MAX : far < 1e18 ? 20 : 0;
}

/* By way of the text, as BigDecimal.valueOf(double) does it: 1.005 rounds to 1.01. *v stays
 * where there is nothing to round, because `digits` are more than a DOUBLE has. */
static void math_round_text(const char *text, uint32_t len, int32_t digits, bool is_cut, double *v)
{
    int32_t scale = digits > 0 ? digits : 0;
    bool is_number;
    decimal exact = 0;
    if (digits > DECIMAL_DIGITS_MAX) {
        return;
    }
    if (is_cut) { /* with all digits that the text has; parsing would round */
        scale = math_scale_of(*v);
        if (!decimal_parse(text, len, scale, &exact, &is_number) ||
            !math_round_at(exact, scale, digits, true, &exact)) {
            return;
        }
        if (digits >= 0 &&
            digits < scale) { /* what goes are zeros; a short number is quick below */
            exact /= decimal_power(scale - digits);
            scale = digits;
        }
    } else if (!decimal_parse(text, len, digits, &exact, &is_number) ||
               (digits < 0 && !decimal_rescale(exact, digits, 0, &exact))) {
        return;
    }
    *v = decimal_to_double(exact, scale);
}

static void math_round_f64(struct call *k, bool is_cut)
{
    const double *a = k->arg[0]->values;
    double *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        char text[NUMBER_TEXT_MAX];
        int32_t digits = k->args > 1 ? call_int(k, 1, r) : 0;
        uint32_t len = number_double_text(a[r], text);
        if (a[r] != a[r] || a[r] - a[r] != 0) {
            call_fail(k, r, "%.*s cannot be rounded", (int)len, text);
        } else if (digits < -DECIMAL_DIGITS_MAX) {
            to[r] = 0;
        } else {
            to[r] = a[r];
            math_round_text(text, len, digits, is_cut, &to[r]);
        }
    }
}

#define MATH_ROUND_PAIR(name, kernel_flags)                                               \
    static void math_round_##name##_half(struct call *k) { math_round_##name(k, false); } \
    static void math_round_##name##_cut(struct call *k) { math_round_##name(k, true); }   \
    static const struct kernel math_k_round_##name[2] = {                                 \
        {.run = math_round_##name##_half, .flags = kernel_flags},                         \
        {.run = math_round_##name##_cut, .flags = kernel_flags}};

MATH_ROUND_PAIR(decimal, 0)
MATH_ROUND_PAIR(integer, 0)
MATH_ROUND_PAIR(f64, KERNEL_FAILS)

/* --- Typing. ---------------------------------------------------------------------------------- */

enum { MATH_ABS, MATH_SIGN, MATH_FLOOR, MATH_CEIL };

static const struct kernel *const math_by_kind[4][SR_DECIMAL + 1] = {
    {NULL, &math_k_abs_i8, &math_k_abs_i16, &math_k_abs_i32, &math_k_abs_i64, &math_k_abs_f32,
     &math_k_abs_f64, &math_k_abs_decimal},
    {NULL, &math_k_sign_i8, &math_k_sign_i16, &math_k_sign_i32, &math_k_sign_i64, NULL,
     &math_k_sign_f64, &math_k_sign_decimal},
    {NULL, NULL, NULL, NULL, NULL, &math_k_floor_f32, &math_k_floor_f64, &math_k_floor_decimal},
    {NULL, NULL, NULL, NULL, NULL, &math_k_ceil_f32, &math_k_ceil_f64, &math_k_ceil_decimal},
};

static bool math_bind(struct bind_call *b)
{
    enum sr_kind kind = b->arg[0]->type.kind;
    if (!sr_is_number(kind)) {
        return false;
    }
    uint32_t what = b->func->data;
    b->type = b->arg[0]->type;
    if (what >= MATH_FLOOR && sr_is_integer(kind)) {
        b->whole = b->arg[0];
        return true;
    }
    if (what == MATH_SIGN && kind == SR_FLOAT) {
        struct sr_type t = type_of(SR_DOUBLE), result = b->type;
        if (!bind_coerce(b, 0, &t)) {
            return false;
        }
        const struct expr *e = bind_sub(b, "SIGN", b->arg, 1);
        b->whole = expr_cast(b->arena, e, &result, false, b->err);
        return b->whole != NULL;
    }
    if (what >= MATH_FLOOR && kind == SR_DECIMAL) {
        b->type.scale = 0;
    }
    b->kernel = math_by_kind[what][kind];
    return b->kernel != NULL;
}

static bool math_bind_whole(struct bind_call *b)
{
    return b->args == 1 ? math_bind(b) : time_round_bind(b, b->func->data == MATH_CEIL);
}

/* Computes in `in`, then casts back. */
static bool math_round_through(struct bind_call *b, enum sr_kind in, const struct kernel *kernel)
{
    struct sr_type result = b->arg[0]->type;
    struct sr_type t = type_nullable(type_of(in), result.is_nullable);
    b->arg[0] = expr_cast(b->arena, b->arg[0], &t, false, b->err);
    if (!b->arg[0]) {
        b->is_said = true;
        return false;
    }
    b->type = type_nullable(t, bind_any_nullable(b));
    const struct expr *e = expr_make(b->arena, b->func, kernel, b->type, b->arg, b->args);
    b->whole = e ? expr_cast(b->arena, e, &result, false, b->err) : NULL;
    return b->whole != NULL;
}

/* A literal, or the negative of one: -2 is a call of minus. */
static bool math_known(const struct expr *n, int64_t *at)
{
    bool is_minus = n->kind == EXPR_CALL && n->args == 1 && n->func == func_row("-");
    const struct expr *literal = is_minus ? n->arg[0] : n;
    if (literal->kind != EXPR_LITERAL || literal->is_null) {
        return false;
    }
    *at = is_minus ? -literal->value.i : literal->value.i;
    return true;
}

/* DECIMAL(p, s) rounded to n digits: DECIMAL(p - s + n + 1, n), where n is known. */
static bool math_bind_round(struct bind_call *b)
{
    struct sr_type *t = &b->type, digits = type_of(SR_INT);
    enum sr_kind kind = b->arg[0]->type.kind;
    if (!sr_is_number(kind) || (b->args > 1 && !bind_coerce(b, 1, &digits))) {
        return false;
    }
    *t = b->arg[0]->type;
    if (sr_is_integer(kind)) {
        return math_round_through(b, SR_BIGINT, &math_k_round_integer[b->func->data]);
    }
    if (sr_is_approx(kind)) {
        return math_round_through(b, SR_DOUBLE, &math_k_round_f64[b->func->data]);
    }
    int64_t at = 0;
    bool is_known = b->args == 1 || math_known(b->arg[1], &at);
    if (is_known && at < t->scale) {
        int32_t scale = at < 0 ? 0 : (int32_t)at;
        int32_t precision = t->length - t->scale + scale + 1;
        *t = promote_decimal_of(precision < 1 ? 1 : precision, scale);
    }
    t->is_nullable = bind_any_nullable(b);
    b->kernel = &math_k_round_decimal[b->func->data];
    return true;
}

static bool math_bind_log(struct bind_call *b)
{
    struct sr_type t = type_of(SR_DOUBLE);
    for (uint32_t i = 0; i < b->args; i++) {
        if (!sr_is_number(b->arg[i]->type.kind) || !bind_coerce(b, i, &t)) {
            return false;
        }
    }
    b->type = type_nullable(t, bind_any_nullable(b));
    b->kernel = b->args == 1 ? &math_k_ln : &math_k_log_of;
    return true;
}

#define MATH_ROW(title, what, form, words)                                                    \
    {                                                                                         \
        .name = title, .family = "math", .bind = math_bind, .min = 1, .max = 1, .data = what, \
        .forms = form, .doc = words                                                           \
    }
#define MATH_WHOLE(title, what, form, words)                                          \
    {                                                                                 \
        .name = title, .family = "math", .bind = math_bind_whole, .min = 1, .max = 2, \
        .data = what, .forms = form, .doc = words                                     \
    }
#define MATH_DOUBLE_ROW(title, k, form, words)                                                 \
    {                                                                                          \
        .name = title, .family = "math", .bind = bind_simple, .min = 1, .max = 1, .args = "d", \
        .result = RESULT_DOUBLE, .kernel = &k, .forms = form, .doc = words                     \
    }

static const struct func math_funcs[] = {
    MATH_ROW("ABS", MATH_ABS, "ABS(number)", "The number without its sign."),
    MATH_ROW("SIGN", MATH_SIGN, "SIGN(number)", "-1, 0 or 1, in the type of the number."),
    MATH_WHOLE("FLOOR", MATH_FLOOR, "FLOOR(number), FLOOR(time TO unit)",
               "The largest whole number that is not larger; the time at which its unit began."),
    MATH_WHOLE("CEIL", MATH_CEIL, "CEIL(number), CEIL(time TO unit)",
               "The smallest whole number that is not smaller; the time at which the next unit "
               "begins."),
    MATH_WHOLE("CEILING", MATH_CEIL, "CEILING(number), CEILING(time TO unit)", "The same as CEIL."),
    MATH_DOUBLE_ROW("SQRT", math_k_sqrt, "SQRT(number) -> DOUBLE", "The square root."),
    MATH_DOUBLE_ROW("EXP", math_k_exp, "EXP(number) -> DOUBLE", "e to the power of the number."),
    MATH_DOUBLE_ROW("LN", math_k_ln, "LN(number) -> DOUBLE", "The natural logarithm."),
    MATH_DOUBLE_ROW("LOG10", math_k_log10, "LOG10(number) -> DOUBLE",
                    "The logarithm to the base 10."),
    MATH_DOUBLE_ROW("LOG2", math_k_log2, "LOG2(number) -> DOUBLE", "The logarithm to the base 2."),
    MATH_DOUBLE_ROW("SIN", math_k_sin, "SIN(number) -> DOUBLE", "The sine."),
    MATH_DOUBLE_ROW("COS", math_k_cos, "COS(number) -> DOUBLE", "The cosine."),
    MATH_DOUBLE_ROW("TAN", math_k_tan, "TAN(number) -> DOUBLE", "The tangent."),
    MATH_DOUBLE_ROW("COT", math_k_cot, "COT(number) -> DOUBLE", "The cotangent."),
    MATH_DOUBLE_ROW("ASIN", math_k_asin, "ASIN(number) -> DOUBLE", "The arc sine."),
    MATH_DOUBLE_ROW("ACOS", math_k_acos, "ACOS(number) -> DOUBLE", "The arc cosine."),
    MATH_DOUBLE_ROW("ATAN", math_k_atan, "ATAN(number) -> DOUBLE", "The arc tangent."),
    MATH_DOUBLE_ROW("SINH", math_k_sinh, "SINH(number) -> DOUBLE", "The hyperbolic sine."),
    MATH_DOUBLE_ROW("COSH", math_k_cosh, "COSH(number) -> DOUBLE", "The hyperbolic cosine."),
    MATH_DOUBLE_ROW("TANH", math_k_tanh, "TANH(number) -> DOUBLE", "The hyperbolic tangent."),
    MATH_DOUBLE_ROW("DEGREES", math_k_degrees, "DEGREES(radians) -> DOUBLE", "Radians as degrees."),
    MATH_DOUBLE_ROW("RADIANS", math_k_radians, "RADIANS(degrees) -> DOUBLE", "Degrees as radians."),
    {.name = "ATAN2",
     .family = "math",
     .bind = bind_simple,
     .min = 2,
     .max = 2,
     .args = "dd",
     .result = RESULT_DOUBLE,
     .kernel = &math_k_atan2,
     .forms = "ATAN2(y, x) -> DOUBLE",
     .doc = "The angle of the point (x, y)."},
    {.name = "LOG",
     .family = "math",
     .bind = math_bind_log,
     .min = 1,
     .max = 2,
     .forms = "LOG([base,] number) -> DOUBLE",
     .doc = "The logarithm to the base, or the natural one."},
    {.name = "POWER",
     .family = "math",
     .bind = bind_simple,
     .min = 2,
     .max = 2,
     .args = "dd",
     .result = RESULT_DOUBLE,
     .kernel = &math_k_power,
     .forms = "POWER(base, exponent) -> DOUBLE",
     .doc = "The base to the power of the exponent."},
    {.name = "ROUND",
     .family = "math",
     .bind = math_bind_round,
     .min = 1,
     .max = 2,
     .forms = "ROUND(number [, digits INT])",
     .doc = "The number rounded to that many digits behind the point (before it, when negative), "
            "half away from zero."},
    {.name = "TRUNCATE",
     .family = "math",
     .bind = math_bind_round,
     .min = 1,
     .max = 2,
     .data = 1,
     .forms = "TRUNCATE(number [, digits INT])",
     .doc = "The number cut to that many digits behind the point (before it, when negative)."},
};

const struct func_family func_math = {math_funcs, sizeof(math_funcs) / sizeof(math_funcs[0])};
