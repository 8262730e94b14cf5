#include "conf/steps.h"

#include <stdlib.h>
#include <string.h>

#include "conf/opts.h"
#include "conf/steps_inner.h"
#include "conf/texts.h"
#include "engine/base/assert.h"
#include "engine/base/nearest.h"

#define STEPS_NAME_MAX 128u

static const char *const steps_section[] = {"sources.", "transforms.", "sinks."};
const char *const steps_kind[] = {"source", "transform", "sink"};

static const struct sr_opt *const steps_opts[] = {steps_source_opts, steps_transform_opts,
                                                  steps_sink_opts};

const char *steps_full(const struct steps_one *s, const char *key)
{
    const char *full = arena_printf(s->rd->arena, "%s%s", s->prefix, key);
    return full ? full : "";
}

struct entry *steps_entry(const struct steps_one *s, const char *key)
{
    return entries_find(&s->rd->entries, steps_full(s, key));
}

static void steps_text(const struct steps_one *s, const char *key, struct job_text *out)
{
    const struct entry *e = steps_entry(s, key);
    if (e) {
        (void)texts_one(s->rd, e, e->value, out);
    }
}

void steps_texts(const struct steps_one *s, const char *key, struct job_texts *out)
{
    const struct entry *e = steps_entry(s, key);
    if (e) {
        texts_list(s->rd, e, out);
    }
}

/* A column of a nested mapping is none: `a: {b: INT}` is not column `a.b`. */
static bool steps_column(struct steps_one *s, struct entry *e, const char *name,
                         struct job_column *out)
{
    size_t tail = strlen(e->name->text);

    if (e->name != e->value && tail < strlen(name)) {
        reader_fault(s->rd, e->name->at, "a row in a column is written ROW<name TYPE, ...>",
                     "SR0303: a column's type is a text, not a mapping");
        return false;
    }
    if (e->value->kind == NODE_SCALAR && node_is_null(e->value)) {
        if (!strpbrk(name, ")>")) { /* else the rest of a type that a comma cut: faulted there */
            reader_fault(s->rd, e->name->at, NULL, "SR0303: column '%s' has no type", name);
        }
        return false;
    }
    out->name = (struct job_text){.text = name, .len = (uint32_t)strlen(name), .at = e->name->at};
    return texts_type(s->rd, e, e->value, &out->type);
}

/* The mapping form of a schema, in the order of the file. */
static void steps_schema(struct steps_one *s)
{
    struct reader *rd = s->rd;
    const char *prefix = steps_full(s, "schema.");
    uint32_t from;
    uint32_t to;

    steps_text(s, "schema", &s->out->schema_text);
    entries_range(&rd->entries, prefix, &from, &to);
    struct entry **list = arena_array(rd->arena, to - from + 1u, sizeof(struct entry *));
    struct job_column *column = arena_array(rd->arena, to - from + 1u, sizeof(*column));
    if (!list || !column || !*prefix || to == from) {
        return;
    }
    if (s->out->schema_text.text) {
        reader_fault(rd, s->out->schema_text.at, NULL,
                     "SR0303: the schema is written twice, as a text and as a mapping");
    }
    for (uint32_t i = from; i < to; i++) {
        list[i - from] = &rd->entries.item[i];
        list[i - from]->is_used = true;
    }
    qsort(list, to - from, sizeof(struct entry *), entries_by_order);
    uint32_t n = 0;
    for (uint32_t i = 0; i < to - from; i++) {
        n += steps_column(s, list[i], list[i]->key + strlen(prefix), &column[n]) ? 1 : 0;
    }
    s->out->column = column;
    s->out->columns = n;
}

static void steps_source(struct steps_one *s)
{
    steps_schema(s);
    steps_text(s, "watermark", &s->out->watermark);
    steps_texts(s, "primary-key", &s->out->primary_key);
    const struct entry *idle = steps_entry(s, "scan.watermark.idle-timeout");
    const struct entry *emit = steps_entry(s, "scan.watermark.emit.strategy");
    s->out->idle_timeout = s->keys.idle_timeout;
    s->out->is_periodic = s->keys.emit_strategy.index == 1;
    if (idle) {
        s->out->idle_timeout_at = idle->name->at;
    }
    if (emit && s->out->is_periodic) {
        s->out->emit_at = emit->name->at;
    }
}

static void steps_sink(struct steps_one *s)
{
    const struct entry *guarantee = steps_entry(s, "sink.delivery-guarantee");

    steps_schema(s);
    steps_texts(s, "from", &s->out->from);
    steps_texts(s, "primary-key", &s->out->primary_key);
    s->out->guarantee = (enum sr_guarantee)s->keys.guarantee.index;
    if (guarantee) {
        s->out->guarantee_at = guarantee->value->at;
    }
}

static void steps_transform(struct steps_one *s)
{
    static const char *const short_form[] = {"from", "where", "select", "group-by", "window"};
    struct job_step *out = s->out;
    const struct entry *sql = steps_entry(s, "sql");

    steps_texts(s, "from", &out->from);
    steps_text(s, "where", &out->where);
    steps_text(s, "window", &out->window);
    steps_text(s, "sql", &out->sql);
    steps_texts(s, "select", &out->select);
    steps_texts(s, "group-by", &out->group_by);
    const struct entry *select = steps_entry(s, "select");
    if (select) {
        out->select_at = select->name->at;
    }
    if (!sql && !steps_entry(s, "from")) {
        reader_fault(s->rd, s->at, "name the step that rows come from: `from: NAME`",
                     "SR0205: transform '%s' needs 'from', or 'sql'", s->name);
    }
    for (size_t i = 0; sql && i < sizeof(short_form) / sizeof(short_form[0]); i++) {
        const struct entry *other = steps_entry(s, short_form[i]);
        if (other) {
            reader_fault(s->rd, other->name->at, "the query says it all: remove one of them",
                         "SR0304: '%s' cannot stand beside 'sql'", short_form[i]);
        }
    }
}

/* Whether an unknown key may belong to the connector or format that is not known. */
static bool steps_may_be_known(const struct steps_one *s, const char *rest)
{
    if (!s->is_lenient) {
        return false;
    }
    const struct sr_opt *opts = steps_opts[s->out->kind];
    for (const struct sr_opt *o = opts; o->key; o++) {
        if (word_distance(o->key, rest) == 1) {
            return false; /* rather a slip in one of our own keys */
        }
    }
    return true;
}

/* Flink's, but not there yet. */
static bool steps_is_later(const struct steps_one *s, const char *rest)
{
    return s->out->kind == JOB_SOURCE && (strncmp(rest, "scan.watermark.alignment.", 25) == 0 ||
                                          strcmp(rest, "scan.watermark.emit.on-event.gap") == 0);
}

static void steps_unknown(struct steps_one *s, struct entry *e, const char *rest, const char *where)
{
    if (steps_is_later(s, rest)) {
        reader_fault(s->rd, e->name->at, NULL, "SR0207: '%s' is not there yet", rest);
    } else {
        opts_fault_unknown(s->rd, e, rest, &s->known, where);
    }
}

static void steps_leftovers(struct steps_one *s)
{
    uint32_t from;
    uint32_t to;
    bool is_section = strcmp(s->prefix, "dead-letter.") == 0;
    const char *where =
        is_section ? s->name
                   : arena_printf(s->rd->arena, "%s '%s'", steps_kind[s->out->kind], s->name);

    entries_range(&s->rd->entries, s->prefix, &from, &to);
    for (uint32_t i = from; where && i < to; i++) {
        struct entry *e = &s->rd->entries.item[i];
        const char *rest = e->key + strlen(s->prefix);
        if (!e->is_used && !steps_may_be_known(s, rest)) {
            steps_unknown(s, e, rest, where);
        }
        e->is_used = true; /* settled here, whatever came of it */
    }
}

/* Records can only be set aside where there is a place for them. */
static void steps_needs_dead_letter(struct steps_one *s, const char *key, bool is_asked)
{
    const struct entry *e = steps_entry(s, key);
    uint32_t from;
    uint32_t to;

    entries_range(&s->rd->entries, "dead-letter.", &from, &to);
    if (is_asked && e && from == to) {
        reader_fault(
            s->rd, e->value->at,
            "as in:\n    dead-letter:\n      connector: filesystem\n      path: dead/",
            "SR0214: '%s: dead-letter' needs a block `dead-letter:` that says where they go", key);
    }
}

/* Nobody may look at the options of a step that has faults: half of them may be missing. */
static void steps_settle(struct steps_one *s, bool has_faults)
{
    if (!has_faults) {
        return;
    }
    if (s->out->kind == JOB_TRANSFORM) {
        s->rd->has_holes = true;
    }
    s->out->source = NULL;
    s->out->sink = NULL;
    s->out->format = NULL;
    s->out->key_format = NULL;
}

static int64_t steps_parallelism(struct steps_one *s)
{
    const char *key = s->out->kind == JOB_SOURCE ? "scan.parallelism" : "sink.parallelism";
    const struct entry *other = steps_entry(s, key);
    if (s->keys.parallelism > 0 && s->keys.flink_parallelism > 0 && other) {
        reader_fault(s->rd, other->name->at, "remove one of them",
                     "SR0304: '%s' cannot stand beside 'parallelism'", key);
    }
    return s->keys.flink_parallelism > 0 ? s->keys.flink_parallelism : s->keys.parallelism;
}

static void steps_one(struct steps_one *s)
{
    uint32_t errors = s->rd->faults->errors;
    const struct sr_opt *opts = steps_opts[s->out->kind];
    const char *what = arena_printf(s->rd->arena, "%s '%s'", steps_kind[s->out->kind], s->name);
    struct opts_scope scope = {s->rd, s->prefix, "", what ? what : "", s->at};

    opts_fill(&scope, opts, &s->keys);
    opts_add_words(s->rd, &s->known, opts, "");
    s->out->name =
        (struct job_text){.text = s->name, .len = (uint32_t)strlen(s->name), .at = s->at};
    s->out->uid = s->keys.uid ? s->keys.uid : s->name;
    s->out->parallelism = steps_parallelism(s);
    s->out->rate_limit = s->keys.rate_limit;
    s->out->on_error = (enum job_on_error)s->keys.on_error.index;
    s->out->has_on_error = steps_entry(s, "on-error") != NULL;
    s->out->on_late = (enum job_on_late)s->keys.on_late.index;
    steps_needs_dead_letter(s, "on-error", s->out->on_error == JOB_DEAD_LETTER);
    steps_needs_dead_letter(s, "on-late", s->out->on_late == JOB_LATE_DEAD_LETTER);
    switch (s->out->kind) {
    case JOB_SOURCE:
        steps_source(s);
        break;
    case JOB_TRANSFORM:
        steps_transform(s);
        break;
    case JOB_SINK:
        steps_sink(s);
        break;
    }
    if (s->out->kind != JOB_TRANSFORM) {
        steps_connect(s);
    }
    steps_leftovers(s);
    steps_settle(s, s->rd->faults->errors > errors);
}

/* --- Which steps there are ------------------------------------------------------------------ */

struct steps_found {
    struct reader *rd;
    struct steps_one *one;
    struct job_step *step;
    uint32_t count, space;
    bool is_over; /* there are too many, and it was said */
};

static bool steps_is_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > STEPS_NAME_MAX) {
        return false;
    }
    for (const char *s = name; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 0x7f || *s == '/') {
            return false;
        }
    }
    return true;
}

static struct steps_one *steps_known(struct steps_found *f, enum job_step_kind kind,
                                     const char *name)
{
    for (uint32_t i = f->count; i-- > 0;) {
        if (f->step[i].kind == kind && strcmp(f->one[i].name, name) == 0) {
            return &f->one[i];
        }
    }
    return NULL;
}

static struct steps_one *steps_add(struct steps_found *f, enum job_step_kind kind, const char *name,
                                   struct place at)
{
    struct reader *rd = f->rd;

    if (f->count == READER_STEPS_MAX) {
        if (!f->is_over) {
            reader_fault(rd, at, NULL, "SR0107: the job has more than %u steps", READER_STEPS_MAX);
        }
        f->is_over = true;
        return NULL;
    }
    if (!steps_is_name(name)) {
        reader_fault(
            rd, at, NULL,
            "SR0302: the name of a step has 1 to %u bytes, no '/' and no control characters",
            STEPS_NAME_MAX);
    }
    const char *prefix = arena_printf(rd->arena, "%s%s.", steps_section[kind], name);
    if (!prefix) {
        return NULL;
    }
    f->step[f->count].kind = kind;
    f->one[f->count] =
        (struct steps_one){.rd = rd, .name = name, .prefix = prefix, .at = at, .order = UINT32_MAX};
    return &f->one[f->count++];
}

/* The step that a full key belongs to, made when it is new. */
static void steps_find(struct steps_found *f, enum job_step_kind kind, const struct entry *e)
{
    const char *rest = e->key + strlen(steps_section[kind]);
    size_t len = strcspn(rest, ".");
    struct reader *rd = f->rd;
    const char *name = arena_text_n(rd->arena, rest, len);

    if (!name) {
        return;
    }
    struct steps_one *s = steps_known(f, kind, name);
    if (!s) {
        s = steps_add(f, kind, name, e->name->at);
    }
    if (s && e->order < s->order) {
        s->order = e->order;
        s->at = e->name->at;
    }
}

/* `hits: 5`, `hits:`, or a list where a step should be. */
static bool steps_is_mapping(struct reader *rd, enum job_step_kind kind, struct entry *e)
{
    const char *rest = e->key + strlen(steps_section[kind]);
    if (strchr(rest, '.')) {
        return true;
    }
    e->is_used = true;
    reader_fault(rd, e->name->at, "its keys stand below it, indented",
                 "SR0302: %s '%s' has no keys", steps_kind[kind], rest);
    return false;
}

static void steps_find_all(struct steps_found *f, enum job_step_kind kind)
{
    const struct entries *all = &f->rd->entries;
    const char *section = steps_section[kind];
    uint32_t from;
    uint32_t to;

    for (uint32_t i = 0; i < all->groups; i++) {
        const struct entry *g = &all->group[i];
        bool is_step = strncmp(g->key, section, strlen(section)) == 0 &&
                       !strchr(g->key + strlen(section), '.');
        if (is_step) {
            steps_find(f, kind, g);
        }
    }
    entries_range(all, section, &from, &to);
    for (uint32_t i = from; i < to; i++) {
        if (steps_is_mapping(f->rd, kind, &all->item[i])) {
            steps_find(f, kind, &all->item[i]);
        }
    }
}

static int steps_compare(const void *a, const void *b)
{
    const struct steps_one *p = a;
    const struct steps_one *q = b;
    return (p->order > q->order) - (p->order < q->order);
}

static void steps_check_names(struct steps_found *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(f->one[i].name, f->one[k].name) == 0) {
                reader_fault(
                    f->rd, f->one[i].at,
                    arena_printf(f->rd->arena, "the other one is in line %u", f->one[k].at.line),
                    "SR0302: the name '%s' is used by two steps", f->one[i].name);
                break;
            }
        }
    }
}

void steps_read(struct reader *rd, struct job *job)
{
    struct steps_found f = {.rd = rd};

    f.one = arena_array(rd->arena, READER_STEPS_MAX, sizeof(*f.one));
    f.step = arena_array(rd->arena, READER_STEPS_MAX, sizeof(*f.step));
    if (!f.one || !f.step) {
        return;
    }
    for (uint32_t kind = JOB_SOURCE; kind <= JOB_SINK; kind++) {
        uint32_t before = f.count;
        steps_find_all(&f, (enum job_step_kind)kind);
        for (uint32_t i = before; i < f.count; i++) {
            f.one[i].out = &f.step[i]; /* keeps the kind while `one` is sorted */
        }
    }
    qsort(f.one, f.count, sizeof(*f.one), steps_compare);
    steps_check_names(&f);
    job->steps = f.count;
    job->step = arena_array(rd->arena, f.count + 1u, sizeof(*job->step));
    for (uint32_t i = 0; job->step && i < f.count; i++) {
        job->step[i].kind = f.one[i].out->kind;
        f.one[i].out = &job->step[i];
        steps_one(&f.one[i]);
    }
}

/* --- Dead letters ---------------------------------------------------------------------------- */

/* JSON as it is without options. */
static void steps_plain_json(struct steps_one *s, struct job_dead_letter *out)
{
    out->json = registry_format(s->rd->registry, "json");
    if (out->json) {
        void *conf = arena_get(s->rd->arena, out->json->conf_size ? out->json->conf_size : 1);
        struct opts_scope scope = {s->rd, "dead-letter.row.", "json.", "dead letters", s->at};
        uint32_t values = s->rd->values;
        if (conf) {
            opts_fill(&scope, out->json->opts, conf);
        }
        s->rd->values = values; /* nobody wrote them: no keys to show */
        out->json_conf = conf;
    }
}

void steps_read_dead_letter(struct reader *rd, struct job *job)
{
    static const char section[] = "dead-letter";
    const struct entry *group = entries_group(&rd->entries, section);
    uint32_t from;
    uint32_t to;

    entries_range(&rd->entries, "dead-letter.", &from, &to);
    if (from == to) {
        return; /* an empty one is faulted with what is left over */
    }
    const struct entry *first = group ? group : &rd->entries.item[from];
    struct steps_one s = {
        .rd = rd, .name = section, .prefix = "dead-letter.", .at = first->name->at};
    struct opts_scope scope = {rd, s.prefix, "", section, s.at};
    struct job_step *out = arena_get(rd->arena, sizeof(*out));
    if (!out) {
        return;
    }
    uint32_t errors = rd->faults->errors;
    *out = (struct job_step){.kind = JOB_SINK, .uid = section};
    out->name = (struct job_text){.text = section, .len = sizeof(section) - 1, .at = s.at};
    s.out = out;
    opts_fill(&scope, steps_dead_letter_opts, &s.keys);
    opts_add_words(rd, &s.known, steps_dead_letter_opts, "");
    steps_connect(&s);
    steps_plain_json(&s, &job->dead_letter);
    steps_leftovers(&s);
    steps_settle(&s, rd->faults->errors > errors);
    job->dead_letter.step = out;
    job->dead_letter.total_max = s.keys.total_max;
    job->dead_letter.minute_max = s.keys.minute_max;
}
