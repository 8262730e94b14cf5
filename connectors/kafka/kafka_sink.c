/* The kafka and upsert-kafka sinks: rows as records to topics, at-least-once, or exactly-once in
 * the transactions of a decider (kafka_decider.h).
 *
 *   write -> encoded -> librdkafka's queue -(on its way)-+-> answered well: settled
 *                                                        +-> too large: refused, for on-error
 *                                                        |   (in a transaction: the job fails)
 *                                                        +-> else: the job fails
 *
 * A checkpoint waits until all that was taken has its answer. A broker that is gone is waited for,
 * with the queue as the room that there is meanwhile.
 */
#include "connectors/kafka/kafka_sink.h"

#include <inttypes.h>
#include <string.h>

#include "connectors/kafka/kafka_decider.h"
#include "connectors/kafka/kafka_redo.h"
#include "connectors/kafka/kafka_tell.h"
#include "connectors/kafka/pattern.h"

#define KAFKA_LOOK_US   INT64_C(1000000) /* while waiting for answers: is a broker to be reached? */
#define KAFKA_SHARED_US INT64_C(2000)

struct kafka_sink {
    const struct sr_sink_open *open;
    const struct sr_host *host;
    const struct kafka_sink_conf *conf;
    struct producer own, *to; /* its own, unless it has a decider; the one that rows go to */
    struct producer_owner owner;
    struct pattern *pattern; /* of its topics; NULL: they are named */
    struct outlet *outlet;   /* of the topic that was written to last, of outlet_of */
    const struct producer *outlet_of;
    struct kafka_decider *decider; /* whose producers it shares; NULL: none */
    uint16_t number;               /* among those that do */
    uint64_t held;                 /* checkpoint that it has prepared for; 0: none */
    struct flights flights;
    struct records records;
    bool is_redo; /* rows go to a file first */
    struct kafka_redo redo;
    uint64_t settled;
    bool is_late; /* rows that turn out to be refused get their fate by on-error */
};

/* --- Opening ---------------------------------------------------------------------------------- */

/* Its own producer, or those of its decider, which are there already. */
static sr_rc kafka_sink_connect(struct kafka_sink *s, struct sr_error *err)
{
    if (s->decider) {
        return SR_OK;
    }
    struct producer_how how = {.owner = &s->owner, .owners = 1};
    return producer_open(&s->own, s->host, s->conf, &how, err);
}

static sr_rc kafka_sink_start(struct kafka_sink *s, const struct sr_sink_open *o, bool is_upsert,
                              struct sr_error *err)
{
    const struct kafka_sink_conf *c = o->conf;
    s->open = o;
    s->host = o->host;
    s->conf = c;
    s->is_late = c->guarantee.index == SR_AT_LEAST_ONCE;
    s->is_redo = c->guarantee.index == SR_EXACTLY_ONCE && c->method.index == KAFKA_REDO;
    s->own.fd = -1;
    s->to = &s->own;
    s->decider = o->decider;
    sr_rc joined =
        s->decider ? kafka_decider_join(s->decider, &s->flights, o->part, &s->number, err) : SR_OK;
    if (joined != SR_OK) {
        return joined;
    }
    if (flights_init(&s->flights, s->number) != SR_OK) {
        return o->host->fail(o->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    s->owner = (struct producer_owner){.flights = &s->flights, .part = o->part};
    sr_rc rc = records_open(&s->records, o, is_upsert, err);
    if (rc == SR_OK && c->pattern) {
        s->pattern = pattern_new(c->pattern);
        rc = s->pattern ? SR_OK : o->host->fail(o->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    bool has_many = c->pattern || c->topics.count > 1;
    if (rc == SR_OK && s->records.metadata[RECORD_TOPIC] < 0 && has_many) {
        return o->host->fail(o->host, err, SR_ECONFIG,
                             "several topics need a column METADATA FROM 'topic', which says where "
                             "a row goes");
    }
    if (o->part == 0) {
        client_tell_idle(o->host, &c->properties);
    }
    if (rc == SR_OK && s->is_redo) {
        rc = kafka_redo_open(&s->redo, o, &s->records, &s->own, err);
    }
    return rc == SR_OK ? kafka_sink_connect(s, err) : rc;
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
    if (s->decider) {
        kafka_decider_leave(s->decider, s->number);
    }
    producer_close(&s->own); /* its answers go to the flights */
    flights_done(&s->flights);
    kafka_redo_close(&s->redo);
    records_close(&s->records);
    pattern_free(s->pattern);
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
    sr_rc rc = producer_is_sound(s->to, err);
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
    producer_poll(s->to);
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
    /* Where others share the producer, they may take the answers that its descriptor tells of. */
    int64_t look_us = s->host->mono_us(s->host) + (s->decider ? KAFKA_SHARED_US : KAFKA_LOOK_US);
    *wait = (struct sr_wait){.fd = s->to->fd, .until_us = until_us < look_us ? until_us : look_us};
    sr_rc rc = producer_is_reached(s->to, err);
    return rc == SR_OK ? SR_EBUSY : rc;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* The topic of that name, if the sink has it: a producer that is shared has those of others too.
 * NULL: it has not. */
static struct outlet *kafka_sink_named(struct kafka_sink *s, const char *name, size_t len)
{
    const sr_list *own = &s->conf->topics;
    for (uint32_t i = 0; i < own->count; i++) {
        if (strlen(own->item[i]) == len && memcmp(own->item[i], name, len) == 0) {
            return outlets_find(&s->to->outlets, name, len);
        }
    }
    return NULL;
}

/* The same, where a pattern says which it has. SR_EBUSY: a broker is asked about it. */
static sr_rc kafka_sink_matched(struct kafka_sink *s, const char *name, size_t len,
                                struct outlet **to, struct sr_error *err)
{
    struct outlets *o = &s->to->outlets;
    struct outlet *l = outlets_find(o, name, len);
    if (!l) {
        bool matches = pattern_matches(s->pattern, name, len);
        sr_rc rc = matches ? outlets_add(o, name, len, err) : SR_OK;
        return matches && rc == SR_OK ? SR_EBUSY : rc;
    }
    if (l->is_absent && s->host->mono_us(s->host) >= l->again_us) {
        outlets_again(o, l);
    }
    if (l->is_absent) {
        return s->host->fail(s->host, err, SR_EDATA, "there is no topic '%s'", l->name);
    }
    *to = l;
    return l->is_settled ? SR_OK : SR_EBUSY;
}

static sr_rc kafka_sink_find(struct kafka_sink *s, const char *name, size_t len, struct outlet **to,
                             struct sr_error *err)
{
    const struct outlet *last = s->outlet_of == s->to ? s->outlet : NULL;
    if (last && strlen(last->name) == len && memcmp(last->name, name, len) == 0) {
        *to = s->outlet;
        return SR_OK;
    }
    sr_rc rc = SR_OK;
    if (s->pattern) {
        rc = kafka_sink_matched(s, name, len, to, err);
    } else {
        *to = kafka_sink_named(s, name, len);
    }
    s->outlet = rc == SR_OK ? *to : NULL;
    s->outlet_of = rc == SR_OK && *to ? s->to : NULL;
    return rc;
}

static sr_rc kafka_sink_outlet(struct kafka_sink *s, const struct record *r, struct outlet **to,
                               struct sr_error *err)
{
    bool is_named = s->records.metadata[RECORD_TOPIC] >= 0;
    const char *only = is_named ? NULL : s->conf->topics.item[0];
    sr_rc rc = SR_OK;
    if (!is_named && s->outlet_of == s->to) {
        *to = s->outlet;
        return SR_OK;
    }
    *to = NULL;
    if (!is_named) {
        rc = kafka_sink_find(s, only, strlen(only), to, err);
    } else if (r->topic) {
        rc = kafka_sink_find(s, r->topic, r->topic_len, to, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
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
    /* What a broker refuses in a transaction is in it for good, so it is found before. */
    if (rc == SR_OK && s->decider && !producer_packs(s->to, to)) {
        rc = producer_fits(s->to, to, &r, err);
    }
    if (rc == SR_OK) {
        rc = producer_send(s->to, to, &r, tag, err);
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

/* The producer of the open transaction, if there is one that it may write into; else SR_EBUSY. A
 * producer's topics are new each time that it is made anew, and so then is `outlet`. */
static sr_rc kafka_sink_choose(struct kafka_sink *s, struct sr_wait *wait)
{
    if (!s->decider) {
        return SR_OK;
    }
    struct producer *to = kafka_decider_producer(s->decider, s->held);
    if (!to) {
        *wait = (struct sr_wait){.fd = -1, .until_us = s->host->mono_us(s->host) + KAFKA_SHARED_US};
        return SR_EBUSY;
    }
    if (s->held != 0) {
        s->outlet_of = NULL;
        s->held = 0;
    }
    s->to = to;
    return SR_OK;
}

static sr_rc kafka_sink_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                              struct sr_wait *wait, struct sr_error *err)
{
    struct kafka_sink *s = sink;
    int64_t until_us = INT64_MAX;
    *done = 0;
    if (kafka_sink_choose(s, wait) != SR_OK) {
        return SR_EBUSY;
    }
    sr_rc rc = kafka_sink_turn(s, err);
    if (rc == SR_OK && !s->decider) {
        rc = producer_ready(s->to, &until_us, err);
    }
    if (rc == SR_EBUSY) {
        s->outlet_of = NULL; /* the producer may be made anew */
    }
    if (rc == SR_EBUSY || (rc == SR_OK && s->flights.count == FLIGHTS_MAX)) {
        return kafka_sink_wait(s, until_us, wait, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    if (s->is_redo) {
        return kafka_redo_write(&s->redo, v, from, done, wait, err);
    }
    rc = kafka_sink_put_all(s, v, from, done, err);
    if (rc != SR_EBUSY) {
        return rc;
    }
    return *done > 0 ? SR_OK : kafka_sink_wait(s, until_us, wait, err);
}

/* Until all that is on its way has its answer. Where a producer is shared it may be another one by
 * now when nothing is. */
static sr_rc kafka_sink_await(struct kafka_sink *s, struct sr_wait *wait, struct sr_error *err)
{
    if (s->decider && s->flights.count == 0) {
        return SR_OK;
    }
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
    struct kafka_sink *s = sink;
    if (s->is_redo) {
        return kafka_redo_prepare(&s->redo, checkpoint, notes, wait, err);
    }
    if (s->conf->guarantee.index == SR_NO_GUARANTEE && !is_last) {
        return kafka_sink_turn(s, err);
    }
    sr_rc rc = kafka_sink_await(s, wait, err);
    s->held = rc == SR_OK ? checkpoint : s->held;
    return rc;
}

/* Only redo has anything to be shown. */
static sr_rc kafka_sink_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                               struct sr_error *err)
{
    (void)checkpoint; /* that of the note counts: a later one may carry it */
    struct kafka_sink *s = sink;
    return s->is_redo ? kafka_redo_commit(&s->redo, note, err)
                      : s->host->fail(s->host, err, SR_EMISFIT,
                                      "the checkpoint has rows of exactly-once.method: redo, which "
                                      "this sink is no longer asked for");
}

static sr_rc kafka_sink_recover(void *sink, const struct sr_bytes *live, uint32_t count,
                                struct sr_error *err)
{
    struct kafka_sink *s = sink;
    return s->is_redo ? kafka_redo_recover(&s->redo, live, count, err) : SR_OK;
}

const struct sr_sink_type kafka_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "kafka",
    .doc = "Records to topics of Apache Kafka, in any format, at-least-once or exactly-once.",
    .keeps = "at-least-once: a checkpoint waits until the brokers have confirmed every record; "
             "with sink.delivery-guarantee: exactly-once that, by a transaction a checkpoint "
             "that decides about it",
    .opts = kafka_sink_opts,
    .conf_size = sizeof(struct kafka_sink_conf),
    .sink_size = sizeof(struct kafka_sink),
    .check = kafka_sink_check,
    .open = kafka_sink_open,
    .write = kafka_sink_write,
    .flush = kafka_sink_flush,
    .prepare = kafka_sink_prepare,
    .commit = kafka_sink_commit,
    .recover = kafka_sink_recover,
    .close = kafka_sink_close,
    .can_retry = true,
    .has_keys = true,
    .metadata = record_metadata,
    .ask = kafka_tell_sink,
    .decider = &kafka_decider_type,
};

const struct sr_sink_type upsert_kafka_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "upsert-kafka",
    .doc = "A table as records of Apache Kafka: the newest of each key, a record without a value "
           "where its row was deleted; at-least-once or exactly-once.",
    .keeps = "at-least-once, which by key is the same table: a checkpoint waits until the brokers "
             "have confirmed every record; with sink.delivery-guarantee: exactly-once that, as "
             "kafka",
    .opts = upsert_kafka_sink_opts,
    .conf_size = sizeof(struct kafka_sink_conf),
    .sink_size = sizeof(struct kafka_sink),
    .check = upsert_kafka_sink_check,
    .open = upsert_kafka_sink_open,
    .write = kafka_sink_write,
    .flush = kafka_sink_flush,
    .prepare = kafka_sink_prepare,
    .commit = kafka_sink_commit,
    .recover = kafka_sink_recover,
    .close = kafka_sink_close,
    .can_retry = true,
    .has_keys = true,
    .metadata = record_metadata,
    .ask = kafka_tell_sink,
    .decider = &kafka_decider_type,
};
