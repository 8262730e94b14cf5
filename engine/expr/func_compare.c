/* = <> < <= > >=, and what is made of them: BETWEEN, IN, IS DISTINCT FROM, GREATEST, LEAST. */
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/extreme.h"
#include "engine/expr/family.h"
#include "engine/expr/in_list.h"
#include "engine/expr/instant.h"
#include "engine/expr/nest.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"

#define COMPARE_IN_MAX 500u /* items of a list that are not constant */

enum { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE, COMPARE_OPS };

/* --- Kernels: for each type and operator one that fills a column, and one that picks rows. ---- */

#define COMPARE_ONE(suffix, T, name, op)                                         \
    KERNEL_WIDE static void compare_##name##_##suffix(struct call *k)            \
    {                                                                            \
        const T *a = k->arg[0]->values, *b = k->arg[1]->values;                  \
        uint8_t *to = k->out->values;                                            \
        CALL_LOOP(k, to[r] = a[r] op b[r]);                                      \
    }                                                                            \
    static uint32_t compare_pick_##name##_##suffix(struct call *k, uint16_t *to) \
    {                                                                            \
        const T *a = k->arg[0]->values, *b = k->arg[1]->values;                  \
        uint32_t n = 0;                                                          \
        CALL_LOOP(k, to[n] = (uint16_t)r; n += a[r] op b[r]);                    \
        return n;                                                                \
    }

#define COMPARE_KERNEL(suffix, name, kernel_flags)               \
    {                                                            \
        .run = compare_##name##_##suffix, .flags = kernel_flags, \
        .pick = compare_pick_##name##_##suffix                   \
    }

#define COMPARE_TABLE(suffix, kernel_flags)                                                 \
    static const struct kernel compare_##suffix[COMPARE_OPS] = {                            \
        COMPARE_KERNEL(suffix, eq, kernel_flags), COMPARE_KERNEL(suffix, ne, kernel_flags), \
        COMPARE_KERNEL(suffix, lt, kernel_flags), COMPARE_KERNEL(suffix, le, kernel_flags), \
        COMPARE_KERNEL(suffix, gt, kernel_flags), COMPARE_KERNEL(suffix, ge, kernel_flags)};

#define COMPARE_TYPE(suffix, T)    \
    COMPARE_ONE(suffix, T, eq, ==) \
    COMPARE_ONE(suffix, T, ne, !=) \
    COMPARE_ONE(suffix, T, lt, <)  \
    COMPARE_ONE(suffix, T, le, <=) \
    COMPARE_ONE(suffix, T, gt, >)  \
    COMPARE_ONE(suffix, T, ge, >=) \
    COMPARE_TABLE(suffix, KERNEL_DENSE)

COMPARE_TYPE(u8, uint8_t)
COMPARE_TYPE(i8, int8_t)
COMPARE_TYPE(i16, int16_t)
COMPARE_TYPE(i32, int32_t)
COMPARE_TYPE(i64, int64_t)
COMPARE_TYPE(f32, float)
COMPARE_TYPE(f64, double)

/* DECIMAL of more than 18 digits and the same scale. */
#define COMPARE_WIDE(name, op)                                                                  \
    static void compare_##name##_wide(struct call *k)                                           \
    {                                                                                           \
        const struct sr_wide *a = k->arg[0]->values, *b = k->arg[1]->values;                    \
        uint8_t *to = k->out->values;                                                           \
        CALL_LOOP(k, to[r] = decimal_of_wide(a[r]) op decimal_of_wide(b[r]));                   \
    }                                                                                           \
    static uint32_t compare_pick_##name##_wide(struct call *k, uint16_t *to)                    \
    {                                                                                           \
        const struct sr_wide *a = k->arg[0]->values, *b = k->arg[1]->values;                    \
        uint32_t n = 0;                                                                         \
        CALL_LOOP(k, to[n] = (uint16_t)r; n += decimal_of_wide(a[r]) op decimal_of_wide(b[r])); \
        return n;                                                                               \
    }

COMPARE_WIDE(eq, ==)
COMPARE_WIDE(ne, !=)
COMPARE_WIDE(lt, <)
COMPARE_WIDE(le, <=)
COMPARE_WIDE(gt, >)
COMPARE_WIDE(ge, >=)
COMPARE_TABLE(wide, KERNEL_DENSE)

/* Text and bytes: by unsigned bytes, the shorter first. */
static int compare_bytes(const char *a, uint32_t alen, const char *b, uint32_t blen)
{
    int order = memcmp(a, b, alen < blen ? alen : blen);
    return order != 0 ? order : alen < blen ? -1 : alen > blen ? 1 : 0;
}

static inline bool compare_same(const char *a, uint32_t alen, const char *b, uint32_t blen)
{
    return alen == blen && memcmp(a, b, alen) == 0;
}

#define COMPARE_TEXT(name, test)                                               \
    static void compare_##name##_text(struct call *k)                          \
    {                                                                          \
        const struct sr_span *a = k->arg[0]->values, *b = k->arg[1]->values;   \
        const char *at = column_text(k->arg[0]), *bt = column_text(k->arg[1]); \
        uint8_t *to = k->out->values;                                          \
        CALL_EACH_ROW(k, r) { to[r] = test; }                                  \
    }                                                                          \
    static uint32_t compare_pick_##name##_text(struct call *k, uint16_t *to)   \
    {                                                                          \
        const struct sr_span *a = k->arg[0]->values, *b = k->arg[1]->values;   \
        const char *at = column_text(k->arg[0]), *bt = column_text(k->arg[1]); \
        uint32_t n = 0;                                                        \
        CALL_EACH_ROW(k, r)                                                    \
        {                                                                      \
            to[n] = (uint16_t)r;                                               \
            n += test;                                                         \
        }                                                                      \
        return n;                                                              \
    }

#define COMPARE_SAME  compare_same(at + a[r].at, a[r].len, bt + b[r].at, b[r].len)
#define COMPARE_ORDER compare_bytes(at + a[r].at, a[r].len, bt + b[r].at, b[r].len)

COMPARE_TEXT(eq, COMPARE_SAME)
COMPARE_TEXT(ne, !COMPARE_SAME)
COMPARE_TEXT(lt, COMPARE_ORDER < 0)
COMPARE_TEXT(le, COMPARE_ORDER <= 0)
COMPARE_TEXT(gt, COMPARE_ORDER > 0)
COMPARE_TEXT(ge, COMPARE_ORDER >= 0)
COMPARE_TABLE(text, 0)

/* Timestamps of more than 6 digits behind the second. */
#define COMPARE_INSTANT(name, op)                                                   \
    static void compare_##name##_instant(struct call *k)                            \
    {                                                                               \
        const struct sr_instant *a = k->arg[0]->values, *b = k->arg[1]->values;     \
        uint8_t *to = k->out->values;                                               \
        CALL_EACH_ROW(k, r) { to[r] = instant_order(a[r]) op instant_order(b[r]); } \
    }                                                                               \
    static uint32_t compare_pick_##name##_instant(struct call *k, uint16_t *to)     \
    {                                                                               \
        const struct sr_instant *a = k->arg[0]->values, *b = k->arg[1]->values;     \
        uint32_t n = 0;                                                             \
        CALL_EACH_ROW(k, r)                                                         \
        {                                                                           \
            to[n] = (uint16_t)r;                                                    \
            n += instant_order(a[r]) op instant_order(b[r]);                        \
        }                                                                           \
        return n;                                                                   \
    }

COMPARE_INSTANT(eq, ==)
COMPARE_INSTANT(ne, !=)
COMPARE_INSTANT(lt, <)
COMPARE_INSTANT(le, <=)
COMPARE_INSTANT(gt, >)
COMPARE_INSTANT(ge, >=)
COMPARE_TABLE(instant, KERNEL_DENSE)

/* DECIMAL of any widths and scales, integers among them. */
static void compare_decimals(struct call *k, bool is_less, bool is_same, bool is_more)
{
    const bool answers[3] = {is_less, is_same, is_more};
    decimal x[SR_BATCH_ROWS], y[SR_BATCH_ROWS];
    decimal_load(k->arg[0], k->sel, k->n, x);
    decimal_load(k->arg[1], k->sel, k->n, y);
    int32_t sa = k->arg[0]->type.kind == SR_DECIMAL ? k->arg[0]->type.scale : 0;
    int32_t sb = k->arg[1]->type.kind == SR_DECIMAL ? k->arg[1]->type.scale : 0;
    uint8_t *to = k->out->values;
    for (uint32_t i = 0; i < k->n; i++) {
        int order = sa == sb ? (x[i] > y[i]) - (x[i] < y[i]) : decimal_compare(x[i], sa, y[i], sb);
        to[k->sel ? k->sel[i] : i] = answers[(order > 0) - (order < 0) + 1];
    }
}

static void compare_eq_decimal(struct call *k) { compare_decimals(k, false, true, false); }
static void compare_ne_decimal(struct call *k) { compare_decimals(k, true, false, true); }
static void compare_lt_decimal(struct call *k) { compare_decimals(k, true, false, false); }
static void compare_le_decimal(struct call *k) { compare_decimals(k, true, true, false); }
static void compare_gt_decimal(struct call *k) { compare_decimals(k, false, false, true); }
static void compare_ge_decimal(struct call *k) { compare_decimals(k, false, true, true); }

static const struct kernel compare_decimal[COMPARE_OPS] = {
    {.run = compare_eq_decimal}, {.run = compare_ne_decimal}, {.run = compare_lt_decimal},
    {.run = compare_le_decimal}, {.run = compare_gt_decimal}, {.run = compare_ge_decimal}};

/* --- Typing. ---------------------------------------------------------------------------------- */

static const struct kernel *compare_table(const struct sr_type *t)
{
    switch (t->kind) {
    case SR_BOOLEAN:
        return compare_u8;
    case SR_TINYINT:
        return compare_i8;
    case SR_SMALLINT:
        return compare_i16;
    case SR_INT:
    case SR_DATE:
    case SR_TIME:
    case SR_INTERVAL_MONTH:
        return compare_i32;
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return t->length > INSTANT_DIGITS_SMALL ? compare_instant : compare_i64;
    case SR_BIGINT:
    case SR_INTERVAL_SECOND:
        return compare_i64;
    case SR_FLOAT:
        return compare_f32;
    case SR_DOUBLE:
        return compare_f64;
    case SR_DECIMAL:
        return compare_decimal;
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_VARIANT: /* = and <> only */
        return compare_text;
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_KIND_COUNT:
        return NULL;
    }
    return NULL;
}

/* Both sides as they are compared: text and DECIMAL as they stand, all else of one type. */
static bool compare_sides(struct bind_call *b, const struct sr_type *common)
{
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    if (common->kind == SR_DECIMAL || common->kind == SR_VARIANT ||
        (sr_is_string(x->kind) && sr_is_string(y->kind))) {
        return true;
    }
    for (uint32_t i = 0; i < 2; i++) {
        b->arg[i] = expr_cast(b->arena, b->arg[i], common, false, b->err);
        if (!b->arg[i]) {
            b->is_said = true;
            return false;
        }
    }
    return true;
}

/* ROW, ARRAY and MAP: the same or not. */
static void compare_nest(struct call *k, bool wanted)
{
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = nest_equal(k->arg[0], r, k->arg[1], r) == wanted; }
}
static void compare_nest_eq(struct call *k) { compare_nest(k, true); }
static void compare_nest_ne(struct call *k) { compare_nest(k, false); }
static const struct kernel compare_nested[] = {{.run = compare_nest_eq}, {.run = compare_nest_ne}};

static bool compare_bind_as(struct bind_call *b, uint32_t op, bool is_strict)
{
    const struct sr_type *left = &b->arg[0]->type;
    if (sr_is_nested(left->kind) && nest_is_alike(left, &b->arg[1]->type) && op <= COMPARE_NE) {
        b->type = type_nullable(type_of(SR_BOOLEAN), bind_any_nullable(b));
        b->kernel = &compare_nested[op];
        return true;
    }
    struct sr_type common;
    bool is_equality = is_strict && (op == COMPARE_EQ || op == COMPARE_NE);
    b->type = type_nullable(type_of(SR_BOOLEAN), bind_any_nullable(b));
    if (!promote_compare(is_equality, &b->arg[0]->type, &b->arg[1]->type, &common)) {
        return false;
    }
    if (common.kind == SR_NULL) { /* NULL = NULL */
        b->whole = expr_cast(b->arena, b->arg[0], &b->type, false, b->err);
        return b->whole != NULL;
    }
    const struct kernel *table = compare_table(&common);
    if (common.kind == SR_VARIANT && op > COMPARE_NE) {
        return bind_fails(b, "VARIANTs are the same or not, and have no order");
    }
    if (!table || !compare_sides(b, &common)) {
        return false;
    }
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    if (x->kind == SR_DECIMAL && y->kind == SR_DECIMAL && x->scale == y->scale &&
        sr_value_size(x) == sr_value_size(y)) {
        table = x->length <= SR_DECIMAL_SMALL ? compare_i64 : compare_wide;
    }
    b->kernel = &table[op];
    return true;
}

/* Rows as they are written, ROW(a, b) = ROW(c, d), stand for a = c AND b = d. */
static bool compare_bind_rows(struct bind_call *b)
{
    const struct expr *x = b->arg[0], *y = b->arg[1];
    const struct expr **test = expr_array(b->arena, x->args);
    if (x->args != y->args || !test) {
        return false;
    }
    for (uint32_t i = 0; i < x->args; i++) {
        const struct expr *pair[2] = {x->arg[i], y->arg[i]};
        test[i] = bind_sub(b, b->func->name, pair, 2);
        if (!test[i]) {
            return false;
        }
    }
    const char *joint = b->func->data == COMPARE_EQ ? "AND" : "OR";
    b->whole = x->args == 1 ? test[0] : bind_sub(b, joint, test, x->args);
    return b->whole != NULL;
}

static bool compare_bind(struct bind_call *b)
{
    bool is_written = expr_is_call_of(b->arg[0], "ROW") && expr_is_call_of(b->arg[1], "ROW");
    return is_written && b->func->data <= COMPARE_NE ? compare_bind_rows(b)
                                                     : compare_bind_as(b, b->func->data, true);
}

/* a = b where text may stand beside numbers, as Flink lets it in IN. */
static const struct expr *compare_loosely(struct bind_call *b, const struct expr *x,
                                          const struct expr *y)
{
    const struct expr *pair[2] = {x, y};
    struct bind_call sub = {
        .arena = b->arena, .func = func_row("="), .arg = pair, .args = 2, .err = b->err};
    if (!compare_bind_as(&sub, COMPARE_EQ, false)) {
        b->is_said = sub.is_said;
        return NULL;
    }
    return sub.whole ? sub.whole : expr_make(b->arena, sub.func, sub.kernel, sub.type, pair, 2);
}

/* The literal that x is compared with in `test`, when x stands there uncast; NULL: not so
 * simple. */
static const struct expr *compare_literal(struct arena *a, const struct expr *test,
                                          const struct expr *x)
{
    if (test->kind != EXPR_CALL || !test->kernel || test->arg[0] != x ||
        x->type.kind == SR_DECIMAL || !in_list_kernel(&x->type)) {
        return NULL;
    }
    if (test->arg[1]->kind != EXPR_LITERAL && test->arg[1]->type.is_nullable) {
        return NULL; /* the type of the whole has to tell */
    }
    const struct expr *literal = program_fold_early(a, test->arg[1]);
    bool is_same = literal->type.kind == x->type.kind ||
                   (sr_is_string(literal->type.kind) && sr_is_string(x->type.kind));
    return literal->kind == EXPR_LITERAL && !literal->is_null && is_same ? literal : NULL;
}

/* Literals go into one table; what else is in the list is compared on its own, behind it. */
static bool compare_bind_in(struct bind_call *b)
{
    const struct expr **test = expr_array(b->arena, b->args),
                      **list = expr_array(b->arena, b->args);
    uint32_t tests = 1, literals = 1;
    if (!test || !list) {
        return bind_fails(b, "out of memory");
    }
    list[0] = b->arg[0];
    for (uint32_t i = 1; i < b->args; i++) {
        const struct expr *one = compare_loosely(b, b->arg[0], b->arg[i]);
        if (!one) {
            return false;
        }
        const struct expr *literal = compare_literal(b->arena, one, b->arg[0]);
        if (literal) {
            list[literals++] = literal;
        } else if (tests > COMPARE_IN_MAX) {
            return bind_fails(b, "a list of IN may have %u items that are not constant",
                              COMPARE_IN_MAX);
        } else {
            test[tests++] = one;
        }
    }
    uint32_t first = literals > 1 ? 0 : 1;
    if (first == 0) {
        struct sr_type t = type_nullable(type_of(SR_BOOLEAN), list[0]->type.is_nullable);
        test[0] = literals == 2 ? compare_loosely(b, list[0], list[1])
                                : expr_make(b->arena, b->func, in_list_kernel(&list[0]->type), t,
                                            list, literals);
    }
    b->whole = tests - first == 1 ? test[first] : bind_sub(b, "OR", test + first, tests - first);
    return b->whole != NULL;
}

static const struct expr *compare_range(struct bind_call *b, const struct expr *low,
                                        const struct expr *high)
{
    const struct expr *over[2] = {b->arg[0], low}, *under[2] = {b->arg[0], high}, *both[2];
    both[0] = bind_sub(b, ">=", over, 2);
    both[1] = both[0] ? bind_sub(b, "<=", under, 2) : NULL;
    return both[1] ? bind_sub(b, "AND", both, 2) : NULL;
}

static bool compare_bind_between(struct bind_call *b)
{
    b->whole = compare_range(b, b->arg[1], b->arg[2]);
    if (b->whole && b->func->data) { /* SYMMETRIC: either way round */
        const struct expr *ways[2] = {b->whole, compare_range(b, b->arg[2], b->arg[1])};
        b->whole = ways[1] ? bind_sub(b, "OR", ways, 2) : NULL;
    }
    return b->whole != NULL;
}

/* (a IS NULL AND b IS NULL) OR (a = b) IS TRUE: never NULL. data: negated. */
static bool compare_bind_distinct(struct bind_call *b)
{
    const struct expr *null[2], *any[2], *same = bind_sub(b, "=", b->arg, 2);
    if (!same) {
        return false;
    }
    null[0] = bind_sub(b, "IS NULL", &b->arg[0], 1);
    null[1] = bind_sub(b, "IS NULL", &b->arg[1], 1);
    any[0] = null[0] && null[1] ? bind_sub(b, "AND", null, 2) : NULL;
    any[1] = bind_sub(b, "IS TRUE", &same, 1);
    b->whole = any[0] && any[1] ? bind_sub(b, "OR", any, 2) : NULL;
    if (b->whole && b->func->data) {
        b->whole = bind_sub(b, "NOT", &b->whole, 1);
    }
    return b->whole != NULL;
}

static bool compare_bind_extreme(struct bind_call *b)
{
    return extreme_bind(b, b->func->data == COMPARE_GE);
}

#define COMPARE_ROW(sign, op, words)                                                    \
    {                                                                                   \
        .name = sign, .family = "comparison", .bind = compare_bind, .min = 2, .max = 2, \
        .data = op, .forms = "value " sign " value", .doc = words                       \
    }

static const struct func compare_funcs[] = {
    COMPARE_ROW("=", COMPARE_EQ, "Whether both values are the same; NULL when either is NULL."),
    COMPARE_ROW("<>", COMPARE_NE, "Whether the values differ; NULL when either is NULL."),
    COMPARE_ROW("<", COMPARE_LT, "Whether the first value is less. Text is compared by bytes."),
    COMPARE_ROW("<=", COMPARE_LE, "Whether the first value is less or the same."),
    COMPARE_ROW(">", COMPARE_GT, "Whether the first value is more."),
    COMPARE_ROW(">=", COMPARE_GE, "Whether the first value is more or the same."),
    {.name = "IN",
     .family = "comparison",
     .bind = compare_bind_in,
     .min = 2,
     .max = FUNC_ARGS_MAX,
     .forms = "value IN (value, ...)",
     .doc = "Whether the value is one of those listed. NULL when it is not and one of them is "
            "NULL."},
    {.name = "BETWEEN",
     .family = "comparison",
     .bind = compare_bind_between,
     .min = 3,
     .max = 3,
     .forms = "value BETWEEN low AND high",
     .doc = "The same as value >= low AND value <= high."},
    {.name = "BETWEEN SYMMETRIC",
     .family = "comparison",
     .bind = compare_bind_between,
     .min = 3,
     .max = 3,
     .data = 1,
     .forms = "value BETWEEN SYMMETRIC a AND b",
     .doc = "BETWEEN, whichever of the ends is the lower one."},
    {.name = "IS DISTINCT FROM",
     .family = "comparison",
     .bind = compare_bind_distinct,
     .min = 2,
     .max = 2,
     .data = 1,
     .forms = "value IS DISTINCT FROM value",
     .doc = "Whether the values differ, where NULL is the same as NULL; never NULL."},
    {.name = "IS NOT DISTINCT FROM",
     .family = "comparison",
     .bind = compare_bind_distinct,
     .min = 2,
     .max = 2,
     .forms = "value IS NOT DISTINCT FROM value",
     .doc = "Whether the values are the same, where NULL is the same as NULL; never NULL."},
    {.name = "GREATEST",
     .family = "conditional",
     .bind = compare_bind_extreme,
     .min = 1,
     .max = CALL_ARGS_MAX,
     .data = COMPARE_GE,
     .forms = "GREATEST(value, ...)",
     .doc = "The largest value; NULL when any of them is NULL."},
    {.name = "LEAST",
     .family = "conditional",
     .bind = compare_bind_extreme,
     .min = 1,
     .max = CALL_ARGS_MAX,
     .data = COMPARE_LE,
     .forms = "LEAST(value, ...)",
     .doc = "The smallest value; NULL when any of them is NULL."},
};

const struct func_family func_compare = {compare_funcs,
                                         sizeof(compare_funcs) / sizeof(compare_funcs[0])};
