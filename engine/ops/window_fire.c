#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ops/emit.h"
#include "engine/ops/window_aggregate.h"

/* Do windows come again when they have fired, as the next one? */
static bool fire_goes_on(const struct window_aggregate *w)
{
    return w->window.kind == WINDOW_HOP || w->window.kind == WINDOW_CUMULATE;
}

static const struct sr_state_calls *fire_calls(const struct window_aggregate *w)
{
    return w->base.state->calls;
}

/* --- What is due ------------------------------------------------------------------------------ */

/* Bytes of text in an entry's keys. */
static uint64_t fire_text(const struct sr_map *m, uint32_t slot)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < m->keys; k++) {
        if (sr_has_bytes(m->column[k].type.kind)) {
            uint32_t len;
            (void)m->state->calls->text(m, slot, k, &len);
            bytes += len;
        }
    }
    return bytes;
}

/* Of the entries that are due, those that fit one view and, but for TUMBLE, are of one end (where
 * clocks change several ends are due at once); the others get their timers back. */
static sr_rc fire_fit(struct window_aggregate *w, uint32_t *count)
{
    struct aggregate *a = &w->base;
    uint64_t bytes = 0;
    uint32_t fit = 0;
    while (fit < *count) {
        bytes += fire_text(w->windows, a->slot[fit]);
        bool is_other = fire_goes_on(w) && sr_map_namespace(w->windows, a->slot[fit]) !=
                                               sr_map_namespace(w->windows, a->slot[0]);
        if (fit > 0 && (bytes > SR_BATCH_BYTES || is_other)) {
            break;
        }
        fit++;
    }
    sr_rc rc = SR_OK;
    for (uint32_t i = fit; i < *count && rc == SR_OK; i++) {
        rc = fire_calls(w)->set_timer(w->windows, a->slot[i], w->timer[i]);
    }
    *count = fit;
    return rc;
}

/* Windows that go on after they fired would come behind later ones of the same call: so only those
 * of one end are taken. */
static sr_rc fire_due(struct window_aggregate *w, int64_t ms, uint32_t *count)
{
    struct aggregate *a = &w->base;
    bool goes_on = fire_goes_on(w);
    uint32_t max = goes_on ? 1 : SR_BATCH_ROWS;
    sr_rc rc = fire_calls(w)->due(w->windows, ms, max, a->slot, w->timer, count);
    if (rc == SR_OK && goes_on && *count > 0) {
        uint32_t more = 0;
        rc = fire_calls(w)->due(w->windows, w->timer[0], SR_BATCH_ROWS - 1, a->slot + 1,
                                w->timer + 1, &more);
        *count += more;
    }
    return rc;
}

/* --- HOP: the panes of a window --------------------------------------------------------------- */

/* The groups of `out` in another map: its first columns are the keys. All in one namespace. */
static void fire_keys(struct window_aggregate *w, const struct sr_view *out, int64_t namespace,
                      uint32_t *key, struct sr_map_keys *k)
{
    for (uint32_t c = 0; c < w->base.step->keys; c++) {
        key[c] = c;
    }
    for (uint32_t i = 0; i < out->rows; i++) {
        w->end[i] = namespace;
    }
    *k = (struct sr_map_keys){.view = out, .key = key, .count = out->rows, .namespaces = w->end};
}

/* Merges the pane that ends at `pane` into the windows of a->slot, and removes it when no later
 * window has it; else their flags say that they go on. */
static sr_rc fire_pane(struct window_aggregate *w, const struct sr_view *out, int64_t end,
                       int64_t pane)
{
    struct aggregate *a = &w->base;
    uint32_t key[SR_MAP_COLUMNS_MAX];
    struct sr_map_keys k;
    fire_keys(w, out, pane, key, &k);
    sr_rc rc = fire_calls(w)->find(a->groups, &k, w->other);
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        rc = agg_merge(&a->accumulator[j], w->windows, a->slot, a->groups, w->other, out->rows);
    }
    bool is_last = window_last_end(&w->window, pane) <= end;
    for (uint32_t i = 0; i < out->rows && rc == SR_OK; i++) {
        if (w->other[i] == SR_SLOT_NONE) {
            continue;
        }
        if (is_last) {
            fire_calls(w)->remove(a->groups, &w->other[i], 1);
        } else {
            w->flag[i] = true;
        }
    }
    return rc;
}

static sr_rc fire_merge(struct window_aggregate *w, const struct sr_view *out, int64_t end)
{
    const struct window *how = &w->window;
    memset(w->flag, 0, out->rows * sizeof(*w->flag));
    sr_rc rc = SR_OK;
    for (int64_t pane = end - how->size_ms + how->pane_ms; pane <= end && rc == SR_OK;
         pane += how->pane_ms) {
        rc = fire_pane(w, out, end, pane);
    }
    return rc;
}

/* The windows that fired are gone; those with panes left are there again, as the next one. */
static sr_rc fire_next(struct window_aggregate *w, const struct sr_view *out, int64_t end)
{
    struct aggregate *a = &w->base;
    uint32_t key[SR_MAP_COLUMNS_MAX];
    struct sr_map_keys k;
    fire_keys(w, out, end + w->window.slide_ms, key, &k);
    k.row = a->row;
    k.count = 0;
    for (uint32_t i = 0; i < out->rows; i++) {
        if (w->flag[i]) {
            a->row[k.count++] = (uint16_t)i;
        }
    }
    sr_rc rc = aggregate_add(a, w->windows, &k, w->other, w->flag);
    for (uint32_t i = 0; i < k.count && rc == SR_OK; i++) {
        rc = fire_calls(w)->set_timer(w->windows, w->other[i],
                                      window_trigger(&w->window, end + w->window.slide_ms));
    }
    return rc;
}

/* --- CUMULATE: an entry goes on as the next longer window ------------------------------------- */

static sr_rc fire_longer(struct window_aggregate *w, const struct sr_view *out, int64_t end)
{
    struct aggregate *a = &w->base;
    int64_t next = end + w->window.slide_ms;
    uint32_t key[SR_MAP_COLUMNS_MAX];
    struct sr_map_keys k;
    fire_keys(w, out, next, key, &k);
    sr_rc rc = fire_calls(w)->find(a->groups, &k, w->other);
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        /* From what fired into the next one, where rows have made it already. */
        uint32_t from[SR_BATCH_ROWS];
        for (uint32_t i = 0; i < out->rows; i++) {
            bool is_there = w->other[i] != SR_SLOT_NONE;
            from[i] = is_there ? a->slot[i] : SR_SLOT_NONE;
        }
        rc = agg_merge(&a->accumulator[j], a->groups, w->other, a->groups, from, out->rows);
    }
    for (uint32_t i = 0; i < out->rows && rc == SR_OK; i++) {
        if (w->other[i] != SR_SLOT_NONE) {
            fire_calls(w)->remove(a->groups, &a->slot[i], 1);
            continue;
        }
        rc = fire_calls(w)->rekey(a->groups, a->slot[i], next);
        if (rc == SR_OK) {
            rc = fire_calls(w)->set_timer(a->groups, a->slot[i], window_trigger(&w->window, next));
        }
    }
    return rc;
}

/* --- Rows out --------------------------------------------------------------------------------- */

/* window_start, window_end, window_time. */
static void fire_bounds(const struct window_aggregate *w, uint32_t count, struct sr_column **col)
{
    int64_t *start = col[0]->values;
    int64_t *end = col[1]->values;
    int64_t *time = col[2]->values;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = w->base.slot[i];
        bool is_session = window_is_session(w);
        int64_t ms = is_session ? window_session_end(w, slot) : sr_map_namespace(w->windows, slot);
        start[i] =
            (is_session ? window_session_start(w, slot) : window_start(&w->window, ms)) * 1000;
        end[i] = ms * 1000;
        time[i] = (w->window.zone ? zone_utc_ms(w->window.zone, ms - 1, false) : ms - 1) * 1000;
    }
}

static sr_rc fire_columns(struct window_aggregate *w, struct sr_view *out)
{
    struct aggregate *a = &w->base;
    uint32_t keys = a->step->keys;
    for (uint32_t c = 0; c < out->cols; c++) {
        out->col[c] = column_new(a->home, &a->out->field[c].type, SR_BATCH_ROWS);
        if (!out->col[c]) {
            return SR_ENOMEM;
        }
        out->col[c]->rows = c < keys ? 0 : out->rows; /* `get` appends */
    }
    sr_rc rc = SR_OK;
    for (uint32_t k = 0; k < keys && rc == SR_OK; k++) {
        rc = fire_calls(w)->get(w->windows, a->slot, out->rows, k, a->home, out->col[k]);
    }
    fire_bounds(w, out->rows, &out->col[keys]);
    return rc;
}

static sr_rc fire_results(struct window_aggregate *w, struct sr_view *out)
{
    struct aggregate *a = &w->base;
    sr_rc rc = SR_OK;
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        struct agg_places p = {a->slot, NULL, out->rows, a->home, out->col[a->step->keys + 3 + j]};
        rc = agg_result(&a->accumulator[j], w->windows, &p);
    }
    return rc;
}

/* Fills `out` from the windows of a->slot, and lets them go or go on. */
static sr_rc fire_view(struct window_aggregate *w, struct sr_view *out)
{
    struct aggregate *a = &w->base;
    int64_t end = sr_map_namespace(w->windows, a->slot[0]);
    bool is_hop = w->window.kind == WINDOW_HOP;
    sr_rc rc = fire_columns(w, out);
    if (rc == SR_OK && is_hop) {
        rc = fire_merge(w, out, end);
    }
    if (rc == SR_OK) {
        rc = fire_results(w, out);
    }
    if (rc != SR_OK) {
        return rc;
    }
    if (w->window.kind == WINDOW_CUMULATE && end < window_last_end(&w->window, end)) {
        return fire_longer(w, out, end);
    }
    fire_calls(w)->remove(w->windows, a->slot, out->rows);
    return is_hop ? fire_next(w, out, end) : SR_OK;
}

sr_rc window_fire(struct window_aggregate *w, int64_t ms, struct sr_op_io *io, bool *has_more,
                  struct sr_error *err)
{
    struct aggregate *a = &w->base;
    uint32_t count = 0;
    struct sr_view *out = NULL;
    sr_rc rc = fire_due(w, ms, &count);
    *has_more = count > 0 && (fire_goes_on(w) || count == SR_BATCH_ROWS);
    if (rc == SR_OK && count > 0) {
        uint32_t due = count;
        rc = fire_fit(w, &count);
        *has_more = *has_more || count < due;
        out = rc == SR_OK ? view_new(a->home, a->out->fields) : NULL;
        rc = rc == SR_OK && !out ? SR_ENOMEM : rc;
    }
    if (out) {
        out->rows = out->picked = count;
        rc = fire_view(w, out);
    }
    if (rc != SR_OK) {
        view_release(out);
        return aggregate_failed(a, rc, err);
    }
    io->out = out;
    return SR_OK;
}
