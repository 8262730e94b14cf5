#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/client.h"
#include "connectors/kafka/kafka_sink.h"
#include "connectors/kafka/outlets.h"
#include "connectors/kafka/pattern.h"

static const char *const kafka_partitioners[] = {"default", "fixed", "round-robin", NULL};
static const char *const kafka_guarantees[] = {"none", "at-least-once", "exactly-once", NULL};
static const char *const kafka_methods[] = {"decider", "redo", NULL};
static const char *const kafka_namings[] = {"default", "incrementing", "pooling", NULL};

static sr_rc kafka_sink_check_pattern(const struct kafka_sink_conf *c, struct sr_error *err)
{
    if (c->topics.count > 0) {
        return props_fail(err, SR_ECONFIG, "write either topic or topic-pattern");
    }
    if (c->guarantee.index == SR_EXACTLY_ONCE) {
        return props_fail(err, SR_ECONFIG,
                          "topic-pattern: exactly-once needs topics that are known before the rows "
                          "are: list them in `topic`");
    }
    return pattern_check(c->pattern, err);
}

static sr_rc kafka_sink_check_topics(const struct kafka_sink_conf *c, struct sr_error *err)
{
    if (c->pattern) {
        return kafka_sink_check_pattern(c, err);
    }
    if (c->topics.count == 0 || c->topics.count > OUTLETS_MAX) {
        return props_fail(err, SR_ECONFIG, "'topic' must name 1 to %u topics", OUTLETS_MAX);
    }
    for (uint32_t i = 0; i < c->topics.count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(c->topics.item[i], c->topics.item[k]) == 0) {
                return props_fail(err, SR_ECONFIG, "'topic' names '%.80s' twice",
                                  c->topics.item[i]);
            }
        }
    }
    return SR_OK;
}

/* One transaction a checkpoint, which holds its number. */
static sr_rc kafka_sink_check_decider(const struct kafka_sink_conf *c, struct sr_sink_caps *caps,
                                      struct sr_error *err)
{
    const char *open = props_find(&c->properties, "transaction.timeout.ms");
    if (!c->prefix || !*c->prefix) {
        return props_fail(err, SR_ECONFIG,
                          "exactly-once needs sink.transactional-id-prefix: a name that no other "
                          "job of the cluster has, and that stays");
    }
    if (strlen(c->prefix) > KAFKA_PREFIX_MAX) {
        return props_fail(err, SR_ECONFIG, "sink.transactional-id-prefix has more than %u bytes",
                          KAFKA_PREFIX_MAX);
    }
    caps->decider = c->prefix;
    caps->transaction_us = (open ? strtoll(open, NULL, 10) : KAFKA_TRANSACTION_MS) * 1000;
    return SR_OK;
}

sr_rc kafka_sink_check(const void *conf, const struct sr_schema *schema, struct sr_sink_caps *caps,
                       struct sr_error *err)
{
    const struct kafka_sink_conf *c = conf;
    (void)schema;
    *caps = (struct sr_sink_caps){.guarantee = (enum sr_guarantee)c->guarantee.index,
                                  .takes_changes = true,
                                  .refuses_late = c->guarantee.index == SR_AT_LEAST_ONCE};
    sr_rc rc = kafka_sink_check_topics(c, err);
    rc = rc == SR_OK ? client_check(&c->properties, err) : rc; /* they are numbers, and in range */
    if (rc == SR_OK && c->guarantee.index == SR_EXACTLY_ONCE && c->method.index == KAFKA_DECIDER) {
        rc = kafka_sink_check_decider(c, caps, err);
    }
    return rc;
}

sr_rc upsert_kafka_sink_check(const void *conf, const struct sr_schema *schema,
                              struct sr_sink_caps *caps, struct sr_error *err)
{
    sr_rc rc = kafka_sink_check(conf, schema, caps, err);
    if (rc == SR_OK && schema->keys == 0) {
        return props_fail(err, SR_ECONFIG,
                          "upsert-kafka needs a primary-key, whose columns are the records' key");
    }
    caps->upserts = rc == SR_OK;
    return rc;
}

/* --- Options ---------------------------------------------------------------------------------- */

#define KAFKA_OPT(key, field, ...) SR_OPT(struct kafka_sink_conf, key, field, __VA_ARGS__)

/* clang-format off */
#define KAFKA_SINK_OPTS                                                                          \
    KAFKA_OPT("topic", topics, .flags = SR_OPT_USUAL,                                            \
              .doc = "The topic that records go to. Several: a column METADATA FROM 'topic' says " \
                     "where each goes."),                                                        \
    KAFKA_OPT(CLIENT_PROPERTIES, properties, .choices = client_usual,                            \
              .flags = SR_OPT_REQUIRED | SR_OPT_USUAL,                                           \
              .doc = "Properties of the producer, by the names of Java's or of librdkafka's: "   \
                     "properties.bootstrap.servers: host1:9092,host2:9092 is needed. A broker "  \
                     "that is gone is waited for unless properties.delivery.timeout.ms is set."),\
    KAFKA_OPT("sink.delivery-guarantee", guarantee, .choices = kafka_guarantees,                 \
              .def = "at-least-once",                                                            \
              .doc = "none: checkpoints do not wait for the brokers; at-least-once: they do; "   \
                     "exactly-once: a transaction each, which tells which it was."),  \
    KAFKA_OPT("sink.transactional-id-prefix", prefix,                                            \
              .doc = "Of exactly-once: how the transactional ids begin. Sinks with the same one "\
                     "write into the same transaction."),          \
    KAFKA_OPT("exactly-once.method", method, .choices = kafka_methods, .def = "decider",         \
              .flags = SR_OPT_OURS,                                                              \
              .doc = "How exactly-once is kept: decider, the transaction of the topics decides about "\
                     "the checkpoint, one cluster a job; redo, rows wait in a file for their "   \
                     "checkpoint, and go to the topics in a transaction then, which works for any "\
                     "number of clusters."),                                                     \
    KAFKA_OPT("sink.redo.max-size", redo_max, .def = "256 mb", .min = 1, .max = INT64_MAX / 4,   \
              .flags = SR_OPT_OURS,                                                              \
              .doc = "Of redo: when so much waits for the next checkpoint one is taken early; at "\
                     "twice that, writing waits."),                                              \
    KAFKA_OPT("sink.transaction-naming-strategy", naming, .choices = kafka_namings,              \
              .def = "default", .flags = SR_OPT_IGNORED,                                         \
              .doc = "Flink's; ids are named in one way here.")

const struct sr_opt kafka_sink_opts[] = {
    KAFKA_SINK_OPTS,
    KAFKA_OPT("topic-pattern", pattern,
              .doc = "In place of topic: a regular expression that the whole name of a topic matches. "
                     "A column METADATA FROM 'topic' says where each row goes; topics need not be there "
                     "when the job begins."),
    KAFKA_OPT("sink.partitioner", partitioner, .choices = kafka_partitioners, .def = "default",
              .doc = "The partition of a record: default, by the hash of its key as Java's producer "
                     "does it, without a key some partition for a while; fixed, one for each "
                     "subtask; round-robin."),
    SR_OPT_END};

const struct sr_opt upsert_kafka_sink_opts[] = {
    KAFKA_SINK_OPTS,
    KAFKA_OPT("sink.buffer-flush.max-rows", flush_rows, .def = "0", .min = 0, .max = INT64_MAX,
              .flags = SR_OPT_IGNORED, .doc = "Flink's; every change is written here."),
    KAFKA_OPT("sink.buffer-flush.interval", flush_interval, .def = "0 s", .min = 0, .max = INT64_MAX,
              .flags = SR_OPT_IGNORED, .doc = "Flink's; every change is written here."),
    SR_OPT_END};
/* clang-format on */
