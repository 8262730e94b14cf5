/* wait: until a running job has come so far. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/control.h"
#include "cli/jobstore.h"
#include "cli/rundir.h"
#include "cli/show.h"
#include "conf/value.h"

#define WAIT_LOOK_MS  20      /* until the job is asked again */
#define WAIT_GONE_US  2000000 /* a job whose process is gone may be taken over for so long */
#define WAIT_QUIET_US 100000  /* nothing moves: all that was read has come through */

enum wait_for { WAIT_CHECKPOINT, WAIT_CAUGHT_UP, WAIT_FINISHED };

struct wait {
    struct cli *c;
    const char *dir, *job_id;
    enum wait_for what;
    int64_t until_us;   /* monotonic */
    int64_t checkpoint; /* the newest that was begun when we came; -1: not known yet */
    int64_t rows;       /* the sum of all counters when we last looked */
    int64_t still_us;   /* monotonic, since when they do not move */
    int64_t gone_us;    /* since when no process answers; 0: one does */
    enum cli_exit code; /* good when it is over */
};

static int64_t wait_int(const json_t *j, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(j, key));
}

/* Has a checkpoint been completed that began after we came? */
static bool wait_is_checkpointed(struct wait *w, const json_t *s)
{
    const json_t *k = json_object_get(s, "checkpoints");
    if (w->checkpoint < 0) w->checkpoint = wait_int(k, "newest");
    return wait_int(k, "latest") > w->checkpoint;
}

/* Have all sources nothing to read, and do no rows move any more? */
static bool wait_is_caught_up(struct wait *w, const json_t *s, int64_t now_us)
{
    static const char *const counter[] = {"read-records", "write-records", "filtered",
                                          "late",         "aggregated",    "skipped"};
    int64_t rows = 0;
    bool is_behind = false;
    size_t i;
    const json_t *v;
    json_array_foreach(json_object_get(s, "vertices"), i, v)
    {
        for (size_t k = 0; k < sizeof(counter) / sizeof(counter[0]); k++) {
            rows += wait_int(v, counter[k]);
        }
        is_behind = is_behind || json_is_false(json_object_get(v, "caught-up"));
    }
    if (is_behind || rows != w->rows || w->still_us == 0) {
        w->rows = rows;
        w->still_us = now_us;
        return false;
    }
    return now_us - w->still_us >= WAIT_QUIET_US;
}

/* No process answers: the job has ended, or is being taken over. */
static bool wait_is_over(struct wait *w, int64_t now_us)
{
    json_t *job = jobstore_find(w->c, w->dir, w->job_id);
    bool is_over = job && jobstore_is_over(job);
    if (w->gone_us == 0) w->gone_us = now_us;
    if (!is_over && now_us - w->gone_us < WAIT_GONE_US) {
        json_decref(job);
        return false;
    }
    const char *state = json_string_value(json_object_get(job, "state"));
    const char *cause = json_string_value(json_object_get(job, "root-exception"));
    w->code = is_over ? (enum cli_exit)wait_int(job, "exit-code") : CLI_FAILED;
    if (w->what != WAIT_FINISHED || w->code != CLI_OK) {
        w->code =
            cli_fail(w->c, w->code != CLI_OK ? w->code : CLI_FAILED, "the job has ended: %s%s%s",
                     state ? state : "its process is gone", cause ? ": " : "", cause ? cause : "");
    }
    json_decref(job);
    return true;
}

/* True: what was waited for has come, or never will: w->code. */
static bool wait_look(struct wait *w)
{
    struct sr_error err = {0};
    json_t *answer = NULL;
    bool is_there = false;
    int64_t now_us = w->c->env.mono_us(&w->c->env);
    sr_rc rc = control_ask(w->c, w->dir, w->job_id, json_pack("{s:s}", "command", "status"),
                           &answer, &err);
    if (rc != SR_OK) return rc != SR_EBUSY && wait_is_over(w, now_us);
    const json_t *s = json_object_get(answer, "status");
    w->gone_us = 0;
    switch (w->what) {
    case WAIT_CHECKPOINT:
        is_there = s && wait_is_checkpointed(w, s);
        break;
    case WAIT_CAUGHT_UP:
        is_there = s && wait_is_caught_up(w, s, now_us);
        break;
    case WAIT_FINISHED:
        break;
    }
    json_decref(answer);
    return is_there;
}

static enum cli_exit wait_read(struct wait *w, const struct args *a)
{
    static const struct sr_opt duration = {.key = "timeout", .kind = SR_OPT_DURATION};
    const char *text = args_value(a, "timeout");
    sr_duration limit;
    struct value_fault fault;
    bool is_checkpoint = args_has(a, "checkpoint"), is_caught_up = args_has(a, "caught-up");
    if (is_checkpoint + is_caught_up + args_has(a, "finished") != 1) {
        return cli_fail(w->c, CLI_USAGE,
                        "wait: say one of --checkpoint, --caught-up and --finished");
    }
    w->what = is_checkpoint ? WAIT_CHECKPOINT : is_caught_up ? WAIT_CAUGHT_UP : WAIT_FINISHED;
    w->until_us = INT64_MAX;
    if (!text) return CLI_OK;
    if (!value_parse(&duration, text, text, &limit, &fault)) {
        return cli_fail(w->c, CLI_USAGE, "--timeout: %s", fault.words);
    }
    w->until_us = w->c->env.mono_us(&w->c->env) + limit.us;
    return CLI_OK;
}

/* A job that ended before we came, by its name or id. */
static const char *wait_find_ended(const struct wait *w, const char *name)
{
    json_t *job = jobstore_find_ended(w->c, w->dir, name);
    const char *id = json_string_value(json_object_get(job, "jid"));
    const char *found = id ? arena_text(w->c->arena, id) : NULL;
    json_decref(job);
    return found;
}

enum cli_exit command_wait(struct cli *c, const struct args *a)
{
    struct wait w = {.c = c, .checkpoint = -1};
    struct sr_error err = {0};
    const char *name = a->words > 0 ? a->word[0] : NULL;
    enum cli_exit code = wait_read(&w, a);
    if (code != CLI_OK) return code;
    if (rundir_open(c, args_value(a, "run-dir"), &w.dir, &err) != SR_OK) {
        return cli_error(c, CLI_FAILED, &err);
    }
    bool may_be_over = w.what == WAIT_FINISHED && name;
    w.job_id = may_be_over ? wait_find_ended(&w, name) : NULL;
    if (!w.job_id) code = control_find(c, w.dir, name, &w.job_id);
    if (code != CLI_OK) return code;
    while (!wait_look(&w)) {
        if (c->env.mono_us(&c->env) >= w.until_us) {
            return cli_fail(c, CLI_TIMEOUT, "wait: the time is over");
        }
        (void)poll(NULL, 0, WAIT_LOOK_MS);
    }
    return w.code;
}
