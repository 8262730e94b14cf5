/* Rows that were handed to librdkafka and have no answer yet.
 *
 * A flight is the rows of one call of write. Each row has a tag, which goes with its message and
 * comes back with the answer:
 *
 *   flights_begin -> { flights_tag }* -> flights_end        the sink's thread, a call of write
 *   flights_answer                                          any thread, once a tag
 *   flights_refused -> flights_forgive                      the sink's thread: rows of answers that
 *                                                           speak of the row, one by one
 *   flights_failure                                         the first answer that speaks of more
 *
 * A flight is over when all its rows were answered well or forgiven; they are over in their order.
 */
#ifndef CONNECTORS_KAFKA_FLIGHTS_H
#define CONNECTORS_KAFKA_FLIGHTS_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <streamrun/connector.h>

#define FLIGHTS_MAX 64u /* of one sink: the engine keeps the rows of each */

struct flight {
    uint64_t first;         /* number of its first row, since open */
    uint32_t rows;          /* set at its end */
    _Atomic uint32_t onway; /* rows, and one more until its end; release by who answers, acquire
                                by who looks whether it is over */
};

struct flights_row {
    uint64_t row;
    uint32_t flight; /* index */
    rd_kafka_resp_err_t why;
};

struct flights {
    struct flight ring[FLIGHTS_MAX];
    uint32_t first, count; /* of the ring, in use; the sink's thread */
    uint64_t taken;        /* rows since open; the sink's thread */
    uint16_t owner;        /* goes with each tag: whose it is, among those that share a producer */
    bool has_lock;
    pthread_mutex_t lock;
    struct flights_row *refused; /* under the lock; owned */
    uint32_t refusals, capacity; /* under the lock */
    uint32_t forgiven;           /* of the refusals, from the first; under the lock */
    rd_kafka_resp_err_t failure; /* under the lock; 0: none */
};

sr_rc flights_init(struct flights *f, uint16_t owner); /* SR_ENOMEM */
void flights_done(struct flights *f);                  /* also of one that is zeroed */

/* Index of a new flight; FLIGHTS_MAX: there is no room. */
uint32_t flights_begin(struct flights *f);
/* The tag of the next row of the flight; it counts as on its way. */
void *flights_tag(struct flights *f, uint32_t flight);
void flights_untag(struct flights *f, uint32_t flight); /* it was not taken after all */
/* Rows of the flight that were taken; with none it is no more. */
void flights_end(struct flights *f, uint32_t flight);

uint16_t flights_owner(const void *tag); /* whose flights_answer is to be called */
uint64_t flights_row_of(const struct flights *f, const void *tag); /* its number, since open */
/* `is_of_row`: what went wrong is the fault of this row alone. */
void flights_answer(struct flights *f, const void *tag, rd_kafka_resp_err_t e, bool is_of_row);

/* A row that was refused and not forgiven yet. */
bool flights_refused(struct flights *f, struct flights_row *out);
void flights_forgive(struct flights *f);                /* that row has its fate */
rd_kafka_resp_err_t flights_failure(struct flights *f); /* 0: none */
/* Rows before this number have their fate, since open. Frees flights that are over. */
uint64_t flights_settled(struct flights *f);

#endif
