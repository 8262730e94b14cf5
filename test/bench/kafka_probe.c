/* How long records are on their way through a job: writes records to one topic, reads another one,
 * which is empty, and tells the time between.
 *
 *   kafka_probe BOOTSTRAP IN OUT RATE SECONDS
 *
 * First one record, until it has come back; then RATE a second, of 200 bytes, each with its number,
 * of which those of the first WARM_S seconds do not count: the broker compiles then. The reader
 * sees only what was committed. Time counts from the moment that a record was due, so that a writer
 * that was held up does not hide it. Prints one line of JSON: median, 99 %, maximum in
 * milliseconds.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/bench/kafka_client.h"

#define ROW_BYTES 200
#define WARM_S    5
#define LATE_US   INT64_C(60000000)

struct probe {
    const char *bootstrap, *in, *out;
    uint64_t rate, rows;
    int64_t begin_us;   /* when number 1 was due */
    int64_t *waited_us; /* by number; 0: not back yet */
    rd_kafka_t *reader, *writer;
    rd_kafka_topic_t *topic; /* of the writer */
    _Atomic uint64_t back;   /* release: their waited_us are there */
};

static int64_t now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void open_reader(struct probe *p)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_set(conf, "group.id", "kafka_probe");
    kafka_set(conf, "enable.auto.commit", "false");
    kafka_set(conf, "isolation.level", "read_committed");
    kafka_set(conf, "fetch.wait.max.ms", "100");
    p->reader = kafka_client(RD_KAFKA_CONSUMER, conf, p->bootstrap);
    (void)kafka_assign_all(p->reader, p->out);
}

static void open_writer(struct probe *p)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_set(conf, "linger.ms", "1");
    p->writer = kafka_client(RD_KAFKA_PRODUCER, conf, p->bootstrap);
    p->topic = rd_kafka_topic_new(p->writer, p->in, NULL);
}

static void put(struct probe *p, uint64_t number)
{
    char row[ROW_BYTES];
    memset(row, 'x', sizeof(row));
    int n = snprintf(row, sizeof(row), "%llu", (unsigned long long)number);
    row[n] = ' ';
    if (rd_kafka_produce(p->topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, row, sizeof(row),
                         NULL, 0, NULL) != 0) {
        kafka_die("%s", rd_kafka_err2str(rd_kafka_last_error()));
    }
}

static void hear(struct probe *p, int wait_ms)
{
    rd_kafka_message_t *m = rd_kafka_consumer_poll(p->reader, wait_ms);
    for (; m; m = rd_kafka_consumer_poll(p->reader, 0)) {
        int64_t now = now_us();
        char text[24] = "";
        if (!m->err && m->payload) {
            memcpy(text, m->payload, m->len < 23 ? m->len : 23);
        }
        uint64_t number = strtoull(text, NULL, 10);
        if (number > 0 && number <= p->rows && p->waited_us[number - 1] == 0) {
            int64_t due_us = p->begin_us + (int64_t)((number - 1) * UINT64_C(1000000) / p->rate);
            p->waited_us[number - 1] = now > due_us ? now - due_us : 1;
            atomic_fetch_add_explicit(&p->back, 1, memory_order_release);
        }
        rd_kafka_message_destroy(m);
    }
}

/* One record, whose number is 1 too, until it is back. */
static void settle(struct probe *p)
{
    p->begin_us = now_us();
    put(p, 1);
    while (atomic_load_explicit(&p->back, memory_order_relaxed) == 0) {
        (void)rd_kafka_poll(p->writer, 0);
        hear(p, 10);
        if (now_us() - p->begin_us > LATE_US) {
            kafka_die("nothing comes back");
        }
    }
    p->waited_us[0] = 0;
    atomic_store_explicit(&p->back, 0, memory_order_relaxed);
}

static void *write_all(void *arg)
{
    struct probe *p = arg;
    for (uint64_t sent = 0; sent < p->rows;) {
        struct timespec pause = {.tv_nsec = 500000};
        uint64_t due = 1 + (uint64_t)(now_us() - p->begin_us) * p->rate / 1000000;
        due = due < p->rows ? due : p->rows;
        while (sent < due) {
            put(p, ++sent);
        }
        (void)rd_kafka_poll(p->writer, 0);
        (void)nanosleep(&pause, NULL);
    }
    (void)rd_kafka_flush(p->writer, KAFKA_WAIT_MS);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        kafka_die("kafka_probe BOOTSTRAP IN OUT RATE SECONDS");
    }
    static struct probe p;
    pthread_t writer;
    p.bootstrap = argv[1];
    p.in = argv[2];
    p.out = argv[3];
    p.rate = strtoull(argv[4], NULL, 10);
    uint64_t warm = p.rate * WARM_S;
    p.rows = warm + p.rate * strtoull(argv[5], NULL, 10);
    p.waited_us = calloc(p.rows, sizeof(*p.waited_us));
    open_reader(&p);
    open_writer(&p);
    settle(&p);
    p.begin_us = now_us();
    if (pthread_create(&writer, NULL, write_all, &p) != 0) {
        kafka_die("no thread");
    }
    int64_t late_us = p.begin_us + (int64_t)(p.rows * 1000000 / p.rate) + LATE_US;
    while (atomic_load_explicit(&p.back, memory_order_acquire) < p.rows && now_us() < late_us) {
        hear(&p, 10);
    }
    (void)pthread_join(writer, NULL);
    if (p.back < p.rows) {
        kafka_die("%llu records did not come back", (unsigned long long)(p.rows - p.back));
    }
    int64_t *counted = p.waited_us + warm;
    uint64_t rows = p.rows - warm;
    qsort(counted, rows, sizeof(*counted), compare);
    printf("{\"p50\": %.1f, \"p99\": %.1f, \"max\": %.1f}\n", (double)counted[rows / 2] / 1000,
           (double)counted[rows - rows / 100 - 1] / 1000, (double)counted[rows - 1] / 1000);
    rd_kafka_topic_destroy(p.topic);
    rd_kafka_destroy(p.writer);
    (void)rd_kafka_consumer_close(p.reader);
    rd_kafka_destroy(p.reader);
    free(p.waited_us);
    return 0;
}
