#include <stdlib.h>
#include <string.h>

#include "connectors/json/json.h"

void json_encode_close(void *enc)
{
    struct json_encoder *x = enc;
    for (uint32_t c = 0; x->key && c < x->columns; c++) {
        free(x->key[c].text);
    }
    free(x->key);
    free(x->node);
    *x = (struct json_encoder){0};
}

sr_rc json_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err)
{
    struct json_encoder *x = enc;
    const struct json_conf *conf = o->conf;
    x->host = o->host;
    x->how = (struct json_put){.decimal = conf->is_decimal_plain ? VALUE_DECIMAL_PLAIN
                                                                 : VALUE_DECIMAL_JAVA,
                               .drops_nulls = conf->drops_nulls,
                               .null_key = (enum json_put_key)conf->map_null_key.index,
                               .null_literal = conf->map_null_literal};
    x->columns = o->schema->fields;
    sr_rc rc = node_check_schema(o->schema, true, "the json format", err);
    if (rc != SR_OK) {
        return rc;
    }
    uint32_t nodes = 0;
    x->node = json_nodes(o->schema, conf, &nodes);
    x->has_nested = nodes > x->columns;
    x->key = calloc(x->columns + 1, sizeof(*x->key));
    bool is_short = !x->node || !x->key;
    for (uint32_t c = 0; !is_short && c < x->columns; c++) {
        const char *name = o->schema->field[c].name;
        uint32_t len = (uint32_t)strlen(name);
        x->key[c].text = malloc((size_t)len * JSON_PUT_ESCAPED_MAX + 4);
        is_short = !x->key[c].text;
        if (!is_short) {
            char *end = json_put_string(x->key[c].text, name, len);
            *end++ = ':';
            x->key[c].len = (uint32_t)(end - x->key[c].text);
        }
    }
    return is_short ? o->host->fail(o->host, err, SR_ENOMEM, "json: out of memory") : SR_OK;
}

/* Bytes that the rows may take at most: every byte of a text may become an escape. */
static size_t json_encode_size(const struct json_encoder *x, const struct sr_encode *e)
{
    size_t size = (size_t)3 * e->count;
    for (uint32_t c = 0; c < x->columns; c++) {
        enum value_op op = x->node[c].value.op;
        size += ((size_t)x->key[c].len + VALUE_TEXT_MAX + 4) * e->count;
        if (!value_has_bytes(op)) {
            continue;
        }
        const struct sr_span *span = e->view->col[c]->values;
        size_t bytes = 0;
        for (uint32_t i = 0; i < e->count; i++) {
            bytes += span[sr_row(e->view, e->from + i)].len;
        }
        size += bytes * JSON_PUT_ESCAPED_MAX;
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
        if (is_null && x->how.drops_nulls) {
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
            to = json_put_value(&x->how, &x->node[c].value, k, r, to);
        }
    }
    if (open == '{') {
        *to++ = '{';
    }
    *to++ = '}';
    *to++ = '\n';
    return to;
}

bool json_encode_bytes(struct sr_out *out, const char *s, size_t len)
{
    uint8_t *to = sr_out_room(out, len);
    if (to) {
        memcpy(to, s, len);
        out->len += len;
    }
    return to != NULL;
}

/* Each value asks for its room. */
enum json_put_rc json_encode_object(const struct json_encoder *x, const struct sr_view *v,
                                    uint32_t r, struct sr_out *out)
{
    bool is_put = json_encode_bytes(out, "{", 1);
    bool is_first = true;
    for (uint32_t c = 0; is_put && c < x->columns; c++) {
        if (x->how.drops_nulls && !sr_is_valid(v->col[c], r)) {
            continue;
        }
        is_put = (is_first || json_encode_bytes(out, ",", 1)) &&
                 json_encode_bytes(out, x->key[c].text, x->key[c].len);
        is_first = false;
        enum json_put_rc rc =
            is_put ? json_put_any(&x->how, &x->node[c], v->col[c], r, out) : JSON_PUT_MEMORY;
        if (rc != JSON_PUT_OK) {
            return rc;
        }
    }
    return is_put && json_encode_bytes(out, "}", 1) ? JSON_PUT_OK : JSON_PUT_MEMORY;
}

sr_rc json_encode_fail(const struct json_encoder *x, enum json_put_rc rc, struct sr_error *err)
{
    if (rc == JSON_PUT_MEMORY) {
        return x->host->fail(x->host, err, SR_ENOMEM, "json: out of memory");
    }
    return x->host->fail(x->host, err, SR_EDATA,
                         "a MAP has a key that is NULL, which JSON cannot have; map-null-key.mode "
                         "of the format, DROP or LITERAL, says what becomes of it");
}

static sr_rc json_encode_objects(const struct json_encoder *x, struct sr_encode *e,
                                 struct sr_error *err)
{
    for (; e->done < e->count; e->done++) {
        size_t begin = e->out->len;
        enum json_put_rc rc =
            json_encode_object(x, e->view, sr_row(e->view, e->from + e->done), e->out);
        rc = rc != JSON_PUT_OK || json_encode_bytes(e->out, "\n", 1) ? rc : JSON_PUT_MEMORY;
        if (rc != JSON_PUT_OK) {
            e->out->len = begin;
            return json_encode_fail(x, rc, err);
        }
        if (e->end) {
            e->end[e->done] = e->out->len;
        }
    }
    return SR_OK;
}

sr_rc json_encode(void *enc, struct sr_encode *e, struct sr_error *err)
{
    const struct json_encoder *x = enc;
    e->done = 0;
    if (x->has_nested) {
        return json_encode_objects(x, e, err);
    }
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
