#include "engine/plan/make.h"

#include "engine/base/assert.h"
#include "engine/base/error.h"

/* What each sink's rows have: the weakest of its paths, or less where the job asks for less. */
static void make_guarantees(const struct plan *p, struct plan_node *node,
                            const struct logic_graph *g, const uint32_t *at)
{
    const struct plan_path *path = NULL;
    uint32_t paths = plan_paths(g->arena, p, &path);
    for (uint32_t n = 0; n < p->nodes; n++) {
        if (node[n].kind == PLAN_SINK) {
            node[n].guarantee = SR_EXACTLY_ONCE;
        }
    }
    for (uint32_t i = 0; i < paths; i++) {
        struct plan_node *sink = &node[path[i].sink_node];
        if (path[i].guarantee < sink->guarantee) {
            sink->guarantee = path[i].guarantee;
        }
    }
    for (uint32_t i = 0; i < g->nodes; i++) {
        const struct job_step *step = g->node[i]->step;
        bool is_written = g->node[i]->kind == LOGIC_SINK && step->guarantee != SR_NO_GUARANTEE;
        if (is_written && step->guarantee < node[at[i]].guarantee) {
            node[at[i]].guarantee = step->guarantee;
        }
    }
}

static bool make_is_bounded(const struct plan *p)
{
    for (uint32_t n = 0; n < p->nodes; n++) {
        if (p->node[n].kind == PLAN_SOURCE && !p->node[n].source_caps.is_bounded) {
            return false;
        }
    }
    return true;
}

/* By plan node, from the logical node that it was made of. */
static uint32_t *make_parallelism(const struct logic_graph *g, const struct plan *p,
                                  const uint32_t *at)
{
    uint32_t *parallelism = arena_array(g->arena, (size_t)p->nodes + 1, sizeof(*parallelism));
    for (uint32_t i = 0; parallelism && i < g->nodes; i++) {
        if (at[i] != UINT32_MAX) {
            parallelism[at[i]] = g->node[i]->parallelism;
        }
    }
    return parallelism;
}

static sr_rc make_rewrite(struct logic_graph *g, struct sr_error *err)
{
    sr_rc rc = logic_prune(g, err);
    rc = rc == SR_OK ? logic_place(g, err) : rc;
    return rc == SR_OK ? logic_fuse(g, err) : rc;
}

sr_rc plan_make(struct logic_graph *g, struct registry *registry, const struct plan **out,
                struct sr_error *err)
{
    struct plan *p = arena_get(g->arena, sizeof(*p));
    uint32_t *at = arena_array(g->arena, (size_t)g->nodes + 1, sizeof(*at));
    if (!p || !at) {
        return error_set(err, SR_ENOMEM, "planning: out of memory");
    }
    int64_t max = g->job->settings.max_parallelism;
    *p = (struct plan){.job = g->job,
                       .dead_letter = g->dead_letter,
                       .max_parallelism = max > 0 ? (uint32_t)max : 128};
    sr_rc rc = make_rewrite(g, err);
    rc = rc == SR_OK ? make_nodes(g, registry, p, at, err) : rc;
    if (rc != SR_OK) {
        return rc;
    }
    const uint32_t *parallelism = make_parallelism(g, p, at);
    struct plan_node *node = arena_copy(g->arena, p->node, p->nodes * sizeof(*node));
    if (!parallelism || !node) {
        return error_set(err, SR_ENOMEM, "planning: out of memory");
    }
    p->node = node;
    rc = make_chains(g->arena, p, node, parallelism, err);
    if (rc != SR_OK) {
        return rc;
    }
    p->is_bounded = make_is_bounded(p);
    make_guarantees(p, node, g, at);
    if (arena_is_broken(g->arena)) {
        return error_set(err, SR_ENOMEM, "planning: out of memory");
    }
    *out = p;
    return SR_OK;
}
