#include "connectors/kafka/outlets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTLETS_AGAIN_US  INT64_C(300000)   /* between two looks for a topic that is not there */
#define OUTLETS_LATER_US  INT64_C(1000000)  /* between two when no broker answers */
#define OUTLETS_LACK_US   INT64_C(10000000) /* that a topic is taken not to be there */
#define OUTLETS_ANSWER_MS 10000

/* Takes own, which may be NULL; also when it fails. */
static sr_rc outlets_put(struct outlets *o, const char *name, char *own, struct sr_error *err)
{
    const struct sr_host *host = o->client->host;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(o->client->rk, name, o->how.conf(o->how.ctx));
    if (!topic) {
        sr_rc rc = host->fail(host, err, SR_ECONFIG, "kafka topic '%s': %s", name,
                              rd_kafka_err2str(rd_kafka_last_error()));
        free(own);
        return rc;
    }
    o->item[o->count++] = (struct outlet){.name = name, .own = own, .topic = topic};
    return SR_OK;
}

sr_rc outlets_open(struct outlets *o, struct client *client, const struct outlets_how *how,
                   struct sr_error *err)
{
    static const uint64_t one = 1;
    sr_rc rc = SR_OK;
    o->client = client;
    o->how = *how;
    o->queue = rd_kafka_queue_new(client->rk);
    rd_kafka_queue_io_event_enable(o->queue, how->fd, &one, sizeof(one));
    for (uint32_t i = 0; rc == SR_OK && i < how->topics->count && i < OUTLETS_MAX; i++) {
        rc = outlets_put(o, how->topics->item[i], NULL, err);
    }
    o->is_ready = o->count == 0;
    return rc;
}

void outlets_close(struct outlets *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        rd_kafka_topic_destroy(o->item[i].topic);
        free(o->item[i].own);
    }
    if (o->queue) {
        rd_kafka_queue_destroy(o->queue);
    }
    *o = (struct outlets){.client = NULL};
}

/* --- Questions and answers -------------------------------------------------------------------- */

static void outlets_request(struct outlets *o)
{
    char words[128];
    rd_kafka_ConfigResource_t *resource[OUTLETS_MAX];
    size_t count = 0;
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(o->client->rk, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    /* The time is one that it takes. */
    (void)rd_kafka_AdminOptions_set_request_timeout(options, OUTLETS_ANSWER_MS, words,
                                                    sizeof(words));
    for (uint32_t i = 0; i < o->count; i++) {
        if (!o->item[i].is_settled) {
            const char *name = o->item[i].name;
            resource[count++] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
        }
    }
    rd_kafka_DescribeConfigs(o->client->rk, resource, count, options, o->queue);
    rd_kafka_ConfigResource_destroy_array(resource, count);
    rd_kafka_AdminOptions_destroy(options);
    o->is_asking = true;
}

static void outlet_set(struct outlet *l, const char *name, const char *value)
{
    if (strcmp(name, "max.message.bytes") == 0) {
        l->bytes_max = strtoll(value, NULL, 10);
    } else if (strcmp(name, "message.timestamp.before.max.ms") == 0) {
        l->before_ms = strtoll(value, NULL, 10);
    } else if (strcmp(name, "message.timestamp.after.max.ms") == 0) {
        l->after_ms = strtoll(value, NULL, 10);
    } else if (strcmp(name, "message.timestamp.type") == 0) {
        l->is_append = strcmp(value, "LogAppendTime") == 0;
    } else if (strcmp(name, "compression.type") == 0) {
        l->packs = strcmp(value, "producer") != 0 && strcmp(value, "uncompressed") != 0;
    } else if (strcmp(name, "cleanup.policy") == 0) {
        l->needs_key = strstr(value, "compact") != NULL;
    }
}

static void outlet_learn(struct outlet *l, const rd_kafka_ConfigResource_t *resource)
{
    size_t count = 0;
    const rd_kafka_ConfigEntry_t **entry = rd_kafka_ConfigResource_configs(resource, &count);
    l->is_known = true;
    l->bytes_max = l->before_ms = l->after_ms = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entry[i]);
        if (value) {
            outlet_set(l, rd_kafka_ConfigEntry_name(entry[i]), value);
        }
    }
}

/* For a while it counts as not being there. */
static void outlets_mark(struct outlets *o, struct outlet *l)
{
    const struct sr_host *host = o->client->host;
    l->is_settled = l->is_absent = true;
    l->again_us = host->mono_us(host) + OUTLETS_LACK_US;
}

sr_rc outlets_lack(struct outlets *o, struct outlet *l, struct sr_error *err)
{
    const struct sr_host *host = o->client->host;
    if (!o->how.may_lack) {
        return host->fail(host, err, SR_EIO, "kafka: there is no topic '%s'", l->name);
    }
    outlets_mark(o, l);
    return host->fail(host, err, SR_EDATA, "there is no topic '%s'", l->name);
}

/* As an answer says. */
static sr_rc outlets_miss(struct outlets *o, struct outlet *l, struct sr_error *err)
{
    if (!o->how.may_lack) {
        return outlets_lack(o, l, err);
    }
    outlets_mark(o, l); /* the rows that name it are told */
    return SR_OK;
}

/* SR_EBUSY: it may be there at the next look. */
static sr_rc outlets_answer(struct outlets *o, const rd_kafka_ConfigResource_t *resource,
                            struct sr_error *err)
{
    const struct sr_host *host = o->client->host;
    const char *name = rd_kafka_ConfigResource_name(resource);
    struct outlet *l = outlets_find(o, name, strlen(name));
    if (!l) {
        return SR_OK; /* not asked for */
    }
    switch ((int)rd_kafka_ConfigResource_error(resource)) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        outlet_learn(l, resource);
        l->is_settled = true;
        return SR_OK;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        return o->tries < OUTLETS_TRIES ? SR_EBUSY : outlets_miss(o, l, err);
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return o->how.may_lack ? outlets_miss(o, l, err)
                               : host->fail(host, err, SR_ECONFIG,
                                            "kafka: '%s' is no name that a topic may have", name);
    default: /* it cannot be asked for, which says nothing about writing */
        host->log(host, SR_INFO, "the limits of topic '%s' are not known: %s", name,
                  rd_kafka_err2str(rd_kafka_ConfigResource_error(resource)));
        l->is_settled = true;
        return SR_OK;
    }
}

static sr_rc outlets_take(struct outlets *o, rd_kafka_event_t *event, int64_t *pause_us,
                          struct sr_error *err)
{
    const rd_kafka_DescribeConfigs_result_t *result = rd_kafka_event_DescribeConfigs_result(event);
    if (!result) {
        return SR_OK; /* of another kind */
    }
    o->is_asking = false;
    if (rd_kafka_event_error(event)) {
        *pause_us = OUTLETS_LATER_US;
        return SR_EBUSY; /* no broker answered */
    }
    size_t count = 0;
    const rd_kafka_ConfigResource_t **resource =
        rd_kafka_DescribeConfigs_result_resources(result, &count);
    sr_rc rc = SR_OK;
    atomic_store_explicit(&o->client->is_down, false, memory_order_relaxed);
    o->tries++; /* one look, at however many topics */
    for (size_t i = 0; i < count && (rc == SR_OK || rc == SR_EBUSY); i++) {
        sr_rc one = outlets_answer(o, resource[i], err);
        rc = one == SR_OK ? rc : one;
    }
    bool is_settled = rc == SR_OK;
    for (uint32_t i = 0; i < o->count; i++) {
        is_settled = is_settled && o->item[i].is_settled;
    }
    o->is_ready = is_settled;
    *pause_us = rc == SR_OK ? 0 : OUTLETS_AGAIN_US; /* some were added meanwhile */
    return rc == SR_OK && !is_settled ? SR_EBUSY : rc;
}

sr_rc outlets_ask(struct outlets *o, int64_t *until_us, struct sr_error *err)
{
    const struct sr_host *host = o->client->host;
    int64_t pause_us = 0;
    sr_rc rc = SR_EBUSY;
    if (o->is_ready) {
        return SR_OK;
    }
    rd_kafka_event_t *event = rd_kafka_queue_poll(o->queue, 0);
    if (event) {
        rc = outlets_take(o, event, &pause_us, err);
        rd_kafka_event_destroy(event);
        o->due_us = host->mono_us(host) + pause_us;
    }
    if (rc == SR_EBUSY && !o->is_asking && host->mono_us(host) >= o->due_us) {
        outlets_request(o);
    }
    *until_us = o->is_asking ? INT64_MAX : o->due_us;
    return rc == SR_OK && !o->is_ready ? SR_EBUSY : rc;
}

sr_rc outlets_add(struct outlets *o, const char *name, size_t len, struct sr_error *err)
{
    const struct sr_host *host = o->client->host;
    if (o->count == OUTLETS_MAX) {
        return host->fail(host, err, SR_ELIMIT, "kafka: rows go to more than %u topics",
                          OUTLETS_MAX);
    }
    char *own = strndup(name, len);
    if (!own) {
        return host->fail(host, err, SR_ENOMEM, "kafka: out of memory");
    }
    sr_rc rc = outlets_put(o, own, own, err);
    if (rc == SR_OK) {
        outlets_again(o, &o->item[o->count - 1]);
    }
    return rc;
}

void outlets_again(struct outlets *o, struct outlet *l)
{
    l->is_settled = l->is_absent = false;
    o->is_ready = false;
    o->tries = 0;
    o->due_us = 0;
    if (!o->is_asking) {
        outlets_request(o);
    }
}

/* --- What they take --------------------------------------------------------------------------- */

struct outlet *outlets_find(struct outlets *o, const char *name, size_t len)
{
    for (uint32_t i = 0; i < o->count; i++) {
        if (strlen(o->item[i].name) == len && memcmp(o->item[i].name, name, len) == 0) {
            return &o->item[i];
        }
    }
    return NULL;
}

int64_t outlets_bytes_max(const struct outlets *o)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < o->count; i++) {
        bool is_less = o->item[i].is_known && o->item[i].bytes_max < least;
        least = is_less ? o->item[i].bytes_max : least;
    }
    return least;
}

bool outlet_takes_time(const struct outlet *l, int64_t timestamp_ms, int64_t now_ms,
                       char words[160])
{
    if (!l->is_known || l->is_append) {
        return true;
    }
    bool is_late = timestamp_ms > now_ms && timestamp_ms - now_ms > l->after_ms;
    bool is_early = timestamp_ms < now_ms && now_ms - timestamp_ms > l->before_ms;
    if (is_late || is_early) {
        (void)snprintf(words, 160,
                       "topic '%.60s' takes no timestamp so far in the %s: %" PRId64 " ms "
                       "(message.timestamp.%s.max.ms)",
                       l->name, is_late ? "future" : "past", timestamp_ms,
                       is_late ? "after" : "before");
    }
    return !is_late && !is_early;
}
