/* A look at the cluster: which partitions there are, and where new ones begin and end. It asks
 * brokers, which may take long, so it runs on a thread of its own.
 *
 *   kafka_look_begin -> kafka_look_is_done* -> kafka_look_end
 */
#ifndef CONNECTORS_KAFKA_KAFKA_LOOK_H
#define CONNECTORS_KAFKA_KAFKA_LOOK_H

#include "connectors/kafka/kafka_source.h"

#define KAFKA_LOOK_US        INT64_C(30000000) /* within which brokers must have answered */
#define KAFKA_LOOK_STEP_MS   1000 /* of one call for topics, so that it can be given up */
#define KAFKA_LOOK_OFFSET_MS 5000 /* of one call for offsets */

/* A partition that was found. */
struct kafka_found {
    char *topic; /* owned */
    int32_t partition;
    int64_t next, stop;
    bool is_known; /* it was known: only `stop` is new */
};

struct kafka_look {
    /* in; not touched while it runs */
    const struct sr_host *host;
    const struct kafka_source_conf *conf;
    struct client *client;
    /* Partition of that name is known already; the calls are from the look's thread. */
    bool (*knows)(void *ctx, const char *topic, int32_t partition);
    /* The topic is one that is read; for a pattern. */
    bool (*wants)(void *ctx, const char *topic);
    void *ctx;
    bool is_first;    /* partitions begin as scan.startup.mode says; else at their earliest */
    bool wants_known; /* those that are known are found too: their end has moved */
    /* out */
    sr_rc rc;
    struct sr_error err;
    struct kafka_found *found;
    uint32_t count, room;
    /* its own */
    pthread_t thread;
    bool is_running;
    atomic_bool is_done;    /* release: `out` is there */
    atomic_bool is_stopped; /* relaxed: give up */
    int64_t until_us;
};

sr_rc kafka_look_begin(struct kafka_look *l, struct sr_error *err);
bool kafka_look_is_done(const struct kafka_look *l);
void kafka_look_end(struct kafka_look *l); /* waits for the call it is in; keeps what it found */
void kafka_look_free(struct kafka_look *l);
void kafka_look_run(struct kafka_look *l); /* on the caller's thread */
/* Behind that: offsets of all that was found. `ask`: RD_KAFKA_OFFSET_BEGINNING, _END, a time in ms,
 * or _STORED: of the group. What is wrong is in l->err. */
sr_rc kafka_look_ask(struct kafka_look *l, int64_t ask, int64_t *out);

#endif
