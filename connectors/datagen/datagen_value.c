#include "connectors/datagen/datagen_value.h"

#include <math.h>
#include <string.h>

#include "connectors/text/number.h"

#define DATAGEN_DAY_MS INT64_C(86400000)

uint64_t datagen_mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static double datagen_share(uint64_t random) /* 0 to less than 1 */
{
    return (double)(random >> 11) * 0x1p-53;
}

static int64_t datagen_between(uint64_t random, int64_t min, int64_t max)
{
    uint64_t span = (uint64_t)max - (uint64_t)min + 1; /* 0: all there are */
    uint64_t v = span == 0 ? random : (uint64_t)(((unsigned __int128)random * span) >> 64);
    return (int64_t)((uint64_t)min + v);
}

static double datagen_real(const struct datagen_field *f, uint64_t random)
{
    double share = datagen_share(random);
    return f->real_min * (1 - share) + f->real_max * share; /* the difference may overflow */
}

static void datagen_put_decimal(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                __int128 unscaled)
{
    if (f->type.length <= SR_DECIMAL_SMALL) {
        sr_put_i64(b, c, (int64_t)unscaled);
    } else {
        ((struct sr_wide *)b->col[c]->values)[b->rows] = number_to_wide(unscaled);
    }
}

static __int128 datagen_power(int32_t n)
{
    __int128 v = 1;
    for (; n > 0; n--) {
        v *= 10;
    }
    return v;
}

/* With all digits of the scale, and never more than the precision holds. */
static __int128 datagen_decimal(const struct datagen_field *f, uint64_t random)
{
    double v = datagen_real(f, random) * pow(10, f->type.scale);
    __int128 most = datagen_power(f->type.length) - 1;
    if (v >= (double)most) {
        return most;
    }
    return v <= -(double)most ? -most : (__int128)v;
}

static void datagen_put_time(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                             uint64_t random, int64_t now_us)
{
    int64_t past_ms = f->max_past_ms > 0 ? datagen_between(random, 0, f->max_past_ms) : 0;
    int64_t ms = now_us / 1000 - past_ms;
    if (f->type.length < 3) {
        int64_t unit = f->type.length == 0 ? 1000 : f->type.length == 1 ? 100 : 10;
        ms -= ms % unit;
    }
    if (f->type.length <= 6) {
        sr_put_i64(b, c, ms * 1000);
    } else {
        ((struct sr_instant *)b->col[c]->values)[b->rows] = (struct sr_instant){.ms = ms};
    }
}

static uint32_t datagen_put_bytes(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                  uint64_t random)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t len = f->is_var_len ? (uint32_t)datagen_between(random, 1, f->length) : f->length;
    uint8_t *to = sr_put_space(b, c, len);
    bool is_text = sr_is_text(f->type.kind);
    uint64_t bits = 0;
    for (uint32_t i = 0; to && i < len; i++) {
        if (i % 8 == 0) {
            random = datagen_mix(random);
            bits = random;
        }
        to[i] = is_text ? (uint8_t)digits[bits & 15] : (uint8_t)bits;
        bits >>= 8;
    }
    return len;
}

/* A whole number, of a sequence or random; one that the type cannot hold wraps, as a cast does in
 * Flink. */
static uint32_t datagen_put_next(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                 int64_t v)
{
    char text[NUMBER_TEXT_MAX];
    uint32_t len = 0;
    switch (f->type.kind) {
    case SR_TINYINT:
        sr_put_i8(b, c, (int8_t)v);
        return 1;
    case SR_SMALLINT:
        sr_put_i16(b, c, (int16_t)v);
        return 2;
    case SR_INT:
        sr_put_i32(b, c, (int32_t)v);
        return 4;
    case SR_BIGINT:
        sr_put_i64(b, c, v);
        return 8;
    case SR_FLOAT:
        sr_put_f32(b, c, (float)v);
        return 4;
    case SR_DOUBLE:
        sr_put_f64(b, c, (double)v);
        return 8;
    case SR_DECIMAL:
        datagen_put_decimal(f, b, c, (__int128)v * datagen_power(f->type.scale));
        return 16;
    case SR_CHAR:
    case SR_VARCHAR:
        len = number_put_i64(text, v);
        sr_put_bytes(b, c, text, len);
        return len;
    case SR_INTERVAL_MONTH:
        sr_put_i32(b, c, (int32_t)v);
        return 4;
    case SR_INTERVAL_SECOND:
        sr_put_i64(b, c, v);
        return 8;
    case SR_BOOLEAN:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_DATE:
    case SR_TIME:
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_VARIANT:
    case SR_KIND_COUNT:
        break;
    }
    return 0; /* datagen_set_kind refused it */
}

static uint32_t datagen_put_scalar(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                   uint64_t random, int64_t now_us)
{
    enum sr_kind kind = f->type.kind;
    if (sr_is_integer(kind) || sr_is_interval(kind)) {
        return datagen_put_next(f, b, c, datagen_between(random, f->min, f->max));
    }
    if (kind == SR_BOOLEAN) {
        sr_put_bool(b, c, (random & 1) != 0);
        return 1;
    }
    if (kind == SR_FLOAT) {
        sr_put_f32(b, c, (float)datagen_real(f, random));
        return 4;
    }
    if (kind == SR_DOUBLE) {
        sr_put_f64(b, c, datagen_real(f, random));
        return 8;
    }
    if (kind == SR_DECIMAL) {
        datagen_put_decimal(f, b, c, datagen_decimal(f, random));
        return 16;
    }
    if (sr_is_timestamp(kind)) {
        datagen_put_time(f, b, c, random, now_us);
        return 8;
    }
    if (kind == SR_DATE || kind == SR_TIME) {
        int64_t ms = now_us / 1000;
        int64_t v = kind == SR_DATE ? ms / DATAGEN_DAY_MS : ms % DATAGEN_DAY_MS / 1000 * 1000;
        sr_put_i32(b, c, (int32_t)v);
        return 4;
    }
    return datagen_put_bytes(f, b, c, random);
}

/* --- What has values inside ------------------------------------------------------------------- */

static bool datagen_is_valid(const struct sr_column *c, uint32_t r)
{
    return !c->valid || (c->valid[r >> 6] >> (r & 63) & 1) != 0;
}

static bool datagen_is_same(const struct sr_column *c, uint32_t r, uint32_t s)
{
    bool is_valid = datagen_is_valid(c, r);
    if (!is_valid || !datagen_is_valid(c, s)) {
        return is_valid == datagen_is_valid(c, s);
    }
    if (sr_is_string(c->type.kind)) {
        const struct sr_span *span = c->values, x = span[r], y = span[s];
        return x.len == y.len &&
               (x.len == 0 || memcmp(c->bytes->data + x.at, c->bytes->data + y.at, x.len) == 0);
    }
    uint32_t size = sr_value_size(&c->type);
    const uint8_t *at = c->values;
    return memcmp(at + (size_t)r * size, at + (size_t)s * size, size) == 0;
}

/* Whether what was just put to column 0 is among the elements from `first` on already: keys of a
 * MAP are there once. */
static bool datagen_is_again(const struct sr_builder *e, uint32_t first)
{
    for (uint32_t r = first; r < e->rows; r++) {
        if (datagen_is_same(e->col[0], r, e->rows)) {
            return true;
        }
    }
    return false;
}

static uint32_t datagen_put_value(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                  uint64_t random, int64_t now_us);

static uint64_t datagen_inside(const struct datagen_field *f, uint64_t random, uint32_t i)
{
    return datagen_mix(f->seed ^ datagen_mix(random + i));
}

/* The values of one element, or of a ROW. */
/* NOLINTNEXTLINE(misc-no-recursion): types are not nested deeper than TYPE_DEPTH_MAX */
static uint32_t datagen_put_children(const struct datagen_field *f, struct sr_builder *inside,
                                     uint32_t from, uint64_t random, uint32_t i, int64_t now_us)
{
    uint32_t bytes = 1;
    for (uint32_t k = from; k < f->type.children; k++) {
        const struct datagen_field *g = &f->child[k];
        bytes += datagen_put_value(g, inside, k, datagen_inside(g, random, i), now_us);
    }
    return bytes;
}

/* NOLINTNEXTLINE(misc-no-recursion): see above */
static uint32_t datagen_put_elements(const struct datagen_field *f, struct sr_builder *b,
                                     uint32_t c, uint64_t random, int64_t now_us)
{
    struct sr_builder *e = sr_put_begin(b, c);
    const struct datagen_field *one = &f->child[0];
    bool is_set = f->type.kind != SR_ARRAY && !sr_is_nested(one->type.kind);
    uint32_t bytes = 1, first = e->rows;
    for (uint32_t i = 0; i < f->length; i++) {
        uint64_t inside = datagen_inside(one, random, i);
        int64_t times = f->type.kind == SR_MULTISET
                            ? datagen_between(datagen_mix(inside), 0, DATAGEN_MULTIPLE_MAX)
                            : 1;
        for (int64_t n = 0, before = e->rows; n < times && sr_put_room(e); n++) {
            bytes += datagen_put_value(one, e, 0, inside, now_us) + 1;
            if (is_set && e->rows == before && datagen_is_again(e, first)) {
                sr_put_forget(e, 0);
                break;
            }
            bytes += datagen_put_children(f, e, 1, random, i, now_us);
            sr_row_done(e);
        }
    }
    sr_put_end(b, c);
    return bytes;
}

/* NOLINTNEXTLINE(misc-no-recursion): see above */
static uint32_t datagen_put_value(const struct datagen_field *f, struct sr_builder *b, uint32_t c,
                                  uint64_t random, int64_t now_us)
{
    if (f->null_rate > 0 && datagen_share(datagen_mix(random)) < f->null_rate) {
        sr_put_null(b, c);
        return 1;
    }
    if (f->type.kind == SR_ROW) {
        return datagen_put_children(f, sr_put_row(b, c), 0, random, 0, now_us);
    }
    return sr_is_nested(f->type.kind) ? datagen_put_elements(f, b, c, random, now_us)
                                      : datagen_put_scalar(f, b, c, random, now_us);
}

uint32_t datagen_put(const struct datagen_field *f, struct sr_builder *b, uint32_t c, uint64_t row,
                     int64_t now_us)
{
    if (f->kind == DATAGEN_SEQUENCE) {
        return datagen_put_next(f, b, c, (int64_t)((uint64_t)f->min + row));
    }
    return datagen_put_value(f, b, c, datagen_mix(f->seed ^ datagen_mix(row)), now_us);
}
