/* Carries out what the coordinator commands: inject, store, show, drop; and retains when sinks have
 * confirmed. Runs in the supervisor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/run/supervise_inner.h"

#define CHECKPOINTING_LOOK_US  INT64_C(100000)  /* whether a backlog is worked off */
#define CHECKPOINTING_RETRY_US INT64_C(1000000) /* before a last checkpoint is tried again */

/* Longer than this many at once nothing is ever pending: settings.c refuses more. */
static uint32_t checkpointing_concurrent(const struct supervise *s)
{
    const struct settings *set = &s->plan->job->settings;
    sr_assert(set->max_concurrent >= 1 && set->max_concurrent <= COORD_PENDING_MAX);
    if (s->deciding.decider.node) return 1; /* its rows are in one transaction */
    return set->min_pause.us > 0 ? 1 : (uint32_t)set->max_concurrent; /* as Flink decides */
}

void checkpointing_start(struct supervise *s, int64_t now_us)
{
    struct checkpointing *k = &s->ck;
    const struct settings *set = &s->plan->job->settings;
    struct coord_conf conf = {.tasks = s->crew->tasks,
                              .newest = k->newest,
                              .interval_us = set->interval.us > 0 ? set->interval.us : 0,
                              .backlog_us = set->backlog_interval.us,
                              .timeout_us = set->timeout.us,
                              .min_pause_us = set->min_pause.us > 0 ? set->min_pause.us : 0,
                              .concurrent_max = checkpointing_concurrent(s),
                              .tolerable = set->tolerable_failures};
    coord_init(&k->coord, &conf, now_us);
    sr_assert(k->runs == 0 && !k->stop && k->deciding == 0);
    k->showing = 0;
    k->showing_kind = COORD_CHECKPOINT;
    k->confirmed = 0;
    k->has_lost_last = false;
    k->last_retry_us = now_us;
    k->is_wanted = false;
}

/* 0: none is. */
static void checkpointing_set_deciding(struct supervise *s, uint64_t checkpoint)
{
    s->ck.deciding = checkpoint;
    mutex_lock(s->lock);
    s->shown.checkpoint_pending = checkpoint;
    s->shown.pending_since_us = s->env->wall_us(s->env);
    mutex_unlock(s->lock);
}

/* --- Those on the way ------------------------------------------------------------------------- */

static struct checkpoint_run *checkpointing_find(struct checkpointing *k, uint64_t checkpoint)
{
    for (uint32_t i = 0; i < k->runs; i++) {
        if (k->run[i].checkpoint == checkpoint) return &k->run[i];
    }
    return NULL;
}

static void checkpointing_forget_saved(struct checkpoint_run *run)
{
    while (run->saved) {
        struct report *r = run->saved;
        run->saved = r->next;
        report_free(r);
    }
}

/* A stop is answered at the end of the job, if it was shown. */
static void checkpointing_answer(struct checkpointing *k, struct checkpoint_run *run, sr_rc rc,
                                 const struct sr_error *why)
{
    struct run_request *r = run->request;
    run->request = NULL;
    if (!r || (r == k->stop && rc == SR_OK)) return;
    if (r == k->stop) k->stop = NULL;
    supervise_answer(r, rc, why);
}

/* Takes one away; whoever waits for it was answered before, or is now. */
static void checkpointing_leave(struct supervise *s, struct checkpoint_run *run,
                                const struct sr_error *why)
{
    struct checkpointing *k = &s->ck;
    if (run->is_hidden) store_savepoint_forget(s->conf.store, run->request->path);
    if (run->request) checkpointing_answer(k, run, why->rc, why);
    checkpointing_forget_saved(run);
    k->runs--;
    for (struct checkpoint_run *r = run; r < k->run + k->runs; r++) {
        *r = r[1];
    }
    k->run[k->runs] = (struct checkpoint_run){.checkpoint = 0};
}

void checkpointing_stop(struct supervise *s, const struct sr_error *why)
{
    struct checkpointing *k = &s->ck;
    while (k->runs > 0) {
        checkpointing_leave(s, k->run, why);
    }
    if (k->stop) supervise_answer(k->stop, why->rc, why); /* it was shown, and nothing followed */
    k->stop = NULL;
    k->showing = 0;
    if (k->deciding != 0) checkpointing_set_deciding(s, 0);
}

/* --- The manifest ----------------------------------------------------------------------------- */

static int checkpointing_compare(const void *a, const void *b)
{
    const struct manifest_part *x = a;
    const struct manifest_part *y = b;
    int by_uid = strcmp(x->uid, y->uid);
    if (by_uid != 0) return by_uid;
    int by_name = strcmp(x->name, y->name);
    if (by_name != 0) return by_name;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* `note`: of the decider; empty: the job has none. */
static bool checkpointing_fill_parts(const struct checkpoint_run *run, const struct sr_out *note,
                                     struct arena *a, struct manifest *m)
{
    m->parts = note->len > 0 ? 1 : 0;
    for (const struct report *r = run->saved; r; r = r->next) {
        m->parts += r->saved;
    }
    m->part = arena_array(a, m->parts, sizeof(*m->part));
    if (!m->part) return m->parts == 0;
    uint32_t i = 0;
    if (note->len > 0) {
        m->part[i++] = (struct manifest_part){.uid = DECIDER_PART,
                                              .name = DECIDER_PART,
                                              .parts = 1,
                                              .bytes = note->data,
                                              .len = note->len};
    }
    for (const struct report *r = run->saved; r; r = r->next) {
        for (uint32_t p = 0; p < r->saved; p++) {
            m->part[i++] = (struct manifest_part){.uid = r->item[p].uid,
                                                  .name = r->item[p].name,
                                                  .part = r->item[p].part,
                                                  .parts = r->item[p].parts,
                                                  .bytes = r->item[p].bytes.data,
                                                  .len = r->item[p].bytes.len};
        }
    }
    qsort(m->part, m->parts, sizeof(*m->part), checkpointing_compare);
    return true;
}

static bool checkpointing_fill_counters(const struct supervise *s, const struct checkpoint_run *run,
                                        struct arena *a, struct manifest *m)
{
    uint32_t nodes = s->plan->nodes;
    struct counts *sum = arena_array(a, nodes, sizeof(*sum));
    m->counter = arena_array(a, (size_t)nodes * COUNTER_COUNT, sizeof(*m->counter));
    if (!sum || !m->counter) return false;
    for (const struct report *r = run->saved; r; r = r->next) {
        for (uint32_t i = 0; i < r->counted; i++) {
            counts_add(&sum[r->count[i].node], &r->count[i].counts);
        }
    }
    char path[MANIFEST_NAME_MAX];
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint32_t k = 0; k < COUNTER_COUNT; k++) {
            if (!counter_path(s->plan, n, (enum counter_name)k, path, sizeof(path))) continue;
            m->counter[m->counters].name = arena_text(a, path);
            m->counter[m->counters++].value = sum[n].value[k];
        }
    }
    return !arena_is_broken(a);
}

static bool checkpointing_fill(const struct supervise *s, const struct checkpoint_run *run,
                               const struct sr_out *note, struct arena *a, struct manifest *m)
{
    const struct job *job = s->plan->job;
    const struct manifest *begin = supervise_begin_of(s);
    *m = (struct manifest){.version = MANIFEST_VERSION,
                           .end = MANIFEST_RUNNING,
                           .checkpoint = run->checkpoint,
                           .lineage = s->conf.lineage,
                           .attempt = store_attempt(s->conf.store),
                           .parent = begin ? begin->checkpoint : 0,
                           .started_us = run->started_wall_us,
                           .ended_us = s->env->wall_us(s->env),
                           .job_id = job->id,
                           .job_name = job->name,
                           .description = job->description ? job->description : "",
                           .made_by = RUN_MADE_BY,
                           .max_parallelism = s->plan->max_parallelism};
    return checkpointing_fill_parts(run, note, a, m) && checkpointing_fill_counters(s, run, a, m);
}

/* --- Commands --------------------------------------------------------------------------------- */

static uint32_t checkpointing_flags(const struct supervise *s, enum coord_kind kind)
{
    const struct run_request *stop = s->ck.stop;
    switch (kind) {
    case COORD_CHECKPOINT:
    case COORD_SAVEPOINT:
        break;
    case COORD_STOP:
        return stop && stop->is_drain ? BARRIER_HOLD | BARRIER_LAST | BARRIER_DRAIN : BARRIER_HOLD;
    case COORD_LAST:
        if (s->goal == GOAL_FINISH) return BARRIER_HOLD | BARRIER_LAST | BARRIER_DRAIN;
        return s->goal == GOAL_LEAVE ? BARRIER_HOLD | BARRIER_LAST : BARRIER_HOLD;
    }
    return 0;
}

/* The oldest savepoint that was asked for is what this one is for. */
static struct run_request *checkpointing_take_request(struct supervise *s)
{
    mutex_lock(s->lock);
    struct run_request *r = s->requests;
    s->requests = r->next;
    mutex_unlock(s->lock);
    r->next = NULL;
    return r;
}

static void checkpointing_inject(struct supervise *s, const struct coord_cmd *cmd, int64_t now_us)
{
    struct checkpointing *k = &s->ck;
    sr_assert(k->runs < COORD_PENDING_MAX);
    struct checkpoint_run *run = &k->run[k->runs++];
    *run = (struct checkpoint_run){.checkpoint = cmd->checkpoint,
                                   .started_us = now_us,
                                   .started_wall_us = s->env->wall_us(s->env)};
    if (cmd->kind == COORD_SAVEPOINT || cmd->kind == COORD_STOP) {
        run->request = checkpointing_take_request(s);
        run->request->checkpoint = cmd->checkpoint;
        if (cmd->kind == COORD_STOP) k->stop = run->request;
    }
    k->newest = cmd->checkpoint;
    mutex_lock(s->lock);
    s->shown.checkpoint_newest = cmd->checkpoint;
    mutex_unlock(s->lock);
    crew_inject(s->crew, cmd->checkpoint, checkpointing_flags(s, cmd->kind));
    supervise_order(s);
}

/* Copies a savepoint out; one that is not decided yet has no name so far. */
static sr_rc checkpointing_write_savepoint(struct supervise *s, struct checkpoint_run *run,
                                           struct manifest *m, struct arena *a,
                                           struct sr_error *err)
{
    const char *path = NULL;
    struct run_request *request = run->request;
    bool is_hidden = s->deciding.decider.node != NULL;
    m->kind = MANIFEST_SAVEPOINT;
    sr_rc rc = (is_hidden ? store_savepoint_hidden : store_savepoint)(s->conf.store, request->dir,
                                                                      m, a, &path, err);
    /* Whatever became of a savepoint, nothing depends on it. */
    if (rc == SR_EUNKNOWN || rc == SR_EFENCED) rc = err->rc = SR_EIO;
    if (rc != SR_OK) return rc;
    (void)snprintf(request->path, sizeof(request->path), "%s", path);
    run->is_hidden = is_hidden;
    m->kind = MANIFEST_CHECKPOINT;
    return SR_OK;
}

/* A savepoint is then published as a checkpoint as well: sinks commit what it holds, so the job
 * must be able to go back to it by itself. */
static sr_rc checkpointing_write(struct supervise *s, struct checkpoint_run *run,
                                 struct manifest *m, struct arena *a, struct sr_error *err)
{
    sr_rc rc = run->request ? checkpointing_write_savepoint(s, run, m, a, err) : SR_OK;
    if (rc != SR_OK) return rc;
    if (s->deciding.decider.node) m->end = MANIFEST_PENDING;
    env_crash_point(s->env, "run: before publish");
    rc = store_publish(s->conf.store, m, err);
    if (rc == SR_OK) env_crash_point(s->env, "run: after publish");
    return rc;
}

/* How long its tasks took: the slowest of them. */
static struct run_phases checkpointing_phases(const struct checkpoint_run *run)
{
    struct run_phases p = {.store_us = 0};
    for (const struct report *r = run->saved; r; r = r->next) {
        if (r->align_us > p.alignment_us) p.alignment_us = r->align_us;
        if (r->sync_us > p.sync_us) p.sync_us = r->sync_us;
        if (r->async_us > p.async_us) p.async_us = r->async_us;
    }
    return p;
}

/* *fatal: nobody may go on, not even a restart. */
static sr_rc checkpointing_store(struct supervise *s, struct checkpoint_run *run, bool *fatal,
                                 struct sr_error *err)
{
    struct arena *a = arena_new();
    struct sr_out note = bytes_out();
    struct deciding *d = &s->deciding;
    struct manifest m;
    sr_rc rc = SR_OK;
    uint64_t bytes = 0;
    if (d->decider.node) {
        rc = decider_note_save(&d->decider, run->checkpoint, d->decided, &note, err);
        if (rc != SR_OK) goto out;
    }
    if (!a || !checkpointing_fill(s, run, &note, a, &m)) {
        rc = error_set(err, SR_ENOMEM, "out of memory for a checkpoint");
        goto out;
    }
    for (uint32_t i = 0; i < m.parts; i++) {
        bytes += m.part[i].len;
    }
    int64_t start_us = s->env->mono_us(s->env);
    rc = checkpointing_write(s, run, &m, a, err);
    if (rc == SR_OK) {
        struct run_phases phases = checkpointing_phases(run);
        phases.store_us = s->env->mono_us(s->env) - start_us;
        s->ck.published = m.checkpoint;
        mutex_lock(s->lock);
        s->shown.checkpoint_last_bytes = bytes;
        s->shown.phases = phases;
        mutex_unlock(s->lock);
    }
out:
    *fatal = rc == SR_EUNKNOWN || rc == SR_EFENCED;
    bytes_free(&note);
    arena_free(a);
    return rc;
}

/* Every sink has committed it: what is older is not needed any more. */
static void checkpointing_all_confirmed(struct supervise *s)
{
    struct checkpointing *k = &s->ck;
    struct sr_error err = {.rc = SR_OK};
    mutex_lock(s->lock);
    s->shown.phases.show_us = s->env->mono_us(s->env) - k->showing_us;
    mutex_unlock(s->lock);
    env_crash_point(s->env, "run: before retain");
    if (store_retain(s->conf.store, s->conf.lineage, k->showing, &err) != SR_OK) {
        env_log(s->env, SR_WARN, "checkpoints", "older checkpoints could not be deleted: %s",
                err.words);
    }
    env_crash_point(s->env, "run: after retain");
    if (k->showing_kind == COORD_LAST && s->goal == GOAL_FINISH) {
        crew_finish(s->crew);
        supervise_order(s);
    }
}

static void checkpointing_show(struct supervise *s, const struct coord_cmd *cmd, int64_t now_us)
{
    struct checkpointing *k = &s->ck;
    struct checkpoint_run *run = checkpointing_find(k, cmd->checkpoint);
    struct sr_error older;
    (void)error_set(&older, SR_ECLOSED, "checkpoint %llu was complete before it",
                    (unsigned long long)cmd->checkpoint);
    sr_assert(run);
    k->showing = cmd->checkpoint;
    k->showing_us = now_us;
    k->showing_kind = cmd->kind;
    k->confirmed = 0;
    mutex_lock(s->lock);
    s->shown.checkpoint_shown = cmd->checkpoint;
    s->shown.checkpoints_shown++;
    s->shown.checkpoint_last_us = now_us - run->started_us;
    mutex_unlock(s->lock);
    supervise_let_go(s);
    if (cmd->kind == COORD_STOP) {
        s->goal = GOAL_STOP;
        coord_stop(&k->coord);
    }
    checkpointing_answer(k, run, SR_OK, NULL);
    while (k->runs > 0 && k->run[0].checkpoint <= cmd->checkpoint) {
        checkpointing_leave(s, k->run, &older);
    }
    crew_show(s->crew, cmd->checkpoint);
    supervise_order(s);
    env_crash_point(s->env, "run: after show");
    if (s->crew->sinks == 0) checkpointing_all_confirmed(s);
}

static void checkpointing_drop(struct supervise *s, const struct coord_cmd *cmd,
                               const struct sr_error *why, int64_t now_us)
{
    struct checkpointing *k = &s->ck;
    struct checkpoint_run *run = checkpointing_find(k, cmd->checkpoint);
    sr_assert(run);
    checkpointing_leave(s, run, why);
    mutex_lock(s->lock);
    s->shown.checkpoints_failed++;
    struct sr_error told; /* cuts what is too long */
    (void)error_set(&told, why->rc, "checkpoint %llu: %s", (unsigned long long)cmd->checkpoint,
                    why->words);
    memcpy(s->shown.checkpoint_failure, told.words, sizeof(told.words));
    mutex_unlock(s->lock);
    env_log(s->env, SR_WARN, "checkpoints",
            "checkpoint %llu failed: %s (%lld consecutive failed attempts so far)",
            (unsigned long long)cmd->checkpoint, why->words, (long long)k->coord.failures);
    k->last_retry_us = now_us + CHECKPOINTING_RETRY_US;
    if (cmd->kind == COORD_LAST) k->has_lost_last = true;
    decider_drop(&s->deciding.decider, cmd->checkpoint);
    crew_drop(s->crew, cmd->checkpoint);
    supervise_order(s);
}

/* Why a checkpoint that came to nothing ends the attempt; SR_OK: it does not. */
static sr_rc checkpointing_judge(const struct supervise *s, const struct coord_cmd *cmd,
                                 bool was_draining, const struct sr_error *why,
                                 struct sr_error *err)
{
    if (cmd->what == COORD_FAIL) {
        return error_set(err, why->rc,
                         "checkpoint %llu failed: %s; that is %lld in a row, and "
                         "execution.checkpointing.tolerable-failed-checkpoints is %lld",
                         (unsigned long long)cmd->checkpoint, why->words,
                         (long long)s->ck.coord.failures, (long long)s->ck.coord.conf.tolerable);
    }
    if (!was_draining) return SR_OK;
    /* Watermark +infinity cannot be taken back. */
    return error_set(err, why->rc, "checkpoint %llu failed: %s",
                     (unsigned long long)cmd->checkpoint, why->words);
}

void checkpointing_lay_down(struct supervise *s, uint32_t region, const struct sr_error *why)
{
    int64_t now_us = s->env->mono_us(s->env);
    for (uint32_t i = 0; i < s->crew->tasks && s->ck.showing != 0; i++) {
        bool has_confirmed = s->crew->told[i].confirmed == s->ck.showing;
        if (crew_is_of(s->crew, i, region) && has_confirmed) s->ck.confirmed--;
    }
#ifdef MUTANT_REGION_KEEPS_CHECKPOINT /* it holds what a life of the region saved that is gone */
    return;
#endif
    for (;;) {
        struct coord_cmd cmd = coord_abandon(&s->ck.coord);
        if (cmd.what == COORD_NOTHING) return;
        checkpointing_drop(s, &cmd, why, now_us);
    }
}

/* Carries out one command that is not STORE; SR_OK, or the job fails. `why` says why for DROP and
 * FAIL. */
static sr_rc checkpointing_do(struct supervise *s, const struct coord_cmd *cmd, int64_t now_us,
                              const struct sr_error *why, struct sr_error *err)
{
    bool was_draining = cmd->kind == COORD_STOP && s->ck.stop && s->ck.stop->is_drain;
    switch (cmd->what) {
    case COORD_NOTHING:
        break;
    case COORD_INJECT:
        checkpointing_inject(s, cmd, now_us);
        break;
    case COORD_SHOW:
        checkpointing_show(s, cmd, now_us);
        break;
    case COORD_STORE:
        sr_assert(cmd->what != COORD_STORE);
        break;
    case COORD_DROP:
    case COORD_FAIL:
        checkpointing_drop(s, cmd, why, now_us);
        return checkpointing_judge(s, cmd, was_draining, why, err);
    }
    return SR_OK;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* A task could not save its part. Takes r. */
static sr_rc checkpointing_declined(struct supervise *s, struct report *r, struct sr_error *err)
{
    int64_t now_us = s->env->mono_us(s->env);
    struct coord_cmd cmd = coord_declined(&s->ck.coord, r->checkpoint);
    sr_rc rc = checkpointing_do(s, &cmd, now_us, &r->error, err);
    report_free(r);
    return rc;
}

/* It is published, and what becomes of it is the target's to say: it can only become complete now,
 * or the attempt ends. */
static sr_rc checkpointing_pend(struct supervise *s, uint64_t checkpoint)
{
    struct checkpointing *k = &s->ck;
    env_crash_point(s->env, "run: pending was published");
#ifdef MUTANT_SHOW_UNDECIDED /* other sinks commit what may still be dropped */
    crew_show(s->crew, checkpoint);
    supervise_order(s);
#endif
    checkpointing_set_deciding(s, checkpoint);
    k->decide_us = s->env->mono_us(s->env);
    return SR_OK;
}

sr_rc checkpointing_saved(struct supervise *s, struct report *r, struct sr_error *err)
{
    struct checkpointing *k = &s->ck;
    struct checkpoint_run *run = checkpointing_find(k, r->checkpoint);
    if (!run) {
        report_free(r); /* of one that was dropped */
        return SR_OK;
    }
    if (r->error.rc != SR_OK) return checkpointing_declined(s, r, err);
    if (report_is_frozen(r)) { /* comes again, as bytes */
        saver_put(&s->crew->saver, r);
        return SR_OK;
    }
    r->next = run->saved;
    run->saved = r;
    struct coord_cmd cmd = coord_saved(&k->coord, r->checkpoint);
    if (cmd.what != COORD_STORE) return SR_OK;
#ifdef MUTANT_PENDING_LATE /* the transaction is committed before the store knows of it */
    if (s->deciding.decider.node) return checkpointing_pend(s, cmd.checkpoint);
#endif
    bool is_fatal;
    struct sr_error why = {.rc = SR_OK};
    sr_rc rc = checkpointing_store(s, run, &is_fatal, &why);
    if (is_fatal) {
        *err = why;
        return error_wrap(err, "checkpoint %llu", (unsigned long long)cmd.checkpoint);
    }
    if (rc == SR_OK && s->deciding.decider.node) return checkpointing_pend(s, cmd.checkpoint);
    int64_t now_us = s->env->mono_us(s->env);
    cmd = coord_stored(&k->coord, cmd.checkpoint, rc == SR_OK, now_us);
    return checkpointing_do(s, &cmd, now_us, &why, err);
}

/* --- What is pending -------------------------------------------------------------------------- */

/* The transaction was committed, and the store knows: the savepoint gets its name. One that cannot
 * have it has failed, but not its checkpoint. */
static void checkpointing_keep_savepoint(struct supervise *s, struct checkpoint_run *run)
{
    struct sr_error why = {.rc = SR_OK};
    if (!run->is_hidden) return;
    run->is_hidden = false;
    sr_rc rc = store_savepoint_keep(s->conf.store, run->request->path, &why);
    if (rc == SR_OK) return;
    (void)error_wrap(&why, "checkpoint %llu holds the same, and is complete",
                     (unsigned long long)run->checkpoint);
    checkpointing_answer(&s->ck, run, rc, &why);
}

static sr_rc checkpointing_decided(struct supervise *s, int64_t now_us, struct sr_error *err)
{
    struct checkpointing *k = &s->ck;
    uint64_t n = k->deciding;
    struct sr_error none = {.rc = SR_OK};
    env_crash_point(s->env, "run: decided");
#ifdef MUTANT_PENDING_LATE
    bool is_fatal;
    if (checkpointing_store(s, checkpointing_find(k, n), &is_fatal, err) != SR_OK) return err->rc;
#endif
#ifdef MUTANT_DECIDER_UNFENCED /* who was taken over disturbs who took over */
    (void)decider_renew(&s->deciding.decider, err);
#endif
    sr_rc rc = store_complete(s->conf.store, n, err); /* looks at the fence */
    if (rc == SR_OK) rc = decider_renew(&s->deciding.decider, err);
    if (rc != SR_OK) return error_wrap(err, "checkpoint %llu", (unsigned long long)n);
    checkpointing_set_deciding(s, 0);
    s->deciding.decided = n;
    checkpointing_keep_savepoint(s, checkpointing_find(k, n));
    struct coord_cmd cmd = coord_stored(&k->coord, n, true, now_us);
    return checkpointing_do(s, &cmd, now_us, &none, err);
}

sr_rc checkpointing_decide(struct supervise *s, int64_t now_us, struct sr_error *err)
{
    struct checkpointing *k = &s->ck;
    if (k->deciding == 0) return SR_OK;
    switch (decider_decide(&s->deciding.decider, k->deciding, &k->decide_us, err)) {
    case DECIDER_DONE:
        return checkpointing_decided(s, now_us, err);
    case DECIDER_BUSY:
        return SR_OK;
    case DECIDER_FAILED:
        break;
    }
    return error_wrap(err, "checkpoint %llu", (unsigned long long)k->deciding);
}

/* --- What was shown --------------------------------------------------------------------------- */

/* The task has committed what is being shown. */
static void checkpointing_confirm(struct supervise *s, uint32_t task, uint64_t checkpoint)
{
    struct checkpointing *k = &s->ck;
    s->crew->told[task].confirmed = checkpoint;
    if (k->showing == 0 || checkpoint != k->showing) return;
    k->confirmed++;
    sr_assert(k->confirmed <= s->crew->sinks);
    if (k->confirmed == s->crew->sinks) checkpointing_all_confirmed(s);
}

void checkpointing_confirmed(struct supervise *s, const struct report *r)
{
    checkpointing_confirm(s, r->task, r->checkpoint);
}

void checkpointing_raise(struct supervise *s, uint32_t region)
{
    struct checkpointing *k = &s->ck;
    struct crew *c = s->crew;
    /* What was shown is the checkpoint that it began with: its notes were committed then. */
    for (uint32_t i = 0; i < c->tasks && k->showing != 0; i++) {
        if (!crew_is_of(c, i, region) || !task_commits(&c->task[i])) continue;
        if (c->told[i].confirmed < k->showing) checkpointing_confirm(s, i, k->showing);
    }
}

bool checkpointing_is_over(const struct supervise *s)
{
    const struct checkpointing *k = &s->ck;
    bool is_last =
        (s->goal == GOAL_SUSPEND || s->goal == GOAL_LEAVE) && k->showing_kind == COORD_LAST;
    bool is_final = s->goal == GOAL_STOP || is_last;
    return is_final && k->showing != 0 && k->confirmed == s->crew->sinks;
}

/* The last checkpoint of a job that finishes or is suspended: once, and again if it failed. */
static bool checkpointing_needs_last(const struct supervise *s, int64_t now_us)
{
    const struct checkpointing *k = &s->ck;
    if (s->goal == GOAL_RUN || s->goal == GOAL_STOP) return false;
    if (k->showing != 0 && k->showing_kind == COORD_LAST) return false;
    return k->coord.pendings == 0 && now_us >= k->last_retry_us;
}

/* Has a source ended, in a job that is to take no checkpoints from then on? Those that sinks need
 * to get on, and the last one, are taken anyhow. */
static bool checkpointing_is_over_early(const struct supervise *s)
{
    return s->drained > 0 && !s->plan->job->settings.has_checkpoints_after_end;
}

static enum coord_kind checkpointing_requested(struct supervise *s, bool *has_request)
{
    mutex_lock(s->lock);
    const struct run_request *r = s->requests;
    enum coord_kind kind = r && r->is_stop ? COORD_STOP : COORD_SAVEPOINT;
    mutex_unlock(s->lock);
    *has_request = r != NULL;
    return kind;
}

static struct coord_cmd checkpointing_next(struct supervise *s, int64_t now_us)
{
    struct checkpointing *k = &s->ck;
    struct coord_cmd cmd = {.what = COORD_NOTHING};
    bool has_request;
    enum coord_kind requested = checkpointing_requested(s, &has_request);
    if (checkpointing_needs_last(s, now_us)) return coord_request(&k->coord, COORD_LAST, now_us);
    if (checkpointing_is_over_early(s)) {
        coord_stop(&k->coord);
        if (has_request) {
            supervise_refuse(s, "a source has ended, and "
                                "execution.checkpointing.checkpoints-after-tasks-finish is false");
        }
        has_request = false;
    }
    if (has_request && s->goal == GOAL_RUN) cmd = coord_request(&k->coord, requested, now_us);
    if (cmd.what == COORD_NOTHING && k->is_wanted && s->goal == GOAL_RUN) {
        cmd = coord_request(&k->coord, COORD_CHECKPOINT, now_us);
        k->is_wanted = cmd.what == COORD_NOTHING;
    }
    return cmd.what == COORD_NOTHING ? coord_tick(&k->coord, now_us) : cmd;
}

/* Have all subtasks of a source come to the end of what is there, once? */
static bool checkpointing_has_caught_up(const struct crew *c, uint32_t node)
{
    struct splits *pool = c->pool[node];
    uint32_t vertex = c->plan->node[node].vertex;
    bool has = true;
    for (uint32_t i = 0; i < c->plan->vertex[vertex].parallelism && !pool->has_caught_up; i++) {
        const struct counters *count = &c->task[c->first[vertex] + i].source.count;
        has = has && atomic_load_explicit(&count->is_caught_up, memory_order_relaxed);
    }
    pool->has_caught_up = pool->has_caught_up || has;
    return pool->has_caught_up;
}

/* Sources work off a backlog, and checkpoints are to come in another interval then. */
static bool checkpointing_is_backlog(const struct supervise *s)
{
    const struct crew *c = s->crew;
    bool is_backlog = false;
    for (uint32_t i = 0; i < c->plan->nodes && s->ck.coord.conf.backlog_us >= 0; i++) {
        if (!c->pool[i] || !c->plan->node[i].source_caps.has_backlog) continue;
        is_backlog = !checkpointing_has_caught_up(c, i) || is_backlog;
    }
    return is_backlog;
}

sr_rc checkpointing_step(struct supervise *s, int64_t now_us, struct sr_error *err)
{
    struct sr_error late = {.rc = SR_OK};
    (void)error_set(&late, SR_EIO, "timed out after %lld ms: it was not complete",
                    (long long)(s->ck.coord.conf.timeout_us / 1000));
    bool is_backlog = checkpointing_is_backlog(s);
    coord_backlog(&s->ck.coord, is_backlog, now_us);
    if (is_backlog != s->shown.is_backlog) { /* written by this thread only */
        mutex_lock(s->lock);
        s->shown.is_backlog = is_backlog;
        mutex_unlock(s->lock);
    }
    s->ck.looked_us = now_us;
    for (;;) {
        struct coord_cmd cmd = checkpointing_next(s, now_us);
        if (cmd.what == COORD_NOTHING) return SR_OK;
        sr_rc rc = checkpointing_do(s, &cmd, now_us, &late, err);
        if (rc != SR_OK) return rc;
    }
}

int64_t checkpointing_due(const struct supervise *s)
{
    int64_t due = coord_due_us(&s->ck.coord);
    if (s->ck.deciding != 0 && s->ck.decide_us < due) due = s->ck.decide_us;
    int64_t look_us = s->ck.looked_us + CHECKPOINTING_LOOK_US;
    if (s->ck.coord.is_backlog && look_us < due) due = look_us;
    bool is_ending = s->goal != GOAL_RUN && s->goal != GOAL_STOP;
    if (is_ending && s->ck.coord.pendings == 0 && s->ck.showing_kind != COORD_LAST &&
        s->ck.last_retry_us < due) {
        due = s->ck.last_retry_us;
    }
    return due;
}
