#include "engine/plan/logic.h"

#include "engine/base/assert.h"

struct logic_graph *logic_graph_new(struct arena *a, const struct job *job)
{
    struct logic_graph *g = arena_get(a, sizeof(*g));
    if (g) {
        g->arena = a;
        g->job = job;
    }
    return g;
}

static bool logic_reserve(struct logic_graph *g)
{
    struct logic **node = NULL;
    if (g->nodes < LOGIC_NODES_MAX) {
        node = arena_more(g->arena, g->node, g->nodes, &g->capacity, sizeof(struct logic *));
    }
    g->node = node ? node : g->node;
    return node != NULL;
}

struct logic *logic_add(struct logic_graph *g, enum logic_kind kind, const struct job_step *step,
                        struct logic *const *input, uint32_t inputs)
{
    struct logic *n = arena_get(g->arena, sizeof(*n));
    struct logic **kept = arena_array(g->arena, inputs ? inputs : 1, sizeof(struct logic *));
    if (!n || !kept || !logic_reserve(g)) {
        return NULL;
    }
    n->kind = kind;
    n->step = step;
    n->number = g->nodes;
    n->input = kept;
    n->inputs = inputs;
    for (uint32_t i = 0; i < inputs; i++) {
        sr_assert(input[i]->number < n->number);
        kept[i] = input[i];
        n->ways += n->ways <= LOGIC_WAYS_MAX ? input[i]->ways : 0;
    }
    if (inputs == 0 || kind == LOGIC_AGGREGATE) {
        n->ways = 1;
    }
    n->ways = n->ways <= LOGIC_WAYS_MAX ? n->ways : LOGIC_WAYS_MAX + 1;
    g->node[g->nodes++] = n;
    return n;
}

struct logic *logic_add_identity(struct logic_graph *g, const struct job_step *step,
                                 struct logic *input)
{
    struct logic *n = logic_add(g, LOGIC_CALC, step, &input, 1);
    uint32_t fields = input->out->fields;
    const struct expr **expr = arena_array(g->arena, fields ? fields : 1, sizeof(struct expr *));
    if (!n || !expr) {
        return NULL;
    }
    for (uint32_t c = 0; c < fields; c++) {
        expr[c] = expr_column(g->arena, input->out, c);
    }
    n->expr = expr;
    n->out = input->out;
    n->on_error = input->on_error;
    n->is_updating = input->is_updating;
    n->keys = input->keys;
    n->key = input->key;
    return n;
}

const char *logic_steps(struct arena *a, const struct logic *n)
{
    const char *text = n->fused > 0 ? n->fused_step[0]->name.text : n->step->name.text;
    for (uint32_t i = 1; i < n->fused && text; i++) {
        text = arena_printf(a, "%s + %s", text, n->fused_step[i]->name.text);
    }
    return text;
}

void logic_count_readers(struct logic_graph *g)
{
    for (uint32_t i = 0; i < g->nodes; i++) {
        g->node[i]->readers = 0;
    }
    for (uint32_t i = 0; i < g->nodes; i++) {
        const struct logic *n = g->node[i];
        for (uint32_t k = 0; k < n->inputs && !n->is_gone; k++) {
            n->input[k]->readers++;
        }
    }
}

bool logic_is_identity(const struct logic *n)
{
    sr_assert(n->kind == LOGIC_CALC);
    if (n->condition || n->out->fields != n->input[0]->out->fields) {
        return false;
    }
    for (uint32_t c = 0; c < n->out->fields; c++) {
        if (n->expr[c]->kind != EXPR_COLUMN || n->expr[c]->column != c) {
            return false;
        }
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as unions stand in unions, along each of its ways */
bool logic_is_proctime(const struct logic *n, uint32_t c)
{
    while (n->kind == LOGIC_CALC || n->kind == LOGIC_WATERMARK) {
        const struct expr *e = n->kind == LOGIC_CALC ? n->expr[c] : NULL;
        if (e && e->kind != EXPR_COLUMN) {
            return expr_is_call_of(e, "PROCTIME");
        }
        c = e ? e->column : c;
        n = n->input[0];
    }
    if (n->kind == LOGIC_AGGREGATE) {
        return n->aggregate.is_proctime && c == n->aggregate.keys + 2;
    }
    for (uint32_t i = 0; n->kind == LOGIC_UNION && i < n->inputs; i++) {
        if (!logic_is_proctime(n->input[i], c)) {
            return false;
        }
    }
    return n->kind == LOGIC_UNION;
}
