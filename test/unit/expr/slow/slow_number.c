/* Arithmetic and comparison, as Java does it. */
#include <math.h>
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/promote.h"
#include "test/unit/expr/slow/big.h"
#include "test/unit/expr/slow/slow.h"

static bool number_is(const struct slow_call *c, const char *name)
{
    return strcmp(c->name, name) == 0;
}

/* The low bits that the type has. */
static int64_t number_wrap(enum sr_kind kind, int64_t v)
{
    switch ((int)kind) {
    case SR_TINYINT:
        return (int8_t)v;
    case SR_SMALLINT:
        return (int16_t)v;
    case SR_INT:
    case SR_INTERVAL_MONTH:
        return (int32_t)v;
    default:
        return v;
    }
}

static int64_t number_op(char op, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case '+':
        return (int64_t)(x + y);
    case '-':
        return (int64_t)(x - y);
    case '*':
        return (int64_t)(x * y);
    case '/':
        return b == -1 ? (int64_t)(0 - x) : a / b;
    default:
        return b == -1 ? 0 : a % b;
    }
}

/* --- DECIMAL. --------------------------------------------------------------------------------- */

static int32_t number_scale(const struct sr_type *t)
{
    return t->kind == SR_DECIMAL ? t->scale : 0;
}

static struct big number_big(const struct sr_type *t, const struct box *b)
{
    return big_of(t->kind == SR_DECIMAL ? b->n : (__int128)b->i);
}

/* a of scale `from` becomes the DECIMAL result; NULL when that has too many digits. */
static void number_store(struct slow_call *c, struct big a, int32_t from)
{
    const struct sr_type *t = &c->e->type;
    a = from > t->scale ? big_round(a, from - t->scale) : big_raise(a, t->scale - from);
    c->out->is_null = !big_fits(a, t->length, &c->out->n);
}

/* To 38 significant digits, half up, and then to the scale: java.math.BigDecimal with a
 * MathContext, and setScale. */
static void number_divide(struct slow_call *c, struct big a, int32_t sa, struct big b, int32_t sb)
{
    struct big rest, q;
    int32_t scale = sa - sb;
    a = big_raise(a, 100);
    q = big_divide(a, b, &rest);
    scale += 100;
    if (q.size > 38) {
        int32_t drop = q.size - 38;
        q = big_round(q, drop);
        scale -= drop;
    }
    if (scale > c->e->type.scale) {
        number_store(c, q, scale);
    } else {
        number_store(c, big_raise(q, c->e->type.scale - scale), c->e->type.scale);
    }
}

static void number_decimal(struct slow_call *c, char op)
{
    const struct sr_type *x = &c->e->arg[0]->type, *y = &c->e->arg[1]->type;
    struct big a = number_big(x, &c->arg[0]), b = number_big(y, &c->arg[1]), rest;
    int32_t sa = number_scale(x), sb = number_scale(y), scale = sa > sb ? sa : sb;
    if (op == '*') {
        number_store(c, big_times(a, b), sa + sb);
        return;
    }
    if ((op == '/' || op == '%') && b.size == 0) {
        slow_fail(c->s);
        return;
    }
    if (op == '/') {
        number_divide(c, a, sa, b, sb);
        return;
    }
    a = big_raise(a, scale - sa);
    b = big_raise(b, scale - sb);
    if (op == '%') {
        (void)big_divide(a, b, &rest);
        number_store(c, rest, scale);
    } else {
        number_store(c, big_add(a, op == '-' ? big_negate(b) : b), scale);
    }
}

/* --- Calls. ----------------------------------------------------------------------------------- */

static double number_real(char op, double a, double b)
{
    return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
}

static bool number_binary(struct slow_call *c, char op)
{
    enum sr_kind kind = c->e->type.kind, left = c->e->arg[0]->type.kind;
    if (kind == SR_DECIMAL) {
        number_decimal(c, op);
    } else if (kind == SR_FLOAT) {
        c->out->d = (double)(float)number_real(op, c->arg[0].d, c->arg[1].d);
    } else if (kind == SR_DOUBLE) {
        c->out->d = number_real(op, c->arg[0].d, c->arg[1].d);
    } else if (sr_is_integer(kind) || (sr_is_interval(kind) && left == kind)) {
        if ((op == '/' || op == '%') && c->arg[1].i == 0) {
            slow_fail(c->s);
            return true;
        }
        c->out->i = number_wrap(kind, number_op(op, c->arg[0].i, c->arg[1].i));
    } else {
        return false; /* a time and an interval */
    }
    return true;
}

static bool number_unary(struct slow_call *c)
{
    const struct box *a = &c->arg[0];
    enum sr_kind kind = c->e->type.kind;
    bool is_real = sr_is_approx(kind), is_abs = number_is(c, "ABS");
    if (number_is(c, "-") || (is_abs && !is_real && (a->n < 0 || a->i < 0))) {
        c->out->n = -a->n;
        c->out->i = number_wrap(kind, (int64_t)(0 - (uint64_t)a->i));
        c->out->d = -a->d;
    } else if (is_abs) {
        *c->out = *a;
        c->out->d = a->d < 0 || (a->d == 0 && signbit(a->d)) ? -a->d : a->d;
    } else if (number_is(c, "SQRT")) {
        c->out->d = sqrt(a->d);
    } else if (number_is(c, "SIGN") && kind != SR_DECIMAL) {
        c->out->i = (a->i > 0) - (a->i < 0);
        c->out->d = a->d > 0 ? 1 : a->d < 0 ? -1 : a->d;
    } else {
        return false;
    }
    return true;
}

/* Towards less, or more, of a DECIMAL: its whole part. */
static void number_whole(struct slow_call *c, bool is_ceil)
{
    struct big rest, a = big_of(c->arg[0].n);
    a = big_divide(a, big_raise(big_of(1), c->e->arg[0]->type.scale), &rest);
    if (rest.size > 0 && rest.is_negative != is_ceil) {
        a = big_add(a, big_of(is_ceil ? 1 : -1));
    }
    number_store(c, a, 0);
}

bool slow_number(struct slow_call *c)
{
    bool is_ceil = number_is(c, "CEIL") || number_is(c, "CEILING");
    if ((is_ceil || number_is(c, "FLOOR")) && c->e->args == 1) {
        if (c->e->type.kind == SR_DECIMAL) {
            number_whole(c, is_ceil);
        } else {
            c->out->d = is_ceil ? ceil(c->arg[0].d) : floor(c->arg[0].d);
        }
        return true;
    }
    if (number_is(c, "MOD")) {
        return number_binary(c, '%');
    }
    if (c->e->args == 2 && c->name[0] != '\0' && c->name[1] == '\0' &&
        strchr("+-*/%", c->name[0])) {
        return number_binary(c, c->name[0]);
    }
    return c->e->args == 1 && number_unary(c);
}

/* --- Comparing. ------------------------------------------------------------------------------- */

static int number_order(const struct sr_type *x, const struct box *a, const struct sr_type *y,
                        const struct box *b)
{
    int32_t sa = number_scale(x), sb = number_scale(y), scale = sa > sb ? sa : sb;
    return big_compare(big_raise(number_big(x, a), scale - sa),
                       big_raise(number_big(y, b), scale - sb));
}

int slow_order(const struct sr_type *t, const struct box *a, const struct box *b)
{
    if (sr_has_bytes(t->kind)) {
        for (uint32_t i = 0; i < a->len && i < b->len; i++) {
            if (a->text[i] != b->text[i]) {
                return (unsigned char)a->text[i] < (unsigned char)b->text[i] ? -1 : 1;
            }
        }
        return a->len < b->len ? -1 : a->len > b->len;
    }
    if (sr_is_approx(t->kind)) { /* NaN is the largest */
        return a->d < b->d ? -1 : a->d > b->d ? 1 : (a->d != a->d) - (b->d != b->d);
    }
    if (t->kind == SR_DECIMAL) {
        return a->n < b->n ? -1 : a->n > b->n;
    }
    return a->i != b->i ? (a->i < b->i ? -1 : 1) : a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* NOLINTNEXTLINE(misc-no-recursion): TYPE_DEPTH_MAX */
bool slow_is_identical(const struct sr_type *t, const struct box *a, const struct box *b)
{
    if (a->is_null || b->is_null) {
        return a->is_null == b->is_null;
    }
    if (sr_is_approx(t->kind)) {
        return a->d != a->d ? b->d != b->d : a->d == b->d && !signbit(a->d) == !signbit(b->d);
    }
    bool is_same = sr_is_nested(t->kind) ? a->items == b->items : slow_order(t, a, b) == 0;
    for (uint32_t i = 0; sr_is_nested(t->kind) && i < a->items && is_same; i++) {
        is_same = slow_is_identical(&t->child[i % t->children].type, &a->item[i], &b->item[i]);
    }
    return is_same;
}

/* Whether a MAP has an entry of that key and value; NULL is no value. */
/* NOLINTNEXTLINE(misc-no-recursion): TYPE_DEPTH_MAX */
static bool slow_has_entry(const struct sr_type *t, const struct box *map, const struct box *entry)
{
    for (uint32_t k = 0; k < map->items; k += 2) {
        if (slow_is_same(&t->child[0].type, &map->item[k], &entry[0])) {
            const struct sr_type *value = &t->child[1].type;
            return !entry[1].is_null && slow_is_same(value, &map->item[k + 1], &entry[1]) &&
                   slow_is_identical(value, &map->item[k + 1], &entry[1]);
        }
    }
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): TYPE_DEPTH_MAX */
static uint32_t slow_times(const struct sr_type *t, const struct box *bag, const struct box *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < bag->items; i++) {
        n += slow_is_same(&t->child[0].type, &bag->item[i], v);
    }
    return n;
}

/* NOLINTNEXTLINE(misc-no-recursion): TYPE_DEPTH_MAX */
bool slow_is_same(const struct sr_type *t, const struct box *a, const struct box *b)
{
    if (a->is_null || b->is_null) {
        return a->is_null == b->is_null;
    }
    if (sr_is_approx(t->kind)) {
        return a->d == b->d;
    }
    if (t->kind == SR_ARRAY || !sr_is_nested(t->kind)) {
        return slow_is_identical(t, a, b);
    }
    bool is_same = a->items == b->items;
    for (uint32_t i = 0; i < a->items && is_same; i += t->kind == SR_MAP ? 2 : 1) {
        const struct box *v = &a->item[i];
        is_same = t->kind == SR_MAP        ? slow_has_entry(t, b, v)
                  : t->kind == SR_MULTISET ? slow_times(t, a, v) == slow_times(t, b, v)
                                           : slow_is_same(&t->child[i].type, v, &b->item[i]);
    }
    return is_same;
}

/* What a comparison says of an order; NaN is neither less nor more nor the same. */
static bool compare_says(const char *op, int order, bool is_nan)
{
    if (is_nan) {
        return strcmp(op, "<>") == 0;
    }
    return op[0] == '='            ? order == 0
           : strcmp(op, "<>") == 0 ? order != 0
           : op[0] == '<'          ? (op[1] == '=' ? order <= 0 : order < 0)
                                   : (op[1] == '=' ? order >= 0 : order > 0);
}

static bool compare_operator(struct slow_call *c)
{
    const struct sr_type *x = &c->e->arg[0]->type, *y = &c->e->arg[1]->type;
    const struct box *a = &c->arg[0], *b = &c->arg[1];
    if (sr_is_nested(x->kind)) {
        c->out->i = slow_is_same(x, a, b) == (c->name[0] == '=');
        return true;
    }
    bool is_nan = sr_is_approx(x->kind) && (a->d != a->d || b->d != b->d);
    bool is_exact = sr_is_exact(x->kind) && sr_is_exact(y->kind);
    int order = is_exact ? number_order(x, a, y, b) : slow_order(x, a, b);
    c->out->i = compare_says(c->name, order, is_nan);
    return true;
}

bool slow_compare(struct slow_call *c)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (number_is(c, ops[i])) {
            return compare_operator(c);
        }
    }
    if (number_is(c, "IN")) {
        for (uint32_t i = 1; i < c->e->args; i++) {
            bool is_nan = sr_is_approx(c->e->arg[0]->type.kind) && c->arg[0].d != c->arg[0].d;
            c->out->i |= !is_nan && slow_order(&c->e->arg[0]->type, &c->arg[0], &c->arg[i]) == 0;
        }
        return true;
    }
    bool is_most = number_is(c, "GREATEST");
    if (!is_most && !number_is(c, "LEAST")) {
        return false;
    }
    *c->out = c->arg[0];
    for (uint32_t i = 1; i < c->e->args; i++) {
        const struct box *a = &c->arg[i];
        int order = slow_order(&c->e->type, a, c->out);
        if (order == 0 && sr_is_approx(c->e->type.kind)) { /* -0.0 is less than 0.0 */
            order = !!signbit(c->out->d) - !!signbit(a->d);
        }
        *c->out = (is_most ? order > 0 : order < 0) ? *a : *c->out;
    }
    return true;
}
