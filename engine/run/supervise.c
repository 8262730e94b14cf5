/* The life of a job: start, run, pause after a failure, start again, end. supervise_inner.h draws
 * it. */
#include "engine/run/supervise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/run/supervise_inner.h"

#define SUPERVISE_WAIT_US     INT64_C(100000) /* before a failure that may pass is tried again */
#define SUPERVISE_WAIT_MAX_US INT64_C(5000000)

/* --- Asking ---------------------------------------------------------------------------------- */

void supervise_ask(struct supervise *s, enum run_ask what)
{
    switch (what) {
    case RUN_ASK_SUSPEND:
        atomic_store(&s->ask_suspend, true);
        break;
    case RUN_ASK_CANCEL:
        atomic_store(&s->ask_cancel, true);
        break;
    }
    parker_wake(s->parker);
}

void supervise_order(struct supervise *s) { s->sched->wake(s->sched); }

static void supervise_set_state(struct supervise *s, enum run_state state)
{
    mutex_lock(s->lock);
    s->shown.state = state;
    mutex_unlock(s->lock);
}

/* --- An attempt ------------------------------------------------------------------------------- */

const struct manifest *supervise_begin_of(const struct supervise *s)
{
    return s->deciding.is_back ? s->deciding.back : s->conf.restore;
}

/* From the store: what was published last, else what this run began with. */
static sr_rc supervise_load_newest(struct supervise *s, struct sr_error *err)
{
    uint64_t number = s->ck.published > 0 ? s->ck.published : s->conf.restore->checkpoint;
    s->restored = arena_new();
    if (!s->restored) return error_set(err, SR_ENOMEM, "out of memory");
    struct manifest *m = NULL;
    sr_rc rc = store_load_newest(s->conf.store, s->restored, &m, err);
    if (rc != SR_OK) return error_wrap(err, "restart");
    if (m->checkpoint != number || m->lineage != s->conf.lineage) {
        return error_set(err, SR_ECORRUPT,
                         "restart: the store's newest checkpoint is %llu, but %llu was published",
                         (unsigned long long)m->checkpoint, (unsigned long long)number);
    }
    s->restored_manifest = m;
    return SR_OK;
}

sr_rc supervise_find_restore(struct supervise *s, const struct manifest **out, struct sr_error *err)
{
    arena_free(s->restored);
    s->restored = NULL;
    s->restored_manifest = NULL;
    sr_rc rc = deciding_fall_back(s, err);
    if (rc != SR_OK) return rc;
    *out = supervise_begin_of(s);
    if (s->ck.published == 0 && (*out != s->conf.restore || !s->has_let_go)) return SR_OK;
    rc = supervise_load_newest(s, err);
    if (rc == SR_OK) *out = s->restored_manifest;
    return rc;
}

void supervise_let_go(struct supervise *s)
{
    if (s->has_let_go || !s->conf.restore || !s->conf.on_loaded) return;
    s->has_let_go = true;
    s->conf.on_loaded(s->conf.ctx);
}

/* It is all in the tasks. The next attempt has it from the store again. */
static void supervise_forget_state(struct supervise *s)
{
    if (s->restored_manifest) manifest_let_go(s->restored_manifest, s->restored, MANIFEST_STATE);
    if (s->conf.is_newest) supervise_let_go(s);
}

static void supervise_wake(void *ctx)
{
    const struct supervise *s = ctx;
    parker_wake(s->parker);
}

sr_rc supervise_next_attempt(struct supervise *s, struct sr_error *err)
{
    bool is_first = s->shown.restarts == 0 && !s->has_run;
    sr_rc rc = is_first || s->is_renewed ? SR_OK : store_next_attempt(s->conf.store, err);
    s->is_renewed = rc == SR_OK;
    return rc;
}

static struct crew_conf supervise_crew(const struct supervise *s, const struct manifest *restore,
                                       const char *redo_dir)
{
    const struct settings *set = &s->plan->job->settings;
    bool is_uncheckpointed = !s->plan->is_bounded && set->interval.us <= 0;
    return (struct crew_conf){.attempt = redo_dir ? store_attempt(s->conf.store)
                                                  : (uint64_t)s->shown.restarts + 1,
                              .poison = &s->poison,
                              .crumbs = s->conf.crumbs,
                              .restore = restore,
                              .loaders = s->sched->loaders,
                              .may_drop_state = s->conf.may_drop_state,
                              .goes_on = s->conf.goes_on,
                              .is_at_least_once = set->mode.index == MODE_AT_LEAST_ONCE,
                              .sink_open = {.job_id = s->plan->job->id,
                                            .lineage = s->conf.lineage,
                                            .attempt = store_attempt(s->conf.store),
                                            .checkpoint = restore ? restore->checkpoint : 0,
                                            .redo_dir = redo_dir,
                                            .decider = s->deciding.decider.instance,
                                            .is_uncheckpointed = is_uncheckpointed,
                                            .is_bounded = s->plan->is_bounded}};
}

sr_rc supervise_open(struct supervise *s, uint32_t region, struct sr_error *err)
{
    const struct manifest *restore = NULL;
    sr_rc rc = blame_open(s, err);
    if (rc == SR_OK) rc = supervise_next_attempt(s, err);
    s->is_renewed = false;
    if (rc == SR_OK) rc = deciding_restore(s, region, &restore, err);
    if (rc != SR_OK) return rc;
    const char *redo_dir = NULL; /* right for a store that dies with the process */
    if (store_is_durable(s->conf.store)) {
        redo_dir = store_redo_dir(s->conf.store, err);
        if (!redo_dir) return err->rc;
    }
    struct crew_conf conf = supervise_crew(s, restore, redo_dir);
    if (!s->crew) {
        rc = crew_new(&s->crew, s->plan, s->env, err);
        if (rc != SR_OK) return rc;
        s->crew->reports.wake = supervise_wake;
        s->crew->reports.ctx = s;
    }
    mutex_lock(s->lock);
    s->shown.restored_from = conf.sink_open.checkpoint;
    s->shown.attempt = conf.sink_open.attempt;
    mutex_unlock(s->lock);
    rc = crew_open(s->crew, region, &conf, err);
    if (rc != SR_OK) return rc;
    supervise_forget_state(s);
    env_crash_point(s->env, "run: tasks opened");
    regions_watch(s, region, true);
    return SR_OK;
}

/* The attempt is over, for `why`. */
static void supervise_close(struct supervise *s, const struct sr_error *why)
{
    s->sched->stop(s->sched, s->crew, CREW_ALL);
    checkpointing_stop(s, why);
    regions_watch(s, CREW_ALL, false);
    crew_free(s->crew);
    s->crew = NULL;
    deciding_close(s, CREW_ALL);
    s->down = 0;
    mutex_lock(s->lock);
    for (uint32_t i = 0; i < s->regions; i++) {
        s->region[i].shown.is_down = false;
    }
    mutex_unlock(s->lock);
}

/* --- Ends and failures ------------------------------------------------------------------------ */

static void supervise_finish(struct supervise *s, enum run_end end, const struct sr_error *why)
{
    struct sr_error over;
    (void)error_set(&over, SR_ECLOSED, "the job has ended");
    env_crash_point(s->env, "run: before the end");
    struct run_request *stop = s->goal == GOAL_STOP ? s->ck.stop : NULL;
    if (stop) s->ck.stop = NULL;
    supervise_close(s, why ? why : &over);
    s->end = end;
    if (why) s->error = *why;
    s->phase = PHASE_ENDED;
    blame_close(s);
    supervise_set_state(s, RUN_ENDED);
    if (stop) supervise_answer(stop, SR_OK, NULL);
    supervise_refuse(s, "the job has ended");
}

/* Would a restart be of no use? */
static bool supervise_is_final(const struct supervise *s, const struct sr_error *why)
{
    switch (why->rc) {
    case SR_EMISFIT:
    case SR_ECORRUPT:
    case SR_EFENCED:
    case SR_EUNKNOWN:
    case SR_EABI:
    case SR_ECONFIG:
    case SR_EFINAL:
    case SR_EACCESS: /* nobody but the user can give a permission */
        return true;
    case SR_OK:
    case SR_ENOMEM:
    case SR_EIO:
    case SR_ENOSPC:
    case SR_EABSENT:
    case SR_EEXISTS:
    case SR_EBUSY:
    case SR_EDATA:
    case SR_ELIMIT:
    case SR_ECLOSED:
    case SR_RC_COUNT:
        break;
    }
    /* What the user has to mend is told at once, if the job never ran. */
    return !s->has_run && rc_fate(why->rc) == SR_FATE_USER;
}

/* Can all that was read since the last checkpoint be read again? */
static bool supervise_can_rewind(const struct supervise *s)
{
    for (uint32_t i = 0; i < s->plan->nodes; i++) {
        const struct plan_node *n = &s->plan->node[i];
        if (n->kind == PLAN_SOURCE && !n->source_caps.can_rewind) return false;
    }
    return true;
}

/* What is known of restarts goes to where the next process finds it. */
void supervise_carry(struct supervise *s)
{
    struct carry *c = s->conf.carry;
    if (!c) return;
    c->restart = s->restart;
    c->is_set = true;
    c->restarts = s->carried + s->shown.restarts;
    (void)snprintf(c->first_cause, sizeof(c->first_cause), "%s", s->shown.first_cause);
}

/* What an earlier process left there. */
static void supervise_take_carry(struct supervise *s)
{
    const struct carry *c = s->conf.carry;
    if (!c || !c->is_set) return;
    s->restart = c->restart;
    s->carried = c->restarts;
    if (*c->first_cause) (void)error_set(&s->cause, SR_EFINAL, "%s", c->first_cause);
    (void)snprintf(s->shown.first_cause, sizeof(s->shown.first_cause), "%s", c->first_cause);
}

/* Is it that a sink's target is in use, before the first row was read? Words of sinks begin so. */
static bool supervise_waits_for_target(const struct supervise *s, const struct sr_error *why)
{
    return !s->has_run && why->rc == SR_EBUSY && strncmp(why->words, "sink '", 6) == 0;
}

/* Is the failure of a kind that passes, as when a sink waits for its target, and is there time left
 * to wait? *delay_us: how long. Checkpoints that fail are counted otherwise. */
static bool supervise_waits_out(struct supervise *s, uint32_t region, const struct sr_error *why,
                                int64_t now_us, int64_t *delay_us)
{
    struct supervise_patience *p = &s->patience;
    bool is_start = s->phase == PHASE_STARTING || region != CREW_ALL;
    bool may_pass = why->rc == SR_ENOSPC || why->rc == SR_EBUSY;
    /* Before the first row was read a target in use is waited for whatever the strategy is; what a
     * source needs may be another job's for as long as that runs. */
    bool is_untouched = supervise_waits_for_target(s, why);
    bool may_again = s->has_run && s->restart.strategy != RESTART_NONE && supervise_can_rewind(s);
    if (!is_start || !may_pass || !(is_untouched || may_again)) return false;
    if (p->delay_us == 0 || p->shown != s->shown.checkpoints_shown) {
        *p = (struct supervise_patience){
            .since_us = now_us, .delay_us = SUPERVISE_WAIT_US, .shown = s->shown.checkpoints_shown};
    }
    if (now_us - p->since_us >= s->plan->job->settings.sink_retry.us) return false;
    *delay_us = p->delay_us;
    p->delay_us = p->delay_us * 2 < SUPERVISE_WAIT_MAX_US ? p->delay_us * 2 : SUPERVISE_WAIT_MAX_US;
    return true;
}

/* The region, or the job, waits for its restart. */
static void supervise_await(struct supervise *s, uint32_t region, const struct sr_error *why,
                            int64_t delay_us)
{
    int64_t resume_us = s->env->mono_us(s->env) + delay_us;
    long long ms = (long long)(delay_us / 1000);
    int line = (int)strcspn(why->words, "\n");
    if (regions_may_lay_down(s, region)) {
        env_log(s->env, SR_LOG_ERROR, "job", "%s: failed, restart in %lld ms: %.*s",
                s->region[region].shown.name, ms, line, why->words);
        regions_lay_down(s, region, why, resume_us);
        return;
    }
    if (supervise_waits_for_target(s, why)) {
        env_log(s->env, SR_WARN, "job", "waits to begin: %.*s", line, why->words);
    } else {
        env_log(s->env, SR_LOG_ERROR, "job", "failed, restart in %lld ms: %.*s", ms, line,
                why->words);
    }
    supervise_close(s, why);
    s->goal = GOAL_RUN;
    s->phase = PHASE_PAUSING;
    s->resume_us = resume_us;
    supervise_set_state(s, RUN_RESTARTING);
}

void supervise_failed(struct supervise *s, uint32_t region, const struct sr_error *why,
                      enum blame blame)
{
    sr_assert(why->rc != SR_OK);
    int64_t now_us = s->env->mono_us(s->env);
    if (s->cause.rc == SR_OK) {
        s->cause = *why;
        mutex_lock(s->lock);
        (void)snprintf(s->shown.first_cause, sizeof(s->shown.first_cause), "%s", why->words);
        mutex_unlock(s->lock);
    }
    regions_note(s, regions_may_lay_down(s, region) ? region : CREW_ALL, why);
    bool is_suspending = s->goal == GOAL_SUSPEND || (s->down > 0 && atomic_load(&s->ask_suspend));
    if (is_suspending && why->rc != SR_EUNKNOWN) {
        supervise_finish(s, RUN_UNSAVED, why);
        return;
    }
    if (blame == BLAME_FINAL || supervise_is_final(s, why)) {
        supervise_finish(s, RUN_FAILED, why);
        return;
    }
    struct restart_answer answer = {.delay_us = 0};
    bool is_set_aside = blame == BLAME_SET_ASIDE && supervise_can_rewind(s);
    if (!is_set_aside && !supervise_waits_out(s, region, why, now_us, &answer.delay_us)) {
        answer = restart_failed(&s->restart, now_us, s->env->random(s->env));
    }
    supervise_carry(s);
    if (answer.give_up) {
        char words[128];
        restart_words(&s->restart, words, sizeof(words));
        env_log(s->env, SR_WARN, "job", "no restart follows: %s", words);
        supervise_finish(s, RUN_FAILED, why);
        return;
    }
    supervise_await(s, region, why, answer.delay_us);
}

/* --- Running ---------------------------------------------------------------------------------- */

/* The target of a decider is waited for. */
static void supervise_wait_to_start(struct supervise *s)
{
    struct sr_error why;
    if (atomic_load(&s->ask_cancel)) {
        supervise_finish(s, RUN_CANCELED, NULL);
    } else if (atomic_load(&s->ask_suspend)) {
        (void)error_set(&why, SR_EBUSY, "it was waiting for the target of sink '%s'",
                        s->deciding.decider.node->step);
        supervise_finish(s, RUN_UNSAVED, &why);
    }
}

/* *due_us: when to call again, if it has not begun. */
static void supervise_start_attempt(struct supervise *s, int64_t *due_us)
{
    struct sr_error err = {.rc = SR_OK};
    s->drained = s->ended = 0;
    enum decider_did did = deciding_settle(s, CREW_ALL, due_us, &err);
    if (did == DECIDER_BUSY) {
        supervise_wait_to_start(s);
        return;
    }
    sr_rc rc = did == DECIDER_DONE ? supervise_open(s, CREW_ALL, &err) : err.rc;
    if (rc == SR_OK) {
        int64_t now_us = s->env->mono_us(s->env);
        checkpointing_start(s, now_us);
        rc = s->sched->start(s->sched, s->crew, CREW_ALL, &err);
    }
    if (rc != SR_OK) {
        supervise_failed(s, CREW_ALL, &err, BLAME_NOBODY);
        return;
    }
    s->phase = PHASE_RUNNING;
    supervise_carry(s);
    supervise_set_state(s, RUN_RUNNING);
    if (!s->has_run && s->conf.on_running) s->conf.on_running(s->conf.ctx);
    s->has_run = true;
}

/* A pipe that nobody reads any more is no failure: `streamrun ... | head`. */
static bool supervise_is_closed_pipe(const struct supervise *s, const struct report *r)
{
    return r->error.rc == SR_ECLOSED && s->crew->task[r->task].has_sink;
}

static void supervise_hear_failure(struct supervise *s, const struct report *r)
{
    if (supervise_is_closed_pipe(s, r)) {
        supervise_finish(s, RUN_CLOSED, &r->error);
    } else {
        struct sr_error why;
        enum blame blame = blame_failure(s, r, &why);
        uint32_t vertex = s->crew->task[r->task].vertex_index;
        supervise_failed(s, s->crew->region_of[vertex], &why, blame);
    }
}

/* Of a region that was started again since, or is down. */
static bool supervise_is_stale(const struct supervise *s, const struct report *r)
{
    const struct crew *c = s->crew;
    const struct crew_region *region = &c->region[c->region_of[c->task[r->task].vertex_index]];
    return !region->is_open || region->life != r->life;
}

/* Takes r. True: the attempt goes on, and so does the next report. */
static bool supervise_hear(struct supervise *s, struct report *r)
{
    struct sr_error err = {.rc = SR_OK};
    struct crew_told *told = &s->crew->told[r->task];
    sr_rc rc = SR_OK;
    bool goes_on = true;
    if (supervise_is_stale(s, r)) {
        report_free(r);
        return true;
    }
    switch (r->kind) {
    case REPORT_SAVED:
        rc = checkpointing_saved(s, r, &err);
        r = NULL;
        break;
    case REPORT_CONFIRMED:
        checkpointing_confirmed(s, r);
        break;
    case REPORT_DRAINED:
        told->has_drained = true;
        s->drained++;
        break;
    case REPORT_WANTED:
        s->ck.is_wanted = true;
        break;
    case REPORT_ENDED:
        told->has_ended = true;
        s->ended++;
        break;
    case REPORT_FAILED:
        supervise_hear_failure(s, r);
        goes_on = s->phase == PHASE_RUNNING; /* without the region */
        break;
    }
    report_free(r);
    if (rc != SR_OK) {
        supervise_failed(s, CREW_ALL, &err, BLAME_NOBODY);
        return false;
    }
    return goes_on;
}

/* False: the attempt is over. */
static bool supervise_hear_all(struct supervise *s)
{
    if (atomic_load(&s->crew->reports.is_lost)) {
        struct sr_error err;
        (void)error_set(&err, SR_ENOMEM, "a task failed, and memory ran out to say why");
        supervise_failed(s, CREW_ALL, &err, BLAME_NOBODY);
        return false;
    }
    struct report *r = reports_take(&s->crew->reports);
    while (r) {
        if (!supervise_hear(s, r)) return false;
        r = reports_take(&s->crew->reports);
    }
    return true;
}

/* What the job is heading for, as things stand. */
static void supervise_aim(struct supervise *s)
{
    if (s->goal != GOAL_RUN) return;
    bool is_stopping = s->ck.stop != NULL;
    if (atomic_load(&s->ask_suspend)) {
        s->goal = GOAL_SUSPEND;
    } else if (s->drained == s->crew->sources && !is_stopping) {
        s->goal = s->conf.goes_on ? GOAL_LEAVE : GOAL_FINISH;
    }
    if (s->goal == GOAL_RUN) return;
    coord_stop(&s->ck.coord);
    supervise_set_state(s, RUN_ENDING);
    supervise_refuse(s, "the job is ending");
}

static enum run_end supervise_end_of_stop(const struct supervise *s)
{
    return s->ck.stop && s->ck.stop->is_cancel ? RUN_CANCELED : RUN_STOPPED;
}

static void supervise_run_on(struct supervise *s, int64_t now_us)
{
    if (atomic_load(&s->ask_cancel)) {
        supervise_finish(s, RUN_CANCELED, NULL);
        return;
    }
    if (!s->sched->has_saver) (void)saver_step(&s->crew->saver);
    if (!supervise_hear_all(s) || !regions_raise(s, now_us) || s->down > 0) return;
    supervise_aim(s);
    if (checkpointing_is_over(s)) {
        supervise_finish(s,
                         s->goal == GOAL_STOP    ? supervise_end_of_stop(s)
                         : s->goal == GOAL_LEAVE ? RUN_FINISHED
                                                 : RUN_SUSPENDED,
                         NULL);
        return;
    }
    if (s->ended == s->crew->tasks) {
        sr_assert(s->goal == GOAL_FINISH);
        supervise_finish(s, RUN_FINISHED, NULL);
        return;
    }
    struct sr_error err = {.rc = SR_OK};
    if (checkpointing_decide(s, now_us, &err) != SR_OK ||
        checkpointing_step(s, now_us, &err) != SR_OK) {
        supervise_failed(s, CREW_ALL, &err, BLAME_NOBODY);
    } else if (s->goal == GOAL_SUSPEND && s->ck.has_lost_last) {
        (void)error_set(&err, SR_EIO, "%s", s->shown.checkpoint_failure);
        supervise_finish(s, RUN_UNSAVED, &err);
    }
}

static void supervise_pause(struct supervise *s, int64_t now_us)
{
    if (atomic_load(&s->ask_cancel)) {
        supervise_finish(s, RUN_CANCELED, NULL);
    } else if (atomic_load(&s->ask_suspend)) {
        supervise_finish(s, RUN_UNSAVED, &s->cause);
    } else if (now_us >= s->resume_us) {
        env_crash_point(s->env, "run: before a restart");
        mutex_lock(s->lock);
        s->shown.restarts++;
        for (uint32_t i = 0; i < s->regions; i++) {
            s->region[i].shown.restarts++;
        }
        mutex_unlock(s->lock);
        supervise_carry(s);
        s->phase = PHASE_STARTING;
    }
}

/* Is there frozen state that only the supervisor can save? */
static bool supervise_must_save(const struct supervise *s)
{
    return !s->sched->has_saver && atomic_load(&s->crew->saver.is_busy);
}

bool supervise_step(struct supervise *s, int64_t *due_us)
{
    int64_t now_us = s->env->mono_us(s->env);
    *due_us = now_us;
    switch (s->phase) {
    case PHASE_STARTING:
        supervise_start_attempt(s, due_us);
        break;
    case PHASE_RUNNING:
        supervise_run_on(s, now_us);
        break;
    case PHASE_PAUSING:
        supervise_pause(s, now_us);
        break;
    case PHASE_ENDED:
        break;
    }
    if (s->phase != PHASE_STARTING) *due_us = now_us;
    if (s->phase == PHASE_RUNNING && !supervise_must_save(s)) {
        *due_us = s->down > 0 ? regions_due(s) : checkpointing_due(s);
    }
    if (s->phase == PHASE_PAUSING) *due_us = s->resume_us;
    return s->phase == PHASE_ENDED;
}

/* --- Life of the supervisor ------------------------------------------------------------------- */

sr_rc supervise_new(struct supervise **out, const struct run_conf *conf, struct sr_error *err)
{
    struct supervise *s = calloc(1, sizeof(*s));
    if (!s) return error_set(err, SR_ENOMEM, "out of memory");
    const struct settings *set = &conf->plan->job->settings;
    s->conf = *conf;
    s->env = conf->env;
    s->plan = conf->plan;
    s->ck.newest = store_newest_id(conf->store);
    restart_init(&s->restart, set, set->interval.us > 0);
    supervise_take_carry(s);
    s->shown.started_us = s->env->wall_us(s->env);
    s->shown.attempt = store_attempt(conf->store);
    s->shown.lineage = conf->lineage;
    s->last_counts = calloc(s->plan->nodes, sizeof(*s->last_counts));
    sr_rc rc = s->last_counts ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
    if (rc == SR_OK) rc = regions_init(s, err);
    if (rc == SR_OK) rc = deciding_init(s, err);
    if (rc == SR_OK) rc = parker_new(&s->parker, err);
    if (rc == SR_OK) rc = mutex_new(&s->lock, err);
    if (rc == SR_OK) {
        *out = s;
    } else {
        supervise_free(s);
    }
    return rc;
}

void supervise_free(struct supervise *s)
{
    if (!s) return;
    if (s->crew) {
        struct sr_error over;
        (void)error_set(&over, SR_ECLOSED, "the job was given up");
        supervise_close(s, &over);
    }
    blame_close(s);
    deciding_free(s);
    sched_threads_free(s->own_sched);
    arena_free(s->restored);
    arena_free(s->names);
    free(s->region);
    free(s->last_counts);
    mutex_free(s->lock);
    parker_free(s->parker);
    free(s);
}

void supervise_begin(struct supervise *s, struct sched *sched)
{
    s->sched = sched;
    s->phase = PHASE_STARTING;
}

enum run_end supervise_end(struct supervise *s, struct sr_error *err)
{
    sr_assert(s->phase == PHASE_ENDED);
    if (err) *err = s->error;
    return s->end;
}

enum run_end supervise_run(struct supervise *s, struct sr_error *err)
{
    if (sched_threads_new(&s->own_sched, s->conf.workers, s->env, err) != SR_OK) return RUN_FAILED;
    supervise_begin(s, s->own_sched);
    int64_t due_us;
    while (!supervise_step(s, &due_us)) {
        int64_t now_us = s->env->mono_us(s->env);
        if (due_us > now_us) parker_wait(s->parker, NULL, 0, now_us, due_us);
    }
    return supervise_end(s, err);
}
