/* Parallelism: how many subtasks each node has. */
#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/plan/logic.h"

static uint32_t place_at_most(uint32_t n, uint32_t max) { return max > 0 && n > max ? max : n; }

static uint32_t place_written(const struct logic_graph *g, const struct job_step *step)
{
    int64_t n = step->parallelism > 0 ? step->parallelism : g->job->settings.parallelism;
    return n > 0 ? (uint32_t)n : 1;
}

/* Changes of one row must stay in order, so an updating result is only split by its key. */
static sr_rc place_sink(struct logic_graph *g, struct logic *n, struct sr_error *err)
{
    n->parallelism = place_at_most(place_written(g, n->step), n->sink_caps.parts_max);
    const struct logic *in = n->input[0];
    bool is_ordered = !in->is_updating || n->parallelism == 1 || n->out->keys > 0 ||
                      n->parallelism == in->parallelism;
    if (is_ordered) {
        return SR_OK;
    }
    if (n->step->parallelism <= 0) {
        n->parallelism = place_at_most(in->parallelism, n->sink_caps.parts_max);
        if (n->parallelism == in->parallelism) {
            return SR_OK;
        }
    }
    g->culprit = n->step;
    return error_set(err, SR_ECONFIG,
                     "sink '%s' takes updating results with parallelism %u behind parallelism %u: "
                     "changes of one row could overtake each other; write primary-key or the same "
                     "parallelism",
                     n->step->name.text, n->parallelism, in->parallelism);
}

/* Where inputs differ, rows of one would be dealt out to several subtasks, in which changes of one
 * row overtake each other: what updates is gathered. */
static uint32_t place_union(const struct logic *n)
{
    uint32_t parallelism = n->input[0]->parallelism;
    for (uint32_t i = 1; i < n->inputs && n->is_updating; i++) {
        parallelism = n->input[i]->parallelism == parallelism ? parallelism : 1;
    }
    return parallelism;
}

static sr_rc place_one(struct logic_graph *g, struct logic *n, struct sr_error *err)
{
    switch (n->kind) {
    case LOGIC_SOURCE:
        n->parallelism = place_at_most(place_written(g, n->step), n->source_caps.parts_max);
        break;
    case LOGIC_AGGREGATE:
        n->parallelism = n->aggregate.keys > 0 ? place_written(g, n->step) : 1;
        break;
    case LOGIC_SINK:
        return place_sink(g, n, err);
    case LOGIC_UNION:
        n->parallelism = place_union(n);
        break;
    case LOGIC_CALC:
    case LOGIC_WATERMARK: {
        bool is_bound = n->step->kind == JOB_SOURCE || n->step->kind == JOB_SINK ||
                        n->is_updating || n->input[0]->kind == LOGIC_AGGREGATE;
        n->parallelism = is_bound ? n->input[0]->parallelism : place_written(g, n->step);
        break;
    }
    }
    return SR_OK;
}

sr_rc logic_place(struct logic_graph *g, struct sr_error *err)
{
    for (uint32_t i = 0; i < g->nodes; i++) {
        struct logic *n = g->node[i];
        sr_rc rc = place_one(g, n, err);
        if (rc != SR_OK) {
            return rc;
        }
        int64_t max = g->job->settings.max_parallelism;
        if (max > 0 && n->parallelism > max) {
            g->culprit = n->step;
            return error_set(
                err, SR_ECONFIG,
                "step '%s' has parallelism %u, more than pipeline.max-parallelism %lld",
                n->step->name.text, n->parallelism, (long long)max);
        }
        sr_assert(n->parallelism > 0);
    }
    return SR_OK;
}
