/* CAST, one value at a time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/promote.h"
#include "test/unit/expr/slow/big.h"
#include "test/unit/expr/slow/slow.h"

/* Recursion in this file goes down a type, at most TYPE_DEPTH_MAX levels. */

struct cast {
    struct slow *s;
    const struct sr_type *from, *to;
    const struct box *a;
    struct box *out; /* zeros */
};

#define CAST_DAY_MS INT64_C(86400000)

/* --- Numbers. --------------------------------------------------------------------------------- */

static int64_t cast_low_bits(enum sr_kind kind, int64_t v)
{
    return kind == SR_TINYINT    ? (int8_t)v
           : kind == SR_SMALLINT ? (int16_t)v
           : kind == SR_INT      ? (int32_t)v
           : kind == SR_BOOLEAN  ? v != 0
                                 : v;
}

/* Java: to int or long with an end that is not left, and from int to what is shorter. */
static int64_t cast_of_real(enum sr_kind kind, double d)
{
    if (kind == SR_BOOLEAN) {
        return d != 0;
    }
    double end = kind == SR_BIGINT ? 9223372036854775808.0 : 2147483648.0;
    if (d != d) {
        return 0;
    }
    if (d >= end || d <= -end) {
        int64_t most = kind == SR_BIGINT ? INT64_MAX : INT32_MAX;
        return cast_low_bits(kind, d > 0 ? most : -most - 1);
    }
    return cast_low_bits(kind, (int64_t)trunc(d));
}

static const char *cast_decimal_text(struct arena *a, __int128 n, int32_t scale)
{
    struct big v = big_of(n);
    const char *s = "";
    for (int32_t i = 0; i < v.size || i <= scale; i++) {
        s = arena_printf(a, "%d%s%s", i < v.size ? v.digit[i] : 0,
                         i == scale && scale > 0 ? "." : "", s);
    }
    return arena_printf(a, "%s%s", n < 0 ? "-" : "", s);
}

static bool cast_to_decimal(struct cast *c)
{
    if (sr_is_approx(c->from->kind)) {
        return false;
    }
    int32_t scale = c->from->kind == SR_DECIMAL ? c->from->scale : 0, to = c->to->scale;
    struct big v = big_of(c->from->kind == SR_DECIMAL ? c->a->n : (__int128)c->a->i);
    v = scale > to ? big_round(v, scale - to) : big_raise(v, to - scale);
    c->out->is_null = !big_fits(v, c->to->length, &c->out->n);
    return true;
}

static void cast_from_decimal(struct cast *c)
{
    if (sr_is_approx(c->to->kind)) {
        double d = strtod(cast_decimal_text(c->s->arena, c->a->n, c->from->scale), NULL);
        c->out->d = c->to->kind == SR_FLOAT ? (double)(float)d : d;
        return;
    }
    if (c->to->kind == SR_BOOLEAN) {
        c->out->i = c->a->n != 0;
        return;
    }
    __int128 v = c->a->n;
    for (int32_t i = 0; i < c->from->scale; i++) {
        v /= 10;
    }
    c->out->i = cast_low_bits(c->to->kind, (int64_t)(uint64_t)v);
}

static bool cast_numbers(struct cast *c)
{
    if (c->to->kind == SR_DECIMAL) {
        return cast_to_decimal(c);
    }
    if (c->from->kind == SR_DECIMAL) {
        cast_from_decimal(c);
    } else if (sr_is_approx(c->from->kind)) {
        c->out->d = c->to->kind == SR_FLOAT ? (double)(float)c->a->d : c->a->d;
        c->out->i = sr_is_approx(c->to->kind) ? 0 : cast_of_real(c->to->kind, c->a->d);
    } else {
        c->out->d = c->to->kind == SR_FLOAT ? (double)(float)c->a->i : (double)c->a->i;
        c->out->i = cast_low_bits(c->to->kind, c->a->i);
    }
    return true;
}

/* --- Text. ------------------------------------------------------------------------------------ */

/* As many characters (or bytes) as the type has; CHAR and BINARY are filled up. */
static void cast_fit(struct cast *c, const char *s, uint32_t len)
{
    bool is_bytes = sr_is_bytes(c->to->kind);
    bool is_filled = c->to->kind == SR_CHAR || c->to->kind == SR_BINARY;
    int64_t left = c->to->length;
    uint32_t cut = 0;
    while (cut < len && left > 0) {
        cut++;
        while (!is_bytes && cut < len && ((unsigned char)s[cut] & 0xC0) == 0x80) {
            cut++;
        }
        left--;
    }
    char *to = arena_get(c->s->arena, cut + (is_filled ? (size_t)left : 0) + 1);
    memcpy(to, s, cut);
    for (int64_t i = 0; is_filled && i < left; i++) {
        to[cut++] = is_bytes ? '\0' : ' ';
    }
    c->out->text = to;
    c->out->len = cut;
}

static const char *cast_clock_text(struct arena *a, int64_t ms, int32_t ns, int32_t digits)
{
    const char *s = arena_printf(a, "%02d:%02d:%02d", (int)(ms / 3600000), (int)(ms / 60000 % 60),
                                 (int)(ms / 1000 % 60));
    return digits == 0 ? s
                       : arena_printf(a, "%s.%.*s", s, digits,
                                      arena_printf(a, "%03d%06d", (int)(ms % 1000), ns));
}

/* NULL: not of a year of four digits. */
static const char *cast_date_text(struct arena *a, int64_t days)
{
    int64_t year, month, day;
    slow_civil(days, &year, &month, &day);
    return year < 1 || year > 9999
               ? NULL
               : arena_printf(a, "%04d-%02d-%02d", (int)year, (int)month, (int)day);
}

/* NULL: not written here. */
static const char *cast_scalar_text(struct arena *a, const struct sr_type *t, const struct box *v)
{
    int64_t days = v->i / CAST_DAY_MS - (v->i % CAST_DAY_MS < 0 ? 1 : 0);
    switch ((int)t->kind) {
    case SR_BOOLEAN:
        return v->i ? "TRUE" : "FALSE";
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
        return arena_printf(a, "%" PRId64, v->i);
    case SR_DECIMAL:
        return cast_decimal_text(a, v->n, t->scale);
    case SR_DATE:
        return cast_date_text(a, v->i);
    case SR_TIME: {
        const char *s = cast_clock_text(a, v->i, 0, t->length);
        size_t len = strlen(s); /* zeros behind the point are left out, but for the first digit */
        while (len > sizeof("12:34:56.7") - 1 && s[len - 1] == '0') {
            len--;
        }
        return arena_text_n(a, s, len);
    }
    case SR_TIMESTAMP: {
        const char *date = cast_date_text(a, days);
        return date ? arena_printf(a, "%s %s", date,
                                   cast_clock_text(a, v->i - days * CAST_DAY_MS, v->ns, t->length))
                    : NULL;
    }
    default:
        return NULL;
    }
}

/* [1, NULL], {a=1}, (1, b). NULL: a value within is not written here. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static const char *cast_any_text(struct arena *a, const struct sr_type *t, const struct box *v)
{
    if (v->is_null) {
        return "NULL";
    }
    if (sr_is_text(t->kind)) {
        return v->text;
    }
    if (t->kind == SR_VARIANT) {
        return arena_text_n(a, v->text, v->len);
    }
    if (!sr_is_nested(t->kind)) {
        return cast_scalar_text(a, t, v);
    }
    const char *s = t->kind == SR_ARRAY ? "[" : t->kind == SR_ROW ? "(" : "{";
    for (uint32_t i = 0; i < v->items && s; i++) {
        const char *one = cast_any_text(a, &t->child[i % t->children].type, &v->item[i]);
        const char *sign = i == 0 ? "" : t->kind == SR_MAP && i % 2 == 1 ? "=" : ", ";
        const char *name = t->class_name ? arena_printf(a, "%s=", t->child[i].name) : "";
        s = one ? arena_printf(a, "%s%s%s%s", s, sign, name, one) : NULL;
    }
    return s ? arena_printf(a, "%s%s", s,
                            t->kind == SR_ARRAY ? "]"
                            : t->kind == SR_ROW ? ")"
                                                : "}")
             : NULL;
}

static bool cast_to_string(struct cast *c)
{
    if (sr_is_string(c->from->kind)) {
        bool is_read = sr_is_bytes(c->from->kind) && !sr_is_bytes(c->to->kind);
        if (!is_read) {
            cast_fit(c, c->a->text, c->a->len);
        }
        return !is_read;
    }
    if (c->from->kind == SR_MULTISET) {
        return false;
    }
    const char *s = cast_any_text(c->s->arena, c->from, c->a);
    if (s) {
        cast_fit(c, s, (uint32_t)strlen(s));
    }
    return s != NULL;
}

/* A sign, digits, and a fraction that is dropped, between blanks. */
static bool cast_read_integer(struct cast *c)
{
    const char *s = c->a->text, *end = s + c->a->len;
    while (s < end && *s == ' ') {
        s++;
    }
    while (end > s && end[-1] == ' ') {
        end--;
    }
    bool is_negative = s < end && *s == '-';
    s += s < end && (*s == '-' || *s == '+');
    bool is_good = s < end, is_behind = false;
    struct big v = big_of(0);
    for (; s < end && is_good; s++) {
        if (*s == '.' && !is_behind) {
            is_behind = true;
        } else if (*s < '0' || *s > '9' || v.size > 30) {
            is_good = false;
        } else if (!is_behind) {
            v = big_add(big_raise(v, 1), big_of(*s - '0'));
        }
    }
    __int128 n;
    is_good = big_fits(is_negative ? big_negate(v) : v, 38, &n) && is_good;
    c->out->i = (int64_t)n;
    if (!is_good || n != c->out->i || cast_low_bits(c->to->kind, c->out->i) != c->out->i) {
        slow_fail(c->s);
    }
    return true;
}

static bool cast_read_bool(struct cast *c)
{
    static const char *const words[] = {"true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"};
    for (int i = 0; i < 10; i++) {
        uint32_t len = (uint32_t)strlen(words[i]), k = 0;
        while (k < len && c->a->len == len && (c->a->text[k] | 0x20) == (words[i][k] | 0x20)) {
            k++;
        }
        if (k == len) {
            c->out->i = i < 5;
            return true;
        }
    }
    slow_fail(c->s);
    return true;
}

/* --- Dates and times, in UTC. ----------------------------------------------------------------- */

static struct box cast_cut(struct box v, int32_t digits)
{
    static const int64_t unit[] = {1000, 100, 10};
    int32_t step = 1000000;
    for (int32_t p = 3; p < digits; p++) {
        step /= 10;
    }
    v.ns -= v.ns % step;
    if (digits < 3) {
        v.i -= (v.i % unit[digits] + unit[digits]) % unit[digits];
    }
    return v;
}

static bool cast_moments(struct cast *c)
{
    bool from_stamp = sr_is_timestamp(c->from->kind), to_stamp = sr_is_timestamp(c->to->kind);
    struct box v = {.i = c->from->kind == SR_DATE ? c->a->i * CAST_DAY_MS : c->a->i,
                    .ns = c->a->ns};
    if (to_stamp) {
        *c->out = c->from->kind == SR_TIME ? v : cast_cut(v, c->to->length); /* Flink keeps it */
    } else if (from_stamp && c->to->kind == SR_DATE) { /* towards 1970, in Flink */
        c->out->i = v.i / CAST_DAY_MS;
        return c->from->kind == SR_TIMESTAMP;
    } else if (from_stamp) {
        c->out->i = (v.i % CAST_DAY_MS + CAST_DAY_MS) % CAST_DAY_MS;
        return c->from->kind == SR_TIMESTAMP;
    } else {
        return false;
    }
    return true;
}

/* --- Which one. ------------------------------------------------------------------------------- */

static bool cast_is_moment(enum sr_kind k)
{
    return k == SR_DATE || k == SR_TIME || sr_is_timestamp(k);
}

static bool cast_one(struct cast *c);

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool cast_inside(struct cast *c)
{
    *c->out = (struct box){.items = c->a->items};
    c->out->item = arena_array(c->s->arena, c->a->items + 1u, sizeof(struct box));
    for (uint32_t i = 0; i < c->a->items && !c->s->has_failed; i++) {
        struct cast one = {.s = c->s,
                           .from = &c->from->child[i % c->from->children].type,
                           .to = &c->to->child[i % c->to->children].type,
                           .a = &c->a->item[i],
                           .out = &c->out->item[i]};
        if (!cast_one(&one)) {
            return false;
        }
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool cast_one(struct cast *c)
{
    enum sr_kind from = c->from->kind, to = c->to->kind;
    if (c->a->is_null || type_equal(c->from, c->to, false)) {
        *c->out = *c->a;
        return true;
    }
    if (sr_is_string(to)) {
        return cast_to_string(c);
    }
    if (sr_is_nested(from)) {
        return from == to && from != SR_MULTISET && cast_inside(c);
    }
    if (from <= SR_DECIMAL && to <= SR_DECIMAL) {
        return cast_numbers(c);
    }
    if (sr_is_text(from)) {
        return sr_is_integer(to) ? cast_read_integer(c) : to == SR_BOOLEAN && cast_read_bool(c);
    }
    return cast_is_moment(from) && cast_is_moment(to) && cast_moments(c);
}

bool slow_cast(struct slow_call *c)
{
    if (strcmp(c->name, "CAST") != 0 && strcmp(c->name, "TRY_CAST") != 0) {
        return false;
    }
    struct cast one = {
        .s = c->s, .from = &c->e->arg[0]->type, .to = &c->e->type, .a = &c->arg[0], .out = c->out};
    if (cast_one(&one)) {
        return true;
    }
    *c->out = (struct box){0};
    return false;
}
