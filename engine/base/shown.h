/* Text from outside as it may be shown: on a terminal, in a line of a log, in JSON. What is no
 * character of UTF-8, and what would control a terminal, is written \xNN. */
#ifndef SR_BASE_SHOWN_H
#define SR_BASE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character of UTF-8 that s begins with, of `len` there are; 0: that is none, or one
 * that controls a terminal. */
uint32_t shown_character(const uint8_t *s, size_t len);
bool shown_is_utf8(const char *text); /* control characters may be in it */
/* Makes the words in text[0..size) such text, cut to fit; ends of lines and tabs stay. */
void shown_make(char *text, size_t size);

#endif
