/* Who steps the tasks, and how a simulator does it instead of threads.
 *
 * The supervisor makes the tasks of an attempt (a crew), hands them to a scheduler, and takes them
 * away again before it frees them. sched_threads.c is the scheduler of a machine. A simulator
 * brings its own, and owns everything: it steps the tasks and the supervisor, one at a time, in any
 * order it likes, under its own clock (env->mono_us):
 *
 *   struct sched mine = {.start = remember_it, .stop = forget_it, .wake = do_nothing};
 *   supervise_new(&s, &conf, &err);
 *   supervise_begin(s, &mine);
 *   while (!has_crashed) {
 *       either  supervise_step(s, &due_us)        until it answers true: the job has ended
 *       or      task_step(&crew->task[i], now_us, &waits)     any task of a region that was started
 *       or      move the clock, at most to the earliest of due_us and all waits
 *   }
 *   supervise_end(s, &err);                       how it ended
 *   supervise_free(s);                            also after a simulated crash: closes everything
 *
 * A task that answered TASK_NOTHING may be stepped again at once: that is only a waste of time.
 * When every task answered TASK_NOTHING, and supervise_step was called after that, nothing will
 * happen before a wait is over. supervise_step may call start and stop from inside: a crew of which
 * all regions were stopped may be gone.
 *
 * Crash points (env_crash_point) are named "run: ...": see RUN_CRASH_POINTS. A simulator that
 * longjmps or exits out of one may not call into the supervisor again, but for supervise_free in a
 * process that still has its memory.
 */
#ifndef SR_RUN_SCHED_H
#define SR_RUN_SCHED_H

#include "engine/run/crew.h"
#include "engine/run/supervise.h"

/* X(name) for every crash point of this room. */
#define RUN_CRASH_POINTS(X)               \
    X("run: before a task reports saved") \
    X("run: after a sink prepared")       \
    X("run: before publish")              \
    X("run: after publish")               \
    X("run: after show")                  \
    X("run: after a commit")              \
    X("run: before retain")               \
    X("run: after retain")                \
    X("run: after a restored commit")     \
    X("run: pending was published")       \
    X("run: decided")                     \
    X("run: settled what was pending")    \
    X("run: tasks opened")                \
    X("run: before a restart")            \
    X("run: before the end")

struct sched {
    void *ctx;
    /* From now on the tasks of a region, or of CREW_ALL, are stepped, until stop. */
    sr_rc (*start)(struct sched *s, struct crew *c, uint32_t region, struct sr_error *err);
    /* When it returns none of them is being stepped, nor will be; those of other regions go on.
     * Also when start failed or was not called. CREW_ALL: the crew is not touched any more. */
    void (*stop)(struct sched *s, struct crew *c, uint32_t region);
    /* Orders were given: tasks that sleep must look. */
    void (*wake)(struct sched *s);
    uint32_t loaders; /* threads that may load keyed state at once; 0: one task after another */
    bool has_saver;   /* it steps the crew's saver, from start to stop; else the supervisor does */
};

/* Threads: `workers` of them (0: the cores), each with fixed tasks, asleep when there is nothing.
 * A worker lays down its tasks for a moment when some are taken from it or given to it. */
sr_rc sched_threads_new(struct sched **out, uint32_t workers, const struct env *env,
                        struct sr_error *err);
void sched_threads_free(struct sched *s); /* NULL allowed; stopped before */

/* --- The supervisor, stepped ------------------------------------------------------------------ */

void supervise_begin(struct supervise *s, struct sched *sched);
/* Does what is due: reports, asks, checkpoints, restarts. *due_us: call again then, or when
 * something was reported or asked. True: the job has ended, and its tasks are stopped. */
bool supervise_step(struct supervise *s, int64_t *due_us);
enum run_end supervise_end(struct supervise *s, struct sr_error *err);

/* A savepoint that is not waited for: fill dir, stop and drain, ask, and look at is_done later. It
 * must stay where it is until then. */
struct run_request {
    char dir[4096];
    bool is_stop, is_drain;
    bool is_cancel;       /* the job counts as canceled behind it */
    _Atomic bool is_done; /* the fields below are set */
    sr_rc rc;
    char path[4096];
    struct sr_error error;
    /* the supervisor's */
    uint64_t checkpoint;
    void (*done)(struct run_request *r); /* called last; NULL: nothing */
    void *ctx;
    struct run_request *next;
};

void supervise_request(struct supervise *s, struct run_request *r);

#endif
