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

/* How wide a, b and the result are: narrow is an int64_t. A narrow result has narrow parts. */
enum exact_form { EXACT_NNN, EXACT_NNW, EXACT_NWW, EXACT_WNW, EXACT_WWW, EXACT_FORMS };

/* One loop: `value` is made of x and y, and of p and q, by which their scales are raised. */
#define EXACT_LOOP(name, A, of_a, B, of_b, T, to_t, value)                                   \
    static void exact_##name(struct call *k)                                                 \
    {                                                                                        \
        const A *a = k->arg[0]->values;                                                      \
        const B *b = k->arg[1]->values;                                                      \
        T *to = k->out->values;                                                              \
        const udecimal p = exact_raise(k, 0), q = exact_raise(k, 1);                         \
        (void)p;                                                                             \
        (void)q;                                                                             \
        CALL_LOOP(k, udecimal x = of_a(a[r]); udecimal y = of_b(b[r]); to[r] = to_t(value)); \
    }

#define EXACT_KERNELS(name, value)                                                                 \
    EXACT_LOOP(name##_nnn, int64_t, exact_narrow, int64_t, exact_narrow, int64_t, exact_to_narrow, \
               value)                                                                              \
    EXACT_LOOP(name##_nnw, int64_t, exact_narrow, int64_t, exact_narrow, struct sr_wide,           \
               exact_to_wide, value)                                                               \
    EXACT_LOOP(name##_nww, int64_t, exact_narrow, struct sr_wide, exact_wide, struct sr_wide,      \
               exact_to_wide, value)                                                               \
    EXACT_LOOP(name##_wnw, struct sr_wide, exact_wide, int64_t, exact_narrow, struct sr_wide,      \
               exact_to_wide, value)                                                               \
    EXACT_LOOP(name##_www, struct sr_wide, exact_wide, struct sr_wide, exact_wide, struct sr_wide, \
               exact_to_wide, value)                                                               \
    static const struct kernel exact_k_##name[EXACT_FORMS] = {                                     \
        {.run = exact_##name##_nnn, .flags = KERNEL_DENSE},                                        \
        {.run = exact_##name##_nnw, .flags = KERNEL_DENSE},                                        \
        {.run = exact_##name##_nww, .flags = KERNEL_DENSE},                                        \
        {.run = exact_##name##_wnw, .flags = KERNEL_DENSE},                                        \
        {.run = exact_##name##_www, .flags = KERNEL_DENSE}};

/* What brings argument i of a sum to the result's scale; of a product nothing does. */
static udecimal exact_raise(const struct call *k, uint32_t i)
{
    int32_t by = k->out->type.scale - exact_scale(&k->arg[i]->type);
    return (udecimal)decimal_power(by > 0 ? by : 0);
}

EXACT_KERNELS(add, x + y)
EXACT_KERNELS(subtract, x - y)
EXACT_KERNELS(multiply, x *y)
EXACT_KERNELS(add_raised, x *p + y * q)
EXACT_KERNELS(subtract_raised, x *p - y * q)

static enum exact_form exact_form(const struct sr_type *a, const struct sr_type *b,
                                  const struct sr_type *result)
{
    if (exact_is_wide(a)) {
        return exact_is_wide(b) ? EXACT_WWW : EXACT_WNW;
    }
    return exact_is_wide(b) ? EXACT_NWW : exact_is_wide(result) ? EXACT_NNW : EXACT_NNN;
}

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
    enum exact_form form = exact_form(a, b, result);
    if (op == '*') {
        bool fits = result->scale == x.scale + y.scale && result->length >= x.length + y.length;
        return fits ? &exact_k_multiply[form] : NULL;
    }
    int32_t scale = x.scale > y.scale ? x.scale : y.scale;
    int32_t before_x = x.length - x.scale, before_y = y.length - y.scale;
    int32_t before = (before_x > before_y ? before_x : before_y) + 1;
    if ((op != '+' && op != '-') || result->scale != scale || result->length - scale < before) {
        return NULL;
    }
    bool is_sum = op == '+', is_raised = x.scale != y.scale;
    return is_raised ? (is_sum ? &exact_k_add_raised[form] : &exact_k_subtract_raised[form])
                     : (is_sum ? &exact_k_add[form] : &exact_k_subtract[form]);
}
