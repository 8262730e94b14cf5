#include "connectors/kafka/kafka_cap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CAP_WAIT_MS 5000

/* -1: it was not told. */
static int64_t kafka_cap_ask(const struct client *c)
{
    char number[16];
    int64_t cap = -1;
    int32_t broker = rd_kafka_controllerid(c->rk, CAP_WAIT_MS); /* any would do */
    (void)snprintf(number, sizeof(number), "%" PRId32, broker);
    bool is_told = broker >= 0 && client_setting(c, RD_KAFKA_RESOURCE_BROKER, number,
                                                 "transaction.max.timeout.ms", &cap);
    return is_told ? cap : -1;
}

sr_rc kafka_cap_fail(struct producer *p, const char *needed, struct sr_error *err)
{
    const char *written = props_find(&p->conf->properties, "transaction.timeout.ms");
    int64_t asked = written ? strtoll(written, NULL, 10) : KAFKA_TRANSACTION_MS;
    int64_t cap = kafka_cap_ask(&p->client);
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
