/* Which windows a time belongs to: the arithmetic of TUMBLE, HOP and CUMULATE, in milliseconds.
 * (Windows of SESSION are made of their rows: window_session.c.)
 *
 * Time is cut into panes, such that every window is a whole number of them; a row touches the one
 * pane that it lies in. A window is named by its end; ends are slide_ms apart, for ever.
 *
 *   TUMBLE(10)       |---------|---------|     a pane is a window
 *   HOP(5, 10)       |----|----|----|----|     a window ends with each slide; panes of
 *                    '----+----'    .    .       gcd(size, slide) are shared by several windows
 *                         '----+----'    .
 *   CUMULATE(5, 10)  |----|----|----|----|     windows with one start, each a step longer
 *                    '----'    '----'
 *                    '---------'---------'
 *
 * Windows over TIMESTAMP_LTZ are those of a time zone: then the times here are local ones, and
 * window_local and window_trigger lead from and to the time of watermarks and clocks.
 *
 * Times, sizes and offsets are such that nothing here overflows: see window_holds.
 */
#ifndef SR_OPS_WINDOW_H
#define SR_OPS_WINDOW_H

#include "engine/base/arena.h"
#include "engine/base/zone.h"
#include "engine/expr/steps.h"

#define WINDOW_PANES_MAX 100000 /* of one window: a HOP's size by gcd(size, slide) */

struct window {
    enum window_kind kind;
    int64_t size_ms, slide_ms, pane_ms;
    int64_t anchor_ms; /* an end of a window: the offset within a slide */
    struct zone *zone; /* of the caller; NULL: UTC, or times that have no zone */
};

/* SR_ECONFIG for what makes no sense. */
sr_rc window_make(struct window *w, const struct aggregate_step *step, struct sr_error *err);
/* "HOP(slide 5000 ms, size 10000 ms, offset 0 ms)": state of other windows does not fit. */
const char *window_text(struct arena *a, const struct aggregate_step *step);

static inline int64_t window_local(const struct window *w, int64_t ms)
{
    return w->zone ? zone_local_ms(w->zone, ms) : ms;
}

/* The last millisecond of a window: it fires when the watermark is there. An hour that the clock
 * shows twice is over after the second. */
static inline int64_t window_trigger(const struct window *w, int64_t end)
{
    return w->zone ? zone_utc_ms(w->zone, end - 1, true) : end - 1;
}

/* Whether every window that `ms` belongs to can be written as TIMESTAMP. */
bool window_holds(const struct window *w, int64_t ms);
/* End of the pane that `ms` lies in. */
int64_t window_pane_end(const struct window *w, int64_t ms);
/* The first end of a window that is not before `ms`. */
int64_t window_end_from(const struct window *w, int64_t ms);
/* The first window that the pane with this end belongs to and that is not due at `watermark`. */
int64_t window_first_open(const struct window *w, int64_t pane_end, int64_t watermark);
/* The last window that the pane with this end belongs to. */
int64_t window_last_end(const struct window *w, int64_t pane_end);
int64_t window_start(const struct window *w, int64_t end);

#endif
