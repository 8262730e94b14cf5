/* One JSON text (RFC 8259), token by token: strict, without recursion and without copies.
 *
 * Every step answers false at the first thing that is not JSON; `fault` then says what, and
 * `fault_at` where. Strings are slices between their quotes; json_walk_plain resolves escapes.
 */
#ifndef SR_JSON_WALK_H
#define SR_JSON_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "connectors/json/json_parse.h"

#define JSON_DEPTH_MAX 512u /* of arrays and objects within each other */

struct json_walk {
    const uint8_t *bytes;
    const uint32_t *at; /* places of tokens */
    uint32_t next, end; /* into `at` */
    uint32_t base;      /* added to a place gives a byte of `bytes` */
    uint32_t stop;      /* first byte behind the text */
    bool has_backslash; /* somewhere in the text; else no string has escapes */
    const char *fault;  /* NULL until something is wrong */
    uint32_t fault_at;  /* byte of `bytes` */
};

enum json_kind {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
};

struct json_token {
    enum json_kind kind;
    bool has_escapes; /* strings */
    uint32_t at, len; /* strings: without quotes; containers: all of their text */
};

bool json_walk_fail(struct json_walk *w, uint32_t at, const char *fault);

/* The character of the next token, or 0 at the end. */
static inline uint8_t json_walk_peek(const struct json_walk *w)
{
    return w->next < w->end ? w->bytes[w->base + w->at[w->next]] : 0;
}

static inline uint32_t json_walk_place(const struct json_walk *w)
{
    return w->next < w->end ? w->base + w->at[w->next] : w->stop;
}

/* Takes the next token if it is `c`. */
static inline bool json_walk_take(struct json_walk *w, uint8_t c)
{
    if (json_walk_peek(w) != c) {
        return false;
    }
    w->next++;
    return true;
}

static inline bool json_walk_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes the next token: from its first byte to the next token, without blanks. */
static inline struct json_token json_walk_slice(struct json_walk *w)
{
    struct json_token t = {.at = w->base + w->at[w->next++]};
    uint32_t end = json_walk_place(w);
    while (end > t.at && json_walk_is_blank(w->bytes[end - 1])) {
        end--;
    }
    t.len = end - t.at;
    return t;
}

/* A slice as a string, if it is one. */
static inline bool json_walk_quotes(struct json_walk *w, struct json_token *t)
{
    const uint8_t *s = w->bytes + t->at;
    if (t->len < 2 || s[0] != '"' || s[t->len - 1] != '"') {
        return json_walk_fail(w, t->at, "a string is expected here, in double quotes");
    }
    t->kind = JSON_STRING;
    t->at++;
    t->len -= 2;
    t->has_escapes = w->has_backslash && memchr(s + 1, '\\', t->len) != NULL;
    return true;
}

/* The string that is next. */
static inline bool json_walk_string(struct json_walk *w, struct json_token *t)
{
    if (w->next >= w->end) {
        return json_walk_fail(w, w->stop, "the text ends too early");
    }
    *t = json_walk_slice(w);
    return json_walk_quotes(w, t);
}

/* The number, literal or container that is next; of containers all of it, checked. */
bool json_walk_other(struct json_walk *w, struct json_token *t);
/* The value that is next, whatever it is. */
static inline bool json_walk_value(struct json_walk *w, struct json_token *t)
{
    return json_walk_peek(w) == '"' ? json_walk_string(w, t) : json_walk_other(w, t);
}

/* The string with its escapes resolved, to `to`: room for t->len bytes. False: a bad escape, of
 * which `fault` tells. */
bool json_walk_plain(struct json_walk *w, const struct json_token *t, char *to, uint32_t *len);
/* Are the escapes of a string that nobody wants in order? */
bool json_walk_check(struct json_walk *w, const struct json_token *t);
/* Takes the value that is next and only checks it. */
static inline bool json_walk_pass(struct json_walk *w)
{
    struct json_token t = {0};
    return json_walk_value(w, &t) && json_walk_check(w, &t);
}
/* The text of a container without the white space between tokens, to `to`: room for t->len. */
uint32_t json_walk_minify(const struct json_walk *w, const struct json_token *t, char *to);

#endif
