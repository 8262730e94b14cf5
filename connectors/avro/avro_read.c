#include "connectors/avro/avro_read.h"

#include <stdio.h>
#include <string.h>

#include "connectors/text/utf8.h"

/* Recursion goes down a plan, or passes over values of at most AVRO_DEPTH_MAX levels. */

#define AVRO_SECOND_US INT64_C(1000000)

struct avro_in {
    const uint8_t *begin, *at, *end;
    struct avro_fault *fault;
};

static bool avro_bad(struct avro_in *in, const struct avro_plan *p, const char *words)
{
    in->fault->mark = (uint32_t)(in->at - in->begin);
    (void)snprintf(in->fault->why, sizeof(in->fault->why), "%s%.50s%s%s",
                   p && p->name ? "column '" : "", p && p->name ? p->name : "",
                   p && p->name ? "': " : "", words);
    return false;
}

/* A number of at most 64 bits, in zigzag. */
static bool avro_long(struct avro_in *in, int64_t *out)
{
    uint64_t v = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end) {
            return avro_bad(in, NULL, "the record ends within a value");
        }
        uint8_t byte = *in->at++;
        v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
            return true;
        }
    }
    return avro_bad(in, NULL, "a number has more than 64 bits");
}

/* So many bytes, if they are there; else NULL. */
static const uint8_t *avro_take(struct avro_in *in, int64_t len)
{
    const uint8_t *bytes = in->at;
    if (len < 0 || len > in->end - in->at) {
        (void)avro_bad(in, NULL, "the record ends within a value");
        return NULL;
    }
    in->at += len;
    return bytes;
}

/* The count of the next block of an array or map; its size in bytes is not needed. */
static bool avro_block(struct avro_in *in, int64_t *count)
{
    int64_t size = 0;
    if (!avro_long(in, count)) {
        return false;
    }
    if (*count < 0) {
        *count = *count == INT64_MIN ? INT64_MAX : -*count;
        if (!avro_long(in, &size)) {
            return false;
        }
    }
    /* Each element takes a byte, but for null, of which nobody needs more than that. */
    return *count <= in->end - in->at || avro_bad(in, NULL, "more elements than bytes");
}

static bool avro_skip(struct avro_in *in, const struct avro_node *n, uint32_t depth);

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_skip_blocks(struct avro_in *in, const struct avro_node *n, uint32_t depth)
{
    int64_t count = 1, len = 0;
    while (count > 0) {
        if (!avro_block(in, &count)) {
            return false;
        }
        for (int64_t i = 0; i < count; i++) {
            bool has_key =
                n->kind == AVRO_ARRAY || (avro_long(in, &len) && avro_take(in, len) != NULL);
            if (!has_key || !avro_skip(in, n->child[0].type, depth + 1)) {
                return false;
            }
        }
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_skip(struct avro_in *in, const struct avro_node *n, uint32_t depth)
{
    int64_t v = 0;
    if (depth > AVRO_DEPTH_MAX) {
        return avro_bad(in, NULL, "values are nested too deeply");
    }
    switch (n->kind) {
    case AVRO_NULL:
        return true;
    case AVRO_BOOLEAN:
        return avro_take(in, 1) != NULL;
    case AVRO_INT:
    case AVRO_LONG:
    case AVRO_ENUM:
        return avro_long(in, &v);
    case AVRO_FLOAT:
        return avro_take(in, 4) != NULL;
    case AVRO_DOUBLE:
        return avro_take(in, 8) != NULL;
    case AVRO_BYTES:
    case AVRO_STRING:
        return avro_long(in, &v) && avro_take(in, v) != NULL;
    case AVRO_FIXED:
        return avro_take(in, n->size) != NULL;
    case AVRO_ARRAY:
    case AVRO_MAP:
        return avro_skip_blocks(in, n, depth);
    case AVRO_UNION:
        if (!avro_long(in, &v) || v < 0 || v >= n->children) {
            return in->fault->why[0] ? false : avro_bad(in, NULL, "a union has no such branch");
        }
        return avro_skip(in, n->child[v].type, depth + 1);
    case AVRO_RECORD:
        for (uint32_t i = 0; i < n->children; i++) {
            if (!avro_skip(in, n->child[i].type, depth + 1)) {
                return false;
            }
        }
        return true;
    }
    return false;
}

/* --- Values. ---------------------------------------------------------------------------------- */

static bool avro_put_text(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                          uint32_t c, struct sr_span s)
{
    const uint8_t *bytes = in->begin + s.at;
    if (sr_is_text(p->type->kind) && !utf8_is_valid((const char *)bytes, s.len)) {
        return avro_bad(in, p, "the text is not valid UTF-8");
    }
    if (p->type->kind == SR_BINARY && s.len != (uint32_t)p->type->length) {
        return avro_bad(in, p, "the bytes are not as many as BINARY has");
    }
    sr_put_bytes(b, c, bytes, s.len);
    return true;
}

/* Two's complement, the highest byte first. */
static bool avro_put_decimal(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                             uint32_t c, struct sr_span s)
{
    const uint8_t *bytes = in->begin + s.at;
    bool is_negative = s.len > 0 && bytes[0] >= 0x80, is_large = false;
    __int128 v = is_negative ? -1 : 0, limit = 1;
    for (uint32_t i = 0; i < s.len; i++) {
        is_large = is_large || (i + 16 < s.len && bytes[i] != (is_negative ? 0xFF : 0x00));
        v = (__int128)((unsigned __int128)v << 8 | bytes[i]);
    }
    if (is_large || (v < 0) != is_negative) { /* of 17 bytes the second one may turn the sign */
        return avro_bad(in, p, "the number is too large");
    }
    for (int32_t i = 0; i < p->type->length; i++) {
        limit *= 10;
    }
    if (v >= limit || v <= -limit) {
        return avro_bad(in, p, "the number has more digits than the DECIMAL");
    }
    if (p->type->length <= SR_DECIMAL_SMALL) {
        sr_put_i64(b, c, (int64_t)v);
    } else {
        ((struct sr_wide *)b->col[c]->values)[b->rows] =
            (struct sr_wide){.low = (uint64_t)v, .high = (int64_t)(v >> 64)};
    }
    return true;
}

static bool avro_put_stamp(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                           uint32_t c, int64_t v)
{
    bool is_milli = p->node->logical == AVRO_STAMP_MILLIS;
    int64_t us = v;
    if ((is_milli && __builtin_mul_overflow(v, INT64_C(1000), &us)) ||
        us < INT64_MIN + AVRO_SECOND_US) { /* what is cut goes down */
        return avro_bad(in, p, "the time is out of range");
    }
    if (p->type->length <= 6) {
        static const int64_t unit[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
        int64_t cut = us % unit[p->type->length];
        sr_put_i64(b, c, us - cut - (cut < 0 ? unit[p->type->length] : 0));
        return true;
    }
    int64_t below = us % 1000 - (us % 1000 < 0 ? -1000 : 0);
    ((struct sr_instant *)b->col[c]->values)[b->rows] =
        (struct sr_instant){.ms = (us - below) / 1000, .ns = (int32_t)below * 1000};
    return true;
}

static bool avro_is_in_range(enum sr_kind kind, int64_t v)
{
    switch (sr_value_size(&(struct sr_type){.kind = kind})) {
    case 1:
        return v >= INT8_MIN && v <= INT8_MAX;
    case 2:
        return v >= INT16_MIN && v <= INT16_MAX;
    case 4:
        return kind == SR_TIME ? v >= 0 && v < 86400000 : v >= INT32_MIN && v <= INT32_MAX;
    default:
        return true;
    }
}

static bool avro_put_integer(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                             uint32_t c, int64_t v)
{
    enum sr_kind kind = p->type->kind;
    if (sr_is_timestamp(kind)) {
        return avro_put_stamp(in, p, b, c, v);
    }
    v = p->node->logical == AVRO_TIME_MICROS ? v / 1000 : v;
    if (kind == SR_FLOAT) {
        sr_put_f32(b, c, (float)v);
    } else if (kind == SR_DOUBLE) {
        sr_put_f64(b, c, (double)v);
    } else if (!avro_is_in_range(kind, v)) {
        return avro_bad(in, p, "the number is out of the range of its type");
    } else if (kind == SR_BIGINT) {
        sr_put_i64(b, c, v);
    } else if (kind == SR_TINYINT) {
        sr_put_i8(b, c, (int8_t)v);
    } else if (kind == SR_SMALLINT) {
        sr_put_i16(b, c, (int16_t)v);
    } else {
        sr_put_i32(b, c, (int32_t)v);
    }
    return true;
}

static bool avro_put_real(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                          uint32_t c)
{
    bool is_float = p->node->kind == AVRO_FLOAT;
    const uint8_t *bytes = avro_take(in, is_float ? 4 : 8);
    float f = 0;
    double d = 0;
    if (!bytes) {
        return false;
    }
    memcpy(is_float ? (void *)&f : (void *)&d, bytes, is_float ? 4 : 8); /* little-endian, as we */
    if (p->type->kind == SR_FLOAT) {
        sr_put_f32(b, c, f);
    } else {
        sr_put_f64(b, c, is_float ? (double)f : d);
    }
    return true;
}

static bool avro_put(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                     uint32_t c);

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_put_fields(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b)
{
    for (uint32_t i = 0; i < p->children; i++) {
        const struct avro_plan *f = &p->child[i];
        bool is_good = f->column == AVRO_NO_COLUMN || !b->wanted[f->column]
                           ? avro_skip(in, f->node, 0)
                           : avro_put(in, f, b, f->column);
        if (!is_good) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->absents; i++) {
        sr_put_null(b, p->absent[i]);
    }
    return true;
}

/* The key of an entry. */
static bool avro_put_key(struct avro_in *in, const struct avro_plan *p, struct sr_builder *e)
{
    int64_t len = 0;
    const uint8_t *key = avro_long(in, &len) ? avro_take(in, len) : NULL;
    if (key && !utf8_is_valid((const char *)key, (uint32_t)len)) {
        return avro_bad(in, p, "a key is not valid UTF-8");
    }
    if (key) {
        sr_put_bytes(e, 0, key, (uint32_t)len);
    }
    return key != NULL;
}

/* One element, or entry, more. NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_put_element(struct avro_in *in, const struct avro_plan *p, struct sr_builder *e)
{
    bool is_map = p->node->kind == AVRO_MAP;
    if (!sr_put_room(e)) {
        return avro_bad(in, p, e->is_broken ? "out of memory" : "too many elements");
    }
    if ((is_map && !avro_put_key(in, p, e)) || !avro_put(in, &p->child[0], e, is_map ? 1 : 0)) {
        return false;
    }
    sr_row_done(e);
    return true;
}

/* One block after the other. NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_put_blocks(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                            uint32_t c)
{
    struct sr_builder *e = sr_put_begin(b, c);
    for (int64_t count = 1; count > 0;) {
        if (!avro_block(in, &count)) {
            return false;
        }
        for (int64_t i = 0; i < count; i++) {
            if (!avro_put_element(in, p, e)) {
                return false;
            }
        }
    }
    sr_put_end(b, c);
    return true;
}

static bool avro_put_null(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                          uint32_t c)
{
    sr_put_null(b, c);
    return p->type->is_nullable || avro_bad(in, p, "null, where the column is NOT NULL");
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_put_union(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                           uint32_t c)
{
    int64_t branch = 0;
    if (!avro_long(in, &branch)) {
        return false;
    }
    if (branch < 0 || branch >= p->children) {
        return avro_bad(in, p, "a union has no such branch");
    }
    if (p->node->child[branch].type->kind ==
        AVRO_NULL) { /* a union may have two, though it should not */
        return avro_put_null(in, p, b, c);
    }
    return p->child[branch].fits ? avro_put(in, &p->child[branch], b, c)
                                 : avro_bad(in, p, "a branch of the union does not fit the column");
}

/* Bytes, texts, enums and DECIMALs. */
static bool avro_put_span(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                          uint32_t c)
{
    int64_t len = p->node->size;
    if (p->node->kind != AVRO_FIXED && !avro_long(in, &len)) {
        return false;
    }
    if (p->node->kind == AVRO_ENUM) {
        if (len < 0 || len >= p->node->children) {
            return avro_bad(in, p, "an enum has no such symbol");
        }
        const char *symbol = p->node->child[len].name;
        sr_put_bytes(b, c, symbol, (uint32_t)strlen(symbol));
        return true;
    }
    const uint8_t *bytes = avro_take(in, len);
    if (!bytes) {
        return false;
    }
    struct sr_span s = {(uint32_t)(bytes - in->begin), (uint32_t)len};
    return p->type->kind == SR_DECIMAL ? avro_put_decimal(in, p, b, c, s)
                                       : avro_put_text(in, p, b, c, s);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool avro_put(struct avro_in *in, const struct avro_plan *p, struct sr_builder *b,
                     uint32_t c)
{
    const uint8_t *byte;
    int64_t v = 0;
    switch (p->node->kind) {
    case AVRO_NULL:
        return avro_put_null(in, p, b, c);
    case AVRO_BOOLEAN:
        byte = avro_take(in, 1);
        if (!byte) {
            return false;
        }
        sr_put_bool(b, c, *byte != 0);
        return *byte <= 1 || avro_bad(in, p, "a boolean is 0 or 1");
    case AVRO_INT:
    case AVRO_LONG:
        return avro_long(in, &v) && avro_put_integer(in, p, b, c, v);
    case AVRO_FLOAT:
    case AVRO_DOUBLE:
        return avro_put_real(in, p, b, c);
    case AVRO_BYTES:
    case AVRO_STRING:
    case AVRO_FIXED:
    case AVRO_ENUM:
        return avro_put_span(in, p, b, c);
    case AVRO_ARRAY:
    case AVRO_MAP:
        return avro_put_blocks(in, p, b, c);
    case AVRO_RECORD:
        return avro_put_fields(in, p, sr_put_row(b, c));
    case AVRO_UNION:
        return avro_put_union(in, p, b, c);
    }
    return false;
}

bool avro_read_row(const struct avro_plan *p, struct sr_builder *b, const uint8_t *bytes,
                   uint32_t len, struct avro_fault *fault)
{
    struct avro_in in = {.begin = bytes, .at = bytes, .end = bytes + len, .fault = fault};
    fault->why[0] = '\0';
    fault->mark = 0;
    if (!avro_put_fields(&in, p, b)) {
        return false;
    }
    return in.at == in.end || avro_bad(&in, NULL,
                                       "bytes are left behind the row: it was written "
                                       "with another schema");
}
