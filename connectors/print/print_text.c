#include "connectors/print/print_text.h"

#include <stdio.h>
#include <string.h>

#include "connectors/text/bag.h"
#include "connectors/text/instant.h"
#include "connectors/text/nest.h"
#include "connectors/text/number.h"
#include "connectors/text/real.h"

#define PRINT_TEXT_DAY   86400
#define PRINT_TEXT_SHORT 160u /* bytes of any value but text and bytes */

bool print_text_can(const struct sr_type *t)
{
    switch (t->kind) {
    case SR_BOOLEAN:
    case SR_TINYINT:
    case SR_SMALLINT:
    case SR_INT:
    case SR_BIGINT:
    case SR_FLOAT:
    case SR_DOUBLE:
    case SR_DECIMAL:
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_DATE:
    case SR_TIME:
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
    case SR_NULL:
    case SR_VARIANT:
    case SR_ARRAY:
    case SR_MAP:
    case SR_ROW:
        return true;
    case SR_MULTISET:
        return !sr_is_nested(t->child[0].type.kind);
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_KIND_COUNT:
        return false;
    }
    return false;
}

static bool print_text_bytes(struct sr_out *out, const char *s, size_t len)
{
    uint8_t *to = sr_out_room(out, len);
    if (to && len > 0) {
        memcpy(to, s, len);
        out->len += len;
    }
    return to != NULL || len == 0;
}

bool print_text_put(struct sr_out *out, const char *s)
{
    return print_text_bytes(out, s, strlen(s));
}

/* BigDecimal.toString: an exponent when the first digit stands behind the sixth place. */
static uint32_t print_text_decimal(char *to, __int128 unscaled, int32_t scale)
{
    char digits[NUMBER_TEXT_MAX + 1];
    bool is_negative = unscaled < 0;
    uint32_t n = number_put_decimal(digits, is_negative ? -unscaled : unscaled, 0);
    digits[n] = 0;
    int32_t exponent = (int32_t)n - 1 - scale;
    if (exponent >= -6) {
        return number_put_decimal(to, unscaled, scale);
    }
    int len = snprintf(to, PRINT_TEXT_SHORT, "%s%c%s%sE%d", is_negative ? "-" : "", digits[0],
                       n > 1 ? "." : "", digits + 1, (int)exponent);
    return (uint32_t)len;
}

/* LocalTime.toString: seconds and groups of three digits only where there are any. */
static uint32_t print_text_clock(char *to, int64_t second, int32_t nano, bool has_seconds)
{
    int n =
        snprintf(to, PRINT_TEXT_SHORT, "%02d:%02d", (int)(second / 3600), (int)(second / 60 % 60));
    if (has_seconds || second % 60 != 0 || nano != 0) {
        n += snprintf(to + n, 8, ":%02d", (int)(second % 60));
    }
    if (nano != 0) {
        int digits = nano % 1000000 == 0 ? 3 : nano % 1000 == 0 ? 6 : 9;
        char fraction[16];
        (void)snprintf(fraction, sizeof(fraction), "%09d", (int)nano);
        n += snprintf(to + n, 16, ".%.*s", digits, fraction);
    }
    return (uint32_t)n;
}

static uint32_t print_text_timestamp(char *to, const struct sr_column *c, uint32_t r)
{
    struct moment m = instant_of_row(c, r);
    int64_t day = m.seconds / PRINT_TEXT_DAY, second = m.seconds % PRINT_TEXT_DAY;
    if (second < 0) {
        day--;
        second += PRINT_TEXT_DAY;
    }
    bool is_instant = c->type.kind == SR_TIMESTAMP_LTZ;
    uint32_t n = moment_put_date(to, (int32_t)day);
    to[n++] = 'T';
    n += print_text_clock(to + n, second, m.nano, is_instant);
    if (is_instant) {
        to[n++] = 'Z';
    }
    return n;
}

/* The bytes of a row; a column without any has no buffer. */
static const char *print_text_of(const struct sr_column *c, uint32_t r, uint32_t *len)
{
    *len = 0;
    return c->bytes ? sr_text(c, r, len) : "";
}

/* Arrays of bytes: Java's are signed. */
static bool print_text_binary(struct sr_out *out, const struct sr_column *c, uint32_t r)
{
    uint32_t len = 0;
    const char *bytes = print_text_of(c, r, &len);
    bool is_put = print_text_put(out, "[");
    for (uint32_t i = 0; is_put && i < len; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%s%d", i > 0 ? ", " : "", (int)(int8_t)bytes[i]);
        is_put = print_text_put(out, text);
    }
    return is_put && print_text_put(out, "]");
}

/* Values that are short: into `to`, answers the length. */
static uint32_t print_text_short(char *to, const struct sr_column *c, uint32_t r)
{
    const void *v = c->values;
    switch (c->type.kind) {
    case SR_BOOLEAN:
        return (uint32_t)snprintf(to, 8, "%s", ((const uint8_t *)v)[r] ? "true" : "false");
    case SR_TINYINT:
        return number_put_i64(to, ((const int8_t *)v)[r]);
    case SR_SMALLINT:
        return number_put_i64(to, ((const int16_t *)v)[r]);
    case SR_INT:
        return number_put_i64(to, ((const int32_t *)v)[r]);
    case SR_BIGINT:
        return number_put_i64(to, ((const int64_t *)v)[r]);
    case SR_FLOAT:
        return real_put_f32(to, ((const float *)v)[r]);
    case SR_DOUBLE:
        return real_put_f64(to, ((const double *)v)[r]);
    case SR_DECIMAL:
        return print_text_decimal(to, number_of_row(c, r), c->type.scale);
    case SR_DATE:
        return moment_put_date(to, ((const int32_t *)v)[r]);
    case SR_TIME: {
        int32_t ms = ((const int32_t *)v)[r];
        return print_text_clock(to, ms / 1000, ms % 1000 * 1000000, false);
    }
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        return print_text_timestamp(to, c, r);
    case SR_CHAR:
    case SR_VARCHAR:
    case SR_BINARY:
    case SR_VARBINARY:
    case SR_NULL:
    case SR_VARIANT:
    case SR_INTERVAL_MONTH:
    case SR_INTERVAL_SECOND:
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_KIND_COUNT:
        return 0; /* longer ones are the caller's, others were refused at plan time */
    }
    return 0;
}

/* A value without an inside, or NULL. */
static bool print_text_leaf(struct sr_out *out, const struct sr_column *c, uint32_t r)
{
    if (!sr_is_valid(c, r) || c->type.kind == SR_NULL) {
        return print_text_put(out, "null");
    }
    if (sr_is_bytes(c->type.kind)) {
        return print_text_binary(out, c, r);
    }
    if (sr_has_bytes(c->type.kind)) {
        uint32_t len = 0;
        const char *text = print_text_of(c, r, &len);
        return print_text_bytes(out, text, len);
    }
    uint8_t *to = sr_out_room(out, PRINT_TEXT_SHORT);
    if (to) {
        out->len += print_text_short((char *)to, c, r);
    }
    return to != NULL;
}

/* What stands in front of a value in its container. */
static const char *print_text_before(const struct nest *n)
{
    if (n->depth == 0 || n->nth == 0) {
        return "";
    }
    return n->level[n->depth - 1].c->type.kind == SR_MAP && n->child == 1 ? "=" : ", ";
}

static const char *print_text_open(enum sr_kind kind)
{
    if (kind == SR_ROW) {
        return "+I[";
    }
    return kind == SR_MAP ? "{" : "[";
}

/* A MULTISET within: {a=2, b=1}. */
static bool print_text_bag(struct sr_out *out, const struct sr_column *bag, uint32_t r)
{
    const struct sr_column *c = bag->child[0];
    struct sr_span s = ((const struct sr_span *)bag->values)[r];
    bool is_put = print_text_put(out, "{"), is_first = true;
    for (uint32_t i = s.at; i < s.at + s.len && is_put; i++) {
        char times[16];
        uint32_t n = bag_times(c, s, i);
        if (n > 0) {
            (void)snprintf(times, sizeof(times), "=%u", n);
            is_put = print_text_put(out, is_first ? "" : ", ") && print_text_leaf(out, c, i) &&
                     print_text_put(out, times);
            is_first = false;
        }
    }
    return is_put && print_text_put(out, "}");
}

static bool print_text_one(struct sr_out *out, const struct sr_column *c, uint32_t r)
{
    bool is_bag = c->type.kind == SR_MULTISET && sr_is_valid(c, r);
    return is_bag ? print_text_bag(out, c, r) : print_text_leaf(out, c, r);
}

bool print_text_value(struct sr_out *out, const struct sr_column *c, uint32_t r)
{
    if (!sr_is_nested(c->type.kind)) {
        return print_text_leaf(out, c, r);
    }
    struct nest n;
    bool is_put = true;
    nest_begin(&n, c, r);
    n.is_bag_whole = true;
    for (enum nest_event e = nest_next(&n); is_put && e != NEST_DONE; e = nest_next(&n)) {
        if (e == NEST_CLOSE) {
            is_put = print_text_put(out, n.c->type.kind == SR_MAP ? "}" : "]");
            continue;
        }
        is_put = print_text_put(out, print_text_before(&n)) &&
                 (e == NEST_OPEN ? print_text_put(out, print_text_open(n.c->type.kind))
                                 : print_text_one(out, n.c, n.r));
    }
    return is_put;
}
