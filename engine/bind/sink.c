#include <string.h>

#include "engine/base/assert.h"
#include "engine/bind/binder.h"
#include "engine/data/schema.h"

/* What it can write beside the value; NULL: nothing. */
static const struct sr_metadata *sink_writes(const struct sr_sink_type *type)
{
    bool is_older = type->size <= offsetof(struct sr_sink_type, metadata);
    return is_older ? NULL : type->metadata;
}

static int32_t sink_metadata_of(const struct sr_sink_type *type, const char *key)
{
    const struct sr_metadata *m = sink_writes(type);
    for (int32_t i = 0; m && m[i].name; i++) {
        if (strcmp(m[i].name, key) == 0) {
            return i;
        }
    }
    return -1;
}

static void sink_no_metadata(struct binder *b, const struct bound *s, const struct columns *c,
                             uint32_t i, const char *key)
{
    const struct sr_sink_type *type = s->step->sink;
    const struct sr_metadata *m = sink_writes(type);
    const char *list = m ? "there is: " : "leave it out of the sink's schema";
    for (uint32_t k = 0; m && m[k].name; k++) {
        list = arena_printf(b->arena, "%s%s%s", list ? list : "", k > 0 ? ", " : "", m[k].name);
    }
    bind_fault(b, c->text[i], c->at[i], list,
               "SR0605: column '%s': sink '%s' (%s) writes no metadata '%s'", c->field[i].name,
               s->step->name.text, type->name, key);
}

/* Column i as metadata that the sink writes, in the type that this has. NULL: a fault was added. */
static const struct expr *sink_metadata(struct binder *b, const struct bound *s,
                                        const struct columns *c, uint32_t i, const struct expr *as)
{
    const struct ast *n = c->metadata[i];
    const char *key = n->count > 1 ? n->item[1]->name : c->field[i].name;
    int32_t found = sink_metadata_of(s->step->sink, key);
    struct sr_error err = {0};
    if (found < 0) {
        sink_no_metadata(b, s, c, i, key);
        return NULL;
    }
    if (n->unit_to) {
        bind_fault(b, c->text[i], c->at[i], "leave out VIRTUAL, or the column",
                   "SR0605: column '%s': what is VIRTUAL is only read", c->field[i].name);
        return NULL;
    }
    struct sr_type to = s->step->sink->metadata[found].type;
    bool is_same = type_equal(&as->type, &to, false);
    const struct expr *cast = is_same ? as : expr_cast(b->arena, as, &to, false, &err);
    if (!cast) {
        bind_fault(b, c->text[i], c->at[i], NULL, "SR0605: column '%s': '%s' is %s, not %s (%s)",
                   c->field[i].name, key, type_text(b->arena, &to), type_text(b->arena, &as->type),
                   err.words);
    }
    c->written[i] = found;
    return cast;
}

/* One declared column of the sink, from the input's column of that name. */
static bool sink_column(struct binder *b, const struct bound *s, struct select *l,
                        const struct columns *c, uint32_t i)
{
    const char *name = c->field[i].name;
    int32_t found = schema_find(l->in, name);
    if (c->computed[i]) {
        bind_fault(b, c->text[i], c->at[i], "compute it in a transform",
                   "SR0604: column '%s': a sink has no computed columns", name);
        return false;
    }
    if (found < 0) {
        bind_fault(b, c->text[i], c->at[i], "columns go to a sink by name",
                   "SR0604: column '%s' of sink '%s' is not among its input's", name,
                   s->step->name.text);
        return false;
    }
    const struct expr *e = expr_column(b->arena, l->in, (uint32_t)found);
    struct sr_error err = {0};
    struct sr_type to = c->field[i].type;
    to.is_nullable = true; /* NOT NULL is the target's to enforce */
    const struct expr *as = e ? expr_coerce(b->arena, e, &to, &err) : NULL;
    if (!as) {
        bind_fault(b, c->text[i], c->at[i],
                   arena_printf(b->arena, "CAST(%s AS %s) in a transform", name,
                                type_text(b->arena, &c->field[i].type)),
                   "SR0604: column '%s' of sink '%s' is declared %s, its input has %s", name,
                   s->step->name.text, type_text(b->arena, &c->field[i].type),
                   type_text(b->arena, &l->in->field[found].type));
        return false;
    }
    as = c->metadata[i] ? sink_metadata(b, s, c, i, as) : as;
    if (!as) {
        return false;
    }
    select_put(l, name, as, c->text[i], c->at[i]);
    return true;
}

static bool sink_extra(struct binder *b, const struct bound *s, const struct select *l,
                       const struct columns *c)
{
    bool is_good = true;
    for (uint32_t i = 0; i < l->in->fields; i++) {
        bool is_declared = false;
        for (uint32_t k = 0; k < c->count; k++) {
            is_declared = is_declared || strcmp(c->field[k].name, l->in->field[i].name) == 0;
        }
        if (!is_declared) {
            bind_fault(b, &s->step->name, 0, "declare it, or leave it out by `select`",
                       "SR0604: column '%s' of its input is not in the schema of sink '%s'",
                       l->in->field[i].name, s->step->name.text);
            is_good = false;
        }
    }
    return is_good;
}

/* The calc in front of the sink: its declared columns, or all of the input. NULL with faults. */
static struct logic *sink_columns(struct binder *b, struct bound *s, struct logic *input,
                                  const struct columns *c)
{
    if (c->count == 0) {
        return logic_add_identity(b->graph, s->step, input);
    }
    struct select l = {.binder = b, .in = input->out};
    bool is_good = true;
    for (uint32_t i = 0; i < c->count; i++) {
        is_good = sink_column(b, s, &l, c, i) && is_good;
    }
    is_good = sink_extra(b, s, &l, c) && is_good;
    return is_good ? select_calc(&l, s->step, input, NULL) : NULL;
}

/* The columns that the value's format does not see: those that the sink writes in a way of its own,
 * and those that are in the key alone. */
static bool sink_left_out(struct binder *b, const struct logic *n, bool *left_out)
{
    const struct job_step *step = n->step;
    bool *is_key = arena_array(b->arena, n->out->fields + 1u, sizeof(*is_key));
    if (!is_key) {
        return bind_no_memory(b);
    }
    if (SR_HAS_FIELD(step->sink, struct sr_sink_type, leave_out) && step->sink->leave_out) {
        step->sink->leave_out(step->conf, n->out, left_out);
    }
    if (!keyed_find(b, step, n->out, is_key)) {
        return false;
    }
    for (uint32_t i = 0; i < n->out->fields; i++) {
        bool is_written = n->written && n->written[i] >= 0;
        left_out[i] = left_out[i] || is_written || (step->value_except_key && is_key[i]);
        if (is_written && is_key[i]) {
            bind_fault_at(b, step->key_format_at, NULL,
                          "SR0610: column '%s' is METADATA, and cannot be in the key too",
                          n->out->field[i].name);
            return false;
        }
    }
    return true;
}

/* What is in the key, and what in the value. NULL: faults added. */
static const struct plan_keyed *sink_keyed(struct binder *b, const struct logic *n)
{
    const struct job_step *step = n->step;
    struct sr_field *field = arena_array(b->arena, n->out->fields + 1u, sizeof(*field));
    uint32_t *column = arena_array(b->arena, n->out->fields + 1u, sizeof(*column));
    bool *left_out = arena_array(b->arena, n->out->fields + 1u, sizeof(*left_out));
    if (!field || !column || !left_out) {
        (void)bind_no_memory(b);
        return NULL;
    }
    if (!sink_left_out(b, n, left_out)) {
        return NULL;
    }
    struct plan_keyed *k =
        step->key_format ? keyed_make(b, step, n->out) : arena_get(b->arena, sizeof(*k));
    if (!k) {
        return step->key_format ? NULL : (bind_no_memory(b), NULL);
    }
    k->value = (struct sr_schema){.field = field, .rowtime = -1}; /* nor has a format any keys */
    for (uint32_t i = 0; i < n->out->fields; i++) {
        if (!left_out[i]) {
            column[k->value.fields] = i;
            field[k->value.fields++] = n->out->field[i];
        }
    }
    k->how.value = &k->value;
    k->how.value_column = column;
    k->how.metadata = n->written;
    return k;
}

static bool sink_check_format(struct binder *b, struct logic *n)
{
    const struct job_step *step = n->step;
    struct sr_error err = {0};
    if (n->sink_caps.makes_rows) {
        if (step->format) {
            bind_fault_at(b, step->format_at, NULL,
                          "SR0608: connector '%s' writes rows itself, it takes no format",
                          step->sink->name);
            return false;
        }
        return true;
    }
    if (!step->format) {
        bind_fault_at(b, bind_connector_place(step), "format: csv, json or raw",
                      "SR0608: sink '%s' needs a format: connector '%s' writes bytes",
                      step->name.text, step->sink->name);
        return false;
    }
    if (step->format->encoder_size == 0) {
        bind_fault_at(b, step->format_at, NULL, "SR0608: format '%s' cannot write",
                      step->format->name);
        return false;
    }
    n->keyed = sink_keyed(b, n);
    if (!n->keyed) {
        return false;
    }
    const struct sr_schema *seen =
        n->keyed->value.fields < n->out->fields ? &n->keyed->value : n->out;
    if (step->format->check &&
        step->format->check(step->format_conf, seen, true, &n->format_flags, &err) != SR_OK) {
        bind_fault_at(b, step->format_at, NULL, "SR0609: format '%s': %s", step->format->name,
                      err.words);
        return false;
    }
    if ((n->format_flags & SR_FORMAT_MESSAGES) != 0 && !n->sink_caps.frames &&
        !step->sink->has_keys) {
        bind_no_frames(b, step, step->sink->name);
        return false;
    }
    return true;
}

static bool sink_check_changes(struct binder *b, const struct logic *n)
{
    const struct job_step *step = n->step;
    bool can = n->sink_caps.takes_changes && (n->sink_caps.makes_rows || n->sink_caps.upserts ||
                                              (n->format_flags & SR_FORMAT_CHANGES) != 0);
    if (!n->is_updating || can) {
        return true;
    }
    bind_fault_at(
        b, bind_connector_place(step),
        !n->sink_caps.makes_rows
            ? "use a format that carries changes, such as debezium-json; or a sink that "
              "can replace rows; or group by a window"
        : n->out->keys == 0 ? "a sink with a primary-key can replace rows; or group by a window"
                            : "use a sink that can replace rows; or group by a window",
        "SR0511: sink '%s' (%s) cannot take updating results: rows of its input change or go "
        "away later",
        step->name.text, step->sink->name);
    return false;
}

static bool sink_check(struct binder *b, struct logic *n)
{
    const struct job_step *step = n->step;
    struct sr_error err = {0};
    if (step->sink->check && step->sink->check(step->conf, n->out, &n->sink_caps, &err) != SR_OK) {
        bind_fault_at(b, bind_connector_place(step), NULL, "SR0609: sink '%s': %s", step->name.text,
                      err.words);
        return false;
    }
    bool is_good = sink_check_format(b, n);
    return sink_check_changes(b, n) && is_good;
}

static struct logic *sink_node(struct binder *b, struct bound *s, struct logic *calc,
                               const struct columns *c)
{
    struct sr_schema *out = arena_copy(b->arena, calc->out, sizeof(*out));
    struct logic *n = logic_add(b->graph, LOGIC_SINK, s->step, &calc, 1);
    if (!out || !n) {
        (void)bind_no_memory(b);
        return NULL;
    }
    out->key = columns_keys(b, &c->keys, out, &out->keys);
    if (!out->key) {
        return NULL;
    }
    n->out = out;
    n->written = c->count > 0 ? c->written : NULL;
    n->is_updating = calc->is_updating;
    n->on_error = s->step->on_error;
    return n;
}

void bind_sink(struct binder *b, struct bound *s)
{
    struct columns columns;
    s->has_failed = true;
    bool is_good = columns_read(b, s->step, &columns);
    if (columns.watermark) {
        bind_fault(b, columns.watermark_text, 0, "it belongs to a source",
                   "SR0607: sink '%s' takes no watermark", s->step->name.text);
        is_good = false;
    }
    struct logic *input = bind_inputs(b, s);
    input = input ? bind_replays(b, s->step, input) : NULL;
    if (!is_good || !input || !s->step->sink) {
        return;
    }
    struct logic *calc = sink_columns(b, s, input, &columns);
    calc = calc ? bind_feed(b, s->step, calc, JOB_FEED_INPUT) : NULL;
    struct logic *n = calc ? sink_node(b, s, calc, &columns) : NULL;
    if (!n || !sink_check(b, n)) {
        return;
    }
    s->tail = n;
    s->has_failed = false;
}
