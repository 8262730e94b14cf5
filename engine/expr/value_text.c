#include "engine/expr/value_text.h"

#include <string.h>

#include "engine/expr/decimal.h"
#include "engine/expr/instant.h"
#include "engine/expr/number.h"

static uint32_t value_bool(bool v, char *to)
{
    uint32_t len = v ? 4 : 5;
    memcpy(to, v ? "TRUE" : "FALSE", len);
    return len;
}

static uint32_t value_integer(int64_t v, char *to)
{
    char digits[24];
    uint32_t n = 0, at = 0;
    uint64_t u = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
    do {
        digits[n++] = (char)('0' + u % 10);
        u /= 10;
    } while (u > 0);
    if (v < 0) {
        to[at++] = '-';
    }
    while (n > 0) {
        to[at++] = digits[--n];
    }
    return at;
}

uint32_t value_text(const struct sr_column *c, uint32_t r, char *to)
{
    const void *v = c->values;
    switch (c->type.kind) {
    case SR_BOOLEAN:
        return value_bool(((const uint8_t *)v)[r] != 0, to);
    case SR_TINYINT:
        return value_integer(((const int8_t *)v)[r], to);
    case SR_SMALLINT:
        return value_integer(((const int16_t *)v)[r], to);
    case SR_INT:
        return value_integer(((const int32_t *)v)[r], to);
    case SR_BIGINT:
        return value_integer(((const int64_t *)v)[r], to);
    case SR_FLOAT:
        return number_float_text(((const float *)v)[r], to);
    case SR_DOUBLE:
        return number_double_text(((const double *)v)[r], to);
    case SR_DECIMAL:
        return decimal_text(c->type.length <= SR_DECIMAL_SMALL
                                ? ((const int64_t *)v)[r]
                                : decimal_of_wide(((const struct sr_wide *)v)[r]),
                            c->type.scale, to);
    case SR_DATE:
        return moment_date_text(((const int32_t *)v)[r], to);
    case SR_TIME:
        return moment_time_text(((const int32_t *)v)[r], c->type.length, to);
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return moment_stamp_text(instant_get(c, r), c->type.length, to);
    case SR_INTERVAL_MONTH:
        return moment_months_text(((const int32_t *)v)[r], to);
    case SR_INTERVAL_SECOND:
        return moment_span_text(((const int64_t *)v)[r], to);
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_VARIANT:
    case SR_KIND_COUNT:
        return 0;
    }
    return 0;
}
