#include "engine/run/restore.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/run/decider.h"

static bool restore_is_part(const struct manifest_part *p, const char *uid, const char *name)
{
    return strcmp(p->uid, uid) == 0 && strcmp(p->name, name) == 0;
}

/* --- Fit -------------------------------------------------------------------------------------- */

/* Does some operator of the plan claim this part? Watermarks of inputs are nobody's property: where
 * their place is gone, they are not missed. */
static bool restore_is_claimed(const struct plan *p, const struct manifest_part *part)
{
    if (strncmp(part->name, "gate", 4) == 0) return true;
    if (strcmp(part->name, DECIDER_PART) == 0) return true; /* pending ones were settled */
    if (p->dead_letter && strcmp(p->dead_letter->node.uid, part->uid) == 0) return true;
    for (uint32_t i = 0; i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        if (strcmp(n->uid, part->uid) != 0) continue;
        if (splits_is_part(part, n->uid) && n->kind == PLAN_SOURCE) return true;
        if (strcmp(part->name, "notes") == 0 && n->kind == PLAN_SINK) return true;
        if (strcmp(part->name, MANIFEST_STATE) == 0 && n->kind == PLAN_OP && n->op->is_keyed)
            return true;
    }
    return false;
}

sr_rc restore_check(const struct plan *p, const struct manifest *m, bool may_drop_state,
                    struct sr_error *err)
{
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *part = &m->part[i];
        if (!may_drop_state && !restore_is_claimed(p, part)) {
            return error_set(err, SR_EMISFIT,
                             "checkpoint %llu holds state (%s) of '%s', which no step of the job "
                             "claims; --allow-non-restored-state drops it",
                             (unsigned long long)m->checkpoint, part->name, part->uid);
        }
        if (strcmp(part->name, MANIFEST_STATE) == 0 && m->max_parallelism != p->max_parallelism) {
            return error_set(err, SR_EMISFIT,
                             "checkpoint %llu has keyed state in %u key groups, but the job has "
                             "pipeline.max-parallelism %u; it cannot be changed",
                             (unsigned long long)m->checkpoint, m->max_parallelism,
                             p->max_parallelism);
        }
    }
    return SR_OK;
}

/* --- Sources ---------------------------------------------------------------------------------- */

static sr_rc restore_source(struct crew *c, uint32_t node, const struct manifest *m,
                            struct sr_error *err)
{
    const struct plan_node *n = &c->plan->node[node];
    int64_t lowest = SR_WATERMARK_END;
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        if (!splits_is_part(p, n->uid)) continue;
        int64_t ms;
        sr_rc rc = splits_restore(c->pool[node], p, &ms);
        if (rc != SR_OK) {
            return error_set(err, rc, "state of source '%s' (%s) cannot be read", n->uid, p->name);
        }
        if (ms < lowest) lowest = ms;
    }
#ifdef MUTANT_WATERMARK_UNRESTORED /* a row that was late is not late any more */
    lowest = SR_WATERMARK_END;
#endif
    if (lowest == SR_WATERMARK_END) return SR_OK;
    for (uint32_t part = 0; part < c->plan->vertex[n->vertex].parallelism; part++) {
        c->task[c->first[n->vertex] + part].source.stamp.watermark = lowest;
    }
    return SR_OK;
}

sr_rc restore_sources(struct crew *c, uint32_t region, const struct manifest *m,
                      struct sr_error *err)
{
    for (uint32_t i = 0; i < c->plan->nodes; i++) {
        if (!c->pool[i] || !crew_is_of(c, c->first[c->plan->node[i].vertex], region)) continue;
        sr_rc rc = restore_source(c, i, m, err);
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

/* --- Counters --------------------------------------------------------------------------------- */

static int64_t restore_counter(const struct manifest *m, const char *name)
{
    for (uint32_t i = 0; i < m->counters; i++) {
        if (strcmp(m->counter[i].name, name) == 0) return m->counter[i].value;
    }
    return 0;
}

/* Subtask 0 goes on counting where all of them were. */
static sr_rc restore_task_counters(struct crew *c, struct task *t, const struct manifest *m,
                                   struct sr_error *err)
{
    char name[MANIFEST_NAME_MAX];
    struct task_node *node = calloc(t->vertex->nodes, sizeof(*node));
    if (!node) return error_set(err, SR_ENOMEM, "out of memory");
    uint32_t nodes = task_nodes(t, node);
    for (uint32_t i = 0; i < nodes; i++) {
        for (uint32_t k = 0; k < COUNTER_COUNT; k++) {
            enum counter_name counter = (enum counter_name)k;
            if (!counter_path(c->plan, node[i].node, counter, name, sizeof(name))) continue;
            counters_add(node[i].count, counter, restore_counter(m, name));
        }
        node[i].count->owed = counters_lost(node[i].count, &c->plan->node[node[i].node]);
    }
    free(node);
    return SR_OK;
}

/* What was set aside before counts towards the limits of dead letters. */
static void restore_ledger(struct crew *c, struct task *t)
{
    struct letters_ledger *ledger = &c->region[c->region_of[t->vertex_index]].ledger;
    struct counts now;
    for (uint32_t i = 0; i < t->chain.levels; i++) {
        const struct chain_level *l = &t->chain.level[i];
        counters_get(&l->count, &now);
        ledger->total += now.value[COUNTER_dead];
        if (l->node->on_late == JOB_LATE_DEAD_LETTER) ledger->total += now.value[COUNTER_late];
    }
    if (t->has_source) {
        counters_get(&t->source.count, &now);
        ledger->total += now.value[COUNTER_dead];
    }
    if (t->has_sink) {
        counters_get(&t->sink.count, &now);
        ledger->total += now.value[COUNTER_dead];
    }
}

sr_rc restore_counters(struct crew *c, uint32_t region, const struct manifest *m,
                       struct sr_error *err)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        if (c->task[i].part != 0 || !crew_is_of(c, i, region)) continue;
        sr_rc rc = restore_task_counters(c, &c->task[i], m, err);
        if (rc != SR_OK) return rc;
        restore_ledger(c, &c->task[i]);
    }
    return SR_OK;
}

/* --- Sinks ------------------------------------------------------------------------------------ */

static sr_rc restore_notes(const struct plan_node *n, const struct manifest *m,
                           struct sink_notes *out, struct sr_error *err)
{
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        if (!restore_is_part(p, n->uid, "notes")) continue;
        sr_rc rc = sink_notes_load(out, p->bytes, p->len);
        if (rc != SR_OK) {
            return error_set(err, rc, "state of sink '%s' (%s) cannot be read", n->uid, p->name);
        }
    }
    return SR_OK;
}

/* The next checkpoint behind `last` that a note was prepared for; UINT64_MAX: none. */
static uint64_t restore_next(const struct sink_notes *notes, uint64_t last)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct sink_note *n = &notes->item[i];
        bool is_behind = n->kind == SR_NOTE_COMMIT && n->checkpoint > last;
        if (is_behind && n->checkpoint < next) next = n->checkpoint;
    }
    return next;
}

/* In order of checkpoints; parts come in order of subtasks, and keep that. */
static sr_rc restore_commit(struct sink *s, const struct sink_notes *notes, const struct env *env,
                            struct sr_error *err)
{
    uint64_t at = restore_next(notes, 0);
    for (; at != UINT64_MAX; at = restore_next(notes, at)) {
        for (uint32_t i = 0; i < notes->count; i++) {
            const struct sink_note *n = &notes->item[i];
            if (n->kind != SR_NOTE_COMMIT || n->checkpoint != at) continue;
            if (!s->node->sink->commit) {
                return error_set(err, SR_EMISFIT,
                                 "sink '%s' (%s) cannot commit what another connector prepared",
                                 s->node->step, s->node->sink->name);
            }
            struct sr_bytes note = {n->bytes, n->len};
            sr_rc rc = s->node->sink->commit(s->instance, n->checkpoint, note, err);
            if (rc != SR_OK) {
                return error_wrap(err, "sink '%s', commit of checkpoint %llu again", s->node->step,
                                  (unsigned long long)n->checkpoint);
            }
            env_crash_point(env, "run: after a restored commit");
        }
    }
    return SR_OK;
}

/* Among `parts` writers, in turn. */
static sr_rc restore_states(struct sink *const *sink, uint32_t parts,
                            const struct sink_notes *notes, struct sr_error *err)
{
    uint32_t turn = 0;
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct sink_note *n = &notes->item[i];
        struct sink *s = sink[turn % parts];
        if (n->kind != SR_NOTE_STATE || !s->node->sink->restore) continue;
        turn++;
        sr_rc rc = s->node->sink->restore(s->instance, (struct sr_bytes){n->bytes, n->len}, err);
        if (rc != SR_OK) return error_wrap(err, "sink '%s'", s->node->step);
    }
    return SR_OK;
}

static sr_rc restore_recover(struct sink *s, const struct sink_notes *notes, struct sr_error *err)
{
    if (!s->node->sink->recover) return SR_OK;
    struct sr_bytes *live = calloc(notes->count + 1, sizeof(*live));
    if (!live) return error_set(err, SR_ENOMEM, "sink '%s': out of memory", s->node->step);
    for (uint32_t i = 0; i < notes->count; i++) {
        live[i] = (struct sr_bytes){notes->item[i].bytes, notes->item[i].len};
    }
    sr_rc rc = s->node->sink->recover(s->instance, live, notes->count, err);
    free(live);
    return rc == SR_OK ? rc : error_wrap(err, "sink '%s'", s->node->step);
}

/* All writers of one sink. */
static sr_rc restore_sink(struct sink *const *sink, uint32_t parts, const struct manifest *m,
                          const struct env *env, struct sr_error *err)
{
    struct sink_notes notes = {.count = 0};
    sr_rc rc = m ? restore_notes(sink[0]->node, m, &notes, err) : SR_OK;
#ifndef MUTANT_RESTORE_UNCOMMITTED /* what was prepared and not shown is lost */
    if (rc == SR_OK) rc = restore_commit(sink[0], &notes, env, err);
#endif
    if (rc == SR_OK) rc = restore_states(sink, parts, &notes, err);
#ifndef MUTANT_RESTORE_UNSWEPT /* what no checkpoint has stays behind */
    if (rc == SR_OK) rc = restore_recover(sink[0], &notes, err);
#endif
    sink_notes_done(&notes);
    return rc;
}

sr_rc restore_sinks(struct crew *c, uint32_t region, const struct manifest *m, struct sr_error *err)
{
    struct sink **sink = calloc((size_t)c->tasks + 1, sizeof(struct sink *));
    if (!sink) return error_set(err, SR_ENOMEM, "out of memory");
    sr_rc rc = SR_OK;
    uint32_t parts = 0;
    for (uint32_t i = 0; i < c->tasks && rc == SR_OK; i++) {
        struct task *t = &c->task[i];
        if (!t->has_sink || !crew_is_of(c, i, region)) continue;
        parts = t->part == 0 ? 0 : parts;
        sink[parts++] = &t->sink;
        if (parts == t->parts) rc = restore_sink(sink, parts, m, c->env, err);
    }
    parts = 0;
    for (uint32_t i = 0; i < c->tasks; i++) {
        if (c->task[i].has_letters && crew_is_of(c, i, region))
            sink[parts++] = &c->task[i].letters.sink;
    }
    if (rc == SR_OK && parts > 0) rc = restore_sink(sink, parts, m, c->env, err);
    free(sink);
    return rc;
}
