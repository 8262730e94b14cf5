#include "engine/expr/nest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/instant.h"
#include "engine/expr/kernel.h"
#include "engine/expr/promote.h"
#include "engine/expr/value_text.h"

static struct sr_span nest_span(const struct sr_column *c, uint32_t r)
{
    return ((const struct sr_span *)c->values)[r];
}

static const char *nest_bytes(const struct sr_column *c, uint32_t r, uint32_t *len)
{
    struct sr_span s = nest_span(c, r);
    *len = s.len;
    return s.len > 0 ? column_text(c) + s.at : "";
}

/* --- Copying. --------------------------------------------------------------------------------- */

/* Rows of a column and of the fields of a ROW. NOLINTNEXTLINE(misc-no-recursion) */
static void nest_set_rows(struct sr_column *c, uint32_t rows)
{
    c->rows = rows;
    for (uint32_t i = 0; c->type.kind == SR_ROW && i < c->children; i++) {
        nest_set_rows(c->child[i], rows);
    }
}

/* Room for one more row of child i; NULL: out of memory. */
static struct sr_column *nest_more(struct sr_home *home, struct sr_column *to, uint32_t i)
{
    struct sr_column *child = to->child[i];
    uint32_t r = child->rows;
    if (r >= child->capacity) {
        child = column_grow_rows(home, child, r + 1);
        to->child[i] = child ? child : to->child[i];
    }
    if (child) {
        nest_set_rows(child, r + 1);
    }
    return child;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
bool nest_append(struct sr_home *home, struct sr_column *to, uint32_t i,
                 const struct sr_column *from, uint32_t from_row)
{
    struct sr_column *child = nest_more(home, to, i);
    return child && nest_copy(home, child, child->rows - 1, from, from_row);
}

bool nest_append_text(struct sr_home *home, struct sr_column *to, uint32_t i, const char *bytes,
                      uint32_t len)
{
    struct sr_column *child = nest_more(home, to, i);
    if (child && !bytes) {
        column_set_null(child, child->rows - 1);
        return true;
    }
    return child && column_put_bytes(home, child, child->rows - 1, bytes, len);
}

bool nest_append_pair(struct sr_home *home, struct sr_column *to, const struct sr_column *key,
                      const struct sr_column *value, uint32_t i)
{
    struct sr_column *child = nest_more(home, to, 0);
    return child && nest_copy(home, child->child[0], child->rows - 1, key, i) &&
           nest_copy(home, child->child[1], child->rows - 1, value, i);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool nest_copy_inside(struct sr_home *home, struct sr_column *to, uint32_t r,
                             const struct sr_column *from, uint32_t from_row)
{
    if (to->type.kind == SR_ROW) {
        for (uint32_t i = 0; i < to->children; i++) {
            if (!nest_copy(home, to->child[i], r, from->child[i], from_row)) {
                return false;
            }
        }
        return true;
    }
    struct sr_span s = nest_span(from, from_row);
    ((struct sr_span *)to->values)[r] = (struct sr_span){to->child[0]->rows, s.len};
    for (uint32_t i = 0; i < to->children; i++) {
        for (uint32_t k = 0; k < s.len; k++) {
            if (!nest_append(home, to, i, from->child[i], s.at + k)) {
                return false;
            }
        }
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
bool nest_copy(struct sr_home *home, struct sr_column *to, uint32_t r, const struct sr_column *from,
               uint32_t from_row)
{
    uint32_t size = sr_value_size(&to->type), len;
    if (!valid_bit(from->valid, from_row)) {
        column_set_null(to, r);
        return true;
    }
    if (sr_is_nested(to->type.kind)) {
        return nest_copy_inside(home, to, r, from, from_row);
    }
    if (sr_has_bytes(to->type.kind)) {
        const char *bytes = nest_bytes(from, from_row, &len);
        return column_put_bytes(home, to, r, bytes, len);
    }
    memcpy((uint8_t *)to->values + (size_t)r * size,
           (const uint8_t *)from->values + (size_t)from_row * size, size);
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
void nest_blank(struct sr_column *c, uint32_t rows)
{
    size_t size = (size_t)sr_value_size(&c->type) * rows;
    if (size > 0) {
        memset(c->values, 0, size);
    }
    for (uint32_t i = 0; c->type.kind == SR_ROW && i < c->children; i++) {
        nest_blank(c->child[i], rows);
    }
}

/* --- Comparing. ------------------------------------------------------------------------------- */

/* Whole numbers of any size, DECIMAL unscaled, DATE, TIME, intervals, BOOLEAN. */
static decimal nest_whole(const struct sr_column *c, uint32_t r)
{
    switch (sr_value_size(&c->type)) {
    case 1:
        return ((const int8_t *)c->values)[r];
    case 2:
        return ((const int16_t *)c->values)[r];
    case 4:
        return ((const int32_t *)c->values)[r];
    case 8:
        return ((const int64_t *)c->values)[r];
    default:
        return decimal_of_wide(((const struct sr_wide *)c->values)[r]);
    }
}

static double nest_real(const struct sr_column *c, uint32_t r)
{
    return c->type.kind == SR_FLOAT ? (double)((const float *)c->values)[r]
                                    : ((const double *)c->values)[r];
}

int nest_order(const struct sr_column *a, uint32_t ra, const struct sr_column *b, uint32_t rb)
{
    uint32_t la, lb;
    decimal u, v;
    if (sr_has_bytes(a->type.kind)) {
        const char *s = nest_bytes(a, ra, &la), *t = nest_bytes(b, rb, &lb);
        int order = memcmp(s, t, la < lb ? la : lb);
        return order != 0 ? order : (la > lb) - (la < lb);
    }
    if (sr_is_approx(a->type.kind)) {
        double x = nest_real(a, ra), y = nest_real(b, rb);
        return x < y ? -1 : x > y ? 1 : (x != x) - (y != y); /* NaN is the largest */
    }
    bool is_stamp = sr_is_timestamp(a->type.kind);
    u = is_stamp ? instant_order(instant_get(a, ra)) : nest_whole(a, ra);
    v = is_stamp ? instant_order(instant_get(b, rb)) : nest_whole(b, rb);
    return (u > v) - (u < v);
}

static struct sr_span nest_inside(const struct sr_column *c, uint32_t r)
{
    return c->type.kind == SR_ROW ? (struct sr_span){r, 1} : nest_span(c, r);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
bool nest_identical(const struct sr_column *a, uint32_t ra, const struct sr_column *b, uint32_t rb)
{
    bool has_a = valid_bit(a->valid, ra), has_b = valid_bit(b->valid, rb);
    if (!has_a || !has_b) {
        return has_a == has_b;
    }
    if (sr_is_approx(a->type.kind)) {
        double x = nest_real(a, ra), y = nest_real(b, rb);
        return (x != x && y != y) || (x == y && !signbit(x) == !signbit(y));
    }
    if (!sr_is_nested(a->type.kind)) {
        return nest_order(a, ra, b, rb) == 0;
    }
    struct sr_span s = nest_inside(a, ra), t = nest_inside(b, rb);
    bool is_same = s.len == t.len;
    for (uint32_t i = 0; i < a->children; i++) {
        for (uint32_t k = 0; k < s.len && is_same; k++) {
            is_same = nest_identical(a->child[i], s.at + k, b->child[i], t.at + k);
        }
    }
    return is_same;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
uint32_t nest_count(const struct sr_column *list, struct sr_span s, const struct sr_column *c,
                    uint32_t r)
{
    uint32_t n = 0;
    for (uint32_t k = s.at; k < s.at + s.len; k++) {
        n += nest_equal(list, k, c, r) ? 1 : 0;
    }
    return n;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool nest_has_entry(const struct sr_column *map, struct sr_span s, const struct sr_column *a,
                           uint32_t entry)
{
    for (uint32_t k = s.at; k < s.at + s.len; k++) {
        if (nest_equal(map->child[0], k, a->child[0], entry)) {
            return valid_bit(map->child[1]->valid, k) && valid_bit(a->child[1]->valid, entry) &&
                   nest_equal(map->child[1], k, a->child[1], entry) &&
                   nest_identical(map->child[1], k, a->child[1], entry);
        }
    }
    return false;
}

/* MAP and MULTISET have no order; a NULL in a MAP is the same as nothing. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool nest_equal_bag(const struct sr_column *a, struct sr_span s, const struct sr_column *b,
                           struct sr_span t)
{
    bool is_same = s.len == t.len;
    for (uint32_t k = s.at; k < s.at + s.len && is_same; k++) {
        is_same = a->type.kind == SR_MAP ? nest_has_entry(b, t, a, k)
                                         : nest_count(b->child[0], t, a->child[0], k) ==
                                               nest_count(a->child[0], s, a->child[0], k);
    }
    return is_same;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
bool nest_equal(const struct sr_column *a, uint32_t ra, const struct sr_column *b, uint32_t rb)
{
    bool has_a = valid_bit(a->valid, ra), has_b = valid_bit(b->valid, rb);
    if (!has_a || !has_b) {
        return has_a == has_b;
    }
    enum sr_kind kind = a->type.kind;
    if (sr_is_approx(kind)) {
        return nest_real(a, ra) == nest_real(b, rb);
    }
    if (kind == SR_MAP || kind == SR_MULTISET) {
        return nest_equal_bag(a, nest_span(a, ra), b, nest_span(b, rb));
    }
    bool is_same = true;
    for (uint32_t i = 0; kind == SR_ROW && i < a->children && is_same; i++) {
        is_same = nest_equal(a->child[i], ra, b->child[i], rb);
    }
    return kind == SR_ROW ? is_same : nest_identical(a, ra, b, rb);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
bool nest_is_alike(const struct sr_type *a, const struct sr_type *b)
{
    bool is_text = (sr_is_text(a->kind) && sr_is_text(b->kind)) ||
                   (sr_is_bytes(a->kind) && sr_is_bytes(b->kind));
    if (is_text) {
        return true;
    }
    bool is_alike = a->kind == b->kind && a->children == b->children && a->scale == b->scale;
    if (a->class_name || b->class_name) {
        return type_equal(a, b, false);
    }
    for (uint32_t i = 0; i < a->children && is_alike; i++) {
        is_alike = nest_is_alike(&a->child[i].type, &b->child[i].type);
    }
    return is_alike;
}

/* --- Writing. --------------------------------------------------------------------------------- */

static void nest_put_shown(struct json_out *o, const char *bytes, uint32_t len)
{
    static const char digits[] = "0123456789abcdef";
    json_put(o, "x'", 2);
    for (uint32_t i = 0; i < len; i++) {
        json_put(o, &digits[(unsigned char)bytes[i] >> 4], 1);
        json_put(o, &digits[(unsigned char)bytes[i] & 15], 1);
    }
    json_put(o, "'", 1);
}

static void nest_put_scalar(struct json_out *o, const struct sr_column *c, uint32_t r,
                            bool is_shown)
{
    char text[VALUE_TEXT_MAX];
    uint32_t len;
    if (!sr_has_bytes(c->type.kind)) {
        json_put(o, text, value_text(c, r, text));
        return;
    }
    const char *bytes = nest_bytes(c, r, &len);
    if (is_shown && sr_is_bytes(c->type.kind)) {
        nest_put_shown(o, bytes, len);
    } else {
        json_put(o, bytes, len);
    }
}

/* Elements of ARRAY, entries of MAP; of MULTISET each value once, and how often it is there. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void nest_text_many(struct json_out *o, const struct sr_column *c, struct sr_span s,
                           bool is_shown)
{
    bool is_list = c->type.kind == SR_ARRAY, is_first = true;
    char digits[VALUE_TEXT_MAX];
    json_put(o, is_list ? "[" : "{", 1);
    for (uint32_t k = s.at; k < s.at + s.len; k++) {
        struct sr_span before = {s.at, k - s.at}, behind = {k, s.len - (k - s.at)};
        if (c->type.kind == SR_MULTISET && nest_count(c->child[0], before, c->child[0], k) > 0) {
            continue;
        }
        json_put(o, ", ", is_first ? 0 : 2);
        is_first = false;
        nest_text(o, c->child[0], k, is_shown);
        if (!is_list) {
            json_put(o, "=", 1);
        }
        if (c->type.kind == SR_MAP) {
            nest_text(o, c->child[1], k, is_shown);
        } else if (!is_list) {
            uint32_t n = nest_count(c->child[0], behind, c->child[0], k);
            json_put(o, digits, (uint32_t)snprintf(digits, sizeof(digits), "%u", n));
        }
    }
    json_put(o, is_list ? "]" : "}", 1);
}

/* One branch a kind. NOLINTNEXTLINE(misc-no-recursion,readability-function-cognitive-complexity) */
void nest_text(struct json_out *o, const struct sr_column *c, uint32_t r, bool is_shown)
{
    if (!valid_bit(c->valid, r)) {
        json_put(o, "NULL", 4);
    } else if (!sr_is_nested(c->type.kind)) {
        nest_put_scalar(o, c, r, is_shown);
    } else if (c->type.kind == SR_ROW) {
        json_put(o, "(", 1);
        for (uint32_t i = 0; i < c->children; i++) {
            json_put(o, ", ", i > 0 ? 2 : 0);
            if (c->type.class_name) {
                json_put(o, c->type.child[i].name, strlen(c->type.child[i].name));
                json_put(o, "=", 1);
            }
            nest_text(o, c->child[i], r, is_shown);
        }
        json_put(o, ")", 1);
    } else {
        nest_text_many(o, c, nest_span(c, r), is_shown);
    }
}

/* --- Types. ----------------------------------------------------------------------------------- */

struct sr_type nest_type(struct arena *a, struct sr_type element, const struct sr_type *value)
{
    struct sr_field *child = arena_array(a, value ? 2 : 1, sizeof(*child));
    struct sr_type t = {.kind = SR_NULL};
    if (child) {
        child[0] = (struct sr_field){"", element};
        if (value) {
            child[1] = (struct sr_field){"", *value};
        }
        t = (struct sr_type){
            .kind = value ? SR_MAP : SR_ARRAY, .children = value ? 2 : 1, .child = child};
    }
    return t;
}
