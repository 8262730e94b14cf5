/* ROW, ARRAY and MAP: making them, taking them apart, and what there is for arrays and maps. */
#include <string.h>

#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/nest.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"

static struct sr_span nest_at(const struct call *k, uint32_t i, uint32_t r)
{
    return ((const struct sr_span *)k->arg[i]->values)[r];
}

static bool nest_has(const struct call *k, uint32_t i, uint32_t r)
{
    return valid_bit(k->arg[i]->valid, r);
}

/* A copy becomes the result of row r. */
static void nest_give(struct call *k, uint32_t r, const struct sr_column *c, uint32_t from)
{
    if (!nest_copy(k->home, k->out, r, c, from)) {
        call_broken(k, SR_ENOMEM);
    }
}

/* Elements are added to the result of row r from here on. */
static void nest_begin(struct call *k, uint32_t r) { call_span(k, r, k->out->child[0]->rows, 0); }

static void nest_add(struct call *k, uint32_t r, const struct sr_column *c, uint32_t from)
{
    if (!nest_append(k->home, k->out, 0, c, from)) {
        call_broken(k, SR_ENOMEM);
    }
    ((struct sr_span *)k->out->values)[r].len++;
}

/* Whether the result of row r holds a value already. */
static bool nest_is_in(const struct call *k, uint32_t r, const struct sr_column *c, uint32_t from)
{
    struct sr_span s = ((const struct sr_span *)k->out->values)[r];
    for (uint32_t i = s.at; i < s.at + s.len; i++) {
        if (nest_equal(k->out->child[0], i, c, from)) {
            return true;
        }
    }
    return false;
}

/* The place of a value among the elements of argument i; -1: it is not there. */
static int64_t nest_find(const struct call *k, uint32_t i, uint32_t r, const struct sr_column *c,
                         uint32_t from)
{
    struct sr_span s = nest_at(k, i, r);
    for (uint32_t n = 0; n < s.len; n++) {
        if (nest_equal(k->arg[i]->child[0], s.at + n, c, from)) {
            return n;
        }
    }
    return -1;
}

/* --- Making. ---------------------------------------------------------------------------------- */

static void nest_array(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        nest_begin(k, r);
        for (uint32_t i = 0; i < k->args; i++) {
            nest_add(k, r, k->arg[i], r);
        }
    }
}
static const struct kernel nest_k_array = {.run = nest_array, .flags = KERNEL_NULLS};

/* Whether no later argument is the same key. */
static bool nest_is_last(const struct call *k, uint32_t i, uint32_t r)
{
    for (uint32_t j = i + 2; j < k->args; j += 2) {
        if (nest_equal(k->arg[i], r, k->arg[j], r)) {
            return false;
        }
    }
    return true;
}

/* Of a key that comes twice the last value counts. */
static void nest_map(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        nest_begin(k, r);
        for (uint32_t i = 0; i < k->args; i += 2) {
            if (!nest_is_last(k, i, r)) {
                continue;
            }
            nest_add(k, r, k->arg[i], r);
            if (!nest_append(k->home, k->out, 1, k->arg[i + 1], r)) {
                call_broken(k, SR_ENOMEM);
            }
        }
    }
}
static const struct kernel nest_k_map = {.run = nest_map, .flags = KERNEL_NULLS};

static void nest_row(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        for (uint32_t i = 0; i < k->args; i++) {
            if (!nest_copy(k->home, k->out->child[i], r, k->arg[i], r)) {
                call_broken(k, SR_ENOMEM);
            }
        }
    }
}
static const struct kernel nest_k_row = {.run = nest_row, .flags = KERNEL_NULLS};

/* Arguments from, from + step ... become of one type; false: they have none in common. */
static bool nest_common(struct bind_call *b, uint32_t from, uint32_t step, struct sr_type *out)
{
    *out = b->arg[from]->type;
    for (uint32_t i = from; i < b->args; i += step) {
        if (!promote_branch(out, &b->arg[i]->type, out)) {
            return false;
        }
    }
    for (uint32_t i = from; i < b->args && out->kind != SR_NULL; i += step) {
        struct sr_type t = type_nullable(*out, b->arg[i]->type.is_nullable);
        b->arg[i] = expr_cast(b->arena, b->arg[i], &t, false, b->err);
        if (!b->arg[i]) {
            b->is_said = true;
            return false;
        }
    }
    return out->kind != SR_NULL;
}

static bool nest_settle(struct bind_call *b, struct sr_type t, const struct kernel *kernel)
{
    b->type = t;
    b->kernel = kernel;
    return t.kind != SR_NULL;
}

static bool nest_bind_array(struct bind_call *b)
{
    struct sr_type element;
    return nest_common(b, 0, 1, &element) &&
           nest_settle(b, nest_type(b->arena, element, NULL), &nest_k_array);
}

static bool nest_bind_map(struct bind_call *b)
{
    struct sr_type key, value;
    if (b->args % 2 != 0) {
        return bind_fails(b, "MAP takes a value for each key");
    }
    return nest_common(b, 0, 2, &key) && nest_common(b, 1, 2, &value) &&
           nest_settle(b, nest_type(b->arena, key, &value), &nest_k_map);
}

static bool nest_bind_row(struct bind_call *b)
{
    struct sr_field *field = arena_array(b->arena, b->args, sizeof(*field));
    for (uint32_t i = 0; field && i < b->args; i++) {
        if (b->arg[i]->type.kind == SR_NULL) {
            return bind_fails(b, "a NULL in a ROW needs a type: CAST(NULL AS TYPE)");
        }
        field[i] = (struct sr_field){arena_printf(b->arena, "EXPR$%u", i), b->arg[i]->type};
        if (!field[i].name) {
            return false;
        }
    }
    struct sr_type t = {.kind = SR_ROW, .children = b->args, .child = field};
    return field && nest_settle(b, t, &nest_k_row);
}

/* --- Taking apart. ---------------------------------------------------------------------------- */

/* Argument 1, a literal, is the number of the field. */
static void nest_field(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (nest_has(k, 0, r)) {
            nest_give(k, r, k->arg[0]->child[call_int(k, 1, r)], r);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel nest_k_field = {.run = nest_field, .flags = KERNEL_NULLS};

static bool nest_bind_field(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    const struct expr *name = b->arg[1];
    if (t->kind != SR_ROW || name->kind != EXPR_LITERAL || !sr_is_text(name->type.kind)) {
        return false;
    }
    for (uint32_t i = 0; i < t->children; i++) {
        if (strlen(t->child[i].name) == name->text_len &&
            memcmp(t->child[i].name, name->text, name->text_len) == 0) {
            const char *digits = arena_printf(b->arena, "%u", i);
            b->arg[1] = digits ? expr_number(b->arena, digits, b->err) : NULL;
            b->type = t->child[i].type;
            b->type.is_nullable = b->type.is_nullable || t->is_nullable;
            b->kernel = &nest_k_field;
            return b->arg[1] != NULL;
        }
    }
    return bind_fails(b, "%s has no field '%.*s'", type_text(b->arena, t), (int)name->text_len,
                      name->text);
}

static void nest_item(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        bool has = nest_has(k, 0, r) && nest_has(k, 1, r);
        int64_t i = has ? (int64_t)call_int(k, 1, r) - 1 : -1;
        if (i >= 0 && i < nest_at(k, 0, r).len) {
            nest_give(k, r, k->arg[0]->child[0], nest_at(k, 0, r).at + (uint32_t)i);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel nest_k_item = {.run = nest_item, .flags = KERNEL_NULLS};

static void nest_value(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        bool has = nest_has(k, 0, r) && nest_has(k, 1, r);
        int64_t i = has ? nest_find(k, 0, r, k->arg[1], r) : -1;
        if (i >= 0) {
            nest_give(k, r, k->arg[0]->child[1], nest_at(k, 0, r).at + (uint32_t)i);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel nest_k_value = {.run = nest_value, .flags = KERNEL_NULLS};

static bool nest_bind_item(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    struct sr_type key = type_of(SR_INT);
    if (t->kind == SR_MAP) {
        key = t->child[0].type;
    } else if (t->kind != SR_ARRAY || !type_is_integer(b->arg[1]->type.kind)) {
        return false;
    }
    const struct expr *known = program_fold(b->arena, b->arg[1], "UTC");
    if (t->kind == SR_ARRAY && known->kind == EXPR_LITERAL && !known->is_null &&
        known->value.i < 1) {
        return bind_fails(b, "elements of an ARRAY are numbered from 1, not %lld",
                          (long long)known->value.i);
    }
    if (!bind_coerce(b, 1, &key)) {
        return false;
    }
    b->kernel = t->kind == SR_MAP ? &nest_k_value : &nest_k_item;
    b->type = type_nullable(t->child[t->kind == SR_MAP ? 1 : 0].type, true);
    return true;
}

static void nest_cardinality(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = (int32_t)nest_at(k, 0, r).len; }
}
static const struct kernel nest_k_cardinality = {.run = nest_cardinality};

static bool nest_bind_cardinality(struct bind_call *b)
{
    enum sr_kind kind = b->arg[0]->type.kind;
    b->type = type_nullable(type_of(SR_INT), bind_any_nullable(b));
    b->kernel = &nest_k_cardinality;
    return kind == SR_ARRAY || kind == SR_MAP || kind == SR_MULTISET;
}

static void nest_element(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t n = nest_has(k, 0, r) ? nest_at(k, 0, r).len : 0;
        if (n > 1) {
            call_fail(k, r, "ELEMENT takes an ARRAY of one element, this has %u", n);
        } else if (n == 1) {
            nest_give(k, r, k->arg[0]->child[0], nest_at(k, 0, r).at);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel nest_k_element = {.run = nest_element,
                                             .flags = KERNEL_NULLS | KERNEL_FAILS};

static bool nest_bind_element(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    if (t->kind != SR_ARRAY) {
        return false;
    }
    b->type = t->child[0].type;
    b->type.is_nullable = b->type.is_nullable || t->is_nullable;
    b->kernel = &nest_k_element;
    return true;
}

/* --- Arrays and a value. ---------------------------------------------------------------------- */

/* NULL for a NULL array; the value may be NULL. */
#define NEST_EACH(k, r)       \
    CALL_EACH_ROW(k, r)       \
    if (!nest_has(k, 0, r)) { \
        call_null(k, r);      \
    } else

static void nest_position(struct call *k)
{
    NEST_EACH(k, r)
    {
        ((int32_t *)k->out->values)[r] = (int32_t)nest_find(k, 0, r, k->arg[1], r) + 1;
    }
}
static void nest_contains(struct call *k)
{
    NEST_EACH(k, r) { ((uint8_t *)k->out->values)[r] = nest_find(k, 0, r, k->arg[1], r) >= 0; }
}

/* The elements of argument i that `is` picks. */
static void nest_add_all(struct call *k, uint32_t i, uint32_t r)
{
    struct sr_span s = nest_at(k, i, r);
    for (uint32_t n = s.at; n < s.at + s.len; n++) {
        nest_add(k, r, k->arg[i]->child[0], n);
    }
}

static void nest_remove(struct call *k)
{
    NEST_EACH(k, r)
    {
        struct sr_span s = nest_at(k, 0, r);
        nest_begin(k, r);
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            if (!nest_equal(k->arg[0]->child[0], n, k->arg[1], r)) {
                nest_add(k, r, k->arg[0]->child[0], n);
            }
        }
    }
}

static void nest_append_value(struct call *k)
{
    NEST_EACH(k, r)
    {
        nest_begin(k, r);
        nest_add_all(k, 0, r);
        nest_add(k, r, k->arg[1], r);
    }
}

static void nest_prepend_value(struct call *k)
{
    NEST_EACH(k, r)
    {
        nest_begin(k, r);
        nest_add(k, r, k->arg[1], r);
        nest_add_all(k, 0, r);
    }
}

enum { NEST_POSITION, NEST_CONTAINS, NEST_REMOVE, NEST_APPEND, NEST_PREPEND };

static const struct kernel nest_k_with[] = {{.run = nest_position, .flags = KERNEL_NULLS},
                                            {.run = nest_contains, .flags = KERNEL_NULLS},
                                            {.run = nest_remove, .flags = KERNEL_NULLS},
                                            {.run = nest_append_value, .flags = KERNEL_NULLS},
                                            {.run = nest_prepend_value, .flags = KERNEL_NULLS}};

/* An array, and a value of the type of its elements. */
static bool nest_bind_with(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    uint32_t what = b->func->data;
    if (t->kind != SR_ARRAY || !bind_coerce(b, 1, &t->child[0].type)) {
        return false;
    }
    struct sr_type element = t->child[0].type;
    element.is_nullable =
        element.is_nullable || (what >= NEST_APPEND && b->arg[1]->type.is_nullable);
    b->type = what == NEST_POSITION   ? type_of(SR_INT)
              : what == NEST_CONTAINS ? type_of(SR_BOOLEAN)
                                      : nest_type(b->arena, element, NULL);
    /* Flink: a value that may be NULL makes the result so, though it never is. */
    b->type.is_nullable = t->is_nullable || (what >= NEST_APPEND && b->arg[1]->type.is_nullable);
    b->kernel = &nest_k_with[what];
    return b->type.kind != SR_NULL;
}

/* --- Arrays and arrays. ----------------------------------------------------------------------- */

static void nest_distinct_of(struct call *k, uint32_t i, uint32_t r)
{
    struct sr_span s = nest_at(k, i, r);
    for (uint32_t n = s.at; n < s.at + s.len; n++) {
        if (!nest_is_in(k, r, k->arg[i]->child[0], n)) {
            nest_add(k, r, k->arg[i]->child[0], n);
        }
    }
}

static bool nest_has_all(struct call *k, uint32_t r)
{
    for (uint32_t i = 0; i < k->args; i++) {
        if (!nest_has(k, i, r)) {
            call_null(k, r);
            return false;
        }
    }
    nest_begin(k, r);
    return true;
}

static void nest_distinct(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        for (uint32_t i = 0, n = nest_has_all(k, r) ? k->args : 0; i < n; i++) {
            nest_distinct_of(k, i, r);
        }
    }
}

static void nest_concat(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        for (uint32_t i = 0, n = nest_has_all(k, r) ? k->args : 0; i < n; i++) {
            nest_add_all(k, i, r);
        }
    }
}

static void nest_except_or(struct call *k, bool is_common)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = nest_has_all(k, r) ? nest_at(k, 0, r) : (struct sr_span){0, 0};
        const struct sr_column *c = k->arg[0]->child[0];
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            bool is_there = nest_find(k, 1, r, c, n) >= 0;
            if (is_there == is_common && !nest_is_in(k, r, c, n)) {
                nest_add(k, r, c, n);
            }
        }
    }
}
static void nest_except(struct call *k) { nest_except_or(k, false); }
static void nest_intersect(struct call *k) { nest_except_or(k, true); }

static void nest_reverse(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = nest_has_all(k, r) ? nest_at(k, 0, r) : (struct sr_span){0, 0};
        for (uint32_t n = s.len; n > 0; n--) {
            nest_add(k, r, k->arg[0]->child[0], s.at + n - 1);
        }
    }
}

enum { NEST_DISTINCT, NEST_CONCAT, NEST_EXCEPT, NEST_INTERSECT, NEST_REVERSE };

static const struct kernel nest_k_arrays[] = {{.run = nest_distinct, .flags = KERNEL_NULLS},
                                              {.run = nest_concat, .flags = KERNEL_NULLS},
                                              {.run = nest_except, .flags = KERNEL_NULLS},
                                              {.run = nest_intersect, .flags = KERNEL_NULLS},
                                              {.run = nest_reverse, .flags = KERNEL_NULLS}};

static bool nest_bind_arrays(struct bind_call *b)
{
    struct sr_type t = b->arg[0]->type;
    for (uint32_t i = 0; i < b->args; i++) {
        const struct sr_type *x = &b->arg[i]->type;
        if (x->kind != SR_ARRAY || !nest_is_alike(x, &t)) {
            return false;
        }
        bool is_nullable = t.is_nullable || x->is_nullable;
        if (x->child[0].type.is_nullable || x->child[0].type.length > t.child[0].type.length) {
            struct sr_type element = x->child[0].type;
            element.is_nullable = element.is_nullable || t.child[0].type.is_nullable;
            t = nest_type(b->arena, element, NULL);
        }
        t.is_nullable = is_nullable;
    }
    return nest_settle(b, t, &nest_k_arrays[b->func->data]);
}

/* --- Order. ----------------------------------------------------------------------------------- */

/* The least or the largest element that is not NULL. */
static void nest_extreme(struct call *k, int wanted)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = nest_has(k, 0, r) ? nest_at(k, 0, r) : (struct sr_span){0, 0};
        const struct sr_column *c = k->arg[0]->child[0];
        uint32_t best = UINT32_MAX;
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            bool is_better = valid_bit(c->valid, n) &&
                             (best == UINT32_MAX || nest_order(c, n, c, best) * wanted > 0);
            best = is_better ? n : best;
        }
        if (best == UINT32_MAX) {
            call_null(k, r);
        } else {
            nest_give(k, r, c, best);
        }
    }
}
static void nest_min(struct call *k) { nest_extreme(k, -1); }
static void nest_max(struct call *k) { nest_extreme(k, 1); }
static const struct kernel nest_k_extreme[2] = {{.run = nest_min, .flags = KERNEL_NULLS},
                                                {.run = nest_max, .flags = KERNEL_NULLS}};

static bool nest_bind_extreme(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    if (t->kind != SR_ARRAY || sr_is_nested(t->child[0].type.kind)) {
        return false;
    }
    return nest_settle(b, type_nullable(t->child[0].type, true), &nest_k_extreme[b->func->data]);
}

static bool nest_flag(const struct call *k, uint32_t i, uint32_t r, bool otherwise)
{
    return k->args > i ? ((const uint8_t *)k->arg[i]->values)[r] != 0 : otherwise;
}

/* Below, at or above zero; NULLs in front or behind, whichever way the rest is ordered. */
static int nest_place(const struct sr_column *c, uint32_t a, uint32_t b, bool is_ascending,
                      bool nulls_first)
{
    bool has_a = valid_bit(c->valid, a), has_b = valid_bit(c->valid, b);
    if (!has_a || !has_b) {
        return (has_a - has_b) * (nulls_first ? 1 : -1);
    }
    int order = nest_order(c, a, c, b);
    return is_ascending ? order : -order;
}

/* A heap sort of row numbers: no worse than n log n, and no memory. */
static void nest_sift(uint32_t *row, uint32_t n, uint32_t at, const struct sr_column *c, bool up,
                      bool nulls_first)
{
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        bool has_right = child + 1 < n;
        if (has_right && nest_place(c, row[child], row[child + 1], up, nulls_first) < 0) {
            child++;
        }
        if (nest_place(c, row[at], row[child], up, nulls_first) >= 0) {
            return;
        }
        uint32_t swap = row[at];
        row[at] = row[child];
        row[child] = swap;
    }
}

static bool nest_sort_row(struct call *k, uint32_t r, uint32_t *row)
{
    struct sr_span s = nest_at(k, 0, r);
    const struct sr_column *c = k->arg[0]->child[0];
    bool up = nest_flag(k, 1, r, true), nulls_first = nest_flag(k, 2, r, up);
    for (uint32_t i = 0; i < s.len; i++) {
        row[i] = s.at + i;
    }
    for (uint32_t i = s.len / 2; i > 0; i--) {
        nest_sift(row, s.len, i - 1, c, up, nulls_first);
    }
    for (uint32_t n = s.len; n > 1; n--) {
        uint32_t last = row[n - 1];
        row[n - 1] = row[0];
        row[0] = last;
        nest_sift(row, n - 1, 0, c, up, nulls_first);
    }
    for (uint32_t i = 0; i < s.len; i++) {
        nest_add(k, r, c, row[i]);
    }
    return true;
}

static void nest_sort(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t n = nest_has_all(k, r) ? nest_at(k, 0, r).len : 0;
        struct sr_buffer *room = n > 0 ? buffer_new(k->home, n * 4u) : NULL;
        if (n > 0 && !room) {
            call_broken(k, SR_ENOMEM);
        } else if (n > 0) {
            (void)nest_sort_row(k, r, (uint32_t *)(void *)room->data);
        }
        buffer_release(room);
    }
}
static const struct kernel nest_k_sort = {.run = nest_sort, .flags = KERNEL_NULLS};

static bool nest_bind_sort(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    for (uint32_t i = 1; i < b->args; i++) {
        if (b->arg[i]->type.kind != SR_BOOLEAN) {
            return false;
        }
    }
    if (t->kind != SR_ARRAY || sr_is_nested(t->child[0].type.kind)) {
        return false;
    }
    return nest_settle(b, type_nullable(*t, bind_any_nullable(b)), &nest_k_sort);
}

/* From and to, counted from 1 or, negative, from the end; both ends are in. */
static void nest_slice(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (!nest_has_all(k, r)) {
            continue;
        }
        struct sr_span s = nest_at(k, 0, r);
        int64_t from = call_int(k, 1, r), to = k->args > 2 ? call_int(k, 2, r) : (int64_t)s.len;
        from = from < 0 ? from + s.len + 1 : from;
        to = to < 0 ? to + s.len + 1 : to;
        from = from < 1 ? 1 : from;
        to = to > s.len ? s.len : to;
        for (int64_t n = from; n <= to; n++) {
            nest_add(k, r, k->arg[0]->child[0], s.at + (uint32_t)n - 1);
        }
    }
}
static const struct kernel nest_k_slice = {.run = nest_slice, .flags = KERNEL_NULLS};

static bool nest_bind_slice(struct bind_call *b)
{
    struct sr_type number = type_of(SR_INT);
    for (uint32_t i = 1; i < b->args; i++) {
        if (!type_is_integer(b->arg[i]->type.kind) || !bind_coerce(b, i, &number)) {
            return false;
        }
    }
    return b->arg[0]->type.kind == SR_ARRAY &&
           nest_settle(b, type_nullable(b->arg[0]->type, bind_any_nullable(b)), &nest_k_slice);
}

/* --- Maps. ------------------------------------------------------------------------------------ */

static void nest_half(struct call *k, uint32_t which)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = nest_has_all(k, r) ? nest_at(k, 0, r) : (struct sr_span){0, 0};
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            nest_add(k, r, k->arg[0]->child[which], n);
        }
    }
}
static void nest_keys(struct call *k) { nest_half(k, 0); }
static void nest_values(struct call *k) { nest_half(k, 1); }
static const struct kernel nest_k_half[2] = {{.run = nest_keys, .flags = KERNEL_NULLS},
                                             {.run = nest_values, .flags = KERNEL_NULLS}};

static bool nest_bind_half(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    if (t->kind != SR_MAP) {
        return false;
    }
    struct sr_type array = nest_type(b->arena, t->child[b->func->data].type, NULL);
    array.is_nullable = t->is_nullable;
    return nest_settle(b, array, &nest_k_half[b->func->data]);
}

static void nest_of_arrays(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (!nest_has_all(k, r)) {
            continue;
        }
        struct sr_span keys = nest_at(k, 0, r), values = nest_at(k, 1, r);
        if (keys.len != values.len) {
            call_fail(k, r, "MAP_FROM_ARRAYS takes a value for each key, not %u for %u", values.len,
                      keys.len);
            continue;
        }
        for (uint32_t n = 0; n < keys.len; n++) {
            nest_add(k, r, k->arg[0]->child[0], keys.at + n);
            if (!nest_append(k->home, k->out, 1, k->arg[1]->child[0], values.at + n)) {
                call_broken(k, SR_ENOMEM);
            }
        }
    }
}
static const struct kernel nest_k_of_arrays = {.run = nest_of_arrays,
                                               .flags = KERNEL_NULLS | KERNEL_FAILS};

static bool nest_bind_of_arrays(struct bind_call *b)
{
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    if (x->kind != SR_ARRAY || y->kind != SR_ARRAY) {
        return false;
    }
    struct sr_type t = nest_type(b->arena, x->child[0].type, &y->child[0].type);
    t.is_nullable = bind_any_nullable(b);
    return nest_settle(b, t, &nest_k_of_arrays);
}

/* --- The table. ------------------------------------------------------------------------------- */

#define NEST_ROW(title, low, high, binds, what, form, words)                           \
    {                                                                                  \
        .name = title, .family = "collection", .bind = binds, .min = low, .max = high, \
        .data = what, .forms = form, .doc = words                                      \
    }

static const struct func nest_funcs[] = {
    NEST_ROW("ARRAY", 1, CALL_ARGS_MAX, nest_bind_array, 0, "ARRAY[value, ...]",
             "An array of the values, which become of one type."),
    NEST_ROW("MAP", 2, CALL_ARGS_MAX, nest_bind_map, 0, "MAP[key, value, ...]",
             "A map; of a key that comes twice the last value counts."),
    NEST_ROW("ROW", 1, CALL_ARGS_MAX, nest_bind_row, 0, "ROW(value, ...) or (value, value, ...)",
             "A row of the values, its fields named EXPR$0, EXPR$1 ...: a CAST names them."),
    NEST_ROW(".", 2, 2, nest_bind_field, 0, "row.field", "The field of a row."),
    NEST_ROW("ITEM", 2, 2, nest_bind_item, 0, "array[number] or map[key]",
             "The element of that number, from 1, or the value of that key; NULL when it is not "
             "there."),
    NEST_ROW("CARDINALITY", 1, 1, nest_bind_cardinality, 0, "CARDINALITY(array or map) -> INT",
             "How many elements there are."),
    NEST_ROW("ELEMENT", 1, 1, nest_bind_element, 0, "ELEMENT(array)",
             "The only element of an array; NULL of an empty one. More of them fail."),
    NEST_ROW("ARRAY_POSITION", 2, 2, nest_bind_with, NEST_POSITION,
             "ARRAY_POSITION(array, value) -> INT",
             "The number of the first element that is the value; 0: none is."),
    NEST_ROW("ARRAY_CONTAINS", 2, 2, nest_bind_with, NEST_CONTAINS,
             "ARRAY_CONTAINS(array, value) -> BOOLEAN",
             "Whether an element is the value; NULL is the same as NULL."),
    NEST_ROW("ARRAY_REMOVE", 2, 2, nest_bind_with, NEST_REMOVE, "ARRAY_REMOVE(array, value)",
             "The elements that are not the value."),
    NEST_ROW("ARRAY_APPEND", 2, 2, nest_bind_with, NEST_APPEND, "ARRAY_APPEND(array, value)",
             "The elements, and the value behind them."),
    NEST_ROW("ARRAY_PREPEND", 2, 2, nest_bind_with, NEST_PREPEND, "ARRAY_PREPEND(array, value)",
             "The value, and the elements behind it."),
    NEST_ROW("ARRAY_DISTINCT", 1, 1, nest_bind_arrays, NEST_DISTINCT, "ARRAY_DISTINCT(array)",
             "The elements, each once, in the order in which they come first."),
    NEST_ROW("ARRAY_UNION", 2, 2, nest_bind_arrays, NEST_DISTINCT, "ARRAY_UNION(array, array)",
             "The elements of both, each once."),
    NEST_ROW("ARRAY_CONCAT", 1, CALL_ARGS_MAX, nest_bind_arrays, NEST_CONCAT,
             "ARRAY_CONCAT(array, ...)", "The elements of all arrays, one behind the other."),
    NEST_ROW("ARRAY_EXCEPT", 2, 2, nest_bind_arrays, NEST_EXCEPT, "ARRAY_EXCEPT(array, array)",
             "The elements of the first that are not in the second, each once."),
    NEST_ROW("ARRAY_INTERSECT", 2, 2, nest_bind_arrays, NEST_INTERSECT,
             "ARRAY_INTERSECT(array, array)", "The elements that are in both, each once."),
    NEST_ROW("ARRAY_REVERSE", 1, 1, nest_bind_arrays, NEST_REVERSE, "ARRAY_REVERSE(array)",
             "The elements from the last to the first."),
    NEST_ROW("ARRAY_MIN", 1, 1, nest_bind_extreme, 0, "ARRAY_MIN(array)",
             "The least element that is not NULL."),
    NEST_ROW("ARRAY_MAX", 1, 1, nest_bind_extreme, 1, "ARRAY_MAX(array)",
             "The largest element that is not NULL."),
    NEST_ROW("ARRAY_SORT", 1, 3, nest_bind_sort, 0,
             "ARRAY_SORT(array [, ascending BOOLEAN [, nulls_first BOOLEAN]])",
             "The elements in order, ascending unless said; NULLs first when ascending."),
    NEST_ROW("ARRAY_SLICE", 2, 3, nest_bind_slice, 0, "ARRAY_SLICE(array, from INT [, to INT])",
             "The elements from one number to another, both in; negative ones count from the end."),
    NEST_ROW("MAP_KEYS", 1, 1, nest_bind_half, 0, "MAP_KEYS(map)", "The keys, as an array."),
    NEST_ROW("MAP_VALUES", 1, 1, nest_bind_half, 1, "MAP_VALUES(map)", "The values, as an array."),
    NEST_ROW("MAP_FROM_ARRAYS", 2, 2, nest_bind_of_arrays, 0, "MAP_FROM_ARRAYS(keys, values)",
             "A map of two arrays of the same length."),
};

const struct func_family func_nest = {nest_funcs, sizeof(nest_funcs) / sizeof(nest_funcs[0])};
