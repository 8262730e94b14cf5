/* What the files of the kafka sinks share: their configuration and the types themselves.
 *
 *   kafka_sink.c       rows in, answers back: the order of things
 *   kafka_sink_conf.c  options, and what may be wrong with them
 *   producer.c         one producer of librdkafka with its topics
 *   outlets.c          those topics: are they there, and what do they take
 *   record.c           rows as records
 *   flights.c          rows on their way
 */
#ifndef CONNECTORS_KAFKA_KAFKA_SINK_H
#define CONNECTORS_KAFKA_KAFKA_SINK_H

#include <streamrun/connector.h>

#define KAFKA_PREFIX_MAX     200u   /* bytes of sink.transactional-id-prefix */
#define KAFKA_TRANSACTION_MS 900000 /* transaction.timeout.ms: the most that brokers allow */

enum kafka_partitioner { KAFKA_BY_KEY, KAFKA_FIXED, KAFKA_ROUND_ROBIN };

enum kafka_method { KAFKA_DECIDER, KAFKA_REDO }; /* of exactly-once */

struct kafka_sink_conf {
    sr_list topics;
    const char *pattern; /* of the topics; NULL: they are named */
    sr_pairs properties;
    sr_choice partitioner;    /* enum kafka_partitioner */
    sr_choice guarantee;      /* enum sr_guarantee */
    const char *prefix;       /* of transactional ids; NULL: none */
    sr_choice naming, method; /* method: enum kafka_method */
    sr_size redo_max;
    int64_t flush_rows;
    sr_duration flush_interval;
};

extern const struct sr_sink_type kafka_sink_type;
extern const struct sr_sink_type upsert_kafka_sink_type;
extern const struct sr_opt kafka_sink_opts[];
extern const struct sr_opt upsert_kafka_sink_opts[];

sr_rc kafka_sink_check(const void *conf, const struct sr_schema *schema, struct sr_sink_caps *caps,
                       struct sr_error *err);
sr_rc upsert_kafka_sink_check(const void *conf, const struct sr_schema *schema,
                              struct sr_sink_caps *caps, struct sr_error *err);

#endif
