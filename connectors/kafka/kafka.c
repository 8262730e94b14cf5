#include <streamrun/plugin.h>

#include "connectors/kafka/kafka_sink.h"
#include "connectors/kafka/kafka_source.h"

static const struct sr_source_type *const kafka_sources[] = {&kafka_source_type,
                                                             &upsert_kafka_source_type, NULL};
static const struct sr_sink_type *const kafka_sinks[] = {&kafka_sink_type, &upsert_kafka_sink_type,
                                                         NULL};

SR_PLUGIN(kafka) = {.abi_major = SR_ABI_MAJOR,
                    .abi_minor = SR_ABI_MINOR,
                    .name = "kafka",
                    .version = "0.1.0",
                    .doc = "Topics of Apache Kafka, by librdkafka.",
                    .sources = kafka_sources,
                    .sinks = kafka_sinks};
