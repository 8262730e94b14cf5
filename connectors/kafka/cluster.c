#include "connectors/kafka/cluster.h"

#include <stdio.h>
#include <string.h>

#include "connectors/kafka/pattern.h"

#define CLUSTER_STEP_MS 1000

sr_rc cluster_open(struct cluster *k, const struct sr_ask *a, const struct sr_pairs *properties,
                   const char *group, struct sr_error *err)
{
    rd_kafka_conf_t *conf = NULL;
    k->ask = a;
    k->properties = properties;
    k->broker = -1;
    sr_rc rc = client_conf(properties, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (group) {
        client_set(conf, "group.id", group);
        client_set(conf, "isolation.level", "read_uncommitted");
        client_set(conf, "enable.auto.commit", "false");
        client_set(conf, "enable.partition.eof", "true");
        client_set(conf, "auto.offset.reset", "earliest");
        client_set(conf, "allow.auto.create.topics", "false");
    }
    return client_open(&k->client, a->host, group ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, conf,
                       err);
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

rd_kafka_resp_err_t cluster_ask(struct cluster *k, const char *topic, int32_t *partitions)
{
    const struct rd_kafka_metadata *m = NULL;
    rd_kafka_topic_t *t = rd_kafka_topic_new(k->client.rk, topic, NULL);
    rd_kafka_resp_err_t e = t ? cluster_metadata(k, t, &m) : rd_kafka_last_error();
    *partitions = 0;
    if (!e && m) {
        *partitions = m->topic_cnt == 1 ? m->topics[0].partition_cnt : 0;
        rd_kafka_metadata_destroy(m);
    }
    if (t) {
        rd_kafka_topic_destroy(t);
    }
    return e;
}

sr_rc cluster_topic(struct cluster *k, const char *topic, int32_t *partitions, struct sr_error *err)
{
    char what[300];
    rd_kafka_resp_err_t e = cluster_ask(k, topic, partitions);
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

int64_t cluster_config(struct cluster *k, const char *topic, const char *name)
{
    char number[16];
    int64_t found = SR_NO_NUMBER;
    (void)snprintf(number, sizeof(number), "%d", k->broker);
    bool is_told = topic ? client_setting(&k->client, RD_KAFKA_RESOURCE_TOPIC, topic, name, &found)
                         : k->broker >= 0 && client_setting(&k->client, RD_KAFKA_RESOURCE_BROKER,
                                                            number, name, &found);
    return is_told ? found : SR_NO_NUMBER;
}
