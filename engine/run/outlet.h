/* The way out of a task: one lane to each receiving subtask, for every edge of its vertex.
 *
 * A view is cut, shared or passed on as its edges say; what a ring will not take waits in its lane.
 * While anything waits the outlet takes nothing: the task stands still, and so back-pressure
 * travels. Watermarks reach every lane, also those that a view had no rows for.
 */
#ifndef SR_RUN_OUTLET_H
#define SR_RUN_OUTLET_H

#include "engine/plan/plan.h"
#include "engine/run/ring.h"

struct sr_home;

/* What waits goes in this order: view, watermark, control. */
struct lane {
    struct ring *ring;
    struct sr_view *view;
    int64_t watermark;  /* SR_WATERMARK_NONE: none waits */
    struct msg control; /* MSG_NONE: none waits */
};

struct outlet_edge {
    const struct plan_edge *edge;
    uint32_t first, lanes; /* in outlet.lane; one lane for SHIP_FORWARD */
    uint32_t turn;         /* SHIP_REBALANCE: the next lane */
};

struct outlet {
    struct sr_home *home;
    uint32_t max_parallelism;
    uint32_t edges, lanes;
    struct outlet_edge *edge;
    struct lane *lane;
    struct sr_view **piece; /* room for a view cut by key */
    bool is_waiting;        /* some lane has something */
};

/* Room for the edges of a vertex, each with `lanes[i]` lanes; rings are set by the caller. */
sr_rc outlet_init(struct outlet *o, uint32_t edges, const uint32_t *lanes, struct sr_error *err);
void outlet_done(struct outlet *o); /* what waits is released */

/* Puts what waits; true: nothing waits any more. */
bool outlet_flush(struct outlet *o);
/* Take a view, a watermark, or another message for every lane. Only while nothing waits. */
sr_rc outlet_view(struct outlet *o, struct sr_view *v, struct sr_error *err); /* takes v, always */
void outlet_watermark(struct outlet *o, int64_t ms);
void outlet_control(struct outlet *o, const struct msg *m);

#endif
