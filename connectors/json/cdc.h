/* Formats of change data capture in JSON: debezium-json, maxwell-json, canal-json, ogg-json.
 *
 * A record is an envelope that says what happened to a row. The dialects differ in names and in
 * where the old row stands:
 *
 *   debezium  {"before": ROW, "after": ROW, "op": "c" | "r" | "u" | "d"}
 *   ogg       {"before": ROW, "after": ROW, "op_type": "I" | "U" | "D"}
 *   maxwell   {"data": ROW, "old": what changed, "type": "insert" | "update" | "delete"}
 *   canal     {"data": [ROW...], "old": [what changed...], "type": "INSERT" | "UPDATE" | "DELETE"}
 *
 * An update gives two rows, -U and +U. Members come in any order: a record is looked through for
 * them first, and then those that count are put. When written, an update is a delete and an insert,
 * as Flink writes it.
 */
#ifndef SR_JSON_CDC_H
#define SR_JSON_CDC_H

#include "connectors/json/json.h"

enum cdc_kind { CDC_INSERT, CDC_UPDATE, CDC_DELETE, CDC_NOTHING };

/* Members of an envelope that are looked for. */
enum cdc_member { CDC_BEFORE, CDC_AFTER, CDC_KIND, CDC_DATABASE, CDC_TABLE, CDC_DDL, CDC_MEMBERS };

#define CDC_METADATA_MAX 8u /* of one dialect */

/* Where one of the format's metadata stands. */
struct cdc_beside {
    const char *member; /* of the envelope */
    const char *inner;  /* of the object there; NULL: the member itself */
    bool is_millis;     /* a number, ms since the epoch */
};

struct cdc_dialect {
    const char *member[CDC_MEMBERS]; /* their names; NULL: not looked for */
    bool is_old;                     /* `before` has only the old values of what changed */
    bool is_array;                   /* rows stand in arrays */
    bool can_have_schema;            /* the option schema-include is there */
    struct {
        const char *word;
        enum cdc_kind kind;
    } kind[5];                                  /* up to a NULL word */
    struct cdc_beside beside[CDC_METADATA_MAX]; /* by metadata of the format */
    const char *kinds;                          /* for people: "c, r, u or d" */
    const char *no_old;       /* why an update or delete has no `before`, for people */
    const char *put[2][2][2]; /* text written around a row: of an insert, of a delete; with NULLs,
                                 without; in front, behind */
};

struct cdc_conf {
    struct json_conf json;
    bool has_schema;              /* debezium: the envelope stands in "payload" */
    const char *database, *table; /* canal: regular expressions; NULL: all */
};

struct cdc_decoder {
    struct json_decoder json;
    const struct cdc_dialect *dialect;
    bool has_schema;
    const uint32_t *metadata; /* by column behind those of rows: which it is */
    uint32_t metadatas;
    struct cdc_filter *filter[2]; /* of the database, the table; NULL: all; owned */
    char words[160];              /* of a fault */
};

struct cdc_encoder {
    struct json_encoder json;
    const struct cdc_dialect *dialect;
};

/* The functions of a format by dialect; conf is a struct cdc_conf. */
sr_rc cdc_decode_open(struct cdc_decoder *x, const struct cdc_dialect *dialect,
                      const struct sr_format_open *o, struct sr_error *err);
void cdc_decode_close(void *dec); /* decode itself is json_decode */
sr_rc cdc_encode_open(struct cdc_encoder *x, const struct cdc_dialect *dialect,
                      const struct sr_format_open *o, struct sr_error *err);
sr_rc cdc_encode(void *enc, struct sr_encode *e, struct sr_error *err);

extern const struct sr_format_type cdc_debezium_type, cdc_ogg_type, cdc_maxwell_type,
    cdc_canal_type;

#endif
