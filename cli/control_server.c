#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/control.h"
#include "cli/levels.h"
#include "cli/show.h"
#include "engine/base/calendar.h"

/* The job that is asked. */
struct control_job {
    const struct cli *cli;
    struct supervise *job;
    const struct plan *plan;
};

#define CONTROL_WAIT_MS 5000 /* a peer that says nothing for so long is let go */

/* One line without its newline; false at the end, after a silence, or when it is too long. */
static bool control_read(int fd, char *line, size_t room)
{
    size_t n = 0;
    while (n + 1 < room) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, CONTROL_WAIT_MS) <= 0) return false;
        ssize_t got = read(fd, line + n, room - 1 - n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        n += (size_t)got;
        char *end = memchr(line, '\n', n);
        if (end) {
            *end = '\0';
            return true;
        }
    }
    return false;
}

static void control_write(int fd, json_t *answer)
{
    char *text = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    if (!text) return;
    size_t len = strlen(text);
    text[len] = '\n'; /* instead of the final zero */
    for (size_t at = 0; at <= len;) {
        ssize_t put = send(fd, text + at, len + 1 - at, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) break; /* the peer went away: nobody to tell */
        at += (size_t)put;
    }
    free(text);
}

static json_t *control_error(const char *words)
{
    return json_pack("{s:b, s:s}", "ok", 0, "error", words);
}

/* What the asker can mend: `exit` is the exit code that fits. */
static json_t *control_fault(const char *words, enum cli_exit code)
{
    return json_pack("{s:b, s:s, s:i}", "ok", 0, "error", words, "exit", (int)code);
}

static json_t *control_savepoint(struct supervise *job, const struct plan *plan, json_t *request,
                                 enum run_then then)
{
    const char *dir = json_string_value(json_object_get(request, "dir"));
    if (!dir) dir = plan->job->settings.savepoint_dir;
    if (!dir) {
        return control_fault("no directory for savepoints: give --dir, or set "
                             "execution.checkpointing.savepoint-dir",
                             CLI_CONFIG);
    }
    bool is_drain = json_is_true(json_object_get(request, "drain"));
    char path[4096];
    struct sr_error err = {0};
    if (supervise_savepoint(job, dir, then, is_drain, path, &err) != SR_OK) {
        return control_error(err.words);
    }
    return json_pack("{s:b, s:s}", "ok", 1, "path", path);
}

static const char *control_state(enum run_state s)
{
    switch (s) {
    case RUN_STARTING:
        return "INITIALIZING";
    case RUN_RUNNING:
        return "RUNNING";
    case RUN_RESTARTING:
        return "RESTARTING";
    case RUN_ENDING:
        return "FINISHING";
    case RUN_ENDED:
        return "FINISHED";
    }
    return "RUNNING";
}

/* In milliseconds, as Flink's REST names them where it does. */
static json_t *control_phases_json(const struct run_phases *p)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "alignment_duration",
                     (double)p->alignment_us / 1000, "sync_duration", (double)p->sync_us / 1000,
                     "async_duration", (double)p->async_us / 1000, "store_duration",
                     (double)p->store_us / 1000, "show_duration", (double)p->show_us / 1000);
}

/* Flink's names: of its REST interface, and of its metrics; its bounds of the levels too. */
static void control_put_times(json_t *j, const struct run_node_status *n)
{
    int parts = (int)n->looked_at;
    const char *level = n->pressed_most <= 100 ? "ok" : n->pressed_most <= 500 ? "low" : "high";
    json_t *times = json_pack(
        "{s:I, s:I, s:I, s:i, s:i, s:i, s:s}", "accumulated-busy-time",
        (json_int_t)(n->times.busy_us / 1000), "accumulated-idle-time",
        (json_int_t)(n->times.idle_us / 1000), "accumulated-backpressured-time",
        (json_int_t)(n->times.pressed_us / 1000), "busyTimeMsPerSecond", n->times.busy_ms / parts,
        "idleTimeMsPerSecond", n->times.idle_ms / parts, "backPressuredTimeMsPerSecond",
        n->times.pressed_ms / parts, "backpressureLevel", level);
    (void)json_object_update(j, times); /* without memory they are not shown */
    json_decref(times);
}

static json_t *control_node_json(const struct run_node_status *n)
{
    json_t *j =
        json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "id", n->uid, "name",
                  n->name, "parallelism", (int)n->parallelism, "read-records", (json_int_t)n->in,
                  "write-records", (json_int_t)n->out, "filtered", (json_int_t)n->filtered, "late",
                  (json_int_t)n->late, "aggregated", (json_int_t)n->absorbed, "skipped",
                  (json_int_t)n->skipped, "dead-lettered", (json_int_t)n->dead);
    if (n->bytes_total >= 0) {
        json_object_set_new(j, "read-bytes", json_integer(n->bytes_in));
        json_object_set_new(j, "total-bytes", json_integer(n->bytes_total));
    }
    if (n->looked_at > 0) control_put_times(j, n);
    if (n->waits_since_us > 0) {
        json_object_set_new(j, "waits-for", json_string(n->waits_for));
        json_object_set_new(j, "waits-since", json_integer(n->waits_since_us / 1000));
    }
    if (n->kind == PLAN_SOURCE) {
        json_object_set_new(j, "caught-up", json_boolean(n->is_caught_up));
    }
    if (n->watermark_ms != SR_WATERMARK_NONE) {
        json_object_set_new(j, "watermark", json_integer(n->watermark_ms));
    }
    json_t *own = n->owns > 0 ? json_object() : NULL;
    for (uint32_t i = 0; i < n->owns; i++) {
        json_object_set_new(own, n->own[i].name, json_integer(n->own[i].value));
    }
    if (own) json_object_set_new(j, "counters", own);
    json_t *splits = n->splits > 0 ? json_array() : NULL;
    for (uint32_t i = 0; i < n->splits; i++) {
        const struct run_split_status *k = &n->split[i];
        int64_t lag = k->end > k->position ? k->end - k->position : 0;
        json_array_append_new(splits, json_pack("{s:s, s:I, s:I, s:I}", "split", k->id, "position",
                                                (json_int_t)k->position, "end", (json_int_t)k->end,
                                                "lag", (json_int_t)lag));
    }
    if (splits) json_object_set_new(j, "splits", splits);
    return j;
}

/* Of a job that has several: what fails and restarts on its own. */
static json_t *control_regions_json(const struct run_status *s)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < s->regions; i++) {
        const struct run_region_status *r = &s->region[i];
        json_t *j = json_pack("{s:s, s:s, s:I}", "name", r->name, "state",
                              r->is_down ? "RESTARTING" : control_state(s->state), "restarts",
                              (json_int_t)r->restarts);
        if (*r->first_cause) json_object_set_new(j, "root-exception", json_string(r->first_cause));
        json_array_append_new(all, j);
    }
    return all;
}

json_t *control_status_json(struct supervise *job, const struct plan *plan)
{
    struct arena *a = arena_new();
    if (!a) return json_null();
    struct run_status s;
    supervise_status(job, a, &s);
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < s.nodes; i++) {
        json_array_append_new(nodes, control_node_json(&s.node[i]));
    }
    json_t *j = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I}, s:o}", "jid",
        plan->job->id, "name", plan->job->name, "state", control_state(s.state), "start-time",
        (json_int_t)(s.started_us / 1000), "duration",
        (json_int_t)((s.now_us - s.started_us) / 1000), "attempt", (json_int_t)s.attempt,
        "restarts", (json_int_t)s.restarts, "checkpoints", "latest", (json_int_t)s.checkpoint_shown,
        "completed", (json_int_t)s.checkpoints_shown, "failed", (json_int_t)s.checkpoints_failed,
        "restored", (json_int_t)s.restored_from, "last-duration",
        (json_int_t)(s.checkpoint_last_us / 1000), "last-size", (json_int_t)s.checkpoint_last_bytes,
        "vertices", nodes);
    json_object_set_new(j, "pid", json_integer(getpid()));
    json_object_set_new(json_object_get(j, "checkpoints"), "last-phases",
                        control_phases_json(&s.phases));
    if (s.regions > 1) json_object_set_new(j, "regions", control_regions_json(&s));
    json_object_set_new(json_object_get(j, "checkpoints"), "newest",
                        json_integer((json_int_t)s.checkpoint_newest));
    json_object_set_new(json_object_get(j, "checkpoints"), "is-processing-backlog",
                        json_boolean(s.is_backlog));
    if (s.checkpoint_pending != 0) {
        json_t *pending = json_pack("{s:I, s:I}", "id", (json_int_t)s.checkpoint_pending, "since",
                                    (json_int_t)(s.pending_since_us / 1000));
        json_object_set_new(json_object_get(j, "checkpoints"), "pending", pending);
    }
    if (plan->job->file) json_object_set_new(j, "file", json_string(plan->job->file));
    if (*s.first_cause) json_object_set_new(j, "root-exception", json_string(s.first_cause));
    if (*s.checkpoint_failure) {
        json_object_set_new(j, "checkpoint-failure", json_string(s.checkpoint_failure));
    }
    arena_free(a);
    return j;
}

/* {"all": "WARN", "ckpt": "DEBUG"} */
static json_t *control_levels_json(const struct levels *l)
{
    json_t *all = json_pack("{s:s}", "all", levels_name(levels_base(l)));
    for (uint32_t i = 0; i < levels_count(l); i++) {
        enum sr_level level;
        const char *name = levels_own(l, i, &level);
        if (name) json_object_set_new(all, name, json_string(levels_name(level)));
    }
    return json_pack("{s:b, s:o}", "ok", 1, "levels", all);
}

/* Is that one of the steps of the plan's first `nodes` nodes? */
static bool control_is_step(const struct plan *plan, uint32_t nodes, const char *name)
{
    bool is_one = false;
    for (uint32_t i = 0; i < nodes && !is_one; i++) {
        is_one = strcmp(plan->node[i].step, name) == 0;
    }
    return is_one;
}

/* A part of the engine, or a step of the job. */
static bool control_is_component(const struct plan *plan, const char *name)
{
    bool is_one = control_is_step(plan, plan->nodes, name);
    for (const struct levels_part *p = levels_parts; p->name && !is_one; p++) {
        is_one = strcmp(p->name, name) == 0;
    }
    return is_one;
}

static json_t *control_no_component(const struct plan *plan, const char *name)
{
    json_t *fault = NULL;
    struct arena *a = arena_new();
    const char *list = "all";
    for (const struct levels_part *p = levels_parts; p->name && list && a; p++) {
        list = arena_printf(a, "%s, %s", list, p->name);
    }
    for (uint32_t i = 0; i < plan->nodes && list && a; i++) {
        const char *step = plan->node[i].step;
        list = control_is_step(plan, i, step) ? list : arena_printf(a, "%s, %s", list, step);
    }
    const char *words =
        list && a
            ? arena_printf(a, "log-level: there is no component '%s'; these are: %s", name, list)
            : NULL;
    fault = control_fault(words ? words : "out of memory", words ? CLI_USAGE : CLI_FAILED);
    arena_free(a);
    return fault;
}

static json_t *control_log_level(const struct control_job *j, json_t *request)
{
    const char *component = json_string_value(json_object_get(request, "component"));
    const char *word = json_string_value(json_object_get(request, "level"));
    struct levels *l = j->cli->levels;
    enum sr_level level;
    if (!component) return control_levels_json(l);
    if (!word || !levels_parse(word, &level)) {
        return control_fault("log-level: a level is DEBUG, INFO, WARN or ERROR", CLI_USAGE);
    }
    bool is_all = strcmp(component, "all") == 0;
    if (!is_all && !control_is_component(j->plan, component)) {
        return control_no_component(j->plan, component);
    }
    sr_rc rc = SR_OK;
    if (is_all) {
        levels_set_all(l, level);
    } else {
        rc = levels_set(l, component, level);
    }
    if (rc != SR_OK)
        return control_error("log-level: too many components have a level of their own");
    env_log(&j->cli->env, SR_INFO, "job", "log-level: %s is %s from now on", component,
            levels_name(level));
    return control_levels_json(l);
}

static json_t *control_answer(const struct control_job *j, json_t *request)
{
    struct supervise *job = j->job;
    const struct plan *plan = j->plan;
    const char *command = json_string_value(json_object_get(request, "command"));
    if (!command) return control_error("a request is {\"command\": ...}");
    if (strcmp(command, "status") == 0) {
        return json_pack("{s:b, s:o}", "ok", 1, "status", control_status_json(job, plan));
    }
    if (strcmp(command, "savepoint") == 0)
        return control_savepoint(job, plan, request, RUN_THEN_GO_ON);
    if (strcmp(command, "stop") == 0) {
        return control_savepoint(job, plan, request, RUN_THEN_STOP);
    }
    if (strcmp(command, "cancel") == 0 && json_is_true(json_object_get(request, "savepoint"))) {
        return control_savepoint(job, plan, request, RUN_THEN_CANCEL);
    }
    if (strcmp(command, "cancel") == 0) {
        supervise_ask(job, RUN_ASK_CANCEL);
        return json_pack("{s:b}", "ok", 1);
    }
    if (strcmp(command, "log-level") == 0) return control_log_level(j, request);
    return control_error("unknown command");
}

void control_refuse(int fd)
{
    control_write(fd, control_error("too many ask the job at once; try again"));
    (void)close(fd); /* the answer was sent, or nobody waits for it */
}

void control_reply(int fd, json_t *(*answer)(void *ctx, json_t *request), void *ctx)
{
    char *line = malloc(CONTROL_LINE_MAX);
    if (line && control_read(fd, line, CONTROL_LINE_MAX)) {
        json_error_t e;
        json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, &e);
        control_write(fd, request ? answer(ctx, request) : control_error(e.text));
        json_decref(request);
    }
    free(line);
    (void)close(fd); /* the answer was sent, or nobody waits for it */
}

static json_t *control_answer_job(void *ctx, json_t *request)
{
    return control_answer(ctx, request);
}

void control_serve(int fd, const struct cli *c, struct supervise *job, const struct plan *plan)
{
    control_reply(fd, control_answer_job, &(struct control_job){c, job, plan});
}
