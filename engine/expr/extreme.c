#include "engine/expr/extreme.h"

#include <math.h>
#include <string.h>

#include "engine/expr/decimal.h"
#include "engine/expr/instant.h"
#include "engine/expr/promote.h"

/* The best so far stands in the result: one pass an argument. */
#define EXTREME_LOOP(name, T, op)                               \
    static void extreme_pass_##name(struct call *k, const T *a) \
    {                                                           \
        T *to = k->out->values;                                 \
        CALL_LOOP(k, to[r] = a[r] op to[r] ? a[r] : to[r]);     \
    }                                                           \
    static void extreme_##name(struct call *k)                  \
    {                                                           \
        T *to = k->out->values;                                 \
        const T *first = k->arg[0]->values;                     \
        CALL_LOOP(k, to[r] = first[r]);                         \
        for (uint32_t i = 1; i < k->args; i++) {                \
            extreme_pass_##name(k, k->arg[i]->values);          \
        }                                                       \
    }

#define EXTREME_BOTH(suffix, T)                                 \
    EXTREME_LOOP(most_##suffix, T, >)                           \
    EXTREME_LOOP(least_##suffix, T, <)                          \
    static const struct kernel extreme_k_##suffix[2] = {        \
        {.run = extreme_least_##suffix, .flags = KERNEL_DENSE}, \
        {.run = extreme_most_##suffix, .flags = KERNEL_DENSE}};

EXTREME_BOTH(u8, uint8_t)
EXTREME_BOTH(i8, int8_t)
EXTREME_BOTH(i16, int16_t)
EXTREME_BOTH(i32, int32_t)
EXTREME_BOTH(i64, int64_t)

/* NaN is the largest, -0.0 less than 0.0: as Java's Double.compare. */
static bool extreme_is_more(double a, double b)
{
    return a > b || (a != a && b == b) || (a == b && signbit(b) && !signbit(a));
}

#define EXTREME_REAL(suffix, T)                                                        \
    static void extreme_pass_##suffix(struct call *k, const T *a, bool is_most)        \
    {                                                                                  \
        T *to = k->out->values;                                                        \
        CALL_LOOP(k, bool is_more = extreme_is_more((double)a[r], (double)to[r]);      \
                  bool is_less = extreme_is_more((double)to[r], (double)a[r]);         \
                  to[r] = (is_most ? is_more : is_less) ? a[r] : to[r]);               \
    }                                                                                  \
    static void extreme_##suffix(struct call *k, bool is_most)                         \
    {                                                                                  \
        T *to = k->out->values;                                                        \
        const T *first = k->arg[0]->values;                                            \
        CALL_LOOP(k, to[r] = first[r]);                                                \
        for (uint32_t i = 1; i < k->args; i++) {                                       \
            extreme_pass_##suffix(k, k->arg[i]->values, is_most);                      \
        }                                                                              \
    }                                                                                  \
    static void extreme_least_##suffix(struct call *k) { extreme_##suffix(k, false); } \
    static void extreme_most_##suffix(struct call *k) { extreme_##suffix(k, true); }   \
    static const struct kernel extreme_k_##suffix[2] = {                               \
        {.run = extreme_least_##suffix, .flags = KERNEL_DENSE},                        \
        {.run = extreme_most_##suffix, .flags = KERNEL_DENSE}};

EXTREME_REAL(f32, float)
EXTREME_REAL(f64, double)

static void extreme_wide(struct call *k, bool is_most)
{
    struct sr_wide *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        decimal best = decimal_of_wide(((const struct sr_wide *)k->arg[0]->values)[r]);
        for (uint32_t i = 1; i < k->args; i++) {
            decimal v = decimal_of_wide(((const struct sr_wide *)k->arg[i]->values)[r]);
            best = (is_most ? v > best : v < best) ? v : best;
        }
        to[r] = decimal_to_wide(best);
    }
}
static void extreme_most_wide(struct call *k) { extreme_wide(k, true); }
static void extreme_least_wide(struct call *k) { extreme_wide(k, false); }
static const struct kernel extreme_k_wide[2] = {{.run = extreme_least_wide},
                                                {.run = extreme_most_wide}};

static void extreme_instant(struct call *k, bool is_most)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant best = instant_get(k->arg[0], r);
        for (uint32_t i = 1; i < k->args; i++) {
            struct sr_instant v = instant_get(k->arg[i], r);
            bool is_more = instant_order(v) > instant_order(best);
            best = is_most == is_more ? v : best;
        }
        instant_put(k->out, r, best);
    }
}
static void extreme_most_instant(struct call *k) { extreme_instant(k, true); }
static void extreme_least_instant(struct call *k) { extreme_instant(k, false); }
static const struct kernel extreme_k_instant[2] = {{.run = extreme_least_instant},
                                                   {.run = extreme_most_instant}};

static void extreme_text(struct call *k, bool is_most)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t best_len, len;
        const char *best = call_get(k, 0, r, &best_len);
        for (uint32_t i = 1; i < k->args; i++) {
            const char *s = call_get(k, i, r, &len);
            int order = memcmp(s, best, len < best_len ? len : best_len);
            order = order != 0 ? order : (len > best_len) - (len < best_len);
            if (is_most ? order > 0 : order < 0) {
                best = s;
                best_len = len;
            }
        }
        call_text(k, r, best, best_len);
    }
}
static void extreme_most_text(struct call *k) { extreme_text(k, true); }
static void extreme_least_text(struct call *k) { extreme_text(k, false); }
static const struct kernel extreme_k_text[2] = {{.run = extreme_least_text},
                                                {.run = extreme_most_text}};

static const struct kernel *extreme_kernel(const struct sr_type *t)
{
    if (sr_is_string(t->kind)) {
        return extreme_k_text;
    }
    if (t->kind == SR_DECIMAL && t->length > SR_DECIMAL_SMALL) {
        return extreme_k_wide;
    }
    if (sr_is_timestamp(t->kind) && t->length > INSTANT_DIGITS_SMALL) {
        return extreme_k_instant;
    }
    switch (t->kind == SR_BOOLEAN ? 0u : sr_value_size(t)) {
    case 0:
        return extreme_k_u8;
    case 1:
        return extreme_k_i8;
    case 2:
        return extreme_k_i16;
    case 4:
        return t->kind == SR_FLOAT ? extreme_k_f32 : extreme_k_i32;
    case 8:
        return t->kind == SR_DOUBLE ? extreme_k_f64 : extreme_k_i64;
    default:
        return NULL;
    }
}

bool extreme_bind(struct bind_call *b, bool is_greatest)
{
    b->type = b->arg[0]->type;
    for (uint32_t i = 1; i < b->args; i++) {
        if (!promote_branch(&b->type, &b->arg[i]->type, &b->type)) {
            return false;
        }
    }
    if (b->type.kind == SR_VARIANT) {
        return bind_fails(b, "VARIANTs are the same or not, and have no order");
    }
    if (sr_is_bytes(b->type.kind)) {
        return bind_fails(b, "%s does not take bytes, as in Flink", b->func->name);
    }
    const struct kernel *both =
        sr_is_nested(b->type.kind) || b->type.kind == SR_NULL ? NULL : extreme_kernel(&b->type);
    for (uint32_t i = 0; both && i < b->args; i++) {
        b->arg[i] = expr_cast(b->arena, b->arg[i], &b->type, false, b->err);
        if (!b->arg[i]) {
            b->is_said = true;
            return false;
        }
    }
    b->kernel = both ? &both[is_greatest] : NULL;
    return both != NULL;
}
