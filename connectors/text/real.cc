#include "connectors/text/real.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace
{

/* "d.ddde+XX" of to_chars to Java's form: plain from 1e-3 up to 1e7, else with an exponent. */
uint32_t real_layout(char *to, const char *digits, uint32_t n, int exponent, bool is_negative)
{
    uint32_t len = 0;
    if (is_negative) {
        to[len++] = '-';
    }
    if (exponent >= -3 && exponent < 7) {
        int point = exponent + 1; /* digits before the point */
        if (point <= 0) {
            to[len++] = '0';
            to[len++] = '.';
            for (int i = point; i < 0; i++) {
                to[len++] = '0';
            }
            std::memcpy(to + len, digits, n);
            return len + n;
        }
        for (int i = 0; i < point; i++) {
            to[len++] = static_cast<uint32_t>(i) < n ? digits[i] : '0';
        }
        to[len++] = '.';
        if (n <= static_cast<uint32_t>(point)) {
            to[len++] = '0';
            return len;
        }
        uint32_t rest = n - static_cast<uint32_t>(point);
        std::memcpy(to + len, digits + point, rest);
        return len + rest;
    }
    to[len++] = digits[0];
    to[len++] = '.';
    if (n == 1) {
        to[len++] = '0';
    }
    std::memcpy(to + len, digits + 1, n - 1);
    len += n - 1;
    to[len++] = 'E';
    auto r = std::to_chars(to + len, to + REAL_TEXT_MAX, exponent);
    return static_cast<uint32_t>(r.ptr - to);
}

uint32_t real_put_word(char *to, const char *word)
{
    return static_cast<uint32_t>(std::copy_n(word, std::strlen(word), to) - to);
}

template <typename T> uint32_t real_put(char *to, T v)
{
    if (std::isnan(v)) {
        return real_put_word(to, "NaN");
    }
    if (std::isinf(v)) {
        return real_put_word(to, v < 0 ? "-Infinity" : "Infinity");
    }
    if (v == 0) {
        return real_put_word(to, std::signbit(v) ? "-0.0" : "0.0");
    }
    char text[40];
    auto r = std::to_chars(text, text + sizeof(text), std::fabs(v), std::chars_format::scientific);
    char digits[40];
    uint32_t n = 0;
    const char *p = text;
    for (; p < r.ptr && *p != 'e'; p++) {
        if (*p != '.') {
            digits[n++] = *p;
        }
    }
    int exponent = 0;
    p += p + 1 < r.ptr && p[1] == '+' ? 2 : 1;
    std::from_chars(p, r.ptr, exponent);
    return real_layout(to, digits, n, exponent, std::signbit(v));
}

bool real_is(const char *s, const char *end, const char *word)
{
    return static_cast<size_t>(end - s) == std::strlen(word) &&
           std::memcmp(s, word, std::strlen(word)) == 0;
}

/* Of a text that from_chars found out of range: too large, or too close to 0? */
bool real_is_large(const char *s, const char *end)
{
    long point = 0; /* digits between the first that is not 0 and the point; negative behind it */
    bool is_begun = false;
    bool is_behind = false;
    for (; s < end && *s != 'e' && *s != 'E'; s++) {
        if (*s == '.') {
            is_behind = true;
            continue;
        }
        is_begun = is_begun || *s != '0';
        if (is_begun && !is_behind) {
            point++;
        } else if (!is_begun && is_behind) {
            point--;
        }
    }
    if (s == end) {
        return point > 0;
    }
    s++;
    bool is_negative = s < end && *s == '-';
    s += s < end && (*s == '-' || *s == '+') ? 1 : 0;
    long exponent = 0;
    for (; s < end && exponent < 100000000; s++) {
        exponent = exponent * 10 + (*s - '0');
    }
    return point + (is_negative ? -exponent : exponent) > 0;
}

/* The values that have no digits. False: s is none of their words. */
template <typename T> bool real_get_word(const char *s, const char *end, bool is_negative, T *out)
{
    if (real_is(s, end, "NaN")) {
        *out = std::numeric_limits<T>::quiet_NaN();
        return true;
    }
    if (real_is(s, end, "Infinity")) {
        T v = std::numeric_limits<T>::infinity();
        *out = is_negative ? -v : v;
        return true;
    }
    return false;
}

template <typename T> real_rc real_get(const char *s, uint32_t len, T *out)
{
    const char *end = s + len;
    bool is_negative = len > 0 && *s == '-';
    if (len > 0 && (*s == '-' || *s == '+')) {
        s++;
    }
    if (s == end) {
        return REAL_BAD;
    }
    if (real_get_word(s, end, is_negative, out)) {
        return REAL_OK;
    }
    /* from_chars also takes words and a second sign; Java does not. */
    if ((*s < '0' || *s > '9') && *s != '.') {
        return REAL_BAD;
    }
    char last = end[-1];
    if (last == 'd' || last == 'D' || last == 'f' || last == 'F') {
        end--;
    }
    T v = 0;
    auto r = std::from_chars(s, end, v);
    if (r.ptr != end || r.ec == std::errc::invalid_argument) {
        return REAL_BAD;
    }
    if (r.ec == std::errc::result_out_of_range) {
        if (real_is_large(s, end)) {
            return REAL_RANGE;
        }
        v = 0;
    }
    *out = is_negative ? -v : v;
    return std::isinf(v) ? REAL_RANGE : REAL_OK;
}

} // namespace

extern "C" uint32_t real_put_f64(char *to, double v) { return real_put(to, v); }

extern "C" uint32_t real_put_f32(char *to, float v) { return real_put(to, v); }

extern "C" enum real_rc real_get_f64(const char *s, uint32_t len, double *out)
{
    return real_get(s, len, out);
}

extern "C" enum real_rc real_get_f32(const char *s, uint32_t len, float *out)
{
    return real_get(s, len, out);
}
