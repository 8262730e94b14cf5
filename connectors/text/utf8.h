/* Is it UTF-8, as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF? */
#ifndef SR_TEXT_UTF8_H
#define SR_TEXT_UTF8_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes at the begin of s that are valid; `len` when all are. */
uint32_t utf8_valid_prefix(const char *s, uint32_t len);

static inline bool utf8_is_valid(const char *s, uint32_t len)
{
    return utf8_valid_prefix(s, len) == len;
}

/* Bytes that U+`code` takes, written to `to`: room for 4. Not for surrogates. */
uint32_t utf8_put(char *to, uint32_t code);

#endif
