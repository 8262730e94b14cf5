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
 *   SESSION
 *     row -> the session of its key that it touches, or two that become one, or a new one: an entry
 *            of `groups` (keys, by start) with its end, whose timer is end - 1
 *     watermark -> due entries -> rows out, entries removed
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
 * window_aggregate.c takes rows in, those of sessions window_session.c; window_fire.c lets windows
 * out.
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
    /* SESSION */
    struct sr_view view; /* the input's columns, and behind them the starts that are looked for */
    struct sr_column **col;  /* of it */
    struct sr_column *start; /* the last of them; BIGINT */
};

static inline bool window_is_session(const struct window_aggregate *w)
{
    return w->window.kind == WINDOW_SESSION;
}

/* The watermark in force when row r arrived. */
static inline int64_t window_watermark(const struct window_aggregate *w, const struct sr_view *v,
                                       uint32_t r)
{
    int64_t told = w->base.state->watermark;
    if (!v->watermark) {
        return told;
    }
    int64_t then = ((const int64_t *)(const void *)v->watermark->data)[r];
    return then > told ? then : told;
}

sr_rc window_session_open(struct window_aggregate *w, const struct sr_op_open *o,
                          struct sr_error *err);
void window_session_close(struct window_aggregate *w);
/* Folds the rows of base.row, all of which can be computed, into their sessions; says in io how
 * many are late, and which. */
sr_rc window_session_rows(struct window_aggregate *w, const struct sr_view *v, struct sr_op_io *io,
                          struct sr_error *err);
/* Bounds of a session that is an entry. */
int64_t window_session_start(const struct window_aggregate *w, uint32_t slot);
int64_t window_session_end(const struct window_aggregate *w, uint32_t slot);

/* Emits windows that are due at watermark `ms`: at most one view, of one end but for TUMBLE.
 * *has_more: call again. */
sr_rc window_fire(struct window_aggregate *w, int64_t ms, struct sr_op_io *io, bool *has_more,
                  struct sr_error *err);

#endif
