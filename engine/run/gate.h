/* Where a task's inputs meet: picks the next message, aligns barriers, merges watermarks.
 *
 *              first barrier n                     barrier n from the last live input
 *   FLOWING ------------------> ALIGNING(n) -------------------------------> FLOWING
 *      ^                          |   |            (gate_next answers the barrier, once)
 *      '--- gate_drop(n) ---------'   '-- inputs that have shown n are not read: their rows belong
 *                                         to the next checkpoint. A higher number on another input
 *                                         means that n was dropped up the stream: it supersedes n.
 *
 * An input that ended counts as having shown every barrier. A number at or below the last one that
 * was passed on or dropped is ignored. AT_LEAST_ONCE: barriers are counted in the same way, but
 * every input goes on being read.
 *
 * The watermark is the minimum over inputs that are neither ended nor idle, and never goes back;
 * when all are idle it is the maximum over them: none of them moves it any more. What a view says
 * row by row (batch.h) is merged row by row, so that it does not depend on where a batch was cut.
 * An input's watermark is kept, and saved, without SR_WATERMARK_END: a job that goes on behind its
 * end takes new rows.
 */
#ifndef SR_RUN_GATE_H
#define SR_RUN_GATE_H

#include "engine/data/pool.h"
#include "engine/run/ring.h"

struct gate_input {
    struct ring *ring;
    uint32_t port;         /* of the operator that reads */
    uint32_t from_node;    /* of the plan, whose rows come */
    uint64_t barrier;      /* newest that it has shown; 0: none */
    int64_t watermark;     /* SR_WATERMARK_NONE: none */
    int64_t watermark_end; /* the last one that was not SR_WATERMARK_END: what is saved */
    bool is_idle, is_ended;
    bool is_restored; /* the watermark came out of a checkpoint */
};

#define GATE_LATER_MAX 8u /* as many checkpoints as are on the way at once */

struct gate_barrier {
    uint64_t checkpoint;
    uint32_t flags;
};

struct gate {
    struct gate_input *input;
    uint32_t inputs;
    uint32_t turn;                             /* where to look first, so that no input starves */
    bool is_at_least_once;                     /* does not stop reading */
    bool is_idle;                              /* every live input is; told down the stream */
    bool is_ended;                             /* the end was answered */
    uint64_t aligning;                         /* checkpoint that is being aligned; 0: none */
    uint32_t flags;                            /* of that barrier */
    uint64_t passed;                           /* newest that was passed on or dropped */
    struct gate_barrier later[GATE_LATER_MAX]; /* at least once: behind `aligning`, ascending */
    uint32_t laters;
    int64_t watermark;     /* of the merged stream */
    int64_t watermark_end; /* the last one that was not SR_WATERMARK_END: what is saved */
    struct sr_home *home;  /* for merged watermarks of views; set by the task */
};

/* Room for `inputs` inputs; the caller fills ring, port and from_node of each. */
sr_rc gate_init(struct gate *g, uint32_t inputs, struct sr_error *err);
void gate_done(struct gate *g); /* half-made ones too; the rings stay the caller's */

/* The next message for the task: a view (with its input's port), a watermark, idle or active, an
 * aligned barrier, the end once every input ended; MSG_NONE: nothing to read now. SR_ENOMEM. */
sr_rc gate_next(struct gate *g, struct msg *m, uint32_t *port, struct sr_error *err);
/* Checkpoint n and those before it will not be: held inputs flow again. */
void gate_drop(struct gate *g, uint64_t n);
/* After watermarks of inputs were set by a restore. Answers the merged one. */
int64_t gate_restored(struct gate *g);

#endif
