#include "connectors/kafka/kafka_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "connectors/common/list.h"

#define KAFKA_CLOSE_MS 5000 /* for the group's offsets to be taken */

/* --- Opening --------------------------------------------------------------------------------- */

/* The answer to offsets that were given to the group. */
static void kafka_reader_committed(rd_kafka_t *rk, rd_kafka_resp_err_t e,
                                   rd_kafka_topic_partition_list_t *list, void *opaque)
{
    (void)rk;
    const struct client *c = opaque;
    for (int i = 0; !e && list && i < list->cnt; i++) {
        e = list->elems[i].err;
    }
    if (e && e != RD_KAFKA_RESP_ERR__NO_OFFSET) {
        c->host->log(c->host, SR_WARN,
                     "the group's offsets were not taken (%s): others see it further back; the job "
                     "itself goes by its checkpoints",
                     rd_kafka_err2str(e));
        c->host->count(c->host, "group-commits-failed", 1);
    }
}

static sr_rc kafka_reader_connect(struct kafka_reader *r, struct sr_error *err)
{
    const struct sr_pairs *written = &r->conf->properties;
    rd_kafka_conf_t *conf = NULL;
    char ahead[16];
    sr_rc rc = client_conf(written, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    client_set(conf, "enable.auto.commit", "false");
    client_set(conf, "enable.auto.offset.store", "false");
    client_set(conf, "enable.partition.eof", "true");
    client_set(conf, "auto.offset.reset", "error");
    client_set(conf, "allow.auto.create.topics", "false");
    client_default(conf, written, "isolation.level", "read_committed");
    /* A full queue is looked at again after a second, so it has to hold what a second takes. */
    client_default(conf, written, "queued.min.messages", "1000000");
    (void)snprintf(ahead, sizeof(ahead), "%" PRIu32, r->ahead);
    client_default(conf, written, "queued.max.messages.kbytes", ahead);
    rd_kafka_conf_set_offset_commit_cb(conf, kafka_reader_committed);
    return client_open(&r->client, r->host, RD_KAFKA_CONSUMER, conf, err);
}

sr_rc kafka_reader_open(void *reader, const struct sr_source_open *o, struct sr_error *err)
{
    struct kafka_reader *r = reader;
    const char *group;
    r->host = o->host;
    r->conf = o->conf;
    r->schema = o->schema;
    r->metadata = o->metadata;
    r->metadatas = o->metadatas;
    r->wants_keys = o->wants_keys;
    r->readers = o->parts > 0 ? o->parts : 1;
    group = props_find(&r->conf->properties, "group.id");
    r->has_group = group && *group;
    r->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (r->wake < 0) {
        return r->host->fail(r->host, err, SR_EIO, "kafka: no eventfd, errno %d", errno);
    }
    return SR_OK;
}

/* A partition that is read, asked about, or about to be. */
static bool kafka_reader_is_live(const struct kafka_part *p) { return p->state != KAFKA_ENDED; }

/* How much to fetch ahead of each partition, with those that there are now. */
static uint32_t kafka_reader_ahead(const struct kafka_reader *r)
{
    uint64_t live = 0, share = KAFKA_AHEAD;
    for (uint32_t i = 0; i < r->parts; i++) {
        live += kafka_reader_is_live(&r->part[i]) ? 1 : 0;
    }
    while (share > KAFKA_AHEAD_LEAST && share * live * r->readers > KAFKA_AHEAD_MAX) {
        share /= 2;
    }
    return (uint32_t)share;
}

/* Lets go of what a partition has of the client. */
static void kafka_reader_forget(struct kafka_part *p)
{
    if (p->queue) {
        rd_kafka_queue_io_event_enable(p->queue, -1, NULL, 0);
    }
    kafka_ask_free(p->ask);
    kafka_part_stop(p);
    if (p->queue) {
        rd_kafka_queue_destroy(p->queue);
    }
    if (p->rkt) {
        rd_kafka_topic_destroy(p->rkt);
    }
    p->ask = NULL;
    p->queue = NULL;
    p->rkt = NULL;
}

static void kafka_reader_drop(struct kafka_reader *r)
{
    for (uint32_t i = 0; i < r->messages; i++) {
        rd_kafka_message_destroy(r->message[i]);
    }
    r->messages = r->first = r->upto = r->used = 0;
}

/* Begins to read partitions that were added. How much is fetched ahead of each cannot be changed
 * of a client, so when they have become many there is a new one, and all begin anew where they are.
 */
static sr_rc kafka_reader_start(struct kafka_reader *r, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    uint32_t ahead = kafka_reader_ahead(r);
    bool is_asking = false;
    for (uint32_t i = 0; i < r->parts; i++) {
        is_asking = is_asking || r->part[i].state == KAFKA_ASKING;
    }
    if (r->ahead == 0 || (ahead < r->ahead && !is_asking)) {
        kafka_reader_drop(r);
        for (uint32_t i = 0; i < r->parts; i++) {
            kafka_reader_forget(&r->part[i]);
        }
        client_close(&r->client);
        r->ahead = ahead;
        rc = kafka_reader_connect(r, err);
    }
    for (uint32_t i = 0; rc == SR_OK && i < r->parts; i++) {
        struct kafka_part *p = &r->part[i];
        bool is_due = kafka_reader_is_live(p) && p->state != KAFKA_ASKING && !p->is_started;
        rc = is_due ? kafka_part_start(r, p, err) : SR_OK;
    }
    r->has_new = false;
    return rc;
}

sr_rc kafka_reader_add(void *reader, uint32_t number, const struct sr_split *split,
                       struct sr_error *err)
{
    struct kafka_reader *r = reader;
    struct kafka_part *list = list_room(r->part, r->parts, &r->room, sizeof(*list));
    if (!list) {
        return r->host->fail(r->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    r->part = list;
    struct kafka_part *p = &r->part[r->parts];
    *p = (struct kafka_part){.number = number, .state = KAFKA_READING};
    sr_rc rc = kafka_note_get(split->note, &p->at);
    if (rc != SR_OK) {
        return r->host->fail(r->host, err, rc, "kafka: the position of %s cannot be read",
                             split->id);
    }
    r->parts++;
    if (p->at.next >= p->at.stop) {
        p->state = KAFKA_ENDED;
        return SR_OK;
    }
    if (p->at.last >= 0) {
        p->state = KAFKA_CHECKING;
    }
    r->has_new = true;
    return SR_OK;
}

/* --- What is shown --------------------------------------------------------------------------- */

static struct kafka_part *kafka_reader_find(struct kafka_reader *r, uint32_t number)
{
    for (uint32_t i = 0; i < r->parts; i++) {
        if (r->part[i].number == number) {
            return &r->part[i];
        }
    }
    return NULL;
}

/* Messages [first, ...) that fit a block, all of them rows: how many, and their bytes. */
static uint32_t kafka_reader_fit(const struct kafka_reader *r, const struct kafka_part *p,
                                 size_t *bytes)
{
    uint32_t n = 0;
    *bytes = 0;
    for (uint32_t i = r->first; i < r->messages; i++, n++) {
        const rd_kafka_message_t *m = r->message[i];
        size_t more = m->len + (r->wants_keys ? m->key_len : 0) + 1;
        if (m->err || m->offset >= p->at.stop || (n > 0 && *bytes + more > SR_BATCH_BYTES)) {
            break;
        }
        *bytes += more;
    }
    return n;
}

/* One record into the block: its key, its value, and a byte between, so that each begins at a
 * place of its own. */
static uint32_t kafka_reader_copy(struct kafka_reader *r, const rd_kafka_message_t *m, uint32_t i,
                                  uint32_t at)
{
    uint8_t *to = r->buffer->data;
    if (r->wants_keys) {
        r->keyless[i] = m->key == NULL;
        r->key[i] = (struct sr_span){at, (uint32_t)m->key_len};
        if (m->key && m->key_len > 0) {
            memcpy(to + at, m->key, m->key_len);
        }
        at += (uint32_t)m->key_len;
    }
    r->absent[i] = m->payload == NULL;
    r->value[i] = (struct sr_span){at, (uint32_t)m->len};
    if (m->payload && m->len > 0) {
        memcpy(to + at, m->payload, m->len);
    }
    at += (uint32_t)m->len;
    to[at] = '\0';
    return at + 1;
}

static enum sr_polled kafka_reader_show(struct kafka_reader *r, const struct kafka_part *part,
                                        struct sr_poll *p, struct sr_error *err)
{
    size_t bytes = 0;
    uint32_t n = kafka_reader_fit(r, part, &bytes), at = 0;
    bool has_absent = false, has_keyless = false;
    r->host->buffer_release(r->buffer);
    r->buffer = bytes < UINT32_MAX - KAFKA_SLACK
                    ? r->host->buffer_new(r->host, (uint32_t)bytes + KAFKA_SLACK)
                    : NULL;
    if (!r->buffer) {
        (void)r->host->fail(r->host, err, SR_ENOMEM, "kafka: out of memory for %zu bytes", bytes);
        return SR_POLL_FAILED;
    }
    for (uint32_t i = 0; i < n; i++) {
        at = kafka_reader_copy(r, r->message[r->first + i], i, at);
        has_absent = has_absent || r->absent[i];
        has_keyless = has_keyless || (r->wants_keys && r->keyless[i]);
    }
    r->upto = r->first + n;
    r->used = 0;
    r->number = part->number;
    p->split = part->number;
    p->bytes = r->buffer->data;
    p->len = at;
    p->buffer = r->buffer;
    p->record = r->value;
    p->records = n;
    p->absent = has_absent ? r->absent : NULL;
    p->key = r->wants_keys ? r->key : NULL;
    p->keyless = has_keyless ? r->keyless : NULL;
    return SR_POLL_DATA;
}

/* --- What comes ------------------------------------------------------------------------------ */

/* Passes over what is no row at the front of the messages: events, rows that were read before, and
 * the one that is looked for. Afterwards message[first] is a row, or there is none. */
static sr_rc kafka_reader_sift(struct kafka_reader *r, struct kafka_part *p, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    uint32_t starts = p->starts;
    while (rc == SR_OK && r->first < r->messages) {
        const rd_kafka_message_t *m = r->message[r->first];
        bool is_mine = false;
        if (m->err) {
            rc = kafka_part_event(r, p, m, err);
        } else if (p->state == KAFKA_CHECKING) {
            rc = kafka_part_check(r, p, m, &is_mine, err);
        }
        if (p->starts != starts) { /* the rest is of another position */
            r->first = r->messages;
            break;
        }
        if (!m->err && m->offset >= p->at.next) {
            break;
        }
        if (!m->err && !is_mine) { /* librdkafka before 2.4 may go back */
            r->host->count(r->host, "records-twice", 1);
        }
        r->first++;
    }
    r->upto = r->first;
    r->used = 0;
    return rc;
}

/* Is the partition read to its end? */
static bool kafka_reader_ends(const struct kafka_reader *r, struct kafka_part *p)
{
    bool is_past = p->at.next >= p->at.stop;
    if (!is_past && p->state == KAFKA_READING && r->first < r->messages) {
        is_past = r->message[r->first]->offset >= p->at.stop;
    }
    return is_past || p->state == KAFKA_ENDED;
}

/* Takes more of the partition whose turn it is. */
static void kafka_reader_take(struct kafka_reader *r, struct kafka_part *p)
{
    kafka_reader_drop(r);
    if (p->is_started) {
        ssize_t n = rd_kafka_consume_batch(p->rkt, p->at.partition, 0, r->message, KAFKA_BATCH_MAX);
        r->messages = n > 0 ? (uint32_t)n : 0;
    }
}

/* Position and end of a partition, for status. */
static void kafka_reader_tell(const struct kafka_reader *r, const struct kafka_part *p)
{
    int64_t low = 0, high = 0;
    char name[KAFKA_TOPIC_MAX + 16];
    kafka_split_name(name, p->at.topic, p->at.partition);
    bool is_known = rd_kafka_get_watermark_offsets(r->client.rk, p->at.topic, p->at.partition, &low,
                                                   &high) == RD_KAFKA_RESP_ERR_NO_ERROR;
    int64_t end = p->at.stop != KAFKA_NO_STOP ? p->at.stop : is_known ? high : 0;
    r->host->split_at(r->host, name, p->at.next, end > p->at.next ? end : p->at.next);
}

/* Gives the group what a checkpoint has; the answer comes by a callback. */
static void kafka_reader_tell_group(struct kafka_reader *r)
{
    if (r->shown && r->client.rk) {
        rd_kafka_resp_err_t e = rd_kafka_commit(r->client.rk, r->shown, 1);
        if (e) {
            kafka_reader_committed(r->client.rk, e, NULL, &r->client);
        }
        rd_kafka_topic_partition_list_destroy(r->shown);
        r->shown = NULL;
    }
}

/* The client's own events; and whether brokers can be reached, which is no error. */
static void kafka_reader_beat(struct kafka_reader *r, int64_t now_us)
{
    if (now_us - r->beat_us < KAFKA_BEAT_US) {
        return;
    }
    r->beat_us = now_us;
    if (!r->client.rk) {
        return; /* nothing is to be read yet */
    }
    (void)rd_kafka_poll(r->client.rk, 0);
    for (uint32_t i = 0; i < r->parts; i++) {
        kafka_reader_tell(r, &r->part[i]);
    }
    bool is_down = atomic_load_explicit(&r->client.is_down, memory_order_relaxed);
    if (is_down && !r->was_down) {
        r->host->log(r->host, SR_WARN,
                     "no broker can be reached: the job waits, and goes on by itself");
    }
    if (is_down != r->was_down) {
        r->host->count(r->host, "brokers-unreachable", is_down ? 1 : -1);
    }
    r->was_down = is_down;
}

/* One look at one partition. SR_POLL_IDLE: it has nothing. */
static enum sr_polled kafka_reader_look(struct kafka_reader *r, struct kafka_part *part,
                                        struct sr_poll *p, struct sr_error *err)
{
    if (part->state == KAFKA_ASKING) {
        if (!kafka_ask_is_done(part->ask)) {
            return SR_POLL_IDLE;
        }
        if (kafka_part_answered(r, part, err) != SR_OK) {
            return SR_POLL_FAILED;
        }
    }
    if (r->first >= r->messages) {
        kafka_reader_take(r, part);
    }
    bool has_some = r->messages > 0;
    if (has_some) {
        atomic_store_explicit(&r->client.is_down, false, memory_order_relaxed);
    }
    if (kafka_reader_sift(r, part, err) != SR_OK) {
        return SR_POLL_FAILED;
    }
    p->split = part->number;
    if (kafka_reader_ends(r, part)) {
        kafka_reader_drop(r);
        kafka_part_stop(part);
        part->state = KAFKA_ENDED;
        part->has_told = true;
        if (part->at.stop != KAFKA_NO_STOP && part->at.next < part->at.stop) {
            part->at.next = part->at.stop;
        }
        return SR_POLL_SPLIT_END;
    }
    if (r->first < r->messages) {
        return kafka_reader_show(r, part, p, err);
    }
    return SR_POLL_IDLE;
}

enum sr_polled kafka_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err)
{
    struct kafka_reader *r = reader;
    uint64_t woken;
    int64_t now_us = r->host->mono_us(r->host);
    enum sr_polled polled = SR_POLL_IDLE;
    if (r->has_new && kafka_reader_start(r, err) != SR_OK) {
        return SR_POLL_FAILED;
    }
    kafka_reader_beat(r, now_us);
    kafka_reader_tell_group(r);
    r->first = r->first + r->used; /* what was not consumed is shown again */
    r->upto = r->first;
    r->used = 0;
    if (r->first >= r->messages) {
        r->turn += r->messages > 0 ? 1 : 0;
        kafka_reader_drop(r);
        ssize_t was = read(r->wake, &woken, sizeof(woken)); /* before the queues are looked at */
        (void)was; /* nothing, or that there was something */
    }
    for (uint32_t i = 0; polled == SR_POLL_IDLE && i < r->parts; i++) {
        r->turn = r->turn < r->parts ? r->turn : 0;
        struct kafka_part *part = &r->part[r->turn];
        polled = part->has_told ? SR_POLL_IDLE : kafka_reader_look(r, part, p, err);
        r->turn += polled == SR_POLL_IDLE ? 1 : 0;
    }
    if (polled == SR_POLL_IDLE) {
        *p = (struct sr_poll){.rows = p->rows, .may_pass = p->may_pass, .at = -1};
        p->wait = (struct sr_wait){.fd = r->wake, .until_us = now_us + KAFKA_BEAT_US};
    }
    return polled;
}

/* --- Positions ------------------------------------------------------------------------------- */

void kafka_reader_consume(void *reader, uint32_t number, uint32_t used)
{
    struct kafka_reader *r = reader;
    struct kafka_part *p = kafka_reader_find(r, number);
    if (!p || used == 0 || number != r->number || r->used + used > r->upto - r->first) {
        return;
    }
    r->used += used;
    const rd_kafka_message_t *m = r->message[r->first + r->used - 1];
    p->at.next = m->offset + 1;
    p->at.last = m->offset;
    p->at.last_ms = rd_kafka_message_timestamp(m, NULL);
    p->at.last_digest = kafka_part_digest(r, m);
}

sr_rc kafka_reader_position(void *reader, uint32_t number, struct sr_out *note,
                            struct sr_error *err)
{
    struct kafka_reader *r = reader;
    const struct kafka_part *p = kafka_reader_find(r, number);
    if (!p) {
        return r->host->fail(r->host, err, SR_EABSENT, "split %u is not being read", number);
    }
    return kafka_note_put(note, &p->at)
               ? SR_OK
               : r->host->fail(r->host, err, SR_ENOMEM, "kafka: out of memory");
}

void kafka_reader_acknowledge(void *reader, uint32_t number, struct sr_bytes note)
{
    (void)number;
    struct kafka_reader *r = reader;
    struct kafka_note n;
    if (!r->has_group || kafka_note_get(note, &n) != SR_OK) {
        return;
    }
    if (!r->shown) {
        r->shown = rd_kafka_topic_partition_list_new(8);
    }
    rd_kafka_topic_partition_t *k =
        rd_kafka_topic_partition_list_find(r->shown, n.topic, n.partition);
    k = k ? k : rd_kafka_topic_partition_list_add(r->shown, n.topic, n.partition);
    k->offset = n.next;
    free(n.topic);
}

sr_rc kafka_reader_fill_metadata(void *reader, uint32_t number, const uint32_t *record,
                                 uint32_t rows, struct sr_builder *out, struct sr_error *err)
{
    struct kafka_reader *r = reader;
    const struct kafka_part *p = kafka_reader_find(r, number);
    if (!p || number != r->number) {
        return r->host->fail(r->host, err, SR_EABSENT, "split %u is not being read", number);
    }
    for (uint32_t i = 0; i < rows; i++) {
        const rd_kafka_message_t *m = r->message[r->first + record[i]];
        for (uint32_t k = 0; k < r->metadatas; k++) {
            uint32_t c = r->schema->fields + k;
            if (out->wanted[c]) {
                kafka_known_put(m, p->at.topic, (enum kafka_metadata)r->metadata[k], c, out);
            }
        }
        sr_row_done(out);
    }
    return SR_OK;
}

/* --- Closing --------------------------------------------------------------------------------- */

/* What the last checkpoint has goes to the group still, if a broker answers soon. */
static void kafka_reader_tell_last(struct kafka_reader *r)
{
    if (!r->shown || !r->client.rk) {
        return;
    }
    rd_kafka_queue_t *answers = rd_kafka_queue_new(r->client.rk);
    if (rd_kafka_commit_queue(r->client.rk, r->shown, answers, NULL, NULL) == 0) {
        rd_kafka_event_t *e = rd_kafka_queue_poll(answers, KAFKA_CLOSE_MS);
        kafka_reader_committed(r->client.rk,
                               e ? rd_kafka_event_error(e) : RD_KAFKA_RESP_ERR__TIMED_OUT, NULL,
                               &r->client);
        if (e) {
            rd_kafka_event_destroy(e);
        }
    }
    rd_kafka_queue_destroy(answers);
}

void kafka_reader_close(void *reader)
{
    struct kafka_reader *r = reader;
    kafka_reader_tell_last(r);
    if (r->shown) {
        rd_kafka_topic_partition_list_destroy(r->shown);
    }
    kafka_reader_drop(r);
    for (uint32_t i = 0; i < r->parts; i++) {
        kafka_reader_forget(&r->part[i]);
        free(r->part[i].at.topic);
    }
    client_close(&r->client);
    if (r->host) {
        r->host->buffer_release(r->buffer);
        if (r->wake >= 0) {
            (void)close(r->wake); /* nothing is in it that counts */
        }
    }
    free(r->part);
    *r = (struct kafka_reader){.wake = -1};
}
