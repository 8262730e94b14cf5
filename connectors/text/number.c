#include "connectors/text/number.h"

#include <endian.h>
#include <string.h>

static inline bool number_is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* Four to eight digits at once, without a branch a digit. False: not all are digits. The text is
 * read as its first and its last four characters, which overlap where they are fewer than eight. */
static inline bool number_get_short(const char *s, uint32_t digits, uint64_t *out)
{
    uint32_t first, last;
    memcpy(&first, s, sizeof(first));
    memcpy(&last, s + digits - 4, sizeof(last));
    first = le32toh(first) ^ 0x30303030u;
    last = le32toh(last) ^ 0x30303030u;
    uint32_t odd = (first + 0x76767676u) | first | (last + 0x76767676u) | last;
    if ((odd & 0x80808080u) != 0) {
        return false; /* some byte is over 9 */
    }
    uint64_t w = (uint64_t)last << 32 | (uint32_t)((uint64_t)first << 8 * (8 - digits));
    w = w * 10 + (w >> 8); /* pairs of digits, in every second byte */
    uint64_t even = (w & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064);
    uint64_t rest = (w >> 16 & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001);
    *out = (even + rest) >> 32;
    return true;
}

/* Digits alone, at most 18 of them, so that nothing can overflow. */
static inline bool number_get_plain(const char *s, uint32_t digits, uint64_t *out)
{
    if (digits >= 4 && digits <= 8) {
        return number_get_short(s, digits, out);
    }
    uint64_t v = 0;
    for (uint32_t i = 0; i < digits; i++) {
        if (!number_is_digit(s[i])) {
            return false;
        }
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    *out = v;
    return true;
}

/* Any number of digits. */
static enum number_rc number_get_long(const char *s, uint32_t digits, bool is_negative,
                                      uint64_t *out)
{
    uint64_t v = 0;
    bool is_large = false;
    for (uint32_t i = 0; i < digits; i++) {
        if (!number_is_digit(s[i])) {
            return NUMBER_BAD;
        }
        is_large |= __builtin_mul_overflow(v, UINT64_C(10), &v);
        is_large |= __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v);
    }
    *out = v;
    uint64_t limit = (uint64_t)INT64_MAX + (is_negative ? 1 : 0);
    return is_large || v > limit ? NUMBER_RANGE : NUMBER_OK;
}

enum number_rc number_get_i64(const char *s, uint32_t len, int64_t *out)
{
    bool is_negative = len > 0 && s[0] == '-';
    uint32_t sign = len > 0 && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    uint32_t digits = len - sign;
    uint64_t v = 0;
    if (digits == 0) {
        return NUMBER_BAD;
    }
    enum number_rc rc = NUMBER_OK;
    if (digits <= 18) {
        rc = number_get_plain(s + sign, digits, &v) ? NUMBER_OK : NUMBER_BAD;
    } else {
        rc = number_get_long(s + sign, digits, is_negative, &v);
    }
    if (rc == NUMBER_OK) {
        *out = (int64_t)(is_negative ? 0 - v : v);
    }
    return rc;
}

/* A decimal text taken apart: the digits lie in two runs, around the point. */
struct number_parts {
    bool is_negative;
    const char *whole, *fraction;
    uint32_t wholes, fractions;
    int64_t exponent; /* limited to +-NUMBER_EXPONENT_MAX */
};

#define NUMBER_EXPONENT_MAX INT64_C(1000000000000)

static bool number_take_exponent(const char *s, uint32_t len, int64_t *out)
{
    uint32_t i = 0;
    bool is_negative = len > 0 && s[0] == '-';
    if (len > 0 && (s[0] == '-' || s[0] == '+')) {
        i = 1;
    }
    if (i == len) {
        return false;
    }
    int64_t v = 0;
    for (; i < len; i++) {
        if (!number_is_digit(s[i])) {
            return false;
        }
        v = v < NUMBER_EXPONENT_MAX / 10 ? v * 10 + (s[i] - '0') : NUMBER_EXPONENT_MAX;
    }
    *out = is_negative ? -v : v;
    return true;
}

static uint32_t number_run(const char *s, uint32_t from, uint32_t len)
{
    uint32_t i = from;
    while (i < len && number_is_digit(s[i])) {
        i++;
    }
    return i - from;
}

static bool number_take_apart(const char *s, uint32_t len, struct number_parts *p)
{
    *p = (struct number_parts){.is_negative = len > 0 && s[0] == '-'};
    uint32_t i = len > 0 && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    p->whole = s + i;
    p->wholes = number_run(s, i, len);
    i += p->wholes;
    if (i < len && s[i] == '.') {
        i++;
        p->fraction = s + i;
        p->fractions = number_run(s, i, len);
        i += p->fractions;
    }
    if (p->wholes + p->fractions == 0) {
        return false;
    }
    if (i == len) {
        return true;
    }
    return (s[i] == 'e' || s[i] == 'E') &&
           number_take_exponent(s + i + 1, len - i - 1, &p->exponent);
}

static inline int number_digit(const struct number_parts *p, uint32_t i)
{
    return (i < p->wholes ? p->whole[i] : p->fraction[i - p->wholes]) - '0';
}

/* The value times 10^scale, cut towards zero; what was cut is told in *rest: 0 nothing, 1 less than
 * a half, 2 a half or more. False: more than 38 digits. */
static bool number_scale(const struct number_parts *p, int32_t scale, __int128 *out, int *rest)
{
    uint32_t count = p->wholes + p->fractions;
    uint32_t first = 0; /* that is not a zero */
    while (first < count && number_digit(p, first) == 0) {
        first++;
    }
    *out = 0;
    *rest = 0;
    if (first == count) {
        return true;
    }
    /* Digits from the first on that stand before the cut; may be none, or more than there are. */
    int64_t keep = (int64_t)p->wholes - first + p->exponent + scale;
    if (keep > SR_DECIMAL_MAX) {
        return false;
    }
    __int128 v = 0;
    for (int64_t k = 0; k < keep; k++) {
        int64_t at = (int64_t)first + k;
        v = v * 10 + (at < count ? number_digit(p, (uint32_t)at) : 0);
    }
    int64_t cut = (int64_t)first + (keep > 0 ? keep : 0);
    for (int64_t at = cut; at < count && *rest == 0; at++) {
        *rest = number_digit(p, (uint32_t)at) != 0 ? 1 : 0;
    }
    if (keep >= 0 && cut < count && number_digit(p, (uint32_t)cut) >= 5) {
        *rest = 2;
    }
    *out = v;
    return true;
}

enum number_rc number_get_integral(const char *s, uint32_t len, int64_t *out)
{
    enum number_rc rc = number_get_i64(s, len, out);
    if (rc != NUMBER_BAD) {
        return rc;
    }
    struct number_parts p;
    __int128 v = 0;
    int rest = 0;
    if (!number_take_apart(s, len, &p)) {
        return NUMBER_BAD;
    }
    if (!number_scale(&p, 0, &v, &rest)) {
        return NUMBER_RANGE;
    }
    if (rest != 0) {
        return NUMBER_INEXACT;
    }
    v = p.is_negative ? -v : v;
    if (v < INT64_MIN || v > INT64_MAX) {
        return NUMBER_RANGE;
    }
    *out = (int64_t)v;
    return NUMBER_OK;
}

static __int128 number_power(int32_t exponent)
{
    __int128 v = 1;
    for (int32_t i = 0; i < exponent; i++) {
        v *= 10;
    }
    return v;
}

enum number_rc number_get_decimal(const char *s, uint32_t len, int32_t precision, int32_t scale,
                                  __int128 *out)
{
    struct number_parts p;
    __int128 v = 0;
    int rest = 0;
    if (!number_take_apart(s, len, &p)) {
        return NUMBER_BAD;
    }
    if (!number_scale(&p, scale, &v, &rest)) {
        return NUMBER_RANGE;
    }
    v += rest == 2 ? 1 : 0;
    if (v >= number_power(precision)) {
        return NUMBER_RANGE;
    }
    *out = p.is_negative ? -v : v;
    return NUMBER_OK;
}

/* Two digits at a time: half the divisions. */
static const char number_pairs[] = "00010203040506070809101112131415161718192021222324"
                                   "25262728293031323334353637383940414243444546474849"
                                   "50515253545556575859606162636465666768697071727374"
                                   "75767778798081828384858687888990919293949596979899";

uint32_t number_put_i64(char *to, int64_t v)
{
    char digits[20];
    char *p = digits + sizeof(digits);
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    while (u >= 100) {
        p -= 2;
        memcpy(p, number_pairs + 2 * (u % 100), 2);
        u /= 100;
    }
    if (u >= 10) {
        p -= 2;
        memcpy(p, number_pairs + 2 * u, 2);
    } else {
        *--p = (char)('0' + u);
    }
    uint32_t len = 0;
    if (v < 0) {
        to[len++] = '-';
    }
    uint32_t n = (uint32_t)(digits + sizeof(digits) - p);
    memcpy(to + len, p, n);
    return len + n;
}

/* Digits of v, without sign, the most significant one first. */
static uint32_t number_digits(char digits[40], __int128 v)
{
    unsigned __int128 u = v < 0 ? 0 - (unsigned __int128)v : (unsigned __int128)v;
    char back[40];
    uint32_t n = 0;
    do {
        back[n++] = (char)('0' + (int)(u % 10));
        u /= 10;
    } while (u > 0 && n < sizeof(back));
    for (uint32_t i = 0; i < n; i++) {
        digits[i] = back[n - 1 - i];
    }
    return n;
}

uint32_t number_put_decimal(char *to, __int128 unscaled, int32_t scale)
{
    char digits[40];
    uint32_t n = number_digits(digits, unscaled);
    uint32_t behind = (uint32_t)scale;
    uint32_t len = 0;
    if (unscaled < 0) {
        to[len++] = '-';
    }
    if (n <= behind) {
        to[len++] = '0';
    }
    for (uint32_t i = 0; i + behind < n; i++) {
        to[len++] = digits[i];
    }
    if (behind == 0) {
        return len;
    }
    to[len++] = '.';
    for (uint32_t i = behind; i > n; i--) {
        to[len++] = '0';
    }
    for (uint32_t i = n > behind ? n - behind : 0; i < n; i++) {
        to[len++] = digits[i];
    }
    return len;
}

uint32_t number_put_stripped(char *to, __int128 unscaled, int32_t scale, bool is_plain)
{
    if (unscaled == 0) {
        to[0] = '0';
        return 1;
    }
    while (unscaled % 10 == 0 && (!is_plain || scale > 0)) {
        unscaled /= 10;
        scale--;
    }
    char digits[40];
    uint32_t n = number_digits(digits, unscaled);
    int32_t exponent = (int32_t)n - 1 - scale; /* of the first digit */
    if (is_plain || (scale >= 0 && exponent >= -6)) {
        return number_put_decimal(to, unscaled, scale);
    }
    uint32_t len = 0;
    if (unscaled < 0) {
        to[len++] = '-';
    }
    to[len++] = digits[0];
    if (n > 1) {
        to[len++] = '.';
        memcpy(to + len, digits + 1, n - 1);
        len += n - 1;
    }
    to[len++] = 'E';
    if (exponent > 0) {
        to[len++] = '+';
    }
    return len + number_put_i64(to + len, exponent);
}
