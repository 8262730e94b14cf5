/* OBJECT_OF, OBJECT_UPDATE: values of STRUCTURED types, which are ROWs of a class. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/elements.h"
#include "engine/expr/family.h"
#include "engine/expr/nest.h"

/* Arguments are class or object, and then a key and a value a pair. */

static void object_copy(struct call *k, uint32_t field, uint32_t r, const struct sr_column *from)
{
    if (!nest_copy(k->home, k->out->child[field], r, from, r)) {
        call_broken(k, SR_ENOMEM);
    }
}

static void object_of(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        for (uint32_t i = 0; i < k->out->children; i++) {
            object_copy(k, i, r, k->arg[2 + 2 * i]);
        }
    }
}
static const struct kernel object_k_of = {.run = object_of, .flags = KERNEL_NULLS};

/* --- OBJECT_UPDATE. --------------------------------------------------------------------------- */

static bool object_is_key(const struct expr *key, const char *name)
{
    return key->text_len == strlen(name) && memcmp(key->text, name, key->text_len) == 0;
}

/* The number of a field; -1: there is none of that name. */
static int64_t object_field(const struct sr_type *t, const struct expr *key)
{
    for (uint32_t i = 0; i < t->children; i++) {
        if (object_is_key(key, t->child[i].name)) {
            return i;
        }
    }
    return -1;
}

/* By field: the argument that it becomes; 0: it stays. */
static sr_rc object_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    uint32_t *from = calloc((size_t)e->type.children + 1, sizeof(*from));
    *state = from;
    for (uint32_t i = 1; from && i + 1 < e->args; i += 2) {
        from[object_field(&e->type, e->arg[i])] = i + 1;
    }
    return from ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

static void object_update(struct call *k)
{
    const uint32_t *from = k->state;
    CALL_EACH_ROW(k, r)
    {
        if (!valid_bit(k->arg[0]->valid, r)) {
            call_null(k, r);
            continue;
        }
        for (uint32_t i = 0; i < k->out->children; i++) {
            object_copy(k, i, r, from[i] ? k->arg[from[i]] : k->arg[0]->child[i]);
        }
    }
}
static const struct kernel object_k_update = {
    .run = object_update, .flags = KERNEL_NULLS, .prepare = object_prepare, .release = free};

/* --- Typing. ---------------------------------------------------------------------------------- */

static bool object_is_text(const struct expr *e)
{
    return e->kind == EXPR_LITERAL && sr_is_text(e->type.kind) && !e->is_null;
}

/* Keys are literals, each once, and values have types. */
static bool object_check_pairs(struct bind_call *b)
{
    if (b->args % 2 != 1) {
        return bind_fails(b, "%s takes a value for each key", b->func->name);
    }
    for (uint32_t i = 1; i < b->args; i += 2) {
        const struct expr *key = b->arg[i];
        if (!object_is_text(key)) {
            return bind_fails(b, "a key of %s is a text as it is written", b->func->name);
        }
        for (uint32_t j = 1; j < i; j += 2) {
            if (key->text_len == b->arg[j]->text_len &&
                memcmp(key->text, b->arg[j]->text, key->text_len) == 0) {
                return bind_fails(b, "the field '%.*s' comes twice", (int)key->text_len, key->text);
            }
        }
        if (b->arg[i + 1]->type.kind == SR_NULL) {
            return bind_fails(b, "a NULL in %s needs a type: CAST(NULL AS TYPE)", b->func->name);
        }
    }
    return true;
}

static bool object_bind_of(struct bind_call *b)
{
    const struct expr *class = b->arg[0];
    if (!object_is_text(class)) {
        return bind_fails(b, "the class of OBJECT_OF is a text as it is written");
    }
    const char *name = arena_text_n(b->arena, class->text, class->text_len);
    if (!name || !object_check_pairs(b)) {
        return false;
    }
    if (!type_is_class(name)) {
        return bind_fails(b, "'%s' is no name of a class, as in 'com.example.User'", name);
    }
    uint32_t fields = b->args / 2;
    struct sr_field *field = arena_array(b->arena, fields + 1, sizeof(*field));
    for (uint32_t i = 0; field && i < fields; i++) {
        const struct expr *key = b->arg[1 + 2 * i];
        field[i] = (struct sr_field){arena_text_n(b->arena, key->text, key->text_len),
                                     b->arg[2 + 2 * i]->type};
        if (!field[i].name) {
            return false;
        }
    }
    struct sr_type t = {.kind = SR_ROW, .children = fields, .child = field, .class_name = name};
    bool is_settled = field && elements_settle(b, t, &object_k_of);
    b->type.is_nullable = true; /* as Flink has it, though it never is NULL */
    return is_settled;
}

static bool object_bind_update(struct bind_call *b)
{
    struct sr_type t = b->arg[0]->type;
    if (!t.class_name) {
        return bind_fails(b, "OBJECT_UPDATE takes a STRUCTURED value, not %s",
                          type_text(b->arena, &t));
    }
    struct sr_field *field = arena_array(b->arena, t.children + 1, sizeof(*field));
    if (!field || !object_check_pairs(b)) {
        return false;
    }
    memcpy(field, t.child, t.children * sizeof(*field));
    for (uint32_t i = 1; i < b->args; i += 2) {
        int64_t at = object_field(&t, b->arg[i]);
        if (at < 0) {
            return bind_fails(b, "%s has no field '%.*s'", type_text(b->arena, &t),
                              (int)b->arg[i]->text_len, b->arg[i]->text);
        }
        field[at].type = b->arg[i + 1]->type;
    }
    t.child = field;
    bool is_settled = elements_settle(b, t, &object_k_update);
    b->type.is_nullable = true;
    return is_settled;
}

/* --- The table. ------------------------------------------------------------------------------- */

static const struct func object_funcs[] = {
    {.name = "OBJECT_OF",
     .family = "collection",
     .bind = object_bind_of,
     .min = 1,
     .max = CALL_ARGS_MAX,
     .forms = "OBJECT_OF(class STRING [, field STRING, value]...) -> STRUCTURED<...>",
     .doc = "A value of a STRUCTURED type: fields by name, as in a ROW, and a class of which only "
            "the name counts. Class and fields are texts as they are written."},
    {.name = "OBJECT_UPDATE",
     .family = "collection",
     .bind = object_bind_update,
     .min = 1,
     .max = CALL_ARGS_MAX,
     .forms = "OBJECT_UPDATE(object STRUCTURED<...> [, field STRING, value]...) -> STRUCTURED<...>",
     .doc = "The object with other values in these fields, whose types are then those of the "
            "values; NULL for NULL."},
};

const struct func_family func_object = {object_funcs,
                                        sizeof(object_funcs) / sizeof(object_funcs[0])};
