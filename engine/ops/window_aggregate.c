#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ops/emit.h"
#include "engine/ops/moment.h"
#include "engine/ops/ops.h"
#include "engine/ops/window_aggregate.h"

static sr_rc window_check(const struct aggregate_step *step, const struct sr_op_open *o,
                          struct sr_error *err)
{
    const struct sr_field *time = &o->in[0]->field[step->time_column];
    if (!moment_is_time(&time->type)) {
        return error_set(
            err, SR_ECONFIG,
            "column '%s' is no time attribute: that is a TIMESTAMP or TIMESTAMP_LTZ of "
            "at most 3 digits",
            time->name);
    }
    return SR_OK;
}

/* Maps are named after their windows, so that state of others is refused. */
static sr_rc window_maps(struct window_aggregate *w, struct sr_error *err)
{
    struct aggregate *a = &w->base;
    const char *zone = w->window.zone ? a->step->time_zone : "";
    const char *text =
        arena_printf(a->arena, "%s%s%s%s", window_text(a->arena, a->step),
                     a->step->is_proctime ? " by the wall clock" : "", *zone ? " in " : "", zone);
    bool is_hop = w->window.kind == WINDOW_HOP;
    const char *name = arena_printf(a->arena, "%s of %s", is_hop ? "panes" : "groups", text);
    sr_rc rc = aggregate_map(a, name, &a->groups, err);
    w->windows = a->groups;
    if (rc == SR_OK && is_hop) {
        name = arena_printf(a->arena, "windows of %s", text);
        rc = aggregate_map(a, name, &w->windows, err);
    }
    return rc;
}

static sr_rc window_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    struct window_aggregate *w = op;
    const struct aggregate_step *step = o->conf;
    sr_rc rc = window_check(step, o, err);
    if (rc == SR_OK) {
        rc = window_make(&w->window, step, err);
    }
    if (rc == SR_OK && o->in[0]->field[step->time_column].type.kind == SR_TIMESTAMP_LTZ) {
        rc = zone_load(step->time_zone ? step->time_zone : "UTC", &w->window.zone, err);
    }
    static const char *const more[] = {"start", "end", NULL};
    bool is_session = step->window == WINDOW_SESSION;
    if (rc == SR_OK) {
        rc = aggregate_open(&w->base, o, is_session ? more : NULL, err);
    }
    if (rc == SR_OK && is_session) {
        rc = window_session_open(w, o, err);
    }
    if (rc == SR_OK) {
        rc = window_maps(w, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    w->host = o->host;
    w->pane_end = window_pane_end(&w->window, 0);
    return SR_OK;
}

static void window_close(void *op)
{
    struct window_aggregate *w = op;
    window_session_close(w);
    aggregate_close(&w->base);
    zone_free(w->window.zone);
}

/* --- Rows into windows ------------------------------------------------------------------------ */

/* End of the pane that the moment lies in. */
static int64_t window_pane(struct window_aggregate *w, int64_t us)
{
    int64_t ms = window_local(&w->window, moment_ms(us));
    if (ms >= w->pane_end || w->pane_end - ms > w->window.pane_ms) {
        w->pane_end = window_pane_end(&w->window, ms);
    }
    return w->pane_end;
}

/* Why a row has no window; NULL: it has one. */
static const char *window_fault(const struct window_aggregate *w, const struct sr_column *time,
                                uint32_t r)
{
    if (!sr_is_valid(time, r)) {
        return "the time attribute is NULL";
    }
    int64_t ms = moment_ms(((const int64_t *)time->values)[r]);
    if (!window_holds(&w->window, window_local(&w->window, ms))) {
        return "its window lies beyond the range of TIMESTAMP";
    }
    return NULL;
}

/* How many live rows from `from` on come before one without a window. */
static uint32_t window_clean(const struct window_aggregate *w, const struct sr_view *v,
                             uint32_t from)
{
    const struct sr_column *time = v->col[w->base.step->time_column];
    uint32_t i = from;
    while (i < v->picked && !window_fault(w, time, sr_row(v, i))) {
        i++;
    }
    return i - from;
}

/* Reports the rows without a window that stand in front. */
static void window_report(const struct window_aggregate *w, struct sr_op_io *io)
{
    const struct sr_column *time = io->in->col[w->base.step->time_column];
    for (uint32_t i = io->from; i < io->in->picked; i++) {
        uint32_t r = sr_row(io->in, i);
        const char *fault = window_fault(w, time, r);
        if (!fault || !emit_bad(io, r, fault)) {
            break;
        }
        io->used++;
    }
}

/* The windows of a pane that are due by this watermark do not take the row; true: none of them
 * does. *end: where the row is folded in instead of its pane, or the pane. */
static bool window_is_late(const struct window_aggregate *w, int64_t watermark, int64_t *end)
{
    if (watermark >= window_trigger(&w->window, window_last_end(&w->window, *end))) {
        return true;
    }
    if (w->window.kind == WINDOW_CUMULATE) {
        *end = window_first_open(&w->window, *end, watermark);
    }
    return false;
}

/* Keeps in base.row the rows that are in time, and in `end` the namespace that each is folded into;
 * answers how many are late, and which in late_row unless that is NULL. */
static uint32_t window_assign(struct window_aggregate *w, const struct sr_view *v,
                              uint16_t *late_row)
{
    struct aggregate *a = &w->base;
    const int64_t *us = v->col[a->step->time_column]->values;
    uint32_t kept = 0;
    uint32_t late = 0;
    for (uint32_t i = 0; i < a->rows; i++) {
        uint32_t r = a->row[i];
        int64_t end = window_pane(w, us[r]);
        int64_t watermark = window_watermark(w, v, r);
        if (watermark >= window_trigger(&w->window, end) && window_is_late(w, watermark, &end)) {
            if (late_row) {
                late_row[late] = (uint16_t)r;
            }
            late++;
            continue;
        }
        a->row[kept] = (uint16_t)r;
        w->end[kept++] = end;
    }
    a->rows = kept;
    return late;
}

/* All rows into the pane of the wall clock. */
static void window_assign_now(struct window_aggregate *w, struct sr_op_io *io)
{
    struct aggregate *a = &w->base;
    int64_t end = window_pane(w, w->host->wall_us(w->host));
    for (uint32_t i = 0; i < a->rows; i++) {
        w->end[i] = end;
    }
    io->wake_ms = window_trigger(&w->window, window_end_from(&w->window, end)) + 1;
}

static void window_assign_all(struct window_aggregate *w, const struct sr_view *v,
                              struct sr_op_io *io)
{
    if (w->base.step->is_proctime) {
        window_assign_now(w, io);
    } else {
        io->late = window_assign(w, v, io->late_row);
    }
}

/* HOP: each new pane has its next window wait for the watermark. */
static sr_rc window_await(struct window_aggregate *w, const struct sr_view *v)
{
    struct aggregate *a = &w->base;
    uint16_t row[SR_BATCH_ROWS];
    struct sr_map_keys k = {.view = v, .key = a->step->key, .row = row, .namespaces = w->timer};
    for (uint32_t i = 0; i < a->rows; i++) {
        if (a->is_new[i]) {
            row[k.count] = a->row[i];
            w->timer[k.count++] = window_first_open(&w->window, w->end[i], a->state->watermark);
        }
    }
    sr_rc rc = k.count > 0 ? aggregate_add(a, w->windows, &k, w->other, w->flag) : SR_OK;
    for (uint32_t i = 0; i < k.count && rc == SR_OK; i++) {
        rc = a->state->calls->set_timer(w->windows, w->other[i],
                                        window_trigger(&w->window, w->timer[i]));
    }
    return rc;
}

static sr_rc window_fold(struct window_aggregate *w, const struct sr_view *v, struct sr_error *err)
{
    struct aggregate *a = &w->base;
    sr_rc rc = aggregate_groups(a, v, w->end, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (w->window.kind == WINDOW_HOP) {
        rc = window_await(w, v);
    }
    for (uint32_t i = 0; w->window.kind != WINDOW_HOP && i < a->rows && rc == SR_OK; i++) {
        if (a->is_new[i]) {
            rc = a->state->calls->set_timer(a->groups, a->slot[i],
                                            window_trigger(&w->window, w->end[i]));
        }
    }
    rc = aggregate_failed(a, rc, err);
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        struct agg_rows rows = {.slot = a->slot, .row = a->row, .count = a->rows};
        rc = aggregate_fold(a, j, rows, err);
    }
    return rc;
}

/* Takes `count` live rows from io->from on, all of which have a window. */
static sr_rc window_take(struct window_aggregate *w, uint32_t count, struct sr_op_io *io,
                         struct sr_error *err)
{
    struct aggregate *a = &w->base;
    struct sr_view *some = view_slice(a->home, io->in, io->from, count);
    if (!some) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = aggregate_begin(a, some, 0, io, &io->used, err);
    if (rc == SR_OK && window_is_session(w)) {
        rc = window_session_rows(w, some, io, err);
    } else if (rc == SR_OK) {
        window_assign_all(w, some, io);
        rc = window_fold(w, some, err);
    }
    aggregate_end(a);
    view_release(some);
    io->absorbed = io->used - io->late - io->bads;
    return rc;
}

/* Of `count` live rows, how many come before one that must not get into a window that is due by the
 * row's watermark but has not fired; *watermark: that row's. */
static uint32_t window_ready(struct window_aggregate *w, const struct sr_op_io *io, uint32_t count,
                             int64_t *watermark)
{
    const struct sr_view *v = io->in;
    const int64_t *us = v->col[w->base.step->time_column]->values;
    for (uint32_t i = 0; v->watermark && i < count; i++) {
        uint32_t r = sr_row(v, io->from + i);
        int64_t then = window_watermark(w, v, r);
        int64_t pane = window_pane(w, us[r]);
        if (then == w->base.state->watermark || then < window_trigger(&w->window, pane)) {
            continue;
        }
        if (then >= window_trigger(&w->window, window_end_from(&w->window, pane)) &&
            then < window_trigger(&w->window, window_last_end(&w->window, pane))) {
            *watermark = then;
            return i;
        }
    }
    return count;
}

/* Takes rows up to the first that waits for windows to fire, or fires those. */
static sr_rc window_go_on(struct window_aggregate *w, uint32_t clean, struct sr_op_io *io,
                          struct sr_error *err)
{
    int64_t watermark = SR_WATERMARK_NONE;
    bool is_shared = w->window.kind == WINDOW_HOP || w->window.kind == WINDOW_CUMULATE;
    uint32_t count =
        is_shared && !w->base.step->is_proctime ? window_ready(w, io, clean, &watermark) : clean;
    if (count > 0) {
        return window_take(w, count, io, err);
    }
    bool has_more;
    sr_rc rc = window_fire(w, watermark, io, &has_more, err);
    if (rc == SR_OK && !has_more) {
        w->base.state->watermark = watermark;
    }
    return rc;
}

static bool window_is_append(const struct sr_view *v, uint32_t from)
{
    for (uint32_t i = from; v->change && i < v->picked; i++) {
        if (sr_change_of(v, sr_row(v, i)) != SR_INSERT) {
            return false;
        }
    }
    return true;
}

static enum sr_step window_process(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct window_aggregate *w = op;
    if (!window_is_append(io->in, io->from)) {
        (void)error_set(err, SR_ECONFIG,
                        "a window cannot take rows that update or delete earlier ones");
        return SR_STEP_FAILED;
    }
    bool is_proctime = w->base.step->is_proctime;
    uint32_t clean = is_proctime ? io->in->picked - io->from : window_clean(w, io->in, io->from);
    if (clean == 0) {
        window_report(w, io);
    }
    /* Firing what turns out not to be there moves the watermark only: the rows come next. */
    while (clean > 0 && io->used == 0 && !io->out) {
        if (window_go_on(w, clean, io, err) != SR_OK) {
            return SR_STEP_FAILED;
        }
    }
    return io->from + io->used == io->in->picked ? SR_STEP_DONE : SR_STEP_AGAIN;
}

static enum sr_step window_told(void *op, int64_t ms, struct sr_op_io *io, struct sr_error *err)
{
    struct window_aggregate *w = op;
    struct sr_state *state = w->base.state;
    bool has_more;
    if (w->base.step->is_proctime && ms != SR_WATERMARK_END) {
        return SR_STEP_DONE;
    }
    if (window_fire(w, ms, io, &has_more, err) != SR_OK) {
        return SR_STEP_FAILED;
    }
    /* The end of the input is no time: a job that goes on behind it takes new rows. */
    if (ms != SR_WATERMARK_END && ms > state->watermark) {
        state->watermark = ms;
    }
    return has_more ? SR_STEP_AGAIN : SR_STEP_DONE;
}

/* When the first window of those that wait is over. */
static sr_rc window_next_wake(struct window_aggregate *w, int64_t *wake_ms)
{
    const struct sr_state_calls *calls = w->base.state->calls;
    uint32_t slot, count = 0;
    int64_t ms;
    *wake_ms = SR_WAKE_NEVER;
    sr_rc rc = calls->due(w->windows, INT64_MAX, 1, &slot, &ms, &count);
    if (rc == SR_OK && count > 0) {
        rc = calls->set_timer(w->windows, slot, ms); /* only looked at */
        *wake_ms = ms + 1;
    }
    return rc;
}

static enum sr_step window_wake(void *op, int64_t now_ms, struct sr_op_io *io, struct sr_error *err)
{
    struct window_aggregate *w = op;
    bool has_more = false;
    io->wake_ms = SR_WAKE_NEVER;
    if (!w->base.step->is_proctime) {
        return SR_STEP_DONE;
    }
    sr_rc rc = window_fire(w, now_ms - 1, io, &has_more, err);
    if (rc == SR_OK && !has_more) {
        rc = aggregate_failed(&w->base, window_next_wake(w, &io->wake_ms), err);
    }
    if (rc != SR_OK) {
        return SR_STEP_FAILED;
    }
    return has_more ? SR_STEP_AGAIN : SR_STEP_DONE;
}

const struct sr_op_type window_aggregate_type = {
    .size = sizeof(struct sr_op_type),
    .name = "window-aggregate",
    .doc = "Aggregates a group and window, and emits it when the watermark passes the window.",
    .instance_size = sizeof(struct window_aggregate),
    .is_keyed = true,
    .open = window_open,
    .process = window_process,
    .watermark = window_told,
    .close = window_close,
    .wake = window_wake,
};
