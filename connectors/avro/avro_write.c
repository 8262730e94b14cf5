#include "connectors/avro/avro_write.h"

#include <stdio.h>
#include <string.h>

/* Recursion goes down a plan. */

struct avro_writer {
    struct sr_out *out;
    char *why;
};

static bool avro_bytes(struct avro_writer *w, const void *bytes, size_t len)
{
    uint8_t *to = sr_out_room(w->out, len);
    if (to && len > 0) {
        memcpy(to, bytes, len);
        w->out->len += len;
    }
    return to != NULL || len == 0;
}

static bool avro_number(struct avro_writer *w, int64_t v)
{
    uint8_t byte[10];
    uint64_t z = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
    uint32_t n = 0;
    for (; z >= 0x80; z >>= 7) {
        byte[n++] = (uint8_t)(z | 0x80);
    }
    byte[n++] = (uint8_t)z;
    return avro_bytes(w, byte, n);
}

static bool avro_refuse(struct avro_writer *w, const struct avro_plan *p, const char *words)
{
    (void)snprintf(w->why, 160, "column '%.60s': %s", p->name, words);
    return false;
}

/* As few bytes as the number needs, or as many as a fixed has. */
static bool avro_decimal(struct avro_writer *w, const struct avro_plan *p,
                         const struct sr_column *c, uint32_t r)
{
    uint8_t byte[16];
    __int128 v = ((const int64_t *)c->values)[p->type->length <= SR_DECIMAL_SMALL ? r : 0];
    if (p->type->length > SR_DECIMAL_SMALL) {
        struct sr_wide wide = ((const struct sr_wide *)c->values)[r];
        v = (__int128)((unsigned __int128)(uint64_t)wide.high << 64 | wide.low);
    }
    uint32_t n = 1;
    while (n < 16 && (v >> (8 * n - 1)) != (v < 0 ? -1 : 0)) {
        n++;
    }
    for (uint32_t i = 0; i < n; i++) {
        byte[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
    }
    if (p->node->kind != AVRO_FIXED) {
        return avro_number(w, n) && avro_bytes(w, byte, n);
    }
    if (n > p->node->size) {
        return avro_refuse(w, p, "the number does not fit the fixed bytes of the schema");
    }
    bool is_put = true;
    for (uint32_t i = n; i < p->node->size && is_put; i++) {
        is_put = avro_bytes(w, v < 0 ? "\xFF" : "\0", 1);
    }
    return is_put && avro_bytes(w, byte, n);
}

static bool avro_text(struct avro_writer *w, const struct avro_plan *p, const struct sr_column *c,
                      uint32_t r)
{
    uint32_t len = 0;
    const char *s = c->bytes ? sr_text(c, r, &len) : "";
    const struct avro_node *n = p->node;
    if (n->kind == AVRO_FIXED) {
        return n->size == len ? avro_bytes(w, s, len)
                              : avro_refuse(w, p, "it has not as many bytes as the schema's fixed");
    }
    if (n->kind != AVRO_ENUM) {
        return avro_number(w, len) && avro_bytes(w, s, len);
    }
    for (uint32_t i = 0; i < n->children; i++) {
        if (strlen(n->child[i].name) == len && memcmp(n->child[i].name, s, len) == 0) {
            return avro_number(w, i);
        }
    }
    return avro_refuse(w, p, "it is no symbol of the schema's enum");
}

static int64_t avro_get_stamp(const struct avro_plan *p, const struct sr_column *c, uint32_t r)
{
    int64_t us = 0;
    if (p->type->length <= 6) {
        us = ((const int64_t *)c->values)[r];
    } else {
        struct sr_instant at = ((const struct sr_instant *)c->values)[r];
        us = (int64_t)((uint64_t)at.ms * 1000u) + at.ns / 1000;
    }
    return p->node->logical == AVRO_STAMP_MILLIS ? us / 1000 - (us % 1000 < 0 ? 1 : 0) : us;
}

static int64_t avro_get_integer(const struct avro_plan *p, const struct sr_column *c, uint32_t r)
{
    if (sr_is_timestamp(p->type->kind)) {
        return avro_get_stamp(p, c, r);
    }
    int64_t unit = p->node->logical == AVRO_TIME_MICROS ? 1000 : 1;
    switch (sr_value_size(p->type)) {
    case 1:
        return ((const int8_t *)c->values)[r];
    case 2:
        return ((const int16_t *)c->values)[r];
    case 4:
        return ((const int32_t *)c->values)[r] * unit;
    default:
        return ((const int64_t *)c->values)[r];
    }
}

static bool avro_real(struct avro_writer *w, const struct avro_plan *p, const struct sr_column *c,
                      uint32_t r)
{
    float f = p->type->kind == SR_FLOAT ? ((const float *)c->values)[r] : 0;
    double d = p->type->kind == SR_FLOAT ? (double)f : ((const double *)c->values)[r];
    return p->node->kind == AVRO_FLOAT ? avro_bytes(w, &f, 4) : avro_bytes(w, &d, 8);
}

static bool avro_value(struct avro_writer *w, const struct avro_plan *p, const struct sr_column *c,
                       uint32_t r);

/* A field without a column: null. */
static bool avro_nothing(struct avro_writer *w, const struct avro_node *n)
{
    for (uint32_t i = 0; n->kind == AVRO_UNION && i < n->children; i++) {
        if (n->child[i].type->kind == AVRO_NULL) {
            return avro_number(w, i);
        }
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_fields(struct avro_writer *w, const struct avro_plan *p,
                        struct sr_column *const *col, uint32_t r)
{
    for (uint32_t i = 0; i < p->children; i++) {
        const struct avro_plan *f = &p->child[i];
        bool is_put = f->column == AVRO_NO_COLUMN ? avro_nothing(w, f->node)
                                                  : avro_value(w, f, col[f->column], r);
        if (!is_put) {
            return false;
        }
    }
    return true;
}

/* Elements in one block, and the end. NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_elements(struct avro_writer *w, const struct avro_plan *p,
                          const struct sr_column *c, uint32_t r)
{
    struct sr_span s = ((const struct sr_span *)c->values)[r];
    bool is_map = p->node->kind == AVRO_MAP;
    if (s.len > 0 && !avro_number(w, s.len)) {
        return false;
    }
    for (uint32_t i = s.at; i < s.at + s.len; i++) {
        uint32_t len = 0;
        if (is_map && !sr_is_valid(c->child[0], i)) {
            return avro_refuse(w, p, "a key of the MAP is NULL");
        }
        const char *key = is_map && c->child[0]->bytes ? sr_text(c->child[0], i, &len) : "";
        if (is_map && (!avro_number(w, len) || !avro_bytes(w, key, len))) {
            return false;
        }
        if (!avro_value(w, &p->child[0], c->child[is_map ? 1 : 0], i)) {
            return false;
        }
    }
    return avro_number(w, 0);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_union(struct avro_writer *w, const struct avro_plan *p, const struct sr_column *c,
                       uint32_t r)
{
    bool is_null = !sr_is_valid(c, r);
    for (uint32_t i = 0; i < p->children; i++) {
        bool is_it = is_null ? i == p->null_branch : i != p->null_branch && p->child[i].fits;
        if (is_it) {
            return avro_number(w, i) && (is_null || avro_value(w, &p->child[i], c, r));
        }
    }
    return avro_refuse(w, p, "it is NULL, and the schema has no null there");
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_value(struct avro_writer *w, const struct avro_plan *p, const struct sr_column *c,
                       uint32_t r)
{
    if (p->node->kind == AVRO_UNION) {
        return avro_union(w, p, c, r);
    }
    if (!sr_is_valid(c, r) && p->node->kind != AVRO_NULL) {
        return avro_refuse(w, p, "it is NULL, and the schema has no null there");
    }
    switch (p->node->kind) {
    case AVRO_NULL:
        return !sr_is_valid(c, r) ||
               avro_refuse(w, p, "the schema has null there, and nothing else");
    case AVRO_BOOLEAN:
        return avro_bytes(w, &((const uint8_t *)c->values)[r], 1);
    case AVRO_INT:
    case AVRO_LONG:
        return avro_number(w, avro_get_integer(p, c, r));
    case AVRO_FLOAT:
    case AVRO_DOUBLE:
        return avro_real(w, p, c, r);
    case AVRO_BYTES:
    case AVRO_STRING:
    case AVRO_FIXED:
    case AVRO_ENUM:
        return p->type->kind == SR_DECIMAL ? avro_decimal(w, p, c, r) : avro_text(w, p, c, r);
    case AVRO_ARRAY:
    case AVRO_MAP:
        return avro_elements(w, p, c, r);
    case AVRO_RECORD:
        return avro_fields(w, p, c->child, r);
    case AVRO_UNION:
        break;
    }
    return false;
}

bool avro_write_row(const struct avro_plan *p, struct sr_column *const *col, uint32_t r,
                    struct sr_out *out, char why[160])
{
    struct avro_writer w = {out, why};
    why[0] = '\0';
    return avro_fields(&w, p, col, r);
}
