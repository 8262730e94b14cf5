/* Clients of librdkafka of the yardsticks: whatever goes wrong ends the program, in words. */
#ifndef TEST_BENCH_KAFKA_CLIENT_H
#define TEST_BENCH_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#define KAFKA_WAIT_MS 60000

void __attribute__((format(printf, 1, 2), noreturn)) kafka_die(const char *format, ...);
void kafka_set(rd_kafka_conf_t *conf, const char *name, const char *value);
/* Takes the conf. */
rd_kafka_t *kafka_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, const char *bootstrap);
/* All partitions of the topic, from their beginning. Answers how many. */
int kafka_assign_all(rd_kafka_t *rk, const char *name);

#endif
