/* How the values of one column are to be made: at random, or one after the other.
 *
 * Fields form a tree as their types do: inside an ARRAY or MULTISET is "element", inside a MAP
 * "key" and "value", inside a ROW are its fields. What is inside is always random, as in Flink.
 */
#ifndef CONNECTORS_DATAGEN_FIELD_H
#define CONNECTORS_DATAGEN_FIELD_H

#include <streamrun/connector.h>

#define DATAGEN_LENGTH_MAX   1048576     /* bytes of one random text, elements of one collection */
#define DATAGEN_VALUE_MAX    (64u << 20) /* bytes of one column's value, an element at least 16 */
#define DATAGEN_MULTIPLE_MAX 10          /* how often an element is in a MULTISET, as in Flink */

struct datagen_conf {
    int64_t rows_per_second;
    int64_t rows; /* 0: without end */
    int64_t seed;
    sr_pairs fields; /* "NAME.kind" and so on */
};

enum datagen_kind { DATAGEN_RANDOM, DATAGEN_SEQUENCE };

struct datagen_field {
    struct sr_type type;
    const char *name; /* of the column; "element", "key", "value"; of the ROW's field */
    enum datagen_kind kind;
    int64_t min, max; /* whole numbers; of a sequence: start and end, in units of `scale` */
    double real_min, real_max; /* FLOAT, DOUBLE, and DECIMAL when random */
    int64_t max_past_ms;
    uint32_t length; /* of texts; elements of an ARRAY or MAP, different ones of a MULTISET */
    bool is_var_len;
    double null_rate;
    uint64_t seed;
    uint32_t up, first;                /* in the same list: of what this is inside; inside this */
    const struct datagen_field *child; /* type.children of them */
};

/* Fields for the columns of a schema, one each, and behind them those inside; *out is the caller's
 * to free. SR_ECONFIG with words about the first option that is wrong. *rows: how many there are;
 * INT64_MAX: without end. */
sr_rc datagen_fields(const struct datagen_conf *conf, const struct sr_schema *schema,
                     struct datagen_field **out, int64_t *rows, struct sr_error *err);

#endif
