/* Dead letters in a plan: their columns, and which vertices write any. */
#include "engine/plan/plan.h"

#define ASIDE_FIELD(text, type_kind, type_length)                                              \
    {                                                                                          \
        .name = text, .type = {.kind = type_kind, .is_nullable = true, .length = type_length } \
    }

static const struct sr_field aside_field[] = {
    [ASIDE_TIME] = ASIDE_FIELD("time", SR_TIMESTAMP_LTZ, 3),
    [ASIDE_STEP] = ASIDE_FIELD("step", SR_VARCHAR, SR_LENGTH_MAX),
    [ASIDE_SOURCE] = ASIDE_FIELD("source", SR_VARCHAR, SR_LENGTH_MAX),
    [ASIDE_SPLIT] = ASIDE_FIELD("split", SR_VARCHAR, SR_LENGTH_MAX),
    [ASIDE_OFFSET] = ASIDE_FIELD("offset", SR_BIGINT, 0),
    [ASIDE_LINE] = ASIDE_FIELD("line", SR_BIGINT, 0),
    [ASIDE_ERROR] = ASIDE_FIELD("error", SR_VARCHAR, SR_LENGTH_MAX),
    [ASIDE_RAW] = ASIDE_FIELD("raw", SR_VARCHAR, SR_LENGTH_MAX),
    [ASIDE_ATTEMPT] = ASIDE_FIELD("attempt", SR_BIGINT, 0)};

const struct sr_schema plan_aside_schema = {
    .fields = ASIDE_COLUMNS, .field = aside_field, .rowtime = -1};

bool plan_sets_aside(const struct plan *p, const struct plan_vertex *v)
{
    if (!p->dead_letter) return false;
    for (uint32_t i = 0; i < v->nodes; i++) {
        const struct plan_node *n = &p->node[v->node[i]];
        if (n->on_error == JOB_DEAD_LETTER || n->on_late == JOB_LATE_DEAD_LETTER) return true;
        /* A record that failed the job too often is set aside where it is read. */
        if (n->kind == PLAN_SOURCE && p->job->settings.poison_failures > 0) return true;
    }
    return false;
}

uint32_t plan_aside_writers(const struct plan *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->vertices; i++) {
        if (plan_sets_aside(p, &p->vertex[i])) count += p->vertex[i].parallelism;
    }
    return count;
}
