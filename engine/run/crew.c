#include "engine/run/crew.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/run/loaders.h"
#include "engine/run/restore.h"

/* --- Wiring ----------------------------------------------------------------------------------- */

/* Rings of an edge: one a pair of subtasks that talk. */
static uint32_t crew_edge_rings(const struct plan *p, const struct plan_edge *e)
{
    uint32_t from = p->vertex[e->from].parallelism;
    if (e->ship == SHIP_FORWARD) return from;
    return from * p->vertex[e->to].parallelism;
}

static uint32_t crew_edge_lanes(const struct plan *p, const struct plan_edge *e)
{
    return e->ship == SHIP_FORWARD ? 1 : p->vertex[e->to].parallelism;
}

static uint32_t crew_edge_inputs(const struct plan *p, const struct plan_edge *e)
{
    return e->ship == SHIP_FORWARD ? 1 : p->vertex[e->from].parallelism;
}

static sr_rc crew_make_gate(struct crew *c, struct task *t, const struct plan_vertex *v,
                            bool is_at_least_once, struct sr_error *err)
{
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < v->ins; i++) {
        const struct plan_edge *e = &c->plan->edge[v->in[i]];
        sr_assert(e->to_node == v->node[0]); /* a chain has one way in */
        inputs += crew_edge_inputs(c->plan, e);
    }
    sr_rc rc = gate_init(&t->gate, inputs, err);
    if (rc != SR_OK) return rc;
    t->gate.is_at_least_once = is_at_least_once;
    uint32_t k = 0;
    for (uint32_t i = 0; i < v->ins; i++) {
        const struct plan_edge *e = &c->plan->edge[v->in[i]];
        for (uint32_t n = crew_edge_inputs(c->plan, e); n > 0; n--) {
            t->gate.input[k].port = e->to_port;
            t->gate.input[k++].from_node = e->from_node;
        }
    }
    return SR_OK;
}

static sr_rc crew_make_outlet(struct crew *c, struct task *t, const struct plan_vertex *v,
                              struct sr_error *err)
{
    uint32_t *lanes = calloc(v->outs, sizeof(*lanes));
    if (!lanes) return error_set(err, SR_ENOMEM, "%s: out of memory", v->name);
    for (uint32_t i = 0; i < v->outs; i++) {
        lanes[i] = crew_edge_lanes(c->plan, &c->plan->edge[v->out[i]]);
    }
    sr_rc rc = outlet_init(&t->outlet, v->outs, lanes, err);
    free(lanes);
    if (rc != SR_OK) return rc;
    t->outlet.max_parallelism = c->plan->max_parallelism;
    for (uint32_t i = 0; i < v->outs; i++) {
        t->outlet.edge[i].edge = &c->plan->edge[v->out[i]];
    }
    return SR_OK;
}

/* Gates and outlets of a region, or of all. */
static sr_rc crew_make_tasks(struct crew *c, uint32_t region, bool is_at_least_once,
                             struct sr_error *err)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        if (!crew_is_of(c, i, region)) continue;
        struct task *t = &c->task[i];
        const struct plan_vertex *v = &c->plan->vertex[t->vertex_index];
        enum plan_node_kind head = c->plan->node[v->node[0]].kind;
        enum plan_node_kind tail = c->plan->node[v->node[v->nodes - 1]].kind;
        sr_rc rc = SR_OK;
        if (head != PLAN_SOURCE) rc = crew_make_gate(c, t, v, is_at_least_once, err);
        if (rc == SR_OK && tail != PLAN_SINK) rc = crew_make_outlet(c, t, v, err);
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

/* Ring between lane `lane` of the edge in subtask `from` and the gate of subtask `to`. */
struct crew_wire {
    uint32_t edge;
    uint32_t from, to, lane;
};

static void crew_wire(struct crew *c, const struct crew_wire *w, struct ring *ring)
{
    const struct plan_edge *e = &c->plan->edge[w->edge];
    struct task *from = &c->task[c->first[e->from] + w->from];
    struct task *to = &c->task[c->first[e->to] + w->to];
    for (uint32_t i = 0, lane = 0; i < from->outlet.edges; i++) {
        if (from->outlet.edge[i].edge == e) from->outlet.lane[lane + w->lane].ring = ring;
        lane += from->outlet.edge[i].lanes;
    }
    const struct plan_vertex *v = &c->plan->vertex[e->to];
    for (uint32_t i = 0, input = 0; i < v->ins; i++) {
        const struct plan_edge *in = &c->plan->edge[v->in[i]];
        uint32_t at = in->ship == SHIP_FORWARD ? 0 : w->from;
        if (in == e) to->gate.input[input + at].ring = ring;
        input += crew_edge_inputs(c->plan, in);
    }
    ring->writer_task = from->index;
    ring->reader_task = to->index;
}

static void crew_wire_all(struct crew *c, uint32_t region)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < c->plan->edges; i++) {
        const struct plan_edge *e = &c->plan->edge[i];
        bool is_of = crew_is_of(c, c->first[e->from], region);
        uint32_t lanes = crew_edge_lanes(c->plan, e);
        for (uint32_t from = 0; from < c->plan->vertex[e->from].parallelism; from++) {
            for (uint32_t lane = 0; lane < lanes; lane++, k++) {
                uint32_t to = e->ship == SHIP_FORWARD ? from : lane;
                struct crew_wire w = {.edge = i, .from = from, .to = to, .lane = lane};
                if (is_of) crew_wire(c, &w, &c->ring[k]);
            }
        }
    }
    sr_assert(k == c->rings);
}

/* Numbers of tasks, vertices and regions, which stay. */
static void crew_number(struct crew *c)
{
    const struct plan *p = c->plan;
    for (uint32_t i = 0; i < p->vertices; i++) {
        const struct plan_vertex *v = &p->vertex[i];
        bool has_source = p->node[v->node[0]].kind == PLAN_SOURCE;
        bool has_sink = p->node[v->node[v->nodes - 1]].kind == PLAN_SINK;
        for (uint32_t part = 0; part < v->parallelism; part++) {
            struct task *t = &c->task[c->first[i] + part];
            t->index = c->first[i] + part;
            t->vertex_index = i;
        }
        c->region[c->region_of[i]].tasks += v->parallelism;
        if (has_source) c->sources += v->parallelism;
        if (has_sink || plan_sets_aside(p, v)) c->sinks += v->parallelism;
    }
}

static sr_rc crew_take_memory(struct crew *c, uint32_t tasks, struct sr_error *err)
{
    const struct plan *p = c->plan;
    size_t ring_bytes = (c->rings ? c->rings : 1) * sizeof(*c->ring);
    c->task = calloc(tasks, sizeof(*c->task));
    c->told = calloc(tasks, sizeof(*c->told));
    c->ring = aligned_alloc(alignof(struct ring), ring_bytes);
    c->region_of = calloc(p->vertices, sizeof(*c->region_of));
    c->region = calloc(p->vertices, sizeof(*c->region));
    c->pool = calloc(p->nodes, sizeof(struct splits *));
    if (!c->task || !c->told || !c->ring || !c->region_of || !c->region || !c->pool) {
        return error_set(err, SR_ENOMEM, "out of memory for %u tasks and %u rings", tasks,
                         c->rings);
    }
    memset(c->ring, 0, ring_bytes);
    return SR_OK;
}

sr_rc crew_new(struct crew **out, const struct plan *p, const struct env *env, struct sr_error *err)
{
    struct crew *c = calloc(1, sizeof(*c));
    if (!c) return error_set(err, SR_ENOMEM, "out of memory");
    c->plan = p;
    c->env = env;
    uint32_t tasks = 0;
    sr_rc rc = reports_init(&c->reports, err);
    if (rc == SR_OK) rc = saver_init(&c->saver, env, &c->reports, err);
    if (rc != SR_OK) goto out;
    c->first = calloc(p->vertices, sizeof(*c->first));
    if (!c->first) {
        rc = error_set(err, SR_ENOMEM, "out of memory");
        goto out;
    }
    for (uint32_t i = 0; i < p->vertices; i++) {
        c->first[i] = tasks;
        tasks += p->vertex[i].parallelism;
    }
    for (uint32_t i = 0; i < p->edges; i++) {
        c->rings += crew_edge_rings(p, &p->edge[i]);
    }
    rc = crew_take_memory(c, tasks, err);
    if (rc != SR_OK) goto out;
    c->tasks = tasks;
    c->regions = plan_regions(p, c->region_of);
    crew_number(c);
    *out = c;
out:
    if (rc != SR_OK) crew_free(c);
    return rc;
}

bool crew_is_of(const struct crew *c, uint32_t task, uint32_t region)
{
    return region == CREW_ALL || c->region_of[c->task[task].vertex_index] == region;
}

/* What lies in a ring when an attempt ends belongs to nobody else any more. */
static void crew_empty_ring(struct ring *r)
{
    struct msg m;
    r->writer = r->reader = NULL;
    while (ring_take(r, &m)) {
        if (m.kind == MSG_VIEW) view_release(m.view);
    }
}

/* As before it was opened. */
static void crew_close_task(struct crew *c, uint32_t i)
{
    struct task *t = &c->task[i];
    uint32_t vertex = t->vertex_index;
    task_close(t);
    memset(t, 0, sizeof(*t));
    t->index = i;
    t->vertex_index = vertex;
    c->told[i] = (struct crew_told){.confirmed = 0};
}

static void crew_close_region(struct crew *c, uint32_t region)
{
    for (uint32_t i = 0; i < c->rings; i++) {
        /* A ring that was never wired is empty, and names task 0. */
        if (!crew_is_of(c, c->ring[i].writer_task, region)) continue;
        crew_empty_ring(&c->ring[i]);
        memset(&c->ring[i], 0, sizeof(c->ring[i]));
    }
    for (uint32_t i = 0; i < c->tasks; i++) {
        if (crew_is_of(c, i, region)) crew_close_task(c, i);
    }
    for (uint32_t i = 0; i < c->plan->nodes; i++) {
        if (c->region_of[c->plan->node[i].vertex] != region) continue;
        splits_free(c->pool[i]);
        c->pool[i] = NULL;
    }
    poison_close(&c->region[region].poison);
    c->region[region].is_open = false;
}

void crew_close(struct crew *c, uint32_t region)
{
    for (uint32_t i = 0; i < c->regions; i++) {
        if (region == CREW_ALL || region == i) crew_close_region(c, i);
    }
}

void crew_free(struct crew *c)
{
    if (!c) return;
    saver_done(&c->saver);
    crew_close(c, CREW_ALL);
    reports_done(&c->reports);
    free(c->task);
    free(c->told);
    free(c->ring);
    free(c->pool);
    free(c->first);
    free(c->region);
    free(c->region_of);
    free(c);
}

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc crew_open_pools(struct crew *c, uint32_t region, bool goes_on, struct sr_error *err)
{
    for (uint32_t i = 0; i < c->plan->nodes; i++) {
        const struct plan_node *n = &c->plan->node[i];
        if (n->kind != PLAN_SOURCE || !crew_is_of(c, c->first[n->vertex], region)) continue;
        uint32_t parts = c->plan->vertex[n->vertex].parallelism;
        sr_rc rc = splits_new(&c->pool[i], c->plan, n, parts, c->env, err);
        if (rc != SR_OK) return rc;
        c->pool[i]->goes_on = goes_on && n->source_caps.is_bounded;
    }
    return SR_OK;
}

static sr_rc crew_open_task(struct crew *c, struct task *t, uint32_t letters_part,
                            const struct crew_conf *conf, struct sr_error *err)
{
    const struct plan_vertex *v = &c->plan->vertex[t->vertex_index];
    struct crew_region *r = &c->region[c->region_of[t->vertex_index]];
    bool has_crumb = conf->crumbs && t->index < CRUMBS_MAX;
    struct task_conf task = {.plan = c->plan,
                             .vertex = v,
                             .env = c->env,
                             .pool = c->pool[v->node[0]],
                             .reports = &c->reports,
                             .sink_open = &conf->sink_open,
                             .index = t->index,
                             .part = t->index - c->first[t->vertex_index],
                             .life = r->life,
                             .ledger = &r->ledger,
                             .poison = conf->poison ? &r->poison : NULL,
                             .crumb = has_crumb ? &conf->crumbs->crumb[t->index] : NULL,
                             .attempt = conf->attempt,
                             .letters_part = letters_part,
                             .letters_parts = plan_aside_writers(c->plan)};
    return task_open(t, &task, err);
}

static sr_rc crew_open_tasks(struct crew *c, uint32_t region, const struct crew_conf *conf,
                             struct sr_error *err)
{
    uint32_t letters_part = 0;
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < c->tasks && rc == SR_OK; i++) {
        struct task *t = &c->task[i];
        if (crew_is_of(c, i, region)) rc = crew_open_task(c, t, letters_part, conf, err);
        if (plan_sets_aside(c->plan, &c->plan->vertex[t->vertex_index])) letters_part++;
    }
    return rc;
}

/* A new life of regions. */
static sr_rc crew_revive(struct crew *c, uint32_t region, const struct crew_conf *conf,
                         struct sr_error *err)
{
    const struct plan_dead_letter *d = c->plan->dead_letter;
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < c->regions && rc == SR_OK; i++) {
        struct crew_region *r = &c->region[i];
        if (region != CREW_ALL && region != i) continue;
        sr_assert(!r->is_open);
        r->is_open = true;
        r->life++;
        r->ledger = (struct letters_ledger){.total_max = d ? d->total_max : 0,
                                            .minute_max = d ? d->minute_max : 0};
        if (conf->poison) rc = poison_lend(&r->poison, conf->poison, err);
    }
    return rc;
}

sr_rc crew_open(struct crew *c, uint32_t region, const struct crew_conf *conf, struct sr_error *err)
{
    const struct manifest *m = conf->restore;
    sr_rc rc = crew_revive(c, region, conf, err);
    if (rc == SR_OK) rc = crew_make_tasks(c, region, conf->is_at_least_once, err);
    if (rc == SR_OK) crew_wire_all(c, region);
    if (rc == SR_OK && m) rc = restore_check(c->plan, m, conf->may_drop_state, err);
    if (rc == SR_OK) rc = crew_open_pools(c, region, conf->goes_on, err);
    if (rc == SR_OK) rc = crew_open_tasks(c, region, conf, err);
    if (rc == SR_OK && m) rc = restore_sources(c, region, m, err);
    for (uint32_t i = 0; i < c->plan->nodes && rc == SR_OK; i++) {
        bool is_of = crew_is_of(c, c->first[c->plan->node[i].vertex], region);
        if (c->pool[i] && is_of) rc = splits_open(c->pool[i], err);
    }
    if (rc == SR_OK && m) rc = loaders_run(c, region, m, conf->loaders, err);
    if (rc == SR_OK && m) rc = restore_counters(c, region, m, err);
    if (rc == SR_OK) rc = restore_sinks(c, region, m, err);
    return rc;
}

/* --- Orders ----------------------------------------------------------------------------------- */

void crew_inject(struct crew *c, uint64_t checkpoint, uint32_t flags)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        if (c->task[i].has_source) task_inject(&c->task[i], checkpoint, flags);
    }
}

void crew_show(struct crew *c, uint64_t checkpoint)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        task_show(&c->task[i], checkpoint);
    }
}

void crew_drop(struct crew *c, uint64_t checkpoint)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        task_drop(&c->task[i], checkpoint);
    }
}

void crew_finish(struct crew *c)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        if (c->task[i].has_source) task_finish(&c->task[i]);
    }
}
