/* Event time in a source task: from candidates row by row to the watermark of the task.
 *
 * The plan's `stamp` operator writes a candidate beside each row (view->watermark). A split's
 * watermark is the highest candidate so far; the task's is the minimum over its splits that are not
 * idle, and never goes back. It is held where it is while splits of a bounded source wait to be
 * given out (`is_held`): nobody knows yet how old their rows are. A split that was read to its end
 * no longer counts.
 */
#ifndef SR_RUN_STAMP_H
#define SR_RUN_STAMP_H

#include "engine/data/pool.h"

struct stamp_split {
    uint32_t number;
    bool is_idle;
    int64_t watermark;   /* SR_WATERMARK_NONE: no row yet */
    int64_t last_row_us; /* monotonic */
};

struct stamp {
    bool is_on;        /* the source has a watermark */
    bool is_held;      /* splits of a bounded source were not given out yet */
    int64_t idle_us;   /* a split without rows for so long is idle; 0: never */
    int64_t watermark; /* of the task, as told down the stream */
    struct stamp_split *split;
    uint32_t splits, capacity;
};

void stamp_done(struct stamp *s);
sr_rc stamp_add(struct stamp *s, uint32_t number, int64_t watermark, int64_t now_us);
void stamp_remove(struct stamp *s, uint32_t number);
int64_t stamp_of(const struct stamp *s, uint32_t number);

/* Turns the candidates in v->watermark into the watermark in force when each row arrives, and sets
 * v->watermark_end. The view's split must have been added. */
void stamp_view(struct stamp *s, struct sr_view *v, int64_t now_us);
/* Moves the watermark where it moved without a row: a split ended, went idle, or the hold fell.
 * True: it moved. */
bool stamp_advance(struct stamp *s);
/* Finds splits that have become idle. Answers whether all are, which `is_idle` of the stream means;
 * *due_us: when to look again, INT64_MAX: no time. */
bool stamp_look(struct stamp *s, int64_t now_us, int64_t *due_us);

#endif
