/* Event time in a source task: from candidates row by row to the watermark of the task.
 *
 * The plan's `stamp` operator writes a candidate beside each row (view->watermark). A split's
 * watermark is the highest candidate so far; the task's is the minimum over its splits that are not
 * idle, and never goes back. It is held where it is while splits of a bounded source wait to be
 * given out (`is_held`): nobody knows yet how old their rows are. A split that was read to its end
 * no longer counts.
 *
 * With a period the task's watermark moves between rows only, that often at most, as Flink's
 * periodic ones do: lateness then depends on the clock. A split is idle when it had no row for
 * idle_us of the time in which it could have been read: while the task cannot get rid of its rows
 * (stamp_pause) that time stands still. When all are idle, the one that had a row last counts.
 */
#ifndef SR_RUN_STAMP_H
#define SR_RUN_STAMP_H

#include "engine/data/pool.h"

struct stamp_split {
    uint32_t number;
    bool is_idle;
    int64_t watermark;   /* SR_WATERMARK_NONE: no row yet */
    int64_t last_row_us; /* of the time of stamp_now */
};

struct stamp {
    bool is_on;        /* the source has a watermark */
    bool is_held;      /* splits of a bounded source were not given out yet */
    bool is_unfed;     /* the whole source never had a split: it is one without rows */
    int64_t idle_us;   /* a split without rows for so long is idle; 0: never */
    int64_t period_us; /* 0: each row may move the watermark; INT64_MAX: none does */
    int64_t next_us;   /* with a period: not before */
    int64_t watermark; /* of the task, as told down the stream */
    int64_t opened_us; /* of the time of stamp_now; -1: not looked at yet */
    int64_t pause_us;  /* monotonic: since when it stands still; -1: it runs */
    int64_t paused_us; /* in all */
    struct stamp_split *split;
    uint32_t splits, capacity;
};

/* idle_us 0: never. period_us 0: with each row. */
void stamp_init(struct stamp *s, bool is_on, int64_t idle_us, int64_t period_us);
void stamp_done(struct stamp *s);
/* Nothing is read from now on, and again. */
void stamp_pause(struct stamp *s, int64_t now_us);
void stamp_resume(struct stamp *s, int64_t now_us);
sr_rc stamp_add(struct stamp *s, uint32_t number, int64_t watermark, int64_t now_us);
void stamp_remove(struct stamp *s, uint32_t number);
int64_t stamp_of(const struct stamp *s, uint32_t number);

/* Turns the candidates in v->watermark into the watermark in force when each row arrives, and sets
 * v->watermark_end. The view's split must have been added. */
void stamp_view(struct stamp *s, struct sr_view *v, int64_t now_us);
/* Moves the watermark where it moved without a row: a split ended, went idle, the hold fell, or the
 * period is over. True: it moved. *due_us is lowered to when to look again. */
bool stamp_advance(struct stamp *s, int64_t now_us, int64_t *due_us);
/* Finds splits that have become idle. Answers whether all are, which `is_idle` of the stream means;
 * *due_us is lowered to when to look again. */
bool stamp_look(struct stamp *s, int64_t now_us, int64_t *due_us);

#endif
