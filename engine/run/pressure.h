/* What a task's time goes into: work, waiting for rows, waiting for those behind it.
 *
 *   busy      it works, or waits for its turn or for the target that it writes to
 *   idle      there is nothing for it
 *   pressed   back-pressure: it has rows that the rings behind it do not take
 *
 * As in Flink these make a second of every second. The task's worker writes, any thread reads.
 */
#ifndef SR_RUN_PRESSURE_H
#define SR_RUN_PRESSURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PRESSURE_WINDOW_US INT64_C(1000000)

enum pressure_state { PRESSURE_BUSY, PRESSURE_IDLE, PRESSURE_PRESSED, PRESSURE_STATES };

/* All fields are read between two looks at `version`, which is odd while they change. */
struct pressure {
    _Atomic uint32_t version;
    _Atomic uint32_t state;   /* enum pressure_state, since then */
    _Atomic int64_t since_us; /* monotonic; 0: not begun */
    _Atomic int64_t sum_us[PRESSURE_STATES];
    /* What the sums were: the older one at least PRESSURE_WINDOW_US ago, once there was so much. */
    _Atomic int64_t old_us, old_sum_us[PRESSURE_STATES];
    _Atomic int64_t mark_us, mark_sum_us[PRESSURE_STATES];
};

/* From now on it is in this state. Calls of one thread at a time, now_us never goes back. */
void pressure_enter(struct pressure *p, enum pressure_state state, int64_t now_us);

struct pressure_shown {
    int64_t sum_us[PRESSURE_STATES];        /* since the task began */
    int32_t ms_per_second[PRESSURE_STATES]; /* of the last second or two */
};

/* False: it has not begun. */
bool pressure_look(const struct pressure *p, int64_t now_us, struct pressure_shown *out);

#endif
