/* Threads, and how one waits for another without burning a core. */
#ifndef SR_BASE_THREAD_H
#define SR_BASE_THREAD_H

#include <streamrun/connector.h>

struct thread;

sr_rc thread_start(struct thread **out, const char *name, void (*run)(void *arg), void *arg,
                   struct sr_error *err);
/* The calling thread: others that are ready run most of the time. */
void thread_step_back(void);
void thread_join(struct thread *t); /* waits for its end, and frees it; NULL allowed */

/* A place to wait: one waiter, any number of wakers. A wake before the wait is not lost. */
struct parker;

sr_rc parker_new(struct parker **out, struct sr_error *err);
void parker_free(struct parker *p);
void parker_wake(struct parker *p); /* any thread, signal handlers too */
/* Returns at a wake, when one of `wait[0..count)` is ready or due, or by until_us (monotonic;
 * INT64_MAX: never). May also return for no reason. */
void parker_wait(struct parker *p, const struct sr_wait *wait, uint32_t count, int64_t now_us,
                 int64_t until_us);

/* A lock for slow paths. */
struct mutex;

sr_rc mutex_new(struct mutex **out, struct sr_error *err);
void mutex_free(struct mutex *m);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

#endif
