#include "connectors/kafka/client.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT_SETTING_MS 10000
#define CLIENT_LOG_LEVEL  3 /* syslog's numbers: errors and what is worse */

const char *const client_usual[] = {"bootstrap.servers", "group.id", NULL};

/* --- Errors ---------------------------------------------------------------------------------- */

sr_rc client_rc(rd_kafka_resp_err_t e)
{
    switch ((int)e) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        return SR_OK;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        return SR_EACCESS;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        return SR_EABSENT;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        return SR_EDATA;
    case RD_KAFKA_RESP_ERR_INVALID_MSG: /* as read: its checksum, or its form, is wrong */
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
        return SR_ECORRUPT;
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
        return SR_EFENCED;
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
        return SR_ECONFIG;
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
        return SR_EBUSY;
    default: /* they are many, and most of them pass */
        return SR_EIO;
    }
}

sr_rc client_fail(const struct client *c, struct sr_error *err, rd_kafka_resp_err_t e,
                  const char *what)
{
    return c->host->fail(c->host, err, client_rc(e), "%s: %s", what, rd_kafka_err2str(e));
}

sr_rc client_is_let_in(const struct client *c, const struct sr_pairs *properties,
                       struct sr_error *err)
{
    rd_kafka_resp_err_t e =
        (rd_kafka_resp_err_t)atomic_load_explicit(&c->denied, memory_order_relaxed);
    if (!e) {
        return SR_OK;
    }
    const char *mechanism = props_find(properties, "sasl.mechanism");
    mechanism = mechanism ? mechanism : props_find(properties, "sasl.mechanisms");
    bool is_scram = mechanism && strncmp(mechanism, "SCRAM", 5) == 0;
    if (is_scram && e == RD_KAFKA_RESP_ERR__AUTHENTICATION && rd_kafka_version() < CLIENT_SCRAM) {
        return c->host->fail(c->host, err, SR_EACCESS,
                             "kafka: %s: user and password may be right: brokers of Kafka 4 refuse "
                             "the SCRAM of librdkafka %s, they need 2.6.1 or later (or PLAIN over "
                             "TLS)",
                             rd_kafka_err2str(e), rd_kafka_version_str());
    }
    return c->host->fail(c->host, err, SR_EACCESS, "kafka: %s (the log has the broker's words)",
                         e == RD_KAFKA_RESP_ERR__SSL ? "Local: TLS failed" : rd_kafka_err2str(e));
}

/* --- What it logs ----------------------------------------------------------------------------- */

/* Lines that differ only in numbers are of one kind. */
static uint64_t client_kind(const char *words)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *words; words++) {
        if (!isdigit((unsigned char)*words)) {
            h = (h ^ (unsigned char)*words) * UINT64_C(1099511628211);
        }
    }
    return h ? h : 1;
}

/* True: it is to be told. *untold: how many of its kind were not. */
static bool client_is_news(struct client *c, const char *words, uint32_t *untold)
{
    uint64_t kind = client_kind(words);
    int64_t now_us = c->host->mono_us(c->host);
    struct client_line *line = &c->line[0];
    bool is_news = true;
    (void)pthread_mutex_lock(&c->lock); /* a plain mutex that is there */
    for (uint32_t i = 0; i < CLIENT_LINES_MAX && line->kind != kind; i++) {
        bool is_older = c->line[i].kind == 0 || c->line[i].told_us < line->told_us;
        line = c->line[i].kind == kind || is_older ? &c->line[i] : line;
    }
    if (line->kind == kind && now_us - line->told_us < CLIENT_LINE_US) {
        line->untold++;
        is_news = false;
    } else {
        *untold = line->kind == kind ? line->untold : 0;
        *line = (struct client_line){.kind = kind, .told_us = now_us};
    }
    (void)pthread_mutex_unlock(&c->lock); /* it is ours */
    return is_news;
}

static void client_log(const rd_kafka_t *rk, int level, const char *facility, const char *words)
{
    struct client *c = rd_kafka_opaque(rk);
    uint32_t untold = 0;
    if (level > CLIENT_LOG_LEVEL || !c || !client_is_news(c, words, &untold)) {
        return;
    }
    if (untold > 0) {
        c->host->log(c->host, SR_WARN, "librdkafka, %s: %s (%u more like this since it was told)",
                     facility, words, untold);
    } else {
        c->host->log(c->host, SR_WARN, "librdkafka, %s: %s", facility, words);
    }
}

static void client_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    (void)rk;
    (void)reason; /* librdkafka logs it too */
    struct client *c = opaque;
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        atomic_store_explicit(&c->is_down, true, memory_order_relaxed);
    }
    if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL) {
        atomic_store_explicit(&c->denied, code, memory_order_relaxed);
    }
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        char why[8];
        int fatal = rd_kafka_fatal_error(rk, why, sizeof(why));
        atomic_store_explicit(&c->fatal, fatal, memory_order_relaxed);
    }
}

void client_tell_idle(const struct sr_host *host, const struct sr_pairs *properties)
{
    uint32_t i = 0;
    const char *name;
    while ((name = props_idle(properties, &i)) != NULL) {
        host->log(host, SR_INFO, "properties.%s has no meaning here", name);
    }
}

/* --- Opening --------------------------------------------------------------------------------- */

void client_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[256];
    rd_kafka_conf_res_t set = rd_kafka_conf_set(conf, name, value, why, sizeof(why));
    (void)set; /* a name and a value that each version knows */
}

void client_default(rd_kafka_conf_t *conf, const struct sr_pairs *properties, const char *name,
                    const char *value)
{
    if (!props_find(properties, name)) {
        client_set(conf, name, value);
    }
}

sr_rc client_conf(const struct sr_pairs *properties, rd_kafka_conf_t **out, struct sr_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    client_set(conf, "client.id", "streamrun");
    client_set(conf, "topic.metadata.refresh.interval.ms", "30000");
    client_set(conf, "log.connection.close", "false"); /* of idle ones, which is no news */
    sr_rc rc = props_apply(properties, conf, err);
    if (rc != SR_OK) {
        rd_kafka_conf_destroy(conf);
        return rc;
    }
    *out = conf;
    return SR_OK;
}

sr_rc client_check(const struct sr_pairs *properties, struct sr_error *err)
{
    rd_kafka_conf_t *conf = NULL;
    const char *servers = props_find(properties, "bootstrap.servers");
    servers = servers ? servers : props_find(properties, "metadata.broker.list");
    if (!servers || !*servers) {
        return props_fail(err, SR_ECONFIG,
                          "properties.bootstrap.servers is missing, as in 'host1:9092,host2:9092'");
    }
    sr_rc rc = client_conf(properties, &conf, err);
    if (rc == SR_OK) {
        rd_kafka_conf_destroy(conf);
    }
    return rc;
}

/* Tokens are made on a thread of librdkafka's own: some calls wait, and serve no callbacks. */
static void client_answer_sasl(struct client *c)
{
    char mechanism[64] = "";
    size_t size = sizeof(mechanism);
    (void)rd_kafka_conf_get(rd_kafka_conf(c->rk), "sasl.mechanisms", mechanism, &size); /* or cut */
    if (strcmp(mechanism, "OAUTHBEARER") == 0) {
        rd_kafka_error_destroy(rd_kafka_sasl_background_callbacks_enable(c->rk));
    }
}

sr_rc client_open(struct client *c, const struct sr_host *host, rd_kafka_type_t type,
                  rd_kafka_conf_t *conf, struct sr_error *err)
{
    char why[400] = "";
    c->host = host;
    c->has_lock = c->has_lock || pthread_mutex_init(&c->lock, NULL) == 0;
    if (!c->has_lock) {
        rd_kafka_conf_destroy(conf);
        return host->fail(host, err, SR_ENOMEM, "kafka: out of memory");
    }
    atomic_store_explicit(&c->is_down, false, memory_order_relaxed);
    atomic_store_explicit(&c->fatal, 0, memory_order_relaxed);
    atomic_store_explicit(&c->denied, 0, memory_order_relaxed);
    rd_kafka_conf_set_opaque(conf, c);
    rd_kafka_conf_set_log_cb(conf, client_log);
    rd_kafka_conf_set_error_cb(conf, client_error);
    rd_kafka_conf_enable_sasl_queue(conf, 1);
    c->rk = rd_kafka_new(type, conf, why, sizeof(why));
    if (c->rk) {
        client_answer_sasl(c);
        return SR_OK;
    }
    rd_kafka_conf_destroy(conf);
    return host->fail(host, err, SR_ECONFIG, "kafka: no client can be made: %s", why);
}

void client_close(struct client *c)
{
    if (c->rk) {
        rd_kafka_destroy(c->rk);
    }
    if (c->has_lock) {
        (void)pthread_mutex_destroy(&c->lock); /* nobody holds it any more */
    }
    c->rk = NULL;
    c->has_lock = false;
}

/* --- Settings --------------------------------------------------------------------------------- */

static bool client_setting_in(const rd_kafka_DescribeConfigs_result_t *r, const char *name,
                              int64_t *out)
{
    size_t resources = 0, count = 0;
    const rd_kafka_ConfigResource_t **resource =
        r ? rd_kafka_DescribeConfigs_result_resources(r, &resources) : NULL;
    if (resources == 0 || rd_kafka_ConfigResource_error(resource[0])) {
        return false;
    }
    const rd_kafka_ConfigEntry_t **entry = rd_kafka_ConfigResource_configs(resource[0], &count);
    for (size_t i = 0; i < count; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entry[i]);
        if (value && strcmp(rd_kafka_ConfigEntry_name(entry[i]), name) == 0) {
            *out = strtoll(value, NULL, 10);
            return true;
        }
    }
    return false;
}

bool client_setting(const struct client *c, rd_kafka_ResourceType_t kind, const char *of,
                    const char *name, int64_t *out)
{
    char words[128];
    bool is_told = false;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(c->rk);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(kind, of);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(c->rk, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    /* The time is one that it takes. */
    (void)rd_kafka_AdminOptions_set_request_timeout(options, CLIENT_SETTING_MS, words,
                                                    sizeof(words));
    rd_kafka_DescribeConfigs(c->rk, &resource, 1, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, CLIENT_SETTING_MS + 1000);
    if (event) {
        is_told = client_setting_in(rd_kafka_event_DescribeConfigs_result(event), name, out);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_queue_destroy(queue);
    return is_told;
}
