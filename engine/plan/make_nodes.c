/* The nodes of a plan: operators by name, their confs, uids and names for people. */
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/plan/make.h"

/* Inputs of n with unions taken apart: a union is nothing but several edges. */
static uint32_t make_inputs(const struct logic_graph *g, const struct logic *n,
                            const struct logic **out, uint32_t room)
{
    uint32_t count = 0, next = 0;
    for (uint32_t i = 0; i < n->inputs && count < room; i++) {
        out[count++] = n->input[i];
    }
    while (next < count) {
        const struct logic *in = out[next];
        if (in->kind != LOGIC_UNION) {
            next++;
            continue;
        }
        out[next] = in->input[0];
        for (uint32_t i = 1; i < in->inputs && count < room; i++) {
            out[count++] = in->input[i];
        }
        sr_assert(count <= g->nodes);
    }
    return count;
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
    const struct logic **in = arena_array(g->arena, (size_t)g->nodes + 1, sizeof(struct logic *));
    uint32_t count = in ? make_inputs(g, n, in, g->nodes) : 0;
    uint32_t *input = arena_array(g->arena, count ? count : 1, sizeof(*input));
    for (uint32_t i = 0; input && i < count; i++) {
        sr_assert(at[in[i]->number] != UINT32_MAX);
        input[i] = at[in[i]->number];
    }
    out->input = input;
    out->inputs = count;
    return input != NULL;
}

sr_rc make_nodes(const struct logic_graph *g, struct registry *registry, struct plan *p,
                 uint32_t *at, struct sr_error *err)
{
    struct plan_node *node = arena_array(g->arena, g->nodes ? g->nodes : 1, sizeof(*node));
    uint32_t count = 0;
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
