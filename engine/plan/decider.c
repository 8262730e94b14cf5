/* The sinks of a plan whose target decides about checkpoints. */
#include "engine/plan/plan.h"

bool plan_is_decided(const struct plan_node *n)
{
    return n->kind == PLAN_SINK && n->guarantee == SR_EXACTLY_ONCE &&
           n->sink_caps.decider != NULL && n->sink->decider != NULL;
}

const struct plan_node *plan_decider(const struct plan *p)
{
    for (uint32_t i = 0; i < p->nodes; i++) {
        if (plan_is_decided(&p->node[i])) return &p->node[i];
    }
    bool has_letters = p->dead_letter && plan_is_decided(&p->dead_letter->node);
    return has_letters ? &p->dead_letter->node : NULL;
}

bool plan_has_decider(const struct plan *p, const struct plan_vertex *v)
{
    if (plan_is_decided(&p->node[v->node[v->nodes - 1]])) return true;
    return p->dead_letter && plan_is_decided(&p->dead_letter->node) && plan_sets_aside(p, v);
}
