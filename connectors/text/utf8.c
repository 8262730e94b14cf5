#include "connectors/text/utf8.h"

#include <string.h>

/* Bytes of the character at s, `left` bytes from the end; 0: none begins here. */
static uint32_t utf8_length(const unsigned char *s, uint32_t left)
{
    unsigned char c = s[0];
    if (c < 0x80) {
        return 1;
    }
    uint32_t n = c >= 0xF0 ? 4 : 2;
    n = c >= 0xE0 && c < 0xF0 ? 3 : n;
    if (c < 0xC2 || c > 0xF4 || left < n) {
        return 0;
    }
    /* The second byte has a narrower range behind some leads. */
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    low = c == 0xE0 ? 0xA0 : low;
    low = c == 0xF0 ? 0x90 : low;
    high = c == 0xED ? 0x9F : high;
    high = c == 0xF4 ? 0x8F : high;
    if (s[1] < low || s[1] > high) {
        return 0;
    }
    for (uint32_t i = 2; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return n;
}

uint32_t utf8_valid_prefix(const char *s, uint32_t len)
{
    uint32_t i = 0;
    while (i < len) {
        uint64_t word = 0;
        if (len - i >= 8) {
            memcpy(&word, s + i, 8);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                i += 8;
                continue;
            }
        }
        uint32_t n = utf8_length((const unsigned char *)s + i, len - i);
        if (n == 0) {
            return i;
        }
        i += n;
    }
    return len;
}

uint32_t utf8_put(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3F));
        to[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3F));
    to[2] = (char)(0x80 | (code >> 6 & 0x3F));
    to[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}
