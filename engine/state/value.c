#include "engine/state/value.h"

#include <string.h>

#include "engine/base/assert.h"

struct value value_of(const struct sr_column *c, uint32_t r)
{
    if (!sr_is_valid(c, r)) {
        return (struct value){0};
    }
    uint32_t size = sr_value_size(&c->type);
    struct value v = {.at = (const uint8_t *)c->values + (size_t)r * size};
    if (value_class(&c->type) == VALUE_TEXT) {
        struct sr_span span = ((const struct sr_span *)c->values)[r];
        v.len = span.len;
        v.bytes = span.len > 0 ? c->bytes->data + span.at : (const uint8_t *)"";
    }
    return v;
}

#define VALUE_ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))
#define VALUE_AS(type, x, y)        \
    do {                            \
        type p_, q_;                \
        memcpy(&p_, x, sizeof(p_)); \
        memcpy(&q_, y, sizeof(q_)); \
        return VALUE_ORDER(p_, q_); \
    } while (0)

/* Double.compare: by value, -0.0 before 0.0, every NaN the same and last. */
static int value_compare_double(double a, double b)
{
    if (a < b) {
        return -1;
    }
    if (a > b) {
        return 1;
    }
    bool a_nan = a != a;
    bool b_nan = b != b;
    if (a_nan || b_nan) {
        return (int)a_nan - (int)b_nan;
    }
    return (int)(__builtin_signbit(b) != 0) - (int)(__builtin_signbit(a) != 0);
}

static int value_compare_text(struct value a, struct value b)
{
    uint32_t common = a.len < b.len ? a.len : b.len;
    int order = common > 0 ? memcmp(a.bytes, b.bytes, common) : 0;
    return order != 0 ? order : VALUE_ORDER(a.len, b.len);
}

static int value_compare_wide(const void *x, const void *y)
{
    struct sr_wide a, b;
    memcpy(&a, x, sizeof(a));
    memcpy(&b, y, sizeof(b));
    return a.high != b.high ? VALUE_ORDER(a.high, b.high) : VALUE_ORDER(a.low, b.low);
}

static int value_compare_instant(const void *x, const void *y)
{
    struct sr_instant a, b;
    memcpy(&a, x, sizeof(a));
    memcpy(&b, y, sizeof(b));
    return a.ms != b.ms ? VALUE_ORDER(a.ms, b.ms) : VALUE_ORDER(a.ns, b.ns);
}

static int value_compare_fixed(const struct sr_type *t, const void *x, const void *y)
{
    switch (t->kind) {
    case SR_BOOLEAN:
        VALUE_AS(uint8_t, x, y);
    case SR_TINYINT:
        VALUE_AS(int8_t, x, y);
    case SR_SMALLINT:
        VALUE_AS(int16_t, x, y);
    case SR_INT:
    case SR_DATE:
    case SR_TIME:
    case SR_INTERVAL_MONTH:
        VALUE_AS(int32_t, x, y);
    case SR_BIGINT:
    case SR_INTERVAL_SECOND:
        VALUE_AS(int64_t, x, y);
    case SR_FLOAT: {
        float a, b;
        memcpy(&a, x, sizeof(a));
        memcpy(&b, y, sizeof(b));
        return value_compare_double((double)a, (double)b);
    }
    case SR_DOUBLE: {
        double a, b;
        memcpy(&a, x, sizeof(a));
        memcpy(&b, y, sizeof(b));
        return value_compare_double(a, b);
    }
    case SR_DECIMAL:
        if (sr_value_size(t) == sizeof(struct sr_wide)) {
            return value_compare_wide(x, y);
        }
        VALUE_AS(int64_t, x, y);
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        if (sr_value_size(t) == sizeof(struct sr_instant)) {
            return value_compare_instant(x, y);
        }
        VALUE_AS(int64_t, x, y);
    case SR_NULL:
    case SR_VARIANT:
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_KIND_COUNT:
        break;
    }
    return 0;
}

int value_compare(const struct sr_type *t, struct value a, struct value b)
{
    if (!a.at || !b.at) {
        return (int)(a.at != NULL) - (int)(b.at != NULL);
    }
    return value_class(t) == VALUE_TEXT ? value_compare_text(a, b)
                                        : value_compare_fixed(t, a.at, b.at);
}

bool value_equal(const struct sr_type *t, struct value a, struct value b)
{
    if (!a.at || !b.at) {
        return !a.at && !b.at;
    }
    if (value_class(t) == VALUE_TEXT) {
        return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
    }
    return memcmp(a.at, b.at, value_size(t)) == 0;
}
