/* Select lists: the columns of a calc. */
#include <string.h>

#include "engine/bind/aggregate.h"
#include "engine/data/schema.h"

#define SELECT_COLUMNS_MAX 10000u

/* Says once that there is no room for more columns. */
static bool select_is_full(struct select *l)
{
    if (l->count < SELECT_COLUMNS_MAX) return false;
    if (!l->has_failed) {
        bind_fault(l->binder, l->text[l->count - 1], l->at[l->count - 1], NULL,
                   "SR0705: more than %u columns in one step", SELECT_COLUMNS_MAX);
    }
    l->has_failed = true;
    return true;
}

static bool select_grow(struct select *l)
{
    uint32_t capacity = l->capacity ? l->capacity * 2 : 16;
    struct arena *a = l->binder->arena;
    struct sr_field *field = arena_array(a, capacity, sizeof(*field));
    const struct expr **expr = arena_array(a, capacity, sizeof(struct expr *));
    const struct job_text **text = arena_array(a, capacity, sizeof(struct job_text *));
    uint32_t *at = arena_array(a, capacity, sizeof(*at));
    if (!field || !expr || !text || !at) {
        l->has_failed = true;
        return bind_no_memory(l->binder);
    }
    for (uint32_t c = 0; c < l->count; c++) {
        field[c] = l->field[c];
        expr[c] = l->expr[c];
        text[c] = l->text[c];
        at[c] = l->at[c];
    }
    l->field = field;
    l->expr = expr;
    l->text = text;
    l->at = at;
    l->capacity = capacity;
    return true;
}

void select_put(struct select *l, const char *name, const struct expr *e, const struct job_text *t,
                uint32_t at)
{
    if (select_is_full(l) || (l->count == l->capacity && !select_grow(l))) {
        return;
    }
    l->field[l->count] = (struct sr_field){name, e->type};
    l->expr[l->count] = e;
    l->text[l->count] = t;
    l->at[l->count] = at;
    l->count++;
}

static void select_star(struct select *l, struct scope *s, const struct ast *star)
{
    if (s->agg) {
        bind_fault(s->binder, s->text, star->at, "name the columns, such as keys and COUNT(*)",
                   "SR0703: * has no meaning behind a grouping");
        l->has_failed = true;
        return;
    }
    if (star->count > 0) {
        const char *table = star->item[0]->item[0]->name;
        if (!bind_is_table(s, table) || star->item[0]->count > 1) {
            bind_fault(s->binder, s->text, star->at, NULL, "SR0601: '%s' is no input of this step",
                       table);
            l->has_failed = true;
            return;
        }
    }
    for (uint32_t c = 0; c < s->in->fields; c++) {
        select_put(l, s->in->field[c].name, expr_column(s->binder->arena, s->in, c), s->text,
                   star->at);
    }
}

void select_add(struct select *l, struct scope *s, const struct ast *item)
{
    const struct ast *n = item->item[0];
    if (n->kind == AST_STAR) {
        select_star(l, s, n);
        return;
    }
    const struct expr *e = bind_expr(s, n);
    if (!e) {
        l->has_failed = true;
        return;
    }
    const char *name = item->name;
    if (!name && n->kind == AST_NAME) {
        name = n->item[n->count - 1]->name;
    }
    if (!name) {
        name = arena_printf(s->binder->arena, "EXPR$%u", l->count);
    }
    if (e->type.kind == SR_NULL) {
        bind_fault(s->binder, s->text, n->at, "CAST(NULL AS STRING)",
                   "SR0702: column '%s' is a NULL of no type", name);
        l->has_failed = true;
        return;
    }
    select_put(l, name, expr_as_column(s->binder->arena, e), s->text, item->at);
}

static bool select_is_unique(struct select *l)
{
    bool is_good = true;
    for (uint32_t c = 1; c < l->count; c++) {
        for (uint32_t k = 0; k < c; k++) {
            if (strcmp(l->field[c].name, l->field[k].name) == 0) {
                bind_fault(l->binder, l->text[c], l->at[c], "give one of them another name: AS ...",
                           "SR0602: column '%s' is there twice", l->field[c].name);
                is_good = false;
                break;
            }
        }
    }
    return is_good;
}

/* The column that passes column c of the input on as it is; -1: none does. */
static int32_t select_passes(const struct select *l, uint32_t c)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->expr[i]->kind == EXPR_COLUMN && l->expr[i]->column == c) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* The key of an updating result, as far as all of it is passed on. */
static void select_keys(const struct select *l, const struct logic *input, struct logic *n)
{
    uint32_t *key = arena_array(l->binder->arena, (size_t)input->keys + 1, sizeof(*key));
    n->is_updating = input->is_updating;
    n->key = key;
    for (uint32_t k = 0; key && k < input->keys; k++) {
        int32_t c = select_passes(l, input->key[k]);
        if (c < 0) {
            n->keys = 0;
            return;
        }
        key[n->keys++] = (uint32_t)c;
    }
}

struct logic *select_calc(struct select *l, const struct job_step *step, struct logic *input,
                          const struct expr *condition)
{
    if (l->has_failed || !select_is_unique(l)) {
        return NULL;
    }
    struct logic *n = logic_add(l->binder->graph, LOGIC_CALC, step, &input, 1);
    struct sr_schema *out = arena_get(l->binder->arena, sizeof(*out));
    if (!n || !out) {
        (void)bind_no_memory(l->binder);
        return NULL;
    }
    out->fields = l->count;
    out->field = l->field;
    out->rowtime = input->out->rowtime < 0 ? -1 : select_passes(l, (uint32_t)input->out->rowtime);
    n->out = out;
    n->expr = l->expr;
    n->condition = condition;
    n->on_error = bind_on_error(step, input);
    select_keys(l, input, n);
    return n;
}
