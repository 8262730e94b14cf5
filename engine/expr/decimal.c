#include "engine/expr/decimal.h"

#include <math.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/expr/kernel.h"
#include "engine/expr/number.h"

#define DECIMAL_19 UINT64_C(10000000000000000000)

static const uint64_t decimal_small[20] = {UINT64_C(1),
                                           UINT64_C(10),
                                           UINT64_C(100),
                                           UINT64_C(1000),
                                           UINT64_C(10000),
                                           UINT64_C(100000),
                                           UINT64_C(1000000),
                                           UINT64_C(10000000),
                                           UINT64_C(100000000),
                                           UINT64_C(1000000000),
                                           UINT64_C(10000000000),
                                           UINT64_C(100000000000),
                                           UINT64_C(1000000000000),
                                           UINT64_C(10000000000000),
                                           UINT64_C(100000000000000),
                                           UINT64_C(1000000000000000),
                                           UINT64_C(10000000000000000),
                                           UINT64_C(100000000000000000),
                                           UINT64_C(1000000000000000000),
                                           DECIMAL_19};

decimal decimal_power(int32_t n)
{
    sr_assert_hot(n >= 0 && n <= DECIMAL_DIGITS_MAX);
    return n < 20 ? (decimal)decimal_small[n]
                  : (decimal)((udecimal)DECIMAL_19 * (udecimal)decimal_small[n - 19]);
}

/* --- 256 bits, for products and quotients that 128 do not hold. ------------------------------- */

struct huge {
    udecimal low, high;
};

static udecimal decimal_abs(decimal v) { return v < 0 ? (udecimal)0 - (udecimal)v : (udecimal)v; }

static struct huge huge_product(udecimal a, udecimal b)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    udecimal low = (udecimal)a0 * b0, m1 = (udecimal)a0 * b1, m2 = (udecimal)a1 * b0;
    udecimal mid = (low >> 64) + (uint64_t)m1 + (uint64_t)m2;
    struct huge h;
    h.low = (mid << 64) | (uint64_t)low;
    h.high = (udecimal)a1 * b1 + (m1 >> 64) + (m2 >> 64) + (mid >> 64);
    return h;
}

/* h * m; false: over 256 bits. */
static bool huge_times(struct huge *h, udecimal m)
{
    struct huge low = huge_product(h->low, m), high = huge_product(h->high, m);
    if (high.high != 0) {
        return false;
    }
    h->low = low.low;
    return !__builtin_add_overflow(low.high, high.low, &h->high);
}

/* h * 10^n; false: over 256 bits. */
static bool huge_raise(struct huge *h, int32_t n)
{
    while (n > 0) {
        int32_t step = n > DECIMAL_DIGITS_MAX ? DECIMAL_DIGITS_MAX : n;
        if (!huge_times(h, (udecimal)decimal_power(step))) {
            return h->low == 0 && h->high == 0;
        }
        n -= step;
    }
    return true;
}

static bool huge_less(struct huge a, struct huge b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static struct huge huge_minus(struct huge a, struct huge b)
{
    struct huge r = {a.low - b.low, a.high - b.high - (a.low < b.low ? 1 : 0)};
    return r;
}

static struct huge huge_double(struct huge h, unsigned bit)
{
    struct huge r = {(h.low << 1) | bit, (h.high << 1) | (h.low >> 127)};
    return r;
}

/* a / b bit by bit: seldom needed, so simple. Both are below 2^255, so doubling loses nothing. */
static struct huge huge_divide(struct huge a, struct huge b, struct huge *rest)
{
    struct huge q = {0, 0}, r = {0, 0};
    if (a.high == 0 && b.high == 0) {
        q.low = a.low / b.low;
        r.low = a.low % b.low;
        *rest = r;
        return q;
    }
    for (int i = 255; i >= 0; i--) {
        unsigned bit = (unsigned)((i >= 128 ? a.high >> (i - 128) : a.low >> i) & 1);
        r = huge_double(r, bit);
        q = huge_double(q, 0);
        if (!huge_less(r, b)) {
            r = huge_minus(r, b);
            q.low |= 1;
        }
    }
    *rest = r;
    return q;
}

/* a / b rounded half up, with a sign; false: more than 38 digits. */
static bool huge_round(struct huge a, struct huge b, bool is_negative, decimal *out)
{
    struct huge rest;
    struct huge q = huge_divide(a, b, &rest);
    if (!huge_less(huge_double(rest, 0), b)) {
        q.low++;
        q.high += q.low == 0;
    }
    if (q.high != 0 || q.low >= (udecimal)decimal_power(DECIMAL_DIGITS_MAX)) {
        return false;
    }
    *out = is_negative ? -(decimal)q.low : (decimal)q.low;
    return true;
}

/* --- Arithmetic. ------------------------------------------------------------------------------ */

static struct huge huge_of(udecimal v)
{
    struct huge h = {v, 0};
    return h;
}

bool decimal_rescale(decimal v, int32_t from, int32_t to, decimal *out)
{
    if (to == from) {
        *out = v;
        return decimal_fits(v, DECIMAL_DIGITS_MAX);
    }
    if (to > from) {
        decimal r;
        if ((int64_t)to - from > DECIMAL_DIGITS_MAX) {
            *out = 0;
            return v == 0;
        }
        if (__builtin_mul_overflow(v, decimal_power(to - from), &r) ||
            !decimal_fits(r, DECIMAL_DIGITS_MAX)) {
            return false;
        }
        *out = r;
        return true;
    }
    if ((int64_t)from - to > DECIMAL_DIGITS_MAX) {
        *out = 0;
        return true;
    }
    decimal by = decimal_power(from - to), q = v / by, rest = v % by;
    decimal far = rest < 0 ? -rest : rest;
    if (far >= by - far) {
        q += v < 0 ? -1 : 1;
    }
    *out = q;
    return true;
}

static bool decimal_add_huge(decimal a, int32_t sa, decimal b, int32_t sb, int32_t to, decimal *out)
{
    int32_t scale = sa > sb ? sa : sb;
    struct huge x = huge_of(decimal_abs(a)), y = huge_of(decimal_abs(b)), by = huge_of(1), sum;
    /* At most 76 digits: that fits 253 bits. */
    (void)huge_raise(&x, scale - sa);
    (void)huge_raise(&y, scale - sb);
    (void)huge_raise(&by, scale - to);
    bool is_negative = a < 0;
    if ((a < 0) == (b < 0)) {
        sum.low = x.low + y.low;
        sum.high = x.high + y.high + (sum.low < x.low ? 1 : 0);
    } else if (huge_less(x, y)) {
        sum = huge_minus(y, x);
        is_negative = b < 0;
    } else {
        sum = huge_minus(x, y);
    }
    return huge_round(sum, by, is_negative, out);
}

bool decimal_add(decimal a, int32_t sa, decimal b, int32_t sb, int32_t to, decimal *out)
{
    int32_t scale = sa > sb ? sa : sb;
    decimal x, y, sum; /* two of 38 digits may be beyond 2^127 */
    if (decimal_rescale(a, sa, scale, &x) && decimal_rescale(b, sb, scale, &y) &&
        !__builtin_add_overflow(x, y, &sum)) {
        return decimal_rescale(sum, scale, to, out);
    }
    return decimal_add_huge(a, sa, b, sb, to, out);
}

bool decimal_multiply(decimal a, decimal b, int32_t from, int32_t to, decimal *out)
{
    decimal r;
    if (!__builtin_mul_overflow(a, b, &r)) {
        return decimal_rescale(r, from, to, out) && decimal_fits(*out, DECIMAL_DIGITS_MAX);
    }
    struct huge h = huge_product(decimal_abs(a), decimal_abs(b));
    struct huge by = huge_of(1);
    return huge_raise(&by, from > to ? from - to : 0) &&
           huge_raise(&h, to > from ? to - from : 0) && huge_round(h, by, (a < 0) != (b < 0), out);
}

bool decimal_divide(decimal a, int32_t sa, decimal b, int32_t sb, int32_t to, decimal *out)
{
    int32_t raise = to - sa + sb;
    struct huge x = huge_of(decimal_abs(a)), y = huge_of(decimal_abs(b));
    return huge_raise(&x, raise > 0 ? raise : 0) && huge_raise(&y, raise < 0 ? -raise : 0) &&
           huge_round(x, y, (a < 0) != (b < 0), out);
}

bool decimal_modulo(decimal a, int32_t sa, decimal b, int32_t sb, decimal *out)
{
    struct huge x = huge_of(decimal_abs(a)), y = huge_of(decimal_abs(b)), rest;
    int32_t scale = sa > sb ? sa : sb;
    if (!huge_raise(&x, scale - sa) || !huge_raise(&y, scale - sb)) {
        return false;
    }
    (void)huge_divide(x, y, &rest);
    if (rest.high != 0 || rest.low >= (udecimal)decimal_power(DECIMAL_DIGITS_MAX)) {
        return false;
    }
    *out = a < 0 ? -(decimal)rest.low : (decimal)rest.low;
    return true;
}

int decimal_compare(decimal a, int32_t sa, decimal b, int32_t sb)
{
    if ((a < 0) != (b < 0)) {
        return a < 0 ? -1 : 1;
    }
    int32_t scale = sa > sb ? sa : sb;
    decimal u, v;
    if (!__builtin_mul_overflow(a, decimal_power(scale - sa), &u) &&
        !__builtin_mul_overflow(b, decimal_power(scale - sb), &v)) {
        return u < v ? -1 : u > v ? 1 : 0;
    }
    struct huge x = huge_of(decimal_abs(a)), y = huge_of(decimal_abs(b));
    /* At most 38 digits more: that fits 256 bits. */
    (void)huge_raise(&x, scale - sa);
    (void)huge_raise(&y, scale - sb);
    int order = huge_less(x, y) ? -1 : huge_less(y, x) ? 1 : 0;
    return a < 0 ? -order : order;
}

/* --- Text. ------------------------------------------------------------------------------------ */

/* Digits of v backwards, `pad` of them at least; answers how many. */
static int32_t decimal_digits(uint64_t v, int32_t pad, char *to)
{
    int32_t n = 0;
    for (; v > 0 || n < pad; v /= 10) {
        to[n++] = (char)('0' + (int)(v % 10));
    }
    return n;
}

uint32_t decimal_text(decimal v, int32_t scale, char *to)
{
    char digits[DECIMAL_TEXT_MAX];
    int32_t n = 0;
    udecimal u = decimal_abs(v);
    while (u > UINT64_MAX) { /* 19 digits at a time: few divisions of 128 bits */
        n += decimal_digits((uint64_t)(u % DECIMAL_19), 19, digits + n);
        u /= DECIMAL_19;
    }
    n += decimal_digits((uint64_t)u, scale + 1 - n, digits + n);
    uint32_t at = 0;
    if (v < 0) {
        to[at++] = '-';
    }
    while (n > 0) {
        to[at++] = digits[--n];
        if (n == scale && n > 0) {
            to[at++] = '.';
        }
    }
    return at;
}

static bool decimal_is_digit(char c) { return c >= '0' && c <= '9'; }

/* The exponent at s[*i]; false: not one. Cut to +-1000, which is beyond any DECIMAL. */
static bool decimal_exponent(const char *s, uint32_t len, uint32_t *i, int32_t *out)
{
    uint32_t at = *i;
    bool is_negative = at < len && s[at] == '-';
    at += at < len && (s[at] == '-' || s[at] == '+') ? 1 : 0;
    if (at >= len && at > *i) { /* a sign and nothing; without one, the exponent is 0 */
        return false;
    }
    int32_t e = 0;
    for (; at < len && decimal_is_digit(s[at]); at++) {
        e = e < 1000 ? e * 10 + (s[at] - '0') : e;
    }
    *i = at;
    *out = is_negative ? -e : e;
    return true;
}

/* Digits as written, up to 38 significant ones; then whether the rest rounds up. */
struct decimal_scan {
    udecimal digits;
    int32_t count; /* significant digits taken */
    int32_t point; /* digits behind the point among those taken, less those dropped before it */
    bool is_half;  /* the first digit dropped is 5 or more */
    bool has_dropped, has_digit; /* has_digit: or a point */
};

static void decimal_scan_digit(struct decimal_scan *d, char c, bool is_behind)
{
    d->has_digit = true;
    if (d->count >= DECIMAL_DIGITS_MAX) {
        d->is_half = d->has_dropped ? d->is_half : c >= '5';
        d->has_dropped = true;
        d->point -= is_behind ? 0 : 1;
        return;
    }
    d->digits = d->digits * 10 + (unsigned)(c - '0');
    d->count += d->digits > 0 ? 1 : 0;
    d->point += is_behind ? 1 : 0;
}

/* Digits and a point from s[i] on; answers where they end. */
static uint32_t decimal_scan_run(struct decimal_scan *d, const char *s, uint32_t len, uint32_t i)
{
    bool is_behind = false;
    for (; i < len && (decimal_is_digit(s[i]) || (s[i] == '.' && !is_behind)); i++) {
        if (s[i] == '.') {
            is_behind = d->has_digit = true; /* "." is 0, in Flink */
        } else {
            decimal_scan_digit(d, s[i], is_behind);
        }
    }
    return i;
}

bool decimal_parse(const char *s, uint32_t len, int32_t scale, decimal *out, bool *is_number)
{
    struct decimal_scan d = {0};
    bool is_negative = len > 0 && s[0] == '-', is_sound = true;
    int32_t exponent = 0;
    uint32_t i = decimal_scan_run(&d, s, len, len > 0 && (s[0] == '-' || s[0] == '+') ? 1 : 0);
    if (i < len && (s[i] == 'e' || s[i] == 'E')) {
        i++;
        is_sound = decimal_exponent(s, len, &i, &exponent);
    }
    *is_number = is_sound && i == len && d.has_digit;
    if (!*is_number) {
        return false;
    }
    decimal v = (decimal)d.digits;
    int32_t from = d.point - exponent;
    if (from == scale && d.is_half) {
        v++; /* the digits dropped are just those behind the scale */
    }
    if (!decimal_rescale(v, from, scale, &v)) {
        return false;
    }
    *out = is_negative ? -v : v;
    return true;
}

double decimal_to_double(decimal v, int32_t scale)
{
    /* Through the shortest text: one rounding, as java.math.BigDecimal.doubleValue has. */
    if (v > -((decimal)1 << 53) && v < ((decimal)1 << 53) && scale <= 22) {
        static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        return (double)(int64_t)v / powers[scale]; /* both are exact: one rounding */
    }
    char text[DECIMAL_TEXT_MAX];
    double d = 0;
    (void)number_parse_double(text, decimal_text(v, scale, text), &d);
    return d;
}

/* --- Columns. --------------------------------------------------------------------------------- */

#define DECIMAL_LOAD(T, convert)                              \
    do {                                                      \
        const T *from = c->values;                            \
        for (uint32_t i = 0; i < n; i++) {                    \
            to[i] = (decimal)convert(from[sel ? sel[i] : i]); \
        }                                                     \
    } while (0)

void decimal_load(const struct sr_column *c, const uint16_t *sel, uint32_t n, decimal *to)
{
    if (c->type.kind == SR_TINYINT) {
        DECIMAL_LOAD(int8_t, );
    } else if (c->type.kind == SR_SMALLINT) {
        DECIMAL_LOAD(int16_t, );
    } else if (c->type.kind == SR_INT) {
        DECIMAL_LOAD(int32_t, );
    } else if (c->type.kind == SR_BIGINT || c->type.length <= SR_DECIMAL_SMALL) {
        DECIMAL_LOAD(int64_t, );
    } else {
        DECIMAL_LOAD(struct sr_wide, decimal_of_wide);
    }
}

void decimal_store(struct call *k, uint32_t r, bool is_good, decimal v)
{
    const struct sr_type *t = &k->out->type;
    if (!is_good || !decimal_fits(v, t->length)) {
        call_null(k, r);
    } else if (t->length <= SR_DECIMAL_SMALL) {
        ((int64_t *)k->out->values)[r] = (int64_t)v;
    } else {
        ((struct sr_wide *)k->out->values)[r] = decimal_to_wide(v);
    }
}
