#include "engine/run/crew.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
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

static sr_rc crew_make_tasks(struct crew *c, const struct crew_conf *conf, struct sr_error *err)
{
    const struct plan *p = c->plan;
    for (uint32_t i = 0; i < p->vertices; i++) {
        const struct plan_vertex *v = &p->vertex[i];
        enum plan_node_kind head = p->node[v->node[0]].kind;
        enum plan_node_kind tail = p->node[v->node[v->nodes - 1]].kind;
        for (uint32_t part = 0; part < v->parallelism; part++) {
            struct task *t = &c->task[c->first[i] + part];
            sr_rc rc = SR_OK;
            if (head != PLAN_SOURCE) rc = crew_make_gate(c, t, v, conf->is_at_least_once, err);
            if (rc == SR_OK && tail != PLAN_SINK) rc = crew_make_outlet(c, t, v, err);
            if (rc != SR_OK) return rc;
        }
        if (head == PLAN_SOURCE) c->sources += v->parallelism;
        if (tail == PLAN_SINK || plan_sets_aside(p, v)) c->sinks += v->parallelism;
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

static void crew_wire_all(struct crew *c)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < c->plan->edges; i++) {
        const struct plan_edge *e = &c->plan->edge[i];
        uint32_t lanes = crew_edge_lanes(c->plan, e);
        for (uint32_t from = 0; from < c->plan->vertex[e->from].parallelism; from++) {
            for (uint32_t lane = 0; lane < lanes; lane++) {
                uint32_t to = e->ship == SHIP_FORWARD ? from : lane;
                struct crew_wire w = {.edge = i, .from = from, .to = to, .lane = lane};
                crew_wire(c, &w, &c->ring[k++]);
            }
        }
    }
    sr_assert(k == c->rings);
}

sr_rc crew_new(struct crew **out, const struct crew_conf *conf, struct sr_error *err)
{
    const struct plan *p = conf->plan;
    struct crew *c = calloc(1, sizeof(*c));
    if (!c) return error_set(err, SR_ENOMEM, "out of memory");
    c->plan = p;
    if (p->dead_letter) {
        c->ledger.total_max = p->dead_letter->total_max;
        c->ledger.minute_max = p->dead_letter->minute_max;
    }
    c->env = conf->env;
    sr_rc rc = reports_init(&c->reports, err);
    if (rc == SR_OK) rc = saver_init(&c->saver, conf->env, &c->reports, err);
    c->first = calloc(p->vertices, sizeof(*c->first));
    c->pool = calloc(p->nodes, sizeof(struct splits *));
    if (rc != SR_OK) goto out;
    if (!c->first || !c->pool) {
        rc = error_set(err, SR_ENOMEM, "out of memory");
        goto out;
    }
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < p->vertices; i++) {
        c->first[i] = tasks;
        tasks += p->vertex[i].parallelism;
    }
    for (uint32_t i = 0; i < p->edges; i++) {
        c->rings += crew_edge_rings(p, &p->edge[i]);
    }
    c->task = calloc(tasks, sizeof(*c->task));
    size_t ring_bytes = (c->rings ? c->rings : 1) * sizeof(*c->ring);
    c->ring = aligned_alloc(alignof(struct ring), ring_bytes);
    if (c->ring) memset(c->ring, 0, ring_bytes);
    if (!c->task || !c->ring) {
        rc = error_set(err, SR_ENOMEM, "out of memory for %u tasks and %u rings", tasks, c->rings);
        goto out;
    }
    c->tasks = tasks;
    for (uint32_t i = 0; i < tasks; i++) {
        c->task[i].index = i;
    }
    rc = crew_make_tasks(c, conf, err);
    if (rc != SR_OK) goto out;
    crew_wire_all(c);
    *out = c;
out:
    if (rc != SR_OK) crew_free(c);
    return rc;
}

/* What lies in a ring when an attempt ends belongs to nobody else any more. */
static void crew_empty_ring(struct ring *r)
{
    struct msg m;
    while (ring_take(r, &m)) {
        if (m.kind == MSG_VIEW) view_release(m.view);
    }
}

void crew_free(struct crew *c)
{
    if (!c) return;
    for (uint32_t i = 0; i < c->rings && c->ring; i++) {
        c->ring[i].writer = c->ring[i].reader = NULL;
        crew_empty_ring(&c->ring[i]);
    }
    saver_done(&c->saver);
    for (uint32_t i = 0; i < c->tasks; i++) {
        task_close(&c->task[i]);
    }
    for (uint32_t i = 0; i < c->plan->nodes && c->pool; i++) {
        splits_free(c->pool[i]);
    }
    reports_done(&c->reports);
    free(c->task);
    free(c->ring);
    free(c->pool);
    free(c->first);
    free(c);
}

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc crew_open_pools(struct crew *c, bool goes_on, struct sr_error *err)
{
    for (uint32_t i = 0; i < c->plan->nodes; i++) {
        const struct plan_node *n = &c->plan->node[i];
        if (n->kind != PLAN_SOURCE) continue;
        uint32_t parts = c->plan->vertex[n->vertex].parallelism;
        sr_rc rc = splits_new(&c->pool[i], c->plan, n, parts, c->env, err);
        if (rc != SR_OK) return rc;
        c->pool[i]->goes_on = goes_on && n->source_caps.is_bounded;
    }
    return SR_OK;
}

static sr_rc crew_open_tasks(struct crew *c, const struct crew_conf *conf, struct sr_error *err)
{
    uint32_t letters_part = 0;
    for (uint32_t i = 0; i < c->plan->vertices; i++) {
        const struct plan_vertex *v = &c->plan->vertex[i];
        for (uint32_t part = 0; part < v->parallelism; part++) {
            uint32_t index = c->first[i] + part;
            struct task_conf task = {
                .plan = c->plan,
                .vertex = v,
                .env = c->env,
                .pool = c->pool[v->node[0]],
                .reports = &c->reports,
                .sink_open = &conf->sink_open,
                .index = index,
                .part = part,
                .ledger = &c->ledger,
                .poison = conf->poison,
                .crumb = conf->crumbs && index < CRUMBS_MAX ? &conf->crumbs->crumb[index] : NULL,
                .attempt = conf->attempt,
                .letters_part = letters_part,
                .letters_parts = plan_aside_writers(c->plan)};
            if (plan_sets_aside(c->plan, v)) letters_part++;
            sr_rc rc = task_open(&c->task[index], &task, err);
            if (rc != SR_OK) return rc;
        }
    }
    return SR_OK;
}

sr_rc crew_open(struct crew *c, const struct crew_conf *conf, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (conf->restore) rc = restore_check(c->plan, conf->restore, conf->may_drop_state, err);
    if (rc == SR_OK) rc = crew_open_pools(c, conf->goes_on, err);
    if (rc == SR_OK) rc = crew_open_tasks(c, conf, err);
    if (rc == SR_OK && conf->restore) rc = restore_sources(c, conf->restore, err);
    for (uint32_t i = 0; i < c->plan->nodes && rc == SR_OK; i++) {
        if (c->pool[i]) rc = splits_open(c->pool[i], err);
    }
    for (uint32_t i = 0; i < c->tasks && rc == SR_OK && conf->restore; i++) {
        rc = task_load(&c->task[i], conf->restore, err);
    }
    if (rc == SR_OK && conf->restore) rc = restore_counters(c, conf->restore, err);
    if (rc == SR_OK) rc = restore_sinks(c, conf->restore, err);
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
