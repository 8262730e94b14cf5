/* The transactions of the kafka sinks of a job, which decide about its checkpoints
 * (streamrun/decider.h): two producers, of which each carries one transaction and is then made
 * anew.
 *
 *   slot    being made ----> ready: rows go to it ----> swapped: committed ----> being made
 *            (a thread)       decide(n), first call      (a thread)              renew
 *
 * A fresh producer a transaction is not for looks: with one producer a commit whose answer came
 * late commits rows of the next transaction too. The marker goes into the transaction as the
 * offset of a consumer group of the job's own, on partition 0 of its first topic.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_DECIDER_H
#define CONNECTORS_KAFKA_KAFKA_DECIDER_H

#include <streamrun/decider.h>

#include "connectors/kafka/producer.h"

#define KAFKA_DECIDER_SINKS_MAX 1024u /* subtasks that share one */

struct kafka_decider;

extern const struct sr_decider_type kafka_decider_type;

/* A subtask's: the number for its tags. SR_ELIMIT. */
sr_rc kafka_decider_join(struct kafka_decider *d, struct flights *flights, uint32_t part,
                         uint16_t *number, struct sr_error *err);
void kafka_decider_leave(struct kafka_decider *d, uint16_t number);
/* May rows be written by who has prepared for checkpoint `held` (0: nobody has)? The producer that
 * they go to; NULL: not yet. */
struct producer *kafka_decider_producer(struct kafka_decider *d, uint64_t held);
/* The producer whose transaction is open, ready or not. */
struct producer *kafka_decider_current(struct kafka_decider *d);

#endif
