#include "engine/expr/like.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/promote.h"
#include "engine/expr/utf8.h"

enum like_byte { LIKE_PLAIN, LIKE_MANY, LIKE_ONE };

/* A pattern without its escapes: what each byte stands for is said beside it. */
struct like {
    char *bytes;
    uint8_t *kind; /* enum like_byte */
    uint32_t len, room;
    bool is_set;
    bool is_simple;     /* no _, and % at the ends only: */
    bool opens, closes; /* begins, ends with % */
    uint32_t from, to;  /* the plain bytes between */
    /* the pattern and escape that it was made of */
    char *source;
    uint32_t source_len, escape_len;
    char escape[4];
};

static bool like_room(struct like *l, uint32_t len)
{
    if (len <= l->room && l->bytes) {
        return true;
    }
    char *bytes = realloc(l->bytes, len + 1), *source = realloc(l->source, len + 1);
    l->bytes = bytes ? bytes : l->bytes;
    l->source = source ? source : l->source;
    uint8_t *kind = realloc(l->kind, len + 1);
    l->kind = kind ? kind : l->kind;
    if (!bytes || !source || !kind) {
        return false;
    }
    l->room = len;
    return true;
}

static void like_put(struct like *l, const char *s, uint32_t n, enum like_byte kind)
{
    for (uint32_t i = 0; i < n; i++) {
        l->bytes[l->len] = s[i];
        l->kind[l->len++] = (uint8_t)kind;
    }
}

/* What the pattern is, seen as a whole. */
static void like_classify(struct like *l)
{
    l->from = 0;
    l->to = l->len;
    while (l->from < l->to && l->kind[l->from] == LIKE_MANY) {
        l->from++;
    }
    while (l->to > l->from && l->kind[l->to - 1] == LIKE_MANY) {
        l->to--;
    }
    l->opens = l->from > 0;
    l->closes = l->to < l->len || (l->opens && l->from == l->to);
    l->is_simple = true;
    for (uint32_t i = l->from; i < l->to; i++) {
        l->is_simple = l->is_simple && l->kind[i] == LIKE_PLAIN;
    }
}

/* False: an escape stands in front of nothing that can be escaped. */
static bool like_parse(struct like *l, const char *s, uint32_t len, const char *escape,
                       uint32_t escape_len)
{
    l->len = 0;
    for (uint32_t i = 0, n; i < len; i += n) {
        n = utf8_size(s + i, len - i);
        if (escape_len > 0 && n == escape_len && memcmp(s + i, escape, n) == 0) {
            i += n;
            bool is_self = i + n <= len && memcmp(s + i, escape, n) == 0;
            if (i >= len || (s[i] != '%' && s[i] != '_' && !is_self)) {
                return false;
            }
            n = utf8_size(s + i, len - i);
            like_put(l, s + i, n, LIKE_PLAIN);
        } else {
            like_put(l, s + i, n, s[i] == '%' ? LIKE_MANY : s[i] == '_' ? LIKE_ONE : LIKE_PLAIN);
        }
    }
    like_classify(l);
    return true;
}

static void like_free(struct like *l)
{
    if (l) {
        free(l->bytes);
        free(l->kind);
        free(l->source);
        free(l);
    }
}

enum like_used { LIKE_GOOD, LIKE_BAD_ESCAPE, LIKE_NO_MEMORY };

/* Makes this the pattern, unless it is already. */
static enum like_used like_use(struct like *l, const char *s, uint32_t len, const char *escape,
                               uint32_t escape_len)
{
    if (escape_len > 4 || (escape_len > 0 && utf8_size(escape, escape_len) != escape_len)) {
        return LIKE_BAD_ESCAPE;
    }
    if (l->is_set && l->source_len == len && memcmp(l->source, s, len) == 0 &&
        l->escape_len == escape_len && memcmp(l->escape, escape, escape_len) == 0) {
        return LIKE_GOOD;
    }
    l->is_set = false;
    if (!like_room(l, len)) {
        return LIKE_NO_MEMORY;
    }
    if (!like_parse(l, s, len, escape, escape_len)) {
        return LIKE_BAD_ESCAPE;
    }
    memcpy(l->source, s, len);
    memcpy(l->escape, escape, escape_len);
    l->source_len = len;
    l->escape_len = escape_len;
    l->is_set = true;
    return LIKE_GOOD;
}

/* _ stands for any character but the end of a line, as in Flink: \n, \r, U+0085, U+2028, U+2029. */
static bool like_is_line_end(const char *s, uint32_t size)
{
    return s[0] == '\n' || s[0] == '\r' || (size == 2 && memcmp(s, "\xc2\x85", 2) == 0) ||
           (size == 3 && memcmp(s, "\xe2\x80", 2) == 0 && (s[2] == '\xa8' || s[2] == '\xa9'));
}

/* Tries to match byte p of the pattern at s[i]; answers the bytes taken, 0 for no match. */
static uint32_t like_step(const struct like *l, uint32_t p, const char *s, uint32_t len, uint32_t i)
{
    if (l->kind[p] == LIKE_ONE) {
        uint32_t size = utf8_size(s + i, len - i);
        return like_is_line_end(s + i, size) ? 0 : size;
    }
    return l->kind[p] == LIKE_PLAIN && l->bytes[p] == s[i] ? 1 : 0;
}

/* The first place from s[i] on where the plain bytes from byte p of the pattern stand; `len`:
 * nowhere. */
static uint32_t like_seek(const struct like *l, uint32_t p, const char *s, uint32_t len, uint32_t i)
{
    uint32_t end = p;
    while (end < l->len && l->kind[end] == LIKE_PLAIN) {
        end++;
    }
    const char *at = end > p ? memmem(s + i, len - i, l->bytes + p, end - p) : s + i;
    return at ? (uint32_t)(at - s) : len;
}

/* After a mismatch only the last % is given more characters: that is enough. */
static bool like_match_general(const struct like *l, const char *s, uint32_t len)
{
    uint32_t i = 0, p = 0, star = UINT32_MAX, mark = 0;
    while (i < len) {
        uint32_t n;
        if (p < l->len && l->kind[p] == LIKE_MANY) {
            star = ++p;
            if (p == l->len) {
                return true;
            }
            mark = i = like_seek(l, p, s, len, i);
        } else if (p < l->len && (n = like_step(l, p, s, len, i)) > 0) {
            i += n;
            p++;
        } else if (star != UINT32_MAX) {
            mark += utf8_size(s + mark, len - mark);
            mark = i = like_seek(l, star, s, len, mark);
            p = star;
        } else {
            return false;
        }
    }
    while (p < l->len && l->kind[p] == LIKE_MANY) {
        p++;
    }
    return p == l->len;
}

static bool like_match(const struct like *l, const char *s, uint32_t len)
{
    if (!l->is_simple) {
        return like_match_general(l, s, len);
    }
    const char *plain = l->bytes + l->from;
    uint32_t n = l->to - l->from;
    if (n > len || (!l->opens && !l->closes && n != len)) {
        return false;
    }
    if (l->opens && l->closes) {
        return n == 0 || memmem(s, len, plain, n) != NULL;
    }
    return memcmp(l->opens ? s + len - n : s, plain, n) == 0;
}

static bool like_row(struct call *k, uint32_t r, bool *is_told)
{
    uint32_t len, pattern_len, escape_len = 0;
    const char *s = call_get(k, 0, r, &len), *pattern = call_get(k, 1, r, &pattern_len);
    const char *escape = k->args > 2 ? call_get(k, 2, r, &escape_len) : "";
    switch (like_use(k->state, pattern, pattern_len, escape, escape_len)) {
    case LIKE_GOOD:
        return like_match(k->state, s, len);
    case LIKE_BAD_ESCAPE:
        call_fail(k, r, "the escape of the LIKE pattern '%.*s' is not valid",
                  (int)(pattern_len > 60 ? 60 : pattern_len), pattern);
        break;
    case LIKE_NO_MEMORY:
        call_broken(k, SR_ENOMEM);
        break;
    }
    *is_told = true;
    return false;
}

static void like_run(struct call *k)
{
    uint8_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        bool is_told = false, is_like = like_row(k, r, &is_told);
        if (!is_told) {
            to[r] = is_like;
        }
    }
}

/* One loop a shape of constant patterns, which cannot fail: `statement` is told `is_like`. */
#define LIKE_EACH(test, statement)      \
    CALL_EACH_ROW(k, r)                 \
    {                                   \
        const char *s = base + a[r].at; \
        uint32_t len = a[r].len;        \
        bool is_like = test;            \
        statement;                      \
    }

#define LIKE_SHAPES(statement)                                                   \
    do {                                                                         \
        const struct sr_span *a = k->arg[0]->values;                             \
        const char *base = column_text(k->arg[0]);                               \
        const struct like *l = k->state;                                         \
        const char *plain = l->bytes + l->from;                                  \
        uint32_t n = l->to - l->from;                                            \
        if (l->is_simple && l->opens && !l->closes) {                            \
            LIKE_EACH(len >= n && memcmp(s + len - n, plain, n) == 0, statement) \
        } else if (l->is_simple && l->closes && !l->opens) {                     \
            LIKE_EACH(len >= n && memcmp(s, plain, n) == 0, statement)           \
        } else {                                                                 \
            LIKE_EACH(like_match(l, s, len), statement)                          \
        }                                                                        \
    } while (0)

static void like_run_constant(struct call *k)
{
    uint8_t *to = k->out->values;
    LIKE_SHAPES(to[r] = is_like);
}

static uint32_t like_pick(struct call *k, uint16_t *to)
{
    uint32_t picked = 0;
    LIKE_SHAPES(to[picked] = (uint16_t)r; picked += is_like);
    return picked;
}

static sr_rc like_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    struct like *l = calloc(1, sizeof(*l));
    if (!l) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    *state = l;
    bool is_known = e->arg[1]->kind == EXPR_LITERAL && !e->arg[1]->is_null;
    const struct expr *escape = e->args > 2 ? e->arg[2] : NULL;
    if (is_known && (!escape || (escape->kind == EXPR_LITERAL && !escape->is_null)) &&
        like_use(l, e->arg[1]->text, e->arg[1]->text_len, escape ? escape->text : "",
                 escape ? escape->text_len : 0) == LIKE_NO_MEMORY) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    return SR_OK;
}

static void like_release(void *state) { like_free(state); }

static const struct kernel like_k_any = {
    .run = like_run, .flags = KERNEL_FAILS, .prepare = like_prepare, .release = like_release};
static const struct kernel like_k_constant = {
    .run = like_run_constant, .pick = like_pick, .prepare = like_prepare, .release = like_release};

/* A constant pattern is tried here, so that a bad escape is told while the job is read. */
static bool like_check(struct bind_call *b)
{
    const struct expr *p = b->arg[1], *escape = b->args > 2 ? b->arg[2] : NULL;
    struct like l = {0};
    enum like_used how = like_use(&l, p->text, p->text_len, escape ? escape->text : "",
                                  escape ? escape->text_len : 0);
    free(l.bytes);
    free(l.kind);
    free(l.source);
    if (how == LIKE_BAD_ESCAPE) {
        return bind_fails(b, "the escape '%.*s' does not fit the LIKE pattern '%.*s'",
                          escape ? (int)escape->text_len : 0, escape ? escape->text : "",
                          (int)p->text_len, p->text);
    }
    return how == LIKE_GOOD || bind_fails(b, "out of memory");
}

bool like_bind(struct bind_call *b)
{
    bool is_known = true;
    for (uint32_t i = 0; i < b->args; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
        is_known = is_known && (i == 0 || (b->arg[i]->kind == EXPR_LITERAL && !b->arg[i]->is_null));
    }
    if (is_known && !like_check(b)) {
        return false;
    }
    b->type = type_nullable(type_of(SR_BOOLEAN), bind_any_nullable(b));
    b->kernel = is_known ? &like_k_constant : &like_k_any;
    return true;
}
