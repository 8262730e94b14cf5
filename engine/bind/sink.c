#include <string.h>

#include "engine/base/assert.h"
#include "engine/bind/binder.h"
#include "engine/data/schema.h"

/* One declared column of the sink, from the input's column of that name. */
static bool sink_column(struct binder *b, const struct bound *s, struct select *l,
                        const struct columns *c, uint32_t i)
{
    const char *name = c->field[i].name;
    int32_t found = schema_find(l->in, name);
    if (c->metadata[i]) {
        bind_fault(b, c->text[i], c->at[i], "leave it out of the sink's schema",
                   "SR0207: column '%s': sinks write no METADATA yet", name);
        return false;
    }
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

/* The columns that the format sees: the sink may write some in a way of its own. NULL: no
 * memory. */
static const struct sr_schema *sink_encoded(struct binder *b, const struct logic *n)
{
    const struct sr_sink_type *type = n->step->sink;
    if (!SR_HAS_FIELD(type, struct sr_sink_type, leave_out) || !type->leave_out) {
        return n->out;
    }
    struct sr_schema *seen = arena_copy(b->arena, n->out, sizeof(*seen));
    struct sr_field *field = arena_array(b->arena, n->out->fields + 1u, sizeof(*field));
    bool *left_out = arena_array(b->arena, n->out->fields + 1u, sizeof(*left_out));
    if (!seen || !field || !left_out) {
        (void)bind_no_memory(b);
        return NULL;
    }
    type->leave_out(n->step->conf, n->out, left_out);
    seen->fields = 0;
    for (uint32_t i = 0; i < n->out->fields; i++) {
        if (!left_out[i]) {
            field[seen->fields++] = n->out->field[i];
        }
    }
    seen->field = field;
    seen->rowtime = -1; /* neither of these means anything to a format */
    seen->keys = 0;
    return seen;
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
    const struct sr_schema *seen = sink_encoded(b, n);
    if (!seen) {
        return false;
    }
    if (step->format->check &&
        step->format->check(step->format_conf, seen, true, &n->format_flags, &err) != SR_OK) {
        bind_fault_at(b, step->format_at, NULL, "SR0609: format '%s': %s", step->format->name,
                      err.words);
        return false;
    }
    return true;
}

static bool sink_check_changes(struct binder *b, const struct logic *n)
{
    const struct job_step *step = n->step;
    bool can = n->sink_caps.takes_changes &&
               (n->sink_caps.makes_rows || (n->format_flags & SR_FORMAT_CHANGES) != 0);
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
    if (!is_good || !input || !s->step->sink) {
        return;
    }
    struct logic *calc = sink_columns(b, s, input, &columns);
    struct logic *n = calc ? sink_node(b, s, calc, &columns) : NULL;
    if (!n || !sink_check(b, n)) {
        return;
    }
    s->tail = n;
    s->has_failed = false;
}
