/* Text by characters: UTF-8 code points. Bytes that are no UTF-8 count as one character each lead
 * byte, and never lead out of the text. */
#ifndef SR_EXPR_UTF8_H
#define SR_EXPR_UTF8_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the character at s, by its first byte; at most `left`, which is over 0. */
static inline uint32_t utf8_size(const char *s, uint32_t left)
{
    unsigned char c = (unsigned char)s[0];
    uint32_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return n < left ? n : left;
}

static inline bool utf8_is_plain(const char *s, uint32_t len)
{
    unsigned char any = 0;
    for (uint32_t i = 0; i < len; i++) {
        any |= (unsigned char)s[i];
    }
    return any < 0x80;
}

/* Characters in the text. */
static inline uint32_t utf8_count(const char *s, uint32_t len)
{
    uint32_t n = 0, i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t w;
        memcpy(&w, s + i, sizeof(w));
        if (w & UINT64_C(0x8080808080808080)) {
            break;
        }
        n += 8;
    }
    for (; i < len; i += utf8_size(s + i, len - i)) {
        n++;
    }
    return n;
}

/* Bytes of the first n characters; the whole length when there are fewer. */
static inline uint32_t utf8_skip(const char *s, uint32_t len, uint32_t n)
{
    uint32_t i = 0;
    if (n >= len) {
        return len;
    }
    for (; n >= 8 && i + 8 <= len; i += 8, n -= 8) { /* plain bytes eight at a time */
        uint64_t w;
        memcpy(&w, s + i, sizeof(w));
        if (w & UINT64_C(0x8080808080808080)) {
            break;
        }
    }
    for (; n > 0 && i < len; n--) {
        i += utf8_size(s + i, len - i);
    }
    return i;
}

/* The character, from 1, at which `part` begins, sought from character `from` on; 0: nowhere. */
static inline int32_t utf8_place(const char *s, uint32_t len, const char *part, uint32_t part_len,
                                 int32_t from)
{
    uint32_t start = utf8_skip(s, len, from > 1 ? (uint32_t)from - 1 : 0);
    const char *at = (const char *)memmem(s + start, len - start, part, part_len);
    return at ? (int32_t)utf8_count(s, (uint32_t)(at - s)) + 1 : 0;
}

#endif
