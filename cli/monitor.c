#include "cli/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/control.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "engine/base/error.h"
#include "engine/base/thread.h"

#define MONITOR_PEERS_MAX   16u
#define MONITOR_PROGRESS_MS 250
#define MONITOR_WIDTH       80 /* of a terminal that does not say how wide it is */
/* timeout(1) and others signal a process and then its whole group: that is one wish. */
#define MONITOR_ECHO_US INT64_C(500000)

/* One connection and the thread that answers it: a savepoint may take its time. */
struct monitor_peer {
    struct monitor *monitor;
    struct thread *thread; /* NULL: free */
    int fd;
    atomic_bool is_done; /* release by the peer's thread, acquire before joining it */
};

struct monitor {
    struct monitor_conf conf;
    struct thread *thread;
    int signal_fd, stop_fd;
    int64_t asked_us; /* monotonic: when a first signal came; 0: none did */
    bool has_line;    /* a progress line stands on the terminal */
    struct progress progress;
    struct monitor_peer peer[MONITOR_PEERS_MAX];
};

static sigset_t monitor_signals(void)
{
    sigset_t s;
    (void)sigemptyset(&s);
    (void)sigaddset(&s, SIGTERM);
    (void)sigaddset(&s, SIGINT);
    (void)sigaddset(&s, SIGHUP);
    return s;
}

void monitor_block(void)
{
    sigset_t s = monitor_signals();
    (void)sigaddset(&s, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &s, NULL);
}

sr_rc monitor_redirect(const char *log_file, bool with_stdout, struct sr_error *err)
{
    int fd = open(log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return error_errno(err, errno, "open", log_file);
    int rc = dup2(fd, STDERR_FILENO);
    if (rc >= 0 && with_stdout) rc = dup2(fd, STDOUT_FILENO);
    int e = errno;
    (void)close(fd); /* the duplicates stay */
    return rc >= 0 ? SR_OK : error_errno(err, e, "log to", log_file);
}

static void monitor_signal(struct monitor *m)
{
    struct signalfd_siginfo info;
    if (read(m->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info)) return;
    if (info.ssi_signo == SIGHUP) {
        struct sr_error err;
        if (m->conf.log_file &&
            monitor_redirect(m->conf.log_file, m->conf.is_detached, &err) != SR_OK) {
            cli_note(m->conf.cli, "%s", err.words);
        }
        return;
    }
    int64_t now_us = m->conf.cli->env.mono_us(&m->conf.cli->env);
    if (m->asked_us > 0 && now_us - m->asked_us < MONITOR_ECHO_US) return;
    if (m->asked_us > 0) _exit(128 + (int)info.ssi_signo);
    m->asked_us = now_us;
    if (m->has_line) fputs("\r\033[K", m->conf.cli->err);
    cli_note(m->conf.cli, "signal %u: %s; again to end at once", info.ssi_signo,
             m->conf.is_durable ? "saving a last checkpoint" : "ending");
    supervise_ask(m->conf.job, RUN_ASK_SUSPEND);
}

static void monitor_peer_run(void *arg)
{
    struct monitor_peer *p = arg;
    control_serve(p->fd, p->monitor->conf.cli, p->monitor->conf.job, p->monitor->conf.plan);
    atomic_store_explicit(&p->is_done, true, memory_order_release);
}

/* False: there is no descriptor left for the peer that waits. */
static bool monitor_accept(struct monitor *m)
{
    int fd = accept4(m->conf.listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return errno != EMFILE && errno != ENFILE; /* else it went away again */
    for (uint32_t i = 0; i < MONITOR_PEERS_MAX; i++) {
        struct monitor_peer *p = &m->peer[i];
        if (p->thread && atomic_load_explicit(&p->is_done, memory_order_acquire)) {
            thread_join(p->thread);
            p->thread = NULL;
        }
        if (p->thread) continue;
        struct sr_error err;
        p->monitor = m;
        p->fd = fd;
        atomic_store_explicit(&p->is_done, false, memory_order_relaxed);
        if (thread_start(&p->thread, "control", monitor_peer_run, p, &err) == SR_OK) return true;
        p->thread = NULL;
        break;
    }
    control_refuse(fd);
    return true;
}

static void monitor_progress(struct monitor *m)
{
    struct arena *a = arena_new();
    if (!a) return;
    struct run_status s;
    supervise_status(m->conf.job, a, &s);
    const char *line = progress_line(&m->progress, a, &s);
    if (s.state != RUN_ENDED && line) {
        int width =
            terminal_width(STDERR_FILENO, MONITOR_WIDTH) - 1; /* asked again: windows change */
        fprintf(m->conf.cli->err, "\r%.*s\033[K", width, line);
        (void)fflush(m->conf.cli->err);
        m->has_line = true;
    }
    arena_free(a);
}

/* Nothing came for a while, or a signal woke us: progress, and another try of the peers. */
static bool monitor_idle(struct monitor *m, bool is_timeout)
{
    if (is_timeout && m->conf.has_progress) monitor_progress(m);
    return is_timeout;
}

static void monitor_run(void *arg)
{
    struct monitor *m = arg;
    struct pollfd p[3] = {{.fd = m->stop_fd, .events = POLLIN},
                          {.fd = m->signal_fd, .events = POLLIN},
                          {.fd = m->conf.listen_fd, .events = POLLIN}};
    bool has_room = true;
    for (;;) {
        /* A peer that cannot be taken now would end every poll at once. */
        p[2].fd = has_room ? m->conf.listen_fd : -1;
        bool is_timed = m->conf.has_progress || !has_room;
        int n = poll(p, 3, is_timed ? MONITOR_PROGRESS_MS : -1);
        if (n < 0 && errno != EINTR) return;
        if (n <= 0) {
            has_room = monitor_idle(m, n == 0) || has_room;
            continue;
        }
        if (p[0].revents) return;
        if (p[1].revents) monitor_signal(m);
        if (p[2].revents) has_room = monitor_accept(m);
    }
}

sr_rc monitor_start(struct monitor **out, const struct monitor_conf *conf, struct sr_error *err)
{
    struct monitor *m = calloc(1, sizeof(*m));
    if (!m) return error_set(err, SR_ENOMEM, "out of memory");
    m->conf = *conf;
    sigset_t s = monitor_signals();
    m->signal_fd = signalfd(-1, &s, SFD_CLOEXEC);
    m->stop_fd = eventfd(0, EFD_CLOEXEC);
    sr_rc rc = SR_OK;
    if (m->signal_fd < 0 || m->stop_fd < 0) {
        rc = error_errno(err, errno, "make", "the monitor's descriptors");
    } else {
        rc = thread_start(&m->thread, "monitor", monitor_run, m, err);
    }
    if (rc != SR_OK) {
        monitor_stop(m);
        return rc;
    }
    *out = m;
    return SR_OK;
}

void monitor_stop(struct monitor *m)
{
    if (!m) return;
    if (m->thread) {
        uint64_t one = 1;
        (void)!write(m->stop_fd, &one, sizeof(one)); /* an eventfd takes it */
        thread_join(m->thread);
    }
    for (uint32_t i = 0; i < MONITOR_PEERS_MAX; i++) {
        thread_join(m->peer[i].thread);
    }
    if (m->has_line) fputs("\r\033[K", m->conf.cli->err);
    if (m->signal_fd >= 0) (void)close(m->signal_fd); /* not a file */
    if (m->stop_fd >= 0) (void)close(m->stop_fd);     /* not a file */
    free(m);
}
