#include "test/unit/expr/slow/box.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/expr.h"
#include "engine/expr/promote.h"
#include "test/unit/unit.h"

/* Recursion in this file goes down a type, which is at most TYPE_DEPTH_MAX deep. */

#define BOX_ITEMS_MAX 4u

uint64_t box_random_number(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* --- Random values. --------------------------------------------------------------------------- */

static int64_t box_integer(enum sr_kind kind, uint64_t *seed)
{
    static const int64_t min[] = {INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN};
    uint64_t x = box_random_number(seed), how = box_random_number(seed) % 8;
    int64_t low = min[kind - SR_TINYINT];
    switch (how) {
    case 0:
        return low + (int64_t)(x % 2);
    case 1:
        return -(low + 1) - (int64_t)(x % 2);
    case 2:
        return (int64_t)x % (-(low + 1)); /* anything */
    default:
        return (int64_t)(x % 23) - 9;
    }
}

static double box_real(uint64_t *seed)
{
    static const double edges[] = {0.0,        -0.0,   1.0,     -1.0,         0.1,
                                   1e300,      -1e300, 5e-324,  2147483648.0, -2147483649.0,
                                   INFINITY,   NAN,    1e18,    9.5,          -INFINITY,
                                   16777217.0, 1e-7,   123.456, 0.5,          2.5};
    uint64_t x = box_random_number(seed);
    return x % 3 == 0 ? edges[box_random_number(seed) % (sizeof(edges) / sizeof(edges[0]))]
                      : (double)((int64_t)(x >> 8 & 0xfff) - 2048) / 8.0;
}

static __int128 box_decimal(int32_t precision, uint64_t *seed)
{
    __int128 all = 1, v;
    for (int32_t i = 0; i < precision; i++) {
        all *= 10;
    }
    uint64_t how = box_random_number(seed) % 6;
    v = (__int128)(((unsigned __int128)box_random_number(seed) << 64 | box_random_number(seed)) >>
                   1);
    v = how == 0         ? all - 1
        : how == 1       ? v % all
        : how == 2       ? v % 3
        : v % 2000 < all ? v % 2000
                         : v % all;
    return box_random_number(seed) % 2 ? -v : v;
}

static struct box box_string(struct arena *a, const struct sr_type *t, bool broken, uint64_t *seed)
{
    static const char *const words[] = {"",
                                        "a",
                                        "abc",
                                        "12",
                                        "-7",
                                        "x,y,z",
                                        "Ärger",
                                        "日本語",
                                        " pad ",
                                        "2020-02-29",
                                        "true",
                                        "1.5",
                                        "a😀b",
                                        "😀",
                                        "%",
                                        "a_c",
                                        "2024-12-31 23:59:59.999",
                                        "ABC abc",
                                        "  ",
                                        "aaa",
                                        "null",
                                        "0",
                                        "99999999999",
                                        "{\"a\":[1,null,\"x\"]}",
                                        "1e3",
                                        "stra\xc3\x9f"
                                        "e"};
    static const char *const wrong[] = {"\xff\xfe", "a\xe6\x97", "\x80", "x\xf0\x9f"};
    const char *w = words[box_random_number(seed) % (sizeof(words) / sizeof(words[0]))];
    if (broken && box_random_number(seed) % 4 == 0) {
        w = wrong[box_random_number(seed) % 4];
    }
    uint32_t len = (uint32_t)strlen(w), chars = 0, cut = 0;
    if (sr_is_bytes(t->kind)) {
        cut = len < (uint32_t)t->length ? len : (uint32_t)t->length;
    }
    for (; !sr_is_bytes(t->kind) && cut < len && chars < (uint32_t)t->length; chars++) {
        cut++;
        while (cut < len && ((unsigned char)w[cut] & 0xC0) == 0x80) {
            cut++;
        }
    }
    bool is_filled = t->kind == SR_CHAR || t->kind == SR_BINARY;
    uint32_t fill = !is_filled ? 0 : (uint32_t)t->length - (t->kind == SR_CHAR ? chars : cut);
    char *to = arena_get(a, cut + fill + 1);
    memcpy(to, w, cut);
    memset(to + cut, t->kind == SR_CHAR ? ' ' : 0, fill);
    return (struct box){.text = to, .len = cut + fill};
}

static struct box box_moment(const struct sr_type *t, uint64_t *seed)
{
    static const int64_t edges[] = {0,
                                    -1,
                                    951782400000,
                                    951868799999,
                                    -2208988800000,
                                    4102444799999,
                                    1709164799123,
                                    -62135596800000,
                                    253402300799999};
    uint64_t x = box_random_number(seed);
    struct box b = {.i = x % 3 == 0 ? edges[box_random_number(seed) % 9]
                                    : (int64_t)(x % 4000000000000) - 1000000000000};
    int64_t unit = 1;
    for (int32_t p = t->length; p < 3; p++) {
        unit *= 10;
    }
    b.i -= (b.i % unit + unit) % unit;
    int32_t step = 1000000;
    for (int32_t p = 3; p < t->length; p++) {
        step /= 10;
    }
    static const int32_t nanos[] = {0, 999999, 1, 500000, 123456};
    b.ns = nanos[box_random_number(seed) % 5] / step * step;
    return b;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static struct box box_many(struct arena *a, const struct sr_type *t, bool broken, uint64_t *seed)
{
    struct box b = {0};
    uint32_t n = t->kind == SR_ROW ? 1 : (uint32_t)(box_random_number(seed) % (BOX_ITEMS_MAX + 1));
    b.item = arena_array(a, (size_t)n * t->children + 1, sizeof(*b.item));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t c = 0; c < t->children; c++) {
            b.item[b.items + c] = box_random(a, &t->child[c].type, broken, seed);
        }
        bool is_new = true;
        for (uint32_t k = 0; t->kind == SR_MAP && k < b.items; k += 2) {
            is_new = is_new && strcmp(box_text(a, &t->child[0].type, &b.item[k]),
                                      box_text(a, &t->child[0].type, &b.item[b.items])) != 0;
        }
        b.items += is_new ? t->children : 0; /* keys of a MAP are all different */
    }
    return b;
}

/* As PARSE_JSON leaves them. */
static struct box box_variant(uint64_t x)
{
    static const char *const texts[] = {"1",
                                        "null",
                                        "\"a\"",
                                        "[1,2,{\"a\":[]}]",
                                        "{\"a\":1,\"b\":\"x,]}\"}",
                                        "[]",
                                        "{}",
                                        "{\"\":[\"\"]}",
                                        "\"\\\"\\\\\"",
                                        "-1.5E-7",
                                        "{\"a\":{\"a\":true}}",
                                        "\"\""};
    const char *text = texts[x % (sizeof(texts) / sizeof(texts[0]))];
    return (struct box){.text = text, .len = (uint32_t)strlen(text)};
}

/* NOLINTNEXTLINE(misc-no-recursion) */
struct box box_random(struct arena *a, const struct sr_type *t, bool broken, uint64_t *seed)
{
    if (t->is_nullable && box_random_number(seed) % 6 == 0) {
        return (struct box){.is_null = true};
    }
    uint64_t x = box_random_number(seed);
    switch (t->kind) {
    case SR_BOOLEAN:
        return (struct box){.i = (int64_t)(x & 1)};
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
        return (struct box){.i = box_integer(t->kind, seed)};
    case SR_FLOAT:
        return (struct box){.d = (double)(float)box_real(seed)};
    case SR_DOUBLE:
        return (struct box){.d = box_real(seed)};
    case SR_DECIMAL:
        return (struct box){.n = box_decimal(t->length, seed)};
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
        return box_string(a, t, broken, seed);
    case SR_DATE:
        return (struct box){.i = x % 5 == 0 ? (int64_t)(x % 3) * 11016
                                            : (int64_t)(x % 40000) - 10000};
    case SR_TIME:
        return (struct box){.i = x % 5 == 0 ? 86399000 : (int64_t)(x % 86400) * 1000};
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return box_moment(t, seed);
    case SR_INTERVAL_MONTH:
        return (struct box){.i = (int64_t)(x % 41) - 20};
    case SR_INTERVAL_SECOND:
        return (struct box){.i = x % 3 == 0 ? (int64_t)(x % 11 * 86400000) - 400000000
                                            : (int64_t)(x % 200000000) - 100000000};
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
        return box_many(a, t, broken, seed);
    case SR_VARIANT:
        return box_variant(x);
    case SR_NULL:
    case SR_KIND_COUNT:
        break;
    }
    return (struct box){.is_null = true};
}

/* --- Out of columns and into them. ------------------------------------------------------------ */

static int64_t box_get_integer(const struct sr_column *c, uint32_t r)
{
    switch (sr_value_size(&c->type)) {
    case 1:
        return c->type.kind == SR_BOOLEAN ? ((const uint8_t *)c->values)[r]
                                          : ((const int8_t *)c->values)[r];
    case 2:
        return ((const int16_t *)c->values)[r];
    case 4:
        return ((const int32_t *)c->values)[r];
    default:
        return ((const int64_t *)c->values)[r];
    }
}

static struct box box_get_moment(const struct sr_column *c, uint32_t r)
{
    if (c->type.length > 6) {
        struct sr_instant v = ((const struct sr_instant *)c->values)[r];
        return (struct box){.i = v.ms, .ns = v.ns};
    }
    int64_t us = ((const int64_t *)c->values)[r];
    int64_t ms = us / 1000 - (us % 1000 < 0 ? 1 : 0);
    return (struct box){.i = ms, .ns = (int32_t)(us - ms * 1000) * 1000};
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static struct box box_get_many(struct arena *a, const struct sr_column *c, uint32_t r)
{
    struct sr_span s = {r, 1};
    if (c->type.kind != SR_ROW) {
        s = ((const struct sr_span *)c->values)[r];
    }
    struct box b = {.items = s.len * c->children};
    b.item = arena_array(a, b.items + 1, sizeof(*b.item));
    for (uint32_t i = 0; i < b.items; i++) {
        b.item[i] = box_get(a, c->child[i % c->children], s.at + i / c->children);
    }
    return b;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
struct box box_get(struct arena *a, const struct sr_column *c, uint32_t r)
{
    enum sr_kind kind = c->type.kind;
    if (!sr_is_valid(c, r)) {
        return (struct box){.is_null = true};
    }
    if (kind == SR_FLOAT || kind == SR_DOUBLE) {
        return (struct box){.d = kind == SR_FLOAT ? (double)((const float *)c->values)[r]
                                                  : ((const double *)c->values)[r]};
    }
    if (kind == SR_DECIMAL && c->type.length > SR_DECIMAL_SMALL) {
        struct sr_wide w = ((const struct sr_wide *)c->values)[r];
        return (struct box){.n = (__int128)((unsigned __int128)(uint64_t)w.high << 64 | w.low)};
    }
    if (kind == SR_DECIMAL) {
        return (struct box){.n = ((const int64_t *)c->values)[r]};
    }
    if (sr_has_bytes(kind)) {
        struct box b = {0};
        const char *s = sr_text(c, r, &b.len);
        b.text = arena_text_n(a, s, b.len);
        return b;
    }
    if (sr_is_timestamp(kind)) {
        return box_get_moment(c, r);
    }
    return sr_is_nested(kind) ? box_get_many(a, c, r) : (struct box){.i = box_get_integer(c, r)};
}

/* The next row of a child, which may have to grow. */
static uint32_t box_next(struct sr_home *home, struct sr_column *c, uint32_t i)
{
    struct sr_column *child = c->child[i];
    if (child->rows >= child->capacity) {
        child = column_grow_rows(home, child, child->rows + 1);
        ck_assert_ptr_nonnull(child);
        c->child[i] = child;
    }
    return child->rows++;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void box_put_many(struct sr_home *home, struct sr_column *c, uint32_t r, const struct box *b)
{
    if (c->type.kind != SR_ROW) {
        ((struct sr_span *)c->values)[r] =
            (struct sr_span){c->child[0]->rows, b->items / c->children};
    }
    for (uint32_t i = 0; i < b->items; i++) {
        uint32_t k = i % c->children;
        uint32_t at = c->type.kind == SR_ROW ? r : box_next(home, c, k);
        box_put(home, c->child[k], at, &b->item[i]);
    }
}

static void box_put_wide(struct sr_column *c, uint32_t r, const struct box *b)
{
    if (sr_is_timestamp(c->type.kind)) {
        ((struct sr_instant *)c->values)[r] = (struct sr_instant){.ms = b->i, .ns = b->ns};
    } else {
        ((struct sr_wide *)c->values)[r] =
            (struct sr_wide){.low = (uint64_t)b->n, .high = (int64_t)(b->n >> 64)};
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
void box_put(struct sr_home *home, struct sr_column *c, uint32_t r, const struct box *b)
{
    uint32_t size = sr_value_size(&c->type);
    if (b->is_null) {
        memset((uint8_t *)c->values + (size_t)r * size, 0, size);
        column_set_null(c, r);
        for (uint32_t i = 0; c->type.kind == SR_ROW && i < c->children; i++) {
            box_put(home, c->child[i], r, b);
        }
        return;
    }
    if (sr_is_nested(c->type.kind)) {
        box_put_many(home, c, r, b);
    } else if (sr_has_bytes(c->type.kind)) {
        ck_assert(column_put_bytes(home, c, r, b->text, b->len));
    } else if (c->type.kind == SR_FLOAT) {
        ((float *)c->values)[r] = (float)b->d;
    } else if (c->type.kind == SR_DOUBLE) {
        ((double *)c->values)[r] = b->d;
    } else if (size == 16) {
        box_put_wide(c, r, b);
    } else {
        int64_t v = sr_is_timestamp(c->type.kind) ? b->i * 1000 + b->ns / 1000
                    : c->type.kind == SR_DECIMAL  ? (int64_t)b->n
                                                  : b->i;
        memcpy((uint8_t *)c->values + (size_t)r * size, &v, size); /* the low bytes come first */
    }
}

const struct expr *box_literal(struct arena *a, const struct sr_type *t, const struct box *b)
{
    if (sr_is_nested(t->kind)) {
        return NULL;
    }
    struct expr *e = arena_get(a, sizeof(*e));
    *e = (struct expr){
        .kind = EXPR_LITERAL, .type = *t, .offset = UINT32_MAX, .is_null = b->is_null};
    e->type.is_nullable = b->is_null;
    if (b->is_null) {
        return e;
    }
    if (sr_has_bytes(t->kind)) {
        e->text = b->text;
        e->text_len = b->len;
    } else if (sr_is_approx(t->kind)) {
        e->value.d = b->d;
    } else if (sr_is_timestamp(t->kind) && t->length > 6) {
        e->value.instant = (struct sr_instant){.ms = b->i, .ns = b->ns};
    } else if (t->kind == SR_DECIMAL && t->length > SR_DECIMAL_SMALL) {
        e->value.wide.low = (uint64_t)b->n;
        e->value.wide.high = (int64_t)(b->n >> 64);
    } else {
        e->value.i = sr_is_timestamp(t->kind) ? b->i * 1000 + b->ns / 1000
                     : t->kind == SR_DECIMAL  ? (int64_t)b->n
                                              : b->i;
    }
    return e;
}

/* --- Text. ------------------------------------------------------------------------------------ */

/* NOLINTNEXTLINE(misc-no-recursion) */
const char *box_text(struct arena *a, const struct sr_type *t, const struct box *b)
{
    if (b->is_null) {
        return "NULL";
    }
    if (sr_is_nested(t->kind)) {
        const char *s = "";
        for (uint32_t i = 0; i < b->items; i++) {
            s = arena_printf(a, "%s%s%s", s, i > 0 ? ", " : "",
                             box_text(a, &t->child[i % t->children].type, &b->item[i]));
        }
        return arena_printf(a, "[%s]", s);
    }
    if (sr_has_bytes(t->kind)) {
        return arena_printf(a, "'%.*s'(%u)", (int)b->len, b->text, b->len);
    }
    if (sr_is_approx(t->kind)) {
        return b->d != b->d ? "NaN" : arena_printf(a, "%.17g", b->d);
    }
    if (t->kind == SR_DECIMAL) {
        __int128 high = b->n / 1000000000000000000, low = b->n % 1000000000000000000;
        return arena_printf(a, "%lld:%lld", (long long)high, (long long)low);
    }
    return sr_is_timestamp(t->kind) ? arena_printf(a, "%lldms %d", (long long)b->i, b->ns)
                                    : arena_printf(a, "%lld", (long long)b->i);
}
