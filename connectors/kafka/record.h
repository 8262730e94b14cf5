/* The rows of a view as records: key, value, headers, timestamp and topic of each.
 *
 *   records_open -> { records_take -> { records_get }* }* -> records_close
 *
 * Values are encoded for many rows at once, and lie here until the next records_take.
 */
#ifndef CONNECTORS_KAFKA_RECORD_H
#define CONNECTORS_KAFKA_RECORD_H

#include <librdkafka/rdkafka.h>

#include "connectors/common/encoder.h"

#define RECORD_NOW INT64_MIN /* a timestamp that the row does not give */

/* What a sink can write beside the value, as METADATA columns of its schema. */
enum record_metadata {
    RECORD_HEADERS,
    RECORD_HEADER_LIST,
    RECORD_TIMESTAMP,
    RECORD_TOPIC,
    RECORD_METADATA
};
extern const struct sr_metadata record_metadata[];

struct record {
    bool is_none;      /* the row makes no record: -U of an upsert */
    void *key, *value; /* NULL: there is none */
    size_t key_len, value_len;
    const char *topic; /* as the row says; NULL: it does not */
    uint32_t topic_len;
    int64_t timestamp_ms;        /* or RECORD_NOW */
    rd_kafka_headers_t *headers; /* the caller's; NULL: none */
};

/* One of a record's two texts. */
struct record_part {
    struct encoder encoder;
    uint32_t fields;        /* 0: there is no such part */
    const uint32_t *column; /* by field: of the sink's schema; borrowed */
    struct sr_column **col; /* of view */
    struct sr_view *view;   /* those columns of what is encoded */
    struct sr_out bytes;
    size_t *end; /* by row: behind its bytes, without a delimiter */
    size_t *begin;
    bool *absent; /* by row: there is no value */
    bool is_raw;  /* the format raw: NULL is no value */
};

struct records {
    const struct sr_host *host;
    struct record_part key, value;
    bool is_upsert;                    /* -D is a record without a value, -U none at all */
    int32_t metadata[RECORD_METADATA]; /* columns; -1: not written */
    const struct sr_view *of;          /* what is encoded; NULL: nothing */
    uint32_t from, count;              /* its live rows [from, from + count) */
};

sr_rc records_open(struct records *r, const struct sr_sink_open *o, bool is_upsert,
                   struct sr_error *err);
/* Encodes rows of v from `from` on, unless they lie here already. SR_EDATA: the row behind `count`
 * cannot be; those before can be got. */
sr_rc records_take(struct records *r, const struct sr_view *v, uint32_t from, struct sr_error *err);
/* The i-th live row of the view, of those that were taken. SR_EDATA, SR_ENOMEM. */
sr_rc records_get(const struct records *r, uint32_t i, struct record *out, struct sr_error *err);
void records_close(struct records *r); /* also of one that is zeroed */

#endif
