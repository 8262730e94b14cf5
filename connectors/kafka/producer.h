/* One producer of librdkafka with the topics that it writes to.
 *
 *   producer_open -> { producer_ready } SR_OK -> { producer_send | producer_poll }*
 *                 -> producer_close
 *
 * Answers come back through producer_poll to the flights of whose they are; its descriptor can be
 * read when there are some. Any thread may call producer_send and producer_poll.
 */
#ifndef CONNECTORS_KAFKA_PRODUCER_H
#define CONNECTORS_KAFKA_PRODUCER_H

#include "connectors/kafka/flights.h"
#include "connectors/kafka/kafka_sink.h"
#include "connectors/kafka/outlets.h"
#include "connectors/kafka/record.h"

/* Whose rows a producer carries: by the number that is in their tags. */
struct producer_owner {
    struct flights *flights;
    uint32_t part; /* subtask */
};

/* Where the newest row that a broker has confirmed lies. */
struct producer_row {
    const char *topic; /* of an outlet */
    int32_t partition;
    int64_t offset;
};

struct producer_how {
    const struct producer_owner *owner; /* `owners`, by the number in tags; one is everybody's */
    uint32_t owners;
    const char *transactional_id; /* copied; NULL: no transactions */
};

struct producer {
    struct client client; /* first: librdkafka's callbacks get it */
    struct outlets outlets;
    const struct kafka_sink_conf *conf; /* borrowed */
    const struct producer_owner *owner; /* borrowed */
    uint32_t owners;
    int fd;
    int64_t batch_bytes;    /* limit of a batch that is in force; 0: librdkafka's own */
    char *transactional_id; /* NULL: none */
    pthread_mutex_t lock;   /* of the two next, with transactional_id */
    bool has_row;
    struct producer_row row;
};

sr_rc producer_open(struct producer *p, const struct sr_host *host,
                    const struct kafka_sink_conf *conf, const struct producer_how *how,
                    struct sr_error *err);
/* SR_EBUSY: not yet, make it again at *until_us or when fd can be read. */
sr_rc producer_ready(struct producer *p, int64_t *until_us, struct sr_error *err);
/* What is wrong with the record for this topic is told by SR_EDATA; SR_EBUSY: no room. The record
 * is copied; its headers are taken when SR_OK is answered. */
sr_rc producer_send(struct producer *p, struct outlet *to, const struct record *record, void *tag,
                    struct sr_error *err);
/* The topic's batches are compressed: a record may be larger than they. */
bool producer_packs(const struct producer *p, const struct outlet *to);
/* Is the record, as it is, larger than the topic takes? SR_EDATA. */
sr_rc producer_fits(const struct producer *p, const struct outlet *to, const struct record *record,
                    struct sr_error *err);
/* What is wrong with the record for this topic, before it is sent: SR_EDATA. Its size counts as it
 * is, not as it may be compressed. */
sr_rc producer_takes(const struct producer *p, const struct outlet *to, const struct record *record,
                     struct sr_error *err);
/* The topic that a record goes to; SR_EDATA: it names one that is none of them. */
sr_rc producer_outlet(struct producer *p, const struct records *records,
                      const struct record *record, struct outlet **to, struct sr_error *err);
void producer_poll(struct producer *p);
/* Polls when there is something to, within this time. Not by a thread of the engine's. */
void producer_wait(struct producer *p, int64_t within_us);
/* With transactions: a row that it has written; false: none so far. */
bool producer_last(struct producer *p, struct producer_row *out);
/* No broker can be reached: SR_EABSENT; none lets us in: SR_EACCESS; else SR_OK. */
sr_rc producer_is_reached(const struct producer *p, struct sr_error *err);
/* It cannot go on for good; else SR_OK. */
sr_rc producer_is_sound(const struct producer *p, struct sr_error *err);
/* Rows that are on their way are given up. Also of one that is zeroed. */
void producer_close(struct producer *p);

#endif
