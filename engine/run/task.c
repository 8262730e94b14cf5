#include "engine/run/task.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"

#define TASK_WALL_US INT64_C(1000000) /* how long nobody looks at the wall clock */

/* --- Telling ---------------------------------------------------------------------------------- */

static void task_report(struct task *t, struct report *r)
{
    r->task = t->index;
    r->life = t->life;
    r->part = t->part;
    r->parts = t->parts;
    reports_put(t->reports, r);
}

static enum task_did task_fail(struct task *t, const struct sr_error *err)
{
    struct report *r = report_new(REPORT_FAILED);
    t->is_failed = true;
    if (r) {
        r->error = *err;
        r->is_final = t->letters.is_over;
        r->culprit = t->letters.culprit;
        t->letters.culprit = (struct culprit){.source = NULL};
        task_report(t, r);
    } else {
        reports_lose(t->reports);
    }
    return TASK_FAILED;
}

/* A report without bytes. */
static sr_rc task_tell(struct task *t, enum report_kind kind, uint64_t checkpoint,
                       struct sr_error *err)
{
    struct report *r = report_new(kind);
    if (!r) return error_set(err, SR_ENOMEM, "%s: out of memory", t->vertex->name);
    r->checkpoint = checkpoint;
    task_report(t, r);
    return SR_OK;
}

static void task_wait(struct task_waits *waits, const struct sr_wait *wait)
{
    if (wait->fd < 0 && wait->until_us == INT64_MAX) return;
    sr_assert(waits->count < TASK_WAITS_MAX);
    waits->wait[waits->count++] = *wait;
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* The sink wants a checkpoint soon. It may say so with every row: told once a checkpoint. */
static void task_ask(void *ctx)
{
    struct task *t = ctx;
    struct sr_error ignored; /* memory is out: it will ask again */
    if (!t->has_asked && task_tell(t, REPORT_WANTED, 0, &ignored) == SR_OK) t->has_asked = true;
}

static const struct plan_node *task_first(const struct task *t)
{
    return &t->plan->node[t->vertex->node[0]];
}

static const struct plan_node *task_last(const struct task *t)
{
    return &t->plan->node[t->vertex->node[t->vertex->nodes - 1]];
}

static sr_rc task_open_letters(struct task *t, const struct task_conf *conf, struct sr_error *err)
{
    struct sr_sink_open open = *conf->sink_open;
    open.part = conf->letters_part;
    open.parts = conf->letters_parts;
    struct letters_conf letters = {.plan = t->plan,
                                   .env = t->env,
                                   .home = t->home,
                                   .ledger = conf->ledger,
                                   .attempt = conf->attempt,
                                   .open = &open,
                                   .ask = task_ask,
                                   .ask_ctx = t};
    return letters_open(&t->letters, &letters, err);
}

static sr_rc task_open_sink(struct task *t, const struct task_conf *conf, struct sr_error *err)
{
    struct sr_sink_open open = *conf->sink_open;
    open.part = t->part;
    open.parts = t->parts;
    struct sink_conf sink = {
        .plan = t->plan, .node = task_last(t), .env = t->env, .home = t->home, .open = &open};
    t->sink.ask = task_ask;
    t->sink.ask_ctx = t;
    return sink_open(&t->sink, &sink, err);
}

static sr_rc task_open_source(struct task *t, const struct task_conf *conf, struct sr_error *err)
{
    struct source_conf source = {.plan = t->plan,
                                 .node = task_first(t),
                                 .env = t->env,
                                 .home = t->home,
                                 .pool = conf->pool,
                                 .letters = &t->letters,
                                 .poison = conf->poison,
                                 .crumb = t->crumb,
                                 .part = t->part,
                                 .parts = t->parts};
    sr_rc rc = source_open(&t->source, &source, err);
    if (rc != SR_OK) return rc;
    int32_t stamp = task_first(t)->stamp;
    for (uint32_t i = 0; i < t->chain.levels && stamp >= 0; i++) {
        if (t->chain.level[i].node == &t->plan->node[stamp]) {
            t->chain.stamp = &t->source.stamp;
            t->chain.stamp_level = i;
        }
    }
    sr_assert(stamp < 0 || t->chain.stamp); /* the plan keeps it in the source's chain */
    return SR_OK;
}

sr_rc task_open(struct task *t, const struct task_conf *conf, struct sr_error *err)
{
    t->plan = conf->plan;
    t->vertex = conf->vertex;
    t->env = conf->env;
    t->reports = conf->reports;
    t->crumb = conf->crumb;
    t->index = conf->index;
    t->life = conf->life;
    t->part = conf->part;
    t->parts = conf->vertex->parallelism;
    t->has_source = task_first(t)->kind == PLAN_SOURCE;
    t->has_sink = task_last(t)->kind == PLAN_SINK;
    t->has_letters = plan_sets_aside(t->plan, t->vertex);
    t->goes_on = conf->pool && conf->pool->goes_on;
    t->home = home_new();
    if (!t->home) return error_set(err, SR_ENOMEM, "%s: out of memory", t->vertex->name);
    t->gate.home = t->outlet.home = t->home;
    struct chain_conf chain = {.plan = t->plan,
                               .vertex = t->vertex,
                               .env = t->env,
                               .home = t->home,
                               .letters = &t->letters,
                               .part = t->part};
    sr_rc rc = chain_open(&t->chain, &chain, err);
    if (rc == SR_OK && t->has_source) rc = task_open_source(t, conf, err);
    if (rc == SR_OK && t->has_sink) rc = task_open_sink(t, conf, err);
    if (rc == SR_OK && t->has_letters) rc = task_open_letters(t, conf, err);
    return rc;
}

void task_close(struct task *t)
{
    if (t->has_sink) sink_close(&t->sink);
    letters_close(&t->letters);
    if (t->has_source) source_close(&t->source);
    chain_close(&t->chain);
    gate_done(&t->gate);
    outlet_done(&t->outlet);
    home_close(t->home);
    t->home = NULL;
}

/* --- Orders ----------------------------------------------------------------------------------- */

/* Orders only grow; only the supervisor writes them. */
void task_inject(struct task *t, uint64_t checkpoint, uint32_t flags)
{
    sr_assert(flags < 1u << BARRIER_FLAGS);
    atomic_store(&t->orders.inject[checkpoint % TASK_INJECTS], checkpoint << BARRIER_FLAGS | flags);
    atomic_store(&t->orders.injected, checkpoint);
}

void task_show(struct task *t, uint64_t checkpoint) { atomic_store(&t->orders.shown, checkpoint); }

void task_drop(struct task *t, uint64_t checkpoint)
{
    atomic_store(&t->orders.dropped, checkpoint);
}

void task_finish(struct task *t) { atomic_store(&t->orders.finish, true); }

static void task_obey_drop(struct task *t)
{
    uint64_t n = atomic_load(&t->orders.dropped);
    if (n <= t->dropped) return;
    t->dropped = n;
    if (!t->has_source) gate_drop(&t->gate, n);
    if (t->injected <= n) t->is_held = false;
    if (t->has_source) (void)source_halt(&t->source, false);
    if (t->stopped_at <= n) t->stopped_at = 0;
    /* A barrier that waits for its sink to prepare is given up; one that is saved goes on, and is
     * ignored where it comes. */
    if (t->barrier.kind == MSG_BARRIER && t->barrier.checkpoint <= n && !t->barrier_is_saved) {
        t->barrier.kind = MSG_NONE;
    }
}

/* Commits in the sink, then in the target of dead letters. */
static enum sink_did task_commit(struct task *t, int64_t now_us, struct task_waits *waits,
                                 struct sr_error *err)
{
    struct sr_wait wait;
    enum sink_did did = SINK_DONE;
    if (t->has_sink) did = sink_commit(&t->sink, t->shown, now_us, &wait, err);
    if (did == SINK_DONE && t->has_letters) {
        did = sink_commit(&t->letters.sink, t->shown, now_us, &wait, err);
    }
    if (did == SINK_BUSY) task_wait(waits, &wait);
    return did;
}

/* Commits what was shown; what is busy is asked again. */
static sr_rc task_obey_show(struct task *t, int64_t now_us, struct task_waits *waits,
                            struct sr_error *err)
{
    uint64_t n = atomic_load(&t->orders.shown);
    if (n > t->shown) {
        t->shown = n;
        if (t->has_source) source_acknowledge(&t->source, n);
    }
    if (!task_commits(t) || t->confirmed == t->shown) return SR_OK;
    switch (task_commit(t, now_us, waits, err)) {
    case SINK_DONE:
        env_crash_point(t->env, "run: after a commit");
        t->confirmed = t->shown;
        return task_tell(t, REPORT_CONFIRMED, t->shown, err);
    case SINK_BUSY:
        return SR_OK;
    case SINK_FULL:
    case SINK_FAILED:
        break;
    }
    return err->rc;
}

/* --- Barriers --------------------------------------------------------------------------------- */

static sr_rc task_save_and_tell(struct task *t, struct sr_error *err)
{
    struct report *r = task_save(t, t->barrier.checkpoint, err);
    if (!r) return err->rc;
    t->barrier_is_saved = true;
    env_crash_point(t->env, "run: before a task reports saved");
    task_report(t, r);
#ifdef MUTANT_ACK_BEFORE_PUBLISH /* the world forgets what no checkpoint in the store holds yet */
    if (t->has_source) source_acknowledge(&t->source, t->barrier.checkpoint);
#endif
    return SR_OK;
}

/* Makes rows and dead letters durable. SINK_BUSY: call again. */
static enum sink_did task_prepare(struct task *t, int64_t now_us, struct task_waits *waits,
                                  struct sr_error *err)
{
    const struct sink_barrier b = {.checkpoint = t->barrier.checkpoint,
                                   .is_last = (t->barrier.flags & BARRIER_LAST) != 0};
    struct sr_wait wait;
    enum sink_did did = SINK_DONE;
    while (t->has_sink && !t->barrier_is_prepared && did == SINK_DONE) {
        did = sink_prepare(&t->sink, &b, &t->letters, now_us, &wait, err);
        t->barrier_is_prepared = did == SINK_DONE;
        if (did == SINK_FULL) did = letters_write(&t->letters, now_us, &wait, err);
    }
    if (did == SINK_DONE && t->has_letters) {
        did = letters_write(&t->letters, now_us, &wait, err);
#ifndef MUTANT_LETTERS_UNPREPARED /* the position covers records that nobody has */
        if (did == SINK_DONE) {
            did = sink_prepare(&t->letters.sink, &b, NULL, now_us, &wait, err);
        }
#endif
    }
    if (did == SINK_BUSY) task_wait(waits, &wait);
    return did;
}

/* Carries the barrier one stage on. */
static enum task_did task_barrier(struct task *t, int64_t now_us, struct task_waits *waits,
                                  struct sr_error *err)
{
    sr_assert(chain_is_empty(&t->chain));
    if (!t->barrier_is_saved && task_commits(t)) {
        switch (task_prepare(t, now_us, waits, err)) {
        case SINK_DONE:
            env_crash_point(t->env, "run: after a sink prepared");
#ifdef MUTANT_COMMIT_BEFORE_PUBLISH /* shows rows that no checkpoint in the store holds yet */
            if (t->has_sink) {
                struct sr_wait wait;
                (void)sink_commit(&t->sink, t->barrier.checkpoint, now_us, &wait, err);
            }
#endif
            break;
        case SINK_BUSY:
            return TASK_NOTHING;
        case SINK_FULL:
        case SINK_FAILED:
            return task_fail(t, err);
        }
    }
    if (!t->barrier_is_saved && task_save_and_tell(t, err) != SR_OK) return task_fail(t, err);
    if (!t->has_sink) outlet_control(&t->outlet, &t->barrier);
    t->barrier.kind = MSG_NONE;
    return TASK_DID;
}

static void task_begin_barrier(struct task *t, const struct msg *m)
{
    sr_assert(t->barrier.kind == MSG_NONE);
    t->barrier = *m;
    if ((m->flags & (BARRIER_HOLD | BARRIER_LAST)) != 0) t->stopped_at = m->checkpoint;
    t->barrier_is_saved = t->barrier_is_prepared = false;
    t->has_asked = false;
}

/* --- Moving ----------------------------------------------------------------------------------- */

/* What came out of the chain goes on. */
static sr_rc task_pass(struct task *t, struct msg *m, struct sr_error *err)
{
    if (t->has_sink) {
        if (m->kind == MSG_VIEW) {
            sink_put(&t->sink, m->view);
        } else if (m->kind == MSG_WATERMARK) {
            sink_watermark(&t->sink, m->watermark);
        }
        return SR_OK;
    }
    switch (m->kind) {
    case MSG_VIEW:
        return outlet_view(&t->outlet, m->view, err);
    case MSG_WATERMARK:
        outlet_watermark(&t->outlet, m->watermark);
        break;
    case MSG_IDLE:
    case MSG_ACTIVE:
    case MSG_END:
        outlet_control(&t->outlet, m);
        break;
    case MSG_NONE:
    case MSG_BARRIER:
        sr_assert(m->kind != MSG_NONE && m->kind != MSG_BARRIER);
        break;
    }
    return SR_OK;
}

/* Writes dead letters, all of them or when there are many. TASK_DID: there is room again. */
static enum task_did task_write_letters(struct task *t, bool all, int64_t now_us,
                                        struct task_waits *waits, struct sr_error *err)
{
    if (!t->has_letters || (!all && !letters_is_full(&t->letters))) return TASK_DID;
    struct sr_wait wait;
    switch (letters_write(&t->letters, now_us, &wait, err)) {
    case SINK_DONE:
        return TASK_DID;
    case SINK_BUSY:
        task_wait(waits, &wait);
        return TASK_NOTHING;
    case SINK_FULL:
    case SINK_FAILED:
        break;
    }
    return TASK_FAILED;
}

/* Can the tail take something? Writes on what waits there. */
static enum task_did task_tail(struct task *t, int64_t now_us, struct task_waits *waits,
                               struct sr_error *err)
{
    if (!t->has_sink) return outlet_flush(&t->outlet) ? TASK_DID : TASK_NOTHING;
    while (t->sink.view) {
        enum task_did did = task_write_letters(t, false, now_us, waits, err);
        if (did != TASK_DID) return did;
        struct sr_wait wait;
        switch (sink_write(&t->sink, &t->letters, now_us, &wait, err)) {
        case SINK_DONE:
        case SINK_FULL:
            break;
        case SINK_BUSY:
            task_wait(waits, &wait);
            return TASK_NOTHING;
        case SINK_FAILED:
            return TASK_FAILED;
        }
    }
    return TASK_DID;
}

/* Works off what the chain holds. TASK_DID: it is empty, and so is the tail. */
static enum task_did task_drain_chain(struct task *t, int64_t now_us, struct task_waits *waits,
                                      struct sr_error *err)
{
    for (;;) {
        enum task_did did = task_tail(t, now_us, waits, err);
        if (did == TASK_DID) did = task_write_letters(t, false, now_us, waits, err);
        if (did != TASK_DID) return did;
        struct msg m;
        if (chain_run(&t->chain, now_us, &m, err) != SR_OK) return TASK_FAILED;
        if (m.kind == MSG_NONE && chain_is_empty(&t->chain)) return TASK_DID;
        if (m.kind != MSG_NONE && task_pass(t, &m, err) != SR_OK) return TASK_FAILED;
    }
}

/* A message for the task itself, or for its chain, from level `level` on. */
static sr_rc task_take(struct task *t, struct msg *m, uint32_t level, uint32_t port,
                       struct sr_error *err)
{
    switch (m->kind) {
    case MSG_VIEW:
        crumbs_set(t->crumb, t->plan, task_first(t)->step, m->view);
        chain_put(&t->chain, level, m, port);
        break;
    case MSG_WATERMARK:
        chain_put(&t->chain, level, m, port);
        break;
    case MSG_BARRIER:
        task_begin_barrier(t, m);
        break;
    case MSG_IDLE:
    case MSG_ACTIVE:
        return task_pass(t, m, err);
    case MSG_END:
        t->is_ended = true;
        if (!t->has_sink) outlet_control(&t->outlet, m);
        break;
    case MSG_NONE:
        break;
    }
    return SR_OK;
}

/* --- Inputs ----------------------------------------------------------------------------------- */

static enum task_did task_read_gate(struct task *t, int64_t now_us, struct sr_error *err)
{
    struct msg m;
    uint32_t port = 0;
    if (gate_next(&t->gate, &m, &port, err) != SR_OK) return TASK_FAILED;
    if (m.kind == MSG_BARRIER) {
        t->align_us = t->aligning_us > 0 ? now_us - t->aligning_us : 0;
    }
    if (t->gate.aligning == 0) {
        t->aligning_us = 0;
    } else if (t->aligning_us == 0) {
        t->aligning_us = now_us;
    }
    if (m.kind == MSG_NONE) return TASK_NOTHING;
    return task_take(t, &m, 0, port, err) == SR_OK ? TASK_DID : TASK_FAILED;
}

/* The source has nothing more: say so, once. The watermark +infinity goes first, so that operators
 * let go of what they hold. Of a job that goes on later they keep it; the watermark then stays
 * where this source left it, or rows that come to it later would be late by what other sources
 * read. A subtask that got no split has no say in that. */
static enum task_did task_source_end(struct task *t, struct sr_error *err)
{
    if (t->goes_on && !t->source.is_idle && t->source.next_number == 0) {
        t->source.is_idle = true;
        struct msg m = {.kind = MSG_IDLE};
        return task_pass(t, &m, err) == SR_OK ? TASK_DID : TASK_FAILED;
    }
    if (!t->is_draining && !t->goes_on) {
        t->is_draining = true;
        struct msg m = {.kind = MSG_WATERMARK, .watermark = SR_WATERMARK_END};
        chain_put(&t->chain, 0, &m, 0);
        return TASK_DID;
    }
    if (!t->has_told_drained) {
        t->has_told_drained = true;
        return task_tell(t, REPORT_DRAINED, 0, err) == SR_OK ? TASK_DID : TASK_FAILED;
    }
    return TASK_NOTHING;
}

/* A barrier was ordered: rows in hand go first, then what the flags ask for, then the barrier. */
static enum task_did task_inject_now(struct task *t, uint64_t order, struct sr_error *err)
{
    uint64_t checkpoint = order >> BARRIER_FLAGS;
    uint32_t flags = (uint32_t)(order & ((1u << BARRIER_FLAGS) - 1));
    struct msg m;
    if (source_seal(&t->source, &m, err) != SR_OK) return TASK_FAILED;
    if (m.kind != MSG_NONE) return task_take(t, &m, 0, 0, err) == SR_OK ? TASK_DID : TASK_FAILED;
    if ((flags & BARRIER_DRAIN) != 0 && !t->is_draining) {
        t->is_draining = true;
        m = (struct msg){.kind = MSG_WATERMARK, .watermark = SR_WATERMARK_END};
        chain_put(&t->chain, 0, &m, 0);
        return TASK_DID;
    }
    t->injected = checkpoint;
    t->is_held = (flags & BARRIER_HOLD) != 0;
    task_begin_barrier(
        t, &(struct msg){.kind = MSG_BARRIER, .flags = flags, .checkpoint = checkpoint});
    return TASK_DID;
}

/* The oldest order that was not carried out and not dropped; 0: none. */
static uint64_t task_next_order(const struct task *t)
{
    uint64_t past = t->injected > t->dropped ? t->injected : t->dropped;
    uint64_t next = 0;
    if (atomic_load(&t->orders.injected) <= past) return 0;
    for (uint32_t i = 0; i < TASK_INJECTS; i++) {
        uint64_t order = atomic_load(&t->orders.inject[i]);
        if (order >> BARRIER_FLAGS > past && (next == 0 || order < next)) next = order;
    }
    return next;
}

static enum task_did task_read_source(struct task *t, int64_t now_us, struct task_waits *waits,
                                      struct sr_error *err)
{
    uint64_t order = task_next_order(t);
    bool is_stop = (order & BARRIER_HOLD) != 0;
    if (order != 0 && (!is_stop || source_halt(&t->source, true))) {
        return task_inject_now(t, order, err);
    }
    if (atomic_load(&t->orders.finish)) {
        struct msg m = {.kind = MSG_END};
        return task_take(t, &m, 0, 0, err) == SR_OK ? TASK_DID : TASK_FAILED;
    }
    if (t->is_held) return TASK_NOTHING;
    struct msg m;
    struct sr_wait wait;
    uint32_t level = 0;
    switch (source_next(&t->source, now_us, &m, &wait, err)) {
    case SOURCE_MSG:
        if (m.kind == MSG_WATERMARK) level = t->chain.stamp_level + 1;
        return task_take(t, &m, level, 0, err) == SR_OK ? TASK_DID : TASK_FAILED;
    case SOURCE_DID:
        return TASK_DID;
    case SOURCE_WAIT:
        task_wait(waits, &wait);
        return TASK_NOTHING;
    case SOURCE_END:
        return task_source_end(t, err);
    case SOURCE_FAILED:
        break;
    }
    return TASK_FAILED;
}

/* No row is waiting: what sinks buffer is handed on. */
static enum task_did task_rest(struct task *t, int64_t now_us, struct task_waits *waits,
                               struct sr_error *err)
{
    struct sr_wait wait;
    enum sink_did did = SINK_DONE;
    if (t->has_sink) did = sink_flush(&t->sink, &t->letters, now_us, &wait, err);
    if (did == SINK_BUSY) task_wait(waits, &wait);
    if (did == SINK_FAILED) return TASK_FAILED;
    if (!t->has_letters) return TASK_NOTHING;
    enum task_did wrote = task_write_letters(t, true, now_us, waits, err);
    if (wrote != TASK_DID) return wrote;
    if (did == SINK_FULL) return TASK_DID; /* there is room again: it goes on */
    did = sink_flush(&t->letters.sink, NULL, now_us, &wait, err);
    if (did == SINK_BUSY) task_wait(waits, &wait);
    return did == SINK_FAILED ? TASK_FAILED : TASK_NOTHING;
}

/* Operators that asked for a time of the wall clock. Behind a barrier that the job stops at nobody
 * is woken: what came out would come out once more in the next run. */
static enum task_did task_wake(struct task *t, int64_t now_us, struct task_waits *waits,
                               struct sr_error *err)
{
    if (!t->chain.has_sleepers || t->stopped_at > 0) return TASK_NOTHING;
    int64_t wall_us = t->env->wall_us(t->env), wall_ms = wall_us / 1000, next_ms;
    bool did;
    if (chain_wake(&t->chain, wall_ms, &did, &next_ms, err) != SR_OK) return TASK_FAILED;
    if (did) return TASK_DID;
    if (next_ms != SR_WAKE_NEVER) {
        int64_t in_us = next_ms * 1000 - wall_us;
        if (in_us > TASK_WALL_US) in_us = TASK_WALL_US; /* the wall clock may be set meanwhile */
        struct sr_wait wait = {.fd = -1, .until_us = now_us + in_us};
        task_wait(waits, &wait);
    }
    return TASK_NOTHING;
}

static enum task_did task_ended(struct task *t, struct sr_error *err)
{
    if (!t->has_told_ended) {
        t->has_told_ended = true;
        if (task_tell(t, REPORT_ENDED, 0, err) != SR_OK) return task_fail(t, err);
    }
    return TASK_ENDED;
}

enum task_did task_step(struct task *t, int64_t now_us, struct task_waits *waits)
{
    waits->count = 0;
    if (t->is_failed) return TASK_FAILED;
    struct sr_error err = {.rc = SR_OK};
    task_obey_drop(t);
    if (task_obey_show(t, now_us, waits, &err) != SR_OK) return task_fail(t, &err);

    enum task_did did = task_drain_chain(t, now_us, waits, &err);
    if (did == TASK_FAILED) return task_fail(t, &err);
    /* Until it reads again the source is not idle but kept from reading. */
    if (t->has_source && did == TASK_NOTHING) stamp_pause(&t->source.stamp, now_us);
    t->is_pressed = did == TASK_NOTHING;
    if (t->is_pressed) return TASK_NOTHING;
    crumbs_clear(t->crumb);
    if (t->barrier.kind != MSG_NONE) {
        if (t->has_source) stamp_pause(&t->source.stamp, now_us);
        return task_barrier(t, now_us, waits, &err);
    }
    if (t->is_ended) return task_ended(t, &err);

    did = task_wake(t, now_us, waits, &err);
    if (did != TASK_NOTHING) {
        /* what came out goes first */
    } else if (t->has_source) {
        did = task_read_source(t, now_us, waits, &err);
    } else {
        did = task_read_gate(t, now_us, &err);
    }
    if (did == TASK_NOTHING) did = task_rest(t, now_us, waits, &err);
    return did == TASK_FAILED ? task_fail(t, &err) : did;
}
