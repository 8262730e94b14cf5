#include "engine/expr/decimal_exact.h"

#include "engine/expr/decimal.h"
#include "engine/expr/kernel.h"
#include "engine/expr/promote.h"

/* All is computed unsigned: a row that nobody needs may hold anything. */
static inline udecimal exact_narrow(int64_t v) { return (udecimal)(decimal)v; }
static inline udecimal exact_wide(struct sr_wide v) { return (udecimal)decimal_of_wide(v); }
static inline int64_t exact_to_narrow(udecimal v) { return (int64_t)(uint64_t)v; }
static inline struct sr_wide exact_to_wide(udecimal v) { return decimal_to_wide((decimal)v); }

static int32_t exact_scale(const struct sr_type *t) { return t->kind == SR_DECIMAL ? t->scale : 0; }

static bool exact_is_wide(const struct sr_type *t)
{
    return t->kind == SR_DECIMAL && t->length > SR_DECIMAL_SMALL;
}

/* The loop of `value`, made of x and y, for the widths of a call. */
#define EXACT_LOOP(A, of_a, B, of_b, T, to_t, value)                                         \
    do {                                                                                     \
        const A *a = k->arg[0]->values;                                                      \
        const B *b = k->arg[1]->values;                                                      \
        T *to = k->out->values;                                                              \
        CALL_LOOP(k, udecimal x = of_a(a[r]); udecimal y = of_b(b[r]); to[r] = to_t(value)); \
    } while (0)

#define EXACT_WIDTHS(value)                                                                      \
    do {                                                                                         \
        bool a_wide = exact_is_wide(&k->arg[0]->type), b_wide = exact_is_wide(&k->arg[1]->type); \
        if (a_wide && b_wide) {                                                                  \
            EXACT_LOOP(struct sr_wide, exact_wide, struct sr_wide, exact_wide, struct sr_wide,   \
                       exact_to_wide, value);                                                    \
        } else if (a_wide) {                                                                     \
            EXACT_LOOP(struct sr_wide, exact_wide, int64_t, exact_narrow, struct sr_wide,        \
                       exact_to_wide, value);                                                    \
        } else if (b_wide) {                                                                     \
            EXACT_LOOP(int64_t, exact_narrow, struct sr_wide, exact_wide, struct sr_wide,        \
                       exact_to_wide, value);                                                    \
        } else if (exact_is_wide(&k->out->type)) {                                               \
            EXACT_LOOP(int64_t, exact_narrow, int64_t, exact_narrow, struct sr_wide,             \
                       exact_to_wide, value);                                                    \
        } else {                                                                                 \
            EXACT_LOOP(int64_t, exact_narrow, int64_t, exact_narrow, int64_t, exact_to_narrow,   \
                       value);                                                                   \
        }                                                                                        \
    } while (0)

static void exact_add(struct call *k) { EXACT_WIDTHS(x + y); }
static void exact_subtract(struct call *k) { EXACT_WIDTHS(x - y); }
static void exact_multiply(struct call *k) { EXACT_WIDTHS(x * y); }

/* Of different scales: the one with fewer digits behind the point is raised. */
static void exact_add_raised(struct call *k)
{
    udecimal p = (udecimal)decimal_power(k->out->type.scale - exact_scale(&k->arg[0]->type));
    udecimal q = (udecimal)decimal_power(k->out->type.scale - exact_scale(&k->arg[1]->type));
    EXACT_WIDTHS(x * p + y * q);
}

static void exact_subtract_raised(struct call *k)
{
    udecimal p = (udecimal)decimal_power(k->out->type.scale - exact_scale(&k->arg[0]->type));
    udecimal q = (udecimal)decimal_power(k->out->type.scale - exact_scale(&k->arg[1]->type));
    EXACT_WIDTHS(x * p - y * q);
}

static const struct kernel exact_k_add = {.run = exact_add, .flags = KERNEL_DENSE};
static const struct kernel exact_k_subtract = {.run = exact_subtract, .flags = KERNEL_DENSE};
static const struct kernel exact_k_multiply = {.run = exact_multiply, .flags = KERNEL_DENSE};
static const struct kernel exact_k_add_raised = {.run = exact_add_raised, .flags = KERNEL_DENSE};
static const struct kernel exact_k_subtract_raised = {.run = exact_subtract_raised,
                                                      .flags = KERNEL_DENSE};

static bool exact_takes(const struct sr_type *t)
{
    return t->kind == SR_BIGINT || t->kind == SR_DECIMAL;
}

const struct kernel *decimal_exact(char op, const struct sr_type *a, const struct sr_type *b,
                                   const struct sr_type *result)
{
    struct sr_type x = promote_decimal(a), y = promote_decimal(b);
    if (!exact_takes(a) || !exact_takes(b) || result->kind != SR_DECIMAL) {
        return NULL;
    }
    if (op == '*') {
        bool fits = result->scale == x.scale + y.scale && result->length >= x.length + y.length;
        return fits ? &exact_k_multiply : NULL;
    }
    int32_t scale = x.scale > y.scale ? x.scale : y.scale;
    int32_t before_x = x.length - x.scale, before_y = y.length - y.scale;
    int32_t before = (before_x > before_y ? before_x : before_y) + 1;
    if ((op != '+' && op != '-') || result->scale != scale || result->length - scale < before) {
        return NULL;
    }
    return x.scale == y.scale ? (op == '+' ? &exact_k_add : &exact_k_subtract)
                              : (op == '+' ? &exact_k_add_raised : &exact_k_subtract_raised);
}
