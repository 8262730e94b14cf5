/* Which columns of a source or sink are in the keys of its records. */
#include <string.h>

#include "engine/base/assert.h"
#include "engine/bind/binder.h"
#include "engine/data/schema.h"

/* The names of the key's columns: key.fields, else the primary key's. */
static bool keyed_names(struct binder *b, const struct job_step *step, const struct sr_schema *s,
                        struct job_texts *out)
{
    *out = step->key_fields;
    if (out->count > 0) {
        return true;
    }
    struct job_text *name = arena_array(b->arena, s->keys + 1u, sizeof(*name));
    for (uint32_t i = 0; name && i < s->keys; i++) {
        const char *text = s->field[s->key[i]].name;
        name[i] = (struct job_text){text, (uint32_t)strlen(text), step->key_format_at, 0, NULL, 0};
    }
    *out = (struct job_texts){s->keys, name};
    if (!name) {
        return bind_no_memory(b);
    }
    if (s->keys == 0) {
        bind_fault_at(b, step->key_format_at, "key.fields: [id]",
                      "SR0610: '%s' needs 'key.fields' beside 'key.format', or a primary key",
                      step->name.text);
    }
    return s->keys > 0;
}

static bool keyed_field(struct binder *b, const struct job_step *step, const struct sr_schema *s,
                        const struct job_text *name)
{
    size_t prefix = strlen(step->key_prefix);
    if (schema_find(s, name->text) < 0) {
        bind_fault(b, name, 0, "it is a column that is declared, and neither computed nor METADATA",
                   "SR0610: key.fields: there is no column '%s'", name->text);
        return false;
    }
    if (strncmp(name->text, step->key_prefix, prefix) != 0 || !name->text[prefix]) {
        bind_fault(b, name, 0, NULL,
                   "SR0610: key.fields: column '%s' does not begin with key.fields-prefix '%s'",
                   name->text, step->key_prefix);
        return false;
    }
    return true;
}

/* What belongs together, and is not there. */
static bool keyed_options(struct binder *b, const struct job_step *step)
{
    if (!step->key_format && step->key_fields.count > 0) {
        bind_fault(b, &step->key_fields.item[0], 0, "key.format: raw",
                   "SR0610: '%s': key.fields means nothing without key.format", step->name.text);
        return false;
    }
    if (step->key_format && *step->key_prefix && !step->value_except_key) {
        bind_fault_at(b, step->key_format_at, "value.fields-include: EXCEPT_KEY",
                      "SR0610: '%s': with key.fields-prefix the value cannot have the key's "
                      "columns",
                      step->name.text);
        return false;
    }
    return true;
}

bool keyed_find(struct binder *b, const struct job_step *step, const struct sr_schema *s,
                bool *is_key)
{
    struct job_texts names;
    if (!step->key_prefix) {
        return true;
    }
    if (!keyed_options(b, step)) {
        return false;
    }
    if (!step->key_format) {
        return true;
    }
    bool is_good = keyed_names(b, step, s, &names);
    for (uint32_t i = 0; is_good && i < names.count; i++) {
        is_good = keyed_field(b, step, s, &names.item[i]);
        if (is_good) {
            is_key[schema_find(s, names.item[i].text)] = true;
        }
    }
    return is_good;
}

static bool keyed_check(struct binder *b, const struct job_step *step, const struct plan_keyed *k)
{
    const struct sr_format_type *f = step->key_format;
    bool is_write = step->kind == JOB_SINK;
    uint32_t flags = 0;
    struct sr_error err = {0};
    if ((is_write ? f->encoder_size : f->decoder_size) == 0) {
        bind_fault_at(b, step->key_format_at, NULL, "SR0608: format '%s' cannot %s", f->name,
                      is_write ? "write" : "read");
        return false;
    }
    if (f->check && f->check(step->key_format_conf, &k->key, is_write, &flags, &err) != SR_OK) {
        bind_fault_at(b, step->key_format_at, NULL, "SR0609: format '%s': %s", f->name, err.words);
        return false;
    }
    if ((flags & SR_FORMAT_CHANGES) != 0) {
        bind_fault_at(b, step->key_format_at, "key.format: json, csv or raw",
                      "SR0610: format '%s' carries changes of rows: a key has none", f->name);
        return false;
    }
    return true;
}

struct plan_keyed *keyed_make(struct binder *b, const struct job_step *step,
                              const struct sr_schema *s)
{
    struct job_texts names;
    struct plan_keyed *k = arena_get(b->arena, sizeof(*k));
    if (!k || !keyed_names(b, step, s, &names)) {
        return k ? NULL : (bind_no_memory(b), NULL);
    }
    struct sr_field *field = arena_array(b->arena, names.count + 1u, sizeof(*field));
    uint32_t *column = arena_array(b->arena, names.count + 1u, sizeof(*column));
    if (!field || !column) {
        (void)bind_no_memory(b);
        return NULL;
    }
    for (uint32_t i = 0; i < names.count; i++) {
        int32_t c = schema_find(s, names.item[i].text);
        sr_assert(c >= 0); /* keyed_find has looked */
        column[i] = (uint32_t)c;
        field[i] = s->field[c];
        field[i].name += strlen(step->key_prefix);
    }
    k->key = (struct sr_schema){.fields = names.count, .field = field, .rowtime = -1};
    k->how = (struct sr_keyed){.key_format = step->key_format,
                               .key_conf = step->key_format_conf,
                               .key = &k->key,
                               .key_column = column};
    k->is_apart = step->value_except_key;
    return keyed_check(b, step, k) ? k : NULL;
}
