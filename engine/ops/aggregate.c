#include "engine/ops/aggregate.h"

#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/data/schema.h"

#define AGGREGATE_NONE UINT32_MAX

sr_rc aggregate_failed(const struct aggregate *a, sr_rc rc, struct sr_error *err)
{
    if (rc == SR_OK) {
        return SR_OK;
    }
    return error_set(err, rc, "the state of %llu groups cannot be kept: %s",
                     (unsigned long long)a->groups->entries, rc_words(rc));
}

/* Arguments, then filters, become one program, so that they share what they have in common. */
static sr_rc aggregate_compile(struct aggregate *a, const struct sr_op_open *o,
                               struct sr_error *err)
{
    const struct aggregate_step *s = a->step;
    const struct expr **out = arena_array(a->arena, (size_t)s->aggs * 2 + 1, sizeof(void *));
    a->arg = arena_array(a->arena, s->aggs + 1, sizeof(*a->arg));
    a->filter = arena_array(a->arena, s->aggs + 1, sizeof(*a->filter));
    a->input = arena_array(a->arena, (size_t)s->aggs * 2 + 1, sizeof(void *));
    if (arena_is_broken(a->arena)) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < s->aggs; i++) {
        a->arg[i] = s->agg[i].arg ? a->inputs : AGGREGATE_NONE;
        if (s->agg[i].arg) {
            out[a->inputs++] = s->agg[i].arg;
        }
        a->filter[i] = s->agg[i].filter ? a->inputs : AGGREGATE_NONE;
        if (s->agg[i].filter) {
            out[a->inputs++] = s->agg[i].filter;
        }
    }
    if (a->inputs == 0) {
        return SR_OK;
    }
    struct program_conf conf = {
        .in = o->in[0], .out = out, .outs = a->inputs, .time_zone = s->time_zone, .host = o->host};
    return program_new(&a->program, &conf, err);
}

static sr_rc aggregate_declare(struct aggregate *a, const struct sr_op_open *o,
                               const char *const *more, struct sr_error *err)
{
    const struct aggregate_step *s = a->step;
    size_t room = (size_t)s->keys + (size_t)s->aggs * 2 + AGGREGATE_MORE_MAX;
    struct agg_fields f = {.arena = a->arena,
                           .field = arena_array(a->arena, room, sizeof(struct sr_field))};
    bool *is_zero = arena_array(a->arena, room, sizeof(*is_zero));
    a->accumulator = arena_array(a->arena, s->aggs + 1, sizeof(*a->accumulator));
    if (!f.field || !a->accumulator || !is_zero) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    for (uint32_t k = 0; k < s->keys; k++) {
        f.field[f.count++] = o->in[0]->field[s->key[k]];
    }
    for (uint32_t i = 0; more && more[i]; i++) {
        sr_assert(i < AGGREGATE_MORE_MAX);
        f.field[f.count++] = (struct sr_field){more[i], type_of(SR_BIGINT)};
    }
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < s->aggs && rc == SR_OK; i++) {
        rc = agg_declare(&f, &s->agg[i], i + 1, &a->accumulator[i], err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < s->aggs; i++) {
        agg_mark_zero(&a->accumulator[i], s->keys, is_zero);
    }
    a->def = (struct sr_map_def){.size = sizeof(a->def),
                                 .kind = SR_MAP_VALUE,
                                 .keys = s->keys,
                                 .key = f.field,
                                 .values = f.count - s->keys,
                                 .value = f.field + s->keys,
                                 .value_begins_at_zero = is_zero};
    return SR_OK;
}

sr_rc aggregate_map(const struct aggregate *a, const char *name, struct sr_map **out,
                    struct sr_error *err)
{
    if (!name) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    struct sr_map_def def = a->def;
    def.name = name;
    return a->state->calls->map(a->state, &def, out, err);
}

sr_rc aggregate_open(struct aggregate *a, const struct sr_op_open *o, const char *const *more,
                     struct sr_error *err)
{
    sr_assert(o->state != NULL);
    a->step = o->conf;
    a->home = o->home;
    a->state = o->state;
    a->out = o->out;
    a->arena = arena_new();
    if (!a->arena) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = aggregate_compile(a, o, err);
    if (rc == SR_OK) {
        rc = aggregate_declare(a, o, more, err);
    }
    return rc;
}

void aggregate_close(struct aggregate *a)
{
    program_free(a->program);
    arena_free(a->arena);
    a->program = NULL;
    a->arena = NULL;
}

sr_rc aggregate_begin(struct aggregate *a, const struct sr_view *v, uint32_t from,
                      struct sr_op_io *io, uint32_t *used, struct sr_error *err)
{
    if (!a->program) {
        a->rows = v->picked - from;
        for (uint32_t i = 0; i < a->rows; i++) {
            a->row[i] = (uint16_t)sr_row(v, from + i);
        }
        *used = a->rows;
        return SR_OK;
    }
    struct program_result r = {.col = a->input, .bad = io->bad};
    sr_rc rc = program_run(a->program, a->home, v, from, &r, err);
    if (rc != SR_OK) {
        return rc;
    }
    a->rows = r.picked;
    for (uint32_t i = 0; i < r.picked; i++) {
        a->row[i] = r.sel ? r.sel[i] : (uint16_t)i;
    }
    io->bads = r.bads;
    *used = r.used;
    return SR_OK;
}

void aggregate_end(struct aggregate *a)
{
    for (uint32_t i = 0; i < a->inputs; i++) {
        column_release(a->input[i]);
        a->input[i] = NULL;
    }
}

sr_rc aggregate_add(const struct aggregate *a, struct sr_map *m, const struct sr_map_keys *k,
                    uint32_t *slot, bool *is_new)
{
    sr_rc rc = a->state->calls->find_or_add(m, k, slot, is_new);
    for (uint32_t i = 0; i < k->count && rc == SR_OK; i++) {
        for (uint32_t j = 0; is_new[i] && j < a->step->aggs; j++) {
            agg_clear(&a->accumulator[j], m, slot[i]);
        }
    }
    return rc;
}

sr_rc aggregate_groups(struct aggregate *a, const struct sr_view *v, const int64_t *namespaces,
                       struct sr_error *err)
{
    struct sr_map_keys k = {
        .view = v, .key = a->step->key, .row = a->row, .count = a->rows, .namespaces = namespaces};
    return aggregate_failed(a, aggregate_add(a, a->groups, &k, a->slot, a->is_new), err);
}

sr_rc aggregate_fold(struct aggregate *a, uint32_t i, struct agg_rows rows, struct sr_error *err)
{
    int8_t sign[SR_BATCH_ROWS];
    sr_assert(rows.count <= SR_BATCH_ROWS);
    rows.arg = a->arg[i] != AGGREGATE_NONE ? a->input[a->arg[i]] : NULL;
    if (a->filter[i] != AGGREGATE_NONE) {
        const struct sr_column *filter = a->input[a->filter[i]];
        const uint8_t *is_true = filter->values;
        for (uint32_t n = 0; n < rows.count; n++) {
            bool counts = sr_is_valid(filter, rows.row[n]) && is_true[rows.row[n]];
            sign[n] = (int8_t)(counts ? (rows.sign ? rows.sign[n] : 1) : 0);
        }
        rows.sign = sign;
    }
    return aggregate_failed(a, agg_fold(&a->accumulator[i], a->groups, &rows), err);
}
