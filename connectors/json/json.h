/* The json format: its options, and what decoder and encoder make of them. */
#ifndef SR_JSON_JSON_H
#define SR_JSON_JSON_H

#include <streamrun/format.h>

#include "connectors/json/json_names.h"
#include "connectors/json/json_parse.h"
#include "connectors/text/value.h"

enum json_stamp { JSON_STAMP_SQL, JSON_STAMP_ISO, JSON_STAMP_ISO_OFFSET };

struct json_conf {
    bool is_missing_fatal, is_lenient, is_decimal_plain, drops_nulls, has_parser;
    sr_choice stamp, map_null_key;
    const char *map_null_literal;
};

struct json_decoder {
    const struct sr_host *host;
    bool is_missing_fatal, is_lenient;
    uint32_t columns;
    struct value *value; /* by column; owned */
    uint32_t *seen;      /* by column: serial of the last object that had it; owned */
    uint32_t serial;
    struct json_names names;
    struct json_parser *parser;
    char *scratch; /* for strings with escapes */
    uint32_t scratch_size;
};

struct json_encoder {
    const struct sr_host *host;
    bool drops_nulls;
    enum value_decimal decimal;
    uint32_t columns;
    struct value *value; /* by column; owned */
    struct json_key {
        char *text; /* `"name":`; owned */
        uint32_t len;
    } * key; /* by column; owned */
};

sr_rc json_decode_open(void *dec, const struct sr_format_open *o, struct sr_error *err);
sr_rc json_decode(void *dec, struct sr_decode *d, struct sr_error *err);
void json_decode_close(void *dec);
sr_rc json_encode_open(void *enc, const struct sr_format_open *o, struct sr_error *err);
sr_rc json_encode(void *enc, struct sr_encode *e, struct sr_error *err);
void json_encode_close(void *enc);

/* One struct value a column; NULL: out of memory. */
struct value *json_values(const struct sr_schema *s, const struct json_conf *conf);

#endif
