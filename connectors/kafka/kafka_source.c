/* Options of the kafka source, and its type. */
#include "connectors/kafka/kafka_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/kafka_find.h"
#include "connectors/kafka/kafka_known.h"
#include "connectors/kafka/kafka_reader.h"
#include "connectors/kafka/kafka_tell.h"

/* One number behind `word`, which moves *s behind it. */
static bool kafka_offset_number(const char **s, const char *word, int64_t max, int64_t *out)
{
    size_t len = strlen(word);
    char *end = NULL;
    if (strncmp(*s, word, len) != 0 || (*s)[len] < '0' || (*s)[len] > '9') {
        return false;
    }
    *out = strtoll(*s + len, &end, 10);
    *s = end;
    return *out <= max;
}

const char *kafka_offsets_read(const char *text, struct kafka_offset *out, uint32_t room,
                               uint32_t *count)
{
    const char *s = text;
    *count = 0;
    while (*s) {
        int64_t partition = 0, offset = 0;
        if (*count == room) {
            return "more than 10,000 partitions are listed";
        }
        if (!kafka_offset_number(&s, "partition:", INT32_MAX, &partition) || *s++ != ',' ||
            !kafka_offset_number(&s, "offset:", INT64_MAX - 1, &offset) || (*s && *s != ';')) {
            return "it is written 'partition:0,offset:42;partition:1,offset:300'";
        }
        s += *s == ';' ? 1 : 0;
        out[(*count)++] = (struct kafka_offset){(int32_t)partition, offset};
    }
    return *count == 0 ? "it is written 'partition:0,offset:42;partition:1,offset:300'" : NULL;
}

const char *kafka_reset(const struct kafka_source_conf *k)
{
    static const char *const words[][2] = {{"earliest", "earliest"}, {"beginning", "earliest"},
                                           {"smallest", "earliest"}, {"latest", "latest"},
                                           {"end", "latest"},        {"largest", "latest"}};
    const char *written = props_find(&k->properties, "auto.offset.reset");
    for (size_t i = 0; written && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(written, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

/* --- Checks ---------------------------------------------------------------------------------- */

static sr_rc kafka_check_offsets(const char *key, const char *text, const struct sr_list *topics,
                                 struct sr_error *err)
{
    struct kafka_offset *list = calloc(KAFKA_SPECIFIC_MAX, sizeof(*list));
    uint32_t count = 0;
    const char *why = !list ? "out of memory"
                      : text
                          ? kafka_offsets_read(text, list, KAFKA_SPECIFIC_MAX, &count)
                          : "it is missing, as in 'partition:0,offset:42;partition:1,offset:300'";
    free(list);
    if (!why && topics->count != 1) {
        why = "offsets of partitions need one `topic`";
    }
    return why ? props_fail(err, SR_ECONFIG, "%s: %s", key, why) : SR_OK;
}

static sr_rc kafka_check_topics(const struct kafka_source_conf *k, struct sr_error *err)
{
    if ((k->topics.count > 0) == (k->pattern != NULL)) {
        return props_fail(err, SR_ECONFIG,
                          "write either topic (one, or several separated by ;) or topic-pattern");
    }
    for (uint32_t i = 0; i < k->topics.count; i++) {
        const char *name = k->topics.item[i];
        size_t len = strlen(name);
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-";
        if (len == 0 || len > KAFKA_TOPIC_MAX || strspn(name, letters) != len) {
            return props_fail(err, SR_ECONFIG,
                              "topic: '%.80s' is no name of a topic: 1 to 249 of a-z, A-Z, 0-9, "
                              "'.', '_' and '-'",
                              name);
        }
    }
    return k->pattern ? pattern_check(k->pattern, err) : SR_OK;
}

static sr_rc kafka_check_group(const struct kafka_source_conf *k, struct sr_error *err)
{
    static const char *const resets[] = {"none", "error"};
    const char *group = props_find(&k->properties, "group.id");
    const char *reset = props_find(&k->properties, "auto.offset.reset");
    bool needs_group = k->startup.index == KAFKA_FROM_GROUP || k->bounded.index == KAFKA_TO_GROUP;
    if (needs_group && (!group || !*group)) {
        return props_fail(err, SR_ECONFIG,
                          "%s: group-offsets%s needs properties.group.id; without a group write "
                          "scan.startup.mode: earliest-offset or latest-offset",
                          k->bounded.index == KAFKA_TO_GROUP ? "scan.bounded.mode"
                                                             : "scan.startup.mode",
                          k->startup.index == KAFKA_FROM_GROUP ? " (Flink's default)" : "");
    }
    if (reset && !kafka_reset(k) && strcmp(reset, resets[0]) != 0 &&
        strcmp(reset, resets[1]) != 0) {
        return props_fail(err, SR_ECONFIG,
                          "properties.auto.offset.reset: '%.40s' is none of earliest, latest and "
                          "none",
                          reset);
    }
    return SR_OK;
}

static sr_rc kafka_check_modes(const struct kafka_source_conf *k, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (k->startup.index == KAFKA_FROM_SPECIFIC) {
        rc = kafka_check_offsets("scan.startup.specific-offsets", k->startup_offsets, &k->topics,
                                 err);
    }
    if (rc == SR_OK && k->bounded.index == KAFKA_TO_SPECIFIC) {
        rc = kafka_check_offsets("scan.bounded.specific-offsets", k->bounded_offsets, &k->topics,
                                 err);
    }
    if (rc == SR_OK && k->startup.index == KAFKA_FROM_TIMESTAMP && k->startup_ms < 0) {
        rc = props_fail(err, SR_ECONFIG,
                        "scan.startup.timestamp-millis is missing: milliseconds since 1970");
    }
    if (rc == SR_OK && k->bounded.index == KAFKA_TO_TIMESTAMP && k->bounded_ms < 0) {
        rc = props_fail(err, SR_ECONFIG,
                        "scan.bounded.timestamp-millis is missing: milliseconds since 1970");
    }
    return rc;
}

static sr_rc kafka_source_check(const void *conf, const struct sr_schema *schema,
                                struct sr_source_caps *caps, struct sr_error *err)
{
    (void)schema;
    const struct kafka_source_conf *k = conf;
    sr_rc rc = client_check(&k->properties, err);
    if (rc == SR_OK) {
        rc = kafka_check_topics(k, err);
    }
    if (rc == SR_OK) {
        rc = kafka_check_modes(k, err);
    }
    if (rc == SR_OK) {
        rc = kafka_check_group(k, err);
    }
    if (rc == SR_OK) {
        *caps = (struct sr_source_caps){.is_bounded = k->bounded.index != KAFKA_UNBOUNDED,
                                        .can_rewind = true,
                                        .side_by_side = true};
    }
    return rc;
}

static sr_rc upsert_kafka_check(const void *conf, const struct sr_schema *schema,
                                struct sr_source_caps *caps, struct sr_error *err)
{
    sr_rc rc = kafka_source_check(conf, schema, caps, err);
    caps->upserts = rc == SR_OK;
    return rc;
}

/* --- The type -------------------------------------------------------------------------------- */

static const char *const kafka_startups[] = {"earliest-offset", "latest-offset",    "group-offsets",
                                             "timestamp",       "specific-offsets", NULL};
static const char *const kafka_boundeds[] = {"unbounded", "latest-offset",    "group-offsets",
                                             "timestamp", "specific-offsets", NULL};
static const char *const kafka_losts[] = {"fail", "earliest", "latest", NULL};

/* clang-format off */
#define KAFKA_PROPERTIES \
    SR_OPT(struct kafka_source_conf, CLIENT_PROPERTIES, properties, .choices = client_usual, .flags = SR_OPT_USUAL, \
           .doc = "Properties of the client, as in `properties.bootstrap.servers: host:9092`: names of Kafka's Java client or of librdkafka. `properties.isolation.level` is read_committed unless written; Flink's connector leaves it at read_uncommitted.")
#define KAFKA_TOPICS \
    SR_OPT(struct kafka_source_conf, "topic", topics, .flags = SR_OPT_USUAL, .doc = "The topic, or several separated by ;.")
#define KAFKA_BOUNDS \
    SR_OPT(struct kafka_source_conf, "scan.bounded.mode", bounded, .choices = kafka_boundeds, .def = "unbounded", \
           .doc = "Where the read ends: unbounded (never), or latest-offset, group-offsets, timestamp or specific-offsets, each partition where that was when the job began; a group without an offset is a fault."), \
    SR_OPT(struct kafka_source_conf, "scan.bounded.specific-offsets", bounded_offsets, .doc = "With specific-offsets: the first offset of each partition that is not read; partitions that are not listed are read to their latest."), \
    SR_OPT(struct kafka_source_conf, "scan.bounded.timestamp-millis", bounded_ms, .def = "-1", .doc = "With timestamp: the first record at or behind this time, in ms since 1970, is not read."), \
    SR_OPT(struct kafka_source_conf, "scan.topic-partition-discovery.interval", discovery, .def = "5 min", .min = 0, .max = INT64_MAX, \
           .doc = "How often new topics and partitions are looked for, which are read from their beginning; 0: never."), \
    SR_OPT(struct kafka_source_conf, "scan.lost-position", lost, .choices = kafka_losts, .def = "fail", .flags = SR_OPT_OURS, \
           .doc = "When the record that comes next is gone (retention, a topic that was deleted or made again): fail says what is gone and how much; earliest or latest go on there, and count what is lost.")

static const struct sr_opt kafka_source_opts[] = {
    KAFKA_PROPERTIES,
    KAFKA_TOPICS,
    SR_OPT(struct kafka_source_conf, "topic-pattern", pattern, .doc = "A regular expression: all topics whose whole name it matches, also those that are made later."),
    SR_OPT(struct kafka_source_conf, "scan.startup.mode", startup, .choices = kafka_startups, .def = "group-offsets",
           .doc = "Where a first run begins: earliest-offset, latest-offset, group-offsets (where the group was; without an offset, as properties.auto.offset.reset says), timestamp or specific-offsets. A run that goes on from a checkpoint begins where that was."),
    SR_OPT(struct kafka_source_conf, "scan.startup.specific-offsets", startup_offsets, .doc = "With specific-offsets: 'partition:0,offset:42;partition:1,offset:300'; partitions that are not listed begin at their earliest."),
    SR_OPT(struct kafka_source_conf, "scan.startup.timestamp-millis", startup_ms, .def = "-1", .doc = "With timestamp: the first record at or behind this time, in ms since 1970."),
    KAFKA_BOUNDS,
    SR_OPT_END};

static const struct sr_opt upsert_kafka_opts[] = {KAFKA_PROPERTIES, KAFKA_TOPICS, KAFKA_BOUNDS, SR_OPT_END};
/* clang-format on */

const struct sr_source_type kafka_source_type = {
    .size = sizeof(struct sr_source_type),
    .name = KAFKA_NAME,
    .doc =
        "Records of topics of Apache Kafka, in any format. A split is a partition, whose position "
        "is in the checkpoint; with properties.group.id it is committed to the group as well, "
        "for others to see, after each checkpoint.",
    .keeps = "the record: the position of each partition is in the checkpoint",
    .opts = kafka_source_opts,
    .conf_size = sizeof(struct kafka_source_conf),
    .discoverer_size = sizeof(struct kafka_find),
    .reader_size = sizeof(struct kafka_reader),
    .check = kafka_source_check,
    .discover_open = kafka_find_open,
    .restored = kafka_find_restored,
    .discover = kafka_find_discover,
    .discover_close = kafka_find_close,
    .open = kafka_reader_open,
    .add = kafka_reader_add,
    .poll = kafka_reader_poll,
    .consume = kafka_reader_consume,
    .position = kafka_reader_position,
    .acknowledge = kafka_reader_acknowledge,
    .close = kafka_reader_close,
    .metadata = kafka_metadata,
    .fill_metadata = kafka_reader_fill_metadata,
    .has_keys = true,
    .is_afar = true,
    .ask = kafka_tell_source,
};

const struct sr_source_type upsert_kafka_source_type = {
    .size = sizeof(struct sr_source_type),
    .name = UPSERT_KAFKA_NAME,
    .doc = "A table as topics of Apache Kafka have it: a record replaces the row of its key, one "
           "without a value deletes it. It is read from its earliest record; the last row of each "
           "key is kept, so that what comes has whole rows: +I, -U and +U, -D.",
    .keeps = "the record: the position of each partition is in the checkpoint",
    .opts = upsert_kafka_opts,
    .conf_size = sizeof(struct kafka_source_conf),
    .discoverer_size = sizeof(struct kafka_find),
    .reader_size = sizeof(struct kafka_reader),
    .check = upsert_kafka_check,
    .discover_open = kafka_find_open,
    .restored = kafka_find_restored,
    .discover = kafka_find_discover,
    .discover_close = kafka_find_close,
    .open = kafka_reader_open,
    .add = kafka_reader_add,
    .poll = kafka_reader_poll,
    .consume = kafka_reader_consume,
    .position = kafka_reader_position,
    .acknowledge = kafka_reader_acknowledge,
    .close = kafka_reader_close,
    .metadata = kafka_metadata,
    .fill_metadata = kafka_reader_fill_metadata,
    .has_keys = true,
    .is_afar = true,
    .ask = kafka_tell_source,
};
