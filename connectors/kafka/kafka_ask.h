/* What a broker has of a partition, asked for on a thread of its own: a reader goes on with other
 * partitions, and with barriers, until the answer is there.
 *
 *   kafka_ask_new -> kafka_ask_is_done* -> (e, low, high) -> kafka_ask_free
 *
 * A broker that is away is asked until it is back.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_ASK_H
#define CONNECTORS_KAFKA_KAFKA_ASK_H

#include "connectors/kafka/client.h"

#define KAFKA_ASK_WHY 160u

struct kafka_ask {
    /* What the answer is for. */
    char why[KAFKA_ASK_WHY]; /* "": it is not known yet */
    bool was_checking;
    /* The answer, once it is done. */
    rd_kafka_resp_err_t e;
    int64_t low, high;
    /* Its own. */
    struct client *client; /* borrowed */
    const char *topic;     /* borrowed */
    int32_t partition;
    int wake; /* eventfd that is written to when it is done; borrowed */
    pthread_t thread;
    atomic_bool is_done;    /* release: the answer is there */
    atomic_bool is_stopped; /* relaxed: give up */
};

/* What is borrowed stays until kafka_ask_free. NULL: no memory, or no thread. */
struct kafka_ask *kafka_ask_new(struct client *client, const char *topic, int32_t partition,
                                int wake);
bool kafka_ask_is_done(const struct kafka_ask *a);
void kafka_ask_free(struct kafka_ask *a); /* waits for its thread, a second at most */

#endif
