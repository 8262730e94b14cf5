/* Bytes as text: RFC 4648 base64 with padding, as Flink's csv and json write BINARY. */
#ifndef SR_TEXT_BASE64_H
#define SR_TEXT_BASE64_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t base64_put_size(uint32_t len) { return ((uint64_t)len + 2) / 3 * 4; }
void base64_put(char *to, const uint8_t *bytes, uint32_t len);

/* Bytes that the text stands for, at most len / 4 * 3; false: not base64. `to` may be the text. */
bool base64_get(const char *s, uint32_t len, uint8_t *to, uint32_t *size);

#endif
