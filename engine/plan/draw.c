/* The plan as a drawing for people. */
#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"
#include "engine/data/schema.h"
#include "engine/expr/steps.h"
#include "engine/plan/plan.h"

#define DRAW_LINE_MAX 160u /* bytes of what one node does */

/* Appends printf-wise; out of memory shows at the end. */
static void SR_PRINTF(2, 3) draw(struct sr_out *o, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    if (n > 0) {
        (void)bytes_put(o, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
    }
}

/* The text so far, in the arena; frees o. */
static const char *draw_done(struct arena *a, struct sr_out *o)
{
    const char *text = arena_text_n(a, o->data ? (const char *)o->data : "", o->len);
    bytes_free(o);
    return text;
}

static void draw_columns(struct sr_out *o, const struct sr_schema *s, const uint32_t *column,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        draw(o, "%s%s", i > 0 ? ", " : "", s->field[column[i]].name);
    }
}

static void draw_source(struct sr_out *o, const struct plan_node *n)
{
    uint32_t wanted = 0;
    for (uint32_t c = 0; c < n->read->fields; c++) {
        wanted += n->wanted[c];
    }
    if (n->format) {
        draw(o, "%s; ", n->format->name);
    }
    if (wanted == n->read->fields) {
        draw(o, wanted == 1 ? "1 column" : "all %u columns", wanted);
        return;
    }
    draw(o, "%u of %u columns%s", wanted, n->read->fields, wanted > 0 ? ": " : "");
    const char *comma = "";
    for (uint32_t c = 0; c < n->read->fields; c++) {
        if (n->wanted[c]) {
            draw(o, "%s%s", comma, n->read->field[c].name);
            comma = ", ";
        }
    }
}

static void draw_calc(struct sr_out *o, struct arena *a, const struct calc_step *s,
                      const struct sr_schema *in, const struct sr_schema *out)
{
    if (s->condition) {
        draw(o, "WHERE %s; ", expr_text(a, s->condition, in));
    }
    for (uint32_t c = 0; c < s->outs; c++) {
        const char *text = expr_text(a, s->out[c], in), *name = out->field[c].name;
        bool is_plain =
            s->out[c]->kind == EXPR_COLUMN && strcmp(in->field[s->out[c]->column].name, name) == 0;
        draw(o, "%s%s%s%s", c > 0 ? ", " : "", text, is_plain ? "" : " AS ", is_plain ? "" : name);
    }
}

/* In the largest unit that fits without a rest. */
static void draw_duration(struct sr_out *o, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "min"}, {1000, "s"}, {1, "ms"}};
    size_t i = 0;
    while (ms % units[i].ms != 0) {
        i++;
    }
    draw(o, "%lld %s", (long long)(ms / units[i].ms), units[i].unit);
}

static void draw_window(struct sr_out *o, const struct aggregate_step *s,
                        const struct sr_schema *in)
{
    static const char *const names[] = {[WINDOW_NONE] = "",
                                        [WINDOW_TUMBLE] = "TUMBLE",
                                        [WINDOW_HOP] = "HOP",
                                        [WINDOW_CUMULATE] = "CUMULATE",
                                        [WINDOW_SESSION] = "SESSION"};
    if (s->window == WINDOW_NONE) {
        return;
    }
    draw(o, "%s(%s, ", names[s->window], in->field[s->time_column].name);
    if (s->window == WINDOW_HOP || s->window == WINDOW_CUMULATE) {
        draw_duration(o, s->slide_ms);
        draw(o, ", ");
    }
    draw_duration(o, s->size_ms);
    if (s->offset_ms != 0) {
        draw(o, ", ");
        draw_duration(o, s->offset_ms);
    }
    draw(o, ")");
}

static void draw_aggregate(struct sr_out *o, struct arena *a, const struct aggregate_step *s,
                           const struct sr_schema *in)
{
    static const char *const names[] = {[AGG_COUNT] = "COUNT",
                                        [AGG_SUM] = "SUM",
                                        [AGG_MIN] = "MIN",
                                        [AGG_MAX] = "MAX",
                                        [AGG_AVG] = "AVG"};
    draw_window(o, s, in);
    if (s->keys > 0) {
        draw(o, "%s%sby ", s->is_upsert ? "the last row " : "",
             s->window != WINDOW_NONE ? " " : "");
        draw_columns(o, in, s->key, s->keys);
    }
    for (uint32_t i = 0; i < s->aggs && !s->is_upsert; i++) {
        const struct agg *g = &s->agg[i];
        draw(o, "%s%s(%s%s)",
             i > 0                        ? ", "
             : (s->keys > 0 || s->window) ? ": "
                                          : "",
             names[g->kind], g->is_distinct ? "DISTINCT " : "",
             g->arg ? expr_text(a, g->arg, in) : "*");
        if (g->filter) {
            draw(o, " FILTER (WHERE %s)", expr_text(a, g->filter, in));
        }
    }
}

/* What an operator does with the rows of its input. */
static void draw_op(struct sr_out *o, struct arena *a, const struct plan *p,
                    const struct plan_node *n)
{
    sr_assert(n->inputs > 0);
    const struct sr_schema *in = p->node[n->input[0]].out;
    if (strcmp(n->op->name, "calc") == 0) {
        draw_calc(o, a, n->op_conf, in, n->out);
    } else if (strcmp(n->op->name, "watermark") == 0) {
        draw(o, "%s", expr_text(a, ((const struct watermark_step *)n->op_conf)->at, in));
    } else if (n->op->is_keyed) {
        draw_aggregate(o, a, n->op_conf, in);
    }
}

const char *plan_node_text(struct arena *a, const struct plan *p, uint32_t node)
{
    const struct plan_node *n = &p->node[node];
    struct sr_out o = bytes_out();
    if (n->kind == PLAN_SOURCE) {
        draw_source(&o, n);
    } else if (n->kind == PLAN_SINK) {
        draw(&o, "%s%s%s", n->format ? n->format->name : "", n->format ? "; " : "",
             plan_guarantee_words(n->guarantee));
    } else {
        draw_op(&o, a, p, n);
    }
    if (o.len > DRAW_LINE_MAX) {
        o.len = DRAW_LINE_MAX;
        while (o.len > 0 && (o.data[o.len] & 0xc0) == 0x80) {
            o.len--; /* not inside a character */
        }
        draw(&o, " ...");
    }
    return draw_done(a, &o);
}

static void draw_ship(struct sr_out *o, const struct plan *p, const struct plan_edge *e)
{
    switch (e->ship) {
    case SHIP_FORWARD:
        draw(o, "forward");
        break;
    case SHIP_HASH:
        draw(o, "hash(");
        draw_columns(o, p->node[e->from_node].out, e->key, e->keys);
        draw(o, ")");
        break;
    case SHIP_REBALANCE:
        draw(o, p->vertex[e->to].parallelism == 1 ? "gather" : "rebalance");
        break;
    }
}

static size_t draw_width(const struct plan *p)
{
    size_t width = 0;
    for (uint32_t n = 0; n < p->nodes; n++) {
        size_t len = strlen(p->node[n].name);
        width = len > width ? len : width;
    }
    return width < 40 ? width : 40;
}

static void draw_vertex(struct sr_out *o, struct arena *a, const struct plan *p, uint32_t vertex)
{
    const struct plan_vertex *v = &p->vertex[vertex];
    int width = (int)draw_width(p);
    for (uint32_t i = 0; i < v->nodes; i++) {
        const char *text = plan_node_text(a, p, v->node[i]);
        if (i == 0) {
            draw(o, "[%u] x%u  ", vertex + 1, v->parallelism);
        } else {
            draw(o, "     |   ");
        }
        draw(o, text && text[0] ? "%-*s  " : "%-*s", text && text[0] ? width : 0,
             p->node[v->node[i]].name);
        (void)bytes_put(o, text ? text : "", text ? strlen(text) : 0);
        draw(o, "\n");
    }
    for (uint32_t i = 0; i < v->outs; i++) {
        const struct plan_edge *e = &p->edge[v->out[i]];
        draw(o, "     '-> [%u] ", e->to + 1);
        draw_ship(o, p, e);
        draw(o, "\n");
    }
}

const char *plan_text(struct arena *a, const struct plan *p)
{
    struct sr_out o = bytes_out();
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < p->vertices; i++) {
        tasks += p->vertex[i].parallelism;
    }
    draw(&o, "%s: %s, %u task%s\n\n", p->job->name ? p->job->name : "job",
         p->is_bounded ? "bounded" : "unbounded", tasks, tasks == 1 ? "" : "s");
    for (uint32_t i = 0; i < p->vertices; i++) {
        draw_vertex(&o, a, p, i);
    }
    const struct plan_path *path = NULL;
    uint32_t paths = plan_paths(a, p, &path);
    draw(&o, "\n");
    for (uint32_t i = 0; i < paths; i++) {
        draw(&o, "%s -> %s: %s%s%s\n", p->node[path[i].source_node].step,
             p->node[path[i].sink_node].step, plan_path_words(&path[i]),
             path[i].weakest ? ": " : "", path[i].weakest ? path[i].weakest : "");
    }
    return draw_done(a, &o);
}

/* A label of dot: quotes and backslashes escaped. */
static void draw_label(struct sr_out *o, const char *text)
{
    for (const char *c = text ? text : ""; *c; c++) {
        if (*c == '"' || *c == '\\') {
            draw(o, "\\");
        }
        draw(o, "%c", *c == '\n' ? ' ' : *c);
    }
}

const char *plan_dot(struct arena *a, const struct plan *p)
{
    struct sr_out o = bytes_out();
    draw(&o, "digraph \"");
    draw_label(&o, p->job->name);
    draw(&o, "\" {\n  node [shape=box];\n");
    for (uint32_t i = 0; i < p->vertices; i++) {
        const struct plan_vertex *v = &p->vertex[i];
        draw(&o, "  v%u [label=\"", i + 1);
        for (uint32_t k = 0; k < v->nodes; k++) {
            draw_label(&o, p->node[v->node[k]].name);
            draw(&o, "\\n");
        }
        draw(&o, "x%u\"];\n", v->parallelism);
    }
    for (uint32_t i = 0; i < p->edges; i++) {
        const struct plan_edge *e = &p->edge[i];
        struct sr_out ship = bytes_out();
        draw_ship(&ship, p, e);
        draw(&o, "  v%u -> v%u [label=\"", e->from + 1, e->to + 1);
        draw_label(&o, draw_done(a, &ship));
        draw(&o, "\"];\n");
    }
    draw(&o, "}\n");
    return draw_done(a, &o);
}
