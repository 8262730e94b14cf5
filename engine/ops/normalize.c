#include <stdlib.h>
#include <streamrun/state.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/expr/steps.h"
#include "engine/ops/emit.h"
#include "engine/ops/ops.h"

/* The last row of each key, of a stream in which a row replaces the one of its key, or deletes it
 * and says no more than the key (upsert-kafka). What comes out has whole rows before and after:
 *
 *   a key that was not there   +I           the same row again   nothing
 *   one that was               -U, +U       deleted              -D with the row that was
 *                                           deleted, not there   nothing
 */

#define NORMALIZE_ROWS (SR_BATCH_ROWS / 2) /* each can give two rows */

struct normalize {
    const struct aggregate_step *step;
    const struct sr_schema *out;
    struct sr_state *state;
    struct sr_home *home;
    struct sr_map *rows;
    uint32_t there; /* column of the map: 1 while the key has a row */
    uint32_t slot[NORMALIZE_ROWS];
    uint16_t row[NORMALIZE_ROWS];
    bool is_new[NORMALIZE_ROWS];
};

static sr_rc normalize_open(void *op, const struct sr_op_open *o, struct sr_error *err)
{
    struct normalize *n = op;
    const struct aggregate_step *s = o->conf;
    n->step = s;
    n->out = o->out;
    n->state = o->state;
    n->home = o->home;
    n->there = s->keys;
    struct sr_field *field = calloc((size_t)s->keys + s->aggs + 1, sizeof(*field));
    if (!field) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    for (uint32_t k = 0; k < s->keys; k++) {
        field[k] = o->in[0]->field[s->key[k]];
    }
    field[s->keys] = (struct sr_field){"(there)", {.kind = SR_TINYINT, .is_nullable = true}};
    for (uint32_t i = 0; i < s->aggs; i++) {
        field[s->keys + 1 + i] = o->out->field[s->keys + i];
        field[s->keys + 1 + i].type.is_nullable = true;
    }
    struct sr_map_def def = {.size = sizeof(def),
                             .name = "rows",
                             .kind = SR_MAP_VALUE,
                             .keys = s->keys,
                             .key = field,
                             .values = s->aggs + 1,
                             .value = field + s->keys};
    sr_rc rc = n->state->calls->map(n->state, &def, &n->rows, err);
    free(field);
    return rc;
}

static void normalize_close(void *op) { (void)op; }

static int8_t *normalize_there(struct normalize *n, uint32_t slot)
{
    return sr_map_at(n->rows, slot, n->there);
}

/* The row of an entry as it is now, behind those of `out`. */
static sr_rc normalize_append(struct normalize *n, uint32_t slot, enum sr_change change,
                              struct sr_view *out)
{
    sr_rc rc = SR_OK;
    out->change->data[out->rows] = (uint8_t)change;
    for (uint32_t c = 0; c < n->out->fields && rc == SR_OK; c++) {
        uint32_t from = c < n->step->keys ? c : c + 1;
        rc = n->state->calls->get(n->rows, &slot, 1, from, n->home, out->col[c]);
    }
    out->rows++;
    return rc;
}

static sr_rc normalize_store(struct normalize *n, uint32_t slot, const struct sr_view *in,
                             uint16_t row)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < n->step->aggs && rc == SR_OK; i++) {
        const struct sr_column *from = in->col[n->step->agg[i].arg->column];
        rc = n->state->calls->put(n->rows, &slot, 1, n->there + 1 + i, from, &row);
    }
    *normalize_there(n, slot) = 1;
    sr_map_set_null(n->rows, slot, n->there, false);
    return rc;
}

static bool normalize_is_same(const struct sr_view *out, uint32_t before, uint32_t after)
{
    for (uint32_t c = 0; c < out->cols; c++) {
        bool is_nested = sr_is_nested(out->col[c]->type.kind);
        if (is_nested || !emit_same(out->col[c], before, after)) {
            return false;
        }
    }
    return true;
}

/* One row of the input; those that come of it are picked. */
static sr_rc normalize_one(struct normalize *n, uint32_t slot, const struct sr_view *in,
                           uint16_t row, struct sr_view *out)
{
    enum sr_change change = sr_change_of(in, row);
    bool is_there = *normalize_there(n, slot) == 1;
    if (change == SR_UPDATE_BEFORE || (change == SR_DELETE && !is_there)) {
        return SR_OK;
    }
    uint32_t first = out->rows;
    sr_rc rc = SR_OK;
    if (is_there) {
        rc = normalize_append(n, slot, change == SR_DELETE ? SR_DELETE : SR_UPDATE_BEFORE, out);
    }
    if (change == SR_DELETE) {
        *normalize_there(n, slot) = 0;
    } else if (rc == SR_OK) {
        rc = normalize_store(n, slot, in, row);
        rc = rc == SR_OK ? normalize_append(n, slot, is_there ? SR_UPDATE_AFTER : SR_INSERT, out)
                         : rc;
    }
    bool is_same =
        rc == SR_OK && out->rows == first + 2 && normalize_is_same(out, first, first + 1);
    for (uint32_t r = first; r < out->rows && !is_same; r++) {
        out->sel_space[out->picked++] = (uint16_t)r;
    }
    return rc;
}

/* Entries of keys that have no row any more are let go, each once. */
static void normalize_forget(struct normalize *n, uint32_t count)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < count; i++) {
        int8_t *there = normalize_there(n, n->slot[i]);
        if (*there == 0) {
            *there = -1;
            n->slot[gone++] = n->slot[i];
        }
    }
    n->state->calls->remove(n->rows, n->slot, gone);
}

static sr_rc normalize_rows(struct normalize *n, const struct sr_op_io *io, uint32_t count,
                            struct sr_view *out)
{
    for (uint32_t i = 0; i < count; i++) {
        n->row[i] = (uint16_t)sr_row(io->in, io->from + i);
    }
    struct sr_map_keys keys = {.view = io->in, .key = n->step->key, .row = n->row, .count = count};
    sr_rc rc = n->state->calls->find_or_add(n->rows, &keys, n->slot, n->is_new);
    if (rc != SR_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < count && rc == SR_OK; i++) {
        rc = normalize_one(n, n->slot[i], io->in, n->row[i], out);
    }
    normalize_forget(n, count);
    return rc;
}

/* An empty view for what comes out. NULL: out of memory. */
static struct sr_view *normalize_view(const struct normalize *n)
{
    struct sr_view *out = view_new(n->home, n->out->fields);
    bool is_short = !out;
    for (uint32_t c = 0; !is_short && c < n->out->fields; c++) {
        out->col[c] = column_new(n->home, &n->out->field[c].type, SR_BATCH_ROWS);
        is_short = !out->col[c];
    }
    if (!is_short) {
        out->change = buffer_new(n->home, SR_BATCH_ROWS);
        is_short = !out->change;
    }
    if (is_short) {
        view_release(out);
        return NULL;
    }
    out->sel = out->sel_space;
    return out;
}

static enum sr_step normalize_process(void *op, struct sr_op_io *io, struct sr_error *err)
{
    struct normalize *n = op;
    uint32_t left = io->in->picked - io->from;
    uint32_t count = left < NORMALIZE_ROWS ? left : NORMALIZE_ROWS;
    struct sr_view *out = normalize_view(n);
    sr_rc rc = out ? normalize_rows(n, io, count, out) : SR_ENOMEM;
    for (uint32_t c = 0; rc == SR_OK && c < n->out->fields; c++) {
        sr_assert(out->col[c]->rows == out->rows);
        rc = column_finish(n->home, out->col[c], out->rows) ? SR_OK : SR_ENOMEM;
    }
    if (rc != SR_OK) {
        view_release(out);
        (void)error_set(err, rc, "the state of %llu keys cannot be kept: %s",
                        (unsigned long long)n->rows->entries, rc_words(rc));
        return SR_STEP_FAILED;
    }
    io->used = count;
    io->absorbed = count;
    (void)emit_end(io, out);
    return count == left ? SR_STEP_DONE : SR_STEP_AGAIN;
}

const struct sr_op_type normalize_type = {
    .size = sizeof(struct sr_op_type),
    .name = "normalize",
    .doc = "Keeps the last row of each key: upserts become changes that have whole rows.",
    .instance_size = sizeof(struct normalize),
    .is_keyed = true,
    .open = normalize_open,
    .process = normalize_process,
    .close = normalize_close,
};
