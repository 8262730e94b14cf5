#include "connectors/confluent/json_schema.h"

#include <jansson.h>

static json_t *json_schema_type(const struct sr_type *t);

static const char *json_schema_word(enum sr_kind kind)
{
    if (kind == SR_BOOLEAN) {
        return "boolean";
    }
    if (sr_is_integer(kind)) {
        return "integer";
    }
    return sr_is_number(kind) ? "number" : "string"; /* times are texts */
}

/* NOLINTNEXTLINE(misc-no-recursion): types are bounded by NEST_DEPTH_MAX */
static json_t *json_schema_object(const struct sr_field *field, uint32_t fields)
{
    json_t *properties = json_object(), *required = json_array();
    for (uint32_t i = 0; i < fields; i++) {
        (void)json_object_set_new(properties, field[i].name, json_schema_type(&field[i].type));
        if (!field[i].type.is_nullable) {
            (void)json_array_append_new(required, json_string(field[i].name));
        }
    }
    json_t *j = json_pack("{s:s, s:o}", "type", "object", "properties", properties);
    if (json_array_size(required) > 0) {
        (void)json_object_set(j, "required", required);
    }
    json_decref(required);
    return j;
}

/* What is missing for want of memory is found by its count. NOLINTNEXTLINE(misc-no-recursion) */
static json_t *json_schema_type(const struct sr_type *t)
{
    json_t *j = NULL;
    if (t->kind == SR_VARIANT) {
        return json_object(); /* anything */
    }
    if (t->kind == SR_ROW) {
        j = json_schema_object(t->child, t->children);
    } else if (t->kind == SR_ARRAY) {
        j = json_pack("{s:s, s:o}", "type", "array", "items", json_schema_type(&t->child[0].type));
    } else if (t->kind == SR_MAP) {
        j = json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                      json_schema_type(&t->child[1].type));
    } else if (t->kind == SR_MULTISET) {
        j = json_pack("{s:s, s:{s:s}}", "type", "object", "additionalProperties", "type",
                      "integer");
    } else if (sr_is_bytes(t->kind)) {
        j = json_pack("{s:s, s:s}", "type", "string", "contentEncoding", "base64");
    } else {
        j = json_pack("{s:s}", "type", json_schema_word(t->kind));
    }
    if (j && t->is_nullable) {
        json_t *both = json_pack("[O, s]", json_object_get(j, "type"), "null");
        (void)json_object_set_new(j, "type", both);
    }
    return j;
}

char *json_schema_of(const struct sr_schema *s)
{
    json_t *j = json_object(), *row = json_schema_object(s->field, s->fields);
    (void)json_object_set_new(j, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
    (void)json_object_set_new(j, "title", json_string("row"));
    (void)json_object_update(j, row);
    json_decref(row);
    char *text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    return text;
}
