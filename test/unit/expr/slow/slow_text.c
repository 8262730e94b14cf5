/* Functions of text, over lists of characters. */
#include <stdio.h>
#include <string.h>

#include "engine/expr/promote.h"
#include "test/unit/expr/slow/slow.h"
#include "test/unit/unit.h"

#define TEXT_BYTES_MAX (64u << 20) /* of a text that a function makes */

/* A text as characters: at[i] is where character i begins, at[count] the end. */
struct chars {
    const char *s;
    uint32_t count;
    uint32_t *at;
};

static struct chars text_chars(struct slow *s, const struct box *b)
{
    struct chars c = {.s = b->text, .at = arena_array(s->arena, b->len + 1u, sizeof(uint32_t))};
    for (uint32_t i = 0; i < b->len; i++) {
        if (((unsigned char)b->text[i] & 0xC0) != 0x80) {
            c.at[c.count++] = i;
        }
    }
    c.at[c.count] = b->len;
    return c;
}

/* Characters [from, to). */
static struct box text_part(struct slow *s, const struct chars *c, int64_t from, int64_t to)
{
    from = from < 0 ? 0 : from > c->count ? c->count : from;
    to = to < from ? from : to > c->count ? c->count : to;
    uint32_t len = c->at[to] - c->at[from];
    return (struct box){.text = arena_text_n(s->arena, c->s + c->at[from], len), .len = len};
}

static bool text_is_char(const struct chars *a, uint32_t i, const struct chars *b, uint32_t k)
{
    uint32_t n = a->at[i + 1] - a->at[i];
    return n == b->at[k + 1] - b->at[k] && memcmp(a->s + a->at[i], b->s + b->at[k], n) == 0;
}

/* The character from `from` on at which `part` begins; -1: nowhere. */
static int64_t text_find(const struct chars *c, const struct chars *part, int64_t from)
{
    for (int64_t i = from < 0 ? 0 : from; i + part->count <= c->count; i++) {
        uint32_t k = 0;
        while (k < part->count && text_is_char(c, (uint32_t)i + k, part, k)) {
            k++;
        }
        if (k == part->count) {
            return i;
        }
    }
    return -1;
}

/* A text that grows. */
struct grown {
    struct slow *s;
    char *bytes;
    uint64_t len, room;
};

static void text_add(struct grown *g, const char *s, uint32_t len)
{
    if (g->len + len > g->room) {
        g->room = (g->len + len) * 2 + 64;
        char *more = arena_get(g->s->arena, g->room);
        memcpy(more, g->bytes ? g->bytes : "", g->len);
        g->bytes = more;
    }
    if (len > 0) {
        memcpy(g->bytes + g->len, s, len);
        g->len += len;
    }
}

static void text_give(struct slow_call *c, const struct grown *g)
{
    c->out->text = g->bytes ? g->bytes : "";
    c->out->len = (uint32_t)g->len;
}

static bool text_is(const struct slow_call *c, const char *name)
{
    return strcmp(c->name, name) == 0;
}

/* --- Cutting. --------------------------------------------------------------------------------- */

static void text_substring(struct slow_call *c, const struct chars *t)
{
    int64_t start = c->arg[1].i, n = c->e->args > 2 ? c->arg[2].i : INT32_MAX;
    if (n < 0) {
        c->out->is_null = true;
        return;
    }
    start = start > 0 ? start - 1 : start < 0 ? t->count + start : 0;
    *c->out = start < 0 ? text_part(c->s, t, 0, 0) : text_part(c->s, t, start, start + n);
}

static bool text_is_in(const struct chars *t, uint32_t i, const struct chars *set)
{
    for (uint32_t k = 0; k < set->count; k++) {
        if (text_is_char(t, i, set, k)) {
            return true;
        }
    }
    return false;
}

static void text_trim(struct slow_call *c, const struct chars *t)
{
    static const struct box blank = {.text = " ", .len = 1};
    struct chars set = text_chars(c->s, c->e->args > 1 ? &c->arg[1] : &blank);
    uint32_t from = 0, to = t->count;
    while (!text_is(c, "RTRIM") && from < to && text_is_in(t, from, &set)) {
        from++;
    }
    while (!text_is(c, "LTRIM") && to > from && text_is_in(t, to - 1, &set)) {
        to--;
    }
    *c->out = text_part(c->s, t, from, to);
}

static void text_split(struct slow_call *c, const struct chars *t)
{
    struct chars by = text_chars(c->s, &c->arg[1]);
    int64_t from = 0, index = c->arg[2].i;
    c->out->is_null = index < 0 || t->count == 0 || (by.count == 0 && index > 0);
    for (; !c->out->is_null; index--) {
        int64_t at = by.count > 0 ? text_find(t, &by, from) : -1;
        if (index == 0) {
            *c->out = text_part(c->s, t, from, at < 0 ? t->count : at);
            return;
        }
        c->out->is_null = at < 0;
        from = at + by.count;
    }
}

static bool text_cut(struct slow_call *c, const struct chars *t)
{
    if (text_is(c, "SUBSTRING") || text_is(c, "SUBSTR")) {
        text_substring(c, t);
    } else if (text_is(c, "LEFT")) {
        *c->out = text_part(c->s, t, 0, c->arg[1].i);
    } else if (text_is(c, "RIGHT")) {
        *c->out = text_part(c->s, t, c->arg[1].i < 0 ? t->count : t->count - c->arg[1].i, t->count);
    } else if (text_is(c, "SPLIT_INDEX") && sr_is_text(c->e->arg[1]->type.kind)) {
        text_split(c, t);
    } else if (text_is(c, "TRIM") || text_is(c, "BTRIM") || text_is(c, "LTRIM") ||
               text_is(c, "RTRIM")) {
        text_trim(c, t);
    } else {
        return false;
    }
    return true;
}

/* --- Making. ---------------------------------------------------------------------------------- */

static void text_concat(struct slow_call *c, uint32_t first)
{
    struct grown g = {.s = c->s};
    bool has_one = false;
    for (uint32_t i = first; i < c->e->args; i++) {
        if (c->arg[i].is_null) {
            continue;
        }
        if (first == 1 && has_one) {
            text_add(&g, c->arg[0].text, c->arg[0].len);
        }
        text_add(&g, c->arg[i].text, c->arg[i].len);
        has_one = true;
    }
    text_give(c, &g);
}

static void text_replace(struct slow_call *c, const struct chars *t, const struct chars *what)
{
    struct grown g = {.s = c->s};
    int64_t from = 0, at;
    while ((at = text_find(t, what, from)) >= 0) {
        text_add(&g, t->s + t->at[from], t->at[at] - t->at[from]);
        text_add(&g, c->arg[2].text, c->arg[2].len);
        from = at + what->count;
    }
    text_add(&g, t->s + t->at[from], t->at[t->count] - t->at[from]);
    text_give(c, &g);
}

static void text_repeat(struct slow_call *c)
{
    struct grown g = {.s = c->s};
    if (c->arg[1].i > 0 && (uint64_t)c->arg[1].i * c->arg[0].len > TEXT_BYTES_MAX) {
        slow_fail(c->s);
        return;
    }
    for (int64_t i = 0; i < c->arg[1].i && c->arg[0].len > 0; i++) {
        text_add(&g, c->arg[0].text, c->arg[0].len);
    }
    text_give(c, &g);
}

static void text_pad(struct slow_call *c, const struct chars *t)
{
    struct chars with = text_chars(c->s, &c->arg[2]);
    struct grown g = {.s = c->s};
    int64_t want = c->arg[1].i;
    if (want < 0 || with.count == 0) {
        c->out->is_null = true;
        return;
    }
    if (want <= t->count) {
        *c->out = text_part(c->s, t, 0, want);
        return;
    }
    if (want > (1 << 20)) { /* some characters have several bytes: the engine knows the limit */
        slow_fail(c->s);
        return;
    }
    if (c->name[0] == 'R') {
        text_add(&g, c->arg[0].text, c->arg[0].len);
    }
    for (int64_t i = 0; i < want - t->count; i++) {
        uint32_t k = (uint32_t)(i % with.count);
        text_add(&g, with.s + with.at[k], with.at[k + 1] - with.at[k]);
    }
    if (c->name[0] == 'L') {
        text_add(&g, c->arg[0].text, c->arg[0].len);
    }
    text_give(c, &g);
}

static void text_reverse(struct slow_call *c, const struct chars *t)
{
    struct grown g = {.s = c->s};
    for (uint32_t i = t->count; i > 0; i--) {
        text_add(&g, t->s + t->at[i - 1], t->at[i] - t->at[i - 1]);
    }
    text_give(c, &g);
}

/* Of plain letters only. */
static bool text_case(struct slow_call *c)
{
    char *to = arena_text_n(c->s->arena, c->arg[0].text, c->arg[0].len);
    for (uint32_t i = 0; i < c->arg[0].len; i++) {
        if ((unsigned char)to[i] >= 0x80) {
            return false;
        }
        if (text_is(c, "UPPER") ? to[i] >= 'a' && to[i] <= 'z' : to[i] >= 'A' && to[i] <= 'Z') {
            to[i] ^= 0x20;
        }
    }
    *c->out = (struct box){.text = to, .len = c->arg[0].len};
    return true;
}

static void text_hex(struct slow_call *c)
{
    struct grown g = {.s = c->s};
    char digits[24];
    if (!sr_is_text(c->e->arg[0]->type.kind)) {
        int n = snprintf(digits, sizeof(digits), "%llX", (unsigned long long)c->arg[0].i);
        text_add(&g, digits, (uint32_t)n);
    }
    for (uint32_t i = 0; i < c->arg[0].len; i++) {
        (void)snprintf(digits, sizeof(digits), "%02X", (unsigned char)c->arg[0].text[i]);
        text_add(&g, digits, 2);
    }
    text_give(c, &g);
}

static bool text_make(struct slow_call *c, const struct chars *t)
{
    if (text_is(c, "CONCAT") || text_is(c, "||")) {
        text_concat(c, 0);
    } else if (text_is(c, "REPLACE") && c->arg[1].len > 0) {
        struct chars what = text_chars(c->s, &c->arg[1]);
        text_replace(c, t, &what);
    } else if (text_is(c, "REPEAT")) {
        text_repeat(c);
    } else if (text_is(c, "LPAD") || text_is(c, "RPAD")) {
        text_pad(c, t);
    } else if (text_is(c, "REVERSE")) {
        text_reverse(c, t);
    } else if (text_is(c, "UPPER") || text_is(c, "LOWER")) {
        return text_case(c);
    } else {
        return false;
    }
    return true;
}

/* --- Looking. --------------------------------------------------------------------------------- */

/* What Java's "." is, and so _: no end of a line. */
static bool text_is_one(const struct chars *t, uint32_t i)
{
    static const char *const ends[] = {"\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    uint32_t len = t->at[i + 1] - t->at[i];
    for (int k = 0; k < 5; k++) {
        if (strlen(ends[k]) == len && memcmp(ends[k], t->s + t->at[i], len) == 0) {
            return false;
        }
    }
    return true;
}

/* reach[k]: whether the first k characters of the text fit the pattern so far. */
static bool text_like(struct slow *s, const struct chars *t, const struct chars *p)
{
    bool *reach = arena_array(s->arena, t->count + 2u, sizeof(*reach));
    reach[0] = true;
    for (uint32_t i = 0; i < p->count; i++) {
        bool is_one = p->at[i + 1] - p->at[i] == 1;
        char sign = p->s[p->at[i]];
        if (is_one && sign == '%') {
            for (uint32_t k = 1; k <= t->count; k++) {
                reach[k] = reach[k] || reach[k - 1];
            }
            continue;
        }
        for (uint32_t k = t->count; k > 0; k--) {
            reach[k] = reach[k - 1] && (is_one && sign == '_' ? text_is_one(t, k - 1)
                                                              : text_is_char(p, i, t, k - 1));
        }
        reach[0] = false;
    }
    return reach[t->count];
}

static bool text_ask(struct slow_call *c, const struct chars *t)
{
    if (text_is(c, "CHAR_LENGTH") || text_is(c, "CHARACTER_LENGTH")) {
        c->out->i = t->count;
        return true;
    }
    if (c->e->args < 2 || !sr_is_text(c->e->arg[1]->type.kind)) {
        return false;
    }
    struct chars other = text_chars(c->s, &c->arg[1]);
    if (text_is(c, "POSITION") || text_is(c, "LOCATE")) {
        if (c->e->args > 2) {
            return false;
        }
        c->out->i = text_find(&other, t, 0) + 1;
    } else if (text_is(c, "INSTR") && c->e->args == 2) {
        c->out->i = text_find(t, &other, 0) + 1;
    } else if (text_is(c, "STARTSWITH")) {
        c->out->i = other.count == 0 || text_find(t, &other, 0) == 0;
    } else if (text_is(c, "ENDSWITH")) {
        c->out->i = other.count <= t->count && text_find(t, &other, t->count - other.count) >= 0;
    } else if (text_is(c, "LIKE") && c->e->args == 2) {
        c->out->i = text_like(c->s, t, &other);
    } else {
        return false;
    }
    return true;
}

bool slow_text(struct slow_call *c)
{
    if (text_is(c, "HEX")) {
        text_hex(c);
        return true;
    }
    if (text_is(c, "CONCAT_WS")) {
        c->out->is_null = c->arg[0].is_null;
        if (!c->out->is_null) {
            text_concat(c, 1);
        }
        return true;
    }
    if (c->e->args == 0 || !sr_is_text(c->e->arg[0]->type.kind)) {
        return false;
    }
    struct chars t = text_chars(c->s, &c->arg[0]);
    return text_cut(c, &t) || text_make(c, &t) || text_ask(c, &t);
}
