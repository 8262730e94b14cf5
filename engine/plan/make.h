/* From the logical graph to the plan: rewrites, nodes, edges, chains. */
#ifndef SR_PLAN_MAKE_H
#define SR_PLAN_MAKE_H

#include "engine/plan/logic.h"
#include "engine/plan/plan.h"
#include "engine/plug/registry.h"

/* Rewrites g, which is used up, and makes the plan in its arena. SR_ECONFIG: something cannot be
 * run as asked; err says what. */
sr_rc plan_make(struct logic_graph *g, struct registry *registry, const struct plan **out,
                struct sr_error *err);

/* make_nodes.c: p->node from the live nodes of g; at[logic number] is its plan node, or
 * UINT32_MAX. */
sr_rc make_nodes(const struct logic_graph *g, struct registry *registry, struct plan *p,
                 uint32_t *at, struct sr_error *err);
/* make_chains.c: vertices and edges over p->node; parallelism[node] is decided. */
sr_rc make_chains(struct arena *a, struct plan *p, struct plan_node *node,
                  const uint32_t *parallelism, struct sr_error *err);

#endif
