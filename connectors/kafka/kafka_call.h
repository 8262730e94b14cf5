/* Calls of librdkafka for transactions, each in steps of a second: what may pass is called again.
 *
 *   for (bool is_over = false; !is_over;) { is_over = kafka_call_is_over(..., CALL, ...); }
 */
#ifndef CONNECTORS_KAFKA_KAFKA_CALL_H
#define CONNECTORS_KAFKA_KAFKA_CALL_H

#include <stdatomic.h>

#include "connectors/kafka/client.h"

#define KAFKA_CALL_MS 1000 /* of one call, so that it can be given up */

/* Takes e. NULL: SR_OK; else "kafka: what: why", SR_EIO unless people have to act. */
sr_rc kafka_call_fail(const struct sr_host *host, rd_kafka_error_t *e, const char *what,
                      struct sr_error *err);
/* Takes e. True: it is done, with SR_OK, or is not to be called again. is_stopped (relaxed): give
 * up, SR_ECLOSED. */
bool kafka_call_is_over(const struct sr_host *host, const atomic_bool *is_stopped,
                        rd_kafka_error_t *e, const char *what, sr_rc *rc, struct sr_error *err);

#endif
