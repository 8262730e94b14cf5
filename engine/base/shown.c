#include "engine/base/shown.h"

#include <string.h>

#include "engine/base/assert.h"

#define SHOWN_MAX  1024u /* bytes of one text */
#define SHOWN_BYTE 4u    /* "\xff" */

/* Is it a sequence that UTF-8 allows: no longer than it must be, no surrogate, none beyond the last
 * character? The first two bytes tell. */
static bool shown_is_allowed(const uint8_t *s)
{
    switch (s[0]) {
    case 0xc2: /* below are control characters */
    case 0xe0:
        return s[1] >= 0xa0;
    case 0xed:
        return s[1] <= 0x9f;
    case 0xf0:
        return s[1] >= 0x90;
    case 0xf4:
        return s[1] <= 0x8f;
    default:
        return true;
    }
}

static uint32_t shown_need(uint8_t first)
{
    if (first < 0xc2 || first > 0xf4) return 0;
    if (first < 0xe0) return 2;
    return first < 0xf0 ? 3 : 4;
}

uint32_t shown_character(const uint8_t *s, size_t len)
{
    if (s[0] < 0x80) return s[0] >= ' ' && s[0] != 0x7f ? 1 : 0;
    uint32_t need = shown_need(s[0]);
    if (need == 0 || need > len) return 0;
    for (uint32_t i = 1; i < need; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    return shown_is_allowed(s) ? need : 0;
}

bool shown_is_utf8(const char *text)
{
    const uint8_t *s = (const uint8_t *)text;
    while (*s) {
        bool is_control = *s < 0x80 || (*s == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0);
        uint32_t wide =
            is_control ? (*s < 0x80 ? 1 : 2) : shown_character(s, strlen((const char *)s));
        if (wide == 0) return false;
        s += wide;
    }
    return true;
}

/* Bytes at the begin of s that may be shown as they are. */
static uint32_t shown_as_is(const uint8_t *s, size_t len)
{
    return *s == '\n' || *s == '\t' ? 1 : shown_character(s, len);
}

void shown_make(char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t copy[SHOWN_MAX];
    sr_assert(size > SHOWN_BYTE && size <= SHOWN_MAX);
    size_t len = strnlen(text, size), used = 0, at = 0;
    memcpy(copy, text, len);
    while (at < len) {
        uint32_t wide = shown_as_is(copy + at, len - at);
        if (used + (wide > 0 ? wide : SHOWN_BYTE) >= size) break;
        if (wide > 0) {
            memcpy(text + used, copy + at, wide);
            used += wide;
            at += wide;
            continue;
        }
        uint8_t c = copy[at++];
        const char byte[SHOWN_BYTE] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
        memcpy(text + used, byte, SHOWN_BYTE);
        used += SHOWN_BYTE;
    }
    text[used] = '\0';
}
