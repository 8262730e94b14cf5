/* Restart strategies: what to do after a failure. A state machine; time and chance come from
 * outside.
 *
 *   none               give up
 *   fixed-delay        wait the same time, so many times in the job's life
 *   exponential-delay  wait longer each time, up to a maximum; after a long enough run without a
 *                      failure, begin anew
 *
 * Flink's keys, defaults and arithmetic. With no strategy written: exponential-delay when the job
 * takes checkpoints, else none.
 */
#ifndef SR_RUN_RESTART_H
#define SR_RUN_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/plan/settings.h"

struct restart {
    enum settings_restart strategy;
    int64_t attempts_max; /* restarts that are allowed; INT64_MAX: any number */
    int64_t delay_us;     /* fixed, or the first */
    int64_t delay_max_us, reset_us;
    double multiplier, jitter;
    int64_t attempts;   /* restarts so far, since the last reset */
    int64_t backoff_us; /* of the last one; 0: none since the last reset */
    int64_t started_us; /* when the tasks last began to run; INT64_MIN: they never did */
};

struct restart_answer {
    bool give_up;
    int64_t delay_us;
};

void restart_init(struct restart *r, const struct settings *s, bool has_checkpoints);
/* All tasks run. */
void restart_running(struct restart *r, int64_t now_us);
/* The job failed. `chance` is any random number. */
struct restart_answer restart_failed(struct restart *r, int64_t now_us, uint64_t chance);

#endif
