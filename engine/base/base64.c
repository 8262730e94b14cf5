#include "engine/base/base64.h"

static const char base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(char *to, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= left > 2 ? (uint32_t)bytes[i + 2] : 0;
        *to++ = base64_letters[group >> 18];
        *to++ = base64_letters[group >> 12 & 63];
        *to++ = (char)(left > 1 ? base64_letters[group >> 6 & 63] : '=');
        *to++ = (char)(left > 2 ? base64_letters[group & 63] : '=');
    }
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

bool base64_read(const char *text, size_t len, uint8_t *to, size_t *size)
{
    if (len % 4 != 0) return false;
    size_t pads = 0;
    while (pads < 2 && pads < len && text[len - 1 - pads] == '=') {
        pads++;
    }
    size_t bytes = 0;
    uint32_t group = 0;
    for (size_t i = 0; i < len - pads; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0) return false;
        group = group << 6 | (uint32_t)digit;
        if (i % 4 != 0) to[bytes++] = (uint8_t)(group >> (6 - 2 * (i % 4)));
    }
    *size = bytes;
    return true;
}
