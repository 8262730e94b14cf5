#include "conf/texts.h"

#include <string.h>
#include <strings.h>

#include "conf/syntax.h"
#include "conf/vars.h"
#include "engine/base/assert.h"

/* Reads on from one byte of an expression: what is open there. */
struct texts_open {
    char quote;    /* ', ", ` or 0 */
    int32_t depth; /* of brackets */
    int32_t lowest;
};

static void texts_step(struct texts_open *o, char c)
{
    if (o->quote) {
        if (c == o->quote) {
            o->quote = '\0';
        }
    } else if (c == '\'' || c == '"' || c == '`') {
        o->quote = c;
    } else if (c == '(' || c == '[') {
        o->depth++;
    } else if (c == ')' || c == ']') {
        o->depth--;
        o->lowest = o->depth < o->lowest ? o->depth : o->lowest;
    }
}

static bool texts_is_whole(const char *text)
{
    struct texts_open o = {0};
    for (const char *s = text; *s; s++) {
        texts_step(&o, *s);
    }
    return !o.quote && o.depth == 0 && o.lowest == 0;
}

/* In a type < and > are brackets too; in a computed column's expression they are not. */
static bool texts_is_whole_type(const char *text)
{
    int32_t depth = 0;
    bool is_computed = strncasecmp(text, "AS ", 3) == 0;
    for (const char *s = text; !is_computed && *s && depth >= 0; s++) {
        depth += *s == '<' ? 1 : *s == '>' ? -1 : 0;
    }
    return depth == 0 && texts_is_whole(text);
}

/* Whether YAML took a part of a plain text for itself; adds the fault. */
static bool texts_is_eaten(struct reader *rd, const struct entry *e, const struct node *n,
                           bool (*is_whole)(const char *text))
{
    if (!n->page || n->style != NODE_PLAIN || is_whole(n->text)) {
        return false;
    }
    const char *behind = n->page->text + n->end;
    behind += strspn(behind, " \t");
    const char *before = n->page->text + n->begin;
    while (before > n->page->text && strchr(" \t\n", before[-1])) {
        before--;
    }
    bool is_behind_comma = before > n->page->text && before[-1] == ',';
    if (*behind == '#') {
        reader_fault(rd, n->at, syntax_block_hint(n->page, n->begin),
                     "SR0105: %s: YAML takes '#' and what follows as a comment, which leaves '%s'",
                     e->key, n->text);
        return true;
    }
    if (*behind == ',' || is_behind_comma) {
        reader_fault(
            rd, n->at, syntax_block_hint(n->page, n->begin),
            "SR0105: %s: YAML takes a comma in a list or mapping in one line as its separator, "
            "which leaves '%s'",
            e->key, n->text);
        return true;
    }
    return false;
}

static bool texts_check_kind(struct reader *rd, const struct entry *e, const struct node *n)
{
    if (n->kind == NODE_MAPPING) {
        reader_fault(
            rd, n->at, syntax_block_hint(n->page, n->begin),
            "SR0105: %s: YAML takes ': ' as the end of a key, which makes a mapping of this text",
            e->key);
        return false;
    }
    if (n->kind == NODE_SEQUENCE) {
        reader_fault(rd, n->at, syntax_block_hint(n->page, n->begin),
                     "SR0202: '%s' takes one text here, not a list", e->key);
        return false;
    }
    if (node_is_null(n) || n->len == 0) {
        reader_fault(rd, n->len == 0 && n->page ? e->name->at : n->at, NULL,
                     "SR0202: '%s' has no text", e->key);
        return false;
    }
    return true;
}

static bool texts_read(struct reader *rd, const struct entry *e, struct node *n,
                       bool (*is_whole)(const char *text), struct job_text *out)
{
    sr_assert(rd && e && n && out);
    if (n->has_fault || !texts_check_kind(rd, e, n) || texts_is_eaten(rd, e, n, is_whole)) {
        return false;
    }
    const char *text = vars_expand(rd, n, e->dir);
    if (n->has_fault) {
        return false;
    }
    *out = (struct job_text){
        .text = text, .len = n->len, .at = n->at, .indent = n->indent, .raw = NULL};
    bool is_folded = n->style == NODE_FOLDED || n->style == NODE_PLAIN || n->style == NODE_SINGLE;
    if (n->page && is_folded && !n->has_variables) {
        bool is_block = n->style == NODE_FOLDED;
        uint32_t first = n->page->line_at[n->at.line - 1] + n->at.column - 1;
        out->raw = n->page->text + (is_block ? first : n->begin + (n->style == NODE_SINGLE));
        out->is_quoted = n->style == NODE_SINGLE;
    }
    return true;
}

bool texts_one(struct reader *rd, const struct entry *e, struct node *n, struct job_text *out)
{
    return texts_read(rd, e, n, texts_is_whole, out);
}

bool texts_type(struct reader *rd, const struct entry *e, struct node *n, struct job_text *out)
{
    return texts_read(rd, e, n, texts_is_whole_type, out);
}

/* The text without its outer white space, as a part of `whole`. */
static struct job_text texts_part(struct reader *rd, const struct job_text *whole, uint32_t from,
                                  uint32_t to)
{
    while (from < to && strchr(" \t\n\r", whole->text[from])) {
        from++;
    }
    while (to > from && strchr(" \t\n\r", whole->text[to - 1])) {
        to--;
    }
    struct job_text part = {.text = arena_text_n(rd->arena, whole->text + from, to - from),
                            .len = to - from,
                            .at = job_place(whole, from),
                            .indent = whole->indent};
    return part;
}

/* `a, CONCAT(b, c)` has two parts. */
static void texts_split(struct reader *rd, const struct job_text *whole, struct job_texts *out)
{
    struct texts_open o = {0};
    uint32_t count = 1;

    for (uint32_t i = 0; i < whole->len; i++) {
        count += whole->text[i] == ',' || whole->text[i] == ';' ? 1 : 0;
    }
    struct job_text *item = arena_array(rd->arena, count, sizeof(*item));
    uint32_t n = 0;
    uint32_t from = 0;
    for (uint32_t i = 0; item && i <= whole->len; i++) {
        bool is_cut = i < whole->len && (whole->text[i] == ',' || whole->text[i] == ';');
        bool is_end = i == whole->len || (is_cut && !o.quote && o.depth == 0);
        if (!is_end) {
            texts_step(&o, whole->text[i]);
            continue;
        }
        item[n] = texts_part(rd, whole, from, i);
        n += item[n].len > 0 ? 1 : 0;
        from = i + 1;
    }
    *out = (struct job_texts){n, item};
}

void texts_list(struct reader *rd, const struct entry *e, struct job_texts *out)
{
    struct node *v = e->value;

    if (v->kind == NODE_SCALAR) {
        struct job_text whole;
        if (texts_one(rd, e, v, &whole)) {
            texts_split(rd, &whole, out);
        }
        return;
    }
    struct job_text *item = arena_array(rd->arena, v->count + 1u, sizeof(*item));
    uint32_t n = 0;
    if (v->count == 0) {
        reader_fault(rd, v->at, NULL, "SR0202: '%s' is an empty list", e->key);
    }
    for (uint32_t i = 0; item && i < v->count; i++) {
        n += texts_one(rd, e, v->item[i], &item[n]) ? 1 : 0;
    }
    *out = (struct job_texts){n, item};
}
