#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "connectors/kafka/cluster.h"
#include "connectors/kafka/kafka_marker.h"
#include "connectors/kafka/kafka_tell.h"
#include "connectors/kafka/transactions.h"

/* --- validate --connect ----------------------------------------------------------------------- */

static sr_rc kafka_tell_topic(struct sr_ask *a, struct cluster *k, const char *topic,
                              struct sr_error *err)
{
    int32_t partitions = 0;
    sr_rc rc = cluster_topic(k, topic, &partitions, err);
    if (rc != SR_OK) {
        return rc;
    }
    int64_t bytes_max = cluster_config(k, topic, "max.message.bytes");
    const struct sr_fact fact[] = {{.name = "topic", .text = topic},
                                   {.name = "partitions", .number = partitions},
                                   {.name = "max_message_bytes", .number = bytes_max}};
    const char *own = props_find(k->properties, "max.request.size");
    own = own ? own : props_find(k->properties, "message.max.bytes");
    if (bytes_max == SR_NO_NUMBER) {
        a->tell(a, SR_WARN,
                "the limits of topic '%s' may not be asked for (right DescribeConfigs): a record "
                "that it does not take is found when it is sent, with those sent beside it",
                topic);
    } else if (own && strtoll(own, NULL, 10) > bytes_max) {
        a->tell(a, SR_WARN,
                "properties.max.request.size: %s lets records through that topic '%s' does not "
                "take: its max.message.bytes is %" PRId64,
                own, topic, bytes_max);
    }
    return a->row(a, fact, sizeof(fact) / sizeof(fact[0]));
}

/* The three times must fit: interval of checkpoints <= transaction <= what brokers allow. */
static sr_rc kafka_tell_timeout(struct sr_ask *a, struct cluster *k, struct sr_error *err)
{
    const char *written = props_find(k->properties, "transaction.timeout.ms");
    int64_t own_ms = written ? strtoll(written, NULL, 10) : KAFKA_TRANSACTION_MS;
    int64_t cap_ms = cluster_config(k, NULL, "transaction.max.timeout.ms");
    if (cap_ms == SR_NO_NUMBER) {
        a->tell(a, SR_INFO,
                "the broker's transaction.max.timeout.ms may not be asked for (right "
                "DescribeConfigs of the cluster)");
    } else if (own_ms > cap_ms) {
        return a->host->fail(a->host, err, SR_ECONFIG,
                             "properties.transaction.timeout.ms is %" PRId64
                             " ms, which is above the broker's transaction.max.timeout.ms, %" PRId64
                             " ms (execution.checkpointing.interval is %" PRId64
                             " ms): write one of at most that, and of several intervals",
                             own_ms, cap_ms, a->interval_us / 1000);
    }
    return SR_OK;
}

static sr_rc kafka_tell_group(const struct sr_ask *a, struct cluster *k, const char *group,
                              const char *topic, struct sr_error *err)
{
    atomic_bool is_stopped = false;
    struct sr_marker marker;
    struct kafka_reader_how how = {.host = a->host,
                                   .properties = k->properties,
                                   .group = group,
                                   .topic = topic,
                                   .is_stopped = &is_stopped};
    return kafka_marker_read(&how, &marker, err);
}

/* May transactions be begun under the prefix? Asked by an id beside those of the job. */
static sr_rc kafka_tell_transactional(struct sr_ask *a, const struct kafka_sink_conf *c,
                                      struct cluster *k, struct sr_error *err)
{
    char id[KAFKA_ID_BYTES];
    const char *prefix = c->prefix ? c->prefix : "streamrun";
    const char *job = a->job_id ? a->job_id : "";
    (void)snprintf(id, sizeof(id), "%.200s-%.8s-connect", prefix, job);
    sr_rc rc = kafka_tell_timeout(a, k, err);
    rc = rc == SR_OK ? transaction_end(a, k->properties, id, 0, err) : rc;
    if (rc == SR_OK && c->method.index == KAFKA_DECIDER) {
        (void)snprintf(id, sizeof(id), "%.200s-%.8s", prefix, job);
        rc = kafka_tell_group(a, k, id, c->topics.item[0], err);
    }
    return rc;
}

/* Topics of a pattern, as far as there are some by now. */
struct kafka_tell_matching {
    struct sr_ask *ask;
    struct cluster *cluster;
    struct sr_error *err;
    uint32_t count;
};

static sr_rc kafka_tell_match(void *ctx, const char *topic)
{
    struct kafka_tell_matching *m = ctx;
    m->count++;
    return kafka_tell_topic(m->ask, m->cluster, topic, m->err);
}

static sr_rc kafka_tell_pattern(struct sr_ask *a, struct cluster *k, const char *pattern,
                                struct sr_error *err)
{
    struct kafka_tell_matching m = {.ask = a, .cluster = k, .err = err};
    sr_rc rc = cluster_matching(k, pattern, kafka_tell_match, &m, err);
    if (rc == SR_OK && m.count == 0) {
        a->tell(a, SR_WARN, "no topic matches %s", pattern);
    }
    return rc;
}

static sr_rc kafka_tell_connected(struct sr_ask *a, struct sr_error *err)
{
    const struct kafka_sink_conf *c = a->conf;
    struct cluster k = {.broker = -1};
    sr_rc rc = cluster_open(&k, a, &c->properties, NULL, err);
    for (uint32_t i = 0; rc == SR_OK && i < c->topics.count; i++) {
        rc = kafka_tell_topic(a, &k, c->topics.item[i], err);
    }
    if (rc == SR_OK && c->pattern) {
        rc = kafka_tell_pattern(a, &k, c->pattern, err);
    }
    if (rc == SR_OK && c->guarantee.index == SR_EXACTLY_ONCE) {
        rc = kafka_tell_transactional(a, c, &k, err);
    }
    cluster_close(&k);
    return rc;
}

/* --- Transactions ----------------------------------------------------------------------------- */

/* "2026-01-31T12:00:00.000Z"; "": not known. */
static void kafka_tell_when(int64_t ms, char out[64])
{
    struct tm tm;
    time_t s = (time_t)(ms / 1000);
    out[0] = '\0';
    if (ms > 0 && gmtime_r(&s, &tm)) {
        size_t len = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &tm);
        (void)snprintf(out + len, 8, ".%03dZ", (int)(ms % 1000));
    }
}

/* The job's digits in an id of ours, "PREFIX-DIGITS-...": 8 of them, or all 32; "": not ours. */
static void kafka_tell_job(const char *id, const char *prefix, char out[33])
{
    const char *at = id + strlen(prefix);
    size_t len = strspn(at, "0123456789abcdef");
    bool is_ours = (len == 8 || len == 32) && at[len] == '-';
    (void)snprintf(out, 33, "%.*s", is_ours ? (int)len : 0, at);
}

static sr_rc kafka_tell_transaction(struct sr_ask *a, const struct transaction *t,
                                    const char *prefix, const char *became)
{
    char since[64], job[33];
    kafka_tell_when(t->since_ms, since);
    kafka_tell_job(t->id, prefix, job);
    const struct sr_fact fact[] = {{.name = "transactional_id", .text = t->id},
                                   {.name = "state", .text = transaction_state_name(t->state)},
                                   {.name = "producer_id", .number = t->producer_id},
                                   {.name = "epoch", .number = t->epoch},
                                   {.name = "since", .text = since},
                                   {.name = "timeout_ms", .number = t->timeout_ms},
                                   {.name = "job", .text = job},
                                   {.name = "partitions", .text = t->partitions},
                                   {.name = "became", .text = became}};
    uint32_t facts = sizeof(fact) / sizeof(fact[0]);
    return a->row(a, fact, became ? facts : facts - 1);
}

/* What became of those that were open before. */
static sr_rc kafka_tell_became(struct sr_ask *a, const struct transactions *before,
                               const struct transactions *after, const char *prefix,
                               struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < before->count; i++) {
        const struct transaction *t = &before->item[i], *now = transactions_find(after, t->id);
        if (!transaction_is_open(t)) {
            continue;
        }
        /* One that moved on by itself may be open again: by a producer that lives. */
        bool is_open = now && transaction_is_open(now) && now->since_ms == t->since_ms;
        bool is_committed = now && now->ended == TRANSACTION_COMPLETE_COMMIT;
        if (is_open) {
            return a->host->fail(a->host, err, SR_EIO, "kafka: transaction '%s' is still open",
                                 t->id);
        }
        rc = kafka_tell_transaction(a, t, prefix, is_committed ? "committed" : "aborted");
    }
    return rc;
}

static sr_rc kafka_tell_abort(struct sr_ask *a, const struct sr_pairs *properties, const char *stem,
                              const char *prefix, struct sr_error *err)
{
    struct transactions before = {.count = 0}, after = {.count = 0};
    uint32_t open = 0;
    sr_rc rc = transactions_read(&before, a, properties, stem, err);
    for (uint32_t i = 0; rc == SR_OK && i < before.count; i++) {
        const struct transaction *t = &before.item[i];
        if (transaction_is_open(t)) {
            rc = transaction_end(a, properties, t->id, t->timeout_ms, err);
            open++;
        }
    }
    if (rc == SR_OK && open > 0) {
        rc = transactions_read(&after, a, properties, stem, err);
    }
    if (rc == SR_OK && open > 0) {
        rc = kafka_tell_became(a, &before, &after, prefix, err);
    }
    transactions_done(&before);
    transactions_done(&after);
    return rc;
}

static sr_rc kafka_tell_open(struct sr_ask *a, const struct sr_pairs *properties, const char *stem,
                             const char *prefix, struct sr_error *err)
{
    struct transactions all = {.count = 0};
    uint32_t idle = 0;
    sr_rc rc = transactions_read(&all, a, properties, stem, err);
    for (uint32_t i = 0; rc == SR_OK && i < all.count; i++) {
        if (transaction_is_open(&all.item[i])) {
            rc = kafka_tell_transaction(a, &all.item[i], prefix, NULL);
        } else {
            idle += all.item[i].state == TRANSACTION_DEAD ? 0 : 1;
        }
    }
    if (rc == SR_OK) {
        a->tell(a, SR_INFO, "%u ids that begin with '%s' have no open transaction", idle, stem);
    }
    transactions_done(&all);
    return rc;
}

/* Ids are "PREFIX-", eight or all digits of the job's id, and more: kafka_decider.c, kafka_redo.c.
 */
static sr_rc kafka_tell_by_prefix(struct sr_ask *a, struct sr_error *err)
{
    const struct kafka_sink_conf *c = a->conf;
    char prefix[KAFKA_ID_BYTES], stem[KAFKA_ID_BYTES];
    bool is_redo = c->method.index == KAFKA_REDO && c->guarantee.index == SR_EXACTLY_ONCE;
    if (!c->prefix && !is_redo) {
        return a->host->fail(
            a->host, err, SR_ECONFIG,
            "the sink has no sink.transactional-id-prefix, and so no transactions");
    }
    (void)snprintf(prefix, sizeof(prefix), "%.200s-", c->prefix ? c->prefix : "streamrun");
    (void)snprintf(stem, sizeof(stem), "%.201s%.8s", prefix, a->job_id ? a->job_id : "");
    return a->question == SR_ASK_ABORT ? kafka_tell_abort(a, &c->properties, stem, prefix, err)
                                       : kafka_tell_open(a, &c->properties, stem, prefix, err);
}

sr_rc kafka_tell_sink(struct sr_ask *a, struct sr_error *err)
{
    switch (a->question) {
    case SR_ASK_CONNECTED:
        return kafka_tell_connected(a, err);
    case SR_ASK_TRANSACTIONS:
    case SR_ASK_ABORT:
        return kafka_tell_by_prefix(a, err);
    case SR_ASK_POSITIONS:
        break;
    }
    return a->host->fail(a->host, err, SR_ECONFIG, "a kafka sink has no positions");
}
