#include "engine/sql/parser.h"

#include <stdlib.h>
#include <string.h>

#include "engine/sql/grammar.h"

static struct ast *build_new(struct parser *p, enum ast_kind kind, uint32_t at, uint32_t end)
{
    struct ast *n = arena_get(p->arena, sizeof(*n));
    if (!n) {
        parser_fail(p, at, NULL, "out of memory");
        return NULL;
    }
    n->kind = kind;
    n->at = at;
    n->end = end;
    n->depth = 1;
    return n;
}

/* Gives n its items, and so its depth and place. */
static struct ast *build_items(struct parser *p, struct ast *n, const struct ast *const *item,
                               uint32_t count)
{
    if (!n) {
        return NULL;
    }
    n->item = item;
    n->count = count;
    bool is_first = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!item[i]) {
            continue;
        }
        n->at = is_first || item[i]->at < n->at ? item[i]->at : n->at;
        n->end = is_first || item[i]->end > n->end ? item[i]->end : n->end;
        n->depth = item[i]->depth >= n->depth ? item[i]->depth + 1 : n->depth;
        is_first = false;
    }
    if (n->depth > AST_DEPTH_MAX) {
        parser_fail(p, n->at, "split it into several steps or columns",
                    "nested more than %u levels deep", AST_DEPTH_MAX);
    }
    return n;
}

static const struct ast *const *build_pair(struct parser *p, const struct ast *a,
                                           const struct ast *b, const struct ast *c)
{
    const struct ast **item = arena_array(p->arena, 3, sizeof(struct ast *));
    if (!item) {
        parser_fail(p, p->last.at, NULL, "out of memory");
        return NULL;
    }
    item[0] = a;
    item[1] = b;
    item[2] = c;
    return item;
}

/* A node of 1 to 3 items; none of them may be missing: a part that failed makes the whole fail. */
static struct ast *build_of(struct parser *p, enum ast_kind kind, const struct ast *const item[3],
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!item[i]) {
            return NULL;
        }
    }
    const struct ast *const *kept = build_pair(p, item[0], item[1], item[2]);
    return kept ? build_items(p, build_new(p, kind, 0, 0), kept, count) : NULL;
}

static struct ast *build_name(struct parser *p, struct ast *n, const char *text, uint32_t len)
{
    if (n) {
        n->name = text;
        n->len = len;
        if (!text) {
            parser_fail(p, n->at, NULL, "out of memory");
        }
    }
    return n;
}

struct ast *ast_leaf(struct parser *p, enum ast_kind kind, struct token t)
{
    return build_name(p, build_new(p, kind, t.at, t.at + t.len),
                      arena_text_n(p->arena, p->text + t.at, t.len), t.len);
}

/* The text between quotes, with doubled ones made single. */
static char *build_unquote(struct parser *p, const char *from, uint32_t len, uint32_t *out)
{
    char *to = arena_get(p->arena, (size_t)len + 1);
    uint32_t n = 0;
    for (uint32_t i = 1; to && i + 1 < len; i++) {
        to[n++] = from[i];
        i += from[i] == from[0] ? 1 : 0;
    }
    *out = n;
    return to;
}

struct ast *ast_word(struct parser *p, struct token t)
{
    if (p->text[t.at] != '`') {
        return ast_leaf(p, AST_WORD, t);
    }
    uint32_t len = 0;
    char *text = build_unquote(p, p->text + t.at, t.len, &len);
    return build_name(p, build_new(p, AST_WORD, t.at, t.at + t.len), text, len);
}

const char *ast_copy_upper(struct parser *p, struct token t)
{
    const struct ast *word = ast_word(p, t);
    char *s = word && word->name ? arena_text(p->arena, word->name) : NULL;
    for (char *c = s; c && *c; c++) {
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    }
    return s;
}

struct ast *ast_upper(struct parser *p, enum ast_kind kind, struct token t)
{
    const char *text = ast_copy_upper(p, t);
    return build_name(p, build_new(p, kind, t.at, t.at + t.len), text,
                      text ? (uint32_t)strlen(text) : 0);
}

struct ast *ast_string(struct parser *p, enum ast_kind kind, struct token t)
{
    uint32_t len = 0, skip = 0;
    while (p->text[t.at + skip] != '\'') { /* x'00ff', _UTF16'abc' */
        skip++;
    }
    char *text = build_unquote(p, p->text + t.at + skip, t.len - skip, &len);
    return build_name(p, build_new(p, kind, t.at, t.at + t.len), text, len);
}

static int build_hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static uint32_t build_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    uint32_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (uint32_t i = n - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    to[0] = (char)((0xF00u >> n & 0xFF) | code);
    return n;
}

/* The code behind a mark, of so many hex digits from byte `from` on; surrogates are no
 * characters. */
static bool build_code(const struct ast *n, uint32_t from, uint32_t digits, uint32_t *code)
{
    if (from + digits > n->len) {
        return false;
    }
    uint32_t sum = 0;
    for (uint32_t d = 0; d < digits; d++) {
        int hex = build_hex(n->name[from + d]);
        if (hex < 0) {
            return false;
        }
        sum = sum << 4 | (uint32_t)hex;
    }
    *code = sum;
    return sum <= 0x10FFFF && (sum & 0x1FF800) != 0xD800;
}

struct ast *ast_unicode(struct parser *p, struct token t, struct token escape)
{
    struct ast *n = ast_string(p, AST_STRING, t);
    if (!n) {
        return NULL;
    }
    const char mark = *(escape.len == 3 ? &p->text[escape.at + 1] : "\\");
    if (escape.len != 0 && (escape.len != 3 || build_hex(mark) >= 0 || strchr("+ '\"", mark))) {
        parser_fail(p, escape.at, NULL, "UESCAPE takes one character that is no hex digit");
        return n;
    }
    char *text = arena_text_n(p->arena, n->name, n->len); /* it only becomes shorter */
    uint32_t len = 0;
    for (uint32_t i = 0; text && i < n->len;) {
        uint32_t digits = i + 1 < n->len && n->name[i + 1] == '+' ? 6 : 4,
                 from = i + (digits == 6 ? 2 : 1), code = 0;
        if (n->name[i] != mark) {
            text[len++] = n->name[i++];
        } else if (i + 1 < n->len && n->name[i + 1] == mark) {
            text[len++] = mark;
            i += 2;
        } else if (build_code(n, from, digits, &code)) {
            len += build_utf8(text + len, code);
            i = from + digits;
        } else {
            parser_fail(p, t.at, NULL,
                        "after %c stand four hex digits, or + and six, of a character", mark);
            return n;
        }
    }
    return build_name(p, n, text, len);
}

struct ast *ast_overlaps(struct parser *p, const struct ast *a, const struct ast *b)
{
    if (!a || !b) {
        return NULL;
    }
    const struct ast *const sides[2] = {a, b};
    struct ast_list *l = NULL;
    for (int i = 0; i < 2; i++) {
        if (sides[i]->kind != AST_CALL || strcmp(sides[i]->name, "ROW") != 0 ||
            sides[i]->count != 2) {
            parser_fail(p, sides[i]->at, "(from, to) OVERLAPS (from, to)",
                        "OVERLAPS stands between two periods");
            return NULL;
        }
        l = l ? ast_push(p, l, sides[i]->item[0]) : ast_list(p, sides[i]->item[0]);
        l = ast_push(p, l, sides[i]->item[1]);
    }
    return ast_span(ast_call(p, "OVERLAPS", l), a->at, b->end);
}

struct ast *ast_between(struct parser *p, const struct ast *x, struct token unit)
{
    if (x && (x->kind != AST_CALL || strcmp(x->name, "-") != 0 || x->count != 2)) {
        parser_fail(p, unit.at, "(a - b) DAY",
                    "an interval unit stands behind the difference of two times");
        return NULL;
    }
    return x ? ast_call3(p, "INTERVAL BETWEEN", x->item[0], x->item[1],
                         ast_upper(p, AST_STRING, unit))
             : NULL;
}

struct ast *ast_moment(struct parser *p, struct token unit, struct token text)
{
    struct ast *n = ast_span(ast_string(p, AST_MOMENT, text), unit.at, 0);
    if (n) {
        n->unit = ast_copy_upper(p, unit);
    }
    return n;
}

struct ast *ast_of(struct parser *p, enum ast_kind kind, const struct ast_list *items)
{
    if (!items) {
        return NULL;
    }
    return build_items(p, build_new(p, kind, 0, 0), items->item, items->count);
}

struct ast *ast_of1(struct parser *p, enum ast_kind kind, const struct ast *item)
{
    return build_of(p, kind, (const struct ast *const[3]){item}, 1);
}

struct ast *ast_of2(struct parser *p, enum ast_kind kind, const struct ast *a, const struct ast *b)
{
    return build_of(p, kind, (const struct ast *const[3]){a, b}, 2);
}

struct ast *ast_call(struct parser *p, const char *name, const struct ast_list *args)
{
    struct ast *n = build_new(p, AST_CALL, 0, 0);
    if (!n || !name) {
        return NULL;
    }
    build_name(p, n, name, (uint32_t)strlen(name));
    return build_items(p, n, args ? args->item : NULL, args ? args->count : 0);
}

static struct ast *build_call(struct parser *p, const char *name, const struct ast *const item[3],
                              uint32_t count)
{
    struct ast *n = build_of(p, AST_CALL, item, count);
    return build_name(p, n, name, (uint32_t)strlen(name));
}

struct ast *ast_call1(struct parser *p, const char *name, const struct ast *a)
{
    return name ? build_call(p, name, (const struct ast *const[3]){a}, 1) : NULL;
}

struct ast *ast_call2(struct parser *p, const char *name, const struct ast *a, const struct ast *b)
{
    return name ? build_call(p, name, (const struct ast *const[3]){a, b}, 2) : NULL;
}

struct ast *ast_call3(struct parser *p, const char *name, const struct ast *a, const struct ast *b,
                      const struct ast *c)
{
    return build_call(p, name, (const struct ast *const[3]){a, b, c}, 3);
}

struct ast *ast_postfix(struct parser *p, const char *name, const struct ast *x, struct token t)
{
    return x ? ast_span(ast_call1(p, name, x), x->at, t.at + t.len) : NULL;
}

/* The condition of one WHEN, whose values stand in a list. */
static const struct ast *build_when(struct parser *p, const struct ast *subject,
                                    const struct ast *values)
{
    if (!values) {
        return NULL;
    }
    if (values->count == 1) {
        return subject ? ast_call2(p, "=", subject, values->item[0]) : values->item[0];
    }
    if (!subject) {
        parser_fail(p, values->item[1]->at, "CASE x WHEN 1, 2 THEN ... takes a list",
                    "CASE without a value takes one condition a WHEN");
        return NULL;
    }
    struct ast_list *in = ast_list(p, subject);
    for (uint32_t i = 0; i < values->count; i++) {
        in = ast_push(p, in, values->item[i]);
    }
    return in ? ast_call(p, "IN", in) : NULL;
}

struct ast *ast_case(struct parser *p, const struct ast *subject, const struct ast_list *branches,
                     const struct ast *otherwise)
{
    struct ast_list *l = ast_list(p, NULL);
    for (uint32_t i = 0; branches && l && i + 1 < branches->count; i += 2) {
        l = ast_push(p, l, build_when(p, subject, branches->item[i]));
        l = l ? ast_push(p, l, branches->item[i + 1]) : NULL;
    }
    if (l && !otherwise) {
        otherwise = build_new(p, AST_NULL, p->behind, p->behind);
    }
    return branches && l ? ast_call(p, "CASE", ast_push(p, l, otherwise)) : NULL;
}

uint32_t ast_precision(struct parser *p, struct token t)
{
    return t.len == 0 ? 2 : (uint32_t)strtoul(p->text + t.at, NULL, 10);
}

/* Flink's literals are decimals first: there is no minus zero among them. */
static bool ast_is_zero(const struct ast *n)
{
    const char *s = n->name + strspn(n->name, "0.");
    return *s == '\0' || *s == 'e' || *s == 'E';
}

struct ast *ast_negate(struct parser *p, const struct ast *n)
{
    if (n && n->kind == AST_NUMBER && !n->is_negative) {
        struct ast *signed_one = arena_copy(p->arena, n, sizeof(*n));
        if (signed_one) {
            signed_one->is_negative = !ast_is_zero(n);
        }
        return signed_one;
    }
    return ast_call1(p, "-", n);
}

struct ast *ast_type(struct parser *p, uint32_t at)
{
    struct token t = {at, p->behind > at ? p->behind - at : 0};
    return ast_leaf(p, AST_TYPE, t);
}

struct ast *ast_extend(struct parser *p, const struct ast *n, const struct ast *item)
{
    struct ast_list *l = ast_list(p, NULL);
    for (uint32_t i = 0; n && i < n->count; i++) {
        l = ast_push(p, l, n->item[i]);
    }
    return n && item ? ast_of(p, n->kind, ast_push(p, l, item)) : NULL;
}

struct ast *ast_span(struct ast *n, uint32_t at, uint32_t end)
{
    if (n) {
        n->at = at;
        n->end = end ? end : n->end;
    }
    return n;
}

void ast_metadata(struct ast *n, bool is_virtual)
{
    if (n) {
        n->unit = "METADATA";
        n->unit_to = is_virtual ? "VIRTUAL" : NULL;
    }
}

struct ast *ast_named(struct parser *p, struct token name, struct ast *n)
{
    struct ast *named = ast_alias(p, n, name);
    return named ? ast_span(named, name.at, 0) : NULL;
}

struct ast *ast_alias(struct parser *p, struct ast *n, struct token name)
{
    const struct ast *w = ast_word(p, name);
    if (!n || !w) {
        return NULL;
    }
    n->end = w->end > n->end ? w->end : n->end;
    return build_name(p, n, w->name, w->len);
}

struct ast_list *ast_list(struct parser *p, const struct ast *first)
{
    struct ast_list *l = arena_get(p->arena, sizeof(*l));
    if (!l) {
        parser_fail(p, p->last.at, NULL, "out of memory");
    }
    return first ? ast_push(p, l, first) : l;
}

struct ast_list *ast_push(struct parser *p, struct ast_list *l, const struct ast *n)
{
    if (!l) {
        return NULL;
    }
    const struct ast **item =
        arena_more(p->arena, l->item, l->count, &l->capacity, sizeof(struct ast *));
    if (!item) {
        parser_fail(p, p->last.at, NULL, "out of memory");
        return NULL;
    }
    l->item = item;
    l->item[l->count++] = n;
    return l;
}

struct ast_list *ast_prepend(struct parser *p, struct ast_list *l, const struct ast *n)
{
    struct ast_list *out = ast_list(p, n);
    for (uint32_t i = 0; l && i < l->count; i++) {
        out = ast_push(p, out, l->item[i]);
    }
    return l ? out : NULL;
}

struct ast *ast_window(struct parser *p, struct token f, struct token table, struct ast_list *args,
                       const struct ast *partition, struct token end)
{
    struct ast *t = ast_named(p, table, ast_leaf(p, AST_TABLE, table));
    struct ast *n = ast_span(ast_of(p, AST_WINDOW, ast_prepend(p, args, t)), f.at, end.at + 1);
    if (n) {
        n->name = ast_copy_upper(p, f);
        n->filter = partition;
    }
    return n;
}

struct ast *ast_window_alias(struct parser *p, struct ast *window, const struct ast *alias)
{
    if (!window || !alias) {
        return window;
    }
    struct ast *table = arena_copy(p->arena, window->item[0], sizeof(*table));
    const struct ast **item =
        arena_copy(p->arena, window->item, window->count * sizeof(struct ast *));
    const struct ast *const *named = build_pair(p, alias, NULL, NULL);
    if (!table || !item || !named) {
        parser_fail(p, window->at, NULL, "out of memory");
        return NULL;
    }
    table->item = named;
    table->count = 1;
    table->depth = 2;
    item[0] = table;
    window->item = item;
    return window;
}

/* --- JSON: options become arguments. ---------------------------------------------------------- */

struct ast *ast_words(struct parser *p, struct token t, const char *words)
{
    struct ast *n = build_new(p, AST_STRING, t.at, t.at + t.len);
    char *text = arena_text(p->arena, words);
    return build_name(p, n, text, (uint32_t)strlen(words));
}

struct ast *ast_instead(struct parser *p, struct token t, const char *words, const char *which,
                        const struct ast *value)
{
    struct ast *n = value ? ast_of2(p, AST_LIST, ast_words(p, t, words), value)
                          : ast_of1(p, AST_LIST, ast_words(p, t, words));
    if (n) {
        n->unit = which;
        n->at = t.at;
    }
    return n;
}

struct ast_list *ast_join(struct parser *p, struct ast_list *l, const struct ast_list *more)
{
    for (uint32_t i = 0; more && i < more->count; i++) {
        l = ast_push(p, l, more->item[i]);
    }
    return l;
}

/* (json, path, on empty, on error, default when empty, default of errors, CAST(NULL AS type),
 * wrapper): engine/expr/func_json.c. */
/* NOLINTNEXTLINE(readability-function-size): the parts of the call as the grammar has them */
struct ast *ast_json(struct parser *p, const char *name, const struct ast *json,
                     const struct ast *path, const struct ast *type,
                     const struct ast_list *behaviors, const char *wrapper)
{
    struct token at = {json ? json->at : 0, 0};
    const struct ast *null = ast_leaf(p, AST_NULL, at);
    bool is_exists = strcmp(name, "JSON_EXISTS") == 0;
    const struct ast *arg[8] = {json, path, NULL, NULL,
                                null, null, NULL, ast_words(p, at, wrapper ? wrapper : "")};
    for (uint32_t i = 0; behaviors && i < behaviors->count; i++) {
        const struct ast *b = behaviors->item[i];
        uint32_t is_error = strcmp(b->unit, "ERROR") == 0;
        if (arg[2 + is_error]) {
            parser_fail(p, b->at, NULL, "ON %s stands there twice", b->unit);
        }
        arg[2 + is_error] = b->item[0];
        arg[4 + is_error] = b->count > 1 ? b->item[1] : null;
    }
    struct ast *text = type ? NULL : build_new(p, AST_TYPE, at.at, at.at);
    text = text ? build_name(p, text, arena_text(p->arena, "STRING"), 6) : NULL;
    arg[2] = arg[2] ? arg[2] : ast_words(p, at, "NULL");
    arg[3] = arg[3] ? arg[3] : ast_words(p, at, is_exists ? "FALSE" : "NULL");
    arg[6] = ast_of2(p, AST_CAST, null, type ? type : text);
    struct ast_list *l = ast_list(p, arg[0]);
    for (int i = 1; i < 8; i++) {
        l = ast_push(p, l, arg[i]);
    }
    return ast_call(p, name, l);
}

struct ast *ast_word_text(struct parser *p, struct token t)
{
    struct ast *n = ast_word(p, t);
    if (n) {
        n->kind = AST_STRING;
    }
    return n;
}
