/* run and resume: a job from its file to its end. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/levels.h"
#include "cli/monitor.h"
#include "cli/retention.h"
#include "cli/run_inner.h"
#include "cli/rundir.h"
#include "cli/show.h"
#include "cli/suspects.h"
#include "cli/terminal.h"

static void run_on_running(void *ctx)
{
    struct run *r = ctx;
    detach_running(&r->detach);
}

/* Other threads have arenas of their own. */
static void run_on_loaded(void *ctx)
{
    struct run *r = ctx;
    manifest_let_go(r->restore, r->c->arena, MANIFEST_STATE);
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
                            .is_newest = r->restore && !r->restore_path,
                            .on_loaded = run_on_loaded,
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
        run_leave_begin(r);
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

/* The levels of the log: --verbose, --log-level, log.level. */
static enum cli_exit run_set_levels(const struct run *r)
{
    const char *word = args_value(r->args, "log-level");
    enum sr_level level = (enum sr_level)r->loaded.job->settings.log_level.index;
    if (word && !levels_parse(word, &level)) {
        return cli_fail(r->c, CLI_USAGE, "run: --log-level is DEBUG, INFO, WARN or ERROR, not '%s'",
                        word);
    }
    if (word || !args_has(r->args, "verbose")) levels_set_all(r->c->levels, level);
    return CLI_OK;
}

/* Everything from a loaded job to its end. */
static enum cli_exit run_job(struct run *r)
{
    struct sr_error err = {0};
    enum cli_exit levels = run_set_levels(r);
    if (levels != CLI_OK) return levels;
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
    const char *fate = args_value(a, "pending");
    if (fate && (!args_has(a, "continue") ||
                 (strcmp(fate, "complete") != 0 && strcmp(fate, "drop") != 0))) {
        return cli_fail(c, CLI_USAGE,
                        "run: --pending belongs to --continue, and is complete or drop");
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
