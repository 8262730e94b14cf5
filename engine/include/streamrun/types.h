/* Types are Flink SQL's, with Flink's names, and so are schemas.
 *
 * STRING is VARCHAR of SR_LENGTH_MAX, BYTES is VARBINARY of it, as in Flink. A type is a value;
 * what it points to (children, names) lives as long as the job.
 */
#ifndef STREAMRUN_TYPES_H
#define STREAMRUN_TYPES_H

#include <streamrun/abi.h>

#define SR_LENGTH_MAX    2147483647
#define SR_DECIMAL_MAX   38 /* digits */
#define SR_DECIMAL_SMALL 18 /* digits that fit an int64_t */

enum sr_kind {
    SR_BOOLEAN,
    SR_TINYINT,
    SR_SMALLINT,
    SR_INT,
    SR_BIGINT,
    SR_FLOAT,
    SR_DOUBLE,
    SR_DECIMAL,
    SR_CHAR,
    SR_VARCHAR,
    SR_BINARY,
    SR_VARBINARY,
    SR_DATE,
    SR_TIME,
    SR_TIMESTAMP,
    SR_TIMESTAMP_LTZ,
    SR_INTERVAL_MONTH,
    SR_INTERVAL_SECOND,
    SR_ARRAY,
    SR_MAP,
    SR_MULTISET,
    SR_ROW,
    SR_NULL, /* the type of a bare NULL */
    SR_KIND_COUNT
};

struct sr_field;

struct sr_type {
    enum sr_kind kind;
    bool is_nullable;
    int32_t length;    /* CHAR to VARBINARY: length; DECIMAL, TIME, TIMESTAMP*: precision; else 0 */
    int32_t scale;     /* DECIMAL: digits behind the point; else 0 */
    uint32_t children; /* ARRAY, MULTISET: 1; MAP: 2 (key, value); ROW: its fields */
    const struct sr_field *child; /* names are "" but for ROW */
};

struct sr_field {
    const char *name;
    struct sr_type type;
};

struct sr_schema {
    uint32_t fields;
    const struct sr_field *field;
    int32_t rowtime; /* the field that is the event time attribute; -1: none */
    uint32_t keys;   /* fields of the primary key, 0: none */
    const uint32_t *key;
};

static inline bool sr_is_text(enum sr_kind k) { return k == SR_CHAR || k == SR_VARCHAR; }
static inline bool sr_is_bytes(enum sr_kind k) { return k == SR_BINARY || k == SR_VARBINARY; }
static inline bool sr_is_nested(enum sr_kind k) { return k >= SR_ARRAY && k <= SR_ROW; }

#endif
