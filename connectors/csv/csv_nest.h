/* ARRAY and ROW in one field, as Flink writes them: their values between array-element-delimiters.
 *
 * Only simple types may be inside, as in Flink. An empty field is an empty ARRAY and a NULL ROW.
 * What could not be told apart when it is read again (a text with the delimiter in it, a single
 * empty one) is not written.
 */
#ifndef SR_CSV_NEST_H
#define SR_CSV_NEST_H

#include "connectors/csv/csv.h"

/* Can a field hold the type? False for MAP and for what is nested twice. */
bool csv_nest_can(const struct sr_type *t);

/* A value inside of a field, for words about it. */
struct csv_inside {
    const struct value *value; /* NULL: the field as a whole */
    const char *words;         /* then: why */
    const char *text;
    uint32_t len;
};

/* Puts the text of a field into column c; what fails is in *inside. */
enum value_rc csv_nest_put(const struct csv_dialect *d, const struct node *node,
                           struct sr_builder *b, uint32_t c, struct csv_inside *inside);

/* Bytes that csv_nest_print writes at most. */
size_t csv_nest_size(const struct csv_dialect *d, const struct sr_column *column, uint32_t r);
/* The text of row r, which is not NULL, before it is quoted; answers how many bytes. Negative: it
 * could not be read again. */
int64_t csv_nest_print(const struct csv_dialect *d, const struct node *node,
                       const struct sr_column *column, uint32_t r, char *to);

#endif
