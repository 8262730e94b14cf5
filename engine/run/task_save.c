/* What a task puts into a checkpoint, and what it takes out of one.
 *
 *   uid of            name       holds
 *   source            splits     its splits and those it has read, with notes and watermarks
 *   source            waiting    splits that no subtask has: by one subtask only
 *   first node        gate[-k]   watermarks of the inputs; k tells vertices apart whose first nodes
 *                                have the same uid
 *   keyed operator    state      struct sr_state
 *   sink              notes      all notes that are not committed
 *   "dead-letter"     notes      the same of its dead letters
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/run/task.h"

/* --- Gate ------------------------------------------------------------------------------------- */

static const char *task_first_uid(const struct plan *p, const struct plan_vertex *v)
{
    return p->node[v->node[0]].uid;
}

static void task_gate_name(const struct task *t, char name[24])
{
    uint32_t same = 0;
    for (const struct plan_vertex *v = t->plan->vertex; v < t->vertex; v++) {
        if (v->ins > 0 &&
            strcmp(task_first_uid(t->plan, v), task_first_uid(t->plan, t->vertex)) == 0) {
            same++;
        }
    }
    (void)snprintf(name, 24, same == 0 ? "gate" : "gate-%u", same + 1);
}

/* The uid of the node whose rows come in by input i of the gate. */
static const char *task_input_uid(const struct task *t, uint32_t i)
{
    const struct gate_input *in = &t->gate.input[i];
    return t->plan->node[in->from_node].uid;
}

static bool task_save_gate(const struct task *t, struct sr_out *out)
{
    const struct gate *g = &t->gate;
    bool is_ok = bytes_put_u64(out, (uint64_t)g->watermark_end) && bytes_put_u32(out, g->inputs);
    for (uint32_t i = 0; i < g->inputs && is_ok; i++) {
        is_ok = bytes_put_text(out, task_input_uid(t, i)) && bytes_put_u32(out, g->input[i].port) &&
                bytes_put_u64(out, (uint64_t)g->input[i].watermark_end);
    }
    return is_ok;
}

/* Watermarks of inputs are lowered to what any subtask of the same edge had: the merged watermark,
 * which decides, is the same, and at another parallelism there is nothing finer to know. */
static sr_rc task_load_gate(struct task *t, const struct manifest_part *p, bool is_first)
{
    struct gate *g = &t->gate;
    struct bytes_in in = bytes_in(p->bytes, p->len);
    int64_t merged = (int64_t)bytes_get_u64(&in);
    uint32_t inputs = bytes_get_u32(&in);
    if (is_first || merged < g->watermark) g->watermark = g->watermark_end = merged;
    for (uint32_t k = 0; k < inputs && !in.is_broken; k++) {
        struct sr_bytes from = bytes_get_blob(&in);
        uint32_t port = bytes_get_u32(&in);
        int64_t ms = (int64_t)bytes_get_u64(&in);
        for (uint32_t i = 0; i < g->inputs && !in.is_broken; i++) {
            const char *uid = task_input_uid(t, i);
            struct gate_input *own = &g->input[i];
            if (own->port != port || strlen(uid) != from.len ||
                memcmp(uid, from.data, from.len) != 0) {
                continue;
            }
            if (!own->is_restored || ms < own->watermark) own->watermark = own->watermark_end = ms;
            own->is_restored = true;
        }
    }
    return in.is_broken || in.at != in.end ? SR_ECORRUPT : SR_OK;
}

/* --- Saving ----------------------------------------------------------------------------------- */

static sr_rc task_out_of_memory(const struct task *t, struct sr_error *err)
{
    return error_set(err, SR_ENOMEM, "%s: out of memory to save a checkpoint", t->vertex->name);
}

/* Adds a part, and takes what `out` holds. */
static sr_rc task_add_part(const struct task *t, struct report *r, const char *uid,
                           const char *name, struct sr_out *out, struct sr_error *err)
{
    if (report_add_part(r, uid, name, out)) return SR_OK;
    return task_out_of_memory(t, err);
}

static sr_rc task_save_source(struct task *t, uint64_t checkpoint, struct report *r,
                              struct sr_error *err)
{
    struct sr_out splits = bytes_out();
    struct sr_out waiting = bytes_out();
    const char *uid = t->source.node->uid;
    sr_rc rc = source_save(&t->source, checkpoint, &splits, &waiting, err);
    if (rc == SR_OK) rc = task_add_part(t, r, uid, "splits", &splits, err);
    if (rc == SR_OK && waiting.len > 0) rc = task_add_part(t, r, uid, "waiting", &waiting, err);
    bytes_free(&splits);
    bytes_free(&waiting);
    return rc;
}

static sr_rc task_save_state(struct task *t, const struct chain_level *l, struct report *r,
                             struct sr_error *err)
{
    struct frozen *f = NULL;
    sr_rc rc = state_freeze(l->state, &f, err);
    if (rc != SR_OK) return rc;
    return report_add_frozen(r, l->node->uid, MANIFEST_STATE, f) ? SR_OK
                                                                 : task_out_of_memory(t, err);
}

static sr_rc task_save_input(struct task *t, struct report *r, struct sr_error *err)
{
    struct sr_out out = bytes_out();
    char name[24];
    task_gate_name(t, name);
    sr_rc rc = task_save_gate(t, &out) ? SR_OK : task_out_of_memory(t, err);
    if (rc == SR_OK) {
        rc = task_add_part(t, r, task_first_uid(t->plan, t->vertex), name, &out, err);
    }
    bytes_free(&out);
    return rc;
}

static sr_rc task_save_notes(struct task *t, struct sink *s, const struct plan_node *node,
                             struct report *r, struct sr_error *err)
{
    struct sr_out out = bytes_out();
    sr_rc rc = sink_save(s, &out) ? SR_OK : task_out_of_memory(t, err);
    if (rc == SR_OK) rc = task_add_part(t, r, node->uid, "notes", &out, err);
    bytes_free(&out);
    return rc;
}

static sr_rc task_save_parts(struct task *t, uint64_t checkpoint, struct report *r,
                             struct sr_error *err)
{
    sr_rc rc = t->has_source ? task_save_source(t, checkpoint, r, err) : task_save_input(t, r, err);
    for (uint32_t i = 0; i < t->chain.levels && rc == SR_OK; i++) {
        const struct chain_level *l = &t->chain.level[i];
        if (l->state) rc = task_save_state(t, l, r, err);
    }
    if (rc == SR_OK && t->has_sink) rc = task_save_notes(t, &t->sink, t->sink.node, r, err);
    if (rc == SR_OK && t->has_letters) {
        rc = task_save_notes(t, &t->letters.sink, t->letters.node, r, err);
        if (rc == SR_OK) {
            r->item[r->saved - 1].part = t->letters.sink.open.part;
            r->item[r->saved - 1].parts = t->letters.sink.open.parts;
        }
    }
    return rc;
}

uint32_t task_nodes(struct task *t, struct task_node *out)
{
    uint32_t count = 0;
    const struct plan_node *first = t->plan->node;
    if (t->has_source) {
        out[count++] = (struct task_node){(uint32_t)(t->source.node - first), &t->source.count,
                                          &t->source.ctx};
    }
    for (uint32_t i = 0; i < t->chain.levels; i++) {
        struct chain_level *l = &t->chain.level[i];
        out[count++] = (struct task_node){(uint32_t)(l->node - first), &l->count, &l->ctx};
    }
    if (t->has_sink) {
        out[count++] =
            (struct task_node){(uint32_t)(t->sink.node - first), &t->sink.count, &t->sink.ctx};
    }
    return count;
}

/* No row is lost on the way through a step: each that came in went on, or its fate is counted. */
static sr_rc task_check_counts(const struct task *t, const struct task_node *node, uint32_t count,
                               struct sr_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_node *n = &t->plan->node[node[i].node];
        int64_t lost = counters_lost(node[i].count, n) - node[i].count->owed;
        if (lost != 0) {
            return error_set(err, SR_ECORRUPT,
                             "%s: %lld rows came in and are not accounted for: this is a fault of "
                             "streamrun, and no checkpoint is taken of it",
                             n->name, (long long)lost);
        }
    }
    return SR_OK;
}

/* Counters as they are now: at a barrier every row before it is counted, and none behind it. */
static sr_rc task_save_counts(struct task *t, struct report *r, struct sr_error *err)
{
    struct task_node *node = calloc(t->vertex->nodes, sizeof(*node));
    r->count = calloc(t->vertex->nodes, sizeof(*r->count));
    if (!node || !r->count) {
        free(node);
        return task_out_of_memory(t, err);
    }
    r->counted = task_nodes(t, node);
    for (uint32_t i = 0; i < r->counted; i++) {
        r->count[i].node = node[i].node;
        counters_get(node[i].count, &r->count[i].counts);
    }
    sr_rc rc = task_check_counts(t, node, r->counted, err);
    free(node);
    return rc;
}

struct report *task_save(struct task *t, uint64_t checkpoint, struct sr_error *err)
{
    sr_assert(chain_is_empty(&t->chain));
    struct report *r = report_new(REPORT_SAVED);
    if (!r) {
        (void)task_out_of_memory(t, err);
        return NULL;
    }
    int64_t start_us = t->env->mono_us(t->env);
    r->checkpoint = checkpoint;
    r->part = t->part;
    r->parts = t->parts;
    r->align_us = t->align_us;
    sr_rc rc = task_save_parts(t, checkpoint, r, err);
    if (rc == SR_OK) rc = task_save_counts(t, r, err);
    r->sync_us = t->env->mono_us(t->env) - start_us;
    if (rc == SR_OK) return r;
    if (rc == SR_ENOMEM || rc == SR_ELIMIT) { /* this checkpoint cannot be; the job may go on */
        report_drop_parts(r);
        r->error = *err;
        return r;
    }
    report_free(r);
    return NULL;
}

/* --- Loading ---------------------------------------------------------------------------------- */

static sr_rc task_load_gates(struct task *t, const struct manifest *m, struct sr_error *err)
{
    char name[24];
    bool is_first = true;
    const char *uid = task_first_uid(t->plan, t->vertex);
    task_gate_name(t, name);
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        if (strcmp(p->uid, uid) != 0 || strcmp(p->name, name) != 0) continue;
        if (task_load_gate(t, p, is_first) != SR_OK) {
            return error_set(err, SR_ECORRUPT, "state of %s (%s) cannot be read", uid, name);
        }
        is_first = false;
    }
    return SR_OK;
}

static sr_rc task_load_state(const struct task *t, const struct chain_level *l,
                             const struct manifest *m, struct sr_error *err)
{
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        if (strcmp(p->uid, l->node->uid) != 0 || strcmp(p->name, MANIFEST_STATE) != 0) continue;
        sr_assert(p->bytes);
        sr_rc rc = state_load(l->state, p->bytes, p->len, err);
        if (rc != SR_OK) return rc;
    }
    if (state_grown(l->state) && t->part == 0) {
        env_log(t->env, SR_WARN, "state",
                "%s: the checkpoint knows nothing of %s: in groups that it holds they count what "
                "comes from now on",
                l->node->uid, state_grown(l->state));
    }
    return SR_OK;
}

sr_rc task_load(struct task *t, const struct manifest *m, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < t->chain.levels && rc == SR_OK; i++) {
        const struct chain_level *l = &t->chain.level[i];
        if (l->state) rc = task_load_state(t, l, m, err);
    }
    if (rc != SR_OK || t->has_source) return rc;
#ifdef MUTANT_WATERMARK_UNRESTORED
    return SR_OK;
#endif
    rc = task_load_gates(t, m, err);
    if (rc != SR_OK) return rc;
    /* What the operators knew of time before: told again, it fires nothing that was not due. */
    struct msg ms = {.kind = MSG_WATERMARK, .watermark = gate_restored(&t->gate)};
    if (ms.watermark != SR_WATERMARK_NONE) chain_put(&t->chain, 0, &ms, 0);
    return SR_OK;
}
