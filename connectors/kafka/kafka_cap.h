/* The broker's cap on transactions, transaction.max.timeout.ms: what is said when it is below what
 * the producer asks for.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_CAP_H
#define CONNECTORS_KAFKA_KAFKA_CAP_H

#include "connectors/kafka/producer.h"

/* The producer's transactions were refused for their time-out: SR_ECONFIG, naming it, the cap, and,
 * unless NULL, how long a transaction has to be open. Asks a broker, which may take seconds. */
sr_rc kafka_cap_fail(struct producer *p, const char *needed, struct sr_error *err);

#endif
