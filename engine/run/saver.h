/* Turns frozen state into bytes, off the tasks' way: the asynchronous part of a checkpoint.
 *
 *   task --REPORT_SAVED, frozen--> supervisor --saver_put--> saver --REPORT_SAVED, bytes--.
 *                                      ^                                                  |
 *                                      '--------------------------------------------------'
 *
 * One thread at a time steps it: a thread of the scheduler's own, or the supervisor where the
 * scheduler has none. A step does a bounded piece, so that whoever stops or fails need not wait.
 */
#ifndef SR_RUN_SAVER_H
#define SR_RUN_SAVER_H

#include "engine/base/env.h"
#include "engine/run/report.h"

struct saver {
    struct mutex *lock;
    struct report *first, *last; /* that wait; under the lock */
    struct report *current;      /* being saved; the stepping thread's */
    uint32_t part;               /* of it */
    int64_t started_us;
    atomic_bool is_busy; /* something waits, or is being saved */
    struct reports *reports;
    const struct env *env;
    void (*wake)(void *ctx); /* after every put; NULL: whoever steps looks by himself */
    void *ctx;
};

sr_rc saver_init(struct saver *s, const struct env *env, struct reports *reports,
                 struct sr_error *err);
void saver_done(struct saver *s); /* half-made ones too; nobody steps it any more */
void saver_put(struct saver *s, struct report *r); /* takes r, which has frozen parts */
/* Goes on. False: there is nothing to do. */
bool saver_step(struct saver *s);

#endif
