/* How the values of one column are made: at random, or one after the other.
 *
 * A value is a function of the seed, the column and the number of its row, whoever makes it and how
 * often; only times depend on the clock, as in Flink.
 */
#ifndef CONNECTORS_DATAGEN_FIELD_H
#define CONNECTORS_DATAGEN_FIELD_H

#include <streamrun/connector.h>

#define DATAGEN_LENGTH_MAX 1048576 /* bytes of one random text */

struct datagen_conf {
    int64_t rows_per_second;
    int64_t rows; /* 0: without end */
    int64_t seed;
    sr_pairs fields; /* "NAME.kind" and so on */
};

enum datagen_kind { DATAGEN_RANDOM, DATAGEN_SEQUENCE };

struct datagen_field {
    struct sr_type type;
    enum datagen_kind kind;
    int64_t min, max; /* whole numbers; of a sequence: start and end, in units of `scale` */
    double real_min, real_max; /* FLOAT, DOUBLE, and DECIMAL when random */
    int64_t max_past_ms;
    uint32_t length;
    bool is_var_len;
    double null_rate;
    uint64_t seed;
};

/* Fills `out`, one a column, from options and schema. SR_ECONFIG with words about the first that is
 * wrong. *rows: how many there are; INT64_MAX: without end. */
sr_rc datagen_fields(const struct datagen_conf *conf, const struct sr_schema *schema,
                     struct datagen_field *out, int64_t *rows, struct sr_error *err);
/* Puts the value of column c in row number `row` to the builder's current row; now_us: the wall
 * clock. Answers how many bytes it took. */
uint32_t datagen_put(const struct datagen_field *f, struct sr_builder *b, uint32_t c, uint64_t row,
                     int64_t now_us);

#endif
