#include "connectors/text/base64.h"

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(char *to, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i += 3) {
        uint32_t left = len - i;
        uint32_t v = (uint32_t)bytes[i] << 16;
        v |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        v |= left > 2 ? (uint32_t)bytes[i + 2] : 0;
        *to++ = base64_digits[v >> 18];
        *to++ = base64_digits[v >> 12 & 63];
        *to++ = (char)(left > 1 ? base64_digits[v >> 6 & 63] : '=');
        *to++ = (char)(left > 2 ? base64_digits[v & 63] : '=');
    }
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == '+') {
        return 62;
    }
    return c == '/' ? 63 : -1;
}

bool base64_get(const char *s, uint32_t len, uint8_t *to, uint32_t *size)
{
    while (len > 0 && s[len - 1] == '=' && len % 4 != 1) {
        len--; /* "==" or "=" of the last group */
    }
    if (len % 4 == 1) {
        return false;
    }
    uint32_t n = 0;
    uint32_t v = 0;
    for (uint32_t i = 0; i < len; i++) {
        int digit = base64_value(s[i]);
        if (digit < 0) {
            return false;
        }
        v = v << 6 | (uint32_t)digit;
        if (i % 4 != 0) {
            to[n++] = (uint8_t)(v >> (6 - 2 * (i % 4)));
        }
    }
    *size = n;
    return true;
}
