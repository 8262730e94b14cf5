/* Bytes as text and back: RFC 4648 base64, with padding. */
#ifndef SR_BASE_BASE64_H
#define SR_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t base64_text_size(size_t bytes) { return (bytes + 2) / 3 * 4; }
/* Writes base64_text_size(len) characters, and no \0. */
void base64_write(char *to, const uint8_t *bytes, size_t len);
/* At most len / 4 * 3 bytes, *size of them; false: it is no base64. */
bool base64_read(const char *text, size_t len, uint8_t *to, size_t *size);

#endif
