#include "engine/expr/json_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/room.h"
#include "engine/expr/kernel.h"

/* --- Text that grows. ------------------------------------------------------------------------- */

void json_out_done(struct json_out *o)
{
    free(o->bytes);
    *o = (struct json_out){0};
}

void json_put(struct json_out *o, const char *bytes, size_t len)
{
    if (o->is_broken || len > CALL_TEXT_MAX - o->len) {
        o->is_broken = true;
        return;
    }
    if (len == 0) {
        return;
    }
    char *grown = room_for(o->bytes, o->len, (uint32_t)len, &o->room, 1);
    if (!grown) {
        o->is_broken = true;
        return;
    }
    o->bytes = grown;
    memcpy(o->bytes + o->len, bytes, len);
    o->len += (uint32_t)len;
}

void json_put_quoted(struct json_out *o, const char *text, uint32_t len)
{
    json_put(o, "\"", 1);
    uint32_t from = 0;
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\') {
            continue;
        }
        static const char letters[] = "btnvfr"; /* 8 to 13; no \v in JSON */
        char escape[8];
        int n = c == '"' || c == '\\' ? snprintf(escape, sizeof(escape), "\\%c", c)
                : c >= 8 && c <= 13 && c != 11
                    ? snprintf(escape, sizeof(escape), "\\%c", letters[c - 8])
                    : snprintf(escape, sizeof(escape), "\\u%04X", c);
        json_put(o, text + from, i - from);
        json_put(o, escape, n > 0 ? (size_t)n : 0);
        from = i + 1;
    }
    json_put(o, text + from, len - from);
    json_put(o, "\"", 1);
}

/* Digits, with the point so many before their end: as BigDecimal.toString does it. */
static void json_put_decimal(struct json_out *o, const char *digits, uint32_t count, int64_t scale)
{
    int64_t exponent = -scale + count - 1;
    char text[32];
    if (scale >= 0 && exponent >= -6) {
        if (scale >= count) {
            json_put(o, "0.", 2);
            for (int64_t i = count; i < scale; i++) {
                json_put(o, "0", 1);
            }
            json_put(o, digits, count);
        } else {
            json_put(o, digits, (size_t)(count - scale));
            json_put(o, ".", scale > 0 ? 1 : 0);
            json_put(o, digits + count - scale, (size_t)scale);
        }
        return;
    }
    json_put(o, digits, 1);
    json_put(o, ".", count > 1 ? 1 : 0);
    json_put(o, digits + 1, count - 1);
    int n = snprintf(text, sizeof(text), "E%+lld", (long long)exponent);
    json_put(o, text, exponent != 0 && n > 0 ? (size_t)n : 0);
}

/* NOLINTNEXTLINE(readability-function-cognitive-complexity): one pass over the digits */
void json_put_number(struct json_out *o, const char *text, uint32_t len)
{
    bool is_negative = len > 0 && text[0] == '-';
    uint32_t i = is_negative ? 1 : 0;
    char digits[1024]; /* more of them are cut; JSON has no such numbers */
    uint32_t count = 0;
    int64_t scale = 0;
    bool is_behind = false, is_whole = true, is_zero = true;
    for (; i < len && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            is_behind = true;
            is_whole = false;
        } else if (count < sizeof(digits)) {
            bool is_leading = count == 1 && digits[0] == '0';
            count -= is_leading ? 1 : 0;
            digits[count++] = text[i];
            scale += is_behind ? 1 : 0;
            is_zero = is_zero && text[i] == '0';
        }
    }
    if (i < len) {
        is_whole = false;
        int64_t exponent = 0;
        bool is_below = text[i + 1] == '-';
        for (i++; i < len; i++) {
            exponent = isdigit((unsigned char)text[i]) && exponent < 1000000000
                           ? exponent * 10 + (text[i] - '0')
                           : exponent;
        }
        scale -= is_below ? -exponent : exponent;
    }
    json_put(o, "-", is_negative && !is_zero ? 1 : 0);
    if (is_whole) {
        json_put(o, digits, count);
    } else {
        json_put_decimal(o, digits, count, scale);
    }
}

static int json_hex(const char *s, uint32_t left)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = (char)(left >= 4 ? s[i] : 'x');
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) {
            return -1;
        }
        v = v * 16 + digit;
    }
    return v;
}

static void json_put_point(struct json_out *o, uint32_t v)
{
    char text[4];
    uint32_t n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    for (uint32_t i = n - 1; i > 0; i--, v >>= 6) {
        text[i] = (char)(0x80 | (v & 0x3F));
    }
    text[0] = (char)(n == 1 ? v : (0xF00u >> n & 0xFF) | v);
    json_put(o, text, n);
}

/* \uXXXX at raw[i], perhaps two for one character; answers its bytes, 0: it is none. Half of a
 * character becomes a question mark, as in Java. */
static uint32_t json_put_escape(struct json_out *o, const char *raw, uint32_t len, uint32_t i)
{
    int v = json_hex(raw + i + 2, len - i - 2);
    if (v < 0) {
        return 0;
    }
    bool is_half = v >= 0xD800 && v < 0xE000;
    int low = is_half && v < 0xDC00 && len - i >= 12 && raw[i + 6] == '\\' && raw[i + 7] == 'u'
                  ? json_hex(raw + i + 8, 4)
                  : -1;
    if (low >= 0xDC00 && low < 0xE000) {
        json_put_point(o, 0x10000u + ((uint32_t)(v - 0xD800) << 10) + (uint32_t)(low - 0xDC00));
        return 12;
    }
    json_put_point(o, is_half ? '?' : (uint32_t)v);
    return 6;
}

bool json_put_unescaped(struct json_out *o, const char *raw, uint32_t len)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    for (uint32_t i = 0; i < len;) {
        const char *mark = memchr(raw + i, '\\', len - i);
        uint32_t at = mark ? (uint32_t)(mark - raw) : len;
        json_put(o, raw + i, at - i);
        if (at == len) {
            break;
        }
        char c = (char)(at + 1 < len ? raw[at + 1] : '\0');
        const char *name = c ? strchr(names, c) : NULL;
        uint32_t n = name ? 2 : c == 'u' ? json_put_escape(o, raw, len, at) : 0;
        if (name) {
            json_put(o, values + (name - names), 1);
        } else if (n == 0) {
            return false;
        }
        i = at + n;
    }
    return true;
}

/* --- Reading. --------------------------------------------------------------------------------- */

void json_tree_done(struct json_tree *t)
{
    free(t->node);
    free(t->order);
    *t = (struct json_tree){0};
}

uint32_t json_node_new(struct json_tree *t, enum json_kind kind)
{
    uint32_t more = t->count > 0 ? 1 : 2; /* node 0 stands for none */
    struct json_node *grown = room_for(t->node, t->count, more, &t->room, sizeof(*grown));
    if (!grown) {
        t->is_broken = true;
        return 0;
    }
    t->node = grown;
    t->count += more - 1;
    t->node[t->count] = (struct json_node){.kind = kind};
    return t->count++;
}

struct json_in {
    const char *at, *end;
};

static void json_skip(struct json_in *in)
{
    while (in->at < in->end && (*in->at == ' ' || (*in->at >= '\t' && *in->at <= '\r' &&
                                                   *in->at != '\v' && *in->at != '\f'))) {
        in->at++;
    }
}

static bool json_is_escape(const char *s, const char *end)
{
    return s < end && (*s == 'u' ? json_hex(s + 1, (uint32_t)(end - s - 1)) >= 0
                                 : *s && strchr("\"\\/bfnrt", *s) != NULL);
}

/* A string whose opening quote was read; its inside, or NULL. */
static const char *json_string(struct json_in *in, uint32_t *len)
{
    const char *from = in->at;
    for (; in->at < in->end; in->at++) {
        unsigned char c = (unsigned char)*in->at;
        if (c == '"') {
            *len = (uint32_t)(in->at++ - from);
            return from;
        }
        if (c < 0x20 || (c == '\\' && !json_is_escape(in->at + 1, in->end))) {
            return NULL;
        }
        in->at += c == '\\' ? 1 : 0;
    }
    return NULL;
}

static bool json_digits(struct json_in *in)
{
    const char *from = in->at;
    while (in->at < in->end && isdigit((unsigned char)*in->at)) {
        in->at++;
    }
    return in->at > from;
}

static bool json_take(struct json_in *in, char c)
{
    bool is_there = in->at < in->end && *in->at == c;
    in->at += is_there ? 1 : 0;
    return is_there;
}

static bool json_number(struct json_in *in)
{
    (void)json_take(in, '-');
    bool is_zero = json_take(in, '0');
    if ((is_zero && in->at < in->end && isdigit((unsigned char)*in->at)) ||
        (!is_zero && !json_digits(in)) || (json_take(in, '.') && !json_digits(in))) {
        return false;
    }
    if (json_take(in, 'e') || json_take(in, 'E')) {
        (void)(json_take(in, '-') || json_take(in, '+'));
        return json_digits(in);
    }
    return true;
}

static bool json_word(struct json_in *in, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(in->end - in->at) < n || memcmp(in->at, word, n) != 0) {
        return false;
    }
    in->at += n;
    return true;
}

/* A scalar goes into the node, of [ and { only the kind. */
/* NOLINTNEXTLINE(readability-function-cognitive-complexity): one branch a kind */
static bool json_value(struct json_in *in, struct json_node *n)
{
    json_skip(in);
    n->text = in->at;
    char c = (char)(in->at < in->end ? *in->at : '\0');
    bool is_good = true;
    if (json_take(in, '"')) {
        n->kind = JSON_STRING;
        n->text = json_string(in, &n->len);
        return n->text != NULL;
    }
    if (c == '[' || c == '{') {
        n->kind = c == '[' ? JSON_ARRAY : JSON_OBJECT;
        in->at++;
    } else if (c == 't' || c == 'f' || c == 'n') {
        n->kind = c == 't' ? JSON_TRUE : c == 'f' ? JSON_FALSE : JSON_NULL;
        is_good = json_word(in, c == 't' ? "true" : c == 'f' ? "false" : "null");
    } else {
        n->kind = JSON_NUMBER;
        is_good = json_number(in);
    }
    n->len = (uint32_t)(in->at - n->text);
    bool is_cut = in->at == in->end || !(isalnum((unsigned char)*in->at) || *in->at == '_');
    return is_good && (c == '[' || c == '{' || is_cut);
}

/* "key": of a member, into the node. */
static bool json_key(struct json_in *in, struct json_node *n)
{
    json_skip(in);
    if (!json_take(in, '"')) {
        return false;
    }
    n->key = json_string(in, &n->key_len);
    json_skip(in);
    return n->key && json_take(in, ':');
}

/* Where a document is: the containers that are open, and the last child of each. */
struct json_open {
    uint32_t node, last;
};

/* Behind a value: closes what ends here. False: neither , nor a bracket. *is_more: a value must
 * follow. */
static bool json_close(struct json_tree *t, struct json_in *in, const struct json_open *open,
                       uint32_t *depth, bool *is_more)
{
    *is_more = false;
    while (*depth > 0) {
        json_skip(in);
        if (json_take(in, ',')) {
            *is_more = true;
            return true;
        }
        bool is_array = t->node[open[*depth - 1].node].kind == JSON_ARRAY;
        if (!json_take(in, is_array ? ']' : '}')) {
            return false;
        }
        --*depth;
    }
    return true;
}

/* Behind a whole text that is a number stands a blank or nothing, or it is none, as for Jackson. */
static bool json_is_apart(const struct json_in *in, enum json_kind kind)
{
    struct json_in behind = *in;
    json_skip(&behind);
    return kind != JSON_NUMBER || in->at == in->end || behind.at > in->at;
}

/* NOLINTNEXTLINE(readability-function-cognitive-complexity): a state machine, not recursion */
uint32_t json_read(struct json_tree *t, const char *text, uint32_t len)
{
    struct json_in in = {text, text + len};
    struct json_open open[JSON_NESTING_MAX];
    uint32_t depth = 0, root = 0;
    t->count = t->count > 0 ? 1 : 0;
    t->has_twins = false;
    for (bool is_more = true; is_more;) {
        struct json_node n = {0};
        bool in_object = depth > 0 && t->node[open[depth - 1].node].kind == JSON_OBJECT;
        if ((in_object && !json_key(&in, &n)) || !json_value(&in, &n)) {
            return 0;
        }
        uint32_t at = json_node_new(t, n.kind);
        if (at == 0) {
            return 0;
        }
        t->node[at] = n;
        root = root ? root : at;
        if (depth > 0) {
            struct json_open *o = &open[depth - 1];
            *(o->last ? &t->node[o->last].next : &t->node[o->node].first) = at;
            o->last = at;
        }
        if (n.kind >= JSON_ARRAY) {
            if (depth == JSON_NESTING_MAX) {
                return 0;
            }
            open[depth++] = (struct json_open){at, 0};
            json_skip(&in);
            if (in.at < in.end && *in.at != ']' && *in.at != '}') {
                continue;
            }
        }
        if (!json_close(t, &in, open, &depth, &is_more)) {
            return 0;
        }
    }
    return root == 0 || json_is_apart(&in, t->node[root].kind) ? root : 0;
}

uint32_t json_member(const struct json_tree *t, uint32_t object, const char *key, uint32_t len)
{
    uint32_t found = 0;
    for (uint32_t i = t->node[object].first; i; i = t->node[i].next) {
        const struct json_node *n = &t->node[i];
        if (n->key_len == len && memcmp(n->key, key, len) == 0) {
            found = i;
        } else if (n->key_len > len && memchr(n->key, '\\', n->key_len)) {
            struct json_out o = {0};
            (void)json_put_unescaped(&o, n->key, n->key_len);
            found = o.bytes && o.len == len && memcmp(o.bytes, key, len) == 0 ? i : found;
            json_out_done(&o);
        }
    }
    return found;
}

/* --- Writing a node. -------------------------------------------------------------------------- */

static int json_key_order(const struct json_node *a, const struct json_node *b)
{
    uint32_t n = a->key_len < b->key_len ? a->key_len : b->key_len;
    int order = memcmp(a->key, b->key, n);
    return order != 0 ? order : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

/* A stable merge sort of order[0, count) with room for as many behind it. */
static void json_sort(const struct json_node *node, uint32_t *order, uint32_t count)
{
    uint32_t *from = order, *to = order + count;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t low = 0; low < count; low += 2 * width) {
            uint32_t middle = low + width < count ? low + width : count;
            uint32_t high = middle + width < count ? middle + width : count;
            for (uint32_t i = low, j = middle, k = low; k < high; k++) {
                bool is_left = i < middle &&
                               (j >= high || json_key_order(&node[from[i]], &node[from[j]]) <= 0);
                to[k] = is_left ? from[i++] : from[j++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) {
        memcpy(order, from, count * sizeof(*order));
    }
}

/* The children of an object by key, the last one of each, pushed on the scratch stack at `base`.
 * Answers how many; UINT32_MAX: out of memory. */
static uint32_t json_push_members(struct json_tree *t, uint32_t object, uint32_t base)
{
    uint32_t count = 0;
    for (uint32_t i = t->node[object].first; i; i = t->node[i].next) {
        count++;
    }
    if (count > 0) {
        uint32_t *grown = room_for(t->order, base, 2 * count, &t->order_room, sizeof(*grown));
        if (!grown) {
            return UINT32_MAX;
        }
        t->order = grown;
    }
    uint32_t *order = t->order + base, n = 0, kept = 0;
    for (uint32_t i = t->node[object].first; i; i = t->node[i].next) {
        order[n++] = i;
    }
    json_sort(t->node, order, count);
    for (uint32_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count || json_key_order(&t->node[order[i]], &t->node[order[i + 1]]);
        order[kept] = order[i];
        kept += is_last ? 1 : 0;
    }
    t->has_twins = t->has_twins || kept < count;
    return kept;
}

/* What stands between quotes, as a text of its own: unescaped, then escaped as it is written. */
static void json_put_raw(struct json_out *o, const char *raw, uint32_t len)
{
    if (!memchr(raw, '\\', len)) {
        json_put_quoted(o, raw, len);
        return;
    }
    struct json_out plain = {0};
    (void)json_put_unescaped(&plain, raw, len);
    json_put_quoted(o, plain.bytes ? plain.bytes : "", plain.len);
    json_out_done(&plain);
}

/* One branch a kind. NOLINTNEXTLINE(misc-no-recursion,readability-function-cognitive-complexity) */
static void json_put_at(struct json_out *o, struct json_tree *t, uint32_t node, uint32_t base,
                        json_number_fn put_number)
{
    struct json_node n = t->node[node];
    if (n.kind == JSON_STRING) {
        json_put_raw(o, n.text, n.len);
    } else if (n.kind == JSON_NUMBER) {
        put_number(o, n.text, n.len);
    } else if (n.kind == JSON_ARRAY) {
        json_put(o, "[", 1);
        for (uint32_t i = n.first; i; i = t->node[i].next) {
            json_put(o, ",", i != n.first ? 1 : 0);
            json_put_at(o, t, i, base, put_number);
        }
        json_put(o, "]", 1);
    } else if (n.kind == JSON_OBJECT) {
        uint32_t count = json_push_members(t, node, base);
        o->is_broken = o->is_broken || count == UINT32_MAX;
        json_put(o, "{", 1);
        for (uint32_t i = 0; i < count && !o->is_broken; i++) {
            uint32_t member = t->order[base + i];
            json_put(o, ",", i > 0 ? 1 : 0);
            json_put_raw(o, t->node[member].key, t->node[member].key_len);
            json_put(o, ":", 1);
            json_put_at(o, t, member, base + count, put_number);
        }
        json_put(o, "}", 1);
    } else {
        json_put(o,
                 n.kind == JSON_TRUE    ? "true"
                 : n.kind == JSON_FALSE ? "false"
                                        : "null",
                 n.kind == JSON_FALSE ? 5 : 4);
    }
}

void json_put_node(struct json_out *o, struct json_tree *t, uint32_t node)
{
    json_put_at(o, t, node, 0, json_put_number);
}

void json_put_node_as(struct json_out *o, struct json_tree *t, uint32_t node, json_number_fn put)
{
    json_put_at(o, t, node, 0, put);
}
