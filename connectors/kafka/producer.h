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

struct producer {
    struct client client; /* first: librdkafka's callbacks get it */
    struct outlets outlets;
    const struct kafka_sink_conf *conf; /* borrowed */
    const struct producer_owner *owner; /* borrowed */
    uint32_t owners;
    int fd;
    int64_t batch_bytes; /* limit of a batch that is in force; 0: librdkafka's own */
};

/* `owner` has `owners` entries, by the number in tags; one entry is everybody's. */
sr_rc producer_open(struct producer *p, const struct sr_host *host,
                    const struct kafka_sink_conf *conf, const struct producer_owner *owner,
                    uint32_t owners, struct sr_error *err);
/* SR_EBUSY: not yet, make it again at *until_us or when fd can be read. */
sr_rc producer_ready(struct producer *p, int64_t *until_us, struct sr_error *err);
/* What is wrong with the record for this topic is told by SR_EDATA; SR_EBUSY: no room. The record
 * is copied; its headers are taken when SR_OK is answered. */
sr_rc producer_send(struct producer *p, const struct outlet *to, const struct record *record,
                    void *tag, struct sr_error *err);
void producer_poll(struct producer *p);
/* No broker can be reached: SR_EABSENT; none lets us in: SR_EACCESS; else SR_OK. */
sr_rc producer_is_reached(const struct producer *p, struct sr_error *err);
/* It cannot go on for good; else SR_OK. */
sr_rc producer_is_sound(const struct producer *p, struct sr_error *err);
/* Rows that are on their way are given up. Also of one that is zeroed. */
void producer_close(struct producer *p);

#endif
