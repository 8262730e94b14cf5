/* Where a dead letter enters its job again: a record at its source, a row at the step that could
 * not take it.
 *
 *   raw is                                   it enters
 *   a record of a source with a format       that source; on a way of its own to the step that
 *                                            refused it, where others had it already
 *   a row of a source that makes rows        that source, where its own work or poison set it aside
 *   a row of a step's input                  that step, beside its inputs
 *   a row late for its window                the step's aggregate
 *   a result of a window                     behind the aggregate
 *
 * Each place has a file of its own in the directory of a batch. What a replay sets aside has the
 * file's name as its split, which says what its `raw` is.
 */
#ifndef SR_CLI_REPLAY_PLACE_H
#define SR_CLI_REPLAY_PLACE_H

#include "cli/letter_list.h"
#include "engine/plan/plan.h"

enum replay_at {
    REPLAY_INPUT = JOB_FEED_INPUT,
    REPLAY_GROUPED = JOB_FEED_GROUPED,
    REPLAY_RESULTS = JOB_FEED_RESULTS,
    REPLAY_SOURCE = JOB_FEEDS,
    REPLAY_BRANCH, /* from `source` to `step` and to no other */
    REPLAY_PLACES
};

struct replay_place {
    const char *hurdle; /* why the letter cannot go through the job; NULL: it can */
    enum replay_at at;
    uint32_t step;   /* of the job */
    uint32_t source; /* of a branch; else 0 */
};

struct replay_place replay_place_of(struct arena *a, const struct plan *p,
                                    const struct letter_row *l);
/* The file of a place in a batch: in the arena, NULL when memory is out. */
const char *replay_place_file(struct arena *a, const struct job *job, const struct replay_place *p);
/* The place that a file is of. False: the job has none of that name. */
bool replay_place_find(struct arena *a, const struct job *job, const char *file,
                       struct replay_place *out);
bool replay_place_equal(const struct replay_place *a, const struct replay_place *b);

#endif
