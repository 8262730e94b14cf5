#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/infer_read.h"
#include "engine/base/error.h"

/* Values that are still to be looked at: a stack, so that nesting costs no calls. */
struct json_stack {
    struct json_item {
        json_t *value;
        uint32_t node;
    } * item;
    size_t count, space;
    bool ints_are_real; /* of the record: one of its numbers is beyond 64 bits */
};

static bool json_push(struct json_stack *s, json_t *value, uint32_t node)
{
    if (s->count == s->space) {
        size_t more = s->space ? s->space * 2 : 64;
        struct json_item *grown = realloc(s->item, more * sizeof(*grown));
        if (!grown) return false;
        s->item = grown;
        s->space = more;
    }
    s->item[s->count++] = (struct json_item){value, node};
    return true;
}

/* Fields of an object, or elements of an array, as children of its node. */
static bool json_push_children(struct infer *f, struct json_stack *s, json_t *v, uint32_t node)
{
    if (json_is_array(v)) {
        uint32_t child = json_array_size(v) > 0 ? infer_child(f, node, "") : 0;
        if (json_array_size(v) > 0 && child == 0) infer_give_up(f, node);
        for (size_t i = 0; child != 0 && i < json_array_size(v); i++) {
            if (!json_push(s, json_array_get(v, i), child)) return false;
        }
        return true;
    }
    const char *key;
    json_t *value;
    json_object_foreach(v, key, value)
    {
        uint32_t child = infer_child(f, node, key);
        if (child == 0) {
            infer_give_up(f, node);
        } else if (!json_push(s, value, child)) {
            return false;
        }
    }
    return true;
}

static uint32_t json_number_kinds(const json_t *v, bool ints_are_real)
{
    if (json_is_integer(v)) return INFER_BIGINT | INFER_DECIMAL | INFER_DOUBLE;
    double d = json_real_value(v);
    if (!ints_are_real || d != trunc(d) || fabs(d) >= 1e38) return INFER_DOUBLE;
    return fabs(d) < 9.2e18 ? INFER_BIGINT | INFER_DECIMAL | INFER_DOUBLE
                            : INFER_DECIMAL | INFER_DOUBLE;
}

static bool json_look(struct infer *f, struct json_stack *s, json_t *v, uint32_t node)
{
    uint32_t digits = 0, kinds;
    switch (json_typeof(v)) {
    case JSON_NULL:
        infer_null(f, node);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        infer_value(f, node, INFER_BOOLEAN, 0);
        return true;
    case JSON_INTEGER:
    case JSON_REAL:
        infer_value(f, node, json_number_kinds(v, s->ints_are_real), 0);
        return true;
    case JSON_STRING:
        kinds = infer_kinds(json_string_value(v), false, &digits);
        infer_value(f, node, kinds, digits);
        return true;
    case JSON_OBJECT:
        infer_value(f, node, INFER_ROW, 0);
        return json_push_children(f, s, v, node);
    case JSON_ARRAY:
        infer_value(f, node, INFER_ARRAY, 0);
        return json_push_children(f, s, v, node);
    }
    return true;
}

/* NULL: no JSON. */
static json_t *json_parse(const char *line, bool *ints_are_real)
{
    json_error_t e;
    json_t *v = json_loads(line, JSON_ALLOW_NUL, &e);
    *ints_are_real = !v && json_error_code(&e) == json_error_numeric_overflow;
    if (*ints_are_real) v = json_loads(line, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &e);
    return v;
}

/* An object is a record, an array of objects is a record each. False: out of memory. */
static bool json_record(struct infer *f, struct json_stack *s, const char *line)
{
    json_t *v = json_parse(line, &s->ints_are_real);
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    bool is_good = true;
    for (size_t i = 0; is_good && i < n; i++) {
        json_t *one = json_is_array(v) ? json_array_get(v, i) : v;
        if (!json_is_object(one)) {
            f->bad++;
            continue;
        }
        f->records++;
        is_good = json_push_children(f, s, one, 0);
        while (is_good && s->count > 0) {
            struct json_item top = s->item[--s->count];
            is_good = json_look(f, s, top.value, top.node);
        }
    }
    json_decref(v);
    return is_good;
}

sr_rc infer_json(struct infer *f, struct infer_file *file, struct sr_error *err)
{
    struct json_stack s = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && !file->is_cut && (len = getline(&line, &room, file->in)) >= 0) {
        if (strspn(line, " \t\r\n") == (size_t)len) continue;
        if ((size_t)len > INFER_RECORD_MAX) {
            rc = error_set(err, SR_ELIMIT, "%s: a record is longer than 16 MiB", file->name);
        } else if (file->records_max > 0 && f->records + f->bad >= file->records_max) {
            file->is_cut = true;
        } else if (!json_record(f, &s, line)) {
            rc = error_set(err, SR_ENOMEM, "out of memory");
        }
    }
    free(line);
    free(s.item);
    infer_settle(f);
    if (rc == SR_OK && f->records == 0) {
        rc = f->bad > 0 ? error_set(err, SR_EDATA, "%s: no line is a JSON object", file->name)
                        : error_set(err, SR_EDATA, "%s is empty", file->name);
    }
    return rc;
}
