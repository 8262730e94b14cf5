#include "connectors/json/json_walk.h"

#include <string.h>

#include "connectors/text/utf8.h"

bool json_walk_fail(struct json_walk *w, uint32_t at, const char *fault)
{
    w->fault = fault;
    w->fault_at = at;
    return false;
}

/* --- Scalars --------------------------------------------------------------------------------- */

static bool json_walk_digits(const uint8_t **p, const uint8_t *end)
{
    const uint8_t *begin = *p;
    while (*p < end && **p >= '0' && **p <= '9') {
        ++*p;
    }
    return *p > begin;
}

/* [-] (0 | 1-9 digits) [. digits] [e [+-] digits] */
static bool json_walk_is_number(const uint8_t *p, uint32_t len)
{
    const uint8_t *end = p + len;
    p += len > 0 && *p == '-' ? 1 : 0;
    const uint8_t *begin = p;
    if (!json_walk_digits(&p, end) || (*begin == '0' && p > begin + 1)) {
        return false;
    }
    if (p < end && *p == '.') {
        p++;
        if (!json_walk_digits(&p, end)) {
            return false;
        }
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-') ? 1 : 0;
        if (!json_walk_digits(&p, end)) {
            return false;
        }
    }
    return p == end;
}

static bool json_walk_word(struct json_walk *w, struct json_token *t, const char *word,
                           enum json_kind kind)
{
    t->kind = kind;
    if (t->len == strlen(word) && memcmp(w->bytes + t->at, word, t->len) == 0) {
        return true;
    }
    return json_walk_fail(w, t->at,
                          "this is not a value: it must be a string, a number, an object, "
                          "an array, true, false or null");
}

static bool json_walk_scalar(struct json_walk *w, struct json_token *t)
{
    *t = json_walk_slice(w);
    uint8_t c = t->len > 0 ? w->bytes[t->at] : 0;
    if (c == '"') {
        return json_walk_quotes(w, t);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        t->kind = JSON_NUMBER;
        return json_walk_is_number(w->bytes + t->at, t->len) ||
               json_walk_fail(w, t->at, "this is not a JSON number");
    }
    if (c == 't') {
        return json_walk_word(w, t, "true", JSON_TRUE);
    }
    if (c == 'f') {
        return json_walk_word(w, t, "false", JSON_FALSE);
    }
    return json_walk_word(w, t, "null", JSON_NULL);
}

/* --- Escapes --------------------------------------------------------------------------------- */

static int json_walk_hex(const uint8_t *s)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int c = s[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : -1;
        digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : digit;
        digit = c >= 'A' && c <= 'F' ? c - 'A' + 10 : digit;
        if (digit < 0) {
            return -1;
        }
        v = v << 4 | digit;
    }
    return v;
}

static int json_walk_short_escape(uint8_t c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return -1;
    }
}

/* \uXXXX at s (behind the u), a pair of them for what lies above U+FFFF. Answers the bytes read
 * behind the u; 0: not such an escape, or half a pair. */
static uint32_t json_walk_unicode(const uint8_t *s, uint32_t left, uint32_t *code)
{
    int high = left >= 4 ? json_walk_hex(s) : -1;
    if (high < 0 || (high >= 0xDC00 && high <= 0xDFFF)) {
        return 0;
    }
    *code = (uint32_t)high;
    if (high < 0xD800 || high > 0xDBFF) {
        return 4;
    }
    int low = left >= 10 && s[4] == '\\' && s[5] == 'u' ? json_walk_hex(s + 6) : -1;
    if (low < 0xDC00 || low > 0xDFFF) {
        return 0;
    }
    *code = 0x10000 + (((uint32_t)high - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    return 10;
}

/* Each escape is longer than what it stands for, so `to` cannot overflow. NULL: only check. */
static bool json_walk_unescape(struct json_walk *w, const struct json_token *t, char *to,
                               uint32_t *len)
{
    const uint8_t *s = w->bytes + t->at;
    char unused[4];
    uint32_t n = 0;
    uint32_t i = 0;
    while (i < t->len) {
        if (s[i] != '\\') {
            if (to) {
                to[n] = (char)s[i];
            }
            n++;
            i++;
            continue;
        }
        uint8_t c = i + 1 < t->len ? s[i + 1] : 0;
        if (c == 'u') {
            uint32_t code = 0;
            uint32_t read = json_walk_unicode(s + i + 2, t->len - i - 2, &code);
            if (read == 0) {
                return json_walk_fail(w, t->at + i,
                                      "this \\u escape is not a character, or half a surrogate "
                                      "pair");
            }
            n += utf8_put(to ? to + n : unused, code);
            i += 2 + read;
            continue;
        }
        int plain = json_walk_short_escape(c);
        if (plain < 0) {
            return json_walk_fail(w, t->at + i, "this escape is not one of JSON's");
        }
        if (to) {
            to[n] = (char)plain;
        }
        n++;
        i += 2;
    }
    *len = n;
    return true;
}

bool json_walk_plain(struct json_walk *w, const struct json_token *t, char *to, uint32_t *len)
{
    return json_walk_unescape(w, t, to, len);
}

bool json_walk_check(struct json_walk *w, const struct json_token *t)
{
    uint32_t len = 0;
    return t->kind != JSON_STRING || !t->has_escapes || json_walk_unescape(w, t, NULL, &len);
}

/* --- Containers ------------------------------------------------------------------------------ */

/* A value within a container that is passed over. */
static bool json_walk_pass_scalar(struct json_walk *w)
{
    struct json_token t;
    return json_walk_scalar(w, &t) && json_walk_check(w, &t);
}

static bool json_walk_pass_key(struct json_walk *w)
{
    struct json_token t;
    if (!json_walk_string(w, &t) || !json_walk_check(w, &t)) {
        return false;
    }
    return json_walk_take(w, ':') ||
           json_walk_fail(w, json_walk_place(w), "':' is expected here, behind the key");
}

/* Which of the containers around are objects: a bit each. */
struct json_walk_nest {
    uint32_t depth;
    uint64_t is_object[JSON_DEPTH_MAX / 64];
};

static bool json_walk_push(struct json_walk *w, struct json_walk_nest *n, bool is_object)
{
    if (n->depth == JSON_DEPTH_MAX) {
        return json_walk_fail(w, json_walk_place(w), "values are nested too deeply");
    }
    uint64_t bit = UINT64_C(1) << (n->depth & 63);
    uint64_t *word = &n->is_object[n->depth >> 6];
    *word = is_object ? *word | bit : *word & ~bit;
    n->depth++;
    return true;
}

static bool json_walk_in_object(const struct json_walk_nest *n)
{
    uint32_t top = n->depth - 1;
    return (n->is_object[top >> 6] >> (top & 63) & 1) != 0;
}

/* Opens containers until a value is taken, or one that is empty closed. */
static bool json_walk_pass_value(struct json_walk *w, struct json_walk_nest *n)
{
    for (;;) {
        uint8_t c = json_walk_peek(w);
        if (c != '{' && c != '[') {
            if (w->next >= w->end) {
                return json_walk_fail(w, w->stop, "the text ends too early");
            }
            return json_walk_pass_scalar(w);
        }
        if (!json_walk_push(w, n, c == '{')) {
            return false;
        }
        w->next++;
        if (json_walk_take(w, c == '{' ? '}' : ']')) {
            n->depth--;
            return true;
        }
        if (c == '{' && !json_walk_pass_key(w)) {
            return false;
        }
    }
}

/* Behind a value: closes what ends here. True with depth 0: all is closed. */
static bool json_walk_pass_behind(struct json_walk *w, struct json_walk_nest *n)
{
    while (n->depth > 0) {
        bool is_object = json_walk_in_object(n);
        if (json_walk_take(w, ',')) {
            return !is_object || json_walk_pass_key(w);
        }
        if (!json_walk_take(w, is_object ? '}' : ']')) {
            return json_walk_fail(w, json_walk_place(w),
                                  is_object ? "',' or '}' is expected here"
                                            : "',' or ']' is expected here");
        }
        n->depth--;
    }
    return true;
}

static bool json_walk_container(struct json_walk *w, struct json_token *t)
{
    struct json_walk_nest nest = {0};
    t->at = json_walk_place(w);
    t->kind = json_walk_peek(w) == '{' ? JSON_OBJECT : JSON_ARRAY;
    do {
        if (!json_walk_pass_value(w, &nest) || !json_walk_pass_behind(w, &nest)) {
            return false;
        }
    } while (nest.depth > 0);
    t->len = w->base + w->at[w->next - 1] + 1 - t->at;
    t->has_escapes = false;
    return true;
}

bool json_walk_other(struct json_walk *w, struct json_token *t)
{
    if (w->next >= w->end) {
        return json_walk_fail(w, w->stop, "the text ends too early");
    }
    uint8_t c = json_walk_peek(w);
    return c == '{' || c == '[' ? json_walk_container(w, t) : json_walk_scalar(w, t);
}

uint32_t json_walk_minify(const struct json_walk *w, const struct json_token *t, char *to)
{
    const uint8_t *s = w->bytes + t->at;
    bool is_string = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->len; i++) {
        uint8_t c = s[i];
        if (!is_string && json_walk_is_blank(c)) {
            continue;
        }
        to[n++] = (char)c;
        if (is_string && c == '\\') {
            to[n++] = (char)s[++i];
        } else if (c == '"') {
            is_string = !is_string;
        }
    }
    return n;
}
