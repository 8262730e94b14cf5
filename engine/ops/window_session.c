#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ops/moment.h"
#include "engine/ops/window_aggregate.h"

/* Sessions of a key do not touch, but for those that are over by the watermark of the row at hand
 * and have not fired yet: these take no row any more, and are passed over. So nothing needs to fire
 * in the middle of a batch. */

static uint32_t session_start_column(const struct window_aggregate *w)
{
    return w->base.step->keys;
}

int64_t window_session_start(const struct window_aggregate *w, uint32_t slot)
{
    return *(const int64_t *)sr_map_at(w->windows, slot, session_start_column(w));
}

int64_t window_session_end(const struct window_aggregate *w, uint32_t slot)
{
    return *(const int64_t *)sr_map_at(w->windows, slot, session_start_column(w) + 1);
}

sr_rc window_session_open(struct window_aggregate *w, const struct sr_op_open *o,
                          struct sr_error *err)
{
    struct sr_type type = {.kind = SR_BIGINT};
    struct aggregate *a = &w->base;
    w->col = arena_array(a->arena, (size_t)o->in[0]->fields + 1, sizeof(struct sr_column *));
    w->start = column_new(o->home, &type, SR_BATCH_ROWS);
    if (!w->col || !w->start) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    /* The first of the two columns of aggregate_open is what entries of a key are ordered by. */
    a->def.kind = SR_MAP_ORDERED;
    a->def.sorts = 1;
    a->def.sort = a->def.value++;
    a->def.values--;
    return SR_OK;
}

void window_session_close(struct window_aggregate *w)
{
    column_release(w->start);
    w->start = NULL;
}

/* --- One row ---------------------------------------------------------------------------------- */

struct session_row {
    struct window_aggregate *w;
    struct sr_map_keys key; /* of the row; its start is what is looked for */
    uint32_t sort;
    uint16_t r;
    int64_t ms, end; /* local times: of the row, and of a session of it alone */
    int64_t watermark;
};

static const struct sr_state_calls *session_calls(const struct session_row *s)
{
    return s->w->base.state->calls;
}

static void session_look_for(struct session_row *s, int64_t start)
{
    ((int64_t *)s->w->start->values)[s->r] = start;
}

static bool session_is_over(const struct session_row *s, uint32_t slot)
{
    const struct window_aggregate *w = s->w;
    return window_trigger(&w->window, window_session_end(w, slot)) <= s->watermark;
}

/* The sessions that the row touches: *before begins before it, *behind does not. */
static sr_rc session_find(struct session_row *s, uint32_t *before, uint32_t *behind)
{
    const struct sr_state_calls *calls = session_calls(s);
    struct sr_map *m = s->w->base.groups;
    uint32_t from = SR_SLOT_NONE, prev = SR_SLOT_NONE;
    session_look_for(s, s->ms);
    sr_rc rc = calls->seek(m, &s->key, &from);
    if (rc == SR_OK && from != SR_SLOT_NONE) {
        prev = calls->prev(m, from);
    } else if (rc == SR_OK) {
        struct sr_map_keys key = s->key;
        key.sort = NULL;
        rc = calls->last(m, &key, &prev);
    }
    while (rc == SR_OK && prev != SR_SLOT_NONE && session_is_over(s, prev)) {
        prev = calls->prev(m, prev);
    }
    while (rc == SR_OK && from != SR_SLOT_NONE && session_is_over(s, from)) {
        from = calls->next(m, from);
    }
    bool touches_prev = prev != SR_SLOT_NONE && window_session_end(s->w, prev) >= s->ms;
    bool touches_from = from != SR_SLOT_NONE && window_session_start(s->w, from) <= s->end;
    *before = touches_prev ? prev : SR_SLOT_NONE;
    *behind = touches_from ? from : SR_SLOT_NONE;
    return rc;
}

static sr_rc session_set_end(struct session_row *s, uint32_t slot, int64_t end)
{
    struct sr_map *m = s->w->base.groups;
    uint32_t c = session_start_column(s->w) + 1;
    *(int64_t *)sr_map_at(m, slot, c) = end;
    sr_map_set_null(m, slot, c, false);
    return session_calls(s)->set_timer(m, slot, window_trigger(&s->w->window, end));
}

/* What `from` holds goes into `to`, which then lasts as long as both; `from` is gone. */
static sr_rc session_merge(struct session_row *s, uint32_t to, uint32_t from)
{
    struct aggregate *a = &s->w->base;
    int64_t end = window_session_end(s->w, from), own = window_session_end(s->w, to);
    sr_rc rc = SR_OK;
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        rc = agg_merge(&a->accumulator[j], a->groups, &to, a->groups, &from, 1);
    }
    session_calls(s)->remove(a->groups, &from, 1);
    return rc == SR_OK ? session_set_end(s, to, end > own ? end : own) : rc;
}

/* A session that begins with the row; one that begins behind it goes into it. */
static sr_rc session_begin(struct session_row *s, uint32_t behind, uint32_t *slot)
{
    struct aggregate *a = &s->w->base;
    bool is_new;
    int64_t start = behind != SR_SLOT_NONE ? window_session_start(s->w, behind) : s->ms;
    session_look_for(s, s->ms);
    sr_rc rc = aggregate_add(a, a->groups, &s->key, slot, &is_new);
    if (rc == SR_OK && is_new) {
        rc = session_set_end(s, *slot, s->end);
    }
    if (rc == SR_OK && start != s->ms) {
        session_look_for(s, start); /* adding may have moved it */
        rc = session_calls(s)->find(a->groups, &s->key, &behind);
        sr_assert(rc != SR_OK || behind != SR_SLOT_NONE);
        rc = rc == SR_OK ? session_merge(s, *slot, behind) : rc;
    }
    return rc;
}

/* The session that the row belongs to from now on; SR_SLOT_NONE: it is late. */
static sr_rc session_place(struct session_row *s, uint32_t *slot)
{
    uint32_t before, behind;
    *slot = SR_SLOT_NONE;
    sr_rc rc = session_find(s, &before, &behind);
    if (rc != SR_OK) {
        return rc;
    }
    if (before == SR_SLOT_NONE && behind == SR_SLOT_NONE &&
        window_trigger(&s->w->window, s->end) <= s->watermark) {
        return SR_OK;
    }
    if (before == SR_SLOT_NONE) {
        return session_begin(s, behind, slot);
    }
    *slot = before;
    if (behind != SR_SLOT_NONE) {
        return session_merge(s, before, behind);
    }
    return s->end > window_session_end(s->w, before) ? session_set_end(s, before, s->end) : SR_OK;
}

/* --- The rows of a call ----------------------------------------------------------------------- */

static sr_rc session_fold(struct aggregate *a, uint16_t r, uint32_t slot, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        struct agg_rows rows = {.slot = &slot, .row = &r, .count = 1};
        rc = aggregate_fold(a, j, rows, err);
    }
    return rc;
}

/* The columns of v, and behind them the starts. */
static void session_view(struct window_aggregate *w, const struct sr_view *v)
{
    for (uint32_t c = 0; c < v->cols; c++) {
        w->col[c] = v->col[c];
    }
    w->col[v->cols] = w->start;
    w->start->rows = v->rows;
    w->view.rows = v->rows;
    w->view.col = w->col;
    w->view.cols = v->cols + 1;
}

sr_rc window_session_rows(struct window_aggregate *w, const struct sr_view *v, struct sr_op_io *io,
                          struct sr_error *err)
{
    struct aggregate *a = &w->base;
    bool is_proctime = a->step->is_proctime;
    const int64_t *us = v->col[a->step->time_column]->values;
    int64_t now_us = is_proctime ? w->host->wall_us(w->host) : 0;
    struct session_row s = {.w = w, .sort = v->cols, .watermark = SR_WATERMARK_NONE};
    sr_rc rc = SR_OK;
    session_view(w, v);
    s.key = (struct sr_map_keys){
        .view = &w->view, .key = a->step->key, .sort = &s.sort, .row = &s.r, .count = 1};
    for (uint32_t i = 0; i < a->rows && rc == SR_OK; i++) {
        uint32_t slot;
        s.r = a->row[i];
        s.ms = window_local(&w->window, moment_ms(is_proctime ? now_us : us[s.r]));
        s.end = s.ms + w->window.size_ms;
        s.watermark = is_proctime ? SR_WATERMARK_NONE : window_watermark(w, v, s.r);
        rc = aggregate_failed(a, session_place(&s, &slot), err);
        if (rc == SR_OK && slot != SR_SLOT_NONE) {
            rc = session_fold(a, s.r, slot, err);
        } else if (rc == SR_OK) {
            if (io->late_row) {
                io->late_row[io->late] = s.r;
            }
            io->late++;
        }
    }
    io->wake_ms = is_proctime ? window_trigger(&w->window, s.end) + 1 : 0;
    return rc;
}
