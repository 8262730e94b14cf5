#include "connectors/json/json_value.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/text/number.h"

bool json_value_room(struct json_decoder *x, uint32_t size)
{
    if (size <= x->scratch_size) {
        return true;
    }
    size_t want = (size_t)size + size / 2;
    char *grown = want <= UINT32_MAX ? realloc(x->scratch, want) : NULL;
    if (!grown) {
        return false;
    }
    x->scratch = grown;
    x->scratch_size = (uint32_t)want;
    return true;
}

static enum value_rc json_value_integer(const struct json_place *p, const char *s, uint32_t len)
{
    int64_t n = 0;
    enum number_rc rc = number_get_integral(s, len, &n);
    if (rc == NUMBER_OK) {
        return value_put_number(p->b, p->c, &p->node->value, n);
    }
    if (rc == NUMBER_RANGE) {
        return VALUE_RANGE;
    }
    return rc == NUMBER_INEXACT ? VALUE_INEXACT : VALUE_BAD;
}

static enum value_rc json_value_number(const struct json_decoder *x, const struct json_place *p,
                                       const char *s, uint32_t len)
{
    const struct value *v = &p->node->value;
    switch (v->op) {
    case VALUE_I8:
    case VALUE_I16:
    case VALUE_I32:
    case VALUE_I64:
        return json_value_integer(p, s, len);
    case VALUE_F32:
    case VALUE_F64:
    case VALUE_DECIMAL:
    case VALUE_TEXT:
        return value_put(p->b, p->c, v, s, len, x->buffer);
    case VALUE_BOOL:
    case VALUE_BYTES:
    case VALUE_DATE:
    case VALUE_TIME:
    case VALUE_STAMP:
    case VALUE_JSON:
    case VALUE_NESTED:
        return VALUE_BAD;
    }
    return VALUE_BAD;
}

/* A container is text to a STRING column, and nothing to any other without children. */
static enum value_rc json_value_container(struct json_decoder *x, const struct json_walk *w,
                                          const struct json_place *p, const struct json_token *t)
{
    const struct value *v = &p->node->value;
    if (v->op != VALUE_TEXT) {
        return VALUE_BAD;
    }
    if (!json_value_room(x, t->len)) {
        return VALUE_MEMORY;
    }
    uint32_t len = json_walk_minify(w, t, x->scratch);
    if (len == t->len) {
        return value_put(p->b, p->c, v, (const char *)w->bytes + t->at, len, x->buffer);
    }
    return value_put(p->b, p->c, v, x->scratch, len, NULL);
}

/* False: an escape is wrong; w->fault tells. */
static bool json_value_string(struct json_decoder *x, struct json_walk *w,
                              const struct json_place *p, const struct json_token *t,
                              enum value_rc *rc)
{
    const char *s = (const char *)w->bytes + t->at;
    uint32_t len = t->len;
    const struct sr_buffer *buffer = x->buffer;
    if (t->has_escapes) {
        if (!json_value_room(x, len)) {
            *rc = VALUE_MEMORY;
            return true;
        }
        if (!json_walk_plain(w, t, x->scratch, &len)) {
            return false;
        }
        s = x->scratch;
        buffer = NULL;
    }
    *rc = value_put(p->b, p->c, &p->node->value, s, len, buffer);
    return true;
}

/* Puts the value; false: w->fault tells. */
static bool json_value_try(struct json_decoder *x, struct json_walk *w, const struct json_place *p,
                           const struct json_token *t, enum value_rc *rc)
{
    const struct value *v = &p->node->value;
    const char *s = (const char *)w->bytes + t->at;
    switch (t->kind) {
    case JSON_STRING:
        return json_value_string(x, w, p, t, rc);
    case JSON_NUMBER:
        *rc = json_value_number(x, p, s, t->len);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        if (v->op == VALUE_BOOL) {
            sr_put_bool(p->b, p->c, t->kind == JSON_TRUE);
            *rc = VALUE_OK;
        } else {
            *rc = v->op == VALUE_TEXT ? value_put(p->b, p->c, v, s, t->len, x->buffer) : VALUE_BAD;
        }
        return true;
    case JSON_NULL:
        *rc = value_put_null(p->b, p->c, v);
        return true;
    case JSON_OBJECT:
    case JSON_ARRAY:
        *rc = json_value_container(x, w, p, t);
        return true;
    }
    return true;
}

bool json_value_put_token(struct json_decoder *x, struct json_walk *w, const struct json_place *p,
                          const struct json_token *t, struct json_fault *fault)
{
    enum value_rc rc = VALUE_OK;
    if (!json_value_try(x, w, p, t, &rc)) {
        return false;
    }
    if (rc != VALUE_OK && x->is_lenient && rc != VALUE_MEMORY && rc != VALUE_MISSING) {
        rc = value_put_null(p->b, p->c, &p->node->value);
    }
    if (rc == VALUE_OK) {
        return true;
    }
    fault->rc = rc;
    fault->value = &p->node->value;
    fault->text = (const char *)w->bytes + t->at;
    fault->len = t->len;
    return false;
}

bool json_value_find(struct json_decoder *x, struct json_walk *w, struct json_names *names,
                     uint32_t nth, const struct json_token *key, uint32_t *field)
{
    const char *s = (const char *)w->bytes + key->at;
    if (!key->has_escapes) {
        *field = json_names_find(names, s, key->len);
    } else {
        uint32_t len = 0;
        if (!json_value_room(x, key->len)) {
            return json_walk_fail(w, key->at, "out of memory");
        }
        if (!json_walk_plain(w, key, x->scratch, &len)) {
            return false;
        }
        *field = json_names_find(names, x->scratch, len);
    }
    json_names_learn(names, nth, s, key->len, *field);
    return true;
}
