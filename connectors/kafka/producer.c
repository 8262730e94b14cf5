#include "connectors/kafka/producer.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PRODUCER_DRAIN_US INT64_C(2000) /* between two looks whether all has its answer */
#define PRODUCER_BATCH    61            /* bytes of a batch around its records */
#define PRODUCER_RECORD   3             /* of its first record: attributes, and distances of 0 */

/* --- Callbacks -------------------------------------------------------------------------------- */

static const struct producer_owner *producer_owner(const struct producer *p, const void *tag)
{
    return &p->owner[p->owners == 1 ? 0 : flights_owner(tag)];
}

static void producer_delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    (void)rk;
    struct producer *p = opaque;
    bool is_large = m->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    /* Where batches are kept below the topic's limit, one that is too large is one record. */
    bool is_of_row = is_large && p->batch_bytes > 0;
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR &&
        atomic_load_explicit(&p->client.is_down, memory_order_relaxed)) {
        atomic_store_explicit(&p->client.is_down, false, memory_order_relaxed);
    }
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR && p->transactional_id) {
        (void)pthread_mutex_lock(&p->lock);
        p->has_row = true;
        p->row = (struct producer_row){rd_kafka_topic_name(m->rkt), m->partition, m->offset};
        (void)pthread_mutex_unlock(&p->lock);
    }
    struct flights *flights = producer_owner(p, m->_private)->flights;
    if (flights) { /* else its sink is gone, and the transaction will not be committed */
        flights_answer(flights, m->_private, m->err, is_of_row);
    }
}

static int32_t producer_fixed(const rd_kafka_topic_t *topic, const void *key, size_t len,
                              int32_t partitions, void *opaque, void *tag)
{
    (void)topic, (void)key, (void)len;
    return (int32_t)(producer_owner(opaque, tag)->part % (uint32_t)partitions);
}

static int32_t producer_round_robin(const rd_kafka_topic_t *topic, const void *key, size_t len,
                                    int32_t partitions, void *opaque, void *tag)
{
    (void)topic, (void)key, (void)len;
    uint64_t row = flights_row_of(producer_owner(opaque, tag)->flights, tag);
    return (int32_t)(row % (uint64_t)partitions);
}

static rd_kafka_topic_conf_t *producer_topic_conf(void *producer)
{
    struct producer *p = producer;
    rd_kafka_topic_conf_t *conf = rd_kafka_default_topic_conf_dup(p->client.rk);
    rd_kafka_topic_conf_set_opaque(conf, p);
    switch ((enum kafka_partitioner)p->conf->partitioner.index) {
    case KAFKA_BY_KEY:
        break; /* as the default says: murmur2, as Java's */
    case KAFKA_FIXED:
        rd_kafka_topic_conf_set_partitioner_cb(conf, producer_fixed);
        break;
    case KAFKA_ROUND_ROBIN:
        rd_kafka_topic_conf_set_partitioner_cb(conf, producer_round_robin);
        break;
    }
    return conf;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static bool producer_is_written(const struct kafka_sink_conf *c, const char *name)
{
    return props_find(&c->properties, name) != NULL;
}

/* Idempotence keeps the order and repeats nothing at retries, as Java's producers do unless told
 * otherwise; some settings exclude it. */
static bool producer_may_be_idempotent(const struct kafka_sink_conf *c)
{
    const char *acks = props_find(&c->properties, "acks");
    acks = acks ? acks : props_find(&c->properties, "request.required.acks");
    const char *retries = props_find(&c->properties, "retries");
    const char *most = props_find(&c->properties, "max.in.flight.requests.per.connection");
    bool has_acks = !acks || strcmp(acks, "all") == 0 || strcmp(acks, "-1") == 0;
    return has_acks && (!retries || strcmp(retries, "0") != 0) &&
           (!most || strtol(most, NULL, 10) <= 5) && !producer_is_written(c, "enable.idempotence");
}

static sr_rc producer_start(struct producer *p, const struct sr_host *host, struct sr_error *err)
{
    static const uint64_t one = 1;
    const struct kafka_sink_conf *c = p->conf;
    rd_kafka_conf_t *conf = NULL;
    char text[24];
    sr_rc rc = client_conf(&c->properties, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (c->partitioner.index == KAFKA_BY_KEY) {
        client_set(conf, "partitioner", "murmur2_random");
    } else { /* else ours is not asked for records without a key */
        client_set(conf, "sticky.partitioning.linger.ms", "0");
    }
    if (producer_may_be_idempotent(c)) {
        client_set(conf, "enable.idempotence", "true");
    }
    bool has_timeout = producer_is_written(c, "message.timeout.ms") ||
                       producer_is_written(c, "delivery.timeout.ms");
    if (p->transactional_id) {
        client_set(conf, "transactional.id", p->transactional_id);
        (void)snprintf(text, sizeof(text), "%d", KAFKA_TRANSACTION_MS);
        client_default(conf, &c->properties, "transaction.timeout.ms", text);
    } else if (!has_timeout) {
        client_set(conf, "message.timeout.ms", "0"); /* a broker that is gone is waited for */
    }
    if (!producer_is_written(c, "buffer.memory") &&
        !producer_is_written(c, "queue.buffering.max.kbytes")) {
        client_set(conf, "queue.buffering.max.kbytes", "32768"); /* as Java's */
    }
    if (p->batch_bytes > 0) {
        (void)snprintf(text, sizeof(text), "%" PRId64, p->batch_bytes);
        client_set(conf, "batch.size", text);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, producer_delivered);
    rc = client_open(&p->client, host, RD_KAFKA_PRODUCER, conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    rd_kafka_queue_t *answers = rd_kafka_queue_get_main(p->client.rk);
    rd_kafka_queue_io_event_enable(answers, p->fd, &one, sizeof(one));
    rd_kafka_queue_destroy(answers); /* this reference */
    struct outlets_how how = {.topics = &c->topics,
                              .may_lack = c->pattern,
                              .fd = p->fd,
                              .conf = producer_topic_conf,
                              .ctx = p};
    return outlets_open(&p->outlets, &p->client, &how, err);
}

static sr_rc producer_has_transactions(struct producer *p, const struct producer_how *how)
{
    if (!how->transactional_id) {
        return SR_OK;
    }
    if (pthread_mutex_init(&p->lock, NULL) != 0) {
        return SR_ENOMEM;
    }
    p->transactional_id = strdup(how->transactional_id);
    if (!p->transactional_id) {
        (void)pthread_mutex_destroy(&p->lock); /* nobody holds it */
    }
    return p->transactional_id ? SR_OK : SR_ENOMEM;
}

sr_rc producer_open(struct producer *p, const struct sr_host *host,
                    const struct kafka_sink_conf *conf, const struct producer_how *how,
                    struct sr_error *err)
{
    *p = (struct producer){.conf = conf, .owner = how->owner, .owners = how->owners, .fd = -1};
    if (producer_has_transactions(p, how) != SR_OK) {
        return host->fail(host, err, SR_ENOMEM, "kafka: out of memory");
    }
    p->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return p->fd < 0 ? host->fail(host, err, SR_EIO, "kafka: no descriptor is to be had")
                     : producer_start(p, host, err);
}

static void producer_stop(struct producer *p)
{
    outlets_close(&p->outlets);
    if (p->client.rk) {
        (void)rd_kafka_purge(p->client.rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    }
    client_close(&p->client);
}

void producer_close(struct producer *p)
{
    bool is_open = p->conf != NULL;
    producer_stop(p);
    if (is_open && p->fd >= 0) {
        (void)close(p->fd); /* nothing was written */
    }
    if (p->transactional_id) {
        (void)pthread_mutex_destroy(&p->lock); /* nobody holds it */
        free(p->transactional_id);
    }
    *p = (struct producer){.fd = -1};
}

/* Batches of what librdkafka takes for one are larger than the smallest that a topic takes? */
static bool producer_is_too_large(const struct producer *p, int64_t most)
{
    const char *written = props_find(&p->conf->properties, "batch.size");
    int64_t size = p->batch_bytes > 0 ? p->batch_bytes
                   : written          ? strtoll(written, NULL, 10)
                                      : 1000000;
    return size > most;
}

sr_rc producer_ready(struct producer *p, int64_t *until_us, struct sr_error *err)
{
    sr_rc rc = outlets_ask(&p->outlets, until_us, err);
    int64_t most = outlets_bytes_max(&p->outlets);
    bool is_kept = p->batch_bytes > 0 && p->batch_bytes <= most;
    if (rc != SR_OK || most == INT64_MAX || is_kept) {
        return rc;
    }
    if (!producer_is_too_large(p, most)) {
        p->batch_bytes = most; /* known, and kept to already */
        return SR_OK;
    }
    const struct sr_host *host = p->client.host;
    if (rd_kafka_outq_len(p->client.rk) > 0) { /* to other topics, before this one was named */
        *until_us = host->mono_us(host) + PRODUCER_DRAIN_US;
        return SR_EBUSY;
    }
    host->log(host, SR_INFO, "kafka: batches have at most %" PRId64 " bytes, as a topic's %s says",
              most, "max.message.bytes");
    producer_stop(p);
    p->batch_bytes = most;
    rc = producer_start(p, host, err);
    *until_us = INT64_MAX;
    return rc == SR_OK ? SR_EBUSY : rc;
}

/* --- Sending ---------------------------------------------------------------------------------- */

static sr_rc producer_check(const struct producer *p, const struct outlet *to,
                            const struct record *r, struct sr_error *err)
{
    const struct sr_host *host = p->client.host;
    char words[160];
    if (r->timestamp_ms != RECORD_NOW && r->timestamp_ms < 0) {
        return host->fail(host, err, SR_EDATA, "a record's timestamp cannot be before 1970");
    }
    int64_t now_ms = host->wall_us(host) / 1000;
    if (r->timestamp_ms != RECORD_NOW && !outlet_takes_time(to, r->timestamp_ms, now_ms, words)) {
        return host->fail(host, err, SR_EDATA, "%s", words);
    }
    if (!r->key && to->needs_key) {
        return host->fail(host, err, SR_EDATA,
                          "topic '%s' is compacted, and takes no record without a key", to->name);
    }
    return SR_OK;
}

/* Bytes of a number in a record: 7 bits each, the sign in the first. */
static int64_t producer_varint(int64_t n)
{
    uint64_t bits = (uint64_t)n << 1;
    int64_t bytes = 1;
    for (; bits > 127; bits >>= 7) {
        bytes++;
    }
    return bytes;
}

static int64_t producer_text(const void *text, size_t len)
{
    return text ? producer_varint((int64_t)len) + (int64_t)len : 1;
}

/* What a record is alone in a batch, as brokers count it. */
static int64_t producer_batch_bytes(const struct record *r)
{
    size_t headers = r->headers ? rd_kafka_header_cnt(r->headers) : 0;
    int64_t bytes = PRODUCER_RECORD + producer_text(r->key, r->key_len) +
                    producer_text(r->value, r->value_len) + producer_varint((int64_t)headers);
    const char *name = NULL;
    const void *value = NULL;
    size_t len = 0;
    for (size_t i = 0; i < headers; i++) {
        (void)rd_kafka_header_get_all(r->headers, i, &name, &value, &len); /* it is there */
        bytes += producer_text(name, strlen(name)) + producer_text(value, len);
    }
    return PRODUCER_BATCH + producer_varint(bytes) + bytes;
}

bool producer_packs(const struct producer *p, const struct outlet *to)
{
    static const char *const key[] = {"compression.type", "compression.codec"};
    bool packs = to->packs;
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        const char *codec = props_find(&p->conf->properties, key[i]);
        packs = packs || (codec && strcmp(codec, "none") != 0);
    }
    return packs;
}

sr_rc producer_fits(const struct producer *p, const struct outlet *to, const struct record *record,
                    struct sr_error *err)
{
    int64_t bytes = producer_batch_bytes(record);
    if (!to->is_known || bytes <= to->bytes_max) {
        return SR_OK;
    }
    return p->client.host->fail(p->client.host, err, SR_EDATA,
                                "a record of %" PRId64 " bytes is too large for topic '%s' "
                                "(max.message.bytes %" PRId64 ")",
                                bytes, to->name, to->bytes_max);
}

sr_rc producer_takes(const struct producer *p, const struct outlet *to, const struct record *record,
                     struct sr_error *err)
{
    sr_rc rc = producer_fits(p, to, record, err);
    return rc == SR_OK ? producer_check(p, to, record, err) : rc;
}

sr_rc producer_outlet(struct producer *p, const struct records *records,
                      const struct record *record, struct outlet **to, struct sr_error *err)
{
    if (records->metadata[RECORD_TOPIC] < 0) {
        const char *topic = p->conf->topics.item[0];
        *to = outlets_find(&p->outlets, topic, strlen(topic));
        return SR_OK;
    }
    *to = record->topic ? outlets_find(&p->outlets, record->topic, record->topic_len) : NULL;
    return *to ? SR_OK
               : p->client.host->fail(p->client.host, err, SR_EDATA,
                                      "'%.*s' is none of the sink's topics", (int)record->topic_len,
                                      record->topic ? record->topic : "");
}

static rd_kafka_resp_err_t producer_give(struct producer *p, const struct outlet *to,
                                         const struct record *r, void *tag)
{
    if (r->timestamp_ms == RECORD_NOW && !r->headers) {
        return rd_kafka_produce(to->topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, r->value,
                                r->value_len, r->key, r->key_len, tag) == 0
                   ? RD_KAFKA_RESP_ERR_NO_ERROR
                   : rd_kafka_last_error();
    }
    /* librdkafka takes 0 for now; a millisecond later is the nearest that can be said. */
    int64_t at_ms = r->timestamp_ms == RECORD_NOW ? 0 : r->timestamp_ms > 0 ? r->timestamp_ms : 1;
    rd_kafka_vu_t field[] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = to->topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = RD_KAFKA_PARTITION_UA},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {.ptr = r->value, .size = r->value_len}},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {.ptr = r->key, .size = r->key_len}},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = tag},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = at_ms},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = r->headers}};
    size_t fields = sizeof(field) / sizeof(field[0]) - (r->headers ? 0 : 1);
    rd_kafka_error_t *error = rd_kafka_produceva(p->client.rk, field, fields);
    rd_kafka_resp_err_t e = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_error_destroy(error);
    return e;
}

sr_rc producer_send(struct producer *p, struct outlet *to, const struct record *record, void *tag,
                    struct sr_error *err)
{
    const struct sr_host *host = p->client.host;
    sr_rc rc = producer_check(p, to, record, err);
    if (rc != SR_OK) {
        return rc;
    }
    rd_kafka_resp_err_t e = producer_give(p, to, record, tag);
    switch ((int)e) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        return SR_OK;
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
        return SR_EBUSY;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        return outlets_lack(&p->outlets, to, err);
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        return host->fail(host, err, SR_EDATA,
                          "a record of %zu bytes for topic '%s' is larger than "
                          "properties.max.request.size",
                          record->value_len + record->key_len, to->name);
    default:
        rc = client_fail(&p->client, err, e, to->name);
        return rc == SR_EABSENT || rc == SR_EDATA
                   ? host->fail(host, err, SR_EIO, "%s: %s", to->name, rd_kafka_err2str(e))
                   : rc;
    }
}

void producer_poll(struct producer *p)
{
    uint64_t count;
    ssize_t got = read(p->fd, &count, sizeof(count)); /* before the look, so that none is missed */
    (void)got;
    (void)rd_kafka_poll(p->client.rk, 0);
}

void producer_wait(struct producer *p, int64_t within_us)
{
    struct pollfd fd = {.fd = p->fd, .events = POLLIN};
    (void)poll(&fd, 1, within_us > 1000 ? (int)(within_us / 1000) : 1);
    producer_poll(p);
}

bool producer_last(struct producer *p, struct producer_row *out)
{
    (void)pthread_mutex_lock(&p->lock);
    bool has_row = p->has_row;
    *out = p->row;
    (void)pthread_mutex_unlock(&p->lock);
    return has_row;
}

sr_rc producer_is_reached(const struct producer *p, struct sr_error *err)
{
    sr_rc rc = client_is_let_in(&p->client, &p->conf->properties, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!atomic_load_explicit(&p->client.is_down, memory_order_relaxed)) {
        return SR_OK;
    }
    const char *servers = props_find(&p->conf->properties, "bootstrap.servers");
    return p->client.host->fail(p->client.host, err, SR_EABSENT,
                                "kafka: no broker can be reached (%s)", servers ? servers : "?");
}

sr_rc producer_is_sound(const struct producer *p, struct sr_error *err)
{
    rd_kafka_resp_err_t e =
        (rd_kafka_resp_err_t)atomic_load_explicit(&p->client.fatal, memory_order_relaxed);
    sr_rc rc = e ? client_fail(&p->client, err, e, "kafka: the producer ended") : SR_OK;
    /* A transaction that was timed out looks like one whose id another producer took. */
    err->rc = rc == SR_EFENCED ? SR_EIO : err->rc;
    return rc == SR_EFENCED ? SR_EIO : rc;
}
