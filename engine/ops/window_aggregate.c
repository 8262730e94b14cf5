#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ops/aggregate.h"
#include "engine/ops/emit.h"
#include "engine/ops/moment.h"
#include "engine/ops/ops.h"

/* GROUP BY a tumbling window: one row a group and window, once the watermark reaches the window's
 * last millisecond.
 *
 *   row -> window [start, end) -> late? counted : folded into the entry (keys, namespace end)
 *                                                  whose timer is end - 1
 *   watermark -> due entries, by window, then in the order of timers -> rows out, entries removed
 *
 * A row is late when the watermark in force as it arrived has reached its window's last millisecond
 * (batch.h): so neither lateness nor what a window holds depends on where a batch was cut. Times
 * are milliseconds; a window starts at ts - floorMod(ts - offset, size). */

/* Windows must begin and end within TIMESTAMP's microseconds. */
#define WINDOW_MS_MIN (INT64_MIN / 1000)
#define WINDOW_MS_MAX (INT64_MAX / 1000)

struct window_aggregate {
    struct aggregate base;
    int64_t size_ms, offset_ms;
    int64_t start_ms; /* of the window of the row before: rows of one window come together */
    int64_t end[SR_BATCH_ROWS]; /* of the running call, by index into base.row */
    int64_t timer[SR_BATCH_ROWS];
};

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
    if (time->type.kind == SR_TIMESTAMP_LTZ && step->time_zone &&
        strcmp(step->time_zone, "UTC") != 0) {
        return error_set(err, SR_ECONFIG,
                         "windows over TIMESTAMP_LTZ column '%s' can be computed in time zone UTC "
                         "only, not in %s",
                         time->name, step->time_zone);
    }
    if (step->size_ms <= 0 || step->size_ms > WINDOW_MS_MAX / 4) {
        return error_set(err, SR_ECONFIG,
                         "the size of a window must be positive and of sane length");
    }
    if (step->offset_ms <= -step->size_ms || step->offset_ms >= step->size_ms) {
        return error_set(err, SR_ECONFIG, "the offset of a window must be shorter than its size");
    }
    return SR_OK;
}

static sr_rc window_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    struct window_aggregate *w = op;
    const struct aggregate_step *step = o->conf;
    sr_rc rc = window_check(step, o, err);
    if (rc == SR_OK) {
        rc = aggregate_open(&w->base, o, false, err);
    }
    if (rc != SR_OK) {
        aggregate_close(&w->base);
        return rc;
    }
    w->size_ms = step->size_ms;
    w->offset_ms = step->offset_ms;
    w->start_ms = step->offset_ms;
    return SR_OK;
}

static void window_close(void *op) { aggregate_close(&((struct window_aggregate *)op)->base); }

/* --- Rows into windows ------------------------------------------------------------------------ */

/* Start of the window that `ms` lies in. Times are within TIMESTAMP, sizes within a quarter of it,
 * so nothing here overflows. */
static int64_t window_start(struct window_aggregate *w, int64_t ms)
{
    if (ms >= w->start_ms && ms - w->start_ms < w->size_ms) {
        return w->start_ms;
    }
    int64_t rest = (ms - w->offset_ms) % w->size_ms;
    w->start_ms = ms - rest - (rest < 0 ? w->size_ms : 0);
    return w->start_ms;
}

/* The watermark in force when row r arrived. */
static int64_t window_watermark(const struct window_aggregate *w, const struct sr_view *v,
                                uint32_t r)
{
    int64_t told = w->base.state->watermark;
    if (!v->watermark) {
        return told;
    }
    int64_t then = ((const int64_t *)(const void *)v->watermark->data)[r];
    return then > told ? then : told;
}

/* Why a row has no window; NULL: it has one. Within a window's length of the ends of TIMESTAMP
 * there is none, so that every start and end can be written. */
static const char *window_fault(const struct window_aggregate *w, const struct sr_column *time,
                                uint32_t r)
{
    if (!sr_is_valid(time, r)) {
        return "the time attribute is NULL";
    }
    int64_t ms = moment_ms(((const int64_t *)time->values)[r]);
    if (ms < WINDOW_MS_MIN + w->size_ms || ms > WINDOW_MS_MAX - w->size_ms) {
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

/* Keeps in base.row the rows that are in time, and the ends of their windows; answers how many are
 * late. */
static uint32_t window_assign(struct window_aggregate *w, const struct sr_view *v,
                              uint16_t *late_row)
{
    struct aggregate *a = &w->base;
    const int64_t *us = v->col[a->step->time_column]->values;
    uint32_t kept = 0;
    uint32_t late = 0;
    for (uint32_t i = 0; i < a->rows; i++) {
        uint32_t r = a->row[i];
        int64_t end = window_start(w, moment_ms(us[r])) + w->size_ms;
        if (window_watermark(w, v, r) >= end - 1) {
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

static sr_rc window_fold(struct window_aggregate *w, const struct sr_view *v, struct sr_error *err)
{
    struct aggregate *a = &w->base;
    sr_rc rc = aggregate_groups(a, v, w->end, err);
    if (rc != SR_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < a->rows && rc == SR_OK; i++) {
        if (a->is_new[i]) {
            rc = a->state->calls->set_timer(a->groups, a->slot[i], w->end[i] - 1);
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
    if (rc == SR_OK) {
        io->late = window_assign(w, some, io->late_row);
        rc = window_fold(w, some, err);
    }
    aggregate_end(a);
    view_release(some);
    io->absorbed = io->used - io->late - io->bads;
    return rc;
}

static enum sr_step window_process(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct window_aggregate *w = op;
    for (uint32_t i = io->from; io->in->change && i < io->in->picked; i++) {
        if (sr_change_of(io->in, sr_row(io->in, i)) != SR_INSERT) {
            (void)error_set(err, SR_ECONFIG,
                            "a window cannot take rows that update or delete earlier ones");
            return SR_STEP_FAILED;
        }
    }
    uint32_t clean = window_clean(w, io->in, io->from);
    if (clean == 0) {
        window_report(w, io);
    } else if (window_take(w, clean, io, err) != SR_OK) {
        return SR_STEP_FAILED;
    }
    return io->from + io->used == io->in->picked ? SR_STEP_DONE : SR_STEP_AGAIN;
}

/* --- Windows into rows ------------------------------------------------------------------------ */

/* Bytes of text in an entry's keys. */
static uint64_t window_text(const struct sr_map *m, uint32_t slot)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < m->keys; k++) {
        if (sr_is_text(m->column[k].type.kind) || sr_is_bytes(m->column[k].type.kind)) {
            uint32_t len;
            (void)m->state->calls->text(m, slot, k, &len);
            bytes += len;
        }
    }
    return bytes;
}

/* Of the entries that are due, those that fit one view; the others get their timers back. */
static sr_rc window_fit(struct window_aggregate *w, uint32_t *count)
{
    struct aggregate *a = &w->base;
    uint64_t bytes = 0;
    uint32_t fit = 0;
    while (fit < *count) {
        bytes += window_text(a->groups, a->slot[fit]);
        if (fit > 0 && bytes > SR_BATCH_BYTES) {
            break;
        }
        fit++;
    }
    sr_rc rc = SR_OK;
    for (uint32_t i = fit; i < *count && rc == SR_OK; i++) {
        rc = a->state->calls->set_timer(a->groups, a->slot[i], w->timer[i]);
    }
    *count = fit;
    return rc;
}

/* window_start, window_end, window_time. */
static void window_bounds(const struct window_aggregate *w, uint32_t count, struct sr_column **col)
{
    int64_t *start = col[0]->values;
    int64_t *end = col[1]->values;
    int64_t *time = col[2]->values;
    for (uint32_t i = 0; i < count; i++) {
        int64_t ms = sr_map_namespace(w->base.groups, w->base.slot[i]);
        start[i] = (ms - w->size_ms) * 1000;
        end[i] = ms * 1000;
        time[i] = (ms - 1) * 1000;
    }
}

static sr_rc window_fill(struct window_aggregate *w, struct sr_view *out)
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
        rc = a->state->calls->get(a->groups, a->slot, out->rows, k, a->home, out->col[k]);
    }
    window_bounds(w, out->rows, &out->col[keys]);
    for (uint32_t j = 0; j < a->step->aggs && rc == SR_OK; j++) {
        struct agg_places p = {a->slot, NULL, out->rows, a->home, out->col[keys + 3 + j]};
        rc = agg_result(&a->accumulator[j], a->groups, &p);
    }
    return rc;
}

static enum sr_step window_fire(void *op, int64_t ms, struct sr_op_io *io, struct sr_error *err)
{
    struct window_aggregate *w = op;
    struct aggregate *a = &w->base;
    uint32_t count = 0;
    /* The end of the input is no time: a job that goes on behind it takes new rows. */
    if (ms != SR_WATERMARK_END && ms > a->state->watermark) {
        a->state->watermark = ms;
    }
    sr_rc rc = a->state->calls->due(a->groups, ms, SR_BATCH_ROWS, a->slot, w->timer, &count);
    if (rc == SR_OK && count == 0) {
        return SR_STEP_DONE;
    }
    uint32_t due = count;
    struct sr_view *out = NULL;
    if (rc == SR_OK) {
        rc = window_fit(w, &count);
    }
    if (rc == SR_OK) {
        out = view_new(a->home, a->out->fields);
        rc = out ? SR_OK : SR_ENOMEM;
    }
    if (rc == SR_OK) {
        out->rows = out->picked = count;
        rc = window_fill(w, out);
    }
    if (rc != SR_OK) {
        view_release(out);
        (void)aggregate_failed(a, rc, err);
        return SR_STEP_FAILED;
    }
    a->state->calls->remove(a->groups, a->slot, count);
    io->out = out;
    return count < due || due == SR_BATCH_ROWS ? SR_STEP_AGAIN : SR_STEP_DONE;
}

const struct sr_op_type window_aggregate_type = {
    .size = sizeof(struct sr_op_type),
    .name = "window-aggregate",
    .doc = "Aggregates a group and window, and emits it when the watermark passes the window.",
    .instance_size = sizeof(struct window_aggregate),
    .is_keyed = true,
    .open = window_open,
    .process = window_process,
    .watermark = window_fire,
    .close = window_close,
};
