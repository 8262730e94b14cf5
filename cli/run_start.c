/* Where a run's state lies, and what it starts from. */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/process.h"
#include "cli/restore_from.h"
#include "cli/run_inner.h"
#include "cli/rundir.h"
#include "cli/standby.h"
#include "conf/value.h"
#include "engine/base/calendar.h"
#include "engine/run/tables.h"

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

bool run_has_exactly_once(const struct plan *p)
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

bool run_is_file(const char *path)
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

void run_choose_store(struct run *r)
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
enum cli_exit run_read_wait(struct run *r)
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
    if (manifest_is_over(e.end)) return CLI_OK;
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

enum cli_exit run_check_fresh(struct run *r)
{
    bool is_over = false;
    if (r->restore || args_has(r->args, "continue") || args_has(r->args, "standby")) return CLI_OK;
    enum cli_exit code = run_check_unfinished(r, &is_over);
    return code == CLI_OK && is_over ? run_check_unfinished(r, &is_over) : code;
}

static uint64_t run_new_lineage(const struct cli *c)
{
    uint64_t v = c->env.random(&c->env);
    return v != 0 ? v : 1;
}

enum cli_exit run_load(struct run *r, const char *path)
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
void run_choose_lineage(struct run *r)
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

static void run_claim(const struct run *r, const char *path)
{
    struct sr_error err = {0};
    if (store_claim(r->store, path, r->lineage, r->claim_path != NULL, &err) != SR_OK) {
        cli_note(r->c, "warning: %s", err.words);
    }
}

/* With the lock: it is noted what the lineage begins with, and whether that is its own. A run that
 * is killed before its first checkpoint is then gone on with from there. */
static void run_claim_begin(const struct run *r)
{
    bool takes_any = args_has(r->args, "continue") || args_has(r->args, "standby");
    if (r->guard.deaths > 0) return;
    bool is_new = r->restore && r->restore->lineage != r->lineage && r->restore_path;
    if (!r->restore && !takes_any) run_claim(r, NULL);
    if (is_new && (r->claim_path || store_is_durable(r->store))) run_claim(r, r->restore_path);
}

/* --continue where the run before was killed ahead of its first checkpoint, and `path` is what it
 * began with: older checkpoints are of lineages that it has left. */
static enum cli_exit run_begin_again(struct run *r, const char *path, bool is_owned)
{
    enum cli_exit code = run_load(r, path);
    r->claim_path = is_owned ? r->restore_path : NULL;
    if (code == CLI_OK) run_claim(r, r->restore_path);
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
    if (code == CLI_OK) run_claim(r, r->restore_path);
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

/* From now on who stands by takes over when we die, however the run before ended. */
static void run_say_begin(struct run *r)
{
    if (*store_end_before(r->store) == '\0') return;
    lease_stop(&r->lease);
    store_say_end(r->store, "");
    lease_start(&r->lease, r->store);
}

/* --pending: the user has looked at the target, and says what became of a checkpoint that neither
 * the marker nor a row tells of any more. */
static enum cli_exit run_settle(struct run *r, struct manifest **newest)
{
    struct sr_error err = {0};
    const char *fate = args_value(r->args, "pending");
    if (!fate) return CLI_OK;
    if ((*newest)->end != MANIFEST_PENDING) {
        return cli_fail(r->c, CLI_STATE, "--pending: checkpoint %" PRIu64 " is not pending",
                        (*newest)->checkpoint);
    }
    bool is_kept = strcmp(fate, "complete") == 0;
    sr_rc rc = (is_kept ? store_complete : store_drop)(r->store, (*newest)->checkpoint, &err);
    if (rc == SR_OK) rc = store_load_newest(r->store, r->c->arena, newest, &err);
    if (rc == SR_EABSENT) *newest = NULL;
    return rc == SR_OK || rc == SR_EABSENT ? CLI_OK : cli_error(r->c, CLI_STATE, &err);
}

static void run_take(struct run *r, struct manifest *m)
{
    r->restore = m;
    r->lineage = m->lineage;
}

/* The newest of all, NULL: there is none; unless a run has begun elsewhere since. */
static enum cli_exit run_take_any(struct run *r, struct manifest *newest)
{
    bool is_owned = false;
    enum cli_exit code = newest ? run_settle(r, &newest) : CLI_OK;
    if (code != CLI_OK) return code;
    const char *begun = store_begun_with(r->store, newest ? newest->lineage : 0, &is_owned);
    if (begun) return run_begin_again(r, begun, is_owned);
    if (newest) run_take(r, newest);
    return CLI_OK;
}

/* What this run goes on from, now that the store is its own: the newest checkpoint, if it was asked
 * to take any; behind a crash what this run has published, if it has. */
static enum cli_exit run_take_up(struct run *r)
{
    struct sr_error err = {0};
    struct manifest *newest = NULL;
    bool takes_any = (args_has(r->args, "continue") || args_has(r->args, "standby")) && !r->restore;
    if (!takes_any && r->guard.deaths == 0) return CLI_OK;
    sr_rc rc = store_load_newest(r->store, r->c->arena, &newest, &err);
    if (rc == SR_ECORRUPT && takes_any && args_has(r->args, "allow-fallback")) {
        return run_fall_back(r);
    }
    if (rc != SR_OK && rc != SR_EABSENT) return cli_error(r->c, CLI_STATE, &err);
    if (takes_any) return run_take_any(r, rc == SR_OK ? newest : NULL);
    if (rc == SR_OK && newest->lineage == r->lineage) run_take(r, newest);
    return CLI_OK;
}

enum cli_exit run_open_store(struct run *r, bool *is_over)
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
    if (rc == SR_ECORRUPT || rc == SR_EMISFIT) return cli_error(r->c, CLI_STATE, &err);
    if (rc != SR_OK) return cli_error(r->c, CLI_FAILED, &err);
    run_say_begin(r);
    run_claim_begin(r);
    return run_take_up(r);
}
