#include "engine/expr/promote.h"

#include "engine/data/schema.h"

static int32_t promote_max(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t promote_min(int32_t a, int32_t b) { return a < b ? a : b; }

static struct sr_type promote_with(enum sr_kind kind, int32_t length, int32_t scale, bool nullable)
{
    struct sr_type t = {.kind = kind, .is_nullable = nullable, .length = length, .scale = scale};
    return t;
}

struct sr_type promote_decimal(const struct sr_type *t)
{
    int32_t p = t->kind == SR_DECIMAL    ? t->length
                : t->kind == SR_TINYINT  ? 3
                : t->kind == SR_SMALLINT ? 5
                : t->kind == SR_INT      ? 10
                                         : 19;
    return promote_with(SR_DECIMAL, p, t->kind == SR_DECIMAL ? t->scale : 0, t->is_nullable);
}

struct sr_type promote_decimal_of(int32_t precision, int32_t scale)
{
    if (precision > SR_DECIMAL_MAX) {
        int32_t before = precision - scale;
        scale = promote_max(SR_DECIMAL_MAX - before, promote_min(scale, 6));
        precision = SR_DECIMAL_MAX;
    }
    return promote_with(SR_DECIMAL, precision, scale, true);
}

static struct sr_type promote_decimals(char op, const struct sr_type *a, const struct sr_type *b)
{
    int32_t p1 = a->length, s1 = a->scale, p2 = b->length, s2 = b->scale;
    int32_t s = promote_max(s1, s2);
    switch (op) {
    case '*':
        return promote_decimal_of(p1 + p2 + 1, s1 + s2);
    case '/':
        s = promote_max(6, s1 + p2 + 1);
        return promote_decimal_of(p1 - s1 + s2 + s, s);
    case '%':
        return promote_decimal_of(promote_min(p1 - s1, p2 - s2) + s, s);
    default: /* + and - */
        return promote_decimal_of(s + promote_max(p1 - s1, p2 - s2) + 1, s);
    }
}

bool promote_arith(char op, const struct sr_type *a, const struct sr_type *b, struct sr_type *out)
{
    if (!sr_is_number(a->kind) || !sr_is_number(b->kind)) {
        return false;
    }
    bool nullable = a->is_nullable || b->is_nullable;
    if (sr_is_approx(a->kind) || sr_is_approx(b->kind)) {
        if (op == '%') {
            return false;
        }
        const struct sr_type *approx = sr_is_approx(a->kind) ? a : b; /* the first one decides */
        bool with_decimal = a->kind == SR_DECIMAL || b->kind == SR_DECIMAL;
        *out = promote_with(with_decimal ? SR_DOUBLE : approx->kind, 0, 0, nullable);
        return true;
    }
    if (a->kind == SR_DECIMAL || b->kind == SR_DECIMAL) {
        struct sr_type x = promote_decimal(a), y = promote_decimal(b);
        *out = promote_decimals(op, &x, &y);
    } else if (op == '%') {
        *out = *b; /* MOD has the type of what is divided by */
    } else {
        *out = a->kind > b->kind ? *a : *b;
    }
    out->is_nullable = nullable;
    return true;
}

static bool promote_numbers(const struct sr_type *a, const struct sr_type *b, struct sr_type *out)
{
    bool nullable = a->is_nullable || b->is_nullable;
    if (sr_is_approx(a->kind) || sr_is_approx(b->kind)) {
        bool is_double = a->kind == SR_DOUBLE || b->kind == SR_DOUBLE || a->kind == SR_DECIMAL ||
                         b->kind == SR_DECIMAL;
        *out = promote_with(is_double ? SR_DOUBLE : SR_FLOAT, 0, 0, nullable);
    } else if (a->kind == SR_DECIMAL || b->kind == SR_DECIMAL) {
        struct sr_type x = promote_decimal(a), y = promote_decimal(b);
        int32_t s = promote_max(x.scale, y.scale);
        *out = promote_decimal_of(promote_max(x.length - x.scale, y.length - y.scale) + s, s);
        out->is_nullable = nullable;
    } else {
        *out = a->kind > b->kind ? *a : *b;
        out->is_nullable = nullable;
    }
    return true;
}

/* Text with text, or bytes with bytes: of fixed length only when both have the same. */
static bool promote_strings(const struct sr_type *a, const struct sr_type *b, struct sr_type *out)
{
    bool is_bytes = sr_is_bytes(a->kind);
    if (is_bytes != sr_is_bytes(b->kind)) {
        return false;
    }
    enum sr_kind fixed = is_bytes ? SR_BINARY : SR_CHAR;
    bool is_fixed = a->kind == fixed && b->kind == fixed && a->length == b->length;
    *out = promote_with(is_fixed ? fixed : (is_bytes ? SR_VARBINARY : SR_VARCHAR),
                        promote_max(a->length, b->length), 0, a->is_nullable || b->is_nullable);
    return true;
}

bool promote_branch(const struct sr_type *a, const struct sr_type *b, struct sr_type *out)
{
    if (a->kind == SR_NULL || b->kind == SR_NULL) {
        *out = a->kind == SR_NULL ? *b : *a;
        out->is_nullable = true;
        return true;
    }
    if (sr_is_number(a->kind) && sr_is_number(b->kind)) {
        return promote_numbers(a, b, out);
    }
    if (sr_is_string(a->kind) && sr_is_string(b->kind)) {
        return promote_strings(a, b, out);
    }
    if (a->kind == b->kind && !sr_is_nested(a->kind)) {
        *out = promote_with(a->kind, promote_max(a->length, b->length), a->scale,
                            a->is_nullable || b->is_nullable);
        return true;
    }
    *out = *a;
    out->is_nullable = a->is_nullable || b->is_nullable;
    return type_equal(a, b, false);
}

static bool promote_is_moment(enum sr_kind k)
{
    return k == SR_DATE || k == SR_TIME || sr_is_timestamp(k);
}

/* Text beside another type: text becomes of that type, but BOOLEAN, which becomes text. */
static bool promote_text(bool is_equality, const struct sr_type *other, struct sr_type *out)
{
    if (other->kind == SR_BOOLEAN) {
        *out = promote_with(SR_VARCHAR, SR_LENGTH_MAX, 0, true);
        return true;
    }
    *out = *other;
    out->is_nullable = true;
    return promote_is_moment(other->kind) || (sr_is_number(other->kind) && !is_equality);
}

bool promote_compare(bool is_equality, const struct sr_type *a, const struct sr_type *b,
                     struct sr_type *out)
{
    bool a_text = sr_is_text(a->kind), b_text = sr_is_text(b->kind);
    if (a_text != b_text && a->kind != SR_NULL && b->kind != SR_NULL) {
        return promote_text(is_equality, a_text ? b : a, out);
    }
    if (promote_is_moment(a->kind) && promote_is_moment(b->kind) && a->kind != b->kind) {
        if (a->kind == SR_TIME || b->kind == SR_TIME) {
            return false;
        }
        bool is_ltz = a->kind == SR_TIMESTAMP_LTZ || b->kind == SR_TIMESTAMP_LTZ;
        *out = promote_with(
            is_ltz ? SR_TIMESTAMP_LTZ : SR_TIMESTAMP,
            promote_max(a->kind == SR_DATE ? 0 : a->length, b->kind == SR_DATE ? 0 : b->length), 0,
            a->is_nullable || b->is_nullable);
        return true;
    }
    return promote_branch(a, b, out) && !sr_is_nested(out->kind);
}

bool promote_implicit(const struct sr_type *from, const struct sr_type *to)
{
    if (from->kind == SR_NULL) {
        return true;
    }
    if (sr_is_number(from->kind) && sr_is_number(to->kind)) {
        /* Only towards more: the order of the kinds is that of their reach, DECIMAL below the
         * approximate ones. */
        if (to->kind == SR_DECIMAL) {
            struct sr_type d = promote_decimal(from);
            return sr_is_exact(from->kind) && d.scale <= to->scale &&
                   d.length - d.scale <= to->length - to->scale;
        }
        if (from->kind == SR_DECIMAL) {
            return sr_is_approx(to->kind);
        }
        return from->kind <= to->kind;
    }
    if (sr_is_text(from->kind) && sr_is_text(to->kind)) {
        return true;
    }
    if (sr_is_bytes(from->kind) && sr_is_bytes(to->kind)) {
        return true;
    }
    if (from->kind == SR_DATE && sr_is_timestamp(to->kind)) {
        return true;
    }
    if (sr_is_timestamp(from->kind) && sr_is_timestamp(to->kind)) {
        return from->length <= to->length;
    }
    return (from->kind == to->kind && !sr_is_nested(from->kind)) || type_equal(from, to, false);
}
