/* Functions over arrays: with a value, with other arrays, in order. */
#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/elements.h"
#include "engine/expr/family.h"
#include "engine/expr/nest.h"
#include "engine/expr/promote.h"

/* --- Arrays and a value. ---------------------------------------------------------------------- */

/* NULL for a NULL array; the value may be NULL. */
#define ARRAY_EACH(k, r)          \
    CALL_EACH_ROW(k, r)           \
    if (!elements_has(k, 0, r)) { \
        call_null(k, r);          \
    } else

static void array_position(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        ((int32_t *)k->out->values)[r] = (int32_t)elements_find(k, 0, r, k->arg[1], r) + 1;
    }
}
static void array_contains(struct call *k)
{
    ARRAY_EACH(k, r) { ((uint8_t *)k->out->values)[r] = elements_find(k, 0, r, k->arg[1], r) >= 0; }
}

static void array_remove(struct call *k)
{
    ARRAY_EACH(k, r)
    {
        struct sr_span s = elements_at(k, 0, r);
        elements_begin(k, r);
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            if (!nest_equal(k->arg[0]->child[0], n, k->arg[1], r)) {
                elements_add(k, r, k->arg[0]->child[0], n);
            }
        }
    }
}

static void array_append_value(struct call *k)
{
    ARRAY_EACH(k, r)
    {
        elements_begin(k, r);
        elements_add_all(k, 0, r);
        elements_add(k, r, k->arg[1], r);
    }
}

static void array_prepend_value(struct call *k)
{
    ARRAY_EACH(k, r)
    {
        elements_begin(k, r);
        elements_add(k, r, k->arg[1], r);
        elements_add_all(k, 0, r);
    }
}

enum { ARRAY_POSITION, ARRAY_CONTAINS, ARRAY_REMOVE, ARRAY_APPEND, ARRAY_PREPEND };

static const struct kernel array_k_with[] = {{.run = array_position},
                                             {.run = array_contains, .flags = KERNEL_NULLS},
                                             {.run = array_remove, .flags = KERNEL_NULLS},
                                             {.run = array_append_value, .flags = KERNEL_NULLS},
                                             {.run = array_prepend_value, .flags = KERNEL_NULLS}};

/* An array, and a value of the type of its elements. */
static bool array_bind_with(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    uint32_t what = b->func->data;
    if (t->kind != SR_ARRAY || !bind_coerce(b, 1, &t->child[0].type)) {
        return false;
    }
    struct sr_type element = t->child[0].type;
    element.is_nullable =
        element.is_nullable || (what >= ARRAY_APPEND && b->arg[1]->type.is_nullable);
    b->type = what == ARRAY_POSITION   ? type_of(SR_INT)
              : what == ARRAY_CONTAINS ? type_of(SR_BOOLEAN)
                                       : nest_type(b->arena, element, NULL);
    /* Flink: a value that may be NULL makes the result so, though it never is. */
    b->type.is_nullable = t->is_nullable || (what != ARRAY_CONTAINS && what != ARRAY_REMOVE &&
                                             b->arg[1]->type.is_nullable);
    b->kernel = &array_k_with[what];
    return b->type.kind != SR_NULL;
}

/* --- Arrays and arrays. ----------------------------------------------------------------------- */

static void array_distinct_of(struct call *k, uint32_t i, uint32_t r)
{
    struct sr_span s = elements_at(k, i, r);
    for (uint32_t n = s.at; n < s.at + s.len; n++) {
        if (!elements_is_in(k, r, k->arg[i]->child[0], n)) {
            elements_add(k, r, k->arg[i]->child[0], n);
        }
    }
}

static void array_distinct(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        for (uint32_t i = 0, n = elements_has_all(k, r) ? k->args : 0; i < n; i++) {
            array_distinct_of(k, i, r);
        }
    }
}

static void array_concat(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        for (uint32_t i = 0, n = elements_has_all(k, r) ? k->args : 0; i < n; i++) {
            elements_add_all(k, i, r);
        }
    }
}

/* Whether a value is among those elements, found by its bits first: 0.0 is not -0.0 here. */
static bool array_has(const struct sr_column *list, struct sr_span s, const struct sr_column *c,
                      uint32_t r)
{
    for (uint32_t i = s.at; i < s.at + s.len; i++) {
        if (nest_identical(list, i, c, r) && nest_equal(list, i, c, r)) {
            return true;
        }
    }
    return false;
}

static void array_except_or(struct call *k, bool is_common)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = elements_has_all(k, r) ? elements_at(k, 0, r) : (struct sr_span){0, 0};
        const struct sr_column *c = k->arg[0]->child[0];
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            bool is_there = array_has(k->arg[1]->child[0], elements_at(k, 1, r), c, n);
            struct sr_span out = ((const struct sr_span *)k->out->values)[r];
            if (is_there == is_common && !array_has(k->out->child[0], out, c, n)) {
                elements_add(k, r, c, n);
            }
        }
    }
}
static void array_except(struct call *k) { array_except_or(k, false); }
static void array_intersect(struct call *k) { array_except_or(k, true); }

static void array_reverse(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = elements_has_all(k, r) ? elements_at(k, 0, r) : (struct sr_span){0, 0};
        for (uint32_t n = s.len; n > 0; n--) {
            elements_add(k, r, k->arg[0]->child[0], s.at + n - 1);
        }
    }
}

enum { ARRAY_DISTINCT, ARRAY_CONCAT, ARRAY_EXCEPT, ARRAY_INTERSECT, ARRAY_REVERSE };

static const struct kernel array_k_arrays[] = {{.run = array_distinct, .flags = KERNEL_NULLS},
                                               {.run = array_concat, .flags = KERNEL_NULLS},
                                               {.run = array_except, .flags = KERNEL_NULLS},
                                               {.run = array_intersect, .flags = KERNEL_NULLS},
                                               {.run = array_reverse, .flags = KERNEL_NULLS}};

static bool array_bind_arrays(struct bind_call *b)
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
    return elements_settle(b, t, &array_k_arrays[b->func->data]);
}

/* --- Order. ----------------------------------------------------------------------------------- */

/* Beside NaN nothing is less or more. */
static int array_order(const struct sr_column *c, uint32_t a, uint32_t b)
{
    bool is_real = sr_is_approx(c->type.kind);
    bool is_nan = is_real && (!nest_equal(c, a, c, a) || !nest_equal(c, b, c, b));
    return is_nan ? 0 : nest_order(c, a, c, b);
}

/* The least or the largest element that is not NULL. */
static void array_extreme(struct call *k, int wanted)
{
    CALL_EACH_ROW(k, r)
    {
        struct sr_span s = elements_has(k, 0, r) ? elements_at(k, 0, r) : (struct sr_span){0, 0};
        const struct sr_column *c = k->arg[0]->child[0];
        uint32_t best = UINT32_MAX;
        for (uint32_t n = s.at; n < s.at + s.len; n++) {
            bool is_better = valid_bit(c->valid, n) &&
                             (best == UINT32_MAX || array_order(c, n, best) * wanted > 0);
            best = is_better ? n : best;
        }
        if (best == UINT32_MAX) {
            call_null(k, r);
        } else {
            elements_give(k, r, c, best);
        }
    }
}
static void array_min(struct call *k) { array_extreme(k, -1); }
static void array_max(struct call *k) { array_extreme(k, 1); }
static const struct kernel array_k_extreme[2] = {{.run = array_min, .flags = KERNEL_NULLS},
                                                 {.run = array_max, .flags = KERNEL_NULLS}};

static bool array_has_order(const struct sr_type *element)
{
    return !sr_is_nested(element->kind) && element->kind != SR_VARIANT;
}

static bool array_bind_extreme(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    if (t->kind != SR_ARRAY || !array_has_order(&t->child[0].type)) {
        return false;
    }
    return elements_settle(b, type_nullable(t->child[0].type, true),
                           &array_k_extreme[b->func->data]);
}

static bool array_flag(const struct call *k, uint32_t i, uint32_t r, bool otherwise)
{
    return k->args > i ? ((const uint8_t *)k->arg[i]->values)[r] != 0 : otherwise;
}

/* Below or above zero; NULLs in front or behind, whichever way the rest is ordered. What is the
 * same stays in the order in which it came. */
static int array_place(const struct sr_column *c, uint32_t a, uint32_t b, bool is_ascending,
                       bool nulls_first)
{
    bool has_a = valid_bit(c->valid, a), has_b = valid_bit(c->valid, b);
    if (!has_a || !has_b) {
        int place = (has_a - has_b) * (nulls_first ? 1 : -1);
        return place != 0 ? place : a < b ? -1 : 1;
    }
    int order = nest_order(c, a, c, b);
    return order == 0 ? (a < b ? -1 : 1) : is_ascending ? order : -order;
}

/* A heap sort of row numbers: no worse than n log n, and no memory. */
static void array_sift(uint32_t *row, uint32_t n, uint32_t at, const struct sr_column *c, bool up,
                       bool nulls_first)
{
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        bool has_right = child + 1 < n;
        if (has_right && array_place(c, row[child], row[child + 1], up, nulls_first) < 0) {
            child++;
        }
        if (array_place(c, row[at], row[child], up, nulls_first) >= 0) {
            return;
        }
        uint32_t swap = row[at];
        row[at] = row[child];
        row[child] = swap;
    }
}

static bool array_sort_row(struct call *k, uint32_t r, uint32_t *row)
{
    struct sr_span s = elements_at(k, 0, r);
    const struct sr_column *c = k->arg[0]->child[0];
    bool up = array_flag(k, 1, r, true), nulls_first = array_flag(k, 2, r, up);
    for (uint32_t i = 0; i < s.len; i++) {
        row[i] = s.at + i;
    }
    for (uint32_t i = s.len / 2; i > 0; i--) {
        array_sift(row, s.len, i - 1, c, up, nulls_first);
    }
    for (uint32_t n = s.len; n > 1; n--) {
        uint32_t last = row[n - 1];
        row[n - 1] = row[0];
        row[0] = last;
        array_sift(row, n - 1, 0, c, up, nulls_first);
    }
    for (uint32_t i = 0; i < s.len; i++) {
        elements_add(k, r, c, row[i]);
    }
    return true;
}

static void array_sort(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t n = elements_has_all(k, r) ? elements_at(k, 0, r).len : 0;
        struct sr_buffer *room = n > 0 ? buffer_new(k->home, n * 4u) : NULL;
        if (n > 0 && !room) {
            call_broken(k, SR_ENOMEM);
        } else if (n > 0) {
            (void)array_sort_row(k, r, (uint32_t *)(void *)room->data);
        }
        buffer_release(room);
    }
}
static const struct kernel array_k_sort = {.run = array_sort, .flags = KERNEL_NULLS};

static bool array_bind_sort(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    for (uint32_t i = 1; i < b->args; i++) {
        if (b->arg[i]->type.kind != SR_BOOLEAN) {
            return false;
        }
    }
    if (t->kind != SR_ARRAY || !array_has_order(&t->child[0].type)) {
        return false;
    }
    return elements_settle(b, type_nullable(*t, bind_any_nullable(b)), &array_k_sort);
}

/* From and to, counted from 1 or, negative, from the end; both ends are in. */
static void array_slice(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (!elements_has_all(k, r)) {
            continue;
        }
        struct sr_span s = elements_at(k, 0, r);
        int64_t from = call_int(k, 1, r), to = k->args > 2 ? call_int(k, 2, r) : (int64_t)s.len;
        from = from < 0 ? from + s.len + 1 : from;
        to = to < 0 ? to + s.len + 1 : to;
        from = from < 1 ? 1 : from;
        to = to > s.len ? s.len : to;
        for (int64_t n = from; n <= to; n++) {
            elements_add(k, r, k->arg[0]->child[0], s.at + (uint32_t)n - 1);
        }
    }
}
static const struct kernel array_k_slice = {.run = array_slice, .flags = KERNEL_NULLS};

static bool array_bind_slice(struct bind_call *b)
{
    struct sr_type number = type_of(SR_INT);
    for (uint32_t i = 1; i < b->args; i++) {
        if (!sr_is_integer(b->arg[i]->type.kind) || !bind_coerce(b, i, &number)) {
            return false;
        }
    }
    return b->arg[0]->type.kind == SR_ARRAY &&
           elements_settle(b, type_nullable(b->arg[0]->type, bind_any_nullable(b)), &array_k_slice);
}

/* --- The table. ------------------------------------------------------------------------------- */

#define ARRAY_ROW(title, low, high, binds, what, form, words)                          \
    {                                                                                  \
        .name = title, .family = "collection", .bind = binds, .min = low, .max = high, \
        .data = what, .forms = form, .doc = words                                      \
    }

static const struct func array_funcs[] = {
    ARRAY_ROW("ARRAY_POSITION", 2, 2, array_bind_with, ARRAY_POSITION,
              "ARRAY_POSITION(array, value) -> INT",
              "The number of the first element that is the value; 0: none is. NULL when the value "
              "is NULL."),
    ARRAY_ROW("ARRAY_CONTAINS", 2, 2, array_bind_with, ARRAY_CONTAINS,
              "ARRAY_CONTAINS(array, value) -> BOOLEAN",
              "Whether an element is the value; NULL is the same as NULL."),
    ARRAY_ROW("ARRAY_REMOVE", 2, 2, array_bind_with, ARRAY_REMOVE, "ARRAY_REMOVE(array, value)",
              "The elements that are not the value."),
    ARRAY_ROW("ARRAY_APPEND", 2, 2, array_bind_with, ARRAY_APPEND, "ARRAY_APPEND(array, value)",
              "The elements, and the value behind them."),
    ARRAY_ROW("ARRAY_PREPEND", 2, 2, array_bind_with, ARRAY_PREPEND, "ARRAY_PREPEND(array, value)",
              "The value, and the elements behind it."),
    ARRAY_ROW("ARRAY_DISTINCT", 1, 1, array_bind_arrays, ARRAY_DISTINCT, "ARRAY_DISTINCT(array)",
              "The elements, each once, in the order in which they come first."),
    ARRAY_ROW("ARRAY_UNION", 2, 2, array_bind_arrays, ARRAY_DISTINCT, "ARRAY_UNION(array, array)",
              "The elements of both, each once."),
    ARRAY_ROW("ARRAY_CONCAT", 1, CALL_ARGS_MAX, array_bind_arrays, ARRAY_CONCAT,
              "ARRAY_CONCAT(array, ...)", "The elements of all arrays, one behind the other."),
    ARRAY_ROW("ARRAY_EXCEPT", 2, 2, array_bind_arrays, ARRAY_EXCEPT, "ARRAY_EXCEPT(array, array)",
              "The elements of the first that are not in the second, each once."),
    ARRAY_ROW("ARRAY_INTERSECT", 2, 2, array_bind_arrays, ARRAY_INTERSECT,
              "ARRAY_INTERSECT(array, array)", "The elements that are in both, each once."),
    ARRAY_ROW("ARRAY_REVERSE", 1, 1, array_bind_arrays, ARRAY_REVERSE, "ARRAY_REVERSE(array)",
              "The elements from the last to the first."),
    ARRAY_ROW("ARRAY_MIN", 1, 1, array_bind_extreme, 0, "ARRAY_MIN(array)",
              "The least element that is not NULL."),
    ARRAY_ROW("ARRAY_MAX", 1, 1, array_bind_extreme, 1, "ARRAY_MAX(array)",
              "The largest element that is not NULL."),
    ARRAY_ROW("ARRAY_SORT", 1, 3, array_bind_sort, 0,
              "ARRAY_SORT(array [, ascending BOOLEAN [, nulls_first BOOLEAN]])",
              "The elements in order, ascending unless said; NULLs first when ascending."),
    ARRAY_ROW(
        "ARRAY_SLICE", 2, 3, array_bind_slice, 0, "ARRAY_SLICE(array, from INT [, to INT])",
        "The elements from one number to another, both in; negative ones count from the end."),
};

const struct func_family func_array = {array_funcs, sizeof(array_funcs) / sizeof(array_funcs[0])};
