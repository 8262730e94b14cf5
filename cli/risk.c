#include "cli/risk.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "cli/show.h"

#define RISK_FREE_BYTES ((uint64_t)100 << 20) /* less room than this, or ... */
#define RISK_FREE_SHARE 20u                   /* ... than one part in so many, is nearly full */

struct risk_world {
    struct risks *out;
    struct cli *cli;
    const struct plan *plan;
    const struct settings *settings;
    bool
        goes_on; /* after a failure or a kill the job is gone on with, not run again from nothing */
};

static void SR_PRINTF(5, 6) risk_add(struct risk_world *w, enum fault_level level, struct place at,
                                     const char *cure, const char *fmt, ...)
{
    if (w->out->count == RISKS_MAX) return;
    char words[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    w->out->warnings += level == FAULT_WARNING ? 1 : 0;
    w->out->risk[w->out->count++] = (struct risk){
        .level = level, .at = at, .words = arena_text(w->cli->arena, words), .cure = cure};
}

static const struct place risk_nowhere = {NULL, 0, 0};

/* The step of the job file that a node was made from; NULL: it does the work of several. */
static const struct job_step *risk_step(const struct plan *p, const struct plan_node *n)
{
    for (uint32_t i = 0; i < p->job->steps; i++) {
        if (strcmp(p->job->step[i].name.text, n->step) == 0) return &p->job->step[i];
    }
    return NULL;
}

static struct place risk_place(const struct plan *p, const struct plan_node *n)
{
    const struct job_step *s = risk_step(p, n);
    if (!s) return risk_nowhere;
    return s->connector_at.line ? s->connector_at : s->name.at;
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* One of those that can write down what they read. */
static bool risk_may_have_journal(const struct plan_node *n)
{
    for (const struct sr_opt *o = n->source->opts; o && o->key; o++) {
        if (strcmp(o->key, "journal") == 0) return true;
    }
    return false;
}

static void risk_no_rewind(struct risk_world *w, const struct plan_node *n)
{
    const char *cure = "run the whole pipe again when it failed";
    if (w->goes_on) cure = "let it write a file or a queue, and read that";
    if (w->goes_on && risk_may_have_journal(n)) {
        cure = "keep what was read in a `journal:` ('streamrun help journal')";
    }
    risk_add(w, w->goes_on ? FAULT_WARNING : FAULT_NOTICE, risk_place(w->plan, n), cure,
             "source '%s' (%s) cannot go back: rows that were read and not yet written are lost "
             "when the process dies",
             n->step, n->source->name);
}

/* What one record does that cannot be read, computed or written. */
static void risk_bad_rows(struct risk_world *w, const struct plan_node *n)
{
    struct place at = risk_place(w->plan, n);
    bool is_set_aside = w->plan->dead_letter && w->settings->poison_failures > 0;
    if (n->on_error == JOB_SKIP) {
        risk_add(w, FAULT_NOTICE, at, "on-error: dead-letter keeps them",
                 "records that fail in step '%s' are dropped and counted (on-error: skip)",
                 n->step);
    } else if (n->on_error == JOB_FAIL && n->format && w->goes_on && !is_set_aside) {
        risk_add(w, FAULT_NOTICE, at,
                 "on-error: skip or dead-letter; or a `dead-letter:` block, into which "
                 "poison.max-failures moves it",
                 "one record of source '%s' that cannot be read stops the job (on-error: fail)",
                 n->step);
    }
}

static void risk_source(struct risk_world *w, const struct plan_node *n)
{
    if (!n->source_caps.can_rewind && !n->source_caps.resends) risk_no_rewind(w, n);
    risk_bad_rows(w, n);
}

/* The value of an option of whole numbers, by its key; 0: the sink has none of that name. */
static int64_t risk_sink_number(const struct plan_node *n, const char *key)
{
    for (const struct sr_opt *o = n->sink->opts; o && o->key; o++) {
        if (o->kind == SR_OPT_INT && strcmp(o->key, key) == 0) {
            int64_t v = 0;
            memcpy(&v, (const char *)n->conf + o->offset, sizeof(v));
            return v;
        }
    }
    return 0;
}

static void risk_overtaking(struct risk_world *w, const struct plan_node *n)
{
    int64_t inflight = risk_sink_number(n, "sink.requests.max-inflight");
    if (!n->is_updating || inflight <= 1) return;
    risk_add(w, FAULT_WARNING, risk_place(w->plan, n), "sink.requests.max-inflight: 1",
             "the rows of sink '%s' (%s) are changes, and of %" PRId64
             " requests on the way at once a later one may overtake: an older change of a row can "
             "then come after a newer one",
             n->step, n->sink->name, inflight);
}

/* The value of an option that is a text or a path; NULL: it is not set, or there is none. */
static const char *risk_text(const struct sr_opt *opts, const void *conf, const char *key)
{
    for (const struct sr_opt *o = opts; o && o->key; o++) {
        if (o->kind == SR_OPT_TEXT && strcmp(o->key, key) == 0) {
            const char *text = NULL;
            memcpy(&text, (const char *)conf + o->offset, sizeof(text));
            return text;
        }
    }
    return NULL;
}

/* Is it this path, or below it? Of a pattern nothing is said. */
static bool risk_is_below(const char *path, const char *above)
{
    size_t len = strlen(above);
    while (len > 1 && above[len - 1] == '/') {
        len--;
    }
    bool is_pattern = strpbrk(above, "*?[{") != NULL;
    return !is_pattern && strncmp(path, above, len) == 0 && (!path[len] || path[len] == '/');
}

/* What the sink writes, the job reads again: its rows go round. */
static void risk_feedback(struct risk_world *w, const struct plan_node *sink)
{
    const char *to = risk_text(sink->sink->opts, sink->conf, "path");
    const char *table = risk_text(sink->sink->opts, sink->conf, "table-name");
    for (uint32_t i = 0; to && i < w->plan->nodes; i++) {
        const struct plan_node *n = &w->plan->node[i];
        if (n->kind != PLAN_SOURCE || strcmp(n->source->name, sink->sink->name) != 0) continue;
        const char *from = risk_text(n->source->opts, n->conf, "path");
        const char *read = risk_text(n->source->opts, n->conf, "table-name");
        bool is_same_table = !table || !read || strcmp(table, read) == 0;
        if (!from || !risk_is_below(to, from) || !is_same_table) continue;
        risk_add(w, FAULT_WARNING, risk_place(w->plan, sink), "write elsewhere",
                 "source '%s' reads what sink '%s' writes, in this run or the next: rows go round",
                 n->step, sink->step);
    }
}

/* A checkpoint that takes as long as it may, and the rows before it, are in one transaction. */
static void risk_transaction(struct risk_world *w, const struct plan_node *n)
{
    int64_t open_us = n->sink_caps.transaction_us, interval_us = w->settings->interval.us;
    int64_t timeout_us = w->settings->timeout.us;
    if (!plan_is_decided(n) || open_us == 0 || interval_us < 0) return;
    if (interval_us < open_us && timeout_us < open_us - interval_us) return;
    risk_add(w, FAULT_WARNING, risk_place(w->plan, n),
             "a longer time-out of the sink's transactions, or a shorter "
             "execution.checkpointing.timeout",
             "transactions of sink '%s' are aborted when they are open for %" PRId64
             " ms, and one is for up to %" PRId64 " ms (execution.checkpointing.interval) and "
             "%" PRId64 " ms (execution.checkpointing.timeout): a checkpoint that takes so long "
             "is taken again from the one before, with a restart",
             n->step, open_us / 1000, interval_us / 1000, timeout_us / 1000);
}

static void risk_sink(struct risk_world *w, const struct plan_node *n)
{
    risk_overtaking(w, n);
    risk_transaction(w, n);
    risk_feedback(w, n);
    if (n->sink_caps.guarantee != SR_AT_LEAST_ONCE || !w->goes_on) return;
    const struct job_step *s = risk_step(w->plan, n);
    bool is_chosen = s && s->guarantee == SR_AT_LEAST_ONCE;
    risk_add(w, is_chosen ? FAULT_NOTICE : FAULT_WARNING, risk_place(w->plan, n),
             is_chosen ? "nothing, if whoever reads the rows drops those that come twice"
                       : "a sink that keeps exactly-once ('streamrun connectors --guarantees'), or "
                         "sink.delivery-guarantee: at-least-once where that is meant",
             "sink '%s' (%s) is at-least-once: rows since the last checkpoint come again after a "
             "restart",
             n->step, n->sink->name);
}

static void risk_late(struct risk_world *w)
{
    for (uint32_t i = 0; i < w->plan->job->steps; i++) {
        const struct job_step *s = &w->plan->job->step[i];
        bool is_chosen = s->on_late_at.line > 0 || s->on_late == JOB_LATE_DEAD_LETTER;
        if (!s->window.text || is_chosen) continue;
        risk_add(w, FAULT_NOTICE, s->window.at,
                 "on-late: dead-letter, or let the source's watermark wait longer",
                 "rows that come later than the watermark allows are dropped by step '%s', and "
                 "counted as late",
                 s->name.text);
    }
}

/* --- Checkpoints ------------------------------------------------------------------------------ */

/* The nearest directory above `path` that is there already. */
static const char *risk_there(struct arena *a, const char *path)
{
    char *p = arena_text(a, path);
    struct statfs fs;
    while (p && *p && statfs(p, &fs) != 0) {
        char *slash = strrchr(p, '/');
        if (!slash || slash == p) return "/";
        *slash = '\0';
    }
    return p && *p ? p : "/";
}

static void risk_room(struct risk_world *w, const char *path, struct place at)
{
    struct statfs fs;
    const char *there = risk_there(w->cli->arena, path);
    if (statfs(there, &fs) != 0) return; /* what cannot be looked at is told when the job runs */
    uint64_t unit = (uint64_t)fs.f_bsize, free = fs.f_bavail * unit, all = fs.f_blocks * unit;
    if (free < RISK_FREE_BYTES || free < all / RISK_FREE_SHARE) {
        risk_add(w, FAULT_WARNING, at, "make room there, or set execution.checkpointing.dir",
                 "%s, where checkpoints lie, is nearly full: %s of %s are free; when a checkpoint "
                 "fails, the job goes on and a kill costs the time since the last good one",
                 there, show_size(w->cli->arena, (int64_t)free),
                 show_size(w->cli->arena, (int64_t)all));
    }
    if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC) {
        risk_add(w, FAULT_NOTICE, at, "set execution.checkpointing.dir to a place on a disk",
                 "%s, where checkpoints lie, is in memory: they die with the machine", there);
    }
    if (access(there, W_OK) != 0) {
        risk_add(w, FAULT_WARNING, at, "give yourself the right to write there, or set another",
                 "checkpoints cannot be written to %s: %s", there, strerrordesc_np(errno));
    }
}

static void risk_storage(struct risk_world *w)
{
    const struct settings *s = w->settings;
    if (s->storage.index == STORAGE_JOBMANAGER) {
        risk_add(w, FAULT_WARNING, risk_nowhere,
                 "set execution.checkpointing.dir, and storage to filesystem",
                 "checkpoints lie in memory only and die with the process "
                 "(execution.checkpointing.storage: jobmanager)");
        return;
    }
    if (s->interval.us < 0 && !w->plan->is_bounded) {
        risk_add(w, FAULT_WARNING, risk_nowhere, "set execution.checkpointing.interval",
                 "checkpointing is off: after a kill nothing is known of what was read and "
                 "written");
        return;
    }
    if (!s->dir) return;
    const char *scheme = strstr(s->dir, "://");
    risk_room(w, scheme ? scheme + 3 : s->dir, risk_nowhere);
}

static void risk_restart(struct risk_world *w)
{
    const struct settings *s = w->settings;
    bool is_none = s->restart.index == RESTART_NONE ||
                   (s->restart.index == RESTART_UNSET && s->interval.us < 0);
    if (!w->plan->is_bounded && is_none) {
        risk_add(w, FAULT_NOTICE, risk_nowhere, "restart-strategy.type: exponential-delay",
                 "the first failure ends the job: it has no restart strategy");
    }
    if (!w->plan->is_bounded) {
        risk_add(w, FAULT_NOTICE, risk_nowhere,
                 "start it a second time with --standby, or run it under systemd or the like, with "
                 "--continue and Restart=on-failure",
                 "there is no standby: when the process is killed or the machine goes down, "
                 "somebody has to start the job again");
    }
}

/* Restarts that follow on each other before the job fails for good. */
static int64_t risk_restarts(const struct settings *s)
{
    switch ((enum settings_restart)s->restart.index) {
    case RESTART_UNSET:
        return s->interval.us < 0 ? 0 : s->exp_attempts;
    case RESTART_NONE:
        return 0;
    case RESTART_FIXED:
        return s->fixed_attempts;
    case RESTART_EXPONENTIAL:
        return s->exp_attempts;
    case RESTART_RATE:
        return s->rate_failures;
    }
    return 0;
}

/* A record is only known by failing the job again and again: somebody must start it so often. */
static void risk_poison(struct risk_world *w)
{
    int64_t needed = w->settings->poison_failures - 1, given = risk_restarts(w->settings);
    if (!w->plan->dead_letter || !w->goes_on || given >= needed) return;
    risk_add(w, FAULT_NOTICE, risk_nowhere,
             "a restart strategy that restarts more often, a lower poison.max-failures, or "
             "on-error: dead-letter",
             "a record that fails the job is moved to the dead letters at its failure %" PRId64
             " (poison.max-failures), but the restart strategy gives up after %s: the next runs "
             "with --continue count on",
             needed + 1, show_many(w->cli->arena, (uint64_t)given, "restart"));
}

void risks_find(struct risks *r, struct cli *c, const struct loaded *l)
{
    const struct settings *s = &l->job->settings;
    memset(r, 0, sizeof(*r));
    struct risk_world w = {.out = r,
                           .cli = c,
                           .plan = l->plan,
                           .settings = s,
                           .goes_on = !l->plan->is_bounded || s->interval.us >= 0};
    for (uint32_t i = 0; i < l->plan->nodes; i++) {
        const struct plan_node *n = &l->plan->node[i];
        switch (n->kind) {
        case PLAN_SOURCE:
            risk_source(&w, n);
            break;
        case PLAN_SINK:
            risk_sink(&w, n);
            break;
        case PLAN_OP:
            if (n->on_error == JOB_SKIP) risk_bad_rows(&w, n);
            break;
        }
    }
    risk_late(&w);
    risk_storage(&w);
    risk_restart(&w);
    risk_poison(&w);
}
