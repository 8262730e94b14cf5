#include "conf/opts.h"

#include <string.h>
#include <strings.h>

#include "conf/value.h"
#include "conf/vars.h"
#include "engine/base/assert.h"
#include "engine/base/nearest.h"

/* One option of a scope, while it is filled. */
struct opts_one {
    const struct opts_scope *s;
    const struct sr_opt *o;
    const char *full; /* prefix, strip and key */
    void *field;
};

void opts_report(struct reader *rd, const char *key, const char *value, const char *origin,
                 const char *note)
{
    struct conf_value *grown =
        arena_more(rd->arena, rd->value, rd->values, &rd->value_space, sizeof(*grown));
    if (!grown) {
        rd->entries.is_broken = true;
        return;
    }
    rd->value = grown;
    rd->value[rd->values++] = (struct conf_value){key, value, origin, note};
}

static const char *opts_full(const struct opts_scope *s, const char *key)
{
    const char *full = arena_printf(s->rd->arena, "%s%s%s", s->prefix, s->strip, key);
    s->rd->entries.is_broken = s->rd->entries.is_broken || !full;
    return full ? full : "";
}

/* An older name, or the same key once more: the higher rank counts, then the newer name. */
static struct entry *opts_prefer(struct opts_one *one, struct entry *newer, struct entry *older)
{
    struct reader *rd = one->s->rd;

    older->is_used = true;
    older->canonical = one->full;
    if (!newer || older->rank > newer->rank) {
        fault_add(rd->faults, FAULT_NOTICE, older->name->at, NULL,
                  "SR0204: '%s' is the older name of '%s'", older->key, one->full);
        if (newer) {
            newer->is_used = true;
            newer->is_beaten = true;
        }
        return older;
    }
    older->is_beaten = true;
    fault_add(rd->faults, FAULT_WARNING, older->name->at, NULL,
              "SR0204: '%s' is the older name of '%s', which is written too and counts", older->key,
              one->full);
    return newer;
}

/* The entry that says what the option is, by any of its names. */
static struct entry *opts_entry(struct opts_one *one)
{
    struct entry *e = entries_find(&one->s->rd->entries, one->full);

    for (const char *const *alias = one->o->aliases; alias && *alias; alias++) {
        const char *full = opts_full(one->s, *alias);
        struct entry *older = entries_find(&one->s->rd->entries, full);
        if (older) {
            e = opts_prefer(one, e, older);
        }
    }
    if (!e || e->is_off) {
        return NULL;
    }
    e->is_used = true;
    if (one->o->flags & SR_OPT_SECRET && !e->is_secret) {
        entry_hide(e);
    }
    return e;
}

/* A scalar's text behind its variables; NULL: a fault was added. */
static const char *opts_text(struct reader *rd, const struct entry *e, struct node *n)
{
    if (n->kind != NODE_SCALAR) {
        reader_fault(rd, n->at, NULL, "SR0202: '%s' takes one value, not a %s", e->key,
                     n->kind == NODE_SEQUENCE ? "list" : "mapping");
        return NULL;
    }
    if (node_is_null(n)) {
        reader_fault(rd, n->page ? e->name->at : n->at, "an empty text is written ''",
                     "SR0202: '%s' has no value", e->key);
        return NULL;
    }
    const char *text = vars_expand(rd, n, e->dir);
    return n->has_fault ? NULL : text;
}

static void opts_scalar(struct opts_one *one, struct entry *e)
{
    struct reader *rd = one->s->rd;
    struct value_fault f;
    const char *text = opts_text(rd, e, e->value);

    if (!text) {
        return;
    }
    if (one->o->flags & SR_OPT_PATH && one->o->kind == SR_OPT_TEXT) {
        text = reader_absolute(rd->arena, e->dir, text);
        e->effective = text;
    }
    if (!text || value_parse(one->o, text, reader_shown(e, e->value), one->field, &f)) {
        return;
    }
    reader_fault(rd, e->value->at, f.hint, "SR0203: %s: %s", e->key, f.words);
    if (one->o->def) {
        /* Whoever looks at the job for more faults finds a value that can be. */
        (void)value_parse(one->o, one->o->def, one->o->def, one->field, &f);
    }
}

/* Splits at ; if there is one, else at commas; white space around the parts does not count. */
static void opts_list_text(struct reader *rd, const char *text, sr_list *out)
{
    char separator = strchr(text, ';') ? ';' : ',';
    const char **item = arena_array(rd->arena, strlen(text) / 2 + 2, sizeof(*item));
    uint32_t count = 0;

    while (item && *text) {
        const char *end = strchr(text, separator);
        size_t len = end ? (size_t)(end - text) : strlen(text);
        const char *next = text + len + (end ? 1 : 0);
        while (len > 0 && strchr(" \t\n", *text)) {
            text++;
            len--;
        }
        while (len > 0 && strchr(" \t\n", text[len - 1])) {
            len--;
        }
        if (len > 0) {
            item[count++] = arena_text_n(rd->arena, text, len);
        }
        text = next;
    }
    *out = (sr_list){count, item};
}

static void opts_list(struct opts_one *one, const struct entry *e)
{
    struct reader *rd = one->s->rd;
    struct node *v = e->value;

    if (v->kind == NODE_SCALAR) {
        const char *text = opts_text(rd, e, v);
        if (text) {
            opts_list_text(rd, text, one->field);
        }
        return;
    }
    const char **item = arena_array(rd->arena, v->count + 1u, sizeof(*item));
    for (uint32_t i = 0; item && i < v->count; i++) {
        item[i] = opts_text(rd, e, v->item[i]);
    }
    *(sr_list *)one->field = (sr_list){v->count, item};
}

static void opts_pairs(struct opts_one *one)
{
    struct reader *rd = one->s->rd;
    uint32_t from;
    uint32_t to;

    entries_range(&rd->entries, one->full, &from, &to);
    const char **key = arena_array(rd->arena, to - from + 1u, sizeof(*key));
    const char **value = arena_array(rd->arena, to - from + 1u, sizeof(*value));
    uint32_t count = 0;
    for (uint32_t i = from; key && value && i < to; i++) {
        struct entry *e = &rd->entries.item[i];
        e->is_used = true;
        if (one->o->flags & SR_OPT_SECRET) {
            entry_hide(e);
        }
        key[count] = e->key + strlen(one->full);
        value[count] = opts_text(rd, e, e->value);
        count += value[count] ? 1 : 0;
    }
    *(sr_pairs *)one->field = (sr_pairs){count, key, value};
}

static void opts_default(struct opts_one *one)
{
    const struct sr_opt *o = one->o;
    struct reader *rd = one->s->rd;
    struct value_fault f;

    if (o->flags & SR_OPT_REQUIRED) {
        reader_fault(rd, one->s->at, o->doc, "SR0205: %s needs '%s%s'", one->s->what, one->s->strip,
                     o->key);
        return;
    }
    if (o->kind == SR_OPT_DURATION && !o->def) {
        ((sr_duration *)one->field)->us = -1;
    }
    if (!o->def) {
        return;
    }
    if (o->kind == SR_OPT_LIST) {
        opts_list_text(rd, o->def, one->field);
    } else if (o->kind != SR_OPT_PAIRS && !value_parse(o, o->def, o->def, one->field, &f)) {
        /* The table comes with a plugin: its author must hear of it, not crash us. */
        reader_fault(rd, one->s->at, NULL, "SR0402: %s: the default of '%s' is wrong: %s",
                     one->s->what, o->key, f.words);
    }
    bool is_secret = o->flags & SR_OPT_SECRET || conf_is_secret_key(o->key);
    opts_report(rd, one->full, is_secret ? PAGE_MASKED : o->def, "default",
                *one->s->prefix ? NULL : settings_note(o->key));
}

void opts_fill(const struct opts_scope *s, const struct sr_opt *opts, void *conf)
{
    sr_assert(s && s->rd && s->prefix && s->strip);
    for (const struct sr_opt *o = opts; o && o->key; o++) {
        struct opts_one one = {s, o, opts_full(s, o->key), (char *)conf + o->offset};
        if (o->kind == SR_OPT_PAIRS) {
            opts_pairs(&one);
            continue;
        }
        struct entry *e = opts_entry(&one);
        if (!e) {
            opts_default(&one);
        } else if (o->flags & OPTS_TEXT) {
            continue;
        } else if (o->kind == SR_OPT_LIST) {
            opts_list(&one, e);
        } else {
            if (o->kind == SR_OPT_DURATION && !o->def) {
                ((sr_duration *)one.field)->us = -1; /* stays so when the text is faulted */
            }
            opts_scalar(&one, e);
        }
    }
}

void opts_add_word(struct reader *rd, struct opts_words *w, const char *word)
{
    uint32_t pieces = w->item ? w->count + 1 : 0; /* the NULL behind the words is one too */
    const char **grown = arena_more(rd->arena, w->item, pieces, &w->space, sizeof(*grown));
    if (!grown || !word) {
        rd->entries.is_broken = true;
        return;
    }
    w->item = grown;
    w->item[w->count++] = word;
    w->item[w->count] = NULL;
}

void opts_add_words(struct reader *rd, struct opts_words *w, const struct sr_opt *opts,
                    const char *strip)
{
    for (const struct sr_opt *o = opts; o && o->key; o++) {
        opts_add_word(rd, w, *strip ? arena_printf(rd->arena, "%s%s", strip, o->key) : o->key);
    }
}

/* `sink.compression` for `compression`: a known key with a word too many before it. */
static bool opts_ends_in(const char *rest, const char *word)
{
    size_t len = strlen(rest), end = strlen(word);
    return len > end && rest[len - end - 1] == '.' && strcmp(rest + len - end, word) == 0;
}

/* Words of SQL that are keys of another name here. */
static const char *opts_of_sql(const char *rest, const struct opts_words *known)
{
    static const struct {
        const char *sql, *key;
    } all[] = {{"partitioned-by", "partition-keys"}, {"partition-by", "partition-keys"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (uint32_t k = 0; strcmp(rest, all[i].sql) == 0 && k < known->count; k++) {
            if (strcmp(known->item[k], all[i].key) == 0) return all[i].key;
        }
    }
    return NULL;
}

/* The known word that was meant: in another case, as a text and not as a mapping, or a near one.
 * *is_part: it is the beginning of what was written. */
static const char *opts_meant(const char *rest, const struct opts_words *known, bool *is_part)
{
    *is_part = false;
    const char *of_sql = opts_of_sql(rest, known);
    if (of_sql) return of_sql;
    for (uint32_t i = 0; i < known->count; i++) {
        const char *word = known->item[i];
        if (strcasecmp(word, rest) == 0) {
            return word;
        }
        size_t len = strlen(word);
        if (strncmp(word, rest, len) == 0 && rest[len] == '.') {
            *is_part = true;
            return word;
        }
    }
    const char *near = known->item ? nearest_word(rest, known->item) : NULL;
    for (uint32_t i = 0; !near && i < known->count; i++) {
        if (opts_ends_in(rest, known->item[i])) near = known->item[i];
    }
    return near;
}

/* `checkpointing:` with all its keys commented out says nothing, and is no fault. */
static bool opts_is_empty_group(const struct entry *e, const char *rest,
                                const struct opts_words *known)
{
    size_t len = strlen(rest);
    for (uint32_t i = 0; node_is_nothing(e->value) && i < known->count; i++) {
        if (strncmp(known->item[i], rest, len) == 0 && known->item[i][len] == '.') {
            return true;
        }
    }
    return false;
}

/* `pasword: x` is a secret as much as `password: x`. */
static void opts_hide_misspelt(struct reader *rd, struct entry *e, const char *meant)
{
    const struct sr_opt *o = NULL;
    const char *where = NULL;
    bool is_secret_option =
        conf_option(rd->registry, meant, 0, &o, &where) && o->flags & SR_OPT_SECRET;

    if (conf_is_secret_key(meant) || is_secret_option) {
        entry_hide(e);
    }
}

void opts_fault_unknown(struct reader *rd, struct entry *e, const char *rest,
                        const struct opts_words *known, const char *where)
{
    const struct sr_opt *other = NULL;
    const char *other_where = NULL;
    const char *hint = NULL;
    bool is_part;

    if (opts_is_empty_group(e, rest, known)) {
        return;
    }
    const char *meant = opts_meant(rest, known, &is_part);
    if (meant) {
        opts_hide_misspelt(rd, e, meant);
    }
    bool is_known = conf_option(rd->registry, rest, 0, &other, &other_where);
    if (meant && is_part && e->value->page && !is_known) {
        reader_fault(rd, e->name->at, NULL, "SR0202: '%s' takes one value, not a mapping with '%s'",
                     meant, rest + strlen(meant) + 1);
        return;
    }
    if (is_known) {
        hint = strcmp(other_where, "job") == 0
                   ? "it is a key of the job: write it in the first column"
                   : arena_printf(rd->arena, "it is a key of: %s", other_where);
    } else if (meant && !is_part) {
        hint = arena_printf(rd->arena, "did you mean '%s'?", meant);
    } else if (strcmp(rest, "having") == 0) {
        hint =
            "a transform that reads this one, with `where:`, does that; so does HAVING in `sql:`";
    }
    reader_fault(rd, e->name->at, hint, "SR0201: unknown key '%s' of %s", rest, where);
}
