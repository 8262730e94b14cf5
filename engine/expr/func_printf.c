/* PRINTF: Java's String.format over a row. What Java throws for is NULL, as in Flink. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/calendar.h"
#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/decimal.h"
#include "engine/expr/family.h"
#include "engine/expr/instant.h"
#include "engine/expr/java_hash.h"
#include "engine/expr/json_text.h"
#include "engine/expr/number.h"
#include "engine/expr/promote.h"
#include "engine/expr/value_text.h"

#define PRINTF_FLAGS "-#+ 0,(<"
enum {
    FORMAT_LEFT = 1u << 0,
    FORMAT_OTHER = 1u << 1, /* # */
    FORMAT_PLUS = 1u << 2,
    FORMAT_SPACE = 1u << 3,
    FORMAT_ZERO = 1u << 4,
    FORMAT_GROUPS = 1u << 5,
    FORMAT_PARENS = 1u << 6,
    FORMAT_AGAIN = 1u << 7 /* <: the argument before */
};

struct format {
    uint32_t flags, index;    /* 0: the next argument */
    int64_t width, precision; /* -1: none */
    char as;                  /* in lower case */
    bool is_upper;
};

enum format_rc { FORMAT_OK, FORMAT_NULL, FORMAT_TOLD };

struct format_run {
    struct json_out out, body;
    struct call *k;
    uint32_t row, next, last; /* arguments, from 1; last 0: none yet */
};

/* --- Reading. --------------------------------------------------------------------------------- */

static int64_t format_number(const char **p, const char *end)
{
    int64_t v = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
        v = v <= INT32_MAX ? v * 10 + (**p - '0') : v;
    }
    return v;
}

static bool format_is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

/* [index$][flags][width][.precision]letter; false: it is none. *p moves behind it. */
static bool format_read(const char **p, const char *end, struct format *f)
{
    *f = (struct format){.width = -1, .precision = -1};
    const char *s = *p;
    int64_t index = format_number(&s, end);
    if (s > *p && s < end && *s == '$') {
        f->index = (uint32_t)index;
        *p = s + 1;
        if (index < 1 || index > INT32_MAX) {
            return false;
        }
    }
    const char *flag;
    for (; *p < end && **p && (flag = strchr(PRINTF_FLAGS, **p)); (*p)++) {
        uint32_t bit = 1u << (flag - PRINTF_FLAGS);
        if (f->flags & bit) {
            return false;
        }
        f->flags |= bit;
    }
    f->width = format_is_digit(*p, end) ? format_number(p, end) : -1;
    if (*p < end && **p == '.') {
        (*p)++;
        f->precision = format_is_digit(*p, end) ? format_number(p, end) : INT64_MAX;
    }
    if (*p >= end || f->width > INT32_MAX || f->precision > INT32_MAX) {
        return false;
    }
    f->as = *(*p)++;
    f->is_upper = f->as != '\0' && strchr("BHSCXEGAT", f->as) != NULL;
    f->as = (char)(f->is_upper ? f->as - 'A' + 'a' : f->as);
    return true;
}

/* Whether Java takes these flags together, and with this letter. */
static bool format_fits(const struct format *f)
{
    uint32_t sign = FORMAT_PLUS | FORMAT_SPACE, side = FORMAT_LEFT | FORMAT_ZERO;
    uint32_t may = FORMAT_LEFT | FORMAT_AGAIN, number = may | sign | FORMAT_ZERO | FORMAT_PARENS;
    bool has_precision = f->precision >= 0;
    if (((f->flags & side) && f->width < 0) || (f->flags & side) == side ||
        (f->flags & sign) == sign) {
        return false;
    }
    switch (f->as) {
    case 'b':
    case 'h':
    case 's':
        break;
    case 'c':
    case '%':
        return !has_precision && (f->flags & ~may) == 0;
    case 'n':
        return f->flags == 0 && f->width < 0 && !has_precision;
    case 'd':
        may = number | FORMAT_GROUPS;
        return !has_precision && (f->flags & ~may) == 0;
    case 'o':
    case 'x':
        may |= FORMAT_ZERO | FORMAT_OTHER;
        return !has_precision && (f->flags & ~may) == 0;
    case 'a':
        may |= sign | FORMAT_ZERO | FORMAT_OTHER;
        break;
    case 'e':
        may = number | FORMAT_OTHER;
        break;
    case 'f':
        may = number | FORMAT_OTHER | FORMAT_GROUPS;
        break;
    case 'g':
        may = number | FORMAT_GROUPS;
        break;
    default:
        return false;
    }
    return (f->flags & ~may) == 0;
}

/* --- Writing. --------------------------------------------------------------------------------- */

static void format_repeat(struct json_out *o, char c, int64_t n)
{
    char many[64];
    memset(many, c, sizeof(many));
    for (; n > 0; n -= (int64_t)sizeof(many)) {
        json_put(o, many, n < (int64_t)sizeof(many) ? (size_t)n : sizeof(many));
    }
}

/* Bytes of s that hold at most `units` UTF-16 units; *units becomes what they do hold. */
static uint32_t format_cut(const char *s, uint32_t len, int64_t *units)
{
    int64_t room = *units;
    *units = 0;
    for (uint32_t i = 0; i < len;) {
        unsigned char c = (unsigned char)s[i];
        int64_t wide = c >= 0xF0 ? 2 : 1;
        if (*units + wide > room) {
            return i;
        }
        *units += wide;
        for (i++; i < len && ((unsigned char)s[i] & 0xC0) == 0x80; i++) {
        }
    }
    return len;
}

/* Text, cut to the precision and padded to the width. */
static enum format_rc format_text(struct format_run *x, const struct format *f, const char *s,
                                  uint32_t len)
{
    int64_t units = f->precision >= 0 ? f->precision : INT64_MAX - 2;
    len = format_cut(s, len, &units);
    int64_t pad = f->width - units;
    format_repeat(&x->out, ' ', f->flags & FORMAT_LEFT ? 0 : pad);
    uint32_t at = x->out.len;
    json_put(&x->out, s, len);
    for (uint32_t i = at; f->is_upper && !x->out.is_broken && i < x->out.len; i++) {
        char c = x->out.bytes[i];
        if ((unsigned char)c >= 0x80) {
            call_fail(x->k, x->row, "PRINTF: %%S takes ASCII only; use UPPER with %%s");
            return FORMAT_TOLD;
        }
        x->out.bytes[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    format_repeat(&x->out, ' ', f->flags & FORMAT_LEFT ? pad : 0);
    return FORMAT_OK;
}

/* x->body, with its sign, filled up to the width. */
static enum format_rc format_signed(struct format_run *x, const struct format *f, bool is_negative)
{
    bool has_parens = is_negative && (f->flags & FORMAT_PARENS);
    const char *sign = has_parens                  ? "("
                       : is_negative               ? "-"
                       : (f->flags & FORMAT_PLUS)  ? "+"
                       : (f->flags & FORMAT_SPACE) ? " "
                                                   : "";
    int64_t pad = f->width - (int64_t)strlen(sign) - x->body.len - has_parens;
    bool is_zeros = f->flags & FORMAT_ZERO, is_left = f->flags & FORMAT_LEFT;
    format_repeat(&x->out, ' ', is_zeros || is_left ? 0 : pad);
    json_put(&x->out, sign, strlen(sign));
    format_repeat(&x->out, '0', is_zeros ? pad : 0);
    json_put(&x->out, x->body.bytes ? x->body.bytes : "", x->body.len);
    json_put(&x->out, ")", has_parens ? 1 : 0);
    format_repeat(&x->out, ' ', is_left ? pad : 0);
    return FORMAT_OK;
}

/* Digits of a whole number, in groups of three if so asked. */
static void format_whole(struct format_run *x, const struct format *f, const char *digits,
                         int64_t len, int64_t zeros)
{
    for (int64_t i = 0; i < len + zeros; i++) {
        bool is_group = (f->flags & FORMAT_GROUPS) && i > 0 && (len + zeros - i) % 3 == 0;
        json_put(&x->body, ",", is_group ? 1 : 0);
        json_put(&x->body, i < len ? digits + i : "0", 1);
    }
}

/* --- Whole numbers. --------------------------------------------------------------------------- */

/* Answers the bits of the type; 0: no whole number. */
static uint32_t format_integer(const struct sr_column *c, uint32_t r, int64_t *v)
{
    enum sr_kind kind = c->type.kind;
    if (kind == SR_TINYINT) {
        *v = (int64_t)((const int8_t *)c->values)[r];
        return 8;
    }
    if (kind == SR_SMALLINT) {
        *v = ((const int16_t *)c->values)[r];
        return 16;
    }
    if (kind == SR_BIGINT || kind == SR_INTERVAL_SECOND) {
        *v = ((const int64_t *)c->values)[r];
        return 64;
    }
    bool is_int = kind == SR_INT || kind == SR_DATE || kind == SR_TIME || kind == SR_INTERVAL_MONTH;
    *v = is_int ? ((const int32_t *)c->values)[r] : 0;
    return is_int ? 32 : 0;
}

static enum format_rc format_int(struct format_run *x, const struct format *f,
                                 const struct sr_column *c)
{
    int64_t v;
    uint32_t bits = format_integer(c, x->row, &v), at = 0;
    if (bits == 0) {
        return FORMAT_NULL;
    }
    bool is_negative = f->as == 'd' && v < 0;
    uint64_t u = is_negative ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
    uint64_t base = f->as == 'd' ? 10 : f->as == 'x' ? 16 : 8;
    u = f->as != 'd' && bits < 64 ? u & (((uint64_t)1 << bits) - 1) : u;
    char digits[24];
    do {
        digits[sizeof(digits) - ++at] =
            (f->is_upper ? "0123456789ABCDEF" : "0123456789abcdef")[u % base];
        u /= base;
    } while (u > 0);
    if (f->flags & FORMAT_OTHER) { /* zeros stand between 0x and the digits */
        const char *prefix = f->as == 'o' ? "0" : f->is_upper ? "0X" : "0x";
        json_put(&x->body, prefix, strlen(prefix));
        int64_t zeros = f->width - x->body.len - at;
        format_repeat(&x->body, '0', f->flags & FORMAT_ZERO ? zeros : 0);
    }
    format_whole(x, f, digits + sizeof(digits) - at, at, 0);
    return format_signed(x, f, is_negative);
}

/* --- Real numbers: the shortest digits, rounded half up, as Java does. ------------ */

/* 0.d1d2d3... * 10^point */
struct format_real {
    char digit[40];
    int64_t n, point;
};

static struct format_real format_digits(double v)
{
    char text[VALUE_TEXT_MAX + 1] = {0};
    struct format_real d = {.n = 0};
    uint32_t len = number_double_text(fabs(v), text);
    bool is_behind = false;
    for (uint32_t i = 0; i < len; i++) {
        if (text[i] == 'E') {
            d.point += strtol(text + i + 1, NULL, 10);
            break;
        }
        is_behind = is_behind || text[i] == '.';
        bool is_digit = text[i] != '.' && (d.n > 0 || text[i] != '0');
        if (is_digit && d.n < (int64_t)sizeof(d.digit)) {
            d.digit[d.n++] = text[i];
        }
        d.point += is_digit && !is_behind ? 1 : !is_digit && is_behind && text[i] == '0' ? -1 : 0;
    }
    if (d.n == 0) {
        d.point = 0;
    }
    return d;
}

/* Only the first `at` digits stay. */
static void format_round(struct format_real *d, int64_t at)
{
    if (at >= d->n) {
        return;
    }
    bool is_up = at >= 0 && d->digit[at] >= '5';
    d->n = at < 0 ? 0 : at;
    while (is_up && d->n > 0 && d->digit[d->n - 1] == '9') {
        d->n--;
    }
    if (is_up && d->n > 0) {
        d->digit[d->n - 1]++;
    } else if (is_up) {
        d->digit[d->n++] = '1';
        d->point++;
    }
}

static void format_fraction(struct format_run *x, const struct format *f,
                            const struct format_real *d, int64_t from, int64_t digits)
{
    json_put(&x->body, ".", digits > 0 || (f->flags & FORMAT_OTHER) ? 1 : 0);
    int64_t zeros = from < 0 ? (-from < digits ? -from : digits) : 0;
    format_repeat(&x->body, '0', zeros);
    int64_t have = d->n - (from + zeros);
    have = have < 0 ? 0 : have < digits - zeros ? have : digits - zeros;
    json_put(&x->body, d->digit + (have > 0 ? from + zeros : 0), (size_t)have);
    format_repeat(&x->body, '0', digits - zeros - have);
}

static void format_fixed(struct format_run *x, const struct format *f, struct format_real d,
                         int64_t digits)
{
    format_round(&d, d.point + digits);
    if (d.point <= 0 || d.n == 0) {
        json_put(&x->body, "0", 1);
    } else {
        int64_t have = d.n < d.point ? d.n : d.point;
        format_whole(x, f, d.digit, have, d.point - have);
    }
    format_fraction(x, f, &d, d.point, digits);
}

static void format_scientific(struct format_run *x, const struct format *f, struct format_real d,
                              int64_t digits)
{
    format_round(&d, digits + 1);
    int64_t power = d.n > 0 ? d.point - 1 : 0;
    json_put(&x->body, d.n > 0 ? d.digit : "0", 1);
    format_fraction(x, f, &d, 1, digits);
    json_put(&x->body, f->is_upper ? "E" : "e", 1);
    json_put(&x->body, power < 0 ? "-" : "+", 1);
    char text[24];
    int len = snprintf(text, sizeof(text), "%02lld", (long long)llabs(power));
    json_put(&x->body, text, (size_t)len);
}

static void format_general(struct format_run *x, const struct format *f, struct format_real d)
{
    int64_t digits = f->precision < 0 ? 6 : f->precision == 0 ? 1 : f->precision;
    format_round(&d, digits);
    int64_t power = d.n > 0 ? d.point - 1 : 0;
    if (power >= -4 && power < digits) {
        format_fixed(x, f, d, digits - (power + 1));
    } else {
        format_scientific(x, f, d, digits - 1);
    }
}

/* 1.8p0: a number of two's powers, as %a writes it. */
struct format_hex {
    uint64_t lead, fraction; /* 1, or 0 for what is smaller than any such; 52 bits behind it */
    int32_t power;
};

/* With so many digits only, 1 to 12; between two of them the even one. */
static struct format_hex format_hex_round(struct format_hex h, int64_t digits)
{
    uint64_t one = UINT64_C(1) << 52, cut = UINT64_C(1) << (52 - 4 * digits);
    uint64_t v = h.lead * one | h.fraction;
    while (v > 0 && v < one) {
        v <<= 1;
        h.power--;
    }
    uint64_t rest = v & (cut - 1);
    bool is_odd = (v & cut) != 0, is_up = rest > cut / 2 || (rest == cut / 2 && is_odd);
    v = v - rest + (is_up ? cut : 0);
    if (v == 2 * one) {
        v = one;
        h.power++;
    }
    return (struct format_hex){.lead = v >> 52, .fraction = v & (one - 1), .power = h.power};
}

static struct format_hex format_hex_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    int32_t power = (int32_t)(bits >> 52 & 0x7FF);
    struct format_hex h = {.lead = power > 0, .fraction = bits & ((UINT64_C(1) << 52) - 1)};
    h.power = power > 0 ? power - 1023 : h.fraction > 0 ? -1022 : 0;
    return h;
}

static void format_hexadecimal(struct format_run *x, const struct format *f, double v)
{
    int64_t digits = f->precision == 0 ? 1 : f->precision;
    struct format_hex h = format_hex_of(v);
    h = digits >= 0 && digits < 13 ? format_hex_round(h, digits) : h;
    char text[32], power[16];
    int len = snprintf(text, sizeof(text), f->is_upper ? "%d.%013llX" : "%d.%013llx", (int)h.lead,
                       (unsigned long long)h.fraction);
    for (; len > 3 && text[len - 1] == '0'; len--) {
    }
    int power_len = snprintf(power, sizeof(power), "%c%d", f->is_upper ? 'P' : 'p', h.power);
    int64_t more = digits - (len - 2);
    more = more > 0 ? more : 0;
    bool has_sign = signbit(v) || (f->flags & (FORMAT_PLUS | FORMAT_SPACE));
    int64_t zeros = f->width - (has_sign + 2 + len + power_len); /* as Java: not less `more` */
    json_put(&x->body, f->is_upper ? "0X" : "0x", 2);
    format_repeat(&x->body, '0', f->flags & FORMAT_ZERO ? zeros : 0);
    json_put(&x->body, text, (size_t)len);
    format_repeat(&x->body, '0', more);
    json_put(&x->body, power, (size_t)power_len);
}

static enum format_rc format_float(struct format_run *x, const struct format *f,
                                   const struct sr_column *c)
{
    if (!sr_is_approx(c->type.kind)) {
        return FORMAT_NULL; /* DECIMAL too: it is no BigDecimal inside Flink */
    }
    double v = c->type.kind == SR_FLOAT ? (double)((const float *)c->values)[x->row]
                                        : ((const double *)c->values)[x->row];
    struct format plain = *f;
    if (!isfinite(v)) {
        const char *name = isnan(v) ? "NaN" : "Infinity";
        plain.precision = -1;
        plain.flags &= isnan(v) ? FORMAT_LEFT : ~(uint32_t)FORMAT_ZERO;
        for (const char *s = name; *s; s++) {
            char big = (char)(f->is_upper && *s >= 'a' ? *s - 'a' + 'A' : *s);
            json_put(&x->body, &big, 1);
        }
        return format_signed(x, &plain, v < 0);
    }
    int64_t digits = f->precision < 0 ? 6 : f->precision;
    if (f->as == 'a') {
        format_hexadecimal(x, f, v);
    } else if (f->as == 'f') {
        format_fixed(x, f, format_digits(v), digits);
    } else if (f->as == 'e') {
        format_scientific(x, f, format_digits(v), digits);
    } else {
        format_general(x, f, format_digits(v));
    }
    return format_signed(x, f, signbit(v) != 0);
}

/* --- One argument. ---------------------------------------------------------------------------- */

static enum format_rc format_char(struct format_run *x, const struct format *f,
                                  const struct sr_column *c)
{
    int64_t v;
    uint32_t bits = format_integer(c, x->row, &v);
    bool is_code = v >= 0 && v <= 0x10FFFF && (v < 0xD800 || v > 0xDFFF);
    if (bits == 0 || bits == 64 || !is_code) {
        return FORMAT_NULL;
    }
    uint32_t u = (uint32_t)v, len = u < 0x80 ? 1 : u < 0x800 ? 2 : u < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    char text[4];
    for (uint32_t i = len - 1; i > 0; i--, u >>= 6) {
        text[i] = (char)(0x80 | (u & 0x3F));
    }
    text[0] = (char)(first[len] | u);
    return format_text(x, f, text, len);
}

/* As Java's LocalDateTime: no seconds when they are 0, and 0, 3, 6 or 9 digits behind them. */
static uint32_t format_instant(struct sr_instant v, char *to)
{
    struct civil c;
    int64_t days = moment_floor_div(v.ms, MOMENT_DAY_MS), ms = v.ms - days * MOMENT_DAY_MS;
    civil_from_days(days, &c.year, &c.month, &c.day);
    int64_t nano = ms % 1000 * 1000000 + v.ns;
    const char *sign = c.year < 0 ? "-" : c.year > 9999 ? "+" : "";
    int n =
        snprintf(to, VALUE_TEXT_MAX, "%s%04lld-%02d-%02dT%02d:%02d", sign, llabs((long long)c.year),
                 c.month, c.day, (int)(ms / 3600000), (int)(ms / 60000 % 60));
    if (ms % 60000 != 0 || nano > 0) {
        n += snprintf(to + n, VALUE_TEXT_MAX - (size_t)n, ":%02d", (int)(ms / 1000 % 60));
    }
    if (nano > 0) {
        n += snprintf(to + n, VALUE_TEXT_MAX - (size_t)n, ".%09lld", (long long)nano);
        n -= nano % 1000000 == 0 ? 6 : nano % 1000 == 0 ? 3 : 0;
    }
    return (uint32_t)n;
}

static enum format_rc format_string(struct format_run *x, const struct format *f,
                                    const struct sr_column *c, uint32_t i)
{
    char text[VALUE_TEXT_MAX];
    uint32_t len;
    int64_t v;
    if (sr_is_text(c->type.kind)) {
        const char *s = call_get(x->k, i, x->row, &len);
        return format_text(x, f, s, len);
    }
    if (c->type.kind == SR_BOOLEAN) {
        bool is_true = ((const uint8_t *)c->values)[x->row] != 0;
        return format_text(x, f, is_true ? "true" : "false", is_true ? 4 : 5);
    }
    if (sr_is_timestamp(c->type.kind)) {
        len = format_instant(instant_get(c, x->row), text);
    } else if (format_integer(c, x->row, &v) > 0) { /* days, milliseconds and months as numbers */
        len = (uint32_t)snprintf(text, sizeof(text), "%lld", (long long)v);
    } else {
        len = value_text(c, x->row, text);
    }
    return format_text(x, f, text, len);
}

static enum format_rc format_hash(struct format_run *x, const struct format *f,
                                  const struct sr_column *c)
{
    char text[16];
    int len = snprintf(text, sizeof(text), "%x", java_hash(c, x->row));
    return format_text(x, f, text, (uint32_t)len);
}

static enum format_rc format_value(struct format_run *x, const struct format *f, uint32_t i)
{
    const struct sr_column *c = x->k->arg[i];
    bool is_there = valid_bit(c->valid, x->row);
    if (f->as == 'b') {
        bool is_false =
            !is_there || (c->type.kind == SR_BOOLEAN && ((const uint8_t *)c->values)[x->row] == 0);
        return format_text(x, f, is_false ? "false" : "true", is_false ? 5 : 4);
    }
    if (!is_there) {
        return format_text(x, f, "null", 4);
    }
    switch (f->as) {
    case 's':
        return format_string(x, f, c, i);
    case 'c':
        return format_char(x, f, c);
    case 'h':
        return format_hash(x, f, c);
    case 'a':
    case 'e':
    case 'f':
    case 'g':
        return format_float(x, f, c);
    default:
        return format_int(x, f, c);
    }
}

/* --- A row. ----------------------------------------------------------------------------------- */

static enum format_rc format_one(struct format_run *x, const struct format *f)
{
    if (f->as == 't') {
        call_fail(x->k, x->row, "PRINTF does not know %%t: DATE_FORMAT writes dates");
        return FORMAT_TOLD;
    }
    if (!format_fits(f)) {
        return FORMAT_NULL;
    }
    if (f->width > (int64_t)CALL_TEXT_MAX || f->precision > (int64_t)CALL_TEXT_MAX) {
        call_fail(x->k, x->row, "the text would be longer than %u bytes", CALL_TEXT_MAX);
        return FORMAT_TOLD;
    }
    if (f->as == '%' || f->as == 'n') {
        return format_text(x, f, f->as == 'n' ? "\n" : "%", 1);
    }
    x->last = f->flags & FORMAT_AGAIN ? x->last : f->index > 0 ? f->index : ++x->next;
    if (x->last == 0 || x->last >= x->k->args) {
        return FORMAT_NULL;
    }
    x->body.len = 0;
    return format_value(x, f, x->last);
}

static enum format_rc format_row(struct format_run *x, const char *s, const char *end)
{
    enum format_rc rc = FORMAT_OK;
    x->out.len = x->next = x->last = 0;
    while (s < end && rc == FORMAT_OK) {
        const char *at = memchr(s, '%', (size_t)(end - s));
        json_put(&x->out, s, (size_t)((at ? at : end) - s));
        s = at ? at + 1 : end;
        struct format f;
        if (at) {
            rc = format_read(&s, end, &f) && f.as != '\0' ? format_one(x, &f) : FORMAT_NULL;
        }
        if (rc == FORMAT_OK && x->out.len > CALL_TEXT_MAX) {
            call_fail(x->k, x->row, "the text would be longer than %u bytes", CALL_TEXT_MAX);
            rc = FORMAT_TOLD;
        }
    }
    return rc;
}

static void format_rows(struct call *k)
{
    struct format_run *x = k->state;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        x->k = k;
        x->row = r;
        bool is_there = valid_bit(k->arg[0]->valid, r);
        enum format_rc rc = is_there ? format_row(x, s, s + len) : FORMAT_NULL;
        if (x->out.is_broken || x->body.is_broken) {
            call_broken(k, SR_ENOMEM);
        } else if (rc == FORMAT_OK) {
            call_text(k, r, x->out.bytes ? x->out.bytes : "", x->out.len);
        } else if (rc == FORMAT_NULL) {
            call_null(k, r);
        }
    }
}

static sr_rc format_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    (void)e;
    *state = calloc(1, sizeof(struct format_run));
    return *state ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

static void format_release(void *state)
{
    struct format_run *x = state;
    if (x) {
        json_out_done(&x->out);
        json_out_done(&x->body);
        free(x);
    }
}
static const struct kernel format_k = {.run = format_rows,
                                       .flags = KERNEL_FAILS | KERNEL_NULLS,
                                       .prepare = format_prepare,
                                       .release = format_release};

static bool format_bind(struct bind_call *b)
{
    struct sr_type none = type_of(SR_INT);
    for (uint32_t i = 1; i < b->args; i++) {
        const struct sr_type *t = &b->arg[i]->type;
        if (sr_is_nested(t->kind) || sr_is_bytes(t->kind)) {
            return bind_fails(b, "PRINTF does not take %s: CAST it to STRING",
                              type_text(b->arena, t));
        }
        if (t->kind == SR_VARIANT) { /* its JSON */
            b->arg[i] = bind_sub(b, "JSON_STRING", &b->arg[i], 1);
        }
        if (b->arg[i] && b->arg[i]->type.kind == SR_NULL) {
            b->arg[i] = expr_cast(b->arena, b->arg[i], &none, false, b->err);
        }
        if (!b->arg[i]) {
            b->is_said = true;
            return false;
        }
    }
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), true);
    b->kernel = &format_k;
    return sr_is_string(b->arg[0]->type.kind);
}

static const struct func printf_funcs[] = {
    {.name = "PRINTF",
     .family = "text",
     .bind = format_bind,
     .min = 1,
     .max = CALL_ARGS_MAX,
     .forms = "PRINTF(format STRING, value, ...) -> STRING",
     .doc = "The format with the values in place of %d, %s and the like, by the rules of Java's "
            "String.format but for %t; NULL where Java has no answer."},
};

const struct func_family func_printf = {printf_funcs,
                                        sizeof(printf_funcs) / sizeof(printf_funcs[0])};
