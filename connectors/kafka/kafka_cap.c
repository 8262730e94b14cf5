#include "connectors/kafka/kafka_cap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP_WAIT_MS 5000

/* As a broker's configuration has it; -1: it was not told. */
static int64_t kafka_cap_of(rd_kafka_event_t *event)
{
    const rd_kafka_DescribeConfigs_result_t *result =
        event ? rd_kafka_event_DescribeConfigs_result(event) : NULL;
    size_t resources = 0, entries = 0;
    const rd_kafka_ConfigResource_t **resource =
        result ? rd_kafka_DescribeConfigs_result_resources(result, &resources) : NULL;
    const rd_kafka_ConfigEntry_t **entry =
        resources > 0 ? rd_kafka_ConfigResource_configs(resource[0], &entries) : NULL;
    for (size_t i = 0; i < entries; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entry[i]);
        if (value &&
            strcmp(rd_kafka_ConfigEntry_name(entry[i]), "transaction.max.timeout.ms") == 0) {
            return strtoll(value, NULL, 10);
        }
    }
    return -1;
}

static int64_t kafka_cap_ask(rd_kafka_t *rk)
{
    char number[16];
    int32_t broker = rd_kafka_controllerid(rk, CAP_WAIT_MS); /* any would do */
    if (broker < 0) {
        return -1;
    }
    (void)snprintf(number, sizeof(number), "%" PRId32, broker);
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, number);
    rd_kafka_queue_t *answers = rd_kafka_queue_new(rk);
    rd_kafka_DescribeConfigs(rk, &resource, 1, NULL, answers);
    rd_kafka_event_t *event = rd_kafka_queue_poll(answers, CAP_WAIT_MS);
    int64_t cap = kafka_cap_of(event);
    if (event) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(answers);
    rd_kafka_ConfigResource_destroy(resource);
    return cap;
}

sr_rc kafka_cap_fail(struct producer *p, const char *needed, struct sr_error *err)
{
    const char *written = props_find(&p->conf->properties, "transaction.timeout.ms");
    int64_t asked = written ? strtoll(written, NULL, 10) : KAFKA_TRANSACTION_MS;
    int64_t cap = kafka_cap_ask(p->client.rk);
    char known[40] = "";
    if (cap >= 0) {
        (void)snprintf(known, sizeof(known), " (%" PRId64 ")", cap);
    }
    return p->client.host->fail(p->client.host, err, SR_ECONFIG,
                                "kafka: properties.transaction.timeout.ms is %" PRId64
                                "%s, more than the brokers allow by "
                                "transaction.max.timeout.ms%s: write one that is not longer%s%s",
                                asked, written ? "" : " unless written", known,
                                needed ? ", but longer than " : "", needed ? needed : "");
}
