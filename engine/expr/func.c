#include "engine/expr/func.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"

static const struct func_family *const func_families[] = {
    &func_arith, &func_compare, &func_cond,   &func_math,      &func_text,  &func_regex,
    &func_time,  &func_clock,   &func_span,   &func_cast,      &func_code,  &func_word,
    &func_url,   &func_random,  &func_json,   &func_json_make, &func_nest,  &func_array,
    &func_map,   &func_split,   &func_printf, &func_variant,   &func_object};

#define FUNC_FAMILIES (sizeof(func_families) / sizeof(func_families[0]))

/* --- Aggregates: only their types are here. --------------------------------------------------- */

struct func_agg {
    const char *name;
    enum agg_kind kind;
    const char *forms, *doc;
};

static const struct func_agg func_aggs[] = {
    {"AVG", AGG_AVG,
     "AVG([DISTINCT] value NUMERIC) -> type of value; DECIMAL(38, >= 6) for DECIMAL",
     "The mean of the values that are not NULL, cut to the type of the values; NULL when there is "
     "none."},
    {"COUNT", AGG_COUNT, "COUNT(*) -> BIGINT, COUNT([DISTINCT] value) -> BIGINT",
     "How many rows there are, or how many values that are not NULL."},
    {"MAX", AGG_MAX, "MAX(value) -> type of value",
     "The largest value that is not NULL; NULL when there is none."},
    {"MIN", AGG_MIN, "MIN(value) -> type of value",
     "The smallest value that is not NULL; NULL when there is none."},
    {"SUM", AGG_SUM, "SUM([DISTINCT] value NUMERIC) -> type of value; DECIMAL(38, s) for DECIMAL",
     "The sum of the values that are not NULL; NULL when there is none. Integers wrap around."},
};

#define FUNC_AGGS (sizeof(func_aggs) / sizeof(func_aggs[0]))

static const struct func_agg *func_agg_find(const char *name)
{
    for (size_t i = 0; i < FUNC_AGGS; i++) {
        if (strcasecmp(func_aggs[i].name, name) == 0) {
            return &func_aggs[i];
        }
    }
    return NULL;
}

bool func_is_aggregate(const char *name) { return func_agg_find(name) != NULL; }

static sr_rc agg_refuse(const struct func_agg *f, const struct sr_type *t, struct sr_error *err)
{
    struct arena *a = arena_new();
    (void)error_set(err, SR_ECONFIG, "%s cannot be applied to (%s); the form is %s", f->name,
                    a ? type_text(a, t) : "?", f->forms);
    arena_free(a);
    return SR_ECONFIG;
}

sr_rc agg_bind(const char *name, const struct expr *arg, struct agg *out, struct sr_error *err)
{
    const struct func_agg *f = func_agg_find(name);
    if (!f) {
        return error_set(err, SR_ECONFIG, "there is no aggregate function %s", name);
    }
    struct agg g = {.kind = f->kind, .arg = arg};
    if (f->kind == AGG_COUNT) {
        g.type = (struct sr_type){.kind = SR_BIGINT};
        *out = g;
        return SR_OK;
    }
    if (!arg) {
        return error_set(err, SR_ECONFIG, "%s needs an argument; the form is %s", f->name,
                         f->forms);
    }
    const struct sr_type *t = &arg->type;
    bool is_ordered = sr_is_number(t->kind) || t->kind == SR_BOOLEAN || sr_is_text(t->kind) ||
                      t->kind == SR_DATE || t->kind == SR_TIME || sr_is_timestamp(t->kind);
    bool is_good = f->kind == AGG_MIN || f->kind == AGG_MAX ? is_ordered : sr_is_number(t->kind);
    if (!is_good) {
        return agg_refuse(f, t, err);
    }
    g.type = *t;
    if (t->kind == SR_DECIMAL && (f->kind == AGG_SUM || f->kind == AGG_AVG)) {
        g.type.length = SR_DECIMAL_MAX;
        g.type.scale = f->kind == AGG_AVG && t->scale < 6 ? 6 : t->scale;
    }
    g.type.is_nullable = true; /* a group without values; the binder knows better at times */
    *out = g;
    return SR_OK;
}

/* --- The table. ------------------------------------------------------------------------------- */

const struct func *func_row(const char *name)
{
    for (size_t f = 0; f < FUNC_FAMILIES; f++) {
        for (uint32_t i = 0; i < func_families[f]->count; i++) {
            if (strcasecmp(func_families[f]->func[i].name, name) == 0) {
                return &func_families[f]->func[i];
            }
        }
    }
    return NULL;
}

uint32_t func_count(void)
{
    uint32_t n = FUNC_AGGS;
    for (size_t f = 0; f < FUNC_FAMILIES; f++) {
        n += func_families[f]->count;
    }
    return n;
}

/* Row i of all families and aggregates, as they stand. */
static struct func_doc func_doc_raw(uint32_t i)
{
    for (size_t f = 0; f < FUNC_FAMILIES; f++) {
        if (i < func_families[f]->count) {
            const struct func *r = &func_families[f]->func[i];
            return (struct func_doc){r->name, r->family, r->forms, r->doc};
        }
        i -= func_families[f]->count;
    }
    return (struct func_doc){func_aggs[i].name, "aggregate", func_aggs[i].forms, func_aggs[i].doc};
}

struct func_doc func_doc(uint32_t i)
{
    /* The one with i names before it: slow, and only documents are made of it. */
    uint32_t n = func_count();
    for (uint32_t k = 0; k < n; k++) {
        struct func_doc d = func_doc_raw(k);
        uint32_t before = 0;
        for (uint32_t j = 0; j < n; j++) {
            int order = strcmp(func_doc_raw(j).name, d.name);
            before += order < 0 || (order == 0 && j < k) ? 1 : 0;
        }
        if (before == i) {
            return d;
        }
    }
    return (struct func_doc){0};
}

const struct func_doc *func_find(const char *name, struct func_doc *out)
{
    const struct func_agg *g = func_agg_find(name);
    if (g) {
        *out = (struct func_doc){g->name, "aggregate", g->forms, g->doc};
        return out;
    }
    const struct func *f = func_row(name);
    if (!f) {
        return NULL;
    }
    *out = (struct func_doc){f->name, f->family, f->forms, f->doc};
    return out;
}

const char *func_nearest(const char *name)
{
    const char *best = NULL;
    uint32_t least = UINT32_MAX, n = func_count();
    char upper[64];
    size_t len = strlen(name);
    if (len >= sizeof(upper)) {
        return NULL;
    }
    for (size_t i = 0; i <= len; i++) {
        upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *word = func_doc_raw(i).name;
        uint32_t distance = word_distance(upper, word);
        if (distance < least) {
            least = distance;
            best = word;
        }
    }
    return least <= 1 + len / 4 ? best : NULL;
}

/* --- Binding by a row alone. ------------------------------------------------------------------ */

static bool func_arg_fits(struct bind_call *b, uint32_t i, char letter)
{
    enum sr_kind kind = b->arg[i]->type.kind;
    struct sr_type to = {0};
    switch (letter) {
    case 's':
        return sr_is_text(kind);
    case 'y':
        return sr_is_string(kind);
    case 'b':
        return kind == SR_BOOLEAN;
    case 'i':
        to.kind = SR_INT;
        return sr_is_integer(kind) && kind <= SR_INT && bind_coerce(b, i, &to);
    case 'l':
        to.kind = SR_BIGINT;
        return sr_is_integer(kind) && bind_coerce(b, i, &to);
    default:
        to.kind = SR_DOUBLE;
        return sr_is_number(kind) && bind_coerce(b, i, &to);
    }
}

static struct sr_type func_result_type(const struct bind_call *b)
{
    switch (b->func->result) {
    case RESULT_SAME:
        return b->arg[0]->type;
    case RESULT_BOOLEAN:
        return type_of(SR_BOOLEAN);
    case RESULT_INT:
        return type_of(SR_INT);
    case RESULT_BIGINT:
        return type_of(SR_BIGINT);
    case RESULT_DOUBLE:
        return type_of(SR_DOUBLE);
    case RESULT_STRING:
        return type_with(SR_VARCHAR, SR_LENGTH_MAX, 0);
    case RESULT_BYTES:
        return type_with(SR_VARBINARY, SR_LENGTH_MAX, 0);
    case RESULT_VARCHAR:
        return type_with(sr_is_bytes(b->arg[0]->type.kind) ? SR_VARBINARY : SR_VARCHAR,
                         b->arg[0]->type.length, 0);
    case RESULT_DATE:
        return type_of(SR_DATE);
    case RESULT_TIMESTAMP:
        return type_with(SR_TIMESTAMP, 3, 0);
    case RESULT_TIMESTAMP_LTZ:
        return type_with(SR_TIMESTAMP_LTZ, 3, 0);
    }
    return type_of(SR_NULL);
}

bool bind_simple(struct bind_call *b)
{
    size_t letters = strlen(b->func->args);
    for (uint32_t i = 0; i < b->args; i++) {
        if (!func_arg_fits(b, i, b->func->args[i < letters ? i : letters - 1])) {
            return false;
        }
    }
    b->type = type_nullable(func_result_type(b), b->func->is_nullable || bind_any_nullable(b));
    b->kernel = b->func->kernel;
    return true;
}
