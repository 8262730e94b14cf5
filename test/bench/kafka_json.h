/* One record of JSON, filtered and written again by a bare simdjson loop: part of kafka_loop. */
#ifndef TEST_BENCH_KAFKA_JSON_H
#define TEST_BENCH_KAFKA_JSON_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KAFKA_JSON_ROOM 4096 /* bytes of a record, at most */

struct kafka_json;

struct kafka_json *kafka_json_new(void);
/* {"id":..,"amount":..,"text":".."} with amount > 499 gives the same to `out`; 0: it is left out.
 */
size_t kafka_json_row(struct kafka_json *j, const void *row, size_t len, char out[KAFKA_JSON_ROOM]);
void kafka_json_free(struct kafka_json *j);

#ifdef __cplusplus
}
#endif

#endif
