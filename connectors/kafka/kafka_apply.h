/* One transaction of a producer of its own, which puts the rows of one checkpoint and its marker.
 *
 *   apply_begin -> { apply_ready } -+-> is_applied: the marker says that they are there already
 *                                   +-> { rows to producer }* -> { apply_commit } -> apply_end
 *
 * What waits for brokers does so on a thread; calls answer SR_EBUSY meanwhile, and are made again.
 * A producer is made for each transaction: beginning it fences whoever had its id, ends what they
 * left open, and only then is the marker read.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_APPLY_H
#define CONNECTORS_KAFKA_KAFKA_APPLY_H

#include "connectors/kafka/kafka_marker.h"

#define APPLY_WORDS 160u /* bytes */

struct apply_how {
    const struct sr_host *host;
    const struct kafka_sink_conf *conf;
    const struct producer_owner *owner; /* whose rows they are */
    const char *id;                     /* of its transactions */
    const char *group;                  /* that holds the marker */
    const char *topic;
    struct sr_marker marker; /* of this transaction */
    bool is_first;           /* since older ones may have left anything */
};

struct apply {
    struct apply_how how; /* texts are borrowed until apply_end */
    struct producer producer;
    sr_rc (*work)(struct apply *a, struct sr_error *err); /* of the thread */
    pthread_t thread;
    bool is_begun;          /* between apply_begin and apply_end */
    bool is_running;        /* the thread was begun, and not joined */
    bool is_open;           /* apply_ready has answered SR_OK */
    bool is_too_long;       /* the time-out of transactions was refused */
    bool is_applied;        /* that or something later was committed before */
    struct sr_marker found; /* lineage 0: there is no marker */
    sr_rc rc;
    struct sr_error err;
    _Atomic(const char *) doing; /* relaxed: for people */
    _Atomic int trouble;    /* relaxed: rd_kafka_resp_err_t that is waited out meanwhile; 0: none */
    atomic_bool is_done;    /* release: what the thread answers is there */
    atomic_bool is_stopped; /* relaxed: give up */
};

sr_rc apply_begin(struct apply *a, const struct apply_how *how, struct sr_error *err);
/* SR_OK: the marker was read, and unless is_applied a transaction has begun. */
sr_rc apply_ready(struct apply *a, struct sr_error *err);
sr_rc apply_commit(struct apply *a, struct sr_error *err); /* rows that are on their way too */
/* What is under way. */
const char *apply_words(const struct apply *a, char room[APPLY_WORDS]);
void apply_end(struct apply *a); /* a transaction that is open is aborted; also of a zeroed one */

#endif
