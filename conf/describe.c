#include "conf/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/bytes.h"

struct describe {
    struct reader *rd;
    struct sr_out out;
    bool is_broken;
};

static void describe_put(struct describe *d, const char *text, size_t len)
{
    d->is_broken = d->is_broken || !bytes_put(&d->out, text, len);
}

static void describe_text(struct describe *d, const char *text)
{
    describe_put(d, text, strlen(text));
}

/* Bytes of a character that is UTF-8, and yet for YAML the end of a line, or not allowed: written
 * as it is it would not be read back. 0: it is none of those. */
static size_t describe_special(const unsigned char *s, size_t left, uint32_t *code)
{
    if (left >= 2 && s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) {
        *code = s[1];
        return 2;
    }
    if (left < 3 || s[0] < 0xe0 || s[0] >= 0xf0) {
        return 0;
    }
    uint32_t c = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    *code = c;
    return c == 0x2028 || c == 0x2029 || c == 0xfeff || c >= 0xfffe ? 3 : 0;
}

/* Double quotes: the one style that can carry any text in one line. */
static void describe_quoted(struct describe *d, const char *text, size_t len)
{
    char hex[12];
    uint32_t code = 0;

    describe_put(d, "\"", 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        size_t special = describe_special((const unsigned char *)text + i, len - i, &code);
        if (c == '"' || c == '\\') {
            describe_put(d, "\\", 1);
            describe_put(d, &text[i], 1);
        } else if (c == '\n') {
            describe_put(d, "\\n", 2);
        } else if (special > 0) {
            (void)snprintf(hex, sizeof(hex), "\\u%04X", (unsigned)code);
            describe_text(d, hex);
            i += special - 1;
        } else if (c < ' ' || c == 0x7f) {
            (void)snprintf(hex, sizeof(hex), "\\x%02X", c);
            describe_text(d, hex);
        } else {
            describe_put(d, &text[i], 1);
        }
    }
    describe_put(d, "\"", 1);
}

static void describe_key(struct describe *d, const char *key)
{
    size_t plain = strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
    if (key[plain] || *key == '-' || !*key) {
        describe_quoted(d, key, strlen(key));
    } else {
        describe_text(d, key);
    }
    describe_text(d, ":");
}

/* A value that is shown as it is: its `${` must not be taken for a variable. */
static const char *describe_literal(struct arena *a, const char *text, size_t *len)
{
    size_t more = 0;
    for (const char *s = strstr(text, "${"); s; s = strstr(s + 2, "${")) {
        more++;
    }
    char *out = arena_get(a, strlen(text) + more + 1);
    if (!out) {
        return NULL;
    }
    size_t n = 0;
    for (const char *s = text; *s; s++) {
        if (s[0] == '$' && s[1] == '{') {
            out[n++] = '$';
        }
        out[n++] = *s;
    }
    *len = n;
    return out;
}

/* The reference that `inside` the braces is, without a default, which would be the secret itself;
 * a file by its absolute path. */
static const char *describe_one_reference(struct arena *a, const char *inside, const char *dir)
{
    if (strncmp(inside, "file:", 5) == 0) {
        const char *path = reader_absolute(a, dir, inside + 5);
        return path ? arena_printf(a, "${file:%s}", path) : NULL;
    }
    return arena_printf(a, "${%.*s}", (int)strcspn(inside, ":"), inside);
}

/* A text with variables in it, kept unresolved. */
static const char *describe_references(struct arena *a, const struct node *n, const char *dir)
{
    const char *out = "";
    const char *s = n->written;

    while (out && *s) {
        size_t plain = strcspn(s, "$");
        if (plain > 0) {
            out = arena_printf(a, "%s%.*s", out, (int)plain, s);
            s += plain;
        } else if (strncmp(s, "$${", 3) == 0) {
            out = arena_printf(a, "%s$${", out);
            s += 3;
        } else if (strncmp(s, "${", 2) == 0) {
            size_t len = strcspn(s, "}");
            const char *inside = arena_text_n(a, s + 2, len - 2);
            const char *one = inside ? describe_one_reference(a, inside, dir) : NULL;
            out = one ? arena_printf(a, "%s%s", out, one) : NULL;
            s += len + (s[len] ? 1 : 0);
        } else {
            out = arena_printf(a, "%s$", out);
            s++;
        }
    }
    return out;
}

/* `sources.db.password` -> ${SOURCES_DB_PASSWORD} */
static const char *describe_variable(struct arena *a, const char *key)
{
    size_t len = strlen(key);
    char *name = arena_text(a, len > 200 ? key + len - 200 : key);
    for (char *s = name; s && *s; s++) {
        bool is_plain = (*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z');
        if (*s >= 'a' && *s <= 'z') {
            *s = (char)(*s - 'a' + 'A');
        } else if (!is_plain) {
            *s = '_';
        }
    }
    if (name && *name >= '0' && *name <= '9') {
        *name = '_';
    }
    return name ? arena_printf(a, "${%s}", name) : NULL;
}

/* What the description has for one scalar. */
static void describe_scalar(struct describe *d, const struct entry *e, const struct node *n)
{
    struct arena *a = d->rd->arena;
    const char *text = n->text;
    size_t len = n->len;

    if (n->is_secret || e->is_secret) {
        text = n->has_reference ? describe_references(a, n, e->dir)
                                : describe_variable(a, e->canonical);
        bool is_below_dir = text && e->effective && n->text[0] != '/' && n->has_reference;
        text = is_below_dir ? arena_printf(a, "%s/%s", e->dir, text) : text;
        len = text ? strlen(text) : 0;
    } else {
        text = describe_literal(a, e->effective ? e->effective : text, &len);
    }
    if (!text) {
        d->is_broken = true;
        return;
    }
    describe_quoted(d, text, len);
}

/* `key` is what is left of the full key at this indentation. */
static void describe_entry(struct describe *d, const struct entry *e, const char *key,
                           const char *indent)
{
    describe_text(d, indent);
    describe_key(d, key);
    if (e->value->kind == NODE_SCALAR) {
        describe_text(d, " ");
        describe_scalar(d, e, e->value);
        describe_text(d, "\n");
        return;
    }
    describe_text(d, "\n");
    for (uint32_t i = 0; i < e->value->count; i++) {
        describe_text(d, indent);
        describe_text(d, "  - ");
        describe_scalar(d, e, e->value->item[i]);
        describe_text(d, "\n");
    }
}

static bool describe_is_kept(const struct entry *e)
{
    return e->is_used && !e->is_beaten && !e->is_off && !e->is_ignored;
}

/* The entries of [from, to) that count, in the order in which they were written. */
static void describe_range(struct describe *d, uint32_t from, uint32_t to, const char *prefix,
                           const char *indent)
{
    const struct entries *all = &d->rd->entries;
    const struct entry **list = arena_array(d->rd->arena, to - from + 1u, sizeof(struct entry *));
    uint32_t n = 0;

    for (uint32_t i = from; list && i < to; i++) {
        const struct entry *e = &all->item[i];
        if (describe_is_kept(e) && (*prefix || !entry_section(e->key))) {
            list[n++] = e;
        }
    }
    if (!list) {
        d->is_broken = true;
        return;
    }
    if (n > 1) {
        qsort(list, n, sizeof(struct entry *), entries_by_order);
    }
    for (uint32_t i = 0; i < n; i++) {
        describe_entry(d, list[i], list[i]->canonical + strlen(prefix), indent);
    }
}

static void describe_section(struct describe *d, const struct job *job, enum job_step_kind kind,
                             const char *section)
{
    bool has_head = false;

    for (uint32_t i = 0; i < job->steps; i++) {
        const struct job_step *s = &job->step[i];
        uint32_t from;
        uint32_t to;
        if (s->kind != kind) {
            continue;
        }
        if (!has_head) {
            describe_text(d, section);
            describe_text(d, ":\n");
            has_head = true;
        }
        const char *prefix = arena_printf(d->rd->arena, "%s.%s.", section, s->name.text);
        if (!prefix) {
            d->is_broken = true;
            return;
        }
        describe_text(d, "  ");
        describe_key(d, s->name.text);
        describe_text(d, "\n");
        entries_range(&d->rd->entries, prefix, &from, &to);
        describe_range(d, from, to, prefix, "    ");
    }
}

const char *describe_job(struct reader *rd, const struct job *job)
{
    struct describe d = {.rd = rd, .out = bytes_out()};
    const char *text = NULL;

    sr_assert(rd && job);
    if (!entries_find(&rd->entries, "pipeline.name")) {
        size_t len = 0;
        const char *name = describe_literal(rd->arena, job->name, &len);
        describe_text(&d, "pipeline.name: ");
        describe_quoted(&d, name ? name : "", len);
        describe_text(&d, "\n");
    }
    describe_range(&d, 0, rd->entries.count, "", "");
    describe_section(&d, job, JOB_SOURCE, "sources");
    describe_section(&d, job, JOB_TRANSFORM, "transforms");
    describe_section(&d, job, JOB_SINK, "sinks");
    if (job->dead_letter.step) {
        uint32_t from;
        uint32_t to;
        entries_range(&rd->entries, "dead-letter.", &from, &to);
        describe_text(&d, "dead-letter:\n");
        describe_range(&d, from, to, "dead-letter.", "  ");
    }
    if (!d.is_broken) {
        text = arena_text_n(rd->arena, (const char *)d.out.data, d.out.len);
    }
    bytes_free(&d.out);
    return text;
}
