/* Values as JSON text: what the json formats write, and what a nested value is in a text column. */
#ifndef SR_TEXT_JSON_PUT_H
#define SR_TEXT_JSON_PUT_H

#include "connectors/text/node.h"

#define JSON_PUT_ESCAPED_MAX 6u /* bytes that one byte may become: \u00XX */

enum json_put_key { JSON_PUT_KEY_FAIL, JSON_PUT_KEY_DROP, JSON_PUT_KEY_LITERAL };

/* How values look. */
struct json_put {
    enum value_decimal decimal;
    bool drops_nulls;           /* fields that are NULL are left out */
    enum json_put_key null_key; /* what a NULL key of a MAP becomes */
    const char *null_literal;   /* ... with JSON_PUT_KEY_LITERAL */
};

/* A string in its quotes. `to` has room for JSON_PUT_ESCAPED_MAX bytes a byte, and two. What is not
 * UTF-8 becomes U+FFFD, so that the output is JSON in any case. */
char *json_put_string(char *to, const char *s, uint32_t len);

/* Row r, which is not NULL, of a column without children. `to` has room for json_put_size. */
char *json_put_value(const struct json_put *how, const struct value *v, const struct sr_column *c,
                     uint32_t r, char *to);
static inline size_t json_put_size(const struct value *v, const struct sr_column *c, uint32_t r)
{
    if (!value_has_bytes(v->op)) {
        return VALUE_TEXT_MAX + 4;
    }
    return (size_t)((const struct sr_span *)c->values)[r].len * JSON_PUT_ESCAPED_MAX + 4;
}

enum json_put_rc { JSON_PUT_OK, JSON_PUT_MEMORY, JSON_PUT_NULL_KEY };

/* Appends row r of any column, NULL too. A key that is NULL and may not be: JSON_PUT_NULL_KEY, and
 * `out` is cut back to what it was. */
enum json_put_rc json_put_any(const struct json_put *how, const struct node *node,
                              const struct sr_column *c, uint32_t r, struct sr_out *out);

#endif
