#include "test/bench/kafka_client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void kafka_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    exit(1);
}

void kafka_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)) != RD_KAFKA_CONF_OK) {
        kafka_die("%s", why);
    }
}

rd_kafka_t *kafka_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, const char *bootstrap)
{
    char why[256];
    kafka_set(conf, "bootstrap.servers", bootstrap);
    rd_kafka_t *rk = rd_kafka_new(type, conf, why, sizeof(why));
    if (!rk) {
        kafka_die("%s", why);
    }
    return rk;
}

int kafka_assign_all(rd_kafka_t *rk, const char *name)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, name, NULL);
    const rd_kafka_metadata_t *m = NULL;
    rd_kafka_resp_err_t e = rd_kafka_metadata(rk, 0, topic, &m, KAFKA_WAIT_MS);
    if (e || m->topics[0].err) {
        kafka_die("topic %s: %s", name, rd_kafka_err2str(e ? e : m->topics[0].err));
    }
    int count = m->topics[0].partition_cnt;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int p = 0; p < count; p++) {
        rd_kafka_topic_partition_list_add(list, name, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
    e = rd_kafka_assign(rk, list);
    if (e) {
        kafka_die("%s", rd_kafka_err2str(e));
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_metadata_destroy(m);
    rd_kafka_topic_destroy(topic);
    return count;
}
