#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/control.h"
#include "cli/rundir.h"
#include "engine/base/error.h"
#include "engine/base/nearest.h"

#define CONTROL_STATUS_S 10    /* within which a job that runs says how it is */
#define CONTROL_END_MS   60000 /* within which a process that was told to end is gone */

/* A stopped or stuck process takes connections, and says nothing. */
static sr_rc control_silent(struct sr_error *err)
{
    return error_set(err, SR_EBUSY, "the job does not answer");
}

static sr_rc control_send(int fd, json_t *request, struct sr_error *err)
{
    char *text = json_dumps(request, JSON_COMPACT);
    if (!text) return error_set(err, SR_ENOMEM, "out of memory");
    size_t len = strlen(text);
    text[len] = '\n'; /* instead of the final zero */
    sr_rc rc = SR_OK;
    for (size_t at = 0; at <= len && rc == SR_OK;) {
        ssize_t put = send(fd, text + at, len + 1 - at, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EPIPE) break; /* a job that refuses has answered already */
        if (put < 0 && errno == EAGAIN) {
            rc = control_silent(err);
        } else if (put < 0) {
            rc = error_errno(err, errno, "write to", "the job's socket");
        } else {
            at += (size_t)put;
        }
    }
    free(text);
    return rc;
}

static sr_rc control_receive(int fd, json_t **answer, struct sr_error *err)
{
    FILE *in = fdopen(fd, "r");
    if (!in) {
        (void)close(fd); /* nothing was read */
        return error_errno(err, errno, "read from", "the job's socket");
    }
    char *line = NULL;
    size_t room = 0;
    json_error_t e;
    sr_rc rc = SR_OK;
    errno = 0;
    if (getline(&line, &room, in) <= 0) {
        rc = errno == EAGAIN ? control_silent(err)
                             : error_set(err, SR_EIO, "the job ended before it answered");
    } else if (!(*answer = json_loads(line, 0, &e))) {
        rc = error_set(err, SR_EIO, "the job's answer is no JSON: %s", e.text);
    }
    free(line);
    (void)fclose(in); /* read-only */
    return rc;
}

/* The process of the other end; -1: not known. */
static int control_process(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0) return -1;
    return pidfd_open(peer.pid, 0);
}

/* Until the process is gone its store is held: who asked it to end may start the next run. */
static void control_await_end(const struct cli *c, int process, const json_t *answer)
{
    if (process < 0 || !json_is_true(json_object_get(answer, "ok"))) return;
    struct pollfd p = {.fd = process, .events = POLLIN};
    int n;
    do {
        n = poll(&p, 1, CONTROL_END_MS);
    } while (n < 0 && errno == EINTR);
    if (n == 0) cli_note(c, "the job is still ending");
}

sr_rc control_ask(const struct cli *c, const char *dir, const char *job_id, json_t *request,
                  json_t **answer, struct sr_error *err)
{
    int fd = -1, process = -1;
    sr_rc rc = rundir_connect(c, dir, job_id, &fd, err);
    if (rc == SR_OK) {
        const char *command = json_string_value(json_object_get(request, "command"));
        if (command && strcmp(command, "status") == 0) { /* the others take what time they need */
            struct timeval limit = {.tv_sec = CONTROL_STATUS_S};
            (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)); /* else waits */
        } else if (command && (strcmp(command, "stop") == 0 || strcmp(command, "cancel") == 0)) {
            process = control_process(fd);
        }
        rc = control_send(fd, request, err);
        if (rc == SR_OK) {
            rc = control_receive(fd, answer, err);
        } else {
            (void)close(fd); /* the error is told already */
        }
        if (rc == SR_OK) control_await_end(c, process, *answer);
    }
    if (process >= 0) (void)close(process); /* not a file */
    json_decref(request);
    return rc;
}

static const char *control_stem(const struct cli *c, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return arena_text_n(c->arena, base, dot ? (size_t)(dot - base) : strlen(base));
}

static bool control_is_meant(const struct cli *c, const char *name, const char *id,
                             const json_t *status)
{
    const char *job = json_string_value(json_object_get(status, "name"));
    if (strstr(id, RUNDIR_STANDBY)) return strcmp(id, name) == 0;
    if (strcmp(id, name) == 0 || (job && strcmp(job, name) == 0)) return true;
    const char *file = json_string_value(json_object_get(status, "file"));
    if (file && strcmp(file, cli_absolute(c, name)) == 0) return true;
    bool is_path = strchr(name, '/') || strchr(name, '.');
    return is_path && job && strcmp(control_stem(c, name), job) == 0;
}

/* The status of a job that has a socket; *answer stays NULL when its process is gone. False: it is
 * there, and does not answer, or too many ask it. */
static bool control_status(const struct cli *c, const char *dir, const char *id, json_t **answer)
{
    struct sr_error err = {0};
    json_t *request = json_pack("{s:s}", "command", "status");
    if (control_ask(c, dir, id, request, answer, &err) != SR_OK) {
        *answer = NULL;
        return err.rc != SR_EBUSY;
    }
    if (json_object_get(*answer, "status")) return true;
    json_decref(*answer);
    *answer = NULL;
    return false;
}

/* The name of a running job, where it is near to the one that was asked for; `before`: the
 * one that was found already, or NULL. */
static const char *control_near(const struct cli *c, const char *name, const json_t *status,
                                const char *before)
{
    if (before || !status) return before;
    const char *job = json_string_value(json_object_get(status, "name"));
    const char *const words[] = {job, NULL};
    const char *found = name && job ? nearest_word(name, words) : NULL;
    return found ? arena_text(c->arena, found) : NULL;
}

static enum cli_exit control_absent(const struct cli *c, const char *name, const char *near)
{
    if (!name) return cli_fail(c, CLI_NO_JOB, "SR1104: no job is running");
    return cli_fail(c, CLI_NO_JOB, "SR1104: no job '%s' is running%s%s%s", name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

enum cli_exit control_find(const struct cli *c, const char *dir, const char *name,
                           const char **job_id)
{
    const char *const *ids = rundir_ids(c, dir);
    const char *found = NULL, *names = "", *silent = NULL, *near = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; ids && ids[i]; i++) {
        json_t *answer = NULL;
        if (!control_status(c, dir, ids[i], &answer)) {
            silent = ids[i];
            continue;
        }
        const json_t *status = json_object_get(answer, "status");
        bool is_default = !name && !strstr(ids[i], RUNDIR_STANDBY);
        if (status && (is_default || (name && control_is_meant(c, name, ids[i], status)))) {
            found = ids[i];
            const char *job = json_string_value(json_object_get(status, "name"));
            names = arena_printf(c->arena, "%s%s%s", names, n > 0 ? ", " : "", job ? job : ids[i]);
            n++;
        }
        near = control_near(c, name, status, near);
        json_decref(answer);
    }
    if (n == 1) {
        *job_id = found;
        return CLI_OK;
    }
    if (n > 1) return cli_fail(c, CLI_USAGE, "several jobs run, name one: %s", names);
    if (silent && n == 0) {
        return cli_fail(
            c, CLI_FAILED,
            "job %s does not answer: its process is stopped, or too many ask it at once", silent);
    }
    return control_absent(c, name, near);
}
