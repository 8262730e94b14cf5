#include "engine/expr/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/base64.h"
#include "engine/expr/instant.h"
#include "engine/expr/kernel.h"
#include "engine/expr/nest.h"
#include "engine/expr/promote.h"
#include "engine/expr/value_text.h"

/* Recursion in this file goes down a type, at most TYPE_DEPTH_MAX levels. */

bool json_can_write(const struct sr_type *t) /* NOLINT(misc-no-recursion) */
{
    for (uint32_t i = 0; i < t->children; i++) {
        bool is_key = i == 0 && (t->kind == SR_MAP || t->kind == SR_MULTISET);
        if (is_key ? !sr_is_text(t->child[i].type.kind) : !json_can_write(&t->child[i].type)) {
            return false;
        }
    }
    return t->kind != SR_DATE && t->kind != SR_TIME && t->kind != SR_NULL &&
           !sr_is_interval(t->kind);
}

/* "2020-01-01T01:02:03.4", and Z behind it where it is an instant. */
static void json_put_stamp(struct json_out *o, const struct sr_column *c, uint32_t r)
{
    char text[MOMENT_TEXT_MAX];
    uint32_t len = moment_stamp_text(instant_get(c, r), 9, text);
    text[10] = 'T';
    while (text[len - 1] == '0') {
        len--;
    }
    len -= text[len - 1] == '.' ? 1 : 0;
    json_put(o, "\"", 1);
    json_put(o, text, len);
    json_put(o, "Z", c->type.kind == SR_TIMESTAMP_LTZ ? 1 : 0);
    json_put(o, "\"", 1);
}

static void json_put_bytes(struct json_out *o, const char *bytes, uint32_t len)
{
    size_t size = base64_text_size(len);
    char *text = malloc(size + 1);
    if (!text) {
        o->is_broken = true;
        return;
    }
    base64_write(text, (const uint8_t *)bytes, len);
    json_put(o, "\"", 1);
    json_put(o, text, size);
    json_put(o, "\"", 1);
    free(text);
}

/* What has no children. */
static void json_put_scalar(struct json_out *o, const struct sr_column *c, uint32_t r)
{
    char text[VALUE_TEXT_MAX];
    enum sr_kind kind = c->type.kind;
    if (sr_has_bytes(kind)) {
        struct sr_span s = ((const struct sr_span *)c->values)[r];
        const char *bytes = s.len > 0 ? column_text(c) + s.at : "";
        if (kind == SR_VARIANT) { /* is JSON already */
            json_put(o, bytes, s.len);
        } else if (sr_is_text(kind)) {
            json_put_quoted(o, bytes, s.len);
        } else {
            json_put_bytes(o, bytes, s.len);
        }
        return;
    }
    if (sr_is_timestamp(kind)) {
        json_put_stamp(o, c, r);
        return;
    }
    uint32_t len = value_text(c, r, text);
    if (kind == SR_BOOLEAN) {
        json_put(o, text[0] == 'T' ? "true" : "false", text[0] == 'T' ? 4 : 5);
    } else if (!sr_is_approx(kind)) {
        json_put(o, text, len);
    } else if (text[len - 1] >= '0' && text[len - 1] <= '9') {
        json_put_number(o, text, len);
    } else { /* NaN, Infinity */
        json_put_quoted(o, text, len);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void json_put_row(struct json_out *o, const struct sr_column *c, uint32_t r)
{
    for (uint32_t i = 0; i < c->type.children; i++) {
        const char *name = c->type.child[i].name;
        json_put(o, i > 0 ? "," : "{", 1);
        json_put_quoted(o, name, (uint32_t)strlen(name));
        json_put(o, ":", 1);
        json_write_value(o, c->child[i], r);
    }
    json_put(o, c->type.children > 0 ? "}" : "{}", c->type.children > 0 ? 1 : 2);
}

/* Each value once, and how often it is there. NOLINTNEXTLINE(misc-no-recursion): text within */
static void json_put_bag(struct json_out *o, const struct sr_column *c, uint32_t r)
{
    struct sr_span s = ((const struct sr_span *)c->values)[r];
    bool is_first = true;
    json_put(o, "{", 1);
    for (uint32_t i = s.at; i < s.at + s.len; i++) {
        char digits[16];
        struct sr_span before = {s.at, i - s.at}, behind = {i, s.at + s.len - i};
        if (nest_count(c->child[0], before, c->child[0], i) > 0) {
            continue;
        }
        json_put(o, ",", is_first ? 0 : 1);
        json_write_value(o, c->child[0], i);
        uint32_t n = nest_count(c->child[0], behind, c->child[0], i);
        json_put(o, digits, (uint32_t)snprintf(digits, sizeof(digits), ":%u", n));
        is_first = false;
    }
    json_put(o, "}", 1);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
void json_write_value(struct json_out *o, const struct sr_column *c, uint32_t r)
{
    if (!valid_bit(c->valid, r)) {
        json_put(o, "null", 4);
    } else if (c->type.kind == SR_ROW) {
        json_put_row(o, c, r);
    } else if (!sr_is_nested(c->type.kind)) {
        json_put_scalar(o, c, r);
    } else if (c->type.kind == SR_MULTISET) {
        json_put_bag(o, c, r);
    } else {
        bool is_map = c->type.kind == SR_MAP;
        struct sr_span s = ((const struct sr_span *)c->values)[r];
        json_put(o, is_map ? "{" : "[", 1);
        for (uint32_t i = s.at; i < s.at + s.len; i++) {
            json_put(o, ",", i > s.at ? 1 : 0);
            json_write_value(o, c->child[0], i);
            if (is_map) {
                json_put(o, ":", 1);
                json_write_value(o, c->child[1], i);
            }
        }
        json_put(o, is_map ? "}" : "]", 1);
    }
}
