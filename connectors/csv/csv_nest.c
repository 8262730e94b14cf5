#include "connectors/csv/csv_nest.h"

#include <string.h>

#include "connectors/text/base64.h"

bool csv_nest_can(const struct sr_type *t)
{
    if (t->kind != SR_ARRAY && t->kind != SR_ROW) {
        return !sr_is_nested(t->kind);
    }
    for (uint32_t i = 0; i < t->children; i++) {
        if (sr_is_nested(t->child[i].type.kind)) {
            return false;
        }
    }
    return true;
}

/* --- Reading --------------------------------------------------------------------------------- */

/* Cuts the next value off *s: up to the delimiter, or all. False: it was the last. */
static bool csv_nest_next(const struct csv_dialect *d, const char **s, uint32_t *len,
                          const char **text, uint32_t *text_len)
{
    const char *found = *len >= d->inner_len ? memmem(*s, *len, d->inner, d->inner_len) : NULL;
    *text = *s;
    *text_len = found ? (uint32_t)(found - *s) : *len;
    *s += found ? *text_len + d->inner_len : *len;
    *len -= found ? *text_len + d->inner_len : *len;
    return found != NULL;
}

static enum value_rc csv_nest_value(const struct csv_dialect *d, const struct value *v,
                                    struct sr_builder *b, uint32_t c, struct csv_inside *inside)
{
    bool is_null = d->null_literal && inside->len == d->null_len &&
                   memcmp(inside->text, d->null_literal, inside->len) == 0;
    inside->value = v;
    if (is_null || (inside->len == 0 && v->op != VALUE_TEXT)) {
        return value_put_null(b, c, v);
    }
    return value_put(b, c, v, inside->text, inside->len, NULL);
}

static enum value_rc csv_nest_array(const struct csv_dialect *d, const struct node *node,
                                    struct sr_builder *b, uint32_t c, struct csv_inside *inside)
{
    const char *s = inside->text;
    uint32_t len = inside->len;
    enum value_rc rc = VALUE_OK;
    struct sr_builder *e = sr_put_begin(b, c);
    for (bool has_more = len > 0; has_more && rc == VALUE_OK;) {
        if (!sr_put_room(e)) {
            return VALUE_MEMORY;
        }
        has_more = csv_nest_next(d, &s, &len, &inside->text, &inside->len);
        rc = csv_nest_value(d, &node_child(node, 0)->value, e, 0, inside);
        if (rc == VALUE_OK) {
            sr_row_done(e);
        }
    }
    sr_put_end(b, c);
    return rc;
}

static enum value_rc csv_nest_row(const struct csv_dialect *d, const struct node *node,
                                  struct sr_builder *b, uint32_t c, struct csv_inside *inside)
{
    const char *s = inside->text;
    uint32_t len = inside->len;
    if (len == 0) {
        inside->value = &node->value;
        return value_put_null(b, c, &node->value);
    }
    enum value_rc rc = VALUE_OK;
    struct sr_builder *f = sr_put_row(b, c);
    bool has_more = true;
    for (uint32_t i = 0; i < node->children && rc == VALUE_OK; i++) {
        if (!has_more) {
            inside->words = "the ROW has too few fields";
            inside->value = NULL;
            return VALUE_BAD;
        }
        has_more = csv_nest_next(d, &s, &len, &inside->text, &inside->len);
        rc = csv_nest_value(d, &node_child(node, i)->value, f, i, inside);
    }
    if (rc == VALUE_OK && has_more) {
        inside->words = "the ROW has too many fields";
        inside->value = NULL;
        return VALUE_BAD;
    }
    return rc;
}

enum value_rc csv_nest_put(const struct csv_dialect *d, const struct node *node,
                           struct sr_builder *b, uint32_t c, struct csv_inside *inside)
{
    const struct csv_inside whole = *inside;
    enum value_rc rc = node->value.type.kind == SR_ARRAY ? csv_nest_array(d, node, b, c, inside)
                                                         : csv_nest_row(d, node, b, c, inside);
    if (rc == VALUE_OK) {
        *inside = whole;
    } else {
        sr_put_forget(b, c); /* so that NULL can be put instead */
    }
    return rc;
}

/* --- Writing --------------------------------------------------------------------------------- */

/* The values inside of row r: rows [from, to) of one child, or row r of each. */
struct csv_nest_span {
    uint32_t from, to;
};

static struct csv_nest_span csv_nest_span_of(const struct sr_column *column, uint32_t r)
{
    if (column->type.kind == SR_ROW) {
        return (struct csv_nest_span){r, r + 1};
    }
    struct sr_span s = ((const struct sr_span *)column->values)[r];
    return (struct csv_nest_span){s.at, s.at + s.len};
}

size_t csv_nest_size(const struct csv_dialect *d, const struct sr_column *column, uint32_t r)
{
    struct csv_nest_span span = csv_nest_span_of(column, r);
    size_t size = 1;
    for (uint32_t i = 0; i < column->children; i++) {
        const struct sr_column *k = column->child[i];
        bool is_text = sr_has_bytes(k->type.kind);
        for (uint32_t at = span.from; at < span.to; at++) {
            uint32_t len = is_text ? ((const struct sr_span *)k->values)[at].len : 0;
            size += VALUE_TEXT_MAX + d->inner_len + d->null_len + (size_t)2 * len;
        }
    }
    return size;
}

/* One value; negative: its text has the delimiter in it, or means NULL. */
static int64_t csv_nest_print_value(const struct csv_dialect *d, const struct value *v,
                                    const struct sr_column *k, uint32_t r, char *to)
{
    uint32_t len = 0;
    if (!sr_is_valid(k, r)) {
        memcpy(to, d->null_literal ? d->null_literal : "", d->null_len);
        return d->null_len;
    }
    if (v->op != VALUE_TEXT && v->op != VALUE_BYTES) {
        len = value_print(v, k, r, d->decimal, to);
    } else {
        const char *s = sr_text(k, r, &len);
        if (v->op == VALUE_TEXT) {
            memcpy(to, s, len);
        } else {
            base64_put(to, (const uint8_t *)s, len);
            len = (uint32_t)base64_put_size(len);
        }
    }
    bool is_null = d->null_literal && len == d->null_len && memcmp(to, d->null_literal, len) == 0;
    bool is_cut = len >= d->inner_len && memmem(to, len, d->inner, d->inner_len) != NULL;
    return is_null || is_cut ? -1 : (int64_t)len;
}

int64_t csv_nest_print(const struct csv_dialect *d, const struct node *node,
                       const struct sr_column *column, uint32_t r, char *to)
{
    struct csv_nest_span span = csv_nest_span_of(column, r);
    char *begin = to;
    uint32_t count = 0;
    for (uint32_t at = span.from; at < span.to; at++) {
        for (uint32_t i = 0; i < column->children; i++) {
            if (count++ > 0) {
                memcpy(to, d->inner, d->inner_len);
                to += d->inner_len;
            }
            int64_t len =
                csv_nest_print_value(d, &node_child(node, i)->value, column->child[i], at, to);
            if (len < 0) {
                return len;
            }
            to += len;
        }
    }
    return count == 1 && to == begin ? -1 : to - begin; /* empty: reads as no value at all */
}
