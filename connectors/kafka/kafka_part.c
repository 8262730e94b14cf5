/* One partition: where it begins, whether its position is still there, and how it ends. */
#include <stdio.h>
#include <string.h>

#include "connectors/kafka/kafka_reader.h"

#define KAFKA_ASK_MS 10000 /* of a broker, which bounds a position that is lost */

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

/* Where the job goes on; or it fails, as `why` says. */
static sr_rc kafka_part_lost(struct kafka_reader *r, struct kafka_part *p, const char *why,
                             struct sr_error *err)
{
    int64_t low = 0, high = 0;
    const struct sr_host *h = r->host;
    enum kafka_lost how = (enum kafka_lost)r->conf->lost.index;
    rd_kafka_resp_err_t e = rd_kafka_query_watermark_offsets(
        r->client.rk, p->at.topic, p->at.partition, &low, &high, KAFKA_ASK_MS);
    if (e) {
        return client_fail(&r->client, err, e, p->at.topic);
    }
    bool is_behind = p->at.next > high;
    int64_t gone = is_behind || low < p->at.next ? 0 : low - p->at.next;
    if (p->state == KAFKA_CHECKING && !why && low > p->at.last && low <= p->at.next && !is_behind) {
        p->state = KAFKA_READING; /* only the row before the position was taken by retention */
        kafka_part_stop(p);
        return kafka_part_start(r, p, err);
    }
    char words[200];
    (void)snprintf(words, sizeof(words), "%s",
                   why         ? why
                   : is_behind ? "it is behind the end: the topic was made again, or cut off"
                               : "retention or a deletion took it");
    if (how == KAFKA_LOST_FAIL) {
        return h->fail(h, err, SR_EFINAL,
                       "topic '%s', partition %d: position %lld is lost, the broker has %lld to "
                       "%lld: %s; %lld records are gone for sure. Take an older look at what was "
                       "written, then go on with scan.lost-position: earliest or latest",
                       p->at.topic, p->at.partition, (long long)p->at.next, (long long)low,
                       (long long)high, words, (long long)gone);
    }
    int64_t to = how == KAFKA_LOST_EARLIEST ? low : high;
    if (how == KAFKA_LOST_LATEST && to > p->at.next && !is_behind) {
        gone = to - p->at.next;
    }
    h->log(
        h, SR_WARN,
        "topic '%s', partition %d: position %lld is lost (%s): goes on at %lld, %lld records are "
        "passed over",
        p->at.topic, p->at.partition, (long long)p->at.next, words, (long long)to, (long long)gone);
    h->count(h, "lost-positions", 1);
    h->count(h, "lost-records", gone);
    p->at.next = to;
    p->at.last = -1;
    p->state = KAFKA_READING;
    kafka_part_stop(p);
    return kafka_part_start(r, p, err);
}

sr_rc kafka_part_check(struct kafka_reader *r, struct kafka_part *p, const rd_kafka_message_t *m,
                       bool *is_mine, struct sr_error *err)
{
    *is_mine = m->offset == p->at.last;
    bool is_same = rd_kafka_message_timestamp(m, NULL) == p->at.last_ms &&
                   kafka_part_digest(r, m) == p->at.last_digest;
    if (*is_mine && !is_same) {
        char why[160];
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
        return kafka_part_lost(r, p, NULL, err);
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
        return kafka_part_lost(r, p, NULL, err);
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
