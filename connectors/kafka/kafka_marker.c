#include "connectors/kafka/kafka_marker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"

#define KAFKA_MARKER_STEP_MS    1000
#define KAFKA_MARKER_POLLS      100u /* looks at a partition, of 100 ms */
#define KAFKA_MARKER_SILENCE    20u  /* of them without an answer, until that is said */
#define KAFKA_MARKER_ASKS       10u  /* for its ends, of a second */
#define KAFKA_MARKER_CONFIRM_US INT64_C(15000000) /* with brokers that answer */
#define KAFKA_MARKER_BYTES      64u

/* --- Putting it ------------------------------------------------------------------------------- */

rd_kafka_error_t *kafka_marker_send(rd_kafka_t *producer, const char *group, const char *topic,
                                    const struct sr_marker *m, int timeout_ms)
{
    char text[KAFKA_MARKER_BYTES];
    int len =
        snprintf(text, sizeof(text), "sr1 %016" PRIx64 " %" PRIu64, m->lineage, m->checkpoint);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_add(list, topic, 0);
    at->offset = (int64_t)m->checkpoint;
    at->metadata = strdup(text); /* librdkafka frees it */
    at->metadata_size = at->metadata ? (size_t)len : 0;
    rd_kafka_consumer_group_metadata_t *of = rd_kafka_consumer_group_metadata_new(group);
    rd_kafka_error_t *e = rd_kafka_send_offsets_to_transaction(producer, list, of, timeout_ms);
    rd_kafka_consumer_group_metadata_destroy(of);
    rd_kafka_topic_partition_list_destroy(list);
    return e;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static bool kafka_marker_gives_up(const struct kafka_reader_how *how)
{
    return atomic_load_explicit(how->is_stopped, memory_order_relaxed);
}

sr_rc kafka_marker_open(const struct kafka_reader_how *how, bool is_committed, struct client *c,
                        struct sr_error *err)
{
    rd_kafka_conf_t *conf = NULL;
    sr_rc rc = client_conf(how->properties, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    client_set(conf, "group.id", how->group);
    client_set(conf, "isolation.level", is_committed ? "read_committed" : "read_uncommitted");
    client_set(conf, "enable.auto.commit", "false");
    client_set(conf, "enable.partition.eof", "true");
    client_set(conf, "auto.offset.reset", "error");
    return client_open(c, how->host, RD_KAFKA_CONSUMER, conf, err);
}

static sr_rc kafka_marker_parse(const struct kafka_reader_how *how,
                                const rd_kafka_topic_partition_t *at, struct sr_marker *out,
                                struct sr_error *err)
{
    char text[KAFKA_MARKER_BYTES], again[KAFKA_MARKER_BYTES];
    *out = (struct sr_marker){.lineage = 0};
    if (at->offset < 0 && at->metadata_size == 0) {
        return SR_OK;
    }
    if (at->metadata_size > 0 && at->metadata_size < sizeof(text)) {
        memcpy(text, at->metadata, at->metadata_size);
        text[at->metadata_size] = '\0';
        char *end = text + 4;
        out->lineage = strtoull(end, &end, 16);
        out->checkpoint = strtoull(end, NULL, 10);
        (void)snprintf(again, sizeof(again), "sr1 %016" PRIx64 " %" PRIu64, out->lineage,
                       out->checkpoint);
        if (strcmp(text, again) == 0 && at->offset == (int64_t)out->checkpoint &&
            out->lineage != 0) {
            return SR_OK;
        }
    }
    return how->host->fail(how->host, err, SR_EMISFIT,
                           "kafka: consumer group '%s' holds what this job did not write there "
                           "(somebody reset it, or consumes by it): %s",
                           how->group, how->way_out);
}

/* One question for the group's offset. SR_EIO: it may be told later. */
static sr_rc kafka_marker_ask(const struct kafka_reader_how *how, const struct client *c,
                              struct sr_marker *out, struct sr_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    (void)rd_kafka_topic_partition_list_add(list, how->topic, 0);
    rd_kafka_resp_err_t e = rd_kafka_committed(c->rk, list, KAFKA_MARKER_STEP_MS);
    e = e ? e : list->elems[0].err;
    sr_rc rc = SR_OK;
    if (!e) {
        rc = kafka_marker_parse(how, &list->elems[0], out, err);
    } else {
        sr_rc kind = client_rc(e);
        (void)client_fail(c, err, e, how->group);
        rc = kind == SR_EACCESS || kind == SR_ECONFIG ? kind : SR_EIO;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return rc;
}

sr_rc kafka_marker_read(const struct kafka_reader_how *how, struct sr_marker *out,
                        struct sr_error *err)
{
    struct client c = {.rk = NULL};
    sr_rc rc = kafka_marker_open(how, true, &c, err);
    if (rc == SR_OK) {
        do {
            rc = kafka_marker_ask(how, &c, out, err);
        } while (rc == SR_EIO && !kafka_marker_gives_up(how));
    }
    client_close(&c);
    return rc;
}

/* Does any broker answer? */
static bool kafka_marker_reaches(const struct client *c)
{
    const struct rd_kafka_metadata *m = NULL;
    (void)rd_kafka_poll(c->rk, KAFKA_MARKER_STEP_MS / 50); /* answers may come at once */
    rd_kafka_resp_err_t e = rd_kafka_metadata(c->rk, 0, NULL, &m, KAFKA_MARKER_STEP_MS);
    if (!e) {
        rd_kafka_metadata_destroy(m);
    }
    return !e;
}

sr_rc kafka_marker_confirm(const struct kafka_reader_how *how, const struct sr_marker *m,
                           struct sr_error *err)
{
    const struct sr_host *host = how->host;
    struct client c = {.rk = NULL};
    struct sr_marker found = {.lineage = 0};
    int64_t left_us = KAFKA_MARKER_CONFIRM_US;
    sr_rc rc = kafka_marker_open(how, true, &c, err);
    for (bool is_told = rc != SR_OK; !is_told && left_us > 0;) {
        int64_t begin_us = host->mono_us(host);
        rc = kafka_marker_ask(how, &c, &found, err);
        is_told = rc != SR_EIO || kafka_marker_gives_up(how);
        if (!is_told && kafka_marker_reaches(&c)) { /* brokers that are away are waited for */
            left_us -= host->mono_us(host) - begin_us;
        }
    }
    client_close(&c);
    bool is_lost =
        left_us <= 0 ||
        (rc == SR_OK && (found.lineage != m->lineage || found.checkpoint != m->checkpoint));
    return is_lost ? host->fail(host, err, SR_EIO,
                                "kafka: a broker said that a transaction is committed, and did not "
                                "end it in its topics, as when it is killed in between")
                   : rc;
}

/* --- Evidence --------------------------------------------------------------------------------- */

bool kafka_marker_note(const struct producer_row *row, struct sr_out *note)
{
    return note_put_text(note, row->topic) && note_put_u32(note, (uint32_t)row->partition) &&
           note_put_u64(note, (uint64_t)row->offset);
}

struct kafka_row {
    const char *topic;
    int32_t partition;
    int64_t offset;
};

/* While a transaction of another producer is open before the row, a reader of committed rows waits
 * in silence. */
static void kafka_row_say_hidden(const struct client *c, const struct kafka_row *row)
{
    c->host->log(c->host, SR_WARN,
                 "whether the row at offset %" PRId64 " of %s, partition %" PRId32
                 " was committed cannot be told yet: a transaction of another producer may be open "
                 "before it",
                 row->offset, row->topic, row->partition);
}

/* Does what was polled tell? A row before the offset does not: librdkafka may begin there. */
static bool kafka_row_is_told(const rd_kafka_message_t *m, const struct kafka_row *row,
                              enum sr_evidence *out)
{
    bool is_end = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || (is_end && m->offset == row->offset)) {
        *out = SR_EVIDENCE_GONE; /* the log is too short for it: the topic was made again */
        return true;
    }
    *out = !m->err && m->offset == row->offset ? SR_EVIDENCE_SHOWN : SR_EVIDENCE_ABORTED;
    return (!m->err || is_end) && m->offset >= row->offset;
}

/* What a reader of committed rows finds at an offset: the row, or something later. What may be told
 * later is a failure: only the answer of the brokers is one. */
static sr_rc kafka_row_find(const struct client *c, const struct kafka_row *row,
                            const struct kafka_reader_how *how, enum sr_evidence *out,
                            struct sr_error *err)
{
    rd_kafka_resp_err_t last = RD_KAFKA_RESP_ERR__TIMED_OUT;
    bool is_told = false;
    for (uint32_t i = 0; !is_told && i < KAFKA_MARKER_POLLS && !kafka_marker_gives_up(how); i++) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(c->rk, 100);
        if (m) {
            is_told = kafka_row_is_told(m, row, out);
            last = m->err && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF ? m->err : last;
            rd_kafka_message_destroy(m);
        } else if (i == KAFKA_MARKER_SILENCE) {
            kafka_row_say_hidden(c, row);
        }
    }
    return is_told ? SR_OK
                   : client_fail(c, err, last, "whether a pending transaction was committed");
}

/* Is the row's offset still there? A topic that is unknown at first may only not be known yet. */
static sr_rc kafka_row_look(const struct client *c, const struct kafka_row *row,
                            const struct kafka_reader_how *how, bool *is_there,
                            struct sr_error *err)
{
    rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR__TIMED_OUT;
    int64_t low = 0, high = 0;
    for (uint32_t i = 0; e && i < KAFKA_MARKER_ASKS && !kafka_marker_gives_up(how); i++) {
        e = rd_kafka_query_watermark_offsets(c->rk, row->topic, row->partition, &low, &high,
                                             KAFKA_MARKER_STEP_MS);
        if (e && i + 1 < KAFKA_MARKER_ASKS) {
            (void)rd_kafka_poll(c->rk, KAFKA_MARKER_STEP_MS / 10); /* answers may come at once */
        }
    }
    *is_there = !e && row->offset >= low;
    return !e || client_rc(e) == SR_EABSENT
               ? SR_OK
               : client_fail(c, err, e, "whether a pending transaction was committed");
}

sr_rc kafka_marker_look(const struct kafka_reader_how *how, struct sr_bytes note,
                        enum sr_evidence *out, struct sr_error *err)
{
    struct note_in in = note_in(note);
    char *topic = note_get_text(&in);
    struct kafka_row row = {.topic = topic, .partition = (int32_t)note_get_u32(&in)};
    row.offset = (int64_t)note_get_u64(&in);
    bool is_there = false;
    *out = SR_EVIDENCE_GONE;
    if (!note_is_done(&in)) {
        free(topic);
        return how->host->fail(how->host, err, SR_ECORRUPT, "kafka: a row's place is damaged");
    }
    struct client c = {.rk = NULL};
#ifdef MUTANT_KAFKA_LOOKS_AT_ALL /* an aborted row tells that it was committed */
    sr_rc rc = kafka_marker_open(how, false, &c, err);
#else
    sr_rc rc = kafka_marker_open(how, true, &c, err);
#endif
    rc = rc == SR_OK ? kafka_row_look(&c, &row, how, &is_there, err) : rc;
    if (rc == SR_OK && is_there) {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, row.topic, row.partition)->offset = row.offset;
        (void)rd_kafka_assign(c.rk, list); /* what is wrong with it is polled */
        rc = kafka_row_find(&c, &row, how, out, err);
        rd_kafka_topic_partition_list_destroy(list);
    }
    client_close(&c);
    free(topic);
    return rc;
}
