#include "cli/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/control.h"
#include "cli/death.h"
#include "cli/monitor.h"
#include "cli/rundir.h"
#include "engine/base/error.h"
#include "engine/run/crumbs.h"

/* --- What engine and guard tell each other ---------------------------------------------------- */

/* A descriptor goes with one byte. */
union guard_room {
    struct cmsghdr head; /* for its alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
};

void guard_keep_socket(const struct guard *g, int listen_fd)
{
    if (g->tell_fd < 0) return;
    char byte = 'l';
    union guard_room room = {.bytes = {0}};
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = room.bytes,
                       .msg_controllen = sizeof(room.bytes)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &listen_fd, sizeof(int));
    (void)sendmsg(g->tell_fd, &m, MSG_NOSIGNAL); /* else nobody answers between two engines */
}

/* The job's socket, or the word that the job runs. */
static void guard_hear(struct guard *g)
{
    char byte = 0;
    union guard_room room = {.bytes = {0}};
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = room.bytes,
                       .msg_controllen = sizeof(room.bytes)};
    if (recvmsg(g->engine_fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0) return;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&m);
    if (byte == 'l' && head && head->cmsg_type == SCM_RIGHTS) {
        if (g->listen_fd >= 0) (void)close(g->listen_fd); /* the same one */
        memcpy(&g->listen_fd, CMSG_DATA(head), sizeof(int));
        /* Whoever asks the job to end waits for the process that listens: the guard is the last. */
        (void)listen(g->listen_fd, RUNDIR_BACKLOG);
    }
    if (byte == 'r' && !g->is_told) {
        detach_running(g->detach);
        g->is_told = true;
    }
}

/* --- Answers while no engine is there --------------------------------------------------------- */

static json_t *guard_status(const struct guard *g)
{
    const struct carry *c = &g->page->carry;
    int64_t now_us = g->cli->env.wall_us(&g->cli->env);
    json_t *j = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:{}, s:[]}", "jid", g->job->id, "name",
                          g->job->name, "state", "RESTARTING", "start-time",
                          (json_int_t)(g->started_us / 1000), "duration",
                          (json_int_t)((now_us - g->started_us) / 1000), "restarts",
                          (json_int_t)c->restarts, "checkpoints", "vertices");
    if (g->job->file) json_object_set_new(j, "file", json_string(g->job->file));
    if (*c->first_cause) json_object_set_new(j, "root-exception", json_string(c->first_cause));
    return j;
}

static json_t *guard_answer(void *ctx, json_t *request)
{
    struct guard *g = ctx;
    const char *command = json_string_value(json_object_get(request, "command"));
    if (command && strcmp(command, "status") == 0) {
        return json_pack("{s:b, s:o}", "ok", 1, "status", guard_status(g));
    }
    if (command && strcmp(command, "cancel") == 0) {
        g->is_canceled = true;
        return json_pack("{s:b}", "ok", 1);
    }
    return json_pack("{s:b, s:s}", "ok", 0, "error",
                     "the job's process died, and waits for its restart: ask again");
}

static void guard_serve(struct guard *g)
{
    int fd = accept4(g->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) control_reply(fd, guard_answer, g);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static sigset_t guard_signals(void)
{
    sigset_t s;
    (void)sigemptyset(&s);
    (void)sigaddset(&s, SIGTERM);
    (void)sigaddset(&s, SIGINT);
    (void)sigaddset(&s, SIGHUP);
    (void)sigaddset(&s, SIGCHLD);
    return s;
}

/* The signal that came; 0: none. Those for the engine are passed on; `engine` 0: there is none. */
static int guard_take_signal(const struct guard *g, pid_t engine)
{
    struct signalfd_siginfo info;
    if (read(g->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info)) return 0;
    int signal = (int)info.ssi_signo;
    if (signal == SIGHUP && g->is_told) {
        struct sr_error ignored; /* the old file goes on then */
        (void)monitor_redirect(g->detach->log_file, true, &ignored);
    }
    /* A terminal's signal goes to the engine too: passed on, it would be its second one. */
    bool is_ours = signal != SIGCHLD && info.ssi_code != SI_KERNEL;
    if (engine > 0 && is_ours) (void)kill(engine, signal); /* or it has just ended */
    return signal;
}

/* --- Watching --------------------------------------------------------------------------------- */

static sr_rc guard_prepare(struct guard *g, struct sr_error *err)
{
    g->page =
        mmap(NULL, sizeof(*g->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (g->page == MAP_FAILED) return error_errno(err, errno, "make", "the guard's page");
    sigset_t s = guard_signals();
    (void)sigprocmask(SIG_BLOCK, &s, NULL); /* cannot fail */
    g->signal_fd = signalfd(-1, &s, SFD_CLOEXEC);
    if (g->signal_fd < 0) return error_errno(err, errno, "make", "the guard's descriptors");
    g->started_us = g->cli->env.wall_us(&g->cli->env);
    return SR_OK;
}

static void guard_become_engine(struct guard *g, pid_t guard, int tell_fd)
{
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_UNBLOCK, &child, NULL); /* cannot fail */
    (void)close(g->signal_fd);                    /* the guard's */
    (void)close(g->engine_fd);
    g->signal_fd = g->engine_fd = -1;
    g->tell_fd = tell_fd;
    if (g->detach->ready_fd >= 0) (void)close(g->detach->ready_fd); /* the guard tells the caller */
    g->detach->ready_fd = g->detach->ready_fd < 0 || g->is_told ? -1 : dup(tell_fd);
    /* Nobody would start it again: it saves what it has. */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != guard) (void)kill(getpid(), SIGTERM);
}

static sr_rc guard_fork(struct guard *g, pid_t *engine, struct sr_error *err)
{
    int pair[2];
    pid_t guard = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return error_errno(err, errno, "make", "the guard's sockets");
    }
    if (g->engine_fd >= 0) (void)close(g->engine_fd); /* of the engine before */
    g->engine_fd = pair[0];
    (void)fflush(NULL); /* or both would print what is buffered */
    *engine = fork();
    if (*engine < 0) return error_errno(err, errno, "start", "the job's process");
    if (*engine == 0) {
        guard_become_engine(g, guard, pair[1]);
    } else {
        (void)close(pair[1]); /* the engine's end */
    }
    return SR_OK;
}

/* Until the engine's process has ended: its status. */
static int guard_watch(struct guard *g, pid_t engine)
{
    struct pollfd p[2] = {{.fd = g->signal_fd, .events = POLLIN},
                          {.fd = g->engine_fd, .events = POLLIN}};
    for (;;) {
        int status = 0;
        pid_t ended = waitpid(engine, &status, WNOHANG);
        if (ended == engine) {
            guard_hear(g); /* what it told in the end */
            return status;
        }
        if (poll(p, 2, -1) < 0 && errno != EINTR) continue;
        if (p[1].revents & POLLIN) guard_hear(g);
        if (p[1].revents & POLLHUP) p[1].fd = -1;
        if (p[0].revents) (void)guard_take_signal(g, engine);
    }
}

/* Until the delay is over. False: the job ends instead, with *code. */
static bool guard_wait(struct guard *g, int64_t delay_us, enum cli_exit *code)
{
    const struct env *env = &g->cli->env;
    int64_t until = env->mono_us(env) + delay_us;
    struct pollfd p[2] = {{.fd = g->signal_fd, .events = POLLIN},
                          {.fd = g->listen_fd, .events = POLLIN}};
    for (;;) {
        int64_t left_us = until - env->mono_us(env);
        if (left_us <= 0) return true;
        int64_t left_ms = (left_us + 999) / 1000;
        int n = poll(p, 2, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);
        if (n <= 0) continue;
        int signal = p[0].revents ? guard_take_signal(g, 0) : 0;
        if (signal == SIGTERM || signal == SIGINT) {
            *code = cli_fail(g->cli, CLI_UNSAVED,
                             "ended by a signal while the job restarts; its "
                             "last checkpoint is kept");
            return false;
        }
        if (p[1].revents) guard_serve(g);
        if (g->is_canceled) {
            g->cancel(g->ctx);
            *code = CLI_OK;
            return false;
        }
    }
}

/* --- Deaths ----------------------------------------------------------------------------------- */

/* Where the engine was, by the crumbs that it left. */
static void guard_where(const struct guard *g, char *out, size_t size)
{
    *out = '\0';
    int fd = *g->page->crumbs_path ? open(g->page->crumbs_path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof(struct crumbs), PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) {
        crumbs_where(at, out, size);
        (void)munmap(at, sizeof(struct crumbs)); /* cannot fail */
    }
    (void)close(fd); /* read-only */
}

/* The job's process died. True: after *delay_us another one starts. */
static bool guard_died(struct guard *g, int status, const struct death_counts *before,
                       int64_t *delay_us)
{
    char how[256], where[480], words[sizeof(g->page->carry.first_cause)];
    const struct cli *c = g->cli;
    death_words(status, before, how, sizeof(how));
    guard_where(g, where, sizeof(where));
    (void)snprintf(words, sizeof(words), "the job's process was %s%s%.200s", how,
                   *where ? ", while it worked on records " : "", where);
    g->deaths++;
    struct restart_answer answer =
        carry_crashed(&g->page->carry, &c->env, &g->job->settings, words);
    if (g->may_restart && !answer.give_up) {
        env_log(&c->env, SR_LOG_ERROR, "guard", "%s; restart in %lld ms", words,
                (long long)(answer.delay_us / 1000));
        *delay_us = answer.delay_us;
        return true;
    }
    (void)cli_fail(c, CLI_FAILED, "SR1105: the job failed: %s", words);
    if (!g->may_restart) {
        cli_note(c, "its checkpoints were in memory and died with it: a restart could write rows "
                    "twice");
    }
    if (strcmp(g->page->carry.first_cause, words) != 0) {
        (void)cli_fail(c, CLI_FAILED, "its first cause, %u restarts before: %s",
                       g->page->carry.restarts, g->page->carry.first_cause);
    }
    g->ended(g->ctx, "FAILED", words, CLI_FAILED);
    rundir_leave(c, g->run_dir, g->job->id);
    return false;
}

sr_rc guard_run(struct guard *g, bool *is_engine, enum cli_exit *code, struct sr_error *err)
{
    g->listen_fd = g->engine_fd = g->tell_fd = g->signal_fd = -1;
    *is_engine = false;
    sr_rc rc = guard_prepare(g, err);
    while (rc == SR_OK) {
        struct death_counts before;
        int64_t delay_us = 0;
        pid_t engine = 0;
        death_look(&before);
        rc = guard_fork(g, &engine, err);
        if (rc != SR_OK) break;
        if (engine == 0) {
            *is_engine = true;
            return SR_OK;
        }
        int status = guard_watch(g, engine);
        if (!WIFSIGNALED(status)) {
            *code = (enum cli_exit)WEXITSTATUS(status);
            break;
        }
        *code = CLI_FAILED;
        if (!guard_died(g, status, &before, &delay_us)) break;
        if (!guard_wait(g, delay_us, code)) {
            bool is_canceled = *code == CLI_OK;
            g->ended(g->ctx, is_canceled ? "CANCELED" : "SUSPENDED",
                     is_canceled ? "" : "ended by a signal while it was restarting", *code);
            rundir_leave(g->cli, g->run_dir, g->job->id);
            break;
        }
    }
    if (g->listen_fd >= 0) (void)close(g->listen_fd); /* a socket */
    return rc;
}
