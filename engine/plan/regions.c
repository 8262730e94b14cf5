/* Parts of a plan that fail and restart on their own. */
#include "engine/plan/plan.h"

/* Two regions become one, under the lower number: that of its first vertex. */
static void regions_join(const struct plan *p, uint32_t *region, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    for (uint32_t i = 0; i < p->vertices; i++) {
        if (region[i] == high) region[i] = low;
    }
}

/* All vertices of which `is_of` says so become one region. */
static void regions_join_all(const struct plan *p, uint32_t *region,
                             bool (*is_of)(const struct plan *p, const struct plan_vertex *v))
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < p->vertices; i++) {
        if (!is_of(p, &p->vertex[i])) continue;
        if (first == UINT32_MAX) first = i;
        regions_join(p, region, region[first], region[i]);
    }
}

uint32_t plan_regions(const struct plan *p, uint32_t *region)
{
    bool is_one = p->job->settings.failover.index == FAILOVER_FULL;
    for (uint32_t i = 0; i < p->vertices; i++) {
        region[i] = is_one ? 0 : i;
    }
    for (uint32_t i = 0; i < p->edges; i++) {
        regions_join(p, region, region[p->edge[i].from], region[p->edge[i].to]);
    }
    regions_join_all(p, region, plan_sets_aside);
    regions_join_all(p, region, plan_has_decider);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->vertices; i++) {
        region[i] = region[i] == i ? count++ : region[region[i]];
    }
    return count;
}
