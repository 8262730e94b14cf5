#include "connectors/kafka/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/pattern.h"

#define CLUSTER_STEP_MS   1000
#define CLUSTER_CONFIG_MS 10000

sr_rc cluster_open(struct cluster *k, const struct sr_ask *a, const struct sr_pairs *properties,
                   rd_kafka_type_t type, struct sr_error *err)
{
    rd_kafka_conf_t *conf = NULL;
    k->ask = a;
    k->properties = properties;
    k->broker = -1;
    sr_rc rc = client_conf(properties, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (type == RD_KAFKA_CONSUMER) {
        client_set(conf, "enable.auto.commit", "false");
        client_set(conf, "allow.auto.create.topics", "false");
    }
    return client_open(&k->client, a->host, type, conf, err);
}

void cluster_close(struct cluster *k) { client_close(&k->client); }

bool cluster_is_over(const struct cluster *k)
{
    return k->ask->host->mono_us(k->ask->host) > k->ask->until_us ||
           atomic_load_explicit(&k->client.denied, memory_order_relaxed) ||
           atomic_load_explicit(&k->client.is_down, memory_order_relaxed);
}

sr_rc cluster_fail(const struct cluster *k, rd_kafka_resp_err_t e, const char *what,
                   struct sr_error *err)
{
    sr_rc rc = client_is_let_in(&k->client, k->properties, err);
    if (rc != SR_OK) {
        return rc;
    }
    const char *servers = props_find(k->properties, "bootstrap.servers");
    if (client_rc(e) == SR_EIO && atomic_load_explicit(&k->client.is_down, memory_order_relaxed)) {
        return k->ask->host->fail(k->ask->host, err, SR_EIO, "%s: no broker can be reached (%s)",
                                  what, servers ? servers : "");
    }
    return client_fail(&k->client, err, e, what);
}

/* Metadata of one topic or, NULL, of all; the caller's. */
static rd_kafka_resp_err_t cluster_metadata(struct cluster *k, rd_kafka_topic_t *t,
                                            const struct rd_kafka_metadata **out)
{
    rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR__TIMED_OUT;
    for (bool is_over = false; !is_over;) {
        *out = NULL;
        e = rd_kafka_metadata(k->client.rk, t == NULL, t, out, CLUSTER_STEP_MS);
        if (!e && t && (*out)->topic_cnt == 1) {
            e = (*out)->topics[0].err;
        }
        if (!e && (*out)->broker_cnt > 0) {
            k->broker = (*out)->brokers[0].id;
        }
        if (e && *out) {
            rd_kafka_metadata_destroy(*out);
        }
        (void)rd_kafka_poll(k->client.rk, e ? 20 : 0); /* errors are told by a callback */
        is_over = !e || client_rc(e) != SR_EIO || cluster_is_over(k);
    }
    return e;
}

sr_rc cluster_topic(struct cluster *k, const char *topic, int32_t *partitions, struct sr_error *err)
{
    char what[300];
    const struct rd_kafka_metadata *m = NULL;
    rd_kafka_topic_t *t = rd_kafka_topic_new(k->client.rk, topic, NULL);
    rd_kafka_resp_err_t e = t ? cluster_metadata(k, t, &m) : rd_kafka_last_error();
    if (!e && m) {
        *partitions = m->topic_cnt == 1 ? m->topics[0].partition_cnt : 0;
        rd_kafka_metadata_destroy(m);
    }
    if (t) {
        rd_kafka_topic_destroy(t);
    }
    (void)snprintf(what, sizeof(what), "topic '%.249s'", topic);
    return e ? cluster_fail(k, e, what, err) : SR_OK;
}

sr_rc cluster_matching(struct cluster *k, const char *pattern,
                       sr_rc (*take)(void *ctx, const char *topic), void *ctx, struct sr_error *err)
{
    const struct rd_kafka_metadata *m = NULL;
    struct pattern *p = pattern_new(pattern);
    if (!p) {
        return k->ask->host->fail(k->ask->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    rd_kafka_resp_err_t e = cluster_metadata(k, NULL, &m);
    sr_rc rc = e ? cluster_fail(k, e, "topic-pattern", err) : SR_OK;
    for (int i = 0; rc == SR_OK && m && i < m->topic_cnt; i++) {
        const char *name = m->topics[i].topic;
        rc = pattern_matches(p, name, strlen(name)) ? take(ctx, name) : SR_OK;
    }
    if (!e) {
        rd_kafka_metadata_destroy(m);
    }
    pattern_free(p);
    return rc;
}

static int64_t cluster_number(rd_kafka_event_t *event, const char *name)
{
    const rd_kafka_DescribeConfigs_result_t *r = rd_kafka_event_DescribeConfigs_result(event);
    size_t resources = 0, count = 0;
    const rd_kafka_ConfigResource_t **resource =
        r ? rd_kafka_DescribeConfigs_result_resources(r, &resources) : NULL;
    if (resources == 0 || rd_kafka_ConfigResource_error(resource[0])) {
        return SR_NO_NUMBER;
    }
    const rd_kafka_ConfigEntry_t **entry = rd_kafka_ConfigResource_configs(resource[0], &count);
    for (size_t i = 0; i < count; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entry[i]);
        if (value && strcmp(rd_kafka_ConfigEntry_name(entry[i]), name) == 0) {
            return strtoll(value, NULL, 10);
        }
    }
    return SR_NO_NUMBER;
}

int64_t cluster_config(struct cluster *k, const char *topic, const char *name)
{
    char words[128], number[16];
    int64_t found = SR_NO_NUMBER;
    if (!topic && k->broker < 0) {
        return found;
    }
    (void)snprintf(number, sizeof(number), "%d", k->broker);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(k->client.rk);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(
        topic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_BROKER, topic ? topic : number);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(k->client.rk, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    /* The time is one that it takes. */
    (void)rd_kafka_AdminOptions_set_request_timeout(options, CLUSTER_CONFIG_MS, words,
                                                    sizeof(words));
    rd_kafka_DescribeConfigs(k->client.rk, &resource, 1, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, CLUSTER_CONFIG_MS + 1000);
    if (event) {
        found = cluster_number(event, name);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_queue_destroy(queue);
    return found;
}
