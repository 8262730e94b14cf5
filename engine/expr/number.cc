#include "engine/expr/number.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

namespace
{

/* Java's layout of shortest digits: plain from 10^-3 to below 10^7, else with E; always a point. */
template <typename T> uint32_t number_text(T v, char *to)
{
    if (std::isnan(v)) {
        std::memcpy(to, "NaN", 3);
        return 3;
    }
    uint32_t at = 0;
    if (std::signbit(v)) {
        to[at++] = '-';
        v = -v;
    }
    if (std::isinf(v)) {
        std::memcpy(to + at, "Infinity", 8);
        return at + 8;
    }
    if (v == 0) {
        std::memcpy(to + at, "0.0", 3);
        return at + 3;
    }
    char raw[40]; /* d.ddde+xx */
    std::to_chars_result end =
        std::to_chars(raw, raw + sizeof(raw), v, std::chars_format::scientific);
    char digits[24];
    int count = 0, exponent = 0;
    const char *e =
        static_cast<const char *>(std::memchr(raw, 'e', static_cast<size_t>(end.ptr - raw)));
    for (const char *p = raw; p < e; p++) {
        if (*p != '.') {
            digits[count++] = *p;
        }
    }
    (void)std::from_chars(e[1] == '+' ? e + 2 : e + 1, end.ptr, exponent);
    if (exponent >= -3 && exponent < 7) {
        if (exponent < 0) {
            to[at++] = '0';
            to[at++] = '.';
            for (int i = -1; i > exponent; i--) {
                to[at++] = '0';
            }
        }
        for (int i = 0; i < count || i <= exponent + 1; i++) {
            to[at++] = i < count ? digits[i] : '0';
            if (i == exponent) {
                to[at++] = '.';
            }
        }
        return at;
    }
    to[at++] = digits[0];
    to[at++] = '.';
    for (int i = 1; i < count || i < 2; i++) {
        to[at++] = i < count ? digits[i] : '0';
    }
    to[at++] = 'E';
    return static_cast<uint32_t>(std::to_chars(to + at, to + at + 8, exponent).ptr - to);
}

/* What is too large or too small for T: from_chars gives no value then. */
template <typename T> T number_beyond(std::string_view s)
{
    size_t e = s.find_first_of("eEpP");
    bool is_small = e != std::string_view::npos && e + 1 < s.size() && s[e + 1] == '-';
    if (e == std::string_view::npos) { /* a long run of digits: small when it begins with 0 */
        is_small = !s.empty() && (s[0] == '0' || s[0] == '.');
    }
    return is_small ? T(0) : std::numeric_limits<T>::infinity();
}

template <typename T> bool number_parse(const char *text, uint32_t len, T *out)
{
    std::string_view s(text, len);
    while (!s.empty() && static_cast<unsigned char>(s.front()) <= ' ') {
        s.remove_prefix(1);
    }
    while (!s.empty() && static_cast<unsigned char>(s.back()) <= ' ') {
        s.remove_suffix(1);
    }
    bool is_negative = !s.empty() && s.front() == '-';
    if (!s.empty() && (s.front() == '-' || s.front() == '+')) {
        s.remove_prefix(1);
    }
    T v = 0;
    if (s == "NaN" || s == "Infinity") {
        v = s == "NaN" ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
        *out = is_negative ? -v : v;
        return true;
    }
    bool is_hex = s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    if (is_hex) {
        s.remove_prefix(2);
        if (s.find_first_of("pP") == std::string_view::npos) {
            return false;
        }
    }
    if (s.size() > 1 && std::strchr("fFdD", s.back()) != nullptr) {
        s.remove_suffix(1);
    }
    bool begins = !s.empty() && (s[0] == '.' || (s[0] >= '0' && s[0] <= '9') ||
                                 (is_hex && std::strchr("abcdefABCDEF", s[0]) != nullptr));
    if (!begins) {
        return false;
    }
    std::from_chars_result r =
        std::from_chars(s.data(), s.data() + s.size(), v,
                        is_hex ? std::chars_format::hex : std::chars_format::general);
    if (r.ptr != s.data() + s.size() || r.ec == std::errc::invalid_argument) {
        return false;
    }
    if (r.ec == std::errc::result_out_of_range) {
        v = number_beyond<T>(s);
    }
    *out = is_negative ? -v : v;
    return true;
}

} // namespace

uint32_t number_double_text(double v, char *to) { return number_text(v, to); }
uint32_t number_float_text(float v, char *to) { return number_text(v, to); }
bool number_parse_double(const char *s, uint32_t len, double *out)
{
    return number_parse(s, len, out);
}
bool number_parse_float(const char *s, uint32_t len, float *out)
{
    return number_parse(s, len, out);
}
