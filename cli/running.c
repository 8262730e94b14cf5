/* savepoint, stop, cancel, list, status: what can be asked of a running job. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/control.h"
#include "cli/jobstore.h"
#include "cli/rundir.h"
#include "cli/running.h"
#include "cli/show.h"
#include "engine/base/calendar.h"

/* Nobody runs it any more: what became of it. */
static void running_say_ended(const struct cli *c, const char *dir, const char *name)
{
    char when[25];
    json_t *job = jobstore_find_ended(c, dir, name);
    const char *state = json_string_value(json_object_get(job, "state"));
    int64_t ms = (int64_t)json_integer_value(json_object_get(job, "end-time"));
    civil_iso_ms(ms * 1000, when);
    if (state) {
        cli_note(c, "its last run: %s%s%s ('streamrun list --all' tells more)", state,
                 ms > 0 ? " at " : "", ms > 0 ? when : "");
    }
    json_decref(job);
}

enum cli_exit running_ask_job(struct cli *c, const struct args *a, const char *name,
                              json_t *request, json_t **answer)
{
    struct sr_error err = {0};
    const char *dir = NULL, *id = NULL;
    enum cli_exit code = CLI_FAILED;
    if (rundir_open(c, args_value(a, "run-dir"), &dir, &err) != SR_OK) {
        code = cli_error(c, CLI_FAILED, &err);
    } else {
        code = control_find(c, dir, name, &id);
    }
    if (code == CLI_NO_JOB && name) running_say_ended(c, dir, name);
    if (code != CLI_OK) {
        json_decref(request);
        return code;
    }
    if (control_ask(c, dir, id, request, answer, &err) != SR_OK) {
        return cli_error(c, err.rc == SR_EABSENT ? CLI_NO_JOB : CLI_FAILED, &err);
    }
    if (!json_is_true(json_object_get(*answer, "ok"))) {
        const char *words = json_string_value(json_object_get(*answer, "error"));
        const json_t *given = json_object_get(*answer, "exit");
        code = given ? (enum cli_exit)json_integer_value(given) : CLI_FAILED;
        code = cli_fail(c, code, "%s", words ? words : "the job could not do that");
        json_decref(*answer);
        *answer = NULL;
    }
    return code;
}

/* The job that the first word means. */
static enum cli_exit running_ask(struct cli *c, const struct args *a, json_t *request,
                                 json_t **answer)
{
    return running_ask_job(c, a, a->words > 0 ? a->word[0] : NULL, request, answer);
}

static enum cli_exit running_savepoint(struct cli *c, const struct args *a, const char *command)
{
    const char *type = args_value(a, "type");
    if (type && strcasecmp(type, "canonical") != 0 && strcasecmp(type, "native") != 0) {
        return cli_fail(c, CLI_USAGE, "%s: --type is canonical or native, not '%s'", command, type);
    }
    json_t *request = json_pack("{s:s, s:b, s:b}", "command", command, "drain",
                                args_has(a, "drain"), "savepoint", 1);
    const char *dir = args_value(a, "dir");
    if (!dir && a->words > 1) dir = a->word[1]; /* Flink's: savepoint JOB DIR */
    if (dir) json_object_set_new(request, "dir", json_string(cli_absolute(c, dir)));
    json_t *answer = NULL;
    enum cli_exit code = running_ask(c, a, request, &answer);
    if (code != CLI_OK) return code;
    const char *path = json_string_value(json_object_get(answer, "path"));
    if (c->is_json) {
        show_json(c, json_pack("{s:s?}", "path", path));
    } else {
        fprintf(c->out, "%s\n", path ? path : "");
    }
    json_decref(answer);
    return CLI_OK;
}

enum cli_exit command_savepoint(struct cli *c, const struct args *a)
{
    return running_savepoint(c, a, "savepoint");
}

enum cli_exit command_stop(struct cli *c, const struct args *a)
{
    return running_savepoint(c, a, "stop");
}

enum cli_exit command_cancel(struct cli *c, const struct args *a)
{
    json_t *answer = NULL;
    if (args_has(a, "with-savepoint")) return running_savepoint(c, a, "cancel");
    enum cli_exit code = running_ask(c, a, json_pack("{s:s}", "command", "cancel"), &answer);
    json_decref(answer);
    return code;
}

static int64_t running_int(const json_t *j, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(j, key));
}

static const char *running_text(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    return s ? s : "";
}

static json_t *running_list_json(const char *id, const json_t *s)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:I}", "jid", id, "name", running_text(s, "name"),
                     "state", running_text(s, "state"), "start-time",
                     (json_int_t)running_int(s, "start-time"), "duration",
                     (json_int_t)running_int(s, "duration"));
}

static void running_list(struct cli *c, const json_t *list)
{
    enum { COLUMNS = 4 };
    static const char *const head[COLUMNS] = {"id", "state", "for", "job"};
    size_t n = json_array_size(list);
    const char **cell = arena_array(c->arena, (n + 1) * COLUMNS, sizeof(*cell));
    if (!cell) return;
    memcpy(cell, head, sizeof(head));
    for (size_t i = 0; i < n; i++) {
        const json_t *j = json_array_get(list, i);
        const char **row = cell + (i + 1) * COLUMNS;
        row[0] = arena_text(c->arena, running_text(j, "jid"));
        row[1] = arena_text(c->arena, running_text(j, "state"));
        row[2] = show_duration(c->arena, running_int(j, "duration") * 1000);
        row[3] = arena_text(c->arena, running_text(j, "name"));
    }
    show_table(c->out, &(struct show_table){COLUMNS, NULL, (uint32_t)n + 1, cell});
}

static const char *running_number(const struct cli *c, const json_t *j, const char *key)
{
    const json_t *n = json_object_get(j, key);
    return n ? arena_printf(c->arena, "%" PRId64, (int64_t)json_integer_value(n)) : "";
}

static const char *running_time(const struct cli *c, const json_t *j, const char *key)
{
    char text[25];
    int64_t ms = running_int(j, key);
    if (ms <= 0) return "";
    civil_iso_ms(ms * 1000, text);
    return arena_text(c->arena, text);
}

/* What ran, in the order in which it ended. */
static enum cli_exit running_list_all(struct cli *c, const char *dir)
{
    enum { COLUMNS = 7 };
    static const char *const head[COLUMNS] = {"id",         "state", "ended",        "exit code",
                                              "checkpoint", "job",   "first failure"};
    json_t *all = jobstore_all(c, dir);
    if (c->is_json) {
        show_json(c, all);
        return CLI_OK;
    }
    size_t n = json_array_size(all);
    const char **cell = arena_array(c->arena, (n + 1) * COLUMNS, sizeof(*cell));
    if (!cell) return cli_fail(c, CLI_FAILED, "out of memory");
    memcpy(cell, head, sizeof(head));
    for (size_t i = 0; i < n; i++) {
        const json_t *j = json_array_get(all, i);
        const char **row = cell + (i + 1) * COLUMNS;
        const char *cause = running_text(j, "root-exception");
        row[0] = running_text(j, "jid");
        row[1] = running_text(j, "state");
        row[2] = running_time(c, j, "end-time");
        row[3] = running_number(c, j, "exit-code");
        row[4] = running_number(c, j, "checkpoint");
        row[5] = running_text(j, "name");
        row[6] = arena_text_n(c->arena, cause, strcspn(cause, "\n"));
    }
    if (n > 0) show_table(c->out, &(struct show_table){COLUMNS, NULL, (uint32_t)n + 1, cell});
    if (n == 0) cli_note(c, "nothing has run lately (jobs leave word in %s)", dir);
    json_decref(all);
    return CLI_OK;
}

enum cli_exit command_list(struct cli *c, const struct args *a)
{
    struct sr_error err = {0};
    const char *dir = NULL;
    if (rundir_open(c, args_value(a, "run-dir"), &dir, &err) != SR_OK) {
        return cli_error(c, CLI_FAILED, &err);
    }
    if (args_has(a, "all")) return running_list_all(c, dir);
    const char *const *ids = rundir_ids(c, dir);
    json_t *list = json_array();
    bool has_silent = false;
    for (uint32_t i = 0; ids && ids[i]; i++) {
        json_t *answer = NULL;
        if (control_ask(c, dir, ids[i], json_pack("{s:s}", "command", "status"), &answer, &err) !=
            SR_OK) {
            if (err.rc != SR_EBUSY) continue; /* its process is gone */
            cli_note(c, "job %s does not answer", ids[i]);
            has_silent = true;
            continue;
        }
        json_array_append_new(list, running_list_json(ids[i], json_object_get(answer, "status")));
        json_decref(answer);
    }
    if (c->is_json) {
        show_json(c, list);
        return CLI_OK;
    }
    if (json_array_size(list) > 0) {
        running_list(c, list);
    } else if (!has_silent) {
        cli_note(c, "no job is running (jobs listen in %s)", dir);
    }
    json_decref(list);
    return CLI_OK;
}

/* "37 %" of a second; "": not known. */
static const char *running_share(const struct cli *c, const json_t *v, const char *key)
{
    const json_t *ms = json_object_get(v, key);
    return ms ? arena_printf(c->arena, "%d %%", (int)((json_integer_value(ms) + 5) / 10)) : "";
}

static void running_nodes(struct cli *c, const json_t *vertices)
{
    enum { COUNTS = 8, COLUMNS = COUNTS + 2 };
    size_t n = json_array_size(vertices);
    const char **cell = arena_array(c->arena, (n + 1) * COLUMNS, sizeof(*cell));
    static const char *const head[COLUMNS] = {
        "step", "read",          "passed on", "filtered", "aggregated",
        "late", "dead-lettered", "skipped",   "busy",     "back-pressure"};
    static const bool is_right[COLUMNS] = {false, true, true, true, true,
                                           true,  true, true, true, true};
    static const char *const key[COUNTS] = {"name",          "read-records", "write-records",
                                            "filtered",      "aggregated",   "late",
                                            "dead-lettered", "skipped"};
    if (!cell) return;
    memcpy(cell, head, sizeof(head));
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(vertices, i);
        const char **row = cell + (i + 1) * COLUMNS;
        row[0] = running_text(v, key[0]);
        for (uint32_t k = 1; k < COUNTS; k++) {
            row[k] = show_count(c->arena, running_int(v, key[k]));
        }
        row[COUNTS] = running_share(c, v, "busyTimeMsPerSecond");
        row[COUNTS + 1] = running_share(c, v, "backPressuredTimeMsPerSecond");
    }
    show_table(c->out, &(struct show_table){COLUMNS, is_right, (uint32_t)n + 1, cell});
}

/* What connectors count by themselves: "out: http-requests 12, http-retries 3". */
static void running_own(const struct cli *c, const json_t *vertices)
{
    for (size_t i = 0; i < json_array_size(vertices); i++) {
        json_t *v = json_array_get(vertices, i);
        json_t *own = json_object_get(v, "counters");
        const char *name, *between = ": ";
        json_t *value;
        if (!own) continue;
        fputs(running_text(v, "name"), c->out);
        json_object_foreach(own, name, value)
        {
            int64_t n = (int64_t)json_integer_value(value);
            const char *words = strcmp(name, "port") == 0 ? arena_printf(c->arena, "%" PRId64, n)
                                                          : show_count(c->arena, n);
            fprintf(c->out, "%s%s %s", between, name, words);
            between = ", ";
        }
        fputc('\n', c->out);
    }
}

/* Where sources are in their splits: "in: source kafka: orders-3 at 120 of 125, 5 behind". */
static void running_splits(const struct cli *c, const json_t *vertices)
{
    for (size_t i = 0; i < json_array_size(vertices); i++) {
        const json_t *v = json_array_get(vertices, i);
        const json_t *splits = json_object_get(v, "splits");
        for (size_t k = 0; k < json_array_size(splits); k++) {
            const json_t *one = json_array_get(splits, k);
            fprintf(c->out, "%s: %s at %" PRId64 " of %" PRId64 ", %" PRId64 " behind\n",
                    running_text(v, "name"), running_text(one, "split"),
                    running_int(one, "position"), running_int(one, "end"), running_int(one, "lag"));
        }
    }
}

static void running_checkpoints(const struct cli *c, const json_t *k)
{
    fprintf(c->out, "checkpoints: %" PRId64 " completed, %" PRId64 " failed",
            running_int(k, "completed"), running_int(k, "failed"));
    if (running_int(k, "completed") > 0) {
        fprintf(c->out, "; the latest, %" PRId64 ", took %s for %s", running_int(k, "latest"),
                show_duration(c->arena, running_int(k, "last-duration") * 1000),
                show_size(c->arena, running_int(k, "last-size")));
    }
    const json_t *pending = json_object_get(k, "pending");
    if (pending) {
        int64_t for_us = c->env.wall_us(&c->env) - running_int(pending, "since") * 1000;
        fprintf(c->out, "; %" PRId64 " is pending: for %s its transaction is being committed",
                running_int(pending, "id"), show_duration(c->arena, for_us > 0 ? for_us : 0));
    }
    if (json_is_true(json_object_get(k, "is-processing-backlog"))) {
        fputs("; a backlog is worked off, with the interval for that", c->out);
    }
    if (running_int(k, "restored") > 0) {
        fprintf(c->out, "; resumed from %" PRId64, running_int(k, "restored"));
    }
    fputc('\n', c->out);
}

/* Those who would take over from this job. */
static void running_standbys(const struct cli *c, const struct args *a, const char *job_id)
{
    struct sr_error ignored;
    const char *dir = NULL;
    if (rundir_open(c, args_value(a, "run-dir"), &dir, &ignored) != SR_OK) return;
    const char *const *ids = rundir_ids(c, dir);
    uint64_t n = 0;
    size_t len = strlen(job_id);
    for (uint32_t i = 0; ids && ids[i]; i++) {
        int fd = -1;
        bool is_one = strncmp(ids[i], job_id, len) == 0 &&
                      strncmp(ids[i] + len, RUNDIR_STANDBY, strlen(RUNDIR_STANDBY)) == 0;
        if (!is_one || rundir_connect(c, dir, ids[i], &fd, &ignored) != SR_OK) continue;
        (void)close(fd); /* only asked whether it is there */
        n++;
    }
    if (n > 0) {
        fprintf(c->out, "standby: %s by to take over\n",
                n == 1 ? "1 process stands"
                       : arena_printf(c->arena, "%" PRIu64 " processes stand", n));
    }
}

/* Sinks whose targets are waited for. */
static void running_waits(const struct cli *c, const json_t *status)
{
    const json_t *vertices = json_object_get(status, "vertices");
    int64_t now_ms = running_int(status, "start-time") + running_int(status, "duration");
    for (size_t i = 0; i < json_array_size(vertices); i++) {
        const json_t *v = json_array_get(vertices, i);
        if (!*running_text(v, "waits-for")) continue;
        fprintf(c->out, "%s waits for %s: %s\n", running_text(v, "name"),
                show_duration(c->arena, (now_ms - running_int(v, "waits-since")) * 1000),
                running_text(v, "waits-for"));
    }
}

/* Those that failed, of a job that has several. */
static void running_regions(const struct cli *c, const json_t *regions)
{
    for (size_t i = 0; i < json_array_size(regions); i++) {
        const json_t *r = json_array_get(regions, i);
        if (!*running_text(r, "root-exception")) continue;
        fprintf(c->out, "%s: %s, restarted %s; first cause: %s\n", running_text(r, "name"),
                running_text(r, "state"),
                show_many(c->arena, (uint64_t)running_int(r, "restarts"), "time"),
                running_text(r, "root-exception"));
    }
}

enum cli_exit command_status(struct cli *c, const struct args *a)
{
    json_t *answer = NULL;
    enum cli_exit code = running_ask(c, a, json_pack("{s:s}", "command", "status"), &answer);
    if (code != CLI_OK) return code;
    json_t *s = json_object_get(answer, "status");
    if (c->is_json) {
        show_json(c, json_incref(s));
        json_decref(answer);
        return CLI_OK;
    }
    fprintf(c->out, "%s (%s): %s for %s\n", running_text(s, "name"), running_text(s, "jid"),
            running_text(s, "state"), show_duration(c->arena, running_int(s, "duration") * 1000));
    running_checkpoints(c, json_object_get(s, "checkpoints"));
    if (*running_text(s, "checkpoint-failure")) {
        fprintf(c->out, "last failed checkpoint: %s\n", running_text(s, "checkpoint-failure"));
    }
    if (*running_text(s, "root-exception")) {
        fprintf(c->out, "restarted: %s; first cause: %s\n",
                show_many(c->arena, (uint64_t)running_int(s, "restarts"), "time"),
                running_text(s, "root-exception"));
    }
    running_standbys(c, a, running_text(s, "jid"));
    running_regions(c, json_object_get(s, "regions"));
    running_waits(c, s);
    running_nodes(c, json_object_get(s, "vertices"));
    running_own(c, json_object_get(s, "vertices"));
    running_splits(c, json_object_get(s, "vertices"));
    json_decref(answer);
    return CLI_OK;
}
