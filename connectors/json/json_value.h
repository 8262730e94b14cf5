/* From the walk over a JSON text to one value of a builder: what columns and nested values
 * share. */
#ifndef SR_JSON_JSON_VALUE_H
#define SR_JSON_JSON_VALUE_H

#include "connectors/json/json.h"
#include "connectors/json/json_walk.h"

/* Where a value goes: column c of b's current row. */
struct json_place {
    struct sr_builder *b;
    uint32_t c;
    const struct node *node;
};

/* Why a record was refused. */
struct json_fault {
    enum value_rc rc;          /* VALUE_OK: no fault of a value */
    const struct value *value; /* NULL: `words` are of the record */
    const char *words;
    bool is_content; /* `words` say all: the record is JSON, but not what it should be */
    uint32_t at;     /* byte of the record, when value is NULL */
    const char *text;
    uint32_t len;
    const char *path; /* to a value inside a column: "a.b[2].c"; else NULL */
};

/* Room for `size` bytes in x->scratch; false: out of memory. */
bool json_value_room(struct json_decoder *x, uint32_t size);

/* A record begins: serials begin anew long before they could repeat within one. */
static inline void json_value_record(struct json_decoder *x)
{
    if (x->serial >= UINT32_MAX / 2) {
        memset(x->seen, 0, x->nodes * sizeof(*x->seen));
        x->serial = 0;
    }
}

/* Looks a key up that was not guessed. */
bool json_value_find(struct json_decoder *x, struct json_walk *w, struct json_names *names,
                     uint32_t nth, const struct json_token *key, uint32_t *field);

/* Takes the n-th key of an object and its colon. *field: which of `names` it is, JSON_NAMES_NONE
 * for none. False: w->fault tells. */
static inline bool json_value_key(struct json_decoder *x, struct json_walk *w,
                                  struct json_names *names, uint32_t nth, uint32_t *field)
{
    struct json_token key = {0};
    if (!json_walk_string(w, &key)) {
        return false;
    }
    if (!json_names_guess(names, nth, (const char *)w->bytes + key.at, key.len, field) &&
        !json_value_find(x, w, names, nth, &key, field)) {
        return false;
    }
    return json_walk_take(w, ':') ||
           json_walk_fail(w, json_walk_place(w), "':' is expected here, behind the key");
}

/* Puts a token that was taken; a column with children only takes NULL. False: w->fault or *fault
 * tells. */
bool json_value_put_token(struct json_decoder *x, struct json_walk *w, const struct json_place *p,
                          const struct json_token *t, struct json_fault *fault);
#define JSON_VALUE_DIGITS 18u /* that fit an int64_t whatever they are */

/* Takes a plain integer, "-123", that is next, if the value is one. Anything else is left. */
static inline bool json_value_plain(struct json_walk *w, int64_t *out)
{
    uint32_t at = json_walk_place(w);
    uint32_t end = w->next + 1 < w->end ? w->base + w->at[w->next + 1] : w->stop;
    const uint8_t *s = w->bytes + at;
    uint32_t len = end - at, i = 0;
    bool is_negative = len > 0 && s[0] == '-';
    int64_t n = 0;
    s += is_negative ? 1 : 0;
    len -= is_negative ? 1 : 0;
    if (len == 0 || len > JSON_VALUE_DIGITS || (s[0] == '0' && len > 1)) {
        return false;
    }
    for (; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
        n = n * 10 + (s[i] - '0');
    }
    if (i < len) {
        return false;
    }
    *out = is_negative ? -n : n;
    w->next++;
    return true;
}

/* Takes the value that is next and puts it. */
static inline bool json_value_put(struct json_decoder *x, struct json_walk *w,
                                  const struct json_place *p, struct json_fault *fault)
{
    struct json_token t = {0};
    int64_t n = 0;
    if (p->node->value.op == VALUE_I64 && w->next < w->end && json_value_plain(w, &n)) {
        sr_put_i64(p->b, p->c, n);
        return true;
    }
    if (!json_walk_value(w, &t)) {
        return false;
    }
    const struct sr_buffer *buffer = x->buffer;
    if (t.kind == JSON_STRING && !t.has_escapes && p->node->value.op == VALUE_TEXT && buffer &&
        p->b->col[p->c]->bytes == buffer) {
        /* The most common value: text that lies where it may stay. */
        sr_put_span(p->b, p->c, (uint32_t)(w->bytes + t.at - buffer->data), t.len);
        return true;
    }
    return json_value_put_token(x, w, p, &t, fault);
}

#endif
