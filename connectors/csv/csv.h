/* The csv format: its options, and what decoder and encoder make of them. */
#ifndef SR_CSV_CSV_H
#define SR_CSV_CSV_H

#include <streamrun/format.h>

#include "connectors/text/copy.h"
#include "connectors/text/node.h"

#define CSV_RECORD_BYTES_MAX (16u << 20) /* a longer one is an unclosed quote, or no csv */
#define CSV_NONE             (-1)        /* no such character */

enum csv_header { CSV_HEADER_NONE, CSV_HEADER_SKIP, CSV_HEADER_MATCH };

struct csv_conf {
    const char *delimiter, *quote, *escape, *null_literal, *array_delimiter;
    bool is_quote_disabled, has_comments, is_lenient, is_scientific, has_head;
    sr_choice header;
};

/* The characters that matter, CSV_NONE where there is none. */
struct csv_dialect {
    int delimiter, quote, escape;
    bool has_comments, is_lenient;
    const char *null_literal; /* NULL: none */
    uint32_t null_len;
    const char *inner; /* between the values of an ARRAY or ROW */
    uint32_t inner_len;
    enum value_decimal decimal; /* how they are written */
};

/* Fails with words about the option that is wrong; at plan time. */
sr_rc csv_dialect_init(struct csv_dialect *d, const struct csv_conf *conf, struct sr_error *err);

/* Borrowed from the open call; what every instance needs. */
struct csv_columns {
    uint32_t count;
    struct value *value; /* owned */
    struct node *node;   /* owned: the same, with what is inside of them */
    bool has_nested;
    const struct sr_schema *schema;
};

sr_rc csv_columns_init(struct csv_columns *k, const struct sr_format_open *o, struct sr_error *err);
void csv_columns_done(struct csv_columns *k);

struct csv_encoder {
    const struct sr_host *host;
    struct csv_dialect dialect;
    struct csv_columns columns;
    bool has_head;
    char *scratch; /* owned: a nested value before it is quoted */
    size_t scratch_size;
    bool is_safe;                /* no text of a number or a time needs quotes */
    uint8_t mark[256];           /* by byte: CSV_MARK_* */
    struct copy_needles needles; /* a text without them is written as it is */
};

sr_rc csv_decode_open(void *dec, const struct sr_format_open *o, struct sr_error *err);
sr_rc csv_decode(void *dec, struct sr_decode *d, struct sr_error *err);
void csv_decode_close(void *dec);
sr_rc csv_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err);
sr_rc csv_encode_head(void *enc, struct sr_out *out, struct sr_error *err);
sr_rc csv_encode(void *enc, struct sr_encode *e, struct sr_error *err);
void csv_encode_close(void *enc);

#endif
