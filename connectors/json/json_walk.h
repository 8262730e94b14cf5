/* One JSON text (RFC 8259), token by token: strict, without recursion and without copies.
 *
 * Every step answers false at the first thing that is not JSON; `fault` then says what, and
 * `fault_at` where. Strings are slices between their quotes; json_walk_plain resolves escapes.
 */
#ifndef SR_JSON_WALK_H
#define SR_JSON_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "connectors/json/json_parse.h"

#define JSON_DEPTH_MAX 512u /* of arrays and objects within each other */

struct json_walk {
    const uint8_t *bytes;
    const uint32_t *at; /* places of tokens */
    uint32_t next, end; /* into `at` */
    uint32_t base;      /* added to a place gives a byte of `bytes` */
    uint32_t stop;      /* first byte behind the text */
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

/* The string that is next. */
bool json_walk_string(struct json_walk *w, struct json_token *t);
/* The value that is next, whatever it is; of containers all of it, checked. */
bool json_walk_value(struct json_walk *w, struct json_token *t);

/* The string with its escapes resolved, to `to`: room for t->len bytes. False: a bad escape, of
 * which `fault` tells. */
bool json_walk_plain(struct json_walk *w, const struct json_token *t, char *to, uint32_t *len);
/* Are the escapes of a string that nobody wants in order? */
bool json_walk_check(struct json_walk *w, const struct json_token *t);
/* The text of a container without the white space between tokens, to `to`: room for t->len. */
uint32_t json_walk_minify(const struct json_walk *w, const struct json_token *t, char *to);

#endif
