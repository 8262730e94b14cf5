#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/nearest.h"
#include "engine/bind/binder.h"
#include "engine/data/schema.h"

#define SOURCE_NAMES  64u        /* metadata that a hint names */
#define SOURCE_UNREAD UINT32_MAX /* a column that has no place in what is read */

/* A source while it is bound: what it fills, and what the job sees of it. */
struct source {
    struct binder *b;
    const struct job_step *step;
    struct columns columns;
    struct sr_field *read_field, *seen_field, *all_field;
    struct sr_schema valued;   /* filled by the connector or by the value's format */
    struct sr_schema brought;  /* the same, and columns that are in the key alone behind */
    struct sr_schema read;     /* the same, and metadata behind, as the connector types them */
    struct sr_schema seen;     /* the same, as the job types them */
    uint32_t *metadata;        /* of the source type's, by column behind `brought` */
    uint32_t *format_metadata; /* of the format's: the last columns of `valued` */
    uint32_t format_metadatas;
    uint32_t *read_of;             /* by declared column: its place in `read` */
    bool *is_key;                  /* by declared column: it is in the key of a record */
    uint32_t brings;               /* columns that the connector brings itself */
    const struct expr **seen_expr; /* by column of `seen`, over `read` */
    struct sr_schema all;          /* with computed columns, as declared */
    const struct expr **expr;      /* by column of `all`, over `read` */
    const struct expr *at;         /* the watermark, over `all`; NULL: none */
};

/* The columns that the connector brings itself, when the job declares none. */
static const struct sr_schema *source_brings(const struct source *o)
{
    for (uint32_t c = 0; c < o->columns.count; c++) {
        if (!o->columns.computed[c] && !o->columns.metadata[c]) {
            return NULL;
        }
    }
    const struct sr_source_type *t = o->step->source;
    return t && t->schema ? t->schema(o->step->conf) : NULL;
}

static bool source_room(struct source *o, uint32_t count)
{
    struct arena *a = o->b->arena;
    o->read_field = arena_array(a, (size_t)count + 1, sizeof(*o->read_field));
    o->seen_field = arena_array(a, (size_t)count + 1, sizeof(*o->seen_field));
    o->all_field = arena_array(a, (size_t)count + 1, sizeof(*o->all_field));
    o->metadata = arena_array(a, (size_t)count + 1, sizeof(*o->metadata));
    o->format_metadata = arena_array(a, (size_t)count + 1, sizeof(*o->format_metadata));
    o->read_of = arena_array(a, (size_t)count + 1, sizeof(*o->read_of));
    o->is_key = arena_array(a, (size_t)count + 1, sizeof(*o->is_key));
    o->seen_expr = arena_array(a, (size_t)count + 1, sizeof(struct expr *));
    o->expr = arena_array(a, (size_t)count + 1, sizeof(struct expr *));
    return arena_is_broken(a) ? bind_no_memory(o->b) : true;
}

/* --- Metadata --------------------------------------------------------------------------------- */

static int64_t source_metadata_of(const struct sr_metadata *m, const char *key)
{
    for (uint32_t i = 0; m && m[i].name; i++) {
        if (strcmp(m[i].name, key) == 0) {
            return i;
        }
    }
    return -1;
}

/* Says that neither the connector nor the format has that metadata, and what they have. */
static void source_no_metadata(struct source *o, uint32_t c, const char *key)
{
    const struct job_step *step = o->step;
    const struct sr_metadata *list[] = {step->source->metadata,
                                        step->format ? step->format->metadata : NULL};
    const char *names[SOURCE_NAMES + 1] = {NULL};
    const char *text = "", *hint = NULL;
    uint32_t count = 0;
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; list[k] && list[k][i].name && count < SOURCE_NAMES; i++) {
            names[count] = list[k][i].name;
            text = arena_printf(o->b->arena, "%s%s%s", text ? text : "", count > 0 ? ", " : "",
                                names[count]);
            count++;
        }
    }
    const char *near = count > 0 ? nearest_word(key, names) : NULL;
    if (count > 0) {
        hint = near ? arena_printf(o->b->arena, "did you mean '%s'? there is: %s", near, text)
                    : arena_printf(o->b->arena, "there is: %s", text);
    }
    bind_fault(o->b, o->columns.text[c], o->columns.at[c], hint,
               count > 0 ? "SR0605: column '%s': connector '%s' has no metadata '%s'"
                         : "SR0605: column '%s': connector '%s' has no metadata",
               o->columns.field[c].name, step->source->name, key);
}

static const char *source_key(const struct source *o, uint32_t c)
{
    const struct ast *n = o->columns.metadata[c];
    return n->count > 1 ? n->item[1]->name : o->columns.field[c].name;
}

/* Column c of the job is metadata of type `m`: read behind the others. */
static void source_add_read(struct source *o, uint32_t c, const struct sr_metadata *m)
{
    o->read_of[c] = o->read.fields;
    o->read_field[o->read.fields++] = (struct sr_field){o->columns.field[c].name, m->type};
}

/* Metadata column c of the job, if the format brings it and the connector does not: it is one more
 * column that the decoder fills. Flink writes 'value.' in front where both have metadata. */
static void source_add_format_metadata(struct source *o, uint32_t c)
{
    const struct job_step *step = o->step;
    const char *key = source_key(o, c);
    if (!step->source || !step->format || source_metadata_of(step->source->metadata, key) >= 0) {
        return;
    }
    key += strncmp(key, "value.", 6) == 0 ? 6 : 0;
    int64_t found = source_metadata_of(step->format->metadata, key);
    if (found < 0) {
        return;
    }
    source_add_read(o, c, &step->format->metadata[found]);
    o->format_metadata[o->format_metadatas++] = (uint32_t)found;
}

/* ... or the connector does. */
static bool source_add_metadata(struct source *o, uint32_t c)
{
    if (!o->step->source) {
        return false; /* an unknown connector was told already */
    }
    if (o->read_of[c] != SOURCE_UNREAD) {
        return true;
    }
    int64_t found = source_metadata_of(o->step->source->metadata, source_key(o, c));
    if (found < 0) {
        source_no_metadata(o, c, source_key(o, c));
        return false;
    }
    o->metadata[o->read.fields - o->brought.fields] = (uint32_t)found;
    source_add_read(o, c, &o->step->source->metadata[found]);
    return true;
}

/* Computed columns see metadata as the job declares them, so what differs is cast. */
static bool source_see(struct source *o, uint32_t seen, uint32_t c)
{
    const struct sr_type *from = &o->read_field[seen].type, *to = &o->columns.field[c].type;
    const struct expr *e = expr_column(o->b->arena, &o->read, seen);
    struct sr_error err = {0};
    if (!type_equal(from, to, false)) {
        e = e ? expr_cast(o->b->arena, e, to, false, &err) : NULL;
    }
    if (!e) {
        bind_fault(o->b, o->columns.text[c], o->columns.at[c], NULL,
                   "SR0605: column '%s': what is given is %s, which is no %s (%s)",
                   o->columns.field[c].name, type_text(o->b->arena, from),
                   type_text(o->b->arena, to), err.words);
        return false;
    }
    o->seen_field[seen].type = e->type;
    o->seen_expr[seen] = e;
    return true;
}

/* What the connector or the job says of metadata comes behind what a decoder fills. */
static bool source_metadata(struct source *o)
{
    bool is_good = true;
    for (uint32_t c = 0; c < o->columns.count; c++) {
        if (o->columns.metadata[c]) {
            is_good = source_add_metadata(o, c) && is_good;
        }
    }
    o->seen = o->read;
    o->seen.field = o->seen_field;
    for (uint32_t i = 0; i < o->read.fields; i++) {
        o->seen_field[i] = o->read_field[i];
        o->seen_expr[i] = expr_column(o->b->arena, &o->read, i);
    }
    for (uint32_t c = 0; c < o->columns.count && is_good; c++) {
        if (o->columns.metadata[c]) {
            is_good = source_see(o, o->read_of[c], c);
        }
    }
    return is_good;
}

/* --- Columns ---------------------------------------------------------------------------------- */

/* Which declared columns are in the key. */
static bool source_keys(struct source *o)
{
    struct sr_schema plain = {.field = o->all_field, .rowtime = -1};
    uint32_t *at = arena_array(o->b->arena, o->columns.count + 1u, sizeof(*at));
    bool *is_key = arena_array(o->b->arena, o->columns.count + 1u, sizeof(*is_key));
    if (!at || !is_key) {
        return bind_no_memory(o->b);
    }
    for (uint32_t c = 0; c < o->columns.count; c++) {
        if (!o->columns.computed[c] && !o->columns.metadata[c]) {
            at[plain.fields] = c;
            o->all_field[plain.fields++] = o->columns.field[c];
        }
    }
    plain.key = columns_keys(o->b, &o->columns.keys, &plain, &plain.keys);
    if (!plain.key || !keyed_find(o->b, o->step, &plain, is_key)) {
        return false;
    }
    for (uint32_t i = 0; i < plain.fields; i++) {
        o->is_key[at[i]] = is_key[i];
    }
    return true;
}

/* Adds the declared columns that a decoder fills: those of the value, or those of the key alone. */
static void source_add_plain(struct source *o, bool is_key)
{
    bool is_apart = o->step->value_except_key;
    for (uint32_t c = 0; c < o->columns.count; c++) {
        bool is_plain = !o->columns.computed[c] && !o->columns.metadata[c];
        if (is_plain && (is_apart && o->is_key[c]) == is_key) {
            o->read_of[c] = o->read.fields;
            o->read_field[o->read.fields++] = o->columns.field[c];
        }
    }
}

static bool source_read(struct source *o)
{
    const struct sr_schema *own = source_brings(o);
    uint32_t brought = own ? own->fields : 0;
    if (!source_room(o, brought + o->columns.count) || (o->step->key_prefix && !source_keys(o))) {
        return false;
    }
    o->brings = brought;
    o->read = (struct sr_schema){.field = o->read_field, .rowtime = -1};
    for (uint32_t c = 0; c < brought; c++) {
        o->read_field[o->read.fields++] = own->field[c];
    }
    for (uint32_t c = 0; c < o->columns.count; c++) {
        o->read_of[c] = SOURCE_UNREAD;
    }
    source_add_plain(o, false);
    for (uint32_t c = 0; c < o->columns.count; c++) {
        if (o->columns.metadata[c]) {
            source_add_format_metadata(o, c);
        }
    }
    o->valued = o->read;
    source_add_plain(o, true);
    o->brought = o->read;
    if (!source_metadata(o)) {
        return false;
    }
    if (o->brought.fields == 0) {
        bind_fault_at(o->b, bind_connector_place(o->step),
                      "schema: a mapping of column names to types",
                      "SR0606: source '%s' needs a schema: connector '%s' does not bring one",
                      o->step->name.text, o->step->source ? o->step->source->name : "(faulted)");
        return false;
    }
    return true;
}

/* A computed column sees what is read, and not the others, as in Flink. */
static const struct expr *source_compute(struct source *o, uint32_t c)
{
    struct scope s = {.binder = o->b, .text = o->columns.text[c], .in = &o->seen};
    const char *name = o->columns.field[c].name;
    bool is_twice = schema_find(&o->seen, name) >= 0;
    if (is_twice) {
        bind_fault(o->b, s.text, o->columns.at[c], NULL, "SR0602: column '%s' is there twice",
                   name);
    }
    const struct expr *e = bind_expr(&s, o->columns.computed[c]);
    bool has_metadata = o->read.fields > o->brought.fields || o->format_metadatas > 0;
    e = e && has_metadata ? expr_replace(o->b->arena, e, o->seen_expr) : e;
    return is_twice || !e ? NULL : expr_as_column(o->b->arena, e);
}

static bool source_all(struct source *o)
{
    uint32_t read = 0;
    bool is_good = true;
    o->all = (struct sr_schema){.field = o->all_field, .rowtime = -1};
    while (read < o->brings) { /* brought by the connector */
        o->all_field[o->all.fields] = o->read_field[read];
        o->expr[o->all.fields++] = o->seen_expr[read++];
    }
    for (uint32_t c = 0; c < o->columns.count; c++) {
        struct sr_field f = o->columns.field[c];
        const struct expr *e =
            o->columns.computed[c] ? source_compute(o, c) : o->seen_expr[o->read_of[c]];
        if (e) {
            f.type = e->type;
        }
        is_good = is_good && e;
        o->all_field[o->all.fields] = f;
        o->expr[o->all.fields++] = e;
    }
    return is_good;
}

static bool source_is_time(const struct sr_type *t)
{
    return sr_is_timestamp(t->kind) && t->length <= 3;
}

static bool source_rowtime(struct source *o, const struct ast *w, const struct job_text *t)
{
    int32_t c = schema_find(&o->all, w->name);
    if (c < 0) {
        bind_fault(o->b, t, w->at, NULL, "SR0601: watermark: there is no column '%s'", w->name);
        return false;
    }
    const struct sr_type *type = &o->all.field[c].type;
    if (!source_is_time(type)) {
        bool is_close = sr_is_timestamp(type->kind);
        bind_fault(
            o->b, t, w->at,
            is_close ? "write TIMESTAMP(3); bare TIMESTAMP has 6 digits, as in Flink"
                     : "TO_TIMESTAMP or TO_TIMESTAMP_LTZ in a computed column makes one",
            "SR0607: the time attribute '%s' must be TIMESTAMP or TIMESTAMP_LTZ of at most 3 "
            "digits, it is %s",
            w->name, type_text(o->b->arena, type));
        return false;
    }
    o->all.rowtime = c;
    return true;
}

/* Says that an option of watermarks stands at a source that has none. */
static bool source_needs_watermark(struct source *o, struct place at, const char *option)
{
    if (!at.file) {
        return true;
    }
    bind_fault_at(o->b, at, "watermark: ts AS ts - INTERVAL '5' SECOND",
                  "SR0607: '%s' has no meaning without a watermark", option);
    return false;
}

static bool source_watermark(struct source *o)
{
    const struct ast *w = o->columns.watermark;
    const struct job_text *t = o->columns.watermark_text;
    if (!w) {
        return source_needs_watermark(o, o->step->idle_timeout_at, "scan.watermark.idle-timeout") &&
               source_needs_watermark(o, o->step->emit_at, "scan.watermark.emit.strategy");
    }
    bool is_good = source_rowtime(o, w, t);
    struct sr_schema all = o->all; /* which has no event time yet */
    struct scope s = {.binder = o->b, .text = t, .in = &all};
    all.rowtime = -1;
    o->at = bind_expr(&s, w->item[0]);
    if (o->at && is_good && !source_is_time(&o->at->type)) {
        bind_fault(
            o->b, t, w->item[0]->at, NULL,
            "SR0607: a watermark is a TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits, this is %s",
            type_text(o->b->arena, &o->at->type));
        return false;
    }
    return is_good && o->at;
}

/* Records that replace the row of their key must say which column that is. */
static bool source_check_upserts(struct source *o, const struct logic *n)
{
    const struct job_step *step = o->step;
    struct place at = bind_connector_place(step);
    if (o->all.keys == 0) {
        bind_fault_at(o->b, at, "primary-key: [id]",
                      "SR0610: source '%s' needs a primary key: connector '%s' replaces the row of "
                      "a key",
                      step->name.text, step->source->name);
    } else if (!step->key_format) {
        bind_fault_at(o->b, at, "key.format: json",
                      "SR0610: source '%s' needs 'key.format': connector '%s' reads keys",
                      step->name.text, step->source->name);
    } else if ((n->format_flags & SR_FORMAT_CHANGES) != 0) {
        bind_fault_at(o->b, step->format_at, "value.format: json",
                      "SR0610: format '%s' carries changes of its own, which connector '%s' does "
                      "not take",
                      step->format->name, step->source->name);
    } else {
        return true;
    }
    return false;
}

/* Keys are read where the value does not have their columns, and where a record may have none. */
static bool source_check_keys(struct source *o, struct logic *n)
{
    const struct job_step *step = o->step;
    if (n->source_caps.upserts && !source_check_upserts(o, n)) {
        return false;
    }
    if (!step->key_format || (!step->value_except_key && !n->source_caps.upserts)) {
        return true;
    }
    struct sr_schema brought = o->brought;
    brought.key = columns_keys(o->b, &o->columns.keys, &brought, &brought.keys);
    n->keyed = brought.key ? keyed_make(o->b, step, &brought) : NULL;
    return n->keyed != NULL;
}

/* The connector and the format are asked whether they can do it. */
static bool source_check(struct source *o, struct logic *n)
{
    struct sr_error err = {0};
    const struct job_step *step = o->step;
    struct place at = bind_connector_place(step);
    bool is_good = true;
    if (step->source->check &&
        step->source->check(step->conf, &o->brought, &n->source_caps, &err) != SR_OK) {
        bind_fault_at(o->b, at, NULL, "SR0609: source '%s': %s", step->name.text, err.words);
        return false;
    }
    if (n->source_caps.makes_rows) {
        if (step->format) {
            bind_fault_at(o->b, step->format_at, NULL,
                          "SR0608: connector '%s' makes rows itself, it takes no format",
                          step->source->name);
            is_good = false;
        }
        return is_good;
    }
    if (!step->format) {
        bind_fault_at(o->b, at, "format: csv, json or raw",
                      "SR0608: source '%s' needs a format: connector '%s' gives bytes",
                      step->name.text, step->source->name);
        return false;
    }
    if (step->format->decoder_size == 0) {
        bind_fault_at(o->b, step->format_at, NULL, "SR0608: format '%s' cannot read",
                      step->format->name);
        return false;
    }
    if (step->format->check && step->format->check(step->format_conf, &o->valued, false,
                                                   &n->format_flags, &err) != SR_OK) {
        bind_fault_at(o->b, step->format_at, NULL, "SR0609: format '%s': %s", step->format->name,
                      err.words);
        is_good = false;
    }
    if ((n->format_flags & SR_FORMAT_MESSAGES) != 0 && !n->source_caps.frames &&
        !step->source->has_keys) {
        bind_no_frames(o->b, step, step->source->name);
        is_good = false;
    }
    return source_check_keys(o, n) && is_good;
}

/* True when every column that the watermark looks at is read as it is. */
static bool source_is_plain(struct source *o, const struct expr *e)
{
    bool *used = arena_array(o->b->arena, (size_t)o->all.fields + 1, sizeof(*used));
    if (!used) {
        return false;
    }
    expr_columns(e, used);
    for (uint32_t c = 0; c < o->all.fields; c++) {
        if (used[c] && o->expr[c]->kind != EXPR_COLUMN) {
            return false;
        }
    }
    return true;
}

static struct logic *source_computed(struct source *o, struct logic *input,
                                     const struct sr_schema *all)
{
    struct logic *n = input ? logic_add(o->b->graph, LOGIC_CALC, o->step, &input, 1) : NULL;
    if (n) {
        n->on_error = input->on_error;
        n->is_updating = input->is_updating;
        n->out = all;
        n->expr = o->expr;
        n->keys = n->is_updating ? all->keys : 0;
        n->key = all->key;
    }
    return n;
}

static struct logic *source_stamp(struct source *o, struct logic *input, const struct expr *at)
{
    struct logic *n = input ? logic_add(o->b->graph, LOGIC_WATERMARK, o->step, &input, 1) : NULL;
    if (n) {
        n->on_error = input->on_error;
        n->is_updating = input->is_updating;
        n->out = input->out;
        n->at = at;
        n->keys = input->keys;
        n->key = input->key;
    }
    return n;
}

/* The watermark stands right behind the source when it can, so that computed columns run together
 * with whatever comes behind it; else behind them, so that nothing is computed twice. */
static struct logic *source_tail(struct source *o, struct logic *n)
{
    const struct sr_schema *all = arena_copy(o->b->arena, &o->all, sizeof(o->all));
    if (!all) {
        return NULL;
    }
    if (!o->at) {
        return source_computed(o, n, all);
    }
    if (source_is_plain(o, o->at)) {
        struct logic *stamp = source_stamp(o, n, expr_replace(o->b->arena, o->at, o->expr));
        return source_computed(o, stamp, all);
    }
    struct logic *stamp = source_stamp(o, source_computed(o, n, all), o->at);
    return stamp ? logic_add_identity(o->b->graph, o->step, stamp) : NULL;
}

/* A row that replaces the one of its key, or deletes it, becomes changes with whole rows: keys
 * first, then the other columns. */
static struct logic *source_normalized(struct source *o, struct logic *input)
{
    const struct sr_schema *all = input->out;
    struct arena *a = o->b->arena;
    struct logic *n = logic_add(o->b->graph, LOGIC_AGGREGATE, o->step, &input, 1);
    struct sr_schema *out = arena_copy(a, all, sizeof(*out));
    struct sr_field *field = arena_array(a, all->fields + 1u, sizeof(*field));
    struct agg *agg = arena_array(a, all->fields + 1u, sizeof(*agg));
    uint32_t *key = arena_array(a, all->keys + 1u, sizeof(*key));
    uint32_t *at = arena_array(a, all->fields + 1u, sizeof(*at)); /* by column of `all` */
    if (!n || !out || !field || !agg || !key || !at) {
        return NULL;
    }
    n->aggregate = (struct aggregate_step){.key = all->key, .keys = all->keys, .agg = agg};
    n->aggregate.is_upsert = true;
    for (uint32_t k = 0; k < all->keys; k++) {
        at[all->key[k]] = key[k] = k;
        field[k] = all->field[all->key[k]];
    }
    for (uint32_t c = 0; c < all->fields; c++) {
        bool is_key = false;
        for (uint32_t k = 0; k < all->keys; k++) {
            is_key = is_key || all->key[k] == c;
        }
        if (!is_key) {
            uint32_t i = n->aggregate.aggs++;
            agg[i] = (struct agg){.arg = expr_column(a, all, c), .type = all->field[c].type};
            at[c] = all->keys + i;
            field[at[c]] = all->field[c];
        }
    }
    out->field = field;
    out->rowtime = all->rowtime >= 0 ? (int32_t)at[all->rowtime] : -1;
    out->key = key;
    n->out = out;
    n->on_error = input->on_error;
    n->is_updating = true;
    n->keys = all->keys;
    n->key = key;
    struct logic *calc = logic_add(o->b->graph, LOGIC_CALC, o->step, &n, 1);
    const struct expr **back = arena_array(a, all->fields + 1u, sizeof(struct expr *));
    for (uint32_t c = 0; calc && back && c < all->fields; c++) {
        back[c] = expr_column(a, out, at[c]);
    }
    if (!calc || !back) {
        return NULL;
    }
    calc->on_error = input->on_error;
    calc->is_updating = true;
    calc->out = all;
    calc->expr = back;
    calc->keys = all->keys;
    calc->key = all->key;
    return calc;
}

static bool source_columns(struct source *o)
{
    if (!columns_read(o->b, o->step, &o->columns) || !source_read(o) || !source_all(o)) {
        return false;
    }
    bool is_good = source_watermark(o);
    const uint32_t *key = columns_keys(o->b, &o->columns.keys, &o->all, &o->all.keys);
    o->all.key = key;
    return is_good && key;
}

void bind_source(struct binder *b, struct bound *s)
{
    struct source o = {.b = b, .step = s->step};
    s->has_failed = true;
    bool has_schema = s->step->columns > 0 || s->step->schema_text.text;
    if ((!s->step->source && !has_schema) || !source_columns(&o)) {
        return; /* an unknown or faulted connector was told already */
    }
    struct logic *n = logic_add(b->graph, LOGIC_SOURCE, s->step, NULL, 0);
    if (!n) {
        (void)bind_no_memory(b);
        return;
    }
    n->on_error = s->step->on_error;
    n->out = arena_copy(b->arena, &o.read, sizeof(o.read));
    n->brought = arena_copy(b->arena, &o.brought, sizeof(o.brought));
    n->valued = arena_copy(b->arena, &o.valued, sizeof(o.valued));
    n->metadata = o.metadata;
    n->format_metadata = o.format_metadata;
    n->format_metadatas = o.format_metadatas;
    n->metadatas = o.read.fields - o.brought.fields;
    /* Without a connector the declared columns still serve to check the steps behind. */
    if (!n->out || !n->brought || !n->valued || (s->step->source && !source_check(&o, n))) {
        return;
    }
    n->is_updating = (n->format_flags & SR_FORMAT_CHANGES) != 0 || n->source_caps.upserts;
    s->tail = source_tail(&o, n);
    if (s->tail && n->source_caps.upserts) {
        s->tail = source_normalized(&o, s->tail);
    }
    if (!s->tail) {
        (void)bind_no_memory(b);
        return;
    }
    s->has_failed = false;
}
