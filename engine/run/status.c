/* What `status` and the summary show: sums over the tasks, at any time, from any thread. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/run/supervise_inner.h"

/* Adds the counters of the nodes that run in one task. */
static void status_add_task(struct task *t, struct task_node *node, struct counts *by_node)
{
    uint32_t nodes = task_nodes(t, node);
    for (uint32_t i = 0; i < nodes; i++) {
        struct counts now;
        counters_get(node[i].count, &now);
        counts_add(&by_node[node[i].node], &now);
    }
}

static uint32_t status_nodes_max(const struct crew *c)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < c->plan->vertices; i++) {
        if (c->plan->vertex[i].nodes > most) most = c->plan->vertex[i].nodes;
    }
    return most;
}

/* Under the lock: may the task be looked at? */
static bool status_is_watched(const struct supervise *s, const struct task *t)
{
    return s->region[s->watched->region_of[t->vertex_index]].is_watched;
}

void status_count(struct supervise *s, struct counts *by_node)
{
    struct crew *c = s->watched;
    struct task_node *node = c ? calloc(status_nodes_max(c), sizeof(*node)) : NULL;
    for (uint32_t n = 0; n < s->plan->nodes; n++) {
        uint32_t vertex = s->plan->node[n].vertex;
        bool is_up = node && s->region[c->region_of[vertex]].is_watched;
        by_node[n] = is_up ? (struct counts){.value = {0}} : s->last_counts[n];
    }
    for (uint32_t i = 0; node && i < c->tasks; i++) {
        if (status_is_watched(s, &c->task[i])) status_add_task(&c->task[i], node, by_node);
    }
    free(node);
}

/* The lowest watermark of a node's subtasks, and the bytes that its source knows of. */
static void status_watermarks(struct supervise *s, struct run_node_status *by_node)
{
    struct crew *c = s->watched;
    struct task_node *node = calloc(status_nodes_max(c), sizeof(*node));
    if (!node) return;
    for (uint32_t i = 0; i < c->tasks; i++) {
        struct task *t = &c->task[i];
        uint32_t nodes = status_is_watched(s, t) ? task_nodes(t, node) : 0;
        for (uint32_t k = 0; k < nodes; k++) {
            struct run_node_status *to = &by_node[node[k].node];
            int64_t ms = atomic_load_explicit(&node[k].count->watermark, memory_order_relaxed);
            if (t->part == 0 || ms < to->watermark_ms) to->watermark_ms = ms;
            bool rests = atomic_load_explicit(&node[k].count->is_caught_up, memory_order_relaxed);
            to->is_caught_up = rests && (t->part == 0 || to->is_caught_up);
        }
    }
    free(node);
    for (uint32_t n = 0; n < c->plan->nodes; n++) {
        bool is_up = s->region[c->region_of[c->plan->node[n].vertex]].is_watched;
        if (is_up && c->pool[n]) by_node[n].bytes_total = splits_bytes(c->pool[n]);
    }
}

/* Adds what a subtask counts by itself to what the others do. */
static void status_add_own(struct arena *a, const struct host_ctx *host, struct run_node_status *to)
{
    uint32_t counters = atomic_load_explicit(&host->counters, memory_order_acquire);
    for (uint32_t i = 0; i < counters; i++) {
        const struct host_counter *k = &host->counter[i];
        uint32_t at = 0;
        while (at < to->owns && strcmp(to->own[at].name, k->name) != 0) {
            at++;
        }
        if (at == HOST_COUNTERS_MAX + 1) continue;
        if (!to->own) to->own = arena_array(a, HOST_COUNTERS_MAX + 1, sizeof(*to->own));
        if (!to->own) return; /* nothing is shown, nothing else depends on it */
        if (at == to->owns)
            to->own[to->owns++] = (struct run_own_count){.name = arena_text(a, k->name)};
        if (!to->own[at].name) to->own[at].name = "";
        to->own[at].value += atomic_load_explicit(&k->value, memory_order_relaxed);
    }
}

/* Adds where a subtask is in its splits. */
static void status_add_splits(struct arena *a, const struct host_ctx *host,
                              struct run_node_status *to)
{
    uint32_t splits = atomic_load_explicit(&host->splits, memory_order_acquire);
    for (uint32_t i = 0; i < splits; i++) {
        const struct host_split *k = &host->split[i];
        struct run_split_status *grown =
            arena_more(a, to->split, to->splits, &to->splits_space, sizeof(*grown));
        const char *id = grown ? arena_text(a, k->id) : NULL;
        if (!id) return; /* it is only not shown */
        to->split = grown;
        to->split[to->splits++] = (struct run_split_status){
            .id = id,
            .position = atomic_load_explicit(&k->position, memory_order_relaxed),
            .end = atomic_load_explicit(&k->end, memory_order_relaxed)};
    }
}

static void status_own(const struct supervise *s, struct arena *a, struct run_node_status *by_node)
{
    struct crew *c = s->watched;
    struct task_node *node = arena_array(a, status_nodes_max(c), sizeof(*node));
    for (uint32_t i = 0; node && i < c->tasks; i++) {
        uint32_t nodes = status_is_watched(s, &c->task[i]) ? task_nodes(&c->task[i], node) : 0;
        for (uint32_t k = 0; k < nodes; k++) {
            status_add_own(a, node[k].host, &by_node[node[k].node]);
            status_add_splits(a, node[k].host, &by_node[node[k].node]);
        }
    }
}

/* The subtask that waits longest tells. */
static void status_waits_of(const struct sink *sink, struct run_node_status *to)
{
    char words[SINK_WORDS_MAX];
    int64_t since_us = sink_waits(sink, words);
    if (since_us == 0 || (to->waits_since_us != 0 && to->waits_since_us <= since_us)) return;
    to->waits_since_us = since_us;
    memcpy(to->waits_for, words, sizeof(to->waits_for));
}

/* For which targets sinks wait, and writers of dead letters: told with a task's last node. */
static void status_waits(const struct supervise *s, struct run_node_status *by_node)
{
    const struct crew *c = s->watched;
    for (uint32_t i = 0; i < c->tasks; i++) {
        const struct task *t = &c->task[i];
        if (!status_is_watched(s, t)) continue;
        struct run_node_status *to = &by_node[t->vertex->node[t->vertex->nodes - 1]];
        if (t->has_sink) status_waits_of(&t->sink, to);
        if (t->has_letters) status_waits_of(&t->letters.sink, to);
    }
}

static void status_add_times(struct run_node_status *to, const struct pressure_shown *p)
{
    to->looked_at++;
    to->times.busy_us += p->sum_us[PRESSURE_BUSY];
    to->times.idle_us += p->sum_us[PRESSURE_IDLE];
    to->times.pressed_us += p->sum_us[PRESSURE_PRESSED];
    to->times.busy_ms += p->ms_per_second[PRESSURE_BUSY];
    to->times.idle_ms += p->ms_per_second[PRESSURE_IDLE];
    to->times.pressed_ms += p->ms_per_second[PRESSURE_PRESSED];
    int32_t pressed = p->ms_per_second[PRESSURE_PRESSED];
    to->pressed_most = pressed > to->pressed_most ? pressed : to->pressed_most;
}

/* Nodes of one vertex run in one task, so they share its times. */
static void status_times(const struct supervise *s, struct run_node_status *by_node)
{
    const struct crew *c = s->watched;
    int64_t now_us = s->env->mono_us(s->env);
    for (uint32_t i = 0; i < c->tasks; i++) {
        const struct task *t = &c->task[i];
        struct pressure_shown p;
        if (!status_is_watched(s, t) || !pressure_look(&t->pressure, now_us, &p)) continue;
        for (uint32_t k = 0; k < t->vertex->nodes; k++) {
            status_add_times(&by_node[t->vertex->node[k]], &p);
        }
    }
}

static void status_nodes(struct supervise *s, const struct counts *sum, struct run_node_status *out)
{
    for (uint32_t n = 0; n < s->plan->nodes; n++) {
        const struct plan_node *p = &s->plan->node[n];
        const int64_t *v = sum[n].value;
        out[n] = (struct run_node_status){.uid = p->uid,
                                          .name = p->name,
                                          .kind = p->kind,
                                          .parallelism = s->plan->vertex[p->vertex].parallelism,
                                          .in = v[COUNTER_in],
                                          .out = v[COUNTER_out],
                                          .filtered = v[COUNTER_filtered],
                                          .late = v[COUNTER_late],
                                          .absorbed = v[COUNTER_absorbed],
                                          .skipped = v[COUNTER_skipped],
                                          .dead = v[COUNTER_dead],
                                          .bytes_in = v[COUNTER_bytes_in],
                                          .bytes_out = v[COUNTER_bytes_out],
                                          .bytes_total = -1,
                                          .watermark_ms = SR_WATERMARK_NONE};
    }
}

void supervise_status(struct supervise *s, struct arena *a, struct run_status *out)
{
    uint32_t nodes = s->plan->nodes;
    struct run_node_status *node = arena_array(a, nodes, sizeof(*node));
    struct counts *sum = arena_array(a, nodes, sizeof(*sum));
    struct run_region_status *region = arena_array(a, s->regions, sizeof(*region));
    mutex_lock(s->lock);
    *out = s->shown;
    out->restarts += s->carried;
    if (node && sum) {
        status_count(s, sum);
        status_nodes(s, sum, node);
        if (s->watched) status_watermarks(s, node);
        if (s->watched) status_own(s, a, node);
        if (s->watched) status_waits(s, node);
        if (s->watched) status_times(s, node);
    }
    for (uint32_t i = 0; region && i < s->regions; i++) {
        region[i] = s->region[i].shown;
    }
    mutex_unlock(s->lock);
    out->regions = region ? s->regions : 0;
    out->region = region;
    out->nodes = node && sum ? nodes : 0;
    out->node = node;
    out->now_us = s->env->wall_us(s->env);
}
