/* The scheduler of a machine: workers with fixed tasks, asleep when none of them can go on.
 *
 * The supervisor changes the tasks of a worker while that one holds still:
 *
 *   supervisor  asked++ (odd), wake -> waits until still is the same -> changes -> asked++, wake
 *   worker      between two passes:  while asked is odd: still = asked, wake, sleep
 *
 * A worker steps its tasks in turn as long as one of them did something. Then it says that it is
 * parked, looks once more (what was put or ordered before that is seen, what comes after it wakes:
 * waker.h), and sleeps until it is woken or one of its tasks' waits is over.
 *
 * One more thread steps the saver, behind the workers in the eyes of the kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/thread.h"
#include "engine/run/sched.h"

#define WORKERS_MAX 1024u

struct worker {
    struct sched_threads *pool;
    struct waker waker;
    struct parker *parker;
    struct thread *thread; /* NULL: not started */
    struct task **task;
    uint32_t tasks;
    struct sr_wait *wait; /* of all its tasks */
    uint32_t waits;
    _Atomic uint32_t asked, still; /* seq_cst: see above */
};

struct sched_threads {
    struct sched base;
    const struct env *env;
    uint32_t workers;
    struct worker *worker;
    struct saver *saver; /* of the crew */
    struct parker *saver_parker;
    struct thread *saver_thread; /* NULL: not started */
    struct parker *boss;         /* the supervisor, when it waits for a worker; NULL: not started */
    _Atomic bool is_stopping;    /* seq_cst, like what the wakers guard */
};

/* --- One worker ------------------------------------------------------------------------------- */

static void worker_wake(void *ctx)
{
    const struct worker *w = ctx;
    parker_wake(w->parker);
}

/* What it waits for until it is stepped again. A sink that waits for its target works, so to say:
 * those before it are under pressure. */
static enum pressure_state worker_pressure(const struct task *t, enum task_did did)
{
    if (did == TASK_DID || (t->is_pressed && t->has_sink)) return PRESSURE_BUSY;
    return t->is_pressed ? PRESSURE_PRESSED : PRESSURE_IDLE;
}

/* Steps every task once. True: one of them did something. */
static bool worker_pass(struct worker *w, int64_t now_us)
{
    const struct env *env = w->pool->env;
    bool did = false;
    w->waits = 0;
    for (uint32_t i = 0; i < w->tasks; i++) {
        struct task *t = w->task[i];
        struct task_waits waits;
        enum task_did one = task_step(t, now_us, &waits);
        pressure_enter(&t->pressure, worker_pressure(t, one), now_us);
        switch (one) {
        case TASK_DID:
            did = true;
            now_us = env->mono_us(env); /* the next task's time begins here */
            break;
        case TASK_NOTHING:
            for (uint32_t k = 0; k < waits.count; k++) {
                w->wait[w->waits++] = waits.wait[k];
            }
            break;
        case TASK_ENDED:
        case TASK_FAILED:
            break;
        }
    }
    return did;
}

/* Until its tasks were changed. */
static void worker_hold_still(struct worker *w)
{
    const struct env *env = w->pool->env;
    uint32_t asked = atomic_load(&w->asked);
    while ((asked & 1) != 0) {
        atomic_store(&w->still, asked);
        parker_wake(w->pool->boss);
        parker_wait(w->parker, NULL, 0, env->mono_us(env), INT64_MAX);
        asked = atomic_load(&w->asked);
    }
}

static void worker_run(void *arg)
{
    struct worker *w = arg;
    const struct env *env = w->pool->env;
    while (!atomic_load(&w->pool->is_stopping)) {
        worker_hold_still(w);
        if (worker_pass(w, env->mono_us(env))) continue;
        atomic_store(&w->waker.is_parked, true);
        int64_t now_us = env->mono_us(env);
        if (!worker_pass(w, now_us) && !atomic_load(&w->pool->is_stopping) &&
            (atomic_load(&w->asked) & 1) == 0) {
            parker_wait(w->parker, w->wait, w->waits, now_us, INT64_MAX);
        }
        atomic_store(&w->waker.is_parked, false);
    }
}

static sr_rc worker_init(struct worker *w, struct sched_threads *pool, uint32_t tasks,
                         struct sr_error *err)
{
    w->pool = pool;
    w->waker = (struct waker){.wake = worker_wake, .ctx = w};
    w->task = calloc(tasks + 1, sizeof(struct task *));
    w->wait = calloc((size_t)tasks * TASK_WAITS_MAX + 1, sizeof(*w->wait));
    if (!w->task || !w->wait) return error_set(err, SR_ENOMEM, "out of memory for a worker");
    return parker_new(&w->parker, err);
}

static void worker_done(struct worker *w)
{
    parker_free(w->parker);
    free(w->task);
    free(w->wait);
    *w = (struct worker){.pool = NULL};
}

/* --- The saver -------------------------------------------------------------------------------- */

static void saver_thread_wake(void *ctx)
{
    const struct sched_threads *p = ctx;
    parker_wake(p->saver_parker);
}

static void saver_thread_run(void *arg)
{
    struct sched_threads *p = arg;
    thread_step_back();
    while (!atomic_load(&p->is_stopping)) {
        if (saver_step(p->saver)) continue;
        parker_wait(p->saver_parker, NULL, 0, p->env->mono_us(p->env), INT64_MAX);
    }
}

static sr_rc saver_thread_start(struct sched_threads *p, struct crew *c, struct sr_error *err)
{
    p->saver = &c->saver;
    sr_rc rc = parker_new(&p->saver_parker, err);
    if (rc != SR_OK) return rc;
    p->saver->wake = saver_thread_wake;
    p->saver->ctx = p;
    return thread_start(&p->saver_thread, "saver", saver_thread_run, p, err);
}

static void saver_thread_stop(struct sched_threads *p)
{
    if (p->saver_thread) parker_wake(p->saver_parker);
    thread_join(p->saver_thread);
    parker_free(p->saver_parker);
    p->saver_thread = NULL;
    p->saver_parker = NULL;
    p->saver = NULL;
}

/* --- All of them ------------------------------------------------------------------------------ */

static struct sched_threads *sched_threads_of(struct sched *s)
{
    return (struct sched_threads *)(void *)s;
}

static void sched_threads_end(struct sched_threads *p)
{
    atomic_store(&p->is_stopping, true);
    for (uint32_t i = 0; i < p->workers; i++) {
        if (p->worker[i].thread) parker_wake(p->worker[i].parker);
    }
    for (uint32_t i = 0; i < p->workers; i++) {
        thread_join(p->worker[i].thread);
        worker_done(&p->worker[i]);
    }
    saver_thread_stop(p);
    parker_free(p->boss);
    p->boss = NULL;
}

static void worker_still(struct sched_threads *p, struct worker *w)
{
    uint32_t asked = atomic_fetch_add(&w->asked, 1) + 1;
    parker_wake(w->parker);
    while (atomic_load(&w->still) != asked) {
        parker_wait(p->boss, NULL, 0, p->env->mono_us(p->env), INT64_MAX);
    }
}

static void worker_go_on(struct worker *w)
{
    atomic_fetch_add(&w->asked, 1);
    parker_wake(w->parker);
}

/* Takes the tasks of a region from a worker. */
static void worker_take(struct worker *w, const struct crew *c, uint32_t region)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->tasks; i++) {
        if (!crew_is_of(c, w->task[i]->index, region)) w->task[kept++] = w->task[i];
    }
    w->tasks = kept;
}

static void sched_threads_stop(struct sched *s, struct crew *c, uint32_t region)
{
    struct sched_threads *p = sched_threads_of(s);
    if (region == CREW_ALL || !p->boss) {
        sched_threads_end(p);
        return;
    }
    for (uint32_t i = 0; i < p->workers; i++) {
        struct worker *w = &p->worker[i];
        if (w->thread) worker_still(p, w);
        worker_take(w, c, region);
        if (w->thread) worker_go_on(w);
    }
}

static struct worker *sched_threads_worker(struct sched_threads *p, const struct task *t)
{
    return &p->worker[t->index % p->workers];
}

/* Subtasks of a vertex go to different workers. Whom to wake is known before anybody steps. */
static void sched_threads_introduce(struct sched_threads *p, struct crew *c, uint32_t region)
{
    sr_assert(p->workers > 0);
    for (uint32_t i = 0; i < c->tasks; i++) {
        struct task *t = &c->task[i];
        if (crew_is_of(c, i, region)) t->waker = &sched_threads_worker(p, t)->waker;
    }
    for (uint32_t i = 0; i < c->rings; i++) {
        struct ring *r = &c->ring[i];
        if (!crew_is_of(c, r->writer_task, region)) continue;
        r->writer = c->task[r->writer_task].waker;
        r->reader = c->task[r->reader_task].waker;
    }
}

static sr_rc sched_threads_begin(struct sched_threads *p, struct crew *c, struct sr_error *err)
{
    if (p->boss) return SR_OK;
    atomic_store(&p->is_stopping, false);
    sr_rc rc = parker_new(&p->boss, err);
    for (uint32_t i = 0; i < p->workers && rc == SR_OK; i++) {
        rc = worker_init(&p->worker[i], p, c->tasks, err);
    }
    if (rc == SR_OK) rc = saver_thread_start(p, c, err);
    return rc;
}

/* Gives a worker its tasks of a region, and starts it with its first ones. */
static sr_rc sched_threads_give(struct sched_threads *p, struct crew *c, uint32_t region,
                                uint32_t number, struct sr_error *err)
{
    struct worker *w = &p->worker[number];
    if (w->thread) worker_still(p, w);
    for (uint32_t i = 0; i < c->tasks; i++) {
        struct task *t = &c->task[i];
        if (crew_is_of(c, i, region) && sched_threads_worker(p, t) == w) w->task[w->tasks++] = t;
    }
    if (w->thread) {
        worker_go_on(w);
        return SR_OK;
    }
    if (w->tasks == 0) return SR_OK;
    char name[24];
    (void)snprintf(name, sizeof(name), "worker-%u", number);
    return thread_start(&w->thread, name, worker_run, w, err);
}

static sr_rc sched_threads_start(struct sched *s, struct crew *c, uint32_t region,
                                 struct sr_error *err)
{
    struct sched_threads *p = sched_threads_of(s);
    sr_rc rc = sched_threads_begin(p, c, err);
    if (rc == SR_OK) sched_threads_introduce(p, c, region);
    for (uint32_t i = 0; i < p->workers && rc == SR_OK; i++) {
        rc = sched_threads_give(p, c, region, i, err);
    }
    return rc;
}

static void sched_threads_wake(struct sched *s)
{
    struct sched_threads *p = sched_threads_of(s);
    for (uint32_t i = 0; i < p->workers; i++) {
        if (p->worker[i].thread) waker_wake(&p->worker[i].waker);
    }
}

sr_rc sched_threads_new(struct sched **out, uint32_t workers, const struct env *env,
                        struct sr_error *err)
{
    if (workers == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        workers = cores > 0 ? (uint32_t)cores : 1;
    }
    if (workers > WORKERS_MAX) workers = WORKERS_MAX;
    struct sched_threads *p = calloc(1, sizeof(*p));
    struct worker *worker = calloc(workers, sizeof(*worker));
    if (!p || !worker) {
        free(p);
        free(worker);
        return error_set(err, SR_ENOMEM, "out of memory for %u workers", workers);
    }
    p->base.start = sched_threads_start;
    p->base.stop = sched_threads_stop;
    p->base.wake = sched_threads_wake;
    p->base.has_saver = true;
    p->base.loaders = workers;
    p->env = env;
    p->workers = workers;
    p->worker = worker;
    *out = &p->base;
    return SR_OK;
}

void sched_threads_free(struct sched *s)
{
    if (!s) return;
    struct sched_threads *p = sched_threads_of(s);
    free(p->worker);
    free(p);
}
