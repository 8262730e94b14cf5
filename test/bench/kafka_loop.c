/* The yardstick of the Kafka rows of scripts/bench: a consumer and a producer of librdkafka, and
 * nothing between them.
 *
 *   kafka_loop fill BOOTSTRAP TOPIC ROWS     records of 200 bytes, half of them random
 *   kafka_loop copy BOOTSTRAP FROM TO        all records of FROM, with the settings of our sink
 *   kafka_loop json BOOTSTRAP FROM TO        the same, through simdjson: about half of them
 *   kafka_loop follow BOOTSTRAP FROM TO      as copy, without an end
 */
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/kafka_client.h"
#include "test/bench/kafka_json.h"

#define ROW_BYTES 200
#define BATCH     1000

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    (void)rk, (void)opaque;
    if (m->err) {
        kafka_die("not delivered: %s", rd_kafka_err2str(m->err));
    }
}

static rd_kafka_t *producer(const char *bootstrap)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_set(conf, "enable.idempotence", "true");
    kafka_set(conf, "compression.codec", "lz4");
    kafka_set(conf, "partitioner", "murmur2_random");
    kafka_set(conf, "queue.buffering.max.kbytes", "32768");
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    return kafka_client(RD_KAFKA_PRODUCER, conf, bootstrap);
}

static void put(rd_kafka_t *rk, rd_kafka_topic_t *topic, void *data, size_t len)
{
    while (rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, data, len, NULL, 0,
                            NULL) != 0) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            kafka_die("%s", rd_kafka_err2str(rd_kafka_last_error()));
        }
        (void)rd_kafka_poll(rk, 10);
    }
}

static void end(rd_kafka_t *rk, rd_kafka_topic_t *topic)
{
    if (rd_kafka_flush(rk, KAFKA_WAIT_MS)) {
        kafka_die("not delivered in time");
    }
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(rk);
}

static void fill(const char *bootstrap, const char *to, long rows)
{
    rd_kafka_t *rk = producer(bootstrap);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, to, NULL);
    char row[ROW_BYTES + 1];
    srand(1);
    for (long i = 0; i < rows; i++) {
        int n =
            snprintf(row, sizeof(row), "{\"id\":%ld,\"amount\":%d,\"text\":\"", i, rand() % 1000);
        for (; n < ROW_BYTES - 2; n++) {
            row[n] = (char)(n % 2 ? 'a' + rand() % 26 : 'a');
        }
        memcpy(row + ROW_BYTES - 2, "\"}", 2);
        put(rk, topic, row, ROW_BYTES);
        if (i % BATCH == 0) {
            (void)rd_kafka_poll(rk, 0);
        }
    }
    end(rk, topic);
}

/* One record on; by way of JSON, or as it is. */
static void pass(rd_kafka_t *out, rd_kafka_topic_t *topic, struct kafka_json *json,
                 const rd_kafka_message_t *m)
{
    char row[KAFKA_JSON_ROOM];
    if (!json) {
        put(out, topic, m->payload, m->len);
        return;
    }
    size_t len = kafka_json_row(json, m->payload, m->len, row);
    if (len > 0) {
        put(out, topic, row, len);
    }
}

static void copy(const char *bootstrap, const char *from, const char *to, struct kafka_json *json,
                 bool is_endless)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_set(conf, "group.id", "kafka_loop");
    kafka_set(conf, "enable.auto.commit", "false");
    kafka_set(conf, "enable.partition.eof", "true");
    kafka_set(conf, "isolation.level", "read_committed");
    rd_kafka_t *in = kafka_client(RD_KAFKA_CONSUMER, conf, bootstrap);
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(in);
    rd_kafka_t *out = producer(bootstrap);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(out, to, NULL);
    rd_kafka_message_t *m[BATCH];
    for (int left = kafka_assign_all(in, from); left > 0;) {
        ssize_t got = rd_kafka_consume_batch_queue(queue, is_endless ? 1 : 100, m, BATCH);
        for (ssize_t i = 0; i < got; i++) {
            if (m[i]->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
                left -= is_endless ? 0 : 1;
            } else if (m[i]->err) {
                kafka_die("%s", rd_kafka_message_errstr(m[i]));
            } else {
                pass(out, topic, json, m[i]);
            }
            rd_kafka_message_destroy(m[i]);
        }
        (void)rd_kafka_poll(out, 0);
    }
    end(out, topic);
    rd_kafka_queue_destroy(queue);
    (void)rd_kafka_consumer_close(in);
    rd_kafka_destroy(in);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "fill") == 0) {
        fill(argv[2], argv[3], strtol(argv[4], NULL, 10));
    } else if (argc == 5 && strcmp(argv[1], "copy") == 0) {
        copy(argv[2], argv[3], argv[4], NULL, false);
    } else if (argc == 5 && strcmp(argv[1], "follow") == 0) {
        copy(argv[2], argv[3], argv[4], NULL, true);
    } else if (argc == 5 && strcmp(argv[1], "json") == 0) {
        struct kafka_json *json = kafka_json_new();
        copy(argv[2], argv[3], argv[4], json, false);
        kafka_json_free(json);
    } else {
        kafka_die("kafka_loop: wrong usage, see the file's head");
    }
    return 0;
}
