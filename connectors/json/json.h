/* The json format: its options, and what decoder and encoder make of them. */
#ifndef SR_JSON_JSON_H
#define SR_JSON_JSON_H

#include <streamrun/format.h>

#include "connectors/json/json_names.h"
#include "connectors/json/json_parse.h"
#include "connectors/text/json_put.h"
#include "connectors/text/node.h"

enum json_stamp { JSON_STAMP_SQL, JSON_STAMP_ISO, JSON_STAMP_ISO_OFFSET };

struct json_conf {
    bool is_missing_fatal, is_lenient, is_decimal_plain, drops_nulls, has_parser;
    sr_choice stamp, map_null_key;
    const char *map_null_literal;
};

#define JSON_PATH_MAX 64u /* bytes of the path to a refused value that are shown */

extern const char *const json_stamps[], *const json_null_keys[]; /* choices of its options */

/* The fields of a ROW, by name. */
struct json_row {
    struct sr_schema schema;
    struct json_names names;
};

struct json_walk;
struct json_fault;

/* How a record ended. */
enum json_end { JSON_DONE, JSON_BAD, JSON_SKIPPED, JSON_FULL };

struct json_decoder {
    const struct sr_host *host;
    /* Takes one record, whose text is all of the walk and begins at byte `at`: puts its rows. What
     * was put is dropped when it ends otherwise than JSON_DONE. */
    enum json_end (*text)(struct json_decoder *x, struct sr_decode *d, struct json_walk *w,
                          uint32_t at, struct json_fault *fault);
    bool is_missing_fatal, is_lenient;
    uint32_t columns;
    uint32_t nodes;
    struct node *node;    /* the columns first; owned */
    struct json_row *row; /* of all columns, and of each ROW inside them; owned */
    uint32_t rows;
    uint32_t *row_of; /* by node: its place in `row`; owned */
    uint32_t *seen;   /* by node: serial of the last object that had it; owned */
    uint32_t serial;
    struct json_parser *parser;
    const struct sr_buffer *buffer; /* that text may refer to, while decoding */
    char *scratch;                  /* for strings with escapes */
    uint32_t scratch_size;
    char path[JSON_PATH_MAX];
};

struct json_encoder {
    const struct sr_host *host;
    struct json_put how;
    bool has_nested;
    uint32_t columns;
    struct node *node; /* the columns first; owned */
    struct json_key {
        char *text; /* `"name":`; owned */
        uint32_t len;
    } * key; /* by column; owned */
};

sr_rc json_check(const void *conf, const struct sr_schema *schema, bool is_write, uint32_t *flags,
                 struct sr_error *err);
sr_rc json_decode_open(void *dec, const struct sr_format_open *o, struct sr_error *err);
/* For checked columns, x->columns of which are members of a record. False: out of memory; what is
 * there is for json_decode_close. */
bool json_decode_init(struct json_decoder *x, const struct sr_host *host,
                      const struct json_conf *conf, const struct sr_schema *schema);
sr_rc json_decode(void *dec, struct sr_decode *d, struct sr_error *err);
void json_decode_close(void *dec);
/* `text` of the json format. */
enum json_end json_decode_text(struct json_decoder *x, struct sr_decode *d, struct json_walk *w,
                               uint32_t at, struct json_fault *fault);
sr_rc json_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err);
sr_rc json_encode(void *enc, struct sr_encode *e, struct sr_error *err);
void json_encode_close(void *enc);

bool json_encode_bytes(struct sr_out *out, const char *s, size_t len); /* false: out of memory */
/* A row as one object, appended; `out` may be left with a part of it when that fails. */
enum json_put_rc json_encode_object(const struct json_encoder *x, const struct sr_view *v,
                                    uint32_t r, struct sr_out *out);
/* What a failure of it is for the caller of encode. */
sr_rc json_encode_fail(const struct json_encoder *x, enum json_put_rc rc, struct sr_error *err);

/* The columns as nodes, those inside them behind; NULL: out of memory. */
struct node *json_nodes(const struct sr_schema *s, const struct json_conf *conf, uint32_t *count);

#endif
