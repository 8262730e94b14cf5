/* + - * / % and unary minus over numbers, and MOD. Dates and intervals are func_time's. */
#include <math.h>

#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/decimal_exact.h"
#include "engine/expr/family.h"
#include "engine/expr/func_time.h"
#include "engine/expr/promote.h"

/* --- Kernels. Integers wrap around as Java's do, so they are computed unsigned. --------------- */

#define ARITH_BINARY(name, T, U, op)                            \
    KERNEL_WIDE static void arith_##name(struct call *k)        \
    {                                                           \
        const T *a = k->arg[0]->values, *b = k->arg[1]->values; \
        T *to = k->out->values;                                 \
        CALL_LOOP(k, to[r] = (T)((U)a[r] op(U) b[r]));          \
    }                                                           \
    static const struct kernel arith_k_##name = {.run = arith_##name, .flags = KERNEL_DENSE};

#define ARITH_RING(suffix, T, U)        \
    ARITH_BINARY(add_##suffix, T, U, +) \
    ARITH_BINARY(sub_##suffix, T, U, -) \
    ARITH_BINARY(mul_##suffix, T, U, *)

ARITH_RING(i8, int8_t, uint8_t)
ARITH_RING(i16, int16_t, uint32_t)
ARITH_RING(i32, int32_t, uint32_t)
ARITH_RING(i64, int64_t, uint64_t)
ARITH_RING(f32, float, float)
ARITH_RING(f64, double, double)
ARITH_BINARY(div_f32, float, float, /)
ARITH_BINARY(div_f64, double, double, /)

/* -1 is on its own: the smallest number over it traps, where Java wraps. */
#define ARITH_DIVIDE(suffix, T, U)                                                \
    static void arith_div_##suffix(struct call *k)                                \
    {                                                                             \
        const T *a = k->arg[0]->values, *b = k->arg[1]->values;                   \
        T *to = k->out->values;                                                   \
        CALL_EACH_ROW(k, r)                                                       \
        {                                                                         \
            if (b[r] == 0) {                                                      \
                call_fail(k, r, "division by zero");                              \
            } else {                                                              \
                to[r] = (T)(b[r] == -1 ? (T)((U)0 - (U)a[r]) : a[r] / b[r]);      \
            }                                                                     \
        }                                                                         \
    }                                                                             \
    static const struct kernel arith_k_div_##suffix = {.run = arith_div_##suffix, \
                                                       .flags = KERNEL_FAILS};

ARITH_DIVIDE(i8, int8_t, uint8_t)
ARITH_DIVIDE(i16, int16_t, uint16_t)
ARITH_DIVIDE(i32, int32_t, uint32_t)
ARITH_DIVIDE(i64, int64_t, uint64_t)

/* n % d by two multiplications instead of a division: Lemire's method, exact for 64 bits with a
 * reciprocal of 128. */
static inline uint64_t arith_fast_mod(uint64_t n, udecimal reciprocal, uint64_t d)
{
    udecimal part = reciprocal * n;
    udecimal low = ((udecimal)(uint64_t)part * d) >> 64;
    return (uint64_t)((low + (udecimal)(uint64_t)(part >> 64) * d) >> 64);
}

static void arith_mod_constant(struct call *k, int64_t by)
{
    uint64_t d = by < 0 ? (uint64_t)0 - (uint64_t)by : (uint64_t)by;
    udecimal reciprocal = ~(udecimal)0 / d + 1;
    const int64_t *a = k->arg[0]->values;
    int64_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint64_t n = a[r] < 0 ? (uint64_t)0 - (uint64_t)a[r] : (uint64_t)a[r];
        int64_t rest = (int64_t)arith_fast_mod(n, reciprocal, d);
        to[r] = a[r] < 0 ? -rest : rest;
    }
}

static void arith_mod(struct call *k)
{
    const int64_t *a = k->arg[0]->values, *b = k->arg[1]->values;
    int64_t *to = k->out->values;
    if (k->is_constant[1] && k->n > 0 && b[0] != 0) {
        arith_mod_constant(k, b[0]);
        return;
    }
    CALL_EACH_ROW(k, r)
    {
        if (b[r] == 0) {
            call_fail(k, r, "division by zero");
        } else {
            to[r] = b[r] == -1 ? 0 : a[r] % b[r];
        }
    }
}
static const struct kernel arith_k_mod = {.run = arith_mod, .flags = KERNEL_FAILS};

#define ARITH_MINUS(suffix, T, U)                                                     \
    KERNEL_WIDE static void arith_minus_##suffix(struct call *k)                      \
    {                                                                                 \
        const T *a = k->arg[0]->values;                                               \
        T *to = k->out->values;                                                       \
        CALL_LOOP(k, to[r] = (T)(-(U)a[r]));                                          \
    }                                                                                 \
    static const struct kernel arith_k_minus_##suffix = {.run = arith_minus_##suffix, \
                                                         .flags = KERNEL_DENSE};

ARITH_MINUS(i8, int8_t, uint8_t)
ARITH_MINUS(i16, int16_t, uint16_t)
ARITH_MINUS(i32, int32_t, uint32_t)
ARITH_MINUS(i64, int64_t, uint64_t)
ARITH_MINUS(f32, float, float)
ARITH_MINUS(f64, double, double)

static void arith_minus_wide(struct call *k)
{
    const struct sr_wide *a = k->arg[0]->values;
    struct sr_wide *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = decimal_to_wide(-decimal_of_wide(a[r])); }
}
static const struct kernel arith_k_minus_wide = {.run = arith_minus_wide};

/* --- DECIMAL. A result of too many digits is NULL, as in Flink. ------------------------------- */

static int32_t arith_scale(const struct sr_column *c)
{
    return c->type.kind == SR_DECIMAL ? c->type.scale : 0;
}

#define ARITH_DECIMAL(name, compute)                                      \
    static void arith_##name(struct call *k)                              \
    {                                                                     \
        decimal x[SR_BATCH_ROWS], y[SR_BATCH_ROWS];                       \
        int32_t sa = arith_scale(k->arg[0]), sb = arith_scale(k->arg[1]); \
        int32_t to = k->out->type.scale;                                  \
        decimal_load(k->arg[0], k->sel, k->n, x);                         \
        decimal_load(k->arg[1], k->sel, k->n, y);                         \
        for (uint32_t i = 0; i < k->n; i++) {                             \
            decimal v = 0;                                                \
            bool is_good = compute;                                       \
            decimal_store(k, k->sel ? k->sel[i] : i, is_good, v);         \
        }                                                                 \
    }                                                                     \
    static const struct kernel arith_k_##name = {.run = arith_##name};

ARITH_DECIMAL(add_decimal, decimal_add(x[i], sa, y[i], sb, to, &v))
ARITH_DECIMAL(sub_decimal, decimal_add(x[i], sa, -y[i], sb, to, &v))
ARITH_DECIMAL(mul_decimal, decimal_multiply(x[i], y[i], sa + sb, to, &v))

typedef bool (*arith_quotient_fn)(decimal a, int32_t sa, decimal b, int32_t sb, int32_t to,
                                  decimal *out);

static bool arith_remainder(decimal a, int32_t sa, decimal b, int32_t sb, int32_t to, decimal *out)
{
    return decimal_modulo(a, sa, b, sb, out) && decimal_rescale(*out, sa > sb ? sa : sb, to, out);
}

static void arith_quotient(struct call *k, arith_quotient_fn compute)
{
    decimal x[SR_BATCH_ROWS], y[SR_BATCH_ROWS];
    decimal_load(k->arg[0], k->sel, k->n, x);
    decimal_load(k->arg[1], k->sel, k->n, y);
    int32_t sa = arith_scale(k->arg[0]), sb = arith_scale(k->arg[1]);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t r = k->sel ? k->sel[i] : i;
        decimal v = 0;
        if (y[i] == 0) {
            call_fail(k, r, "division by zero");
        } else {
            bool is_good = compute(x[i], sa, y[i], sb, k->out->type.scale, &v);
            decimal_store(k, r, is_good, v);
        }
    }
}

static void arith_div_decimal(struct call *k) { arith_quotient(k, decimal_divide); }
static void arith_mod_decimal(struct call *k) { arith_quotient(k, arith_remainder); }
static const struct kernel arith_k_div_decimal = {.run = arith_div_decimal, .flags = KERNEL_FAILS};
static const struct kernel arith_k_mod_decimal = {.run = arith_mod_decimal, .flags = KERNEL_FAILS};

/* --- Typing. ---------------------------------------------------------------------------------- */

static const struct kernel *const arith_by_kind[4][SR_DOUBLE + 1] = {
    {[SR_TINYINT] = &arith_k_add_i8,
     &arith_k_add_i16,
     &arith_k_add_i32,
     &arith_k_add_i64,
     &arith_k_add_f32,
     &arith_k_add_f64},
    {[SR_TINYINT] = &arith_k_sub_i8,
     &arith_k_sub_i16,
     &arith_k_sub_i32,
     &arith_k_sub_i64,
     &arith_k_sub_f32,
     &arith_k_sub_f64},
    {[SR_TINYINT] = &arith_k_mul_i8,
     &arith_k_mul_i16,
     &arith_k_mul_i32,
     &arith_k_mul_i64,
     &arith_k_mul_f32,
     &arith_k_mul_f64},
    {[SR_TINYINT] = &arith_k_div_i8,
     &arith_k_div_i16,
     &arith_k_div_i32,
     &arith_k_div_i64,
     &arith_k_div_f32,
     &arith_k_div_f64},
};

static uint32_t arith_operator(char op)
{
    return op == '+' ? 0 : op == '-' ? 1 : op == '*' ? 2 : 3;
}

static const struct kernel *arith_decimal_kernel(const struct bind_call *b, char op)
{
    const struct kernel *exact = decimal_exact(op, &b->arg[0]->type, &b->arg[1]->type, &b->type);
    if (exact) {
        return exact;
    }
    switch (op) {
    case '+':
        return &arith_k_add_decimal;
    case '-':
        return &arith_k_sub_decimal;
    case '*':
        return &arith_k_mul_decimal;
    case '/':
        return &arith_k_div_decimal;
    default:
        return &arith_k_mod_decimal;
    }
}

/* Computes in `in`, then casts to the type of the result. */
static bool arith_through(struct bind_call *b, const struct kernel *kernel, enum sr_kind in)
{
    struct sr_type t = type_of(in), result = b->type;
    if (!bind_coerce(b, 0, &t) || !bind_coerce(b, 1, &t)) {
        return false;
    }
    b->kernel = kernel;
    b->type = type_nullable(t, bind_any_nullable(b));
    if (result.kind == in) {
        return true;
    }
    const struct expr *e = expr_make(b->arena, b->func, kernel, b->type, b->arg, 2);
    b->whole = e ? expr_cast(b->arena, e, &result, false, b->err) : NULL;
    b->is_said = !b->whole;
    return b->whole != NULL;
}

static bool arith_bind(struct bind_call *b)
{
    char op = (char)b->func->data;
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    if (!promote_arith(op, x, y, &b->type)) {
        return func_time_arith(b, op);
    }
    if (b->type.kind == SR_DECIMAL) {
        b->kernel = arith_decimal_kernel(b, op);
        return true;
    }
    if (op == '%') {
        return arith_through(b, &arith_k_mod, SR_BIGINT);
    }
    enum sr_kind in = b->type.kind;
    if (x->kind == SR_DOUBLE || y->kind == SR_DOUBLE) {
        in = SR_DOUBLE; /* FLOAT with DOUBLE: only the result is cut to FLOAT */
    }
    return arith_through(b, arith_by_kind[arith_operator(op)][in], in);
}

static bool arith_bind_minus(struct bind_call *b)
{
    static const struct kernel *const by_kind[] = {
        [SR_TINYINT] = &arith_k_minus_i8, [SR_SMALLINT] = &arith_k_minus_i16,
        [SR_INT] = &arith_k_minus_i32,    [SR_BIGINT] = &arith_k_minus_i64,
        [SR_FLOAT] = &arith_k_minus_f32,  [SR_DOUBLE] = &arith_k_minus_f64};
    const struct sr_type *t = &b->arg[0]->type;
    b->type = *t;
    if (sr_is_number(t->kind) && t->kind != SR_DECIMAL) {
        b->kernel = by_kind[t->kind];
    } else if (t->kind == SR_DECIMAL) {
        b->kernel = t->length > SR_DECIMAL_SMALL ? &arith_k_minus_wide : &arith_k_minus_i64;
    } else if (t->kind == SR_INTERVAL_MONTH) {
        b->kernel = &arith_k_minus_i32;
    } else if (t->kind == SR_INTERVAL_SECOND) {
        b->kernel = &arith_k_minus_i64;
    }
    return b->kernel != NULL;
}

static bool arith_bind_sign(struct bind_call *b)
{
    if (b->args == 2) {
        return arith_bind(b);
    }
    if (b->func->data == '-') {
        return arith_bind_minus(b);
    }
    b->whole = b->arg[0];
    return sr_is_number(b->arg[0]->type.kind) || sr_is_interval(b->arg[0]->type.kind);
}

static const struct func arith_funcs[] = {
    {.name = "+",
     .family = "math",
     .bind = arith_bind_sign,
     .min = 1,
     .max = 2,
     .data = '+',
     .forms = "numeric + numeric, datetime + interval, interval + interval",
     .doc = "The sum. Integers wrap around; a DECIMAL of too many digits is NULL. A month's end "
            "stays in its month: DATE '2020-01-31' + INTERVAL '1' MONTH is 2020-02-29."},
    {.name = "-",
     .family = "math",
     .bind = arith_bind_sign,
     .min = 1,
     .max = 2,
     .data = '-',
     .forms = "numeric - numeric, datetime - interval, interval - interval, -numeric",
     .doc = "The difference, or the negative. Integers wrap around."},
    {.name = "*",
     .family = "math",
     .bind = arith_bind,
     .min = 2,
     .max = 2,
     .data = '*',
     .forms = "numeric * numeric, interval * integer",
     .doc = "The product. Integers wrap around; a DECIMAL of too many digits is NULL."},
    {.name = "/",
     .family = "math",
     .bind = arith_bind,
     .min = 2,
     .max = 2,
     .data = '/',
     .forms = "numeric / numeric",
     .doc = "The quotient; of integers the whole part. Division of exact numbers by zero fails, of "
            "FLOAT and DOUBLE it is infinite or not a number."},
    {.name = "%",
     .family = "math",
     .bind = arith_bind,
     .min = 2,
     .max = 2,
     .data = '%',
     .forms = "exact numeric % exact numeric",
     .doc = "The rest of the division, with the sign of the first number. Of integers it has the "
            "type of the second one."},
    {.name = "MOD",
     .family = "math",
     .bind = arith_bind,
     .min = 2,
     .max = 2,
     .data = '%',
     .forms = "MOD(a exact numeric, b exact numeric)",
     .doc = "The rest of a / b, with the sign of a. Of integers it has the type of b."},
};

const struct func_family func_arith = {arith_funcs, sizeof(arith_funcs) / sizeof(arith_funcs[0])};
