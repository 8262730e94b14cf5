/* The kafka and upsert-kafka sinks: rows as records to topics, at-least-once.
 *
 *   write -> encoded -> librdkafka's queue -(on its way)-+-> answered well: settled
 *                                                        +-> too large: refused, for on-error
 *                                                        +-> else: the job fails
 *
 * A checkpoint waits until all that was taken has its answer. A broker that is gone is waited for,
 * with the queue as the room that there is meanwhile.
 */
#include "connectors/kafka/kafka_sink.h"

#include <inttypes.h>
#include <string.h>

#include "connectors/kafka/producer.h"

#define KAFKA_LOOK_US INT64_C(1000000) /* while waiting for answers: is a broker to be reached? */

struct kafka_sink {
    const struct sr_sink_open *open;
    const struct sr_host *host;
    const struct kafka_sink_conf *conf;
    struct producer producer;
    struct producer_owner owner;
    struct flights flights;
    struct records records;
    uint64_t settled;
    bool is_late; /* rows that turn out to be refused get their fate by on-error */
};

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc kafka_sink_start(struct kafka_sink *s, const struct sr_sink_open *o, bool is_upsert,
                              struct sr_error *err)
{
    const struct kafka_sink_conf *c = o->conf;
    s->open = o;
    s->host = o->host;
    s->conf = c;
    s->is_late = c->guarantee.index == SR_AT_LEAST_ONCE;
    s->producer.fd = -1;
    if (flights_init(&s->flights, 0) != SR_OK) {
        return o->host->fail(o->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    s->owner = (struct producer_owner){.flights = &s->flights, .part = o->part};
    sr_rc rc = records_open(&s->records, o, is_upsert, err);
    if (rc == SR_OK && s->records.metadata[RECORD_TOPIC] < 0 && c->topics.count > 1) {
        return o->host->fail(o->host, err, SR_ECONFIG,
                             "several topics need a column METADATA FROM 'topic', which says where "
                             "a row goes");
    }
    if (o->part == 0) {
        client_tell_idle(o->host, &c->properties);
    }
    return rc == SR_OK ? producer_open(&s->producer, o->host, c, &s->owner, 1, err) : rc;
}

static sr_rc kafka_sink_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    return kafka_sink_start(sink, o, false, err);
}

static sr_rc upsert_kafka_sink_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    return kafka_sink_start(sink, o, true, err);
}

static void kafka_sink_close(void *sink)
{
    struct kafka_sink *s = sink;
    producer_close(&s->producer); /* its answers go to the flights */
    flights_done(&s->flights);
    records_close(&s->records);
}

/* --- Answers ---------------------------------------------------------------------------------- */

/* Rows that a broker does not take get their fate. SR_EBUSY: the engine has no room for it. */
static sr_rc kafka_sink_refuse(struct kafka_sink *s, struct sr_error *err)
{
    struct flights_row row;
    while (flights_refused(&s->flights, &row)) {
        const char *why = rd_kafka_err2str(row.why);
        sr_rc rc = s->is_late
                       ? s->open->refuse(s->open, row.row, why, err)
                       : s->host->fail(s->host, err, SR_EIO, "a record was refused: %s", why);
        if (rc != SR_OK) {
            return rc;
        }
        s->host->count(s->host, "kafka-refused-rows", 1);
        flights_forgive(&s->flights);
    }
    return SR_OK;
}

static sr_rc kafka_sink_failure(struct kafka_sink *s, struct sr_error *err)
{
    sr_rc rc = producer_is_sound(&s->producer, err);
    rd_kafka_resp_err_t e = flights_failure(&s->flights);
    if (rc != SR_OK || !e) {
        return rc;
    }
    /* The rows are lost to librdkafka: only a restart brings them again. */
    rc = client_rc(e) == SR_EACCESS ? SR_EACCESS : SR_EIO;
    return s->host->fail(s->host, err, rc, "a record was not written: %s", rd_kafka_err2str(e));
}

/* What there is of answers. */
static sr_rc kafka_sink_turn(struct kafka_sink *s, struct sr_error *err)
{
    producer_poll(&s->producer);
    sr_rc rc = kafka_sink_failure(s, err);
    if (rc == SR_OK) {
        rc = kafka_sink_refuse(s, err);
    }
    uint64_t settled = flights_settled(&s->flights);
    if (s->is_late && settled > s->settled) {
        s->open->settle(s->open, settled);
    }
    s->settled = settled;
    return rc;
}

static sr_rc kafka_sink_wait(const struct kafka_sink *s, int64_t until_us, struct sr_wait *wait,
                             struct sr_error *err)
{
    int64_t look_us = s->host->mono_us(s->host) + KAFKA_LOOK_US;
    *wait =
        (struct sr_wait){.fd = s->producer.fd, .until_us = until_us < look_us ? until_us : look_us};
    sr_rc rc = producer_is_reached(&s->producer, err);
    return rc == SR_OK ? SR_EBUSY : rc;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static sr_rc kafka_sink_outlet(struct kafka_sink *s, const struct record *r, struct outlet **to,
                               struct sr_error *err)
{
    struct outlets *o = &s->producer.outlets;
    if (s->records.metadata[RECORD_TOPIC] < 0) {
        *to = &o->item[0];
        return SR_OK;
    }
    *to = r->topic ? outlets_find(o, r->topic, r->topic_len) : NULL;
    if (!*to) {
        return s->host->fail(s->host, err, SR_EDATA, "'%.*s' is none of the sink's topics",
                             (int)r->topic_len, r->topic ? r->topic : "");
    }
    return SR_OK;
}

/* Live row i of what was encoded, in the flight. */
static sr_rc kafka_sink_put(struct kafka_sink *s, uint32_t i, uint32_t flight, struct sr_error *err)
{
    struct record r;
    struct outlet *to = NULL;
    sr_rc rc = records_get(&s->records, i, &r, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = r.is_none ? SR_OK : kafka_sink_outlet(s, &r, &to, err);
    void *tag = flights_tag(&s->flights, flight);
    if (r.is_none) {
        flights_answer(&s->flights, tag, RD_KAFKA_RESP_ERR_NO_ERROR, false);
        return SR_OK;
    }
    if (rc == SR_OK) {
        rc = producer_send(&s->producer, to, &r, tag, err);
    }
    if (rc != SR_OK) {
        flights_untag(&s->flights, flight);
        if (r.headers) {
            rd_kafka_headers_destroy(r.headers);
        }
    }
    return rc;
}

static sr_rc kafka_sink_put_all(struct kafka_sink *s, const struct sr_view *v, uint32_t from,
                                uint32_t *done, struct sr_error *err)
{
    sr_rc bad = records_take(&s->records, v, from, err);
    if (bad != SR_OK && bad != SR_EDATA) {
        return bad;
    }
    uint32_t behind = s->records.from + s->records.count, i = from;
    uint32_t flight = flights_begin(&s->flights);
    sr_rc rc = SR_OK;
    struct sr_error one;
    for (; rc == SR_OK && i < behind; i++) {
        rc = kafka_sink_put(s, i, flight, &one);
    }
    *done = i - from - (rc == SR_OK ? 0 : 1);
    flights_end(&s->flights, flight);
    if (rc != SR_OK && rc != SR_EBUSY) {
        *err = one;
    }
    return rc != SR_OK ? rc : bad;
}

static sr_rc kafka_sink_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                              struct sr_wait *wait, struct sr_error *err)
{
    struct kafka_sink *s = sink;
    int64_t until_us = INT64_MAX;
    *done = 0;
    sr_rc rc = kafka_sink_turn(s, err);
    if (rc == SR_OK) {
        rc = producer_ready(&s->producer, &until_us, err);
    }
    if (rc == SR_EBUSY || (rc == SR_OK && s->flights.count == FLIGHTS_MAX)) {
        return kafka_sink_wait(s, until_us, wait, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    rc = kafka_sink_put_all(s, v, from, done, err);
    if (rc != SR_EBUSY) {
        return rc;
    }
    return *done > 0 ? SR_OK : kafka_sink_wait(s, until_us, wait, err);
}

/* Until all that is on its way has its answer. */
static sr_rc kafka_sink_await(struct kafka_sink *s, struct sr_wait *wait, struct sr_error *err)
{
    sr_rc rc = kafka_sink_turn(s, err);
    if (rc != SR_OK || s->flights.count == 0) {
        return rc;
    }
    return kafka_sink_wait(s, INT64_MAX, wait, err);
}

static sr_rc kafka_sink_flush(void *sink, struct sr_wait *wait, struct sr_error *err)
{
    return kafka_sink_await(sink, wait, err);
}

static sr_rc kafka_sink_prepare(void *sink, uint64_t checkpoint, bool is_last,
                                struct sr_notes *notes, struct sr_wait *wait, struct sr_error *err)
{
    (void)checkpoint, (void)notes;
    struct kafka_sink *s = sink;
    if (s->conf->guarantee.index == SR_NO_GUARANTEE && !is_last) {
        return kafka_sink_turn(s, err);
    }
    return kafka_sink_await(s, wait, err);
}

const struct sr_sink_type kafka_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "kafka",
    .doc = "Records to topics of Apache Kafka, in any format, at-least-once.",
    .keeps = "at-least-once: a checkpoint waits until the brokers have confirmed every record",
    .opts = kafka_sink_opts,
    .conf_size = sizeof(struct kafka_sink_conf),
    .sink_size = sizeof(struct kafka_sink),
    .check = kafka_sink_check,
    .open = kafka_sink_open,
    .write = kafka_sink_write,
    .flush = kafka_sink_flush,
    .prepare = kafka_sink_prepare,
    .close = kafka_sink_close,
    .can_retry = true,
    .has_keys = true,
    .metadata = record_metadata,
};

const struct sr_sink_type upsert_kafka_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "upsert-kafka",
    .doc = "A table as records of Apache Kafka: the newest of each key, a record without a value "
           "where its row was deleted; at-least-once.",
    .keeps = "at-least-once, which by key is the same table: a checkpoint waits until the brokers "
             "have confirmed every record",
    .opts = upsert_kafka_sink_opts,
    .conf_size = sizeof(struct kafka_sink_conf),
    .sink_size = sizeof(struct kafka_sink),
    .check = upsert_kafka_sink_check,
    .open = upsert_kafka_sink_open,
    .write = kafka_sink_write,
    .flush = kafka_sink_flush,
    .prepare = kafka_sink_prepare,
    .close = kafka_sink_close,
    .can_retry = true,
    .has_keys = true,
    .metadata = record_metadata,
};
