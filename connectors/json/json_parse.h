/* The C face of simdjson: where the tokens of JSON text begin.
 *
 * simdjson's first stage finds, with vector instructions, every bracket, comma, colon and first
 * byte of a string or scalar that stands outside strings, and checks UTF-8 and control characters.
 * The second stage (json_walk.h) is ours: it puts values straight into columns, where simdjson
 * would build a document first. simdjson is C++, so is json_parse.cc, and nothing else here.
 */
#ifndef SR_JSON_PARSE_H
#define SR_JSON_PARSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_parser;

enum json_index_rc {
    JSON_INDEXED,
    JSON_EMPTY,     /* only white space */
    JSON_UTF8,      /* not valid UTF-8 */
    JSON_CONTROL,   /* a control character in a string: a newline in it, mostly */
    JSON_UNCLOSED,  /* a string is not closed */
    JSON_NO_MEMORY, /* or over 4 GiB */
};

/* Where tokens begin, ascending; good until the next call. */
struct json_places {
    const uint32_t *at;
    uint32_t count;
};

struct json_parser *json_parser_new(void);    /* NULL: out of memory */
void json_parser_free(struct json_parser *p); /* NULL allowed */
/* No byte behind `len` is read. */
enum json_index_rc json_parser_index(struct json_parser *p, const uint8_t *bytes, uint32_t len,
                                     struct json_places *out);

#ifdef __cplusplus
}
#endif

#endif
