#include <stdlib.h>
#include <string.h>

#include "connectors/json/json.h"
#include "connectors/text/base64.h"
#include "connectors/text/copy.h"
#include "connectors/text/utf8.h"

/* What a byte of a string needs: 0 nothing, 'u' an \u00XX escape, else the letter behind \. */
static const char json_escape[256] = {'u', 'u', 'u', 'u', 'u', 'u',         'u',          'u', 'b',
                                      't', 'n', 'u', 'f', 'r', 'u',         'u',          'u', 'u',
                                      'u', 'u', 'u', 'u', 'u', 'u',         'u',          'u', 'u',
                                      'u', 'u', 'u', 'u', 'u', ['"'] = '"', ['\\'] = '\\'};

#define JSON_ESCAPED_MAX 6u /* bytes that one byte may become: \u00XX */

static char *json_encode_escaped(char *to, const char *s, uint32_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        char how = json_escape[c];
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
static char *json_encode_repaired(char *to, const char *s, uint32_t len)
{
    while (len > 0) {
        uint32_t good = utf8_valid_prefix(s, len);
        to = json_encode_escaped(to, s, good);
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

/* A string in its quotes; `to` has room for JSON_ESCAPED_MAX bytes a byte, and two. */
static char *json_encode_string(char *to, const char *s, uint32_t len)
{
    static const struct copy_needles needles = {.needle = {'"', '\\', '"', '"'},
                                                .has_controls = true};
    *to++ = '"';
    unsigned found = copy_text(&needles, to, s, len);
    if (found == 0 || (found == COPY_HIGH && utf8_is_valid(s, len))) {
        to += len;
    } else if (utf8_is_valid(s, len)) {
        to = json_encode_escaped(to, s, len);
    } else {
        to = json_encode_repaired(to, s, len);
    }
    *to++ = '"';
    return to;
}

void json_encode_close(void *enc)
{
    struct json_encoder *x = enc;
    for (uint32_t c = 0; x->key && c < x->columns; c++) {
        free(x->key[c].text);
    }
    free(x->key);
    free(x->value);
    *x = (struct json_encoder){0};
}

sr_rc json_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err)
{
    struct json_encoder *x = enc;
    const struct json_conf *conf = o->conf;
    x->host = o->host;
    x->drops_nulls = conf->drops_nulls;
    x->decimal = conf->is_decimal_plain ? VALUE_DECIMAL_PLAIN : VALUE_DECIMAL_JAVA;
    x->columns = o->schema->fields;
    sr_rc rc = value_check_schema(o->schema, "json", err);
    if (rc != SR_OK) {
        return rc;
    }
    x->value = json_values(o->schema, conf);
    x->key = calloc(x->columns + 1, sizeof(*x->key));
    bool is_short = !x->value || !x->key;
    for (uint32_t c = 0; !is_short && c < x->columns; c++) {
        const char *name = o->schema->field[c].name;
        uint32_t len = (uint32_t)strlen(name);
        x->key[c].text = malloc((size_t)len * JSON_ESCAPED_MAX + 4);
        is_short = !x->key[c].text;
        if (!is_short) {
            char *end = json_encode_string(x->key[c].text, name, len);
            *end++ = ':';
            x->key[c].len = (uint32_t)(end - x->key[c].text);
        }
    }
    return is_short ? o->host->fail(o->host, err, SR_ENOMEM, "json: out of memory") : SR_OK;
}

/* What is no number or literal of JSON stands in quotes: times, and NaN and the infinities. */
static bool json_encode_is_quoted(const struct value *v, const char *text, uint32_t len)
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
        return false;
    }
    return false;
}

static char *json_encode_value(const struct json_encoder *x, char *to, uint32_t col,
                               const struct sr_column *c, uint32_t r)
{
    const struct value *v = &x->value[col];
    uint32_t len = 0;
    if (v->op == VALUE_TEXT) {
        const char *s = sr_text(c, r, &len);
        return json_encode_string(to, s, len);
    }
    if (v->op == VALUE_BYTES) {
        const char *s = sr_text(c, r, &len);
        *to++ = '"';
        base64_put(to, (const uint8_t *)s, len);
        to += base64_put_size(len);
        *to++ = '"';
        return to;
    }
    len = value_print(v, c, r, x->decimal, to + 1);
    if (json_encode_is_quoted(v, to + 1, len)) {
        *to = '"';
        to[len + 1] = '"';
        return to + len + 2;
    }
    memmove(to, to + 1, len);
    return to + len;
}

/* Bytes that the rows may take at most: every byte of a text may become an escape. */
static size_t json_encode_size(const struct json_encoder *x, const struct sr_encode *e)
{
    size_t size = (size_t)3 * e->count;
    for (uint32_t c = 0; c < x->columns; c++) {
        enum value_op op = x->value[c].op;
        size += ((size_t)x->key[c].len + VALUE_TEXT_MAX + 4) * e->count;
        if (op != VALUE_TEXT && op != VALUE_BYTES) {
            continue;
        }
        const struct sr_span *span = e->view->col[c]->values;
        size_t bytes = 0;
        for (uint32_t i = 0; i < e->count; i++) {
            bytes += span[sr_row(e->view, e->from + i)].len;
        }
        size += bytes * JSON_ESCAPED_MAX;
    }
    return size;
}

static char *json_encode_row(const struct json_encoder *x, char *to, const struct sr_view *v,
                             uint32_t r)
{
    char open = '{';
    for (uint32_t c = 0; c < x->columns; c++) {
        const struct sr_column *k = v->col[c];
        bool is_null = !sr_is_valid(k, r);
        if (is_null && x->drops_nulls) {
            continue;
        }
        *to++ = open;
        open = ',';
        memcpy(to, x->key[c].text, x->key[c].len);
        to += x->key[c].len;
        if (is_null) {
            static const char word[] = {'n', 'u', 'l', 'l'};
            memcpy(to, word, sizeof(word));
            to += sizeof(word);
        } else {
            to = json_encode_value(x, to, c, k, r);
        }
    }
    if (open == '{') {
        *to++ = '{';
    }
    *to++ = '}';
    *to++ = '\n';
    return to;
}

sr_rc json_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    const struct json_encoder *x = enc;
    e->done = 0;
    char *base = (char *)sr_out_room(e->out, json_encode_size(x, e));
    if (!base && e->count > 0) {
        return x->host->fail(x->host, err, SR_ENOMEM, "json: out of memory");
    }
    char *to = base;
    const size_t len = e->out->len;
    for (uint32_t i = 0; i < e->count; i++) {
        to = json_encode_row(x, to, e->view, sr_row(e->view, e->from + i));
        if (e->end) {
            e->end[i] = len + (size_t)(to - base);
        }
    }
    e->out->len = len + (size_t)(to - base);
    e->done = e->count;
    return SR_OK;
}
