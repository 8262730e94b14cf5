#include "cli/jobstore.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rundir.h"
#include "engine/base/error.h"
#include "engine/ckpt/durable.h"

#define JOBSTORE_SUFFIX ".job"

static const char *jobstore_path(const struct cli *c, const char *dir, const char *job_id)
{
    return arena_printf(c->arena, "%s/%s" JOBSTORE_SUFFIX, dir, job_id);
}

static int64_t jobstore_int(const json_t *j, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(j, key));
}

bool jobstore_is_over(const json_t *job) { return json_object_get(job, "end-time") != NULL; }

/* Takes `job`. */
static void jobstore_put(const struct cli *c, const char *dir, json_t *job)
{
    struct sr_error err = {0};
    const char *path = jobstore_path(c, dir, json_string_value(json_object_get(job, "jid")));
    char *text = json_dumps(job, JSON_INDENT(1));
    sr_rc rc = path && text ? durable_replace(&c->env, path, text, strlen(text), &err)
                            : error_set(&err, SR_ENOMEM, "out of memory");
    if (rc != SR_OK) cli_note(c, "warning: 'list --all' will not know of this: %s", err.words);
    free(text);
    json_decref(job);
}

/* As Flink calls it; a job that was stopped with a savepoint has finished. */
const char *jobstore_state(enum run_end end)
{
    switch (end) {
    case RUN_FINISHED:
    case RUN_STOPPED:
    case RUN_CLOSED:
        return "FINISHED";
    case RUN_CANCELED:
        return "CANCELED";
    case RUN_SUSPENDED:
    case RUN_UNSAVED:
        return "SUSPENDED";
    case RUN_FAILED:
        return "FAILED";
    }
    return "FAILED";
}

void jobstore_note(const struct cli *c, const char *dir, struct jobstore_note *n)
{
    int64_t now_ms = c->env.wall_us(&c->env) / 1000;
    if (n->started_ms == 0) n->started_ms = now_ms;
    json_t *j = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:s}", "jid", n->job->id, "name", n->job->name, "state",
        n->ended_as ? n->ended_as : "RUNNING", "start-time", (json_int_t)n->started_ms, "duration",
        (json_int_t)(now_ms - n->started_ms), "kept-for",
        (json_int_t)(n->job->settings.kept_for.us / 1000), "checkpoints", n->checkpoints);
    if (n->job->file) json_object_set_new(j, "file", json_string(n->job->file));
    if (n->checkpoint > 0) {
        json_object_set_new(j, "checkpoint", json_integer((json_int_t)n->checkpoint));
    }
    if (n->ended_as) {
        json_object_set_new(j, "end-time", json_integer((json_int_t)now_ms));
        json_object_set_new(j, "exit-code", json_integer((json_int_t)n->exit_code));
    }
    if (n->cause && *n->cause) json_object_set_new(j, "root-exception", json_string(n->cause));
    jobstore_put(c, dir, j);
}

/* Does its process, or one that guards it, listen? */
static bool jobstore_is_there(const struct cli *c, const char *dir, const char *job_id)
{
    int fd = -1;
    struct sr_error err = {0};
    sr_rc rc = rundir_connect(c, dir, job_id, &fd, &err);
    if (rc == SR_OK) (void)close(fd); /* only asked whether it is there */
    return rc == SR_OK || rc == SR_EBUSY;
}

json_t *jobstore_find(const struct cli *c, const char *dir, const char *job_id)
{
    struct durable_bytes text = {0};
    json_error_t e;
    const char *path = jobstore_path(c, dir, job_id);
    if (!path || durable_read(&c->env, path, JOBSTORE_BYTES_MAX, c->arena, &text, NULL) != SR_OK) {
        return NULL;
    }
    json_t *job = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, &e);
    const char *is = json_string_value(json_object_get(job, "jid"));
    if (!is || strcmp(is, job_id) != 0) { /* not ours, or cut short */
        json_decref(job);
        return NULL;
    }
    if (!jobstore_is_over(job) && !jobstore_is_there(c, dir, job_id)) {
        json_object_set_new(job, "state", json_string("FAILED"));
        json_object_set_new(job, "root-exception",
                            json_string("its process was killed; when is not known"));
    }
    return job;
}

/* How soon it may go: by its end; what was killed, by its start. */
static int64_t jobstore_age_key(const json_t *job)
{
    int64_t end = jobstore_int(job, "end-time");
    return end > 0 ? end : jobstore_int(job, "start-time");
}

static int jobstore_compare(const void *a, const void *b)
{
    json_t *const *x = a;
    json_t *const *y = b;
    int64_t i = jobstore_age_key(*x), k = jobstore_age_key(*y);
    return (i > k) - (i < k);
}

/* Is it there no longer than it asked for? */
static bool jobstore_is_kept(const struct cli *c, const json_t *job)
{
    int64_t now_ms = c->env.wall_us(&c->env) / 1000;
    const char *state = json_string_value(json_object_get(job, "state"));
    bool runs = !jobstore_is_over(job) && state && strcmp(state, "FAILED") != 0;
    return runs || now_ms - jobstore_age_key(job) <= jobstore_int(job, "kept-for");
}

static void jobstore_forget(const struct cli *c, const char *dir, const json_t *job)
{
    const char *path = jobstore_path(c, dir, json_string_value(json_object_get(job, "jid")));
    if (path) (void)unlink(path); /* another look may have been quicker */
}

json_t *jobstore_all(const struct cli *c, const char *dir)
{
    char **names = NULL;
    json_t *all = json_array(), *job[JOBSTORE_JOBS_MAX];
    uint32_t n = 0, from = 0;
    size_t tail = strlen(JOBSTORE_SUFFIX);
    if (c->env.files->list(c->env.files, dir, &names, NULL) != SR_OK) return all;
    for (char **name = names; *name && n < JOBSTORE_JOBS_MAX; name++) {
        size_t len = strlen(*name);
        bool is_one = len > tail && strcmp(*name + len - tail, JOBSTORE_SUFFIX) == 0;
        const char *id = is_one ? arena_text_n(c->arena, *name, len - tail) : NULL;
        job[n] = id ? jobstore_find(c, dir, id) : NULL;
        n += job[n] ? 1 : 0;
    }
    c->env.files->names_free(c->env.files, names);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): what is sorted are pointers */
    qsort(job, n, sizeof(job[0]), jobstore_compare);
    if (n == JOBSTORE_JOBS_MAX) from = n / 10; /* room for the next ones */
    for (uint32_t i = 0; i < n; i++) {
        if (i >= from && jobstore_is_kept(c, job[i])) {
            json_array_append(all, job[i]);
        } else {
            jobstore_forget(c, dir, job[i]);
        }
        json_decref(job[i]);
    }
    return all;
}

json_t *jobstore_find_ended(const struct cli *c, const char *dir, const char *name)
{
    json_t *found = NULL, *all = jobstore_all(c, dir), *job;
    size_t i;
    json_array_foreach(all, i, job)
    {
        const char *id = json_string_value(json_object_get(job, "jid"));
        const char *is = json_string_value(json_object_get(job, "name"));
        const char *file = json_string_value(json_object_get(job, "file"));
        bool is_meant = (id && strcmp(id, name) == 0) || (is && strcmp(is, name) == 0) ||
                        (file && strcmp(file, cli_absolute(c, name)) == 0);
        if (jobstore_is_over(job) && is_meant) found = job;
    }
    json_incref(found);
    json_decref(all);
    return found;
}
