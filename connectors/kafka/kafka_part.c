/* One partition: where it begins, whether its position is still there, and how it ends. */
#include <stdio.h>
#include <string.h>

#include "connectors/kafka/kafka_reader.h"

sr_rc kafka_part_start(struct kafka_reader *r, struct kafka_part *p, struct sr_error *err)
{
    const uint64_t one = 1;
    int64_t from = p->state == KAFKA_CHECKING ? p->at.last : p->at.next;
    if (!p->rkt) {
        p->rkt = rd_kafka_topic_new(r->client.rk, p->at.topic, NULL);
    }
    if (!p->rkt || rd_kafka_consume_start(p->rkt, p->at.partition, from) != 0) {
        return client_fail(&r->client, err, rd_kafka_last_error(), p->at.topic);
    }
    p->is_started = true;
    p->starts++;
    if (!p->queue) {
        p->queue = rd_kafka_queue_get_partition(r->client.rk, p->at.topic, p->at.partition);
    }
    if (!p->queue) {
        return client_fail(&r->client, err, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, p->at.topic);
    }
    rd_kafka_queue_io_event_enable(p->queue, r->wake, &one, sizeof(one));
    return SR_OK;
}

void kafka_part_stop(struct kafka_part *p)
{
    if (p->is_started) {
        (void)rd_kafka_consume_stop(p->rkt, p->at.partition); /* it was started */
    }
    p->is_started = false;
}

uint64_t kafka_part_digest(const struct kafka_reader *r, const rd_kafka_message_t *m)
{
    uint64_t key[2] = {0, 0}, value[2] = {0, 0};
    if (m->key) {
        r->host->digest(m->key, m->key_len, key);
    }
    if (m->payload) {
        r->host->digest(m->payload, m->len, value);
    }
    return (key[0] * 31 + value[0]) ^ (m->payload ? 1 : 0);
}

/* --- Lost positions -------------------------------------------------------------------------- */

/* What comes of the answer: it goes on elsewhere, or fails. */
static sr_rc kafka_part_settle(struct kafka_reader *r, struct kafka_part *p,
                               const struct kafka_ask *a, struct sr_error *err)
{
    const struct sr_host *h = r->host;
    enum kafka_lost how = (enum kafka_lost)r->conf->lost.index;
    long long at = p->at.next, low = a->low, high = a->high;
    bool is_behind = at > high;
    long long gone = is_behind || low < at ? 0 : low - at;
    if (a->was_checking && !*a->why && low > p->at.last && low <= at && !is_behind) {
        return SR_OK; /* only the row before the position was taken by retention */
    }
    const char *words = *a->why     ? a->why
                        : is_behind ? "it is behind the end: the topic was made again, or cut off"
                                    : "retention or a deletion took it";
    if (how == KAFKA_LOST_FAIL) {
        return h->fail(h, err, SR_EFINAL,
                       "topic '%s', partition %d: position %lld is lost, the broker has %lld to "
                       "%lld: %s; %lld records are gone for sure. Take an older look at what was "
                       "written, then go on with scan.lost-position: earliest or latest",
                       p->at.topic, p->at.partition, at, low, high, words, gone);
    }
    long long to = how == KAFKA_LOST_EARLIEST ? low : high;
    if (how == KAFKA_LOST_LATEST && to > at && !is_behind) {
        gone = to - at;
    }
    h->log(
        h, SR_WARN,
        "topic '%s', partition %d: position %lld is lost (%s): goes on at %lld, %lld records are "
        "passed over",
        p->at.topic, p->at.partition, at, words, to, gone);
    h->count(h, "lost-positions", 1);
    h->count(h, "lost-records", gone);
    p->at.next = to;
    p->at.last = -1;
    return SR_OK;
}

/* Nothing is read of it until the broker has said what it has. `why`: "" is what the answer says.
 */
static sr_rc kafka_part_lost(struct kafka_reader *r, struct kafka_part *p, const char *why,
                             struct sr_error *err)
{
    p->ask = kafka_ask_new(&r->client, p->at.topic, p->at.partition, r->wake);
    if (!p->ask) {
        return r->host->fail(r->host, err, SR_ENOMEM, "kafka: no thread can be made");
    }
    (void)snprintf(p->ask->why, sizeof(p->ask->why), "%s", why);
    p->ask->was_checking = p->state == KAFKA_CHECKING;
    p->state = KAFKA_ASKING;
    p->starts++;
    kafka_part_stop(p);
    return SR_OK;
}

sr_rc kafka_part_answered(struct kafka_reader *r, struct kafka_part *p, struct sr_error *err)
{
    sr_rc rc = client_is_let_in(&r->client, &r->conf->properties, err);
    if (rc == SR_OK) {
        rc = p->ask->e ? client_fail(&r->client, err, p->ask->e, p->at.topic)
                       : kafka_part_settle(r, p, p->ask, err);
    }
    kafka_ask_free(p->ask);
    p->ask = NULL;
    p->state = KAFKA_READING;
    return rc == SR_OK ? kafka_part_start(r, p, err) : rc;
}

sr_rc kafka_part_check(struct kafka_reader *r, struct kafka_part *p, const rd_kafka_message_t *m,
                       bool *is_mine, struct sr_error *err)
{
    *is_mine = m->offset == p->at.last;
    bool is_same = rd_kafka_message_timestamp(m, NULL) == p->at.last_ms &&
                   kafka_part_digest(r, m) == p->at.last_digest;
    if (*is_mine && !is_same) {
        char why[KAFKA_ASK_WHY];
        (void)snprintf(why, sizeof(why),
                       "another record stands at %lld, which was read already: the topic was made "
                       "again",
                       (long long)p->at.last);
        return kafka_part_lost(r, p, why, err);
    }
    /* Where it is not there any more, compaction took it. */
    p->state = KAFKA_READING;
    return SR_OK;
}

/* --- Events ---------------------------------------------------------------------------------- */

static sr_rc kafka_part_end(struct kafka_reader *r, struct kafka_part *p, int64_t end,
                            struct sr_error *err)
{
    if (p->state == KAFKA_CHECKING && end < p->at.next) {
        return kafka_part_lost(r, p, "", err);
    }
    if (p->state == KAFKA_CHECKING) {
        p->state = KAFKA_READING;
    }
    /* Behind what a transaction leaves: its markers, and rows that were aborted. */
    p->at.next = end > p->at.next ? end : p->at.next;
    return SR_OK;
}

sr_rc kafka_part_event(struct kafka_reader *r, struct kafka_part *p, const rd_kafka_message_t *m,
                       struct sr_error *err)
{
    const struct sr_host *h = r->host;
    switch ((int)m->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        return kafka_part_end(r, p, m->offset, err);
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        return kafka_part_lost(r, p, "", err);
    default:
        break;
    }
    sr_rc rc = client_rc(m->err);
    if (rc == SR_EIO) { /* librdkafka tries again by itself */
        h->log(h, SR_WARN, "topic '%s', partition %d: %s", p->at.topic, p->at.partition,
               rd_kafka_message_errstr(m));
        return SR_OK;
    }
    return h->fail(h, err, rc, "topic '%s', partition %d, at offset %lld: %s%s", p->at.topic,
                   p->at.partition, (long long)p->at.next, rd_kafka_message_errstr(m),
                   rc == SR_EABSENT ? " (it was deleted)" : "");
}
