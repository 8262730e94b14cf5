/* What a source or sink is connected to, and the formats of its records. */
#include <string.h>

#include "conf/steps_inner.h"
#include "conf/texts.h"
#include "engine/base/assert.h"
#include "engine/base/nearest.h"

/* Names of all types of a kind, for whoever named one that is not there. */
static const char *steps_list(struct reader *rd, enum registry_kind kind)
{
    struct registry_item item;
    const char *list = "";
    for (uint32_t i = 0; registry_item(rd->registry, kind, i, &item); i++) {
        list = arena_printf(rd->arena, "%s%s%s", list, i > 0 ? ", " : "", item.name);
        if (!list) {
            return "";
        }
    }
    return list;
}

/* A connector that only reads or only writes is a common slip: say so. */
static bool steps_is_other_way(const struct steps_one *s, const char *name)
{
    bool is_source = s->out->kind == JOB_SOURCE;
    struct registry_item item;
    enum registry_kind other = is_source ? REGISTRY_SINK : REGISTRY_SOURCE;
    for (uint32_t i = 0; registry_item(s->rd->registry, other, i, &item); i++) {
        if (strcmp(item.name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void steps_fault_type(struct steps_one *s, enum registry_kind kind, const char *what,
                             const struct entry *e, const char *name)
{
    struct reader *rd = s->rd;
    const struct sr_error *why = registry_fault(rd->registry);
    const char *shown = reader_shown(e, e->value);

    s->is_lenient = true;
    if (why) {
        reader_fault(rd, e->value->at, NULL, "SR0402: %s '%s' cannot be loaded: %s", what, shown,
                     why->words);
        return;
    }
    registry_load_home(rd->registry);
    const char *list = steps_list(rd, kind);
    const char *nearest = registry_nearest(rd->registry, kind, name);
    const char *hint =
        nearest ? arena_printf(rd->arena, "did you mean '%s'? There are: %s", nearest, list)
                : arena_printf(rd->arena, "there are: %s", list);
    if (kind != REGISTRY_FORMAT && steps_is_other_way(s, name)) {
        reader_fault(rd, e->value->at, hint, "SR0401: connector '%s' cannot be a %s, only a %s",
                     shown, steps_kind[s->out->kind],
                     s->out->kind == JOB_SOURCE ? "sink" : "source");
        return;
    }
    reader_fault(rd, e->value->at, hint, "SR0401: there is no %s '%s'", what, shown);
}

/* A table of options, and the struct that it fills. */
struct steps_slot {
    const struct sr_opt *opts;
    uint32_t size;
    const char *strip, *what;
    struct place at; /* where what is missing is faulted */
};

/* Fills the conf struct of a connector or format; NULL: out of memory. */
static void *steps_conf(struct steps_one *s, const struct steps_slot *slot)
{
    void *conf = arena_get(s->rd->arena, slot->size ? slot->size : 1);
    struct opts_scope scope = {s->rd, s->prefix, slot->strip, slot->what, slot->at};

    if (!conf) {
        s->rd->entries.is_broken = true;
        return NULL;
    }
    if (s->out->connector_at.line == 0) {
        scope.at = s->at;
    }
    opts_fill(&scope, slot->opts, conf);
    opts_add_words(s->rd, &s->known, slot->opts, slot->strip);
    return conf;
}

static void steps_connector(struct steps_one *s)
{
    struct job_step *out = s->out;
    const char *name = s->keys.connector;
    const struct entry *e = steps_entry(s, "connector");

    if (!e || !name) {
        s->is_lenient = true;
        return;
    }
    out->connector_at = e->value->at;
    const char *what = arena_printf(s->rd->arena, "connector '%s'", reader_shown(e, e->value));
    if (out->kind == JOB_SOURCE) {
        out->source = registry_source(s->rd->registry, name);
        if (out->source) {
            struct steps_slot slot = {out->source->opts, out->source->conf_size, "", what,
                                      out->connector_at};
            out->conf = steps_conf(s, &slot);
            return;
        }
        steps_fault_type(s, REGISTRY_SOURCE, "connector", e, name);
        return;
    }
    out->sink = registry_sink(s->rd->registry, name);
    if (out->sink) {
        struct steps_slot slot = {out->sink->opts, out->sink->conf_size, "", what,
                                  out->connector_at};
        out->conf = steps_conf(s, &slot);
        return;
    }
    steps_fault_type(s, REGISTRY_SINK, "connector", e, name);
}

/* A format that is written under `key`; its options stand behind `strip` and its name. */
struct steps_formatted {
    const char *key, *name, *strip;
    const struct sr_format_type **type;
    const void **conf;
    struct place *at;
};

static void steps_one_format(struct steps_one *s, const struct steps_formatted *f)
{
    const struct entry *e = steps_entry(s, f->key);
    if (!e || !f->name) {
        return;
    }
    *f->at = e->value->at;
    const struct sr_format_type *type = registry_format(s->rd->registry, f->name);
    if (!type) {
        steps_fault_type(s, REGISTRY_FORMAT, "format", e, f->name);
        return;
    }
    *f->type = type;
    const char *strip = arena_printf(s->rd->arena, "%s%s.", f->strip, f->name);
    const char *what = arena_printf(s->rd->arena, "format '%s'", f->name);
    if (strip && what) {
        struct steps_slot slot = {type->opts, type->conf_size, strip, what, *f->at};
        *f->conf = steps_conf(s, &slot);
    }
}

static void steps_format(struct steps_one *s)
{
    struct job_step *out = s->out;
    const struct entry *both = steps_entry(s, "value.format");
    bool is_value = s->keys.value_format != NULL;
    struct steps_formatted f = {.key = is_value ? "value.format" : "format",
                                .name = is_value ? s->keys.value_format : s->keys.format,
                                .strip = is_value ? "value." : "",
                                .type = &out->format,
                                .conf = &out->format_conf,
                                .at = &out->format_at};
    if (is_value && both && steps_entry(s, "format")) {
        reader_fault(s->rd, both->name->at, "remove one of them",
                     "SR0304: 'value.format' cannot stand beside 'format'");
    }
    steps_one_format(s, &f);
}

/* --- Keys of records ------------------------------------------------------------------------- */

static bool steps_has_keys(const struct job_step *out)
{
    return (out->source && SR_HAS_FIELD(out->source, struct sr_source_type, has_keys) &&
            out->source->has_keys) ||
           (out->sink && SR_HAS_FIELD(out->sink, struct sr_sink_type, has_keys) &&
            out->sink->has_keys);
}

/* Before the value's format: it may be written in two ways. */
static void steps_keyed(struct steps_one *s)
{
    struct job_step *out = s->out;
    if (!steps_has_keys(out)) {
        return;
    }
    struct opts_scope scope = {s->rd, s->prefix, "", steps_kind[out->kind], s->at};
    opts_fill(&scope, steps_keyed_opts, &s->keys);
    opts_add_words(s->rd, &s->known, steps_keyed_opts, "");
    steps_texts(s, "key.fields", &out->key_fields);
    out->key_prefix = s->keys.key_prefix;
    out->value_except_key = s->keys.value_include.index == 1;
    struct steps_formatted f = {.key = "key.format",
                                .name = s->keys.key_format,
                                .strip = "key.",
                                .type = &out->key_format,
                                .conf = &out->key_format_conf,
                                .at = &out->key_format_at};
    steps_one_format(s, &f);
}

void steps_connect(struct steps_one *s)
{
    steps_connector(s);
    steps_keyed(s);
    steps_format(s);
}
