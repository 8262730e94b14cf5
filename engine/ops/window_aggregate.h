/* GROUP BY a window: one row a group and window, once the watermark reaches the window's last
 * millisecond.
 *
 *   TUMBLE, CUMULATE
 *     row -> window [start, end) -> late? counted : folded into `groups` (keys, namespace end),
 *                                                   whose timer is end - 1
 *     watermark -> due entries -> rows out; an entry of CUMULATE goes on as the next longer window
 *   HOP
 *     row -> pane -> late? counted : folded into `groups` (keys, namespace: the pane's end);
 *                                    a new pane adds its next window to `windows`, with the timer
 *     watermark -> due windows -> their panes are merged -> rows out; the window goes on as the
 *                                 next one while a pane of it is left; panes of no further window
 *                                 are removed
 *
 * A row is late when the watermark in force as it arrived (batch.h) has reached the last
 * millisecond of the last window that the row belongs to; of the others those count it that have
 * not fired by then. So neither lateness nor what a window holds depends on where a batch was cut:
 * where a row must not get into a window that is due by its own watermark, that window fires
 * first, in the middle of the batch.
 *
 * Windows of the wall clock are those of when a row is processed, whatever its columns say: no row
 * is late. They fire when the clock is there, and at the end of the input.
 *
 * window_aggregate.c takes rows in, window_fire.c lets windows out.
 */
#ifndef SR_OPS_WINDOW_AGGREGATE_H
#define SR_OPS_WINDOW_AGGREGATE_H

#include "engine/ops/aggregate.h"
#include "engine/ops/window.h"

struct window_aggregate {
    struct aggregate base;
    struct window window;
    struct sr_map *windows; /* whose timers fire: base.groups, but for HOP */
    int64_t pane_end;       /* of the row before: rows of one pane come together */
    const struct sr_host *host;
    /* Of the running call, by index into base.row or base.slot: */
    int64_t end[SR_BATCH_ROWS];
    int64_t timer[SR_BATCH_ROWS];
    uint32_t other[SR_BATCH_ROWS]; /* slots in another map */
    bool flag[SR_BATCH_ROWS];
};

/* Emits windows that are due at watermark `ms`: at most one view, of one end but for TUMBLE.
 * *has_more: call again. */
sr_rc window_fire(struct window_aggregate *w, int64_t ms, struct sr_op_io *io, bool *has_more,
                  struct sr_error *err);

#endif
