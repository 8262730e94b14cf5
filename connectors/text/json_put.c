#include "connectors/text/json_put.h"

#include <stdio.h>
#include <string.h>

#include "connectors/text/bag.h"
#include "connectors/text/base64.h"
#include "connectors/text/copy.h"
#include "connectors/text/nest.h"
#include "connectors/text/utf8.h"

/* What a byte of a string needs: 0 nothing, 'u' an \u00XX escape, else the letter behind \. */
static const char json_put_escape[256] = {
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'b',         't',          'n', 'u',
    'f', 'r', 'u', 'u', 'u', 'u', 'u', 'u', 'u',         'u',          'u', 'u',
    'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', ['"'] = '"', ['\\'] = '\\'};

static char *json_put_escaped(char *to, const char *s, uint32_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        char how = json_put_escape[c];
        if (how == 0) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '\\';
        *to++ = how;
        if (how == 'u') {
            to[0] = to[1] = '0';
            to[2] = digits[c >> 4];
            to[3] = digits[c & 15];
            to += 4;
        }
    }
    return to;
}

/* Text that is not UTF-8: what is not becomes U+FFFD, so that the output is JSON in any case. */
static char *json_put_repaired(char *to, const char *s, uint32_t len)
{
    while (len > 0) {
        uint32_t good = utf8_valid_prefix(s, len);
        to = json_put_escaped(to, s, good);
        s += good;
        len -= good;
        if (len > 0) {
            to += utf8_put(to, 0xFFFD);
            s++;
            len--;
        }
    }
    return to;
}

char *json_put_string(char *to, const char *s, uint32_t len)
{
    static const struct copy_needles needles = {.needle = {'"', '\\', '"', '"'},
                                                .has_controls = true};
    *to++ = '"';
    unsigned found = copy_text(&needles, to, s, len);
    if (found == 0 || (found == COPY_HIGH && utf8_is_valid(s, len))) {
        to += len;
    } else if (utf8_is_valid(s, len)) {
        to = json_put_escaped(to, s, len);
    } else {
        to = json_put_repaired(to, s, len);
    }
    *to++ = '"';
    return to;
}

/* What is no number or literal of JSON stands in quotes: times, and NaN and the infinities. */
static bool json_put_is_quoted(const struct value *v, const char *text, uint32_t len)
{
    switch (v->op) {
    case VALUE_F32:
    case VALUE_F64:
        return len > 0 && (text[len - 1] == 'N' || text[len - 1] == 'y');
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_STAMP:
        return true;
    case VALUE_BOOL:
    case VALUE_I8:
    case VALUE_I16:
    case VALUE_I32:
    case VALUE_I64:
    case VALUE_DECIMAL:
    case VALUE_TEXT:
    case VALUE_BYTES:
    case VALUE_JSON:
    case VALUE_NESTED:
        return false;
    }
    return false;
}

/* JSON as it stands, but for infinite numbers, which are in quotes as those of DOUBLE. */
static char *json_put_json(char *to, const char *s, uint32_t len)
{
    static const char word[] = "Infinity";
    bool is_inside = false;
    for (uint32_t i = 0; i < len; i++) {
        bool is_infinite = !is_inside && (s[i] == 'I' || (s[i] == '-' && s[i + 1] == 'I'));
        if (is_infinite) {
            uint32_t n = (uint32_t)sizeof(word) - (s[i] == 'I' ? 1 : 0);
            *to++ = '"';
            memcpy(to, s + i, n);
            to += n;
            *to++ = '"';
            i += n - 1;
            continue;
        }
        *to++ = s[i];
        if (is_inside && s[i] == '\\') {
            *to++ = s[++i];
        } else if (s[i] == '"') {
            is_inside = !is_inside;
        }
    }
    return to;
}

char *json_put_value(const struct json_put *how, const struct value *v, const struct sr_column *c,
                     uint32_t r, char *to)
{
    uint32_t len = 0;
    if (v->op == VALUE_TEXT) {
        const char *s = sr_text(c, r, &len);
        return json_put_string(to, s, len);
    }
    if (v->op == VALUE_JSON) {
        const char *s = sr_text(c, r, &len);
        return json_put_json(to, s, len);
    }
    if (v->op == VALUE_BYTES) {
        const char *s = sr_text(c, r, &len);
        *to++ = '"';
        base64_put(to, (const uint8_t *)s, len);
        to += base64_put_size(len);
        *to++ = '"';
        return to;
    }
    len = value_print(v, c, r, how->decimal, to + 1);
    if (json_put_is_quoted(v, to + 1, len)) {
        *to = '"';
        to[len + 1] = '"';
        return to + len + 2;
    }
    memmove(to, to + 1, len);
    return to + len;
}

/* --- Nested values --------------------------------------------------------------------------- */

/* What is being written. */
struct json_put_run {
    const struct json_put *how;
    struct sr_out *out;
    struct nest nest;
    const struct node *node[NEST_DEPTH_MAX + 1]; /* of the containers that are open */
    bool has_value[NEST_DEPTH_MAX + 1];          /* ... something stands in them */
    bool is_skipping;                            /* a MAP's value whose key is left out */
};

static bool json_put_bytes(struct sr_out *out, const char *s, size_t len)
{
    uint8_t *to = sr_out_room(out, len);
    if (to) {
        memcpy(to, s, len);
        out->len += len;
    }
    return to != NULL;
}

static bool json_put_quoted(struct sr_out *out, const char *s, uint32_t len)
{
    char *to = (char *)sr_out_room(out, (size_t)len * JSON_PUT_ESCAPED_MAX + 2);
    if (to) {
        out->len += (size_t)(json_put_string(to, s, len) - to);
    }
    return to != NULL;
}

/* A MULTISET: each value once, and how often it is there. */
static enum json_put_rc json_put_bag(struct json_put_run *k)
{
    const struct sr_column *bag = k->nest.c, *c = bag->child[0];
    struct sr_span s = ((const struct sr_span *)bag->values)[k->nest.r];
    bool is_put = json_put_bytes(k->out, "{", 1), is_first = true;
    for (uint32_t i = s.at; i < s.at + s.len && is_put; i++) {
        char digits[16];
        uint32_t n = bag_times(c, s, i), len = 0;
        bool is_null = !sr_is_valid(c, i);
        if (n == 0 || (is_null && k->how->null_key == JSON_PUT_KEY_DROP)) {
            continue;
        }
        if (is_null && k->how->null_key != JSON_PUT_KEY_LITERAL) {
            return JSON_PUT_NULL_KEY;
        }
        const char *text = is_null ? k->how->null_literal : sr_text(c, i, &len);
        len = is_null ? (uint32_t)strlen(text) : len;
        int digits_len = snprintf(digits, sizeof(digits), ":%u", n);
        is_put = (is_first || json_put_bytes(k->out, ",", 1)) &&
                 json_put_quoted(k->out, text, len) &&
                 json_put_bytes(k->out, digits, (size_t)digits_len);
        is_first = false;
    }
    return is_put && json_put_bytes(k->out, "}", 1) ? JSON_PUT_OK : JSON_PUT_MEMORY;
}

/* One that has no inside, or is NULL. */
static bool json_put_leaf(struct json_put_run *k, const struct node *node)
{
    const struct sr_column *c = k->nest.c;
    if (!sr_is_valid(c, k->nest.r)) {
        return json_put_bytes(k->out, "null", 4);
    }
    char *to = (char *)sr_out_room(k->out, json_put_size(&node->value, c, k->nest.r));
    if (to) {
        k->out->len += (size_t)(json_put_value(k->how, &node->value, c, k->nest.r, to) - to);
    }
    return to != NULL;
}

static enum json_put_rc json_put_key(struct json_put_run *k)
{
    const struct sr_column *c = k->nest.c;
    uint32_t len = 0;
    const char *s = NULL;
    if (sr_is_valid(c, k->nest.r)) {
        s = sr_text(c, k->nest.r, &len);
    } else if (k->how->null_key == JSON_PUT_KEY_LITERAL) {
        s = k->how->null_literal;
        len = (uint32_t)strlen(s);
    } else {
        k->is_skipping = true;
        return k->how->null_key == JSON_PUT_KEY_DROP ? JSON_PUT_OK : JSON_PUT_NULL_KEY;
    }
    bool *has_value = &k->has_value[k->nest.depth];
    bool is_put = !*has_value || json_put_bytes(k->out, ",", 1);
    *has_value = true;
    is_put = is_put && json_put_quoted(k->out, s, len) && json_put_bytes(k->out, ":", 1);
    return is_put ? JSON_PUT_OK : JSON_PUT_MEMORY;
}

/* What stands in front of a value: a comma, the name of a field. False: out of memory. */
static bool json_put_before(struct json_put_run *k, const struct node *node)
{
    uint32_t depth = k->nest.depth;
    if (depth == 0 || k->node[depth]->value.type.kind == SR_MAP) {
        return true; /* its key wrote it */
    }
    bool is_put = !k->has_value[depth] || json_put_bytes(k->out, ",", 1);
    k->has_value[depth] = true;
    if (!is_put || k->node[depth]->value.type.kind != SR_ROW) {
        return is_put;
    }
    const char *name = node->value.name;
    return json_put_quoted(k->out, name, (uint32_t)strlen(name)) && json_put_bytes(k->out, ":", 1);
}

static enum json_put_rc json_put_event(struct json_put_run *k, enum nest_event event,
                                       const struct node *node)
{
    bool is_object = node->value.type.kind != SR_ARRAY;
    uint32_t depth = k->nest.depth;
    if (event == NEST_CLOSE) {
        return json_put_bytes(k->out, is_object ? "}" : "]", 1) ? JSON_PUT_OK : JSON_PUT_MEMORY;
    }
    if (!json_put_before(k, node)) {
        return JSON_PUT_MEMORY;
    }
    if (event == NEST_VALUE && node->value.type.kind == SR_MULTISET &&
        sr_is_valid(k->nest.c, k->nest.r)) {
        return json_put_bag(k);
    }
    if (event == NEST_VALUE) {
        return json_put_leaf(k, node) ? JSON_PUT_OK : JSON_PUT_MEMORY;
    }
    k->node[depth + 1] = node;
    k->has_value[depth + 1] = false;
    return json_put_bytes(k->out, is_object ? "{" : "[", 1) ? JSON_PUT_OK : JSON_PUT_MEMORY;
}

/* Passes over a value whose key is left out. */
static bool json_put_skip(struct json_put_run *k, enum nest_event event, uint32_t depth)
{
    if (!k->is_skipping) {
        return false;
    }
    k->is_skipping = event == NEST_OPEN || k->nest.depth > depth;
    return true;
}

enum json_put_rc json_put_any(const struct json_put *how, const struct node *node,
                              const struct sr_column *c, uint32_t r, struct sr_out *out)
{
    struct json_put_run k = {.how = how, .out = out};
    size_t begin = out->len;
    uint32_t map_depth = 0; /* of the MAP whose value is passed over */
    enum json_put_rc rc = JSON_PUT_OK;
    nest_begin(&k.nest, c, r);
    k.nest.is_bag_whole = true;
    for (enum nest_event event = nest_next(&k.nest); rc == JSON_PUT_OK && event != NEST_DONE;
         event = nest_next(&k.nest)) {
        if (json_put_skip(&k, event, map_depth)) {
            continue;
        }
        uint32_t depth = k.nest.depth;
        enum sr_kind around = depth > 0 ? k.node[depth]->value.type.kind : SR_NULL;
        const struct node *n = node;
        if (event == NEST_CLOSE) {
            n = k.node[depth + 1];
        } else if (depth > 0) {
            n = node_child(k.node[depth], k.nest.child);
        }
        if (around == SR_MAP && event != NEST_CLOSE && k.nest.child == 0) {
            rc = json_put_key(&k);
            map_depth = depth;
            continue;
        }
        if (how->drops_nulls && around == SR_ROW && !sr_is_valid(k.nest.c, k.nest.r)) {
            continue;
        }
        rc = json_put_event(&k, event, n);
    }
    out->len = rc == JSON_PUT_OK ? out->len : begin;
    return rc;
}
