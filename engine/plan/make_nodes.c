/* The nodes of a plan: operators by name, their confs, uids and names for people. */
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/plan/make.h"

/* Inputs of a node while unions are taken apart. */
struct make_ways {
    const struct logic **item;
    uint32_t count, space;
};

static bool make_ways_add(struct arena *a, struct make_ways *w, const struct logic *n)
{
    const struct logic **grown =
        arena_more(a, w->item, w->count, &w->space, sizeof(struct logic *));
    if (grown) {
        w->item = grown;
        w->item[w->count++] = n;
    }
    return grown != NULL;
}

/* Inputs of n with unions taken apart: a union is nothing but several edges. */
static bool make_inputs(struct arena *a, const struct logic *n, struct make_ways *out)
{
    bool has_room = true;
    for (uint32_t i = 0; i < n->inputs && has_room; i++) {
        has_room = make_ways_add(a, out, n->input[i]);
    }
    for (uint32_t next = 0; next < out->count && has_room;) {
        const struct logic *in = out->item[next];
        if (in->kind != LOGIC_UNION) {
            next++;
            continue;
        }
        out->item[next] = in->input[0];
        for (uint32_t i = 1; i < in->inputs && has_room; i++) {
            has_room = make_ways_add(a, out, in->input[i]);
        }
    }
    return has_room;
}

static bool make_is_taken(const struct plan_node *node, uint32_t count, const char *uid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(node[i].uid, uid) == 0) {
            return true;
        }
    }
    return false;
}

/* State belongs to a source, an aggregate and a sink under the step's own uid: a step has one of
 * them; what a source's upserts become has a suffix. What has no state gets a name that is only
 * unique. */
static const char *make_uid(const struct logic_graph *g, const struct logic *n,
                            const struct plan_node *node, uint32_t count)
{
    const char *base = n->step->uid ? n->step->uid : n->step->name.text;
    bool is_upsert = n->kind == LOGIC_AGGREGATE && n->aggregate.is_upsert;
    if (n->kind != LOGIC_CALC && n->kind != LOGIC_WATERMARK && !is_upsert) {
        return base;
    }
    const char *suffix = is_upsert ? "normalize" : n->kind == LOGIC_CALC ? "calc" : "watermark";
    const char *uid = arena_printf(g->arena, "%s.%s", base, suffix);
    for (uint32_t i = 2; uid && make_is_taken(node, count, uid); i++) {
        uid = arena_printf(g->arena, "%s.%s-%u", base, suffix, i);
    }
    return uid;
}

static const char *make_op_name(const struct logic *n)
{
    switch (n->kind) {
    case LOGIC_WATERMARK:
        return "watermark";
    case LOGIC_CALC:
        return "calc";
    case LOGIC_AGGREGATE:
        if (n->aggregate.is_upsert) {
            return "normalize";
        }
        return n->aggregate.window == WINDOW_NONE ? "group-aggregate" : "window-aggregate";
    case LOGIC_SOURCE:
        return n->step->source->name;
    case LOGIC_SINK:
        return n->step->sink->name;
    case LOGIC_UNION:
        break;
    }
    return "union";
}

static const void *make_conf(const struct logic_graph *g, const struct logic *n)
{
    const char *zone = g->job->settings.time_zone;
    if (n->kind == LOGIC_CALC) {
        struct calc_step s = {n->condition, n->expr, n->out->fields, zone};
        return arena_copy(g->arena, &s, sizeof(s));
    }
    if (n->kind == LOGIC_WATERMARK) {
        struct watermark_step s = {n->at, zone};
        return arena_copy(g->arena, &s, sizeof(s));
    }
    struct aggregate_step s = n->aggregate;
    s.time_zone = zone;
    return arena_copy(g->arena, &s, sizeof(s));
}

static sr_rc make_op(const struct logic_graph *g, struct registry *registry, const struct logic *n,
                     struct plan_node *out, struct sr_error *err)
{
    const char *name = make_op_name(n);
    out->kind = PLAN_OP;
    out->op = registry_op(registry, name);
    out->op_conf = make_conf(g, n);
    if (!out->op) {
        return error_set(err, SR_ECONFIG, "step '%s' needs operator '%s', which is not there",
                         n->step->name.text, name);
    }
    return SR_OK;
}

static void make_source(const struct logic *n, const struct settings *settings,
                        struct plan_node *out)
{
    out->kind = PLAN_SOURCE;
    out->source = n->step->source;
    out->conf = n->step->conf;
    out->source_caps = n->source_caps;
    out->read = n->out;
    out->brought = n->brought ? n->brought : n->out;
    out->valued = n->valued ? n->valued : out->brought;
    out->keyed = n->keyed;
    out->metadata = n->metadata;
    out->metadatas = n->metadatas;
    out->format_metadata = n->format_metadata;
    out->format_metadatas = n->format_metadatas;
    out->wanted = n->wanted;
    out->format = n->source_caps.makes_rows ? NULL : n->step->format;
    out->format_conf = n->source_caps.makes_rows ? NULL : n->step->format_conf;
    out->format_flags = n->format_flags;
    out->rate_limit = n->step->rate_limit;
    sr_duration idle = n->step->idle_timeout, period = settings->auto_watermark;
    out->idle_timeout_us = idle.us >= 0 ? idle.us : settings->source_idle.us;
    if (n->step->is_periodic) {
        out->watermark_period_us = period.us > 0 ? period.us : INT64_MAX;
    }
}

static void make_sink(const struct logic *n, struct plan_node *out)
{
    out->kind = PLAN_SINK;
    out->sink = n->step->sink;
    out->conf = n->step->conf;
    out->sink_caps = n->sink_caps;
    out->keyed = n->keyed;
    out->is_updating = n->is_updating;
    out->format = n->sink_caps.makes_rows ? NULL : n->step->format;
    out->format_conf = n->sink_caps.makes_rows ? NULL : n->step->format_conf;
    out->format_flags = n->format_flags;
}

static sr_rc make_node(const struct logic_graph *g, struct registry *registry,
                       const struct logic *n, struct plan_node *out, struct sr_error *err)
{
    out->step = logic_steps(g->arena, n);
    out->name = n->kind == LOGIC_SOURCE || n->kind == LOGIC_SINK
                    ? arena_printf(g->arena, "%s: %s %s", out->step,
                                   n->kind == LOGIC_SOURCE ? "source" : "sink", make_op_name(n))
                    : arena_printf(g->arena, "%s: %s", out->step, make_op_name(n));
    out->out = n->out;
    out->on_error = n->on_error;
    out->on_late = n->on_late;
    out->stamp = -1;
    switch (n->kind) {
    case LOGIC_SOURCE:
        make_source(n, &g->job->settings, out);
        return SR_OK;
    case LOGIC_SINK:
        make_sink(n, out);
        return SR_OK;
    case LOGIC_WATERMARK:
    case LOGIC_CALC:
    case LOGIC_AGGREGATE:
        return make_op(g, registry, n, out, err);
    case LOGIC_UNION:
        break;
    }
    return error_set(err, SR_ECONFIG, "a union is no operator");
}

/* The watermark operator of n's source is told to the source. */
static void make_stamp(struct plan_node *node, uint32_t i)
{
    uint32_t k = i;
    while (node[k].kind != PLAN_SOURCE) {
        sr_assert(node[k].inputs == 1);
        k = node[k].input[0];
    }
    node[k].stamp = (int32_t)i;
}

static bool make_link(const struct logic_graph *g, const struct logic *n, const uint32_t *at,
                      struct plan_node *out)
{
    struct make_ways in = {.count = 0};
    uint32_t *input = NULL;
    if (make_inputs(g->arena, n, &in)) {
        input = arena_array(g->arena, in.count ? in.count : 1, sizeof(*input));
    }
    for (uint32_t i = 0; input && i < in.count; i++) {
        sr_assert(at[in.item[i]->number] != UINT32_MAX);
        input[i] = at[in.item[i]->number];
    }
    out->input = input;
    out->inputs = input ? in.count : 0;
    return input != NULL;
}

sr_rc make_nodes(const struct logic_graph *g, struct registry *registry, struct plan *p,
                 uint32_t *at, struct sr_error *err)
{
    struct plan_node *node = arena_array(g->arena, g->nodes ? g->nodes : 1, sizeof(*node));
    uint32_t count = 0, edges = 0;
    for (uint32_t i = 0; node && i < g->nodes; i++) {
        const struct logic *n = g->node[i];
        at[i] = UINT32_MAX;
        if (n->is_gone || n->kind == LOGIC_UNION) {
            continue;
        }
        struct plan_node *out = &node[count];
        out->uid = make_uid(g, n, node, count);
        sr_rc rc = make_node(g, registry, n, out, err);
        if (rc != SR_OK) {
            return rc;
        }
        if (!out->uid || !make_link(g, n, at, out)) {
            break;
        }
        edges += out->inputs;
        if (edges > LOGIC_WAYS_MAX) {
            return error_set(err, SR_ECONFIG,
                             "the job has more than %u edges once unions are taken apart",
                             LOGIC_WAYS_MAX);
        }
        at[i] = count++;
        if (n->kind == LOGIC_WATERMARK) {
            make_stamp(node, at[i]);
        }
    }
    if (arena_is_broken(g->arena)) {
        return error_set(err, SR_ENOMEM, "planning: out of memory");
    }
    p->node = node;
    p->nodes = count;
    return SR_OK;
}
