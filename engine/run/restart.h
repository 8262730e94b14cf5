/* Restart strategies: what to do after a failure. A state machine; time and chance come from
 * outside.
 *
 *   none               give up
 *   fixed-delay        wait the same time, so many times in the job's life
 *   exponential-delay  wait longer each time, up to a maximum; anew when a failure comes long
 *                      enough after the last restart was due. A failure while a restart is due
 *                      already (of another region) is no new one: it waits for the same moment
 *   failure-rate       wait the same time, unless there were too many failures within an interval
 *
 * Flink's keys, defaults and arithmetic, in whole milliseconds. With no strategy written:
 * exponential-delay when the job takes checkpoints, else none.
 */
#ifndef SR_RUN_RESTART_H
#define SR_RUN_RESTART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/plan/settings.h"

struct restart {
    enum settings_restart strategy;
    int64_t attempts_max; /* restarts that are allowed: in all, since the reset, an interval */
    int64_t delay_us;     /* fixed, or the first */
    int64_t delay_max_us, reset_us, interval_us;
    double multiplier, jitter;
    int64_t attempts;   /* restarts so far, since the last reset */
    int64_t due_us;     /* exponential: of the last restart; INT64_MIN: there was none */
    uint32_t failures;  /* rate: that are remembered, at most attempts_max + 1 */
    uint32_t oldest_at; /* of those in failed_us, which is a circle */
    int64_t failed_us[SETTINGS_RATE_MAX + 1];
};

struct restart_answer {
    bool give_up;
    bool is_same; /* of a restart that is due already */
    int64_t delay_us;
};

void restart_init(struct restart *r, const struct settings *s, bool has_checkpoints);
/* The job failed. `chance` is any random number. */
struct restart_answer restart_failed(struct restart *r, int64_t now_us, uint64_t chance);
/* "fixed-delay allows 2 restarts": why it gave up. */
void restart_words(const struct restart *r, char *out, size_t size);

#endif
