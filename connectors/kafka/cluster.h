/* Questions to a cluster that commands ask: its topics, and settings of topics and brokers.
 *
 *   cluster_open -> { cluster_topic | cluster_config }* -> cluster_close
 */
#ifndef CONNECTORS_KAFKA_CLUSTER_H
#define CONNECTORS_KAFKA_CLUSTER_H

#include <streamrun/ask.h>

#include "connectors/kafka/client.h"

struct cluster {
    struct client client;
    const struct sr_ask *ask;
    const struct sr_pairs *properties;
    int32_t broker; /* one that answered; -1: none has */
};

/* A producer; or, with a group, of which nothing is asked, but which must be named, a consumer of
 * all that partitions have. With nothing else but the properties. */
sr_rc cluster_open(struct cluster *k, const struct sr_ask *a, const struct sr_pairs *properties,
                   const char *group, struct sr_error *err);
/* How many partitions it has. SR_EABSENT: it is not there. */
sr_rc cluster_topic(struct cluster *k, const char *topic, int32_t *partitions,
                    struct sr_error *err);
/* The same, without words. */
rd_kafka_resp_err_t cluster_ask(struct cluster *k, const char *topic, int32_t *partitions);
/* Calls take(ctx, name) for each topic that this user sees and the pattern matches, until it says
 * something else than SR_OK. */
sr_rc cluster_matching(struct cluster *k, const char *pattern,
                       sr_rc (*take)(void *ctx, const char *topic), void *ctx,
                       struct sr_error *err);
/* A setting as a number, of a topic, or with topic NULL of a broker; SR_NO_NUMBER: it cannot be
 * asked for, or has none. */
int64_t cluster_config(struct cluster *k, const char *topic, const char *name);
/* An error that may pass is to be asked about again: true; else words are in err. */
bool cluster_is_over(const struct cluster *k);
sr_rc cluster_fail(const struct cluster *k, rd_kafka_resp_err_t e, const char *what,
                   struct sr_error *err);
void cluster_close(struct cluster *k);

#endif
