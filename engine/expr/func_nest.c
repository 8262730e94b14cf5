/* ROW, ARRAY and MAP: making them, and taking them apart. */
#include <string.h>
#include <strings.h>

#include "engine/data/schema.h"
#include "engine/expr/elements.h"
#include "engine/expr/family.h"
#include "engine/expr/nest.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"

/* --- Making. ---------------------------------------------------------------------------------- */

static void nest_array(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        elements_begin(k, r);
        for (uint32_t i = 0; i < k->args; i++) {
            elements_add(k, r, k->arg[i], r);
        }
    }
}
static const struct kernel nest_k_array = {.run = nest_array, .flags = KERNEL_NULLS};

/* Whether no later argument is the same key. */
static bool nest_is_last(const struct call *k, uint32_t i, uint32_t r)
{
    for (uint32_t j = i + 2; j < k->args; j += 2) {
        if (nest_equal(k->arg[i], r, k->arg[j], r) && nest_identical(k->arg[i], r, k->arg[j], r)) {
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
        elements_begin(k, r);
        for (uint32_t i = 0; i < k->args; i += 2) {
            if (!nest_is_last(k, i, r)) {
                continue;
            }
            elements_add(k, r, k->arg[i], r);
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

static bool nest_bind_array(struct bind_call *b)
{
    struct sr_type element;
    return nest_common(b, 0, 1, &element) &&
           elements_settle(b, nest_type(b->arena, element, NULL), &nest_k_array);
}

static bool nest_bind_map(struct bind_call *b)
{
    struct sr_type key, value;
    if (b->args % 2 != 0) {
        return bind_fails(b, "MAP takes a value for each key");
    }
    return nest_common(b, 0, 2, &key) && nest_common(b, 1, 2, &value) &&
           elements_settle(b, nest_type(b->arena, key, &value), &nest_k_map);
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
    return field && elements_settle(b, t, &nest_k_row);
}

/* --- Taking apart. ---------------------------------------------------------------------------- */

/* Argument 1, a literal, is the number of the field. */
static void nest_field(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        if (elements_has(k, 0, r)) {
            elements_give(k, r, k->arg[0]->child[call_int(k, 1, r)], r);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel nest_k_field = {.run = nest_field, .flags = KERNEL_NULLS};

/* Fields of a STRUCTURED type are found in any case, as in Flink. */
static bool nest_is_named(const struct sr_type *t, uint32_t i, const struct expr *name)
{
    const char *field = t->child[i].name;
    return strlen(field) == name->text_len &&
           (t->class_name ? strncasecmp(field, name->text, name->text_len)
                          : memcmp(field, name->text, name->text_len)) == 0;
}

static bool nest_bind_field(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    const struct expr *name = b->arg[1];
    if (t->kind != SR_ROW || name->kind != EXPR_LITERAL || !sr_is_text(name->type.kind)) {
        return false;
    }
    for (uint32_t i = 0; i < t->children; i++) {
        if (nest_is_named(t, i, name)) {
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
        bool has = elements_has(k, 0, r) && elements_has(k, 1, r);
        int64_t i = has ? (int64_t)call_int(k, 1, r) - 1 : -1;
        if (i >= 0 && i < elements_at(k, 0, r).len) {
            elements_give(k, r, k->arg[0]->child[0], elements_at(k, 0, r).at + (uint32_t)i);
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
        bool has = elements_has(k, 0, r) && elements_has(k, 1, r);
        int64_t i = has ? elements_find(k, 0, r, k->arg[1], r) : -1;
        if (i >= 0) {
            elements_give(k, r, k->arg[0]->child[1], elements_at(k, 0, r).at + (uint32_t)i);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel nest_k_value = {.run = nest_value, .flags = KERNEL_NULLS};

bool expr_is_trusted(const struct expr *e)
{
    if (!expr_is_call_of(e, "ITEM") || e->args != 2) {
        return false;
    }
    const struct sr_type *t = &e->arg[0]->type;
    return t->children > 0 && !t->child[t->kind == SR_MAP ? 1 : 0].type.is_nullable;
}

/* -1 of numbers and dates, FALSE, ''. */
static void nest_put_made(struct sr_column *c, uint32_t r)
{
    static const int64_t minus_one = -1;
    uint32_t size = sr_value_size(&c->type);
    if (c->type.kind == SR_FLOAT) {
        ((float *)c->values)[r] = -1;
    } else if (c->type.kind == SR_DOUBLE) {
        ((double *)c->values)[r] = -1;
    } else if (c->type.kind == SR_BOOLEAN || sr_is_text(c->type.kind)) {
        memset((uint8_t *)c->values + (size_t)r * size, 0, size);
    } else if (c->type.kind == SR_TIME) {
        ((int32_t *)c->values)[r] = 86399999;
    } else {
        memcpy((uint8_t *)c->values + (size_t)r * size, &minus_one, size);
    }
}

static void nest_made(struct call *k)
{
    const struct sr_column *a = k->arg[0];
    uint32_t size = sr_value_size(&k->out->type);
    if (sr_is_text(a->type.kind)) {
        call_share(k, 0);
    }
    CALL_EACH_ROW(k, r)
    {
        if (valid_bit(a->valid, r)) {
            memcpy((uint8_t *)k->out->values + (size_t)r * size,
                   (const uint8_t *)a->values + (size_t)r * size, size);
        } else {
            nest_put_made(k->out, r);
        }
    }
}
static const struct kernel nest_k_made = {.run = nest_made, .flags = KERNEL_NULLS};

const struct expr *expr_as_column(struct arena *a, const struct expr *e)
{
    enum sr_kind kind = e->type.kind;
    bool is_made = kind <= SR_DOUBLE || sr_is_text(kind) || kind == SR_DATE || kind == SR_TIME ||
                   sr_is_interval(kind);
    return is_made && expr_is_trusted(e) ? expr_make(a, e->func, &nest_k_made, e->type, &e, 1) : e;
}

static bool nest_bind_item(struct bind_call *b)
{
    const struct sr_type *t = &b->arg[0]->type;
    struct sr_type key = type_of(SR_INT);
    if (t->kind == SR_VARIANT) {
        return variant_bind_item(b);
    }
    if (t->kind == SR_MAP) {
        key = t->child[0].type;
    } else if (t->kind != SR_ARRAY || !sr_is_integer(b->arg[1]->type.kind)) {
        return false;
    }
    const struct expr *known = program_fold_early(b->arena, b->arg[1]);
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
    CALL_EACH_ROW(k, r) { to[r] = (int32_t)elements_at(k, 0, r).len; }
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
        uint32_t n = elements_has(k, 0, r) ? elements_at(k, 0, r).len : 0;
        if (n > 1) {
            call_fail(k, r, "ELEMENT takes an ARRAY of one element, this has %u", n);
        } else if (n == 1) {
            elements_give(k, r, k->arg[0]->child[0], elements_at(k, 0, r).at);
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
    NEST_ROW("ITEM", 2, 2, nest_bind_item, 0,
             "array[number], map[key], variant[number] or variant[key]",
             "The element of that number, from 1, or the value of that key; NULL when it is not "
             "there. A VARIANT that is no array, or no object, is an error. A column that is "
             "nothing else holds -1, FALSE or '' then, as in Flink, if "
             "elements are NOT NULL, and IS NULL is FALSE."),
    NEST_ROW("CARDINALITY", 1, 1, nest_bind_cardinality, 0,
             "CARDINALITY(array, map or multiset) -> INT",
             "How many elements there are; those of a multiset as often as they are in it."),
    NEST_ROW("ELEMENT", 1, 1, nest_bind_element, 0, "ELEMENT(array)",
             "The only element of an array; NULL of an empty one. More of them fail."),
};

const struct func_family func_nest = {nest_funcs, sizeof(nest_funcs) / sizeof(nest_funcs[0])};
