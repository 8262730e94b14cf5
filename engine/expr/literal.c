/* Literals: from the words of the source text to values. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/expr/decimal.h"
#include "engine/expr/expr.h"
#include "engine/expr/instant.h"
#include "engine/expr/moment.h"
#include "engine/expr/number.h"

static struct expr *literal_new(struct arena *a, enum sr_kind kind, int32_t length, int32_t scale)
{
    struct expr *e = arena_get(a, sizeof(*e));
    if (e) {
        e->kind = EXPR_LITERAL;
        e->offset = UINT32_MAX;
        e->type = (struct sr_type){.kind = kind, .length = length, .scale = scale};
    }
    return e;
}

static const struct expr *literal_fails(struct sr_error *err, const char *what, const char *text,
                                        uint32_t len, const char *form)
{
    (void)error_set(err, SR_ECONFIG, "'%.*s' is not a %s%s%s", (int)(len < 100 ? len : 100), text,
                    what, form[0] ? ": write it as " : "", form);
    return NULL;
}

static const struct expr *literal_beyond(struct sr_error *err, const char *text)
{
    (void)error_set(err, SR_ECONFIG, "the number %.100s is out of range", text);
    return NULL;
}

/* Digits and a point: DECIMAL of as many digits as are written, which must fit 64 bits. */
static const struct expr *literal_decimal(struct arena *a, const char *text, struct sr_error *err)
{
    int32_t digits = 0, scale = 0;
    bool is_behind = false;
    for (const char *p = text; *p; p++) {
        digits += isdigit((unsigned char)*p) ? 1 : 0;
        scale += is_behind ? 1 : 0;
        is_behind = is_behind || *p == '.';
    }
    decimal v;
    bool is_number;
    if (digits > DECIMAL_DIGITS_MAX ||
        !decimal_parse(text, (uint32_t)strlen(text), scale, &v, &is_number) || v > INT64_MAX ||
        v < INT64_MIN) {
        return literal_beyond(err, text);
    }
    struct expr *e = literal_new(a, SR_DECIMAL, digits, scale);
    if (e && digits > SR_DECIMAL_SMALL) {
        struct sr_wide w = decimal_to_wide(v);
        e->value.wide.low = w.low;
        e->value.wide.high = w.high;
    } else if (e) {
        e->value.i = (int64_t)v;
    }
    return e;
}

static const struct expr *literal_integer(struct arena *a, const char *text, struct sr_error *err)
{
    decimal v;
    bool is_number;
    if (!decimal_parse(text, (uint32_t)strlen(text), 0, &v, &is_number) || v > INT64_MAX ||
        v < INT64_MIN) {
        return literal_beyond(err, text);
    }
    struct expr *e = literal_new(a, v >= INT32_MIN && v <= INT32_MAX ? SR_INT : SR_BIGINT, 0, 0);
    if (e) {
        e->value.i = (int64_t)v;
    }
    return e;
}

const struct expr *expr_number(struct arena *a, const char *text, struct sr_error *err)
{
    uint32_t len = (uint32_t)strlen(text);
    if (strpbrk(text, "eE")) {
        double d;
        if (!number_parse_double(text, len, &d)) {
            return literal_fails(err, "number", text, len, "");
        }
        if (d > 1.7976931348623157e308 || d < -1.7976931348623157e308) {
            return literal_beyond(err, text);
        }
        struct expr *e = literal_new(a, SR_DOUBLE, 0, 0);
        if (e) {
            e->value.d = d;
        }
        return e;
    }
    decimal v;
    bool is_number;
    (void)decimal_parse(text, len, 0, &v, &is_number);
    if (!is_number) {
        return literal_fails(err, "number", text, len, "");
    }
    const char *point = strchr(text, '.');
    return point && point[1] ? literal_decimal(a, text, err) : literal_integer(a, text, err);
}

const struct expr *expr_string(struct arena *a, const char *bytes, uint32_t len)
{
    int32_t units = 0; /* Flink counts UTF-16: two for what lies beyond the first plane */
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        units += (c & 0xC0) == 0x80 ? 0 : c >= 0xF0 ? 2 : 1;
    }
    struct expr *e = literal_new(a, SR_CHAR, units, 0);
    if (e) {
        e->text = arena_text_n(a, bytes, len);
        e->text_len = len;
    }
    return e && e->text ? e : NULL;
}

static int literal_hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

const struct expr *expr_binary(struct arena *a, const char *hex, uint32_t len, struct sr_error *err)
{
    char *bytes = arena_get(a, len / 2 + 1);
    struct expr *e = literal_new(a, SR_BINARY, (int32_t)(len / 2), 0);
    if (!bytes || !e) {
        return NULL;
    }
    for (uint32_t i = 0; i + 1 < len || len % 2 == 1; i += 2) {
        int high = literal_hex(hex[i]), low = len % 2 == 1 ? -1 : literal_hex(hex[i + 1]);
        if (high < 0 || low < 0) {
            return literal_fails(err, "binary literal", hex, len, "an even number of hex digits");
        }
        bytes[i / 2] = (char)(high * 16 + low);
    }
    e->text = bytes;
    e->text_len = len / 2;
    return e;
}

const struct expr *expr_moment(struct arena *a, enum sr_kind kind, const char *text, uint32_t len,
                               struct sr_error *err)
{
    int32_t days, ms, digits = 0;
    int64_t value = 0;
    struct sr_instant v = {0};
    if (kind == SR_DATE) {
        if (!moment_parse_date(text, len, &days)) {
            return literal_fails(err, "DATE", text, len, "yyyy-MM-dd");
        }
        value = days;
    } else if (kind == SR_TIME) {
        if (!moment_parse_time(text, len, false, &ms, &digits)) {
            return literal_fails(err, "TIME", text, len, "HH:mm:ss");
        }
        value = ms;
        digits = digits > 3 ? 3 : digits; /* held in ms */
    } else {
        if (!moment_parse_stamp(text, len, false, &v, &digits)) {
            return literal_fails(err, "TIMESTAMP", text, len, "yyyy-MM-dd HH:mm:ss");
        }
        value = instant_us(v);
    }
    struct expr *e = literal_new(a, kind, digits, 0);
    if (e && kind == SR_TIMESTAMP && digits > INSTANT_DIGITS_SMALL) {
        e->value.instant = v;
    } else if (e) {
        e->value.i = value;
    }
    return e;
}

/* --- Intervals. ------------------------------------------------------------------------------- */

struct literal_unit {
    const char *name;
    int64_t size; /* in months or ms */
    int64_t max;  /* behind a larger unit */
    bool is_months;
    char before; /* what stands in front of it behind a larger unit */
};

static const struct literal_unit literal_units[] = {
    {"YEAR", 12, 0, true, 0},
    {"QUARTER", 3, 0, true, 0},
    {"MONTH", 1, 11, true, '-'},
    {"WEEK", 7 * MOMENT_DAY_MS, 0, false, 0},
    {"DAY", MOMENT_DAY_MS, 0, false, 0},
    {"HOUR", 3600000, 23, false, ' '},
    {"MINUTE", 60000, 59, false, ':'},
    {"SECOND", 1000, 59, false, ':'},
};

/* DAYS is DAY, as in Flink. */
static const struct literal_unit *literal_unit_find(const char *name)
{
    for (size_t i = 0; i < sizeof(literal_units) / sizeof(literal_units[0]); i++) {
        size_t len = strlen(literal_units[i].name);
        if (strncasecmp(literal_units[i].name, name, len) == 0 &&
            (name[len] == '\0' || strcasecmp(name + len, "S") == 0)) {
            return &literal_units[i];
        }
    }
    return NULL;
}

/* One field of an interval at *p; false: no digits, or too large. */
static bool literal_field(const char **p, const char *end, const struct literal_unit *u,
                          bool is_first, int64_t *sum)
{
    int64_t v = 0, digits = 0;
    for (; *p < end && isdigit((unsigned char)**p); (*p)++, digits++) {
        v = v * 10 + (**p - '0');
        if (digits > 9) {
            return false;
        }
    }
    if (digits == 0 || (!is_first && v > u->max)) {
        return false;
    }
    *sum += v * u->size;
    if (u->size == 1000 && *p < end && **p == '.') {
        (*p)++;
        int64_t ms = 0, unit = 100;
        for (; *p < end && isdigit((unsigned char)**p); (*p)++, unit /= 10) {
            ms += (**p - '0') * unit;
        }
        *sum += ms;
    }
    return true;
}

static bool literal_fields(const char *p, const char *end, const struct literal_unit *from,
                           const struct literal_unit *to, int64_t *out)
{
    int64_t sum = 0;
    bool is_negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+') ? 1 : 0;
    for (const struct literal_unit *u = from; u <= to; u++) {
        if (u != from && (!u->before || u->is_months != from->is_months)) {
            continue; /* WEEK and QUARTER are no fields of a compound */
        }
        if (u != from && (p >= end || *p++ != u->before)) {
            return false;
        }
        if (!literal_field(&p, end, u, u == from, &sum)) {
            return false;
        }
    }
    *out = is_negative ? -sum : sum;
    return p == end;
}

/* The words of the syntax are that many. NOLINTNEXTLINE(readability-function-size) */
const struct expr *expr_interval(struct arena *a, const char *text, uint32_t len, bool is_negative,
                                 const char *from, const char *to, struct sr_error *err)
{
    const struct literal_unit *first = literal_unit_find(from);
    const struct literal_unit *last = to ? literal_unit_find(to) : first;
    if (!first || !last || last < first || first->is_months != last->is_months) {
        (void)error_set(err, SR_ECONFIG, "there is no interval of %s%s%s", from, to ? " TO " : "",
                        to ? to : "");
        return NULL;
    }
    while (len > 0 && text[0] == ' ') {
        text++;
        len--;
    }
    while (len > 0 && text[len - 1] == ' ') {
        len--;
    }
    int64_t v;
    if (!literal_fields(text, text + len, first, last, &v) ||
        (first->is_months && (v > INT32_MAX || v < -INT32_MAX))) {
        char what[64];
        (void)snprintf(what, sizeof(what), "INTERVAL %s%s%s", from, to ? " TO " : "", to ? to : "");
        return literal_fails(err, what, text, len, "");
    }
    struct expr *e = first->is_months ? literal_new(a, SR_INTERVAL_MONTH, 0, 0)
                                      : literal_new(a, SR_INTERVAL_SECOND, 0, 0);
    if (e) {
        e->value.i = is_negative ? -v : v;
    }
    return e;
}
