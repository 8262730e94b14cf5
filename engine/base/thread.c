#include "engine/base/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"

#define PARKER_FDS_MAX 64u /* descriptors looked at in one wait; a wait on more is cut short */
#define PARKER_CUT_US  INT64_C(1000)

struct thread {
    pthread_t id;
    void (*run)(void *arg);
    void *arg;
    char name[16];
};

static void *thread_main(void *arg)
{
    const struct thread *t = arg;
    (void)pthread_setname_np(pthread_self(), t->name); /* for people who look at top */
    t->run(t->arg);
    return NULL;
}

/* Signals belong to the thread that cli chose: a started thread takes none of them. */
static int thread_create_masked(struct thread *t)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    int number = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (number != 0) {
        return number;
    }
    number = pthread_create(&t->id, NULL, thread_main, t);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number;
}

sr_rc thread_start(struct thread **out, const char *name, void (*run)(void *arg), void *arg,
                   struct sr_error *err)
{
    struct thread *t = calloc(1, sizeof(*t));
    if (!t) {
        return error_set(err, SR_ENOMEM, "start thread %s: out of memory", name);
    }
    t->run = run;
    t->arg = arg;
    (void)strncpy(t->name, name, sizeof(t->name) - 1);
    int number = thread_create_masked(t);
    if (number != 0) {
        free(t);
        return error_set(err, number == EAGAIN ? SR_ENOMEM : SR_EIO,
                         "start thread %s: %s (no memory for one more, or too many threads)", name,
                         strerrordesc_np(number));
    }
    *out = t;
    return SR_OK;
}

#define THREAD_BACK_NICE 5 /* a third of what others get, when all are ready */

void thread_step_back(void)
{
    id_t self = (id_t)gettid();
    /* From where the process stands, which may have a niceness of its own. A kindness only. */
    (void)setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + THREAD_BACK_NICE);
}

void thread_join(struct thread *t)
{
    if (!t) {
        return;
    }
    int number = pthread_join(t->id, NULL);
    sr_assert(number == 0);
    free(t);
}

struct parker {
    int fd; /* eventfd, not blocking */
};

sr_rc parker_new(struct parker **out, struct sr_error *err)
{
    struct parker *p = calloc(1, sizeof(*p));
    if (!p) {
        return error_set(err, SR_ENOMEM, "make a place to wait: out of memory");
    }
    p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->fd < 0) {
        int number = errno;
        free(p);
        return error_errno(err, number, "eventfd", NULL);
    }
    *out = p;
    return SR_OK;
}

void parker_free(struct parker *p)
{
    if (p) {
        (void)close(p->fd);
        free(p);
    }
}

void parker_wake(struct parker *p)
{
    int before = errno;
    const uint64_t one = 1;
    ssize_t n = 0;
    do {
        n = write(p->fd, &one, sizeof(one));
    } while (n < 0 && errno == EINTR); /* EAGAIN: the counter is full, so a wake is pending */
    errno = before;
}

static struct timespec parker_timespec(int64_t us)
{
    us = us < 0 ? 0 : us;
    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

void parker_wait(struct parker *p, const struct sr_wait *wait, uint32_t count, int64_t now_us,
                 int64_t until_us)
{
    struct pollfd fds[PARKER_FDS_MAX + 1] = {{.fd = p->fd, .events = POLLIN}};
    nfds_t n = 1;
    for (uint32_t i = 0; i < count; i++) {
        until_us = wait[i].until_us < until_us ? wait[i].until_us : until_us;
        if (wait[i].fd < 0) {
            continue;
        }
        if (n > PARKER_FDS_MAX) {
            /* The rest cannot be watched: come back soon, so that none is forgotten. */
            until_us = now_us + PARKER_CUT_US < until_us ? now_us + PARKER_CUT_US : until_us;
            continue;
        }
        fds[n++] = (struct pollfd){.fd = wait[i].fd, .events = wait[i].is_write ? POLLOUT : POLLIN};
    }
    struct timespec left = parker_timespec(until_us == INT64_MAX ? 0 : until_us - now_us);
    (void)ppoll(fds, n, until_us == INT64_MAX ? NULL : &left, NULL); /* EINTR: for no reason */
    uint64_t wakes = 0;
    ssize_t got = 0;
    do {
        got = read(p->fd, &wakes, sizeof(wakes));
    } while (got < 0 && errno == EINTR);
}

struct mutex {
    pthread_mutex_t lock;
};

sr_rc mutex_new(struct mutex **out, struct sr_error *err)
{
    struct mutex *m = calloc(1, sizeof(*m));
    if (!m) {
        return error_set(err, SR_ENOMEM, "make a lock: out of memory");
    }
    int number = pthread_mutex_init(&m->lock, NULL);
    if (number != 0) {
        free(m);
        return error_errno(err, number, "make a lock", NULL);
    }
    *out = m;
    return SR_OK;
}

void mutex_free(struct mutex *m)
{
    if (m) {
        (void)pthread_mutex_destroy(&m->lock);
        free(m);
    }
}

void mutex_lock(struct mutex *m)
{
    int number = pthread_mutex_lock(&m->lock);
    sr_assert(number == 0);
}

void mutex_unlock(struct mutex *m)
{
    int number = pthread_mutex_unlock(&m->lock);
    sr_assert(number == 0);
}
