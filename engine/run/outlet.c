#include "engine/run/outlet.h"

#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/data/split.h"

sr_rc outlet_init(struct outlet *o, uint32_t edges, const uint32_t *lanes, struct sr_error *err)
{
    sr_assert(edges > 0);
    uint32_t sum = 0;
    uint32_t most = 0;
    *o = (struct outlet){.edges = edges};
    o->edge = calloc(edges, sizeof(*o->edge));
    if (!o->edge) return error_set(err, SR_ENOMEM, "out of memory for %u edges", edges);
    for (uint32_t i = 0; i < edges; i++) {
        sr_assert(lanes[i] > 0);
        o->edge[i].first = sum;
        o->edge[i].lanes = lanes[i];
        sum += lanes[i];
        if (lanes[i] > most) most = lanes[i];
    }
    o->lane = calloc(sum, sizeof(*o->lane));
    o->piece = calloc(most, sizeof(struct sr_view *));
    if (!o->lane || !o->piece) return error_set(err, SR_ENOMEM, "out of memory for %u lanes", sum);
    o->lanes = sum;
    for (uint32_t i = 0; i < sum; i++) {
        o->lane[i].watermark = SR_WATERMARK_NONE;
    }
    return SR_OK;
}

void outlet_done(struct outlet *o)
{
    for (uint32_t i = 0; i < o->lanes; i++) {
        view_release(o->lane[i].view);
    }
    free(o->piece);
    free(o->lane);
    free(o->edge);
    *o = (struct outlet){.edges = 0};
}

static bool lane_flush(struct lane *l)
{
    if (l->view) {
        if (!ring_put(l->ring, &(struct msg){.kind = MSG_VIEW, .view = l->view})) return false;
        l->view = NULL;
    }
    if (l->watermark != SR_WATERMARK_NONE) {
        struct msg m = {.kind = MSG_WATERMARK, .watermark = l->watermark};
        if (!ring_put(l->ring, &m)) return false;
        l->watermark = SR_WATERMARK_NONE;
    }
    if (l->control.kind != MSG_NONE) {
        if (!ring_put(l->ring, &l->control)) return false;
        l->control.kind = MSG_NONE;
    }
    return true;
}

bool outlet_flush(struct outlet *o)
{
    if (!o->is_waiting) return true;
    bool is_empty = true;
    for (uint32_t i = 0; i < o->lanes; i++) {
        if (!lane_flush(&o->lane[i])) is_empty = false;
    }
    o->is_waiting = !is_empty;
    return is_empty;
}

static void outlet_edge_forward(const struct outlet *o, const struct outlet_edge *e,
                                struct sr_view *v)
{
    sr_assert(e->lanes == 1);
    o->lane[e->first].view = v;
}

/* One lane gets the rows, the others learn how far time has gone. */
static void outlet_edge_rebalance(const struct outlet *o, struct outlet_edge *e, struct sr_view *v)
{
    int64_t ms = v->watermark_end;
    sr_assert(e->lanes > 0);
    for (uint32_t i = 0; i < e->lanes; i++) {
        struct lane *l = &o->lane[e->first + i];
        if (i == e->turn) {
            l->view = v;
        } else {
            l->watermark = ms;
        }
    }
    e->turn = (e->turn + 1) % e->lanes;
}

static sr_rc outlet_edge_hash(const struct outlet *o, const struct outlet_edge *e,
                              struct sr_view *v, struct sr_error *err)
{
    int64_t ms = v->watermark_end;
    struct split s = {e->edge->key, e->edge->keys, o->max_parallelism, e->lanes};
    sr_rc rc = split_by_key(o->home, v, &s, o->piece, err);
    if (rc != SR_OK) return rc;
    for (uint32_t i = 0; i < e->lanes; i++) {
        struct lane *l = &o->lane[e->first + i];
        l->view = o->piece[i];
        if (!l->view) {
            l->watermark = ms;
        }
    }
    return SR_OK;
}

static sr_rc outlet_edge_view(struct outlet *o, struct outlet_edge *e, struct sr_view *v,
                              struct sr_error *err)
{
    sr_rc rc = SR_OK;
    switch (e->edge->ship) {
    case SHIP_FORWARD:
        outlet_edge_forward(o, e, v);
        break;
    case SHIP_REBALANCE:
        outlet_edge_rebalance(o, e, v);
        break;
    case SHIP_HASH:
        rc = outlet_edge_hash(o, e, v, err);
        break;
    }
    return rc;
}

sr_rc outlet_view(struct outlet *o, struct sr_view *v, struct sr_error *err)
{
    sr_assert(!o->is_waiting);
    o->is_waiting = true;
    for (uint32_t i = 0; i < o->edges; i++) {
        struct sr_view *own = v;
        if (i + 1 < o->edges) {
            own = view_share(o->home, v);
            if (!own) {
                view_release(v);
                return error_set(err, SR_ENOMEM, "out of memory for a batch");
            }
        }
        sr_rc rc = outlet_edge_view(o, &o->edge[i], own, err);
        if (rc != SR_OK) {
            if (own != v) view_release(v);
            return rc;
        }
    }
    (void)outlet_flush(o);
    return SR_OK;
}

void outlet_watermark(struct outlet *o, int64_t ms)
{
    sr_assert(!o->is_waiting);
    sr_assert(ms != SR_WATERMARK_NONE);
    o->is_waiting = true;
    for (uint32_t i = 0; i < o->lanes; i++) {
        o->lane[i].watermark = ms;
    }
    (void)outlet_flush(o);
}

void outlet_control(struct outlet *o, const struct msg *m)
{
    sr_assert(!o->is_waiting);
    o->is_waiting = true;
    for (uint32_t i = 0; i < o->lanes; i++) {
        o->lane[i].control = *m;
    }
    (void)outlet_flush(o);
}
