/* The kafka source: options, and what a split of it, a partition, is known by.
 *
 *   kafka_find    names partitions and where each begins and, of a bounded read, ends (kafka_look)
 *   kafka_reader  reads those given to it, each from its own position
 *   kafka_known   metadata columns
 */
#ifndef CONNECTORS_KAFKA_KAFKA_SOURCE_H
#define CONNECTORS_KAFKA_KAFKA_SOURCE_H

#include <streamrun/connector.h>

#include "connectors/kafka/client.h"

#define KAFKA_NAME         "kafka"
#define UPSERT_KAFKA_NAME  "upsert-kafka"
#define KAFKA_TOPIC_MAX    249u /* bytes of a name, as the broker has it */
#define KAFKA_SPECIFIC_MAX 10000u

enum kafka_startup {
    KAFKA_FROM_EARLIEST,
    KAFKA_FROM_LATEST,
    KAFKA_FROM_GROUP,
    KAFKA_FROM_TIMESTAMP,
    KAFKA_FROM_SPECIFIC
};
enum kafka_bounded {
    KAFKA_UNBOUNDED,
    KAFKA_TO_LATEST,
    KAFKA_TO_GROUP,
    KAFKA_TO_TIMESTAMP,
    KAFKA_TO_SPECIFIC
};
enum kafka_lost { KAFKA_LOST_FAIL, KAFKA_LOST_EARLIEST, KAFKA_LOST_LATEST };

struct kafka_source_conf {
    struct sr_pairs properties;
    sr_list topics;
    const char *pattern; /* NULL: topics are named */
    sr_choice startup, bounded, lost;
    const char *startup_offsets, *bounded_offsets; /* NULL: not written */
    int64_t startup_ms, bounded_ms;                /* -1: not written */
    sr_duration discovery;                         /* 0: none */
};

/* "partition:0,offset:42;partition:1,offset:300" */
struct kafka_offset {
    int32_t partition;
    int64_t offset;
};

/* Up to `room` of them; NULL: they were read, else what is wrong. */
const char *kafka_offsets_read(const char *text, struct kafka_offset *out, uint32_t room,
                               uint32_t *count);
/* The group's offset where none is committed: properties.auto.offset.reset. NULL: "none". */
const char *kafka_reset(const struct kafka_source_conf *k);

/* --- A split --------------------------------------------------------------------------------- */

#define KAFKA_NO_STOP INT64_MAX

struct kafka_note {
    char *topic; /* owned */
    int32_t partition;
    int64_t next; /* offset that is read next */
    int64_t stop; /* of a bounded read: where it ends; KAFKA_NO_STOP */
    /* The last row that was read, by which a topic that was made again is told; -1: none. */
    int64_t last, last_ms;
    uint64_t last_digest; /* of its key and value */
};

sr_rc kafka_note_get(struct sr_bytes note, struct kafka_note *out); /* SR_ECORRUPT, SR_ENOMEM */
bool kafka_note_put(struct sr_out *o, const struct kafka_note *n);  /* false: no memory */
/* "orders-3", as Kafka itself calls it. */
void kafka_split_name(char out[KAFKA_TOPIC_MAX + 16], const char *topic, int32_t partition);

extern const struct sr_source_type kafka_source_type, upsert_kafka_source_type;

#endif
