/* Metadata of a record of Kafka, as columns. */
#ifndef CONNECTORS_KAFKA_KAFKA_KNOWN_H
#define CONNECTORS_KAFKA_KAFKA_KNOWN_H

#include <librdkafka/rdkafka.h>
#include <streamrun/connector.h>

enum kafka_metadata {
    KAFKA_META_TOPIC,
    KAFKA_META_PARTITION,
    KAFKA_META_OFFSET,
    KAFKA_META_TIMESTAMP,
    KAFKA_META_TIMESTAMP_TYPE,
    KAFKA_META_HEADERS,
    KAFKA_META_HEADER_LIST,
    KAFKA_META_LEADER_EPOCH,
    KAFKA_METADATA
};

extern const struct sr_metadata kafka_metadata[];

/* Puts one of them to column c of the current row. */
void kafka_known_put(const rd_kafka_message_t *m, const char *topic, enum kafka_metadata what,
                     uint32_t c, struct sr_builder *out);

#endif
