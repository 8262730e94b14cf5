/* Column pruning: backward, who needs what; forward, everything is renumbered. */
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/plan/logic.h"

static void prune_need_all(struct logic *n)
{
    for (uint32_t c = 0; c < n->out->fields; c++) {
        n->needed[c] = true;
    }
}

static void prune_need_calc(struct logic *n)
{
    struct logic *in = n->input[0];
    for (uint32_t c = 0; c < n->out->fields; c++) {
        if (n->needed[c]) {
            expr_columns(n->expr[c], in->needed);
        }
    }
    if (n->condition) {
        expr_columns(n->condition, in->needed);
    }
}

/* Columns of an aggregate in front of its results: keys, and the bounds of the window. */
static uint32_t prune_fixed(const struct logic *n)
{
    return n->aggregate.keys + (n->aggregate.window == WINDOW_NONE ? 0 : 3);
}

static void prune_need_aggregate(struct logic *n)
{
    struct logic *in = n->input[0];
    uint32_t fixed = prune_fixed(n);
    for (uint32_t c = 0; c < fixed; c++) {
        n->needed[c] = true;
    }
    for (uint32_t k = 0; k < n->aggregate.keys; k++) {
        in->needed[n->aggregate.key[k]] = true;
    }
    if (n->aggregate.window != WINDOW_NONE) {
        in->needed[n->aggregate.time_column] = true;
    }
    for (uint32_t i = 0; i < n->aggregate.aggs; i++) {
        const struct agg *a = &n->aggregate.agg[i];
        if (n->needed[fixed + i] && a->arg) {
            expr_columns(a->arg, in->needed);
        }
        if (n->needed[fixed + i] && a->filter) {
            expr_columns(a->filter, in->needed);
        }
    }
}

/* Tells the inputs of n what it needs; n's own needs are complete by now. */
static void prune_need(struct logic *n)
{
    if (n->is_updating) {
        for (uint32_t k = 0; k < n->keys; k++) {
            n->needed[n->key[k]] = true;
        }
    }
    switch (n->kind) {
    case LOGIC_SOURCE:
        n->wanted = n->needed;
        break;
    case LOGIC_CALC:
        prune_need_calc(n);
        break;
    case LOGIC_AGGREGATE:
        prune_need_aggregate(n);
        break;
    case LOGIC_SINK:
        prune_need_all(n->input[0]);
        break;
    case LOGIC_WATERMARK:
    case LOGIC_UNION:
        for (uint32_t i = 0; i < n->inputs; i++) {
            for (uint32_t c = 0; c < n->out->fields; c++) {
                n->input[i]->needed[c] |= n->needed[c];
            }
        }
        if (n->kind == LOGIC_WATERMARK) {
            expr_columns(n->at, n->input[0]->needed);
        }
        break;
    }
}

/* The schema of those columns that stay, and where each went. */
static bool prune_schema(struct arena *a, struct logic *n, bool keeps_all)
{
    uint32_t stay = 0;
    for (uint32_t c = 0; c < n->out->fields; c++) {
        n->moved[c] = keeps_all || n->needed[c] ? (int32_t)stay++ : -1;
    }
    if (stay == n->out->fields) {
        return true;
    }
    struct sr_schema *out = arena_copy(a, n->out, sizeof(*out));
    struct sr_field *field = arena_array(a, stay ? stay : 1, sizeof(*field));
    if (!out || !field) {
        return false;
    }
    for (uint32_t c = 0; c < n->out->fields; c++) {
        if (n->moved[c] >= 0) {
            field[n->moved[c]] = n->out->field[c];
        }
    }
    out->fields = stay;
    out->field = field;
    out->rowtime = n->out->rowtime >= 0 ? n->moved[n->out->rowtime] : -1;
    out->keys = 0;
    out->key = NULL;
    n->out = out;
    return true;
}

static bool prune_keys(struct arena *a, struct logic *n)
{
    uint32_t *key = arena_array(a, n->keys ? n->keys : 1, sizeof(*key));
    for (uint32_t k = 0; key && k < n->keys; k++) {
        sr_assert(n->moved[n->key[k]] >= 0);
        key[k] = (uint32_t)n->moved[n->key[k]];
    }
    n->key = key;
    return key != NULL;
}

/* Each column that an expression may refer to, at its new place. */
static const struct expr **prune_by(struct arena *a, const struct logic *in, uint32_t fields)
{
    const struct expr **by = arena_array(a, fields ? fields : 1, sizeof(struct expr *));
    for (uint32_t c = 0; by && c < fields; c++) {
        by[c] = in->moved[c] >= 0 ? expr_column(a, in->out, (uint32_t)in->moved[c]) : NULL;
    }
    return by;
}

static void prune_move_calc(struct arena *a, struct logic *n, const struct expr *const *by,
                            uint32_t fields)
{
    for (uint32_t c = 0; c < fields; c++) {
        if (n->moved[c] >= 0) {
            n->expr[n->moved[c]] = expr_replace(a, n->expr[c], by);
        }
    }
    n->condition = n->condition ? expr_replace(a, n->condition, by) : NULL;
}

static bool prune_move_aggregate(struct arena *a, struct logic *n, const struct expr *const *by)
{
    struct aggregate_step *s = &n->aggregate;
    const struct logic *in = n->input[0];
    uint32_t *key = arena_array(a, s->keys ? s->keys : 1, sizeof(*key));
    struct agg *agg = arena_array(a, s->aggs ? s->aggs : 1, sizeof(*agg));
    if (!key || !agg) {
        return false;
    }
    for (uint32_t k = 0; k < s->keys; k++) {
        key[k] = (uint32_t)in->moved[s->key[k]];
    }
    uint32_t fixed = prune_fixed(n), aggs = 0;
    for (uint32_t i = 0; i < s->aggs; i++) {
        if (n->moved[fixed + i] < 0) {
            continue;
        }
        agg[aggs] = s->agg[i];
        agg[aggs].arg = agg[aggs].arg ? expr_replace(a, agg[aggs].arg, by) : NULL;
        agg[aggs].filter = agg[aggs].filter ? expr_replace(a, agg[aggs].filter, by) : NULL;
        aggs++;
    }
    s->key = key;
    s->agg = agg;
    s->aggs = aggs;
    if (s->window != WINDOW_NONE) {
        s->time_column = (uint32_t)in->moved[s->time_column];
    }
    return true;
}

/* Renumbers n; its inputs are done. `before` is what each node's schema was. */
static bool prune_move(struct arena *a, struct logic *n, const struct sr_schema *const *before)
{
    uint32_t fields = n->out->fields;
    if (n->kind == LOGIC_WATERMARK || n->kind == LOGIC_UNION) {
        /* Rows pass as they are, so the layout is that of the input. */
        const struct logic *in = n->input[0];
        for (uint32_t c = 0; c < fields; c++) {
            n->needed[c] = in->moved[c] >= 0;
        }
    }
    bool keeps_all = n->kind == LOGIC_SOURCE || n->kind == LOGIC_SINK;
    if (!prune_schema(a, n, keeps_all) || !prune_keys(a, n)) {
        return false;
    }
    if (n->inputs == 0) {
        return true;
    }
    const struct expr **by = prune_by(a, n->input[0], before[n->input[0]->number]->fields);
    if (!by) {
        return false;
    }
    switch (n->kind) {
    case LOGIC_CALC:
        prune_move_calc(a, n, by, fields);
        break;
    case LOGIC_AGGREGATE:
        return prune_move_aggregate(a, n, by);
    case LOGIC_WATERMARK:
        n->at = expr_replace(a, n->at, by);
        break;
    case LOGIC_SOURCE:
    case LOGIC_UNION:
    case LOGIC_SINK:
        break;
    }
    return true;
}

sr_rc logic_prune(struct logic_graph *g, struct sr_error *err)
{
    struct arena *a = g->arena;
    const struct sr_schema **before =
        arena_array(a, g->nodes ? g->nodes : 1, sizeof(struct sr_schema *));
    for (uint32_t i = 0; before && i < g->nodes; i++) {
        struct logic *n = g->node[i];
        before[i] = n->out;
        n->needed = arena_array(a, n->out->fields + 1, sizeof(bool));
        n->moved = arena_array(a, n->out->fields + 1, sizeof(int32_t));
    }
    if (!before || arena_is_broken(a)) {
        return error_set(err, SR_ENOMEM, "planning: out of memory");
    }
    for (uint32_t i = g->nodes; i > 0; i--) {
        prune_need(g->node[i - 1]);
    }
    for (uint32_t i = 0; i < g->nodes; i++) {
        if (!prune_move(a, g->node[i], before)) {
            return error_set(err, SR_ENOMEM, "planning: out of memory");
        }
    }
    return arena_is_broken(a) ? error_set(err, SR_ENOMEM, "planning: out of memory") : SR_OK;
}
