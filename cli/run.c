/* run and resume: where the state lies, what to start from, then the job until its end. */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/codes.h"
#include "cli/commands.h"
#include "cli/detach.h"
#include "cli/guard.h"
#include "cli/jobstore.h"
#include "cli/lease.h"
#include "cli/load.h"
#include "cli/monitor.h"
#include "cli/process.h"
#include "cli/restore_from.h"
#include "cli/retention.h"
#include "cli/run.h"
#include "cli/rundir.h"
#include "cli/show.h"
#include "cli/standby.h"
#include "cli/summary.h"
#include "cli/suspects.h"
#include "cli/terminal.h"
#include "conf/value.h"
#include "engine/base/calendar.h"
#include "engine/base/error.h"
#include "engine/ckpt/store.h"
#include "engine/run/supervise.h"
#include "engine/run/tables.h"

struct run {
    struct cli *c;
    const struct args *args;
    struct loaded loaded;
    struct store_conf store_conf;
    struct store *store;
    struct manifest *restore; /* NULL: fresh */
    const char *restore_path;
    struct store_filler filler; /* tables of savepoints */
    uint64_t tables_max;
    const char *claim_path; /* what is to be the job's own; NULL: nothing */
    uint64_t lineage;
    const char *run_dir;
    struct detach detach;
    struct guard guard;
    bool is_guarded; /* this is an engine under a guard */
    struct lease lease;
    bool has_taken_over; /* from a process that may still be there; or will */
    bool is_fenced;      /* another one has taken over from us */
    struct jobstore_note note;
    int listen_fd;
    int64_t lock_until_us; /* monotonic: how long a lock of another run is waited for; 0: not */
};

#define RUN_LOCK_LOOK_MS 50 /* until a lock is looked at again */

/* --- Where state lies ------------------------------------------------------------------------- */

const char *run_default_dir(struct cli *c)
{
    const char *state = getenv("XDG_STATE_HOME");
    if (state && *state == '/') {
        return arena_printf(c->arena, "file://%s/streamrun/checkpoints", state);
    }
    const char *home = getenv("HOME");
    return arena_printf(c->arena, "file://%s/.local/state/streamrun/checkpoints",
                        home && *home ? home : "/root");
}

static bool run_has_exactly_once(const struct plan *p)
{
    for (uint32_t i = 0; i < p->nodes; i++) {
        if (p->node[i].kind == PLAN_SINK && p->node[i].guarantee == SR_EXACTLY_ONCE) return true;
    }
    return false;
}

/* What a bounded job without a place for checkpoints cannot do. Of a filter nobody expects it. */
static void run_note_memory(const struct cli *c, const struct plan *p)
{
    bool can_rewind = false;
    for (uint32_t i = 0; i < p->nodes; i++) {
        can_rewind =
            can_rewind || (p->node[i].kind == PLAN_SOURCE && p->node[i].source_caps.can_rewind);
    }
    if (run_has_exactly_once(p)) {
        cli_note(c, "no checkpoint directory: all output is committed at the end, an interrupted "
                    "run starts again");
    } else if (can_rewind) {
        cli_note(c, "no checkpoint directory: an interrupted run starts again");
    }
}

static bool run_is_file(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".db") == 0 || strcmp(dot, ".sqlite") == 0);
}

static void run_on_locked(void *ctx, struct store *s)
{
    struct run *r = ctx;
    /* The leader that was waited for answers nobody any more, dead or stopped. */
    if (r->has_taken_over) rundir_forget(r->c, r->run_dir, r->loaded.job->id);
    lease_start(&r->lease, s);
}

static void run_on_unlock(void *ctx)
{
    struct run *r = ctx;
    lease_stop(&r->lease);
}

static void run_choose_store(struct run *r)
{
    const struct settings *s = &r->loaded.job->settings;
    bool is_bounded = r->loaded.plan->is_bounded;
    const char *url = "memory:";
    if (s->storage.index == STORAGE_JOBMANAGER) {
        cli_note(r->c, "warning: checkpoints lie in memory only and die with the process "
                       "(execution.checkpointing.storage: jobmanager)");
    } else if (s->dir) {
        url = s->dir;
    } else if (s->interval.us > 0 || args_has(r->args, "continue") || r->restore ||
               args_has(r->args, "standby")) {
        url = run_default_dir(r->c);
        cli_note(r->c, "checkpoints go to %s (execution.checkpointing.dir is not set)", url);
    } else if (is_bounded) {
        run_note_memory(r->c, r->loaded.plan);
    }
    r->store_conf = (struct store_conf){.url = url,
                                        .job_id = r->loaded.job->id,
                                        .job_name = r->loaded.job->name,
                                        .retained = (uint32_t)s->num_retained,
                                        .run_dir = r->run_dir,
                                        .filler = &r->filler,
                                        .is_flat = !s->has_subdir};
    r->tables_max = (uint64_t)s->savepoint_tables.bytes;
    r->filler = (struct store_filler){.fill = tables_fill, .ctx = &r->tables_max};
    r->lease = (struct lease){
        .cli = r->c, .job_name = r->loaded.job->name, .duration_us = s->lease.us, .stop_fd = -1};
    if (strcmp(url, "memory:") == 0) return;
    r->store_conf.on_locked = run_on_locked;
    r->store_conf.on_unlock = run_on_unlock;
    r->store_conf.ctx = r;
}

/* --- What to start from ----------------------------------------------------------------------- */

/* --wait-lock: cron starts the next run while the one before may not have ended. */
static enum cli_exit run_read_wait(struct run *r)
{
    static const struct sr_opt duration = {.key = "wait-lock", .kind = SR_OPT_DURATION};
    const char *text = args_value(r->args, "wait-lock");
    sr_duration wait;
    struct value_fault fault;
    if (!text) return CLI_OK;
    if (!value_parse(&duration, text, text, &wait, &fault)) {
        return cli_fail(r->c, CLI_USAGE, "--wait-lock: %s", fault.words);
    }
    r->lock_until_us = r->c->env.mono_us(&r->c->env) + wait.us;
    return CLI_OK;
}

/* Opens the store for running; another run that holds it is waited for, as long as was said. */
static sr_rc run_lock_store(struct run *r, struct sr_error *err)
{
    for (;;) {
        sr_rc rc = store_open(&r->store, &r->c->env, &r->store_conf, err);
        if (rc != SR_EBUSY || r->c->env.mono_us(&r->c->env) >= r->lock_until_us) return rc;
        store_close(r->store);
        r->store = NULL;
        (void)poll(NULL, 0, RUN_LOCK_LOOK_MS); /* nothing tells when a file lock is let go */
    }
}

/* Plain `run` over the state of a run that did not end by itself would repeat what it committed.
 * *is_over: another run was waited for, and it is to be looked at again how it ended. */
static enum cli_exit run_check_unfinished(struct run *r, bool *is_over)
{
    if (args_has(r->args, "fresh") || !run_has_exactly_once(r->loaded.plan)) return CLI_OK;
    struct store_entry e;
    struct sr_error err = {0};
    sr_rc rc = store_peek(&r->c->env, &r->store_conf, r->c->arena, &e, &err);
    if (rc == SR_EABSENT) return CLI_OK;
    if (rc != SR_OK) return cli_error(r->c, CLI_STATE, &err);
    if (e.damage) return cli_fail(r->c, CLI_STATE, "%s", e.damage);
    if (e.end != MANIFEST_RUNNING && e.end != MANIFEST_SUSPENDED) return CLI_OK;
    int fd = -1;
    rc = rundir_connect(r->c, r->run_dir, r->loaded.job->id, &fd, &err);
    if (rc == SR_OK) (void)close(fd); /* only asked whether it is there */
    if ((rc == SR_OK || rc == SR_EBUSY) && r->lock_until_us > 0) {
        rc = run_lock_store(r, &err);
        store_close(r->store);
        r->store = NULL;
        r->lock_until_us = 0; /* it is over, or it will not be waited for */
        if (rc == SR_EBUSY) return cli_error(r->c, CLI_BUSY, &err);
        *is_over = true;
        return CLI_OK;
    }
    if (rc == SR_OK || rc == SR_EBUSY) {
        return cli_fail(r->c, CLI_BUSY,
                        "SR1103: job '%s' is already running; 'streamrun status %s' shows it",
                        r->loaded.job->name, r->loaded.job->name);
    }
    rc = store_open(&r->store, &r->c->env, &r->store_conf, &err); /* who holds it may listen
                                                                     elsewhere */
    store_close(r->store);
    r->store = NULL;
    if (rc == SR_EBUSY) return cli_error(r->c, CLI_BUSY, &err);
    return cli_fail(r->c, CLI_STATE,
                    "SR1102: an unfinished run of job '%s' left its state at %s\n"
                    "  --continue goes on from there, --fresh starts again (and writes its output "
                    "again)",
                    r->loaded.job->name, e.path);
}

static uint64_t run_new_lineage(const struct cli *c)
{
    uint64_t v = c->env.random(&c->env);
    return v != 0 ? v : 1;
}

static enum cli_exit run_load(struct run *r, const char *path)
{
    struct restore_from from;
    enum cli_exit code = restore_from_find(r->c, path, args_has(r->args, "allow-fallback"), &from);
    if (code != CLI_OK) return code;
    r->restore = from.manifest;
    r->restore_path = from.path;
    return CLI_OK;
}

/* Which output comes twice when the job goes back. */
static void run_say_back(const struct run *r, uint64_t newest)
{
    const struct plan *p = r->loaded.plan;
    const char *sinks = "";
    char when[25];
    civil_iso_ms(r->restore->ended_us, when);
    for (uint32_t i = 0; i < p->nodes; i++) {
        if (p->node[i].kind != PLAN_SINK) continue;
        sinks = arena_printf(r->c->arena, "%s%s%s", sinks, *sinks ? ", " : "", p->node[i].step);
    }
    cli_note(r->c,
             "going back to checkpoint %" PRIu64 " of %" PRIu64
             ": what was written after it will be written again, by %s, from %s on",
             r->restore->checkpoint, newest, sinks, when);
}

/* Going on from the job's own newest checkpoint stays in its lineage, if it is the job's to delete.
 * Else it is a new lineage: what it was restored from is then never deleted as one of its own. */
static void run_choose_lineage(struct run *r)
{
    bool has_claimed = r->loaded.job->settings.claim_mode.index == CLAIM_CLAIM;
    r->lineage = run_new_lineage(r->c);
    if (!r->restore) return;
    struct store_entry e;
    struct sr_error ignored;
    bool has_own = store_peek(&r->c->env, &r->store_conf, r->c->arena, &e, &ignored) == SR_OK;
    bool is_newest =
        has_own && e.checkpoint == r->restore->checkpoint && e.lineage == r->restore->lineage;
    if (is_newest && has_claimed && r->restore->kind == MANIFEST_CHECKPOINT) {
        r->lineage = r->restore->lineage;
    } else if (has_claimed) {
        r->claim_path = r->restore_path;
    }
    bool is_own = strcmp(r->restore->job_id, r->loaded.job->id) == 0;
    if (has_own && is_own && e.checkpoint > r->restore->checkpoint) {
        run_say_back(r, e.checkpoint);
    }
}

/* With the lock: it is noted what the lineage begins with, and whether that is its own. A run that
 * is killed before its first checkpoint is then gone on with from there. */
static void run_claim(const struct run *r)
{
    struct sr_error err = {0};
    bool is_fresh = !r->restore && !args_has(r->args, "continue") && !args_has(r->args, "standby");
    if (is_fresh && r->guard.deaths == 0 && store_claim(r->store, NULL, 0, false, &err) != SR_OK) {
        cli_note(r->c, "warning: %s", err.words);
    }
    bool is_new = r->restore && r->restore->lineage != r->lineage;
    if (!is_new || !r->restore_path || r->guard.deaths > 0) return;
    if (!r->claim_path && !store_is_durable(r->store)) return;
    if (store_claim(r->store, r->restore_path, r->lineage, r->claim_path != NULL, &err) != SR_OK) {
        cli_note(r->c, "warning: %s", err.words);
    }
}

/* --continue where the run before was killed ahead of its first checkpoint. */
static enum cli_exit run_begin_again(struct run *r)
{
    bool is_owned = false;
    const char *path = store_begun_with(r->store, &is_owned);
    if (!path) return CLI_OK;
    enum cli_exit code = run_load(r, path);
    r->claim_path = is_owned ? r->restore_path : NULL;
    if (code == CLI_OK) run_claim(r);
    return code;
}

/* --continue, and the newest is damaged: the user has said that an older one may do. */
static enum cli_exit run_fall_back(struct run *r)
{
    const struct store_conf *conf = &r->store_conf;
    bool is_file = strncmp(conf->url, "sqlite:", 7) == 0 || run_is_file(conf->url);
    const char *path = is_file || conf->is_flat
                           ? conf->url
                           : arena_printf(r->c->arena, "%s/%s", conf->url, conf->job_id);
    enum cli_exit code = path ? run_load(r, path) : CLI_FAILED;
    r->lineage = run_new_lineage(r->c);
    return code;
}

/* For whom another process would take over: said once, and that the job may differ. */
static void run_on_standby(void *ctx)
{
    struct run *r = ctx;
    struct store_entry e;
    struct sr_error ignored;
    struct manifest *m = NULL;
    const char *mine = r->loaded.job->description ? r->loaded.job->description : "";
    if (store_peek(&r->c->env, &r->store_conf, r->c->arena, &e, &ignored) == SR_OK && !e.damage &&
        store_load(&r->c->env, e.path, r->c->arena, &m, &ignored) == SR_OK &&
        strcmp(m->description, mine) != 0) {
        cli_note(r->c, "warning: the leader runs another edition of the job; at a takeover its "
                       "state must fit this one");
    }
    r->has_taken_over = true; /* once it leads */
    detach_running(&r->detach);
}

/* *is_over: there is nothing to lead, and the answer is the exit code. */
static enum cli_exit run_stand_by(struct run *r, bool *is_over, struct sr_error *err)
{
    struct standby s = {.cli = r->c,
                        .job = r->loaded.job,
                        .run_dir = r->run_dir,
                        .store_conf = &r->store_conf,
                        .lease_us = r->loaded.job->settings.lease.us,
                        .kills_hung = r->loaded.job->settings.kills_hung,
                        .announce = run_on_standby,
                        .ctx = r};
    enum cli_exit code = CLI_OK;
    switch (standby_wait(&s, &r->store, &code, err)) {
    case STANDBY_LEADS:
        *err = (struct sr_error){0}; /* of the tries before */
        break;
    case STANDBY_OVER:
        *is_over = true;
        break;
    case STANDBY_FAILED:
        break;
    }
    return code;
}

static enum cli_exit run_open_store(struct run *r, bool *is_over)
{
    struct sr_error err = {0};
    sr_rc rc = SR_OK;
    r->store_conf.holder = process_name(r->c->arena);
    if (args_has(r->args, "standby")) {
        enum cli_exit code = run_stand_by(r, is_over, &err);
        if (*is_over) return code;
        rc = err.rc;
    } else {
        rc = run_lock_store(r, &err);
    }
    if (rc == SR_EBUSY) return cli_error(r->c, CLI_BUSY, &err);
    if (rc == SR_ECORRUPT) return cli_error(r->c, CLI_STATE, &err);
    if (rc == SR_EMISFIT) return cli_error(r->c, CLI_STATE, &err);
    if (rc != SR_OK) return cli_error(r->c, CLI_FAILED, &err);
    run_claim(r);
    bool takes_any = (args_has(r->args, "continue") || args_has(r->args, "standby")) && !r->restore;
    if (!takes_any && r->guard.deaths == 0) return CLI_OK;
    struct manifest *newest = NULL;
    rc = store_load_newest(r->store, r->c->arena, &newest, &err);
    if (rc == SR_EABSENT) return takes_any ? run_begin_again(r) : CLI_OK;
    if (rc == SR_ECORRUPT && takes_any && args_has(r->args, "allow-fallback")) {
        return run_fall_back(r);
    }
    if (rc != SR_OK) return cli_error(r->c, CLI_STATE, &err);
    /* Behind a crash: what this run has published, if it has. */
    if (!takes_any && newest->lineage != r->lineage) return CLI_OK;
    r->restore = newest;
    r->lineage = newest->lineage;
    return CLI_OK;
}

/* --- The job ---------------------------------------------------------------------------------- */

/* Those who stand by need not take over. */
static void run_say_end(struct run *r, const char *word)
{
    lease_stop(&r->lease);
    store_say_end(r->store, word);
}

static void run_on_running(void *ctx)
{
    struct run *r = ctx;
    detach_running(&r->detach);
}

static void run_mark(struct run *r, enum manifest_end end)
{
    struct sr_error err = {0};
    if (end != MANIFEST_SUSPENDED) run_say_end(r, manifest_end_name(end));
    if (store_mark_end(r->store, end, &err) != SR_OK) {
        cli_note(r->c, "warning: the end of the run could not be noted: %s", err.words);
    }
}

/* Is this a run of several over input that grows? What ends then is not the job. */
static bool run_goes_on(const struct run *r)
{
    return r->loaded.plan->is_bounded && store_is_durable(r->store) &&
           args_has(r->args, "continue") && !args_has(r->args, "drain");
}

/* Deletes what is not to be kept behind this end. What goes on later is at no end. */
static void run_retire(const struct run *r, enum run_end end)
{
    if (run_goes_on(r)) return;
    retention_apply(r->c, &r->loaded.job->settings, r->store, r->lineage, end);
}

static bool run_has_windows(const struct plan *p)
{
    for (uint32_t i = 0; i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        if (n->kind == PLAN_OP && n->op->is_keyed && strstr(n->op->name, "window")) return true;
    }
    return false;
}

static enum cli_exit run_finished(struct run *r, const struct run_status *s)
{
    run_mark(r, MANIFEST_FINISHED);
    if (run_goes_on(r) && run_has_windows(r->loaded.plan)) {
        cli_note(r->c, "windows that are still open wait in the state for the next --continue; "
                       "--continue --drain closes them");
    }
    run_retire(r, RUN_FINISHED);
    int64_t aside = summary_print(r->c, r->loaded.plan, s);
    return aside > 0 && args_has(r->args, "fail-on-dead-letter") ? CLI_DIVERTED : CLI_OK;
}

static enum cli_exit run_suspended(struct run *r, const struct run_status *s)
{
    bool is_durable = store_is_durable(r->store);
    if (is_durable) run_mark(r, MANIFEST_SUSPENDED);
    if (!r->loaded.plan->is_bounded) return CLI_OK;
    (void)summary_print(r->c, r->loaded.plan, s);
    if (!is_durable) {
        return cli_fail(r->c, CLI_UNSAVED, "ended before its end, and no state was kept");
    }
    cli_note(r->c, "ended before its end, saved as checkpoint %" PRIu64 "; --continue goes on",
             s->checkpoint_shown);
    return CLI_SUSPENDED;
}

static enum cli_exit run_failed(struct run *r, const struct run_status *s, const struct sr_error *e)
{
    (void)cli_fail(r->c, CLI_FAILED, "%s: the job failed: %s", codes_of(e->rc), e->words);
    r->is_fenced = e->rc == SR_EFENCED;
    if (r->is_fenced) return CLI_BUSY;
    if (e->rc != SR_EUNKNOWN) run_say_end(r, "failed");
    if (*s->first_cause && strcmp(s->first_cause, e->words) != 0) {
        (void)cli_fail(r->c, CLI_FAILED, "its first cause, %u restarts before: %s", s->restarts,
                       s->first_cause);
    }
    bool is_kept = !retention_deletes(&r->loaded.job->settings, RUN_FAILED);
    if (store_is_durable(r->store) && s->checkpoint_shown > 0 && is_kept) {
        cli_note(r->c, "its state is kept as checkpoint %" PRIu64 "; --continue goes on from there",
                 s->checkpoint_shown);
    }
    run_retire(r, RUN_FAILED);
    bool is_state = e->rc == SR_EMISFIT || e->rc == SR_ECORRUPT;
    return is_state ? CLI_STATE : CLI_FAILED;
}

static enum cli_exit run_ended(struct run *r, struct supervise *job, enum run_end end,
                               const struct sr_error *err)
{
    struct run_status s;
    supervise_status(job, r->c->arena, &s);
    r->note.ended_as = jobstore_state(end);
    r->note.checkpoint = s.checkpoint_shown > 0 ? s.checkpoint_shown : s.restored_from;
    r->note.cause = arena_text(r->c->arena, *s.first_cause ? s.first_cause : err->words);
    switch (end) {
    case RUN_FINISHED:
        return run_finished(r, &s);
    case RUN_STOPPED:
        run_mark(r, MANIFEST_STOPPED);
        run_retire(r, RUN_STOPPED);
        return CLI_OK;
    case RUN_CANCELED:
        run_mark(r, MANIFEST_CANCELED);
        run_retire(r, RUN_CANCELED);
        return CLI_OK;
    case RUN_SUSPENDED:
        return run_suspended(r, &s);
    case RUN_UNSAVED:
        return cli_fail(r->c, CLI_UNSAVED, "ended by a signal, the last checkpoint failed: %s",
                        err->words);
    case RUN_FAILED:
        return run_failed(r, &s, err);
    case RUN_CLOSED:
        return CLI_CLOSED;
    }
    return CLI_FAILED;
}

/* Rows on the terminal itself: a line of progress between them would spoil both. */
static bool run_prints_rows(const struct run *r)
{
    const struct plan *p = r->loaded.plan;
    for (uint32_t i = 0; i < p->nodes && isatty(STDOUT_FILENO) != 0; i++) {
        if (p->node[i].kind != PLAN_SINK) continue;
        const char *name = p->node[i].sink->name;
        if (strcmp(name, "print") == 0 || strcmp(name, "stdout") == 0) return true;
    }
    return false;
}

static enum cli_exit run_supervise(struct run *r)
{
    struct cli *c = r->c;
    struct sr_error err = {0};
    struct supervise *job = NULL;
    struct monitor *monitor = NULL;
    const struct settings *settings = &r->loaded.job->settings;
    struct suspects suspects = {.path = NULL};
    sr_rc rc = SR_OK;
    if (settings->poison_failures > 0) {
        rc = (r->has_taken_over ? suspects_inherit : suspects_open)(
            &suspects, c, r->store, r->run_dir, r->loaded.job->id, &err);
    }
    if (rc != SR_OK) {
        return cli_error(c, CLI_FAILED, &err);
    }
    if (r->is_guarded && suspects.crumbs) {
        (void)snprintf(r->guard.page->crumbs_path, sizeof(r->guard.page->crumbs_path), "%s",
                       suspects.crumbs_path);
    }
    struct run_conf conf = {.env = &c->env,
                            .plan = r->loaded.plan,
                            .store = r->store,
                            .restore = r->restore,
                            .lineage = r->lineage,
                            .may_drop_state = settings->may_drop_state ||
                                              args_has(r->args, "allow-non-restored-state"),
                            .goes_on = run_goes_on(r),
                            .poison_path = suspects.path,
                            .crumbs = suspects.crumbs,
                            .carry = r->is_guarded ? &r->guard.page->carry : NULL,
                            .on_running = run_on_running,
                            .ctx = r};
    rc = supervise_new(&job, &conf, &err);
    if (rc != SR_OK) return cli_error(c, cli_exit_of(rc), &err);
    bool is_detached = args_has(r->args, "detached");
    struct monitor_conf monitor_conf = {
        .cli = c,
        .plan = r->loaded.plan,
        .job = job,
        .listen_fd = r->listen_fd,
        .log_file = is_detached ? r->detach.log_file : NULL, /* in front, words go to stderr */
        .is_detached = is_detached,
        .is_durable = store_is_durable(r->store),
        .has_progress = !is_detached && !c->is_quiet && r->loaded.plan->is_bounded &&
                        terminal_can_redraw(STDERR_FILENO) && !run_prints_rows(r)};
    enum cli_exit code = CLI_FAILED;
    if (monitor_start(&monitor, &monitor_conf, &err) != SR_OK) {
        code = cli_error(c, CLI_FAILED, &err);
    } else {
        enum run_end end = supervise_run(job, &err);
        monitor_stop(monitor);
        code = run_ended(r, job, end, &err);
    }
    supervise_free(job);
    suspects_close(&suspects, c, r->is_fenced);
    return code;
}

/* Beside the state: in the checkpoint directory, or where the SQLite file lies; else where jobs
 * listen. */
static const char *run_log_file(const struct run *r)
{
    const struct settings *s = &r->loaded.job->settings;
    if (s->log_file) return s->log_file;
    const char *url = r->store_conf.url, *scheme = strstr(url, "://");
    const char *path = scheme ? scheme + 3 : url;
    bool is_file = strncmp(url, "sqlite:", 7) == 0 || (!scheme && run_is_file(path));
    int len = (int)strlen(path);
    if (*path != '/') {
        path = r->run_dir;
        len = (int)strlen(path);
    } else if (is_file) {
        len = (int)(strrchr(path, '/') - path);
    }
    return arena_printf(r->c->arena, "%.*s/%s.log", len, path, r->loaded.job->id);
}

/* Leaves word for list --all and wait: it runs; or, with ended_as, how it ended. */
static void run_note(struct run *r, enum cli_exit code)
{
    r->note.job = r->loaded.job;
    r->note.checkpoints = r->store_conf.url;
    r->note.exit_code = code;
    jobstore_note(r->c, r->run_dir, &r->note);
}

/* With the store open: where people find the job, then the job. */
static enum cli_exit run_listen(struct run *r)
{
    struct sr_error err = {0};
    if (detach_check(&r->detach, &err) != SR_OK) return cli_error(r->c, CLI_FAILED, &err);
    r->listen_fd = r->is_guarded ? r->guard.listen_fd : -1; /* of the engine before */
    if (r->listen_fd < 0 &&
        rundir_listen(r->c, r->run_dir, r->loaded.job->id, &r->listen_fd, &err) != SR_OK) {
        return cli_error(r->c, err.rc == SR_EBUSY ? CLI_BUSY : CLI_FAILED, &err);
    }
    if (r->is_guarded) guard_keep_socket(&r->guard, r->listen_fd);
    run_note(r, CLI_OK);
    enum cli_exit code = run_supervise(r);
    if (!r->is_fenced) run_note(r, code); /* else it is another process's to tell */
    (void)close(r->listen_fd);            /* a socket */
    rundir_leave(r->c, r->run_dir, r->loaded.job->id);
    return code;
}

/* --- The guard -------------------------------------------------------------------------------- */

static void run_guard_cancel(void *ctx)
{
    struct run *r = ctx;
    struct sr_error err = {0};
    if (store_open(&r->store, &r->c->env, &r->store_conf, &err) == SR_OK) {
        run_mark(r, MANIFEST_CANCELED);
        run_retire(r, RUN_CANCELED);
    } else {
        cli_note(r->c, "warning: the end of the run could not be noted: %s", err.words);
    }
    store_close(r->store);
    r->store = NULL;
}

/* The engine was killed once too often: the job has failed. */
static void run_guard_failed(struct run *r)
{
    struct sr_error err = {0};
    if (!retention_deletes(&r->loaded.job->settings, RUN_FAILED)) return;
    if (store_open(&r->store, &r->c->env, &r->store_conf, &err) == SR_OK) {
        run_retire(r, RUN_FAILED);
    } else {
        cli_note(r->c, "warning: the job's checkpoints could not be deleted: %s", err.words);
    }
    store_close(r->store);
    r->store = NULL;
}

static void run_guard_ended(void *ctx, const char *state, const char *words, enum cli_exit code)
{
    struct run *r = ctx;
    if (strcmp(state, "FAILED") == 0) run_guard_failed(r);
    r->note.ended_as = state;
    r->note.cause = words;
    run_note(r, code);
}

/* Answers in the engine, and at the end in the guard: *is_engine. */
static enum cli_exit run_guard(struct run *r, bool *is_engine)
{
    struct sr_error err = {0};
    enum cli_exit code = CLI_OK;
    r->guard = (struct guard){.cli = r->c,
                              .job = r->loaded.job,
                              .run_dir = r->run_dir,
                              .may_restart = strcmp(r->store_conf.url, "memory:") != 0 ||
                                             !run_has_exactly_once(r->loaded.plan),
                              .detach = &r->detach,
                              .cancel = run_guard_cancel,
                              .ended = run_guard_ended,
                              .ctx = r};
    if (guard_run(&r->guard, is_engine, &code, &err) != SR_OK) {
        return cli_error(r->c, CLI_FAILED, &err);
    }
    r->is_guarded = *is_engine;
    return code;
}

/* Before a run that begins afresh: once more, if another run was waited for. */
static enum cli_exit run_check_fresh(struct run *r)
{
    bool is_over = false;
    if (r->restore || args_has(r->args, "continue") || args_has(r->args, "standby")) return CLI_OK;
    enum cli_exit code = run_check_unfinished(r, &is_over);
    return code == CLI_OK && is_over ? run_check_unfinished(r, &is_over) : code;
}

/* Everything from a loaded job to its end. */
static enum cli_exit run_job(struct run *r)
{
    struct sr_error err = {0};
    r->listen_fd = -1;
    r->detach.ready_fd = -1;
    if (rundir_open(r->c, r->loaded.job->settings.run_dir, &r->run_dir, &err) != SR_OK) {
        return cli_error(r->c, CLI_FAILED, &err);
    }
    enum cli_exit wait = run_read_wait(r);
    if (wait != CLI_OK) return wait;
    run_choose_store(r);
    if (args_has(r->args, "standby") && strcmp(r->store_conf.url, "memory:") == 0) {
        return cli_fail(r->c, CLI_USAGE,
                        "run: --standby takes over from checkpoints, and those in memory die with "
                        "the process; set execution.checkpointing.dir");
    }
    enum cli_exit looked = run_check_fresh(r);
    if (looked != CLI_OK) return looked;
    if (args_has(r->args, "detached")) {
        bool is_parent = false;
        enum cli_exit code = CLI_OK;
        r->detach.log_file = run_log_file(r);
        if (detach_fork(&r->detach, r->c, r->loaded.job->id, &is_parent, &code, &err) != SR_OK) {
            return cli_error(r->c, CLI_FAILED, &err);
        }
        if (is_parent) return code;
    }
    run_choose_lineage(r);
    if (args_has(r->args, "detached") || args_has(r->args, "supervise")) {
        bool is_engine = false;
        enum cli_exit code = run_guard(r, &is_engine);
        if (!is_engine) return code;
    }
    monitor_block();
    bool is_over = false;
    enum cli_exit code = run_open_store(r, &is_over);
    if (code == CLI_OK && !is_over) code = run_listen(r);
    store_close(r->store);
    return code;
}

enum cli_exit run_loaded(struct cli *c, const struct args *a, const struct loaded *l)
{
    struct run r = {.c = c, .args = a, .loaded = *l};
    return run_job(&r);
}

enum cli_exit command_run(struct cli *c, const struct args *a)
{
    if (a->words != 1) return cli_fail(c, CLI_USAGE, "run: name one job file");
    const char *from = args_value(a, "from");
    if ((from != NULL) + args_has(a, "continue") + args_has(a, "fresh") > 1) {
        return cli_fail(c, CLI_USAGE, "run: --from, --continue and --fresh exclude each other");
    }
    if (args_has(a, "standby") && (from || args_has(a, "continue") || args_has(a, "fresh"))) {
        return cli_fail(c, CLI_USAGE,
                        "run: --standby starts from the newest state; leave out "
                        "--from, --continue and --fresh");
    }
    if (args_has(a, "drain") && !args_has(a, "continue")) {
        return cli_fail(c, CLI_USAGE,
                        "run: --drain belongs to --continue; other bounded runs drain anyway");
    }
    struct run r = {.c = c, .args = a};
    enum cli_exit code = load_job(c, a, a->word[0], NULL, &r.loaded);
    if (code == CLI_USAGE) return code;
    show_faults(c, r.loaded.faults);
    if (code != CLI_OK) return code;
    if (!from && !args_has(a, "continue") && !args_has(a, "fresh") && !args_has(a, "standby")) {
        from = r.loaded.job->settings.recovery_path;
    }
    if (!from && args_has(a, "claim-mode")) {
        return cli_fail(c, CLI_USAGE, "run: --claim-mode is of what --from names, not given");
    }
    if (from) code = run_load(&r, from);
    return code == CLI_OK ? run_job(&r) : code;
}

enum cli_exit command_resume(struct cli *c, const struct args *a)
{
    const char *from = args_value(a, "from");
    if (!from || a->words > 1) {
        return cli_fail(c, CLI_USAGE, "resume: say --from PATH, and at most one job file");
    }
    struct run r = {.c = c, .args = a};
    enum cli_exit code = run_load(&r, from);
    if (code != CLI_OK || !r.restore) return code;
    const char *path = a->words > 0 ? a->word[0] : NULL;
    code = load_job(c, a, path, path ? NULL : r.restore->description, &r.loaded);
    if (code == CLI_USAGE) return code;
    show_faults(c, r.loaded.faults);
    return code == CLI_OK ? run_job(&r) : code;
}
