/* A sink whose target's transactions decide about checkpoints: two producers in turn, a fresh one a
 * transaction, as a Kafka sink does it. Commits fail, answer nothing though they were done, or
 * arrive once more later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <streamrun/decider.h>

#include "test/sim/sim_rows.h"
#include "test/sim/world.h"

struct ledger_conf {
    bool unused;
};

/* clang-format off */
static const struct sr_opt ledger_opts[] = {
    SR_OPT(struct ledger_conf, "unused", unused, .doc = "Nothing."),
    SR_OPT_END};
/* clang-format on */

/* Shared by all sinks of an attempt. */
struct ledger_decider {
    uint64_t epoch[TARGET_SLOTS];
    uint32_t slot;     /* where rows go */
    uint64_t released; /* sinks that prepared for it may write on */
    uint64_t deciding; /* its transaction is the other slot's */
    bool is_marked;
    bool is_recovered;
};

struct ledger {
    struct ledger_decider *decider;
    struct sim_rows rows;
    uint64_t held; /* prepared for it: no row is taken before it is released */
};

/* --- The target ------------------------------------------------------------------------------- */

static void ledger_show(void *ctx, const char *row)
{
    (void)ctx;
    sim_remote_row(row);
}

static struct target *ledger_target(void)
{
    struct world *w = world_now;
    w->target.times_out = !w->is_calm;
    target_tick(&w->target, w->now_us, ledger_show, NULL);
    return &w->target;
}

static sr_rc ledger_fail(struct sr_error *err, const char *words)
{
    *err = (struct sr_error){.rc = SR_EIO};
    (void)snprintf(err->words, sizeof(err->words), "%s", words);
    return SR_EIO;
}

static sr_rc ledger_busy(struct sr_wait *wait)
{
    struct world *w = world_now;
    *wait = (struct sr_wait){.fd = -1, .until_us = w->now_us + world_below(w, 3000)};
    return SR_EBUSY;
}

static bool ledger_chance(uint32_t share)
{
    struct world *w = world_now;
    return world_chance(w, w->scene.remote_ppm / share);
}

/* --- The decider ------------------------------------------------------------------------------ */

static sr_rc ledger_open_decider(void *d, const struct sr_decider_open *o, struct sr_error *err)
{
    (void)d;
    world_now->is_deciding = false;
    if (strcmp(o->key, "ledger") != 0 || o->sinks == 0) {
        return ledger_fail(err, "opened for something else");
    }
    return SR_OK;
}

/* A process that was replaced must not disturb the one that took its place. */
static void ledger_init(struct ledger_decider *l, uint32_t slot)
{
    l->epoch[slot] = target_init(ledger_target(), slot);
    world_trace(world_now, "init", slot, l->epoch[slot]);
}

static sr_rc ledger_recover(void *d, struct sr_marker *out, struct sr_wait *wait,
                            struct sr_error *err)
{
    struct ledger_decider *l = d;
    struct world *w = world_now;
    if (world_is_dead(w) || ledger_chance(4)) {
        return ledger_fail(err, "the ledger cannot be reached");
    }
    if (!l->is_recovered) {
        ledger_init(l, 0);
        ledger_init(l, 1);
        l->is_recovered = true;
    }
    if (world_below(w, 3) == 0) {
        return ledger_busy(wait);
    }
    struct target *t = ledger_target();
    if (!w->is_calm && !w->scene.forgets_rows && world_below(w, 30) == 0) {
        t->marker = (struct target_marker){.lineage = 0}; /* it has expired */
    }
    *out = (struct sr_marker){t->marker.lineage, t->marker.checkpoint};
    world_trace(w, "marker", out->lineage, out->checkpoint);
    return SR_OK;
}

static sr_rc ledger_look(void *d, struct sr_bytes evidence, enum sr_evidence *out,
                         struct sr_wait *wait, struct sr_error *err)
{
    (void)d;
    uint32_t row = UINT32_MAX;
    if (world_is_dead(world_now)) {
        return ledger_fail(err, "the ledger cannot be reached");
    }
    if (world_below(world_now, 3) == 0) {
        return ledger_busy(wait);
    }
    const struct target *t = ledger_target();
    memcpy(&row, evidence.data, sizeof(row));
    bool is_there = evidence.len == sizeof(row) && row < t->rows && !world_now->scene.forgets_rows;
    if (is_there && t->row[row].fate == TARGET_COMMITTED) {
        *out = SR_EVIDENCE_SHOWN;
    } else if (is_there && t->row[row].fate == TARGET_ABORTED) {
        *out = SR_EVIDENCE_ABORTED;
    }
    world_trace(world_now, "looked", row, *out);
    return SR_OK;
}

static sr_rc ledger_base(void *d, const struct sr_marker *m, struct sr_wait *wait,
                         struct sr_error *err)
{
    struct ledger_decider *l = d;
    struct world *w = world_now;
    struct target_marker to = {m->lineage, m->checkpoint};
    if (world_is_dead(w) || ledger_chance(4)) {
        return ledger_fail(err, "the ledger cannot be reached");
    }
    if (world_below(w, 3) == 0) {
        return ledger_busy(wait);
    }
    struct target *t = ledger_target();
    if (!target_mark(t, l->slot, l->epoch[l->slot], w->now_us, to) ||
        !target_commit(t, l->slot, l->epoch[l->slot], ledger_show, NULL)) {
        return ledger_fail(err, "fenced");
    }
    world_trace(w, "base", m->lineage, m->checkpoint);
    if (ledger_chance(4)) {
        return ledger_fail(err, "the ledger did not answer");
    }
    ledger_init(l, l->slot);
    return SR_OK;
}

static sr_rc ledger_evidence(void *d, uint64_t checkpoint, struct sr_out *note,
                             struct sr_error *err)
{
    (void)checkpoint;
    struct ledger_decider *l = d;
    const struct target *t = ledger_target();
    uint32_t row = target_last(t, l->slot);
    if (!target_is_heard(t, l->slot, l->epoch[l->slot])) {
        return ledger_fail(err, "fenced");
    }
    if (row == UINT32_MAX) {
        return SR_OK;
    }
    uint8_t *to = sr_out_room(note, sizeof(row));
    if (!to) {
        return SR_ENOMEM;
    }
    memcpy(to, &row, sizeof(row));
    note->len += sizeof(row);
    return SR_OK;
}

/* Rows that come from now on belong to the other producer's transaction. */
static void ledger_swap(struct ledger_decider *l, uint64_t checkpoint)
{
    l->deciding = checkpoint;
    l->is_marked = false;
    l->released = checkpoint;
    l->slot = 1 - l->slot;
}

/* The commit is sent: it may be lost, or arrive late, or arrive and come once more later. */
static sr_rc ledger_commit(struct target *t, uint32_t slot, uint64_t epoch, struct sr_error *err)
{
    struct world *w = world_now;
    if (ledger_chance(6)) {
        return ledger_fail(err, "the commit was lost");
    }
    if (ledger_chance(6)) {
        target_commit_later(t, slot, epoch, w->now_us + world_below(w, 200000));
        return ledger_fail(err, "the commit is late");
    }
    if (ledger_chance(1)) {
        target_commit_later(t, slot, epoch, w->now_us + world_below(w, 200000));
    }
    if (!target_commit(t, slot, epoch, ledger_show, NULL)) {
        return ledger_fail(err, "fenced");
    }
    return ledger_chance(4) ? ledger_fail(err, "the ledger did not answer") : SR_OK;
}

static sr_rc ledger_decide(void *d, const struct sr_marker *m, struct sr_wait *wait,
                           struct sr_error *err)
{
    struct ledger_decider *l = d;
    struct world *w = world_now;
    struct target_marker to = {m->lineage, m->checkpoint};
    if (l->deciding != m->checkpoint) {
        ledger_swap(l, m->checkpoint);
    }
    w->is_deciding = true;
    if (world_is_dead(w)) {
        return ledger_fail(err, "the ledger cannot be reached");
    }
    if (world_below(w, 3) == 0) {
        return ledger_busy(wait);
    }
    struct target *t = ledger_target();
    uint32_t slot = 1 - l->slot;
    if (!l->is_marked) {
#ifdef MUTANT_MARKER_APART /* what was decided is told before the rows are committed */
        t->marker = to;
#endif
        if (!target_mark(t, slot, l->epoch[slot], w->now_us, to)) {
            return ledger_fail(err, "fenced");
        }
        l->is_marked = true;
        if (world_below(w, 3) == 0) {
            return ledger_busy(wait);
        }
    }
    sr_rc rc = ledger_commit(t, slot, l->epoch[slot], err);
    w->is_deciding = false;
    world_trace(w, "decided", m->checkpoint, (uint64_t)rc);
    return rc;
}

static void ledger_drop(void *d, uint64_t checkpoint)
{
    struct ledger_decider *l = d;
    l->released = checkpoint > l->released ? checkpoint : l->released;
}

static sr_rc ledger_renew(void *d, struct sr_error *err)
{
    struct ledger_decider *l = d;
    if (world_is_dead(world_now)) {
        return ledger_fail(err, "the ledger cannot be reached");
    }
    if (world_now->is_zombie) {
        world_fail(world_now, "a process that was replaced makes a new producer");
    }
#ifndef MUTANT_ONE_PRODUCER /* a commit that comes late meets a later transaction */
    ledger_init(l, 1 - l->slot);
#else
    (void)l;
#endif
    return SR_OK;
}

static void ledger_close_decider(void *d) { (void)d; }

static const struct sr_decider_type ledger_decider_type = {
    .size = sizeof(struct sr_decider_type),
    .decider_size = sizeof(struct ledger_decider),
    .open = ledger_open_decider,
    .recover = ledger_recover,
    .look = ledger_look,
    .base = ledger_base,
    .evidence = ledger_evidence,
    .decide = ledger_decide,
    .drop = ledger_drop,
    .renew = ledger_renew,
    .close = ledger_close_decider,
};

/* --- The sink --------------------------------------------------------------------------------- */

static sr_rc ledger_check(const void *conf, const struct sr_schema *schema,
                          struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf, (void)schema, (void)err;
    *caps = (struct sr_sink_caps){
        .guarantee = SR_EXACTLY_ONCE, .makes_rows = true, .decider = "ledger"};
    return SR_OK;
}

static sr_rc ledger_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct ledger *s = sink;
    s->decider = o->decider;
    return s->decider ? SR_OK : ledger_fail(err, "it has no decider");
}

/* Whether rows must wait for what becomes of the checkpoint that they come behind. */
static bool ledger_is_held(const struct ledger *s) { return s->held > s->decider->released; }

static sr_rc ledger_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    struct ledger *s = sink;
    const struct ledger_decider *l = s->decider;
    struct world *w = world_now;
    if (ledger_is_held(s)) {
        return ledger_busy(wait);
    }
    sr_rc rc = sim_rows_write(&s->rows, v, from, done, wait, false);
    struct target *t = ledger_target();
    for (char *line = s->rows.text, *end; s->rows.len > 0 && line < s->rows.text + s->rows.len;
         line = end + 1) {
        end = memchr(line, '\n', s->rows.len);
        if (world_is_dead(w) || !target_produce(t, l->slot, l->epoch[l->slot], w->now_us, line,
                                                (uint32_t)(end - line))) {
            return ledger_fail(err, "fenced");
        }
    }
    s->rows.len = 0;
    return rc;
}

static sr_rc ledger_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                            struct sr_wait *wait, struct sr_error *err)
{
    (void)is_last, (void)notes;
    struct ledger *s = sink;
    const struct ledger_decider *l = s->decider;
    if (world_below(world_now, 6) == 0) {
        return ledger_busy(wait);
    }
    if (!target_is_heard(ledger_target(), l->slot, l->epoch[l->slot])) {
        return ledger_fail(err, "fenced");
    }
    s->held = checkpoint;
    return SR_OK;
}

static void ledger_close(void *sink) { free(((struct ledger *)sink)->rows.text); }

const struct sr_sink_type ledger_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "ledger",
    .doc = "A target whose transactions decide about checkpoints.",
    .opts = ledger_opts,
    .conf_size = sizeof(struct ledger_conf),
    .sink_size = sizeof(struct ledger),
    .check = ledger_check,
    .open = ledger_open,
    .write = ledger_write,
    .prepare = ledger_prepare,
    .close = ledger_close,
    .decider = &ledger_decider_type,
};
