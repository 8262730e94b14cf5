/* One value of a column, to and from text: what the csv and json formats have in common.
 *
 * A struct value says once, per column, how its texts are read and written, so that a row costs one
 * switch a value. Types with children are refused by value_init; formats that take them go by
 * node.h.
 */
#ifndef SR_TEXT_VALUE_H
#define SR_TEXT_VALUE_H

#include <streamrun/format.h>

#include "connectors/text/moment.h"

enum value_op {
    VALUE_BOOL,
    VALUE_I8,
    VALUE_I16,
    VALUE_I32,
    VALUE_I64,
    VALUE_F32,
    VALUE_F64,
    VALUE_DECIMAL,
    VALUE_TEXT,
    VALUE_BYTES,
    VALUE_DATE,
    VALUE_TIME,
    VALUE_STAMP,
    VALUE_JSON,  /* a VARIANT, which is JSON already; it is only written */
    VALUE_NESTED /* one with children: see node.h */
};

struct value {
    enum value_op op;
    bool is_nullable;
    bool is_large;  /* DECIMAL over 18 digits, timestamps over 6 */
    int32_t length; /* as in the type */
    int32_t scale;
    int32_t nano_unit; /* timestamps are cut to multiples of it */
    unsigned how;      /* MOMENT_*: as it may be read */
    unsigned how_put;  /* as it is written */
    struct sr_type type;
    const char *name; /* of the column; borrowed */
};

enum value_rc {
    VALUE_OK,
    VALUE_BAD,   /* the text is not one of the type */
    VALUE_RANGE, /* it is, but too large */
    VALUE_INEXACT,
    VALUE_UTF8,
    VALUE_MISSING, /* NULL where there must be a value */
    VALUE_MEMORY   /* the builder is broken */
};

/* Its values are spans into bytes, not short texts. */
static inline bool value_has_bytes(enum value_op op)
{
    return op == VALUE_TEXT || op == VALUE_BYTES || op == VALUE_JSON;
}

/* False: the type is not one text; op is VALUE_NESTED when it has children. `stamp` and `stamp_put`
 * are MOMENT_SPACE and MOMENT_T, zones are added here for TIMESTAMP_LTZ: a Z, or MOMENT_OFFSET when
 * `stamp` has it. */
bool value_init(struct value *v, const struct sr_field *field, unsigned stamp, unsigned stamp_put);

/* The type as SQL writes it, for words: "DECIMAL(10, 2)". */
void value_type_name(const struct sr_type *t, char out[48]);

/* Puts the value whose text is s[0..len) into the builder's current row. Text goes on referring to
 * `buffer` if column c does, else it is copied. Texts are checked for UTF-8 by the caller. */
enum value_rc value_put(struct sr_builder *b, uint32_t c, const struct value *v, const char *s,
                        uint32_t len, const struct sr_buffer *buffer);
/* NULL, if the column may be. */
static inline enum value_rc value_put_null(struct sr_builder *b, uint32_t c, const struct value *v)
{
    sr_put_null(b, c);
    return v->is_nullable ? VALUE_OK : VALUE_MISSING;
}

/* Numbers that are known already. */
enum value_rc value_put_number(struct sr_builder *b, uint32_t c, const struct value *v, int64_t n);

/* Why a value was refused: "column 'n': 'abc' is not an INT". */
void value_words(char *words, size_t size, const struct value *v, enum value_rc rc, const char *s,
                 uint32_t len);

#define VALUE_TEXT_MAX 64u /* bytes that value_print writes at most */

/* The text of row r, which is not NULL; not for one with value_has_bytes. Decimals stand as
 * number_put_stripped writes them, or with all digits of their scale. */
enum value_decimal { VALUE_DECIMAL_JAVA, VALUE_DECIMAL_PLAIN, VALUE_DECIMAL_FULL };
uint32_t value_print(const struct value *v, const struct sr_column *c, uint32_t r,
                     enum value_decimal decimal, char *to);

/* --- Fields of a schema ---------------------------------------------------------------------- */

/* Refuses a schema with a type that cannot be text: at plan time. */
sr_rc value_check_schema(const struct sr_schema *schema, const char *format, struct sr_error *err);

/* Text columns of the builder that may refer to `buffer` begin to; call when a decode begins. */
void value_use_buffer(struct sr_builder *b, const struct value *values, struct sr_buffer *buffer);

/* Notes a bad record; false: no room for one more. */
struct sr_bad *value_bad(struct sr_decode *d, uint32_t at, uint32_t len);

#endif
