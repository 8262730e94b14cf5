/* The topics that a producer writes to: whether they are there, and what they take.
 *
 *   outlets_open -> { outlets_ask } SR_OK -> { outlets_find | outlets_add | outlet_takes_time }*
 *                -> outlets_close
 *
 * A broker says "too large" of a whole batch and "bad timestamp" of innocent records too, so the
 * limits of each topic are asked for first: batches are kept below them, and a record beyond them
 * is found before it is sent. Where the broker does not let them be asked for, they are not known.
 */
#ifndef CONNECTORS_KAFKA_OUTLETS_H
#define CONNECTORS_KAFKA_OUTLETS_H

#include "connectors/kafka/client.h"

#define OUTLETS_MAX   64u /* topics of one sink */
#define OUTLETS_TRIES 5u  /* looks for a topic that is not there: the broker may be making it */

struct outlet {
    const char *name; /* borrowed of the conf, or `own` */
    char *own;        /* of one that was added; NULL: it is named in the conf */
    rd_kafka_topic_t *topic;
    bool is_settled; /* what can be known of it is */
    bool is_absent;  /* it was added, and is not there; until again_us */
    int64_t again_us;
    bool is_known;               /* the next six are */
    int64_t bytes_max;           /* of a batch, compressed */
    int64_t before_ms, after_ms; /* how far a timestamp may be from the broker's clock */
    bool is_append;              /* the broker sets timestamps itself */
    bool needs_key;              /* it is compacted */
    bool packs;                  /* the broker compresses its batches itself */
};

struct outlets_how {
    const sr_list *topics;
    bool may_lack; /* topics are added as rows name them: not all need be there */
    int fd;        /* written to (8 bytes, 1) when there is something for outlets_ask */
    rd_kafka_topic_conf_t *(*conf)(void *ctx); /* a new one for each topic, which is taken */
    void *ctx;
};

struct outlets {
    struct client *client;  /* borrowed */
    struct outlets_how how; /* its topics are borrowed */
    rd_kafka_queue_t *queue;
    struct outlet item[OUTLETS_MAX];
    uint32_t count;
    bool is_asking, is_ready;
    uint32_t tries;
    int64_t due_us; /* of the next look */
};

sr_rc outlets_open(struct outlets *o, struct client *client, const struct outlets_how *how,
                   struct sr_error *err);
/* SR_EBUSY until all are known, with `until_us`: make it again then, or when fd was written to. */
sr_rc outlets_ask(struct outlets *o, int64_t *until_us, struct sr_error *err);
void outlets_close(struct outlets *o); /* also of one that is zeroed */

/* One more topic, which is asked for: outlets_ask answers SR_EBUSY until it is settled. SR_ELIMIT,
 * SR_ENOMEM. */
sr_rc outlets_add(struct outlets *o, const char *name, size_t len, struct sr_error *err);
/* It is not there, as producing found: SR_EDATA, the row's fault, where rows name topics. */
sr_rc outlets_lack(struct outlets *o, struct outlet *l, struct sr_error *err);
/* One that is absent is looked for again. */
void outlets_again(struct outlets *o, struct outlet *l);

/* The topic of that name; NULL: it is not among them. */
struct outlet *outlets_find(struct outlets *o, const char *name, size_t len);
/* The smallest batch that one of them takes; INT64_MAX: none is known. */
int64_t outlets_bytes_max(const struct outlets *o);
/* May a record of this timestamp go to it now? Else words say why not. */
bool outlet_takes_time(const struct outlet *l, int64_t timestamp_ms, int64_t now_ms,
                       char words[160]);

#endif
