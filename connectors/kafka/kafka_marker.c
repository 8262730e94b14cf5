#include "connectors/kafka/kafka_marker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"

#define KAFKA_MARKER_STEP_MS 1000
#define KAFKA_MARKER_POLLS   100u /* looks at a partition, of 100 ms */
#define KAFKA_MARKER_BYTES   64u

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

/* A consumer that is in no group's way, and sees what was committed only. */
static sr_rc kafka_marker_open(const struct kafka_reader_how *how, struct client *c,
                               struct sr_error *err)
{
    rd_kafka_conf_t *conf = NULL;
    sr_rc rc = client_conf(how->properties, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    client_set(conf, "group.id", how->group);
    client_set(conf, "isolation.level", "read_committed");
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

sr_rc kafka_marker_read(const struct kafka_reader_how *how, struct sr_marker *out,
                        struct sr_error *err)
{
    struct client c = {.rk = NULL};
    sr_rc rc = kafka_marker_open(how, &c, err);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    (void)rd_kafka_topic_partition_list_add(list, how->topic, 0);
    while (rc == SR_OK) {
        rd_kafka_resp_err_t e = rd_kafka_committed(c.rk, list, KAFKA_MARKER_STEP_MS);
        e = e ? e : list->elems[0].err;
        if (!e) {
            rc = kafka_marker_parse(how, &list->elems[0], out, err);
            break;
        }
        sr_rc kind = client_rc(e);
        if (kind == SR_EACCESS || kind == SR_ECONFIG || kafka_marker_gives_up(how)) {
            rc = client_fail(&c, err, e, how->group);
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    client_close(&c);
    return rc;
}

/* --- Evidence --------------------------------------------------------------------------------- */

bool kafka_marker_note(const struct producer_row *row, struct sr_out *note)
{
    return note_put_text(note, row->topic) && note_put_u32(note, (uint32_t)row->partition) &&
           note_put_u64(note, (uint64_t)row->offset);
}

/* What a reader of committed rows finds at an offset: the row, or something later. */
static enum sr_evidence kafka_marker_find(rd_kafka_t *rk, int64_t offset,
                                          const struct kafka_reader_how *how)
{
    for (uint32_t i = 0; i < KAFKA_MARKER_POLLS && !kafka_marker_gives_up(how); i++) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, 100);
        if (!m) {
            continue;
        }
        rd_kafka_resp_err_t e = m->err;
        int64_t at = m->offset;
        rd_kafka_message_destroy(m);
        if (!e) {
            return at == offset ? SR_EVIDENCE_SHOWN : SR_EVIDENCE_ABORTED;
        }
        if (e == RD_KAFKA_RESP_ERR__PARTITION_EOF && at > offset) {
            return SR_EVIDENCE_ABORTED;
        }
        if (e != RD_KAFKA_RESP_ERR__PARTITION_EOF && client_rc(e) != SR_EABSENT) {
            break;
        }
    }
    return SR_EVIDENCE_GONE;
}

sr_rc kafka_marker_look(const struct kafka_reader_how *how, struct sr_bytes note,
                        enum sr_evidence *out, struct sr_error *err)
{
    struct note_in in = note_in(note);
    char *topic = note_get_text(&in);
    int32_t partition = (int32_t)note_get_u32(&in);
    int64_t offset = (int64_t)note_get_u64(&in), low = 0, high = 0;
    *out = SR_EVIDENCE_GONE;
    if (!note_is_done(&in)) {
        free(topic);
        return how->host->fail(how->host, err, SR_ECORRUPT, "kafka: a row's place is damaged");
    }
    struct client c = {.rk = NULL};
    sr_rc rc = kafka_marker_open(how, &c, err);
    if (rc == SR_OK &&
        rd_kafka_query_watermark_offsets(c.rk, topic, partition, &low, &high, 10000) == 0 &&
        offset >= low && offset < high) {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
        (void)rd_kafka_assign(c.rk, list); /* what is wrong with it is polled */
        *out = kafka_marker_find(c.rk, offset, how);
        rd_kafka_topic_partition_list_destroy(list);
    }
    client_close(&c);
    free(topic);
    return rc;
}
