/* Fusing: neighbours that only compute become one calc, so that a row is looked at once. */
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/plan/logic.h"

/* A column that is used twice is written out twice, so steps that double a value could grow without
 * end: beyond this many parts they stay apart. */
#define FUSE_PARTS_MAX 2000u

/* Parts of a tree, at most `limit` + 1. The walk ends there, which bounds the recursion too. */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by limit */
static uint32_t fuse_parts(const struct expr *e, uint32_t limit)
{
    uint32_t parts = 1;
    for (uint32_t i = 0; e->kind == EXPR_CALL && i < e->args && parts <= limit; i++) {
        parts += fuse_parts(e->arg[i], limit - parts);
    }
    return parts;
}

/* Parts of e once each column c counts sizes[c]. */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by limit */
static uint32_t fuse_parts_with(const struct expr *e, const uint32_t *sizes, uint32_t limit)
{
    if (e->kind == EXPR_COLUMN) {
        return sizes[e->column];
    }
    uint32_t parts = 1;
    for (uint32_t i = 0; e->kind == EXPR_CALL && i < e->args && parts <= limit; i++) {
        parts += fuse_parts_with(e->arg[i], sizes, limit - parts);
    }
    return parts;
}

static bool fuse_has_column(const struct expr *e, bool *used, uint32_t fields)
{
    for (uint32_t c = 0; c < fields; c++) {
        used[c] = false;
    }
    expr_columns(e, used);
    for (uint32_t c = 0; c < fields; c++) {
        if (used[c]) {
            return true;
        }
    }
    return false;
}

/* RAND(), UUID(): calls that look at no column and yet are no constants. */
/* NOLINTNEXTLINE(misc-no-recursion): trees of more than FUSE_PARTS_MAX parts do not come here */
static bool fuse_is_fickle(const struct expr *e, bool *used, uint32_t fields)
{
    if (e->kind != EXPR_CALL) {
        return false;
    }
    if (!fuse_has_column(e, used, fields) && !expr_is_constant(e)) {
        return true;
    }
    for (uint32_t i = 0; i < e->args; i++) {
        if (fuse_is_fickle(e->arg[i], used, fields)) {
            return true;
        }
    }
    return false;
}

/* True when the outer calc may compute what the inner one does. */
static bool fuse_may(struct arena *a, const struct logic *inner, const struct logic *outer)
{
    uint32_t *sizes = arena_array(a, inner->out->fields + 1, sizeof(*sizes));
    bool *used = arena_array(a, inner->input[0]->out->fields + 1, sizeof(*used));
    if (!sizes || !used) {
        return false;
    }
    uint32_t total = inner->condition ? fuse_parts(inner->condition, FUSE_PARTS_MAX) : 0;
    for (uint32_t c = 0; c < inner->out->fields; c++) {
        sizes[c] = fuse_parts(inner->expr[c], FUSE_PARTS_MAX);
        if (sizes[c] > FUSE_PARTS_MAX ||
            fuse_is_fickle(inner->expr[c], used, inner->input[0]->out->fields)) {
            return false;
        }
    }
    for (uint32_t c = 0; c < outer->out->fields && total <= FUSE_PARTS_MAX; c++) {
        total += fuse_parts_with(outer->expr[c], sizes, FUSE_PARTS_MAX);
    }
    if (outer->condition && total <= FUSE_PARTS_MAX) {
        total += fuse_parts_with(outer->condition, sizes, FUSE_PARTS_MAX);
    }
    return total <= FUSE_PARTS_MAX;
}

/* Two transforms in one calc are named together; what a source or sink adds is not worth a name. */
static void fuse_names(struct arena *a, const struct logic *inner, struct logic *outer)
{
    if (outer->step->kind == JOB_SINK) {
        outer->step = inner->step;
        outer->steps = inner->steps;
    } else if (inner->step->kind == JOB_TRANSFORM && inner->step != outer->step) {
        outer->steps = arena_printf(a, "%s + %s", logic_steps(inner), logic_steps(outer));
    }
}

static sr_rc fuse_two(struct arena *a, struct logic *inner, struct logic *outer,
                      struct sr_error *err)
{
    for (uint32_t c = 0; c < outer->out->fields; c++) {
        outer->expr[c] = expr_replace(a, outer->expr[c], inner->expr);
    }
    if (outer->condition) {
        outer->condition = expr_replace(a, outer->condition, inner->expr);
    }
    if (inner->condition && outer->condition) {
        const struct expr *both[2] = {inner->condition, outer->condition};
        outer->condition = expr_call(a, "AND", both, 2, err);
        if (!outer->condition) {
            return err->rc;
        }
    } else if (inner->condition) {
        outer->condition = inner->condition;
    }
    outer->input[0] = inner->input[0];
    inner->is_gone = true;
    fuse_names(a, inner, outer);
    return SR_OK;
}

/* A calc that changes nothing is taken out from between its input and its readers. */
static void fuse_bypass(struct logic_graph *g, struct logic *calc)
{
    for (uint32_t i = calc->number + 1; i < g->nodes; i++) {
        struct logic *n = g->node[i];
        for (uint32_t k = 0; k < n->inputs; k++) {
            n->input[k] = n->input[k] == calc ? calc->input[0] : n->input[k];
        }
    }
    calc->is_gone = true;
}

static bool fuse_is_pair(const struct logic *inner, const struct logic *outer)
{
    return outer->kind == LOGIC_CALC && inner->kind == LOGIC_CALC && inner->readers == 1 &&
           inner->on_error == outer->on_error && inner->parallelism == outer->parallelism;
}

static void fuse_bypass_all(struct logic_graph *g)
{
    for (uint32_t i = 0; i < g->nodes; i++) {
        struct logic *n = g->node[i];
        if (!n->is_gone && n->kind == LOGIC_CALC && logic_is_identity(n)) {
            fuse_bypass(g, n);
        }
    }
    logic_count_readers(g);
}

sr_rc logic_fuse(struct logic_graph *g, struct sr_error *err)
{
    fuse_bypass_all(g);
    for (uint32_t i = 0; i < g->nodes; i++) {
        struct logic *n = g->node[i];
        while (!n->is_gone && n->inputs == 1 && fuse_is_pair(n->input[0], n) &&
               fuse_may(g->arena, n->input[0], n)) {
            sr_rc rc = fuse_two(g->arena, n->input[0], n, err);
            if (rc != SR_OK) {
                return rc;
            }
        }
    }
    fuse_bypass_all(g);
    return arena_is_broken(g->arena) ? error_set(err, SR_ENOMEM, "planning") : SR_OK;
}
