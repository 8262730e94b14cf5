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

static uint32_t fuse_depth(const struct logic *n)
{
    uint32_t depth = n->condition ? n->condition->depth + 1 : 0; /* AND may be put around it */
    for (uint32_t c = 0; c < n->out->fields; c++) {
        depth = n->expr[c]->depth > depth ? n->expr[c]->depth : depth;
    }
    return depth;
}

/* True when the outer calc may compute what the inner one does. */
static bool fuse_may(struct arena *a, const struct logic *inner, const struct logic *outer)
{
    uint32_t *sizes = arena_array(a, inner->out->fields + 1, sizeof(*sizes));
    bool *used = arena_array(a, inner->input[0]->out->fields + 1, sizeof(*used));
    if (!sizes || !used || fuse_depth(inner) + fuse_depth(outer) > EXPR_DEPTH_MAX) {
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

static uint32_t fuse_list_steps(const struct logic *n, const struct job_step **list, uint32_t count)
{
    const struct job_step *const one[1] = {n->step};
    const struct job_step *const *steps = n->fused > 0 ? n->fused_step : one;
    for (uint32_t i = 0; i < (n->fused > 0 ? n->fused : 1); i++) {
        bool is_new = steps[i]->kind == JOB_TRANSFORM;
        for (uint32_t k = 0; k < count; k++) {
            is_new = is_new && list[k] != steps[i];
        }
        if (is_new) {
            list[count++] = steps[i];
        }
    }
    return count;
}

/* The transforms in one calc are named together; what a source or sink adds is not worth a name. */
static void fuse_names(struct arena *a, const struct logic *inner, struct logic *outer)
{
    const struct job_step **list =
        arena_array(a, (size_t)inner->fused + outer->fused + 2, sizeof(struct job_step *));
    if (!list) {
        return;
    }
    uint32_t count = fuse_list_steps(inner, list, 0);
    count = fuse_list_steps(outer, list, count);
    if (count > 0) {
        outer->step = list[count - 1];
    } else if (outer->step->kind == JOB_SINK) {
        outer->step = inner->step;
    }
    outer->fused = count;
    outer->fused_step = list;
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

/* CURRENT_WATERMARK behind a union is that of all its inputs, in front of it that of one. */
/* NOLINTNEXTLINE(misc-no-recursion): at most EXPR_DEPTH_MAX */
static bool fuse_asks_watermark(const struct expr *e)
{
    bool asks = expr_is_call_of(e, "CURRENT_WATERMARK");
    for (uint32_t i = 0; e->kind == EXPR_CALL && i < e->args && !asks; i++) {
        asks = fuse_asks_watermark(e->arg[i]);
    }
    return asks;
}

static bool fuse_is_bound(const struct logic *n)
{
    bool is_bound = n->condition && fuse_asks_watermark(n->condition);
    for (uint32_t c = 0; c < n->out->fields && !is_bound; c++) {
        is_bound = fuse_asks_watermark(n->expr[c]);
    }
    return is_bound;
}

static bool fuse_may_split(struct arena *a, const struct logic *u, const struct logic *outer)
{
    bool may =
        outer->kind == LOGIC_CALC && !outer->is_gone && u->kind == LOGIC_UNION && u->readers == 1;
    for (uint32_t i = 0; i < u->inputs && may; i++) {
        may = fuse_is_pair(u->input[i], outer) && fuse_may(a, u->input[i], outer);
    }
    return may && !fuse_is_bound(outer);
}

/* A calc behind a union runs in front of it, once an input: rows that it drops cross no ring. */
static sr_rc fuse_split(struct logic_graph *g, struct logic *outer, struct sr_error *err)
{
    struct logic *u = outer->input[0];
    for (uint32_t i = 0; i < u->inputs; i++) {
        struct logic *in = u->input[i], *its_input[1] = {u}, one = *outer;
        one.input = its_input;
        one.expr = arena_copy(g->arena, outer->expr, outer->out->fields * sizeof(struct expr *));
        if (!one.expr) {
            return error_set(err, SR_ENOMEM, "planning: out of memory");
        }
        /* Then the work is the outer one's alone: whoever refuses a row took it from there. */
        bool is_named = in->fused > 0 || !logic_is_identity(in);
        sr_rc rc = fuse_two(g->arena, in, &one, err);
        if (rc != SR_OK) {
            return rc;
        }
        if (!is_named) {
            one.step = outer->step;
            one.fused = outer->fused;
            one.fused_step = outer->fused_step;
        }
        in->is_gone = false;
        in->expr = one.expr;
        in->condition = one.condition;
        in->out = outer->out;
        in->step = one.step;
        in->fused = one.fused;
        in->fused_step = one.fused_step;
    }
    u->out = outer->out;
    fuse_bypass(g, outer);
    return SR_OK;
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
    logic_count_readers(g);
    for (uint32_t i = 0; i < g->nodes; i++) {
        struct logic *n = g->node[i];
        while (n->inputs == 1 && fuse_may_split(g->arena, n->input[0], n)) {
            sr_rc rc = fuse_split(g, n, err);
            if (rc != SR_OK) {
                return rc;
            }
            logic_count_readers(g);
        }
    }
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
    return arena_is_broken(g->arena) ? error_set(err, SR_ENOMEM, "planning: out of memory") : SR_OK;
}
