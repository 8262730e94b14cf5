#include "cli/standby.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/control.h"
#include "cli/process.h"
#include "cli/rundir.h"
#include "engine/base/error.h"

#define STANDBY_LOOK_MS 20 /* nothing tells when a file lock is let go: it is tried so often */

/* --- While it waits --------------------------------------------------------------------------- */

static json_t *standby_status(const struct standby *s)
{
    int64_t now_us = s->cli->env.wall_us(&s->cli->env);
    json_t *j = json_pack("{s:s, s:s, s:s, s:i, s:I, s:I}", "jid", s->job->id, "name", s->job->name,
                          "state", STANDBY_STATE, "pid", (int)getpid(), "start-time",
                          (json_int_t)(s->started_us / 1000), "duration",
                          (json_int_t)((now_us - s->started_us) / 1000));
    if (s->job->file) json_object_set_new(j, "file", json_string(s->job->file));
    return j;
}

static json_t *standby_answer(void *ctx, json_t *request)
{
    struct standby *s = ctx;
    const char *command = json_string_value(json_object_get(request, "command"));
    if (command && strcmp(command, "status") == 0) {
        return json_pack("{s:b, s:o}", "ok", 1, "status", standby_status(s));
    }
    if (command && strcmp(command, "cancel") == 0) {
        s->is_asked_to_end = true;
        return json_pack("{s:b}", "ok", 1);
    }
    return json_pack("{s:b, s:s}", "ok", 0, "error", "this process stands by: ask the leader");
}

static const char *standby_name(const struct standby *s)
{
    return arena_printf(s->cli->arena, "%s" RUNDIR_STANDBY "%ld", s->job->id, (long)getpid());
}

/* Before the first wait. */
static sr_rc standby_begin(struct standby *s, const char *who, struct sr_error *err)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    s->started_us = s->cli->env.wall_us(&s->cli->env);
    s->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (s->signal_fd < 0) return error_errno(err, errno, "make", "the standby's descriptors");
    const char *name = standby_name(s);
    sr_rc rc = name ? rundir_listen(s->cli, s->run_dir, name, &s->listen_fd, err)
                    : error_set(err, SR_ENOMEM, "out of memory");
    if (rc != SR_OK) return rc;
    cli_note(s->cli, "standing by: %s", who);
    s->announce(s->ctx);
    return SR_OK;
}

static void standby_close(struct standby *s)
{
    if (s->listen_fd >= 0) {
        rundir_forget(s->cli, s->run_dir, standby_name(s));
        (void)close(s->listen_fd); /* a socket */
    }
    if (s->signal_fd >= 0) (void)close(s->signal_fd); /* not a file */
    s->listen_fd = s->signal_fd = -1;
}

/* Until the lock is to be tried again. False: this process is to end. */
static bool standby_pause(struct standby *s)
{
    struct pollfd p[2] = {{.fd = s->signal_fd, .events = POLLIN},
                          {.fd = s->listen_fd, .events = POLLIN}};
    int n = poll(p, 2, STANDBY_LOOK_MS);
    if (n > 0 && p[0].revents) return false;
    if (n > 0 && p[1].revents) {
        int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) control_reply(fd, standby_answer, s);
    }
    return !s->is_asked_to_end;
}

/* --- The lock --------------------------------------------------------------------------------- */

/* Has the leader's beat stood still for the lease? */
static bool standby_is_still(struct standby *s)
{
    struct lock_sight now;
    struct sr_error ignored;
    int64_t now_us = s->cli->env.mono_us(&s->cli->env);
    if (store_look_lock(&s->cli->env, s->store_conf, &now, &ignored) != SR_OK ||
        !lock_is_same(&now, &s->sight)) {
        s->sight = now;
        s->moved_us = now_us;
        return false;
    }
    return now_us - s->moved_us >= s->lease_us;
}

static sr_rc standby_try(struct standby *s, struct store **store, struct sr_error *err)
{
    bool is_still = standby_has_waited(s) && standby_is_still(s);
    long pid = 0;
    if (is_still && s->kills_hung && process_kill(s->sight.text, &pid)) {
        cli_note(s->cli, "the leader did not move for %lld ms: its process %ld was killed",
                 (long long)(s->lease_us / 1000), pid);
        is_still = false; /* the lock is free */
    }
    s->store_conf->seize = is_still ? &s->sight : NULL;
    sr_rc rc = store_open(store, &s->cli->env, s->store_conf, err);
    s->store_conf->seize = NULL;
    if (rc == SR_OK && is_still) {
        cli_note(s->cli, "the leader did not move for %lld ms: its lock was seized",
                 (long long)(s->lease_us / 1000));
    }
    /* Another one was quicker: that is the leader to wait for. */
    return rc == SR_EFENCED ? SR_EBUSY : rc;
}

/* The leader has gone: did it want to be followed? */
static enum standby_end standby_follow(struct standby *s, struct store **store, enum cli_exit *code)
{
    const char *end = store_end_before(*store);
    if (!standby_has_waited(s)) return STANDBY_LEADS;
    if (*end == '\0') {
        env_crash_point(&s->cli->env, "standby: taking over");
        cli_note(s->cli, "taking over job '%s'", s->job->name);
        return STANDBY_LEADS;
    }
    cli_note(s->cli, "the job has ended (%s): nothing to stand by for", end);
    *code = strcmp(end, "failed") == 0 ? CLI_FAILED : CLI_OK;
    store_close(*store);
    *store = NULL;
    return STANDBY_OVER;
}

enum standby_end standby_wait(struct standby *s, struct store **store, enum cli_exit *code,
                              struct sr_error *err)
{
    enum standby_end end = STANDBY_FAILED;
    s->listen_fd = s->signal_fd = -1;
    for (;;) {
        sr_rc rc = standby_try(s, store, err);
        if (rc == SR_OK) {
            end = standby_follow(s, store, code);
            break;
        }
        if (rc != SR_EBUSY) break;
        if (!standby_has_waited(s) && standby_begin(s, err->words, err) != SR_OK) break;
        if (!standby_pause(s)) {
            *code = CLI_OK;
            end = STANDBY_OVER;
            break;
        }
    }
    standby_close(s);
    return end;
}
