/* Text of any charset that iconv knows, to UTF-8 and back, and how a line ends in it.
 *
 * Names are Java's. UTF-16 and UTF-32 are big-endian, as Java writes them; a byte order mark may
 * stand at the begin of a file.
 */
#ifndef CONNECTORS_RAW_CHARSET_H
#define CONNECTORS_RAW_CHARSET_H

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct charset {
    bool is_utf8;       /* nothing is converted */
    bool has_mark;      /* files begin with a byte order mark */
    iconv_t in, out;    /* to UTF-8 and back; (iconv_t)-1: not open */
    uint8_t newline[4]; /* a line's end, of `unit` bytes */
    uint8_t back[4];    /* the carriage return that may stand before it */
    uint32_t unit;      /* bytes of the shortest character: texts are looked through by it */
    char *text;         /* what was converted last; owned */
    size_t size;
};

enum charset_rc { CHARSET_OK, CHARSET_UNKNOWN, CHARSET_BAD, CHARSET_MEMORY };

enum charset_rc charset_open(struct charset *c, const char *name);
void charset_close(struct charset *c); /* half-open and zeroed ones too */
/* Converts s to c->text; *got bytes. CHARSET_BAD: s is no text of the charset, or (to_utf8 false)
 * has a character that the charset lacks. */
enum charset_rc charset_convert(struct charset *c, bool to_utf8, const char *s, uint32_t len,
                                size_t *got);
/* The first line's end at or behind `from`, at a place where a character begins; NULL: none. */
const uint8_t *charset_newline(const struct charset *c, const uint8_t *from, size_t len);

#endif
