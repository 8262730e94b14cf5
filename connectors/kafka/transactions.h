/* Transactions of a cluster, as its coordinators note them, and how one is ended from outside.
 *
 * librdkafka 2.0.2 has no calls of the admin protocol for them (ListTransactions,
 * DescribeTransactions), and newer ones have none either; so the topic is read in which brokers
 * keep them, __transaction_state, with the user's own properties, TLS and SASL included. That
 * needs the right to read it.
 *
 * One is ended as a job that recovers does it, by a producer that takes its id: what is open is
 * aborted, what was decided to be committed is committed, and whoever had the id is fenced, so that
 * no commit of his can ever say that it succeeded. The admin protocol's abort, which writes markers
 * behind the coordinator's back, would let a living producer's commit succeed without its rows.
 *
 * All calls wait for brokers.
 */
#ifndef CONNECTORS_KAFKA_TRANSACTIONS_H
#define CONNECTORS_KAFKA_TRANSACTIONS_H

#include <streamrun/ask.h>

#include "connectors/kafka/client.h"

#define TRANSACTIONS_MAX       10000u /* ids of one prefix */
#define TRANSACTIONS_WORDS_MAX 400u   /* bytes of a list of partitions, for people: cut */

enum transaction_state { /* as brokers number them */
                         TRANSACTION_EMPTY,
                         TRANSACTION_ONGOING,
                         TRANSACTION_PREPARE_COMMIT,
                         TRANSACTION_PREPARE_ABORT,
                         TRANSACTION_COMPLETE_COMMIT,
                         TRANSACTION_COMPLETE_ABORT,
                         TRANSACTION_DEAD,
                         TRANSACTION_PREPARE_EPOCH_FENCE
};

struct transaction {
    char *id; /* owned */
    int64_t producer_id;
    int32_t epoch, timeout_ms;
    int32_t state;              /* enum transaction_state, or a later broker's */
    int32_t ended;              /* how the newest that ended did: one of COMPLETE_*; 0: not seen */
    int64_t since_ms, moved_ms; /* when it began; when its state last changed */
    char partitions[TRANSACTIONS_WORDS_MAX];
    uint32_t partition_count;
};

struct transactions {
    struct transaction *item; /* in the order in which ids were first seen */
    uint32_t count, room;
};

/* What one record of the topic says; false: it is of no kind that is known. */
bool transaction_parse(const uint8_t *value, size_t len, struct transaction *t);
bool transaction_is_open(const struct transaction *t);
const char *transaction_state_name(int32_t state); /* as Kafka's own tools call it */

/* All whose id begins with `stem`. SR_EACCESS: the topic may not be read. */
sr_rc transactions_read(struct transactions *out, const struct sr_ask *a,
                        const struct sr_pairs *properties, const char *stem, struct sr_error *err);
/* Until it is over, or a->until_us. `timeout_ms`: its own; 0: not known. */
sr_rc transaction_end(const struct sr_ask *a, const struct sr_pairs *properties, const char *id,
                      int32_t timeout_ms, struct sr_error *err);
struct transaction *transactions_find(const struct transactions *t, const char *id);
void transactions_done(struct transactions *t);

#endif
