#include "engine/expr/java_hash.h"

#include <math.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/instant.h"
#include "engine/expr/kernel.h"

#define JAVA_TEXT_SEED 42u

static uint32_t java_long(uint64_t v) { return (uint32_t)(v ^ (v >> 32)); }

/* --- Text: MurmurHash3 of 32 bits, where the last bytes are mixed one by one. ----------------- */

static uint32_t java_turn(uint32_t v, int bits) { return v << bits | v >> (32 - bits); }

static uint32_t java_mix(uint32_t h, uint32_t word)
{
    h ^= java_turn(word * 0xCC9E2D51u, 15) * 0x1B873593u;
    return java_turn(h, 13) * 5u + 0xE6546B64u;
}

static uint32_t java_text(const char *s, uint32_t len)
{
    uint32_t h = JAVA_TEXT_SEED, i = 0, word;
    for (; i + sizeof(word) <= len; i += (uint32_t)sizeof(word)) {
        memcpy(&word, s + i, sizeof(word));
        h = java_mix(h, word);
    }
    for (; i < len; i++) {
        h = java_mix(h, (uint32_t)(int8_t)s[i]);
    }
    h ^= len;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

/* --- Numbers. --------------------------------------------------------------------------------- */

/* As BigDecimal: its digits as words, then the scale. */
static uint32_t java_decimal(__int128 unscaled, int32_t scale)
{
    bool is_negative = unscaled < 0;
    unsigned __int128 u = (unsigned __int128)unscaled;
    u = is_negative ? (unsigned __int128)0 - u : u;
    uint32_t h = 0;
    for (int shift = 96; shift >= 0; shift -= 32) {
        h = 31u * h + (uint32_t)(u >> shift);
    }
    return 31u * (is_negative ? 0u - h : h) + (uint32_t)scale;
}

static uint32_t java_real(const struct sr_column *c, uint32_t r)
{
    uint64_t wide;
    uint32_t narrow;
    if (c->type.kind == SR_FLOAT) {
        float v = ((const float *)c->values)[r];
        memcpy(&narrow, &v, sizeof(narrow));
        return isnan(v) ? 0x7FC00000u : narrow;
    }
    double v = ((const double *)c->values)[r];
    memcpy(&wide, &v, sizeof(wide));
    return java_long(isnan(v) ? UINT64_C(0x7FF8000000000000) : wide);
}

uint32_t java_hash(const struct sr_column *c, uint32_t r)
{
    const void *v = c->values;
    struct sr_span span;
    struct sr_instant at;
    switch (c->type.kind) {
    case SR_BOOLEAN:
        return ((const uint8_t *)v)[r] != 0 ? 1231u : 1237u;
    case SR_TINYINT:
        return (uint32_t)((const int8_t *)v)[r];
    case SR_SMALLINT:
        return (uint32_t)((const int16_t *)v)[r];
    case SR_INT:
    case SR_DATE:
    case SR_TIME:
    case SR_INTERVAL_MONTH:
        return ((const uint32_t *)v)[r];
    case SR_BIGINT:
    case SR_INTERVAL_SECOND:
        return java_long(((const uint64_t *)v)[r]);
    case SR_FLOAT:
    case SR_DOUBLE:
        return java_real(c, r);
    case SR_DECIMAL:
        return java_decimal(c->type.length <= SR_DECIMAL_SMALL
                                ? ((const int64_t *)v)[r]
                                : decimal_of_wide(((const struct sr_wide *)v)[r]),
                            c->type.scale);
    case SR_CHAR:
    case SR_VARCHAR:
        span = ((const struct sr_span *)v)[r];
        return java_text(span.len > 0 ? column_text(c) + span.at : "", span.len);
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        at = instant_get(c, r);
        return 31u * java_long((uint64_t)at.ms) + (uint32_t)at.ns;
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_VARIANT:
    case SR_KIND_COUNT:
        break;
    }
    sr_assert(false); /* refused when it is bound */
    return 0;
}
