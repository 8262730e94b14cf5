#include <string.h>

#include "engine/bind/binder.h"
#include "engine/data/schema.h"

/* `schema:` may also come from the connector; then only computed columns stand here. */
static bool columns_room(struct binder *b, struct columns *c, uint32_t room)
{
    c->field = arena_array(b->arena, (size_t)room + 1, sizeof(*c->field));
    c->computed = arena_array(b->arena, (size_t)room + 1, sizeof(struct ast *));
    c->text = arena_array(b->arena, (size_t)room + 1, sizeof(struct job_text *));
    c->at = arena_array(b->arena, (size_t)room + 1, sizeof(*c->at));
    c->metadata = arena_array(b->arena, (size_t)room + 1, sizeof(struct ast *));
    c->written = arena_array(b->arena, (size_t)room + 1, sizeof(*c->written));
    for (uint32_t i = 0; c->written && i < room; i++) {
        c->written[i] = -1;
    }
    bool has_all = c->field && c->computed && c->text && c->at && c->metadata && c->written;
    return has_all ? true : bind_no_memory(b);
}

/* One column as parsed from text `t`; `name_at` is where its name stands. */
static bool columns_add(struct binder *b, struct columns *c, const char *name, const struct ast *n,
                        const struct job_text *t)
{
    c->field[c->count].name = name;
    c->text[c->count] = t;
    c->at[c->count] = n->at;
    if (n->kind == AST_COMPUTED) {
        c->computed[c->count++] = n->item[0];
        return true;
    }
    c->metadata[c->count] = n->unit && strcmp(n->unit, "METADATA") == 0 ? n : NULL;
    struct sr_error err = {0};
    uint32_t at = 0;
    const struct ast *type = n->item[0];
    if (type_parse(b->arena, type->name, &c->field[c->count].type, &at, &err) != SR_OK) {
        bind_fault(b, t, type->at + at, NULL, "SR0603: column '%s': %s", name, err.words);
        return false;
    }
    c->count++;
    return true;
}

static bool columns_is_new(struct binder *b, const struct columns *c, const char *name,
                           const struct job_text *t, uint32_t at)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (strcmp(c->field[i].name, name) == 0) {
            bind_fault(b, t, at, NULL, "SR0602: column '%s' is there twice", name);
            return false;
        }
    }
    return true;
}

static bool columns_from_mapping(struct binder *b, const struct job_step *step, struct columns *c)
{
    bool is_good = columns_room(b, c, step->columns);
    if (!is_good) {
        return false;
    }
    for (uint32_t i = 0; i < step->columns; i++) {
        const struct job_column *k = &step->column[i];
        const struct ast *n = bind_parse(b, PARSE_COLUMN, &k->type);
        is_good = columns_is_new(b, c, k->name.text, &k->name, 0) && n &&
                  columns_add(b, c, k->name.text, n, &k->type) && is_good;
    }
    return is_good;
}

/* PRIMARY KEY (a, b) and `a INT PRIMARY KEY`. */
static bool columns_add_key(struct binder *b, struct columns *c, const struct ast *key,
                            const struct job_text *t)
{
    if (c->keys.count > 0) {
        bind_fault(b, t, key->at, NULL, "SR0602: there is a second primary key");
        return false;
    }
    struct job_text *item = arena_array(b->arena, (size_t)key->count + 1, sizeof(*item));
    if (!item) {
        return bind_no_memory(b);
    }
    for (uint32_t i = 0; i < key->count; i++) {
        const struct ast *w = key->item[i];
        item[i] = (struct job_text){
            .text = w->name, .len = w->len, .at = job_place(t, w->at), .indent = t->indent};
    }
    c->keys = (struct job_texts){key->count, item};
    return true;
}

static bool columns_add_part(struct binder *b, struct columns *c, const struct ast *n,
                             const struct job_text *t)
{
    if (n->kind == AST_KEY) {
        return columns_add_key(b, c, n, t);
    }
    if (n->kind == AST_WATERMARK) {
        if (c->watermark) {
            bind_fault(b, t, n->at, NULL, "SR0602: there is a second watermark");
            return false;
        }
        c->watermark = n;
        c->watermark_text = t;
        return true;
    }
    bool is_good = columns_is_new(b, c, n->name, t, n->at) && columns_add(b, c, n->name, n, t);
    if (n->kind == AST_COLUMN && n->unit && strcmp(n->unit, "KEY") == 0) {
        is_good = columns_add_key(b, c, n->item[1], t) && is_good;
    }
    return is_good;
}

static bool columns_from_text(struct binder *b, const struct job_text *t, struct columns *c)
{
    const struct ast *list = bind_parse(b, PARSE_SCHEMA, t);
    if (!list || !columns_room(b, c, list->count)) {
        return false;
    }
    bool is_good = true;
    for (uint32_t i = 0; i < list->count; i++) {
        is_good = columns_add_part(b, c, list->item[i], t) && is_good;
    }
    return is_good;
}

bool columns_read(struct binder *b, const struct job_step *step, struct columns *out)
{
    *out = (struct columns){0};
    bool is_good = step->schema_text.text ? columns_from_text(b, &step->schema_text, out)
                                          : columns_from_mapping(b, step, out);
    if (step->watermark.text) {
        const struct ast *n = bind_parse(b, PARSE_WATERMARK, &step->watermark);
        if (out->watermark) {
            bind_fault(b, &step->watermark, 0, NULL, "SR0602: the schema has a watermark already");
            is_good = false;
        }
        out->watermark = n;
        out->watermark_text = &step->watermark;
        is_good = n && is_good;
    }
    if (step->primary_key.count > 0 && out->keys.count > 0) {
        bind_fault(b, &step->primary_key.item[0], 0, NULL,
                   "SR0602: the schema has a primary key already");
        is_good = false;
    } else if (step->primary_key.count > 0) {
        out->keys = step->primary_key;
    }
    return is_good;
}

const uint32_t *columns_keys(struct binder *b, const struct job_texts *names,
                             const struct sr_schema *s, uint32_t *count)
{
    uint32_t *key = arena_array(b->arena, (size_t)names->count + 1, sizeof(*key));
    bool is_good = key ? true : bind_no_memory(b);
    for (uint32_t i = 0; key && i < names->count; i++) {
        const struct job_text *t = &names->item[i];
        int32_t c = schema_find(s, t->text);
        bool is_twice = false;
        for (uint32_t k = 0; k < i; k++) {
            is_twice = is_twice || (c >= 0 && key[k] == (uint32_t)c);
        }
        if (c < 0 || is_twice) {
            bind_fault(b, t, 0, NULL,
                       is_twice ? "SR0602: primary key column '%s' is there twice"
                                : "SR0601: primary key: there is no column '%s'",
                       t->text);
            is_good = false;
            continue;
        }
        key[i] = (uint32_t)c;
    }
    *count = names->count;
    return is_good ? key : NULL;
}
