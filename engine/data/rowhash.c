#include "engine/data/rowhash.h"

#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/hash.h"
#include "engine/data/walk.h"

/* Constants of the canonical form. Saved key groups depend on them: they never change. */
#define ROWHASH_SEED UINT64_C(0x9E3779B97F4A7C15)
#define ROWHASH_NULL UINT64_C(0xD6E8FEB86659FD93)

/* The finaliser of MurmurHash3: every input bit reaches every output bit. */
static inline uint64_t rowhash_mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xFF51AFD7ED558CCD);
    x ^= x >> 33;
    x *= UINT64_C(0xC4CEB9FE1A85EC53);
    x ^= x >> 33;
    return x;
}

/* The hash so far and one more value; order of columns counts. */
static inline uint64_t rowhash_add(uint64_t hash, uint64_t value)
{
    return rowhash_mix((hash ^ value) * UINT64_C(0x9FB21C651E98DF25) + ROWHASH_SEED);
}

/* Text types are one kind, and so are byte types: CHAR(3) 'abc' is the key VARCHAR 'abc'. */
static uint64_t rowhash_kind(enum sr_kind kind)
{
    static const uint8_t number[SR_KIND_COUNT] = {
        [SR_BOOLEAN] = 1,
        [SR_TINYINT] = 2,
        [SR_SMALLINT] = 3,
        [SR_INT] = 4,
        [SR_BIGINT] = 5,
        [SR_FLOAT] = 6,
        [SR_DOUBLE] = 7,
        [SR_DECIMAL] = 8,
        [SR_CHAR] = 9,
        [SR_VARCHAR] = 9,
        [SR_BINARY] = 10,
        [SR_VARBINARY] = 10,
        [SR_DATE] = 11,
        [SR_TIME] = 12,
        [SR_TIMESTAMP] = 13,
        [SR_TIMESTAMP_LTZ] = 14,
        [SR_INTERVAL_MONTH] = 15,
        [SR_INTERVAL_SECOND] = 16,
        [SR_ARRAY] = 17,
        [SR_MAP] = 18,
        [SR_MULTISET] = 19,
        [SR_ROW] = 20,
        [SR_NULL] = 21,
        [SR_VARIANT] = 22,
    };
    return number[kind];
}

/* NaN has many bit patterns and is one key. */
static inline uint64_t rowhash_f64(double v)
{
    uint64_t bits = UINT64_C(0x7FF8000000000000);
    if (v == v) {
        memcpy(&bits, &v, sizeof(bits));
    }
    return bits;
}

static inline uint64_t rowhash_f32(float v)
{
    uint32_t bits = UINT32_C(0x7FC00000);
    if (v == v) {
        memcpy(&bits, &v, sizeof(bits));
    }
    return bits;
}

static inline uint64_t rowhash_instant(struct sr_instant v)
{
    return rowhash_mix((uint64_t)v.ms) + (uint64_t)v.ns;
}

static inline uint64_t rowhash_wide(struct sr_wide v)
{
    return rowhash_mix(v.low) ^ (uint64_t)v.high;
}

static inline uint64_t rowhash_text(const struct sr_column *c, uint32_t r)
{
    struct sr_span s = ((const struct sr_span *)c->values)[r];
    return s.len == 0 ? ROWHASH_SEED : hash64(c->bytes->data + s.at, s.len, 0);
}

/* One valid value that is not nested; of a nested one its number of elements. */
static uint64_t rowhash_value(const struct sr_column *c, uint32_t r)
{
    const void *v = c->values;
    bool is_large = sr_value_size(&c->type) == 16;
    switch (c->type.kind) {
    case SR_BOOLEAN:
        return ((const uint8_t *)v)[r];
    case SR_TINYINT:
        return (uint64_t)(int64_t)((const int8_t *)v)[r];
    case SR_SMALLINT:
        return (uint64_t)(int64_t)((const int16_t *)v)[r];
    case SR_INT:
    case SR_DATE:
    case SR_TIME:
    case SR_INTERVAL_MONTH:
        return (uint64_t)(int64_t)((const int32_t *)v)[r];
    case SR_BIGINT:
    case SR_INTERVAL_SECOND:
        return (uint64_t)((const int64_t *)v)[r];
    case SR_FLOAT:
        return rowhash_f32(((const float *)v)[r]);
    case SR_DOUBLE:
        return rowhash_f64(((const double *)v)[r]);
    case SR_DECIMAL:
        return is_large ? rowhash_wide(((const struct sr_wide *)v)[r])
                        : (uint64_t)((const int64_t *)v)[r];
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return is_large ? rowhash_instant(((const struct sr_instant *)v)[r])
                        : (uint64_t)((const int64_t *)v)[r];
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_VARIANT:
        return rowhash_text(c, r);
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
        return ((const struct sr_span *)v)[r].len;
    case SR_ROW:
        return c->children;
    case SR_NULL:
    case SR_KIND_COUNT:
        return ROWHASH_NULL;
    }
    return ROWHASH_NULL;
}

static uint64_t rowhash_walk(const struct sr_column *c, uint32_t r)
{
    struct walk w;
    uint64_t hash = ROWHASH_SEED;
    walk_begin(&w, c, r);
    while (walk_next(&w, &c, &r)) {
        hash = rowhash_add(hash, rowhash_kind(c->type.kind));
        hash = rowhash_add(hash, sr_is_valid(c, r) ? rowhash_value(c, r) : ROWHASH_NULL);
    }
    return hash;
}

/* Values of one column to `value`, by its place in the loop; the common layouts in plain loops. */
static void rowhash_gather(const struct sr_column *c, const uint32_t *restrict rows, uint32_t count,
                           uint64_t *restrict value)
{
    uint32_t size = sr_value_size(&c->type);
    bool is_text = sr_has_bytes(c->type.kind);
    bool is_real = c->type.kind == SR_FLOAT || c->type.kind == SR_DOUBLE;
    if (sr_is_nested(c->type.kind)) {
        for (uint32_t i = 0; i < count; i++) {
            value[i] = rowhash_walk(c, rows[i]);
        }
    } else if (is_text) {
        for (uint32_t i = 0; i < count; i++) {
            value[i] = rowhash_text(c, rows[i]);
        }
    } else if (size == 8 && !is_real) {
        const int64_t *restrict v = c->values;
        for (uint32_t i = 0; i < count; i++) {
            value[i] = (uint64_t)v[rows[i]];
        }
    } else if (size == 4 && !is_real) {
        const int32_t *restrict v = c->values;
        for (uint32_t i = 0; i < count; i++) {
            value[i] = (uint64_t)(int64_t)v[rows[i]];
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            value[i] = rowhash_value(c, rows[i]);
        }
    }
}

#define ROWHASH_BLOCK 256u /* rows at a time, so that the scratch stays in the first cache */

static void rowhash_block(const struct sr_view *v, const uint32_t *cols, uint32_t ncols,
                          uint32_t from, uint32_t count, uint64_t *restrict hash)
{
    uint32_t rows[ROWHASH_BLOCK];
    uint64_t value[ROWHASH_BLOCK];
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = sr_row(v, from + i);
        hash[i] = ROWHASH_SEED;
    }
    for (uint32_t k = 0; k < ncols; k++) {
        const struct sr_column *c = v->col[cols[k]];
        uint64_t kind = rowhash_kind(c->type.kind) * ROWHASH_SEED;
        rowhash_gather(c, rows, count, value);
        if (c->valid) {
            for (uint32_t i = 0; i < count; i++) {
                value[i] = sr_is_valid(c, rows[i]) ? value[i] : ROWHASH_NULL;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            hash[i] = rowhash_add(hash[i] + kind, value[i]);
        }
    }
}

void rowhash(const struct sr_view *v, const uint32_t *cols, uint32_t ncols, uint32_t from,
             uint32_t count, uint64_t *hash)
{
    sr_assert(from <= v->picked && count <= v->picked - from);
    for (uint32_t done = 0; done < count;) {
        uint32_t n = count - done < ROWHASH_BLOCK ? count - done : ROWHASH_BLOCK;
        rowhash_block(v, cols, ncols, from + done, n, hash + done);
        done += n;
    }
}
