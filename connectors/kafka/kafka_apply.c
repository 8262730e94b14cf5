#include "connectors/kafka/kafka_apply.h"

#include <stdio.h>

#include "connectors/kafka/kafka_call.h"
#include "connectors/kafka/kafka_cap.h"
#include "connectors/kafka/kafka_loose.h"

#define APPLY_LOOK_US 20000 /* between two looks whether the topics are known */

static bool apply_gives_up(struct apply *a)
{
    return atomic_load_explicit(&a->is_stopped, memory_order_relaxed);
}

/* What it does from now on, for people. */
static void apply_does(struct apply *a, const char *what)
{
    atomic_store_explicit(&a->trouble, 0, memory_order_relaxed);
    atomic_store_explicit(&a->doing, what, memory_order_relaxed);
}

/* The same as kafka_call_is_over, for people too. */
static bool apply_is_over(struct apply *a, rd_kafka_error_t *e, const char *what, sr_rc *rc,
                          struct sr_error *err)
{
    if (e) {
        atomic_store_explicit(&a->trouble, (int)rd_kafka_error_code(e), memory_order_relaxed);
        a->is_too_long = rd_kafka_error_code(e) == RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT;
    }
    return kafka_call_is_over(a->how.host, &a->is_stopped, e, what, rc, err);
}

/* --- The thread's work ------------------------------------------------------------------------ */

/* Handles of the topics are made before the transactions: else the first row waits for a second. */
static sr_rc apply_topics(struct apply *a, struct sr_error *err)
{
    sr_rc rc = SR_EBUSY;
    while (rc == SR_EBUSY) {
        int64_t until_us = INT64_MAX;
        rc = producer_ready(&a->producer, &until_us, err);
        if (rc == SR_EBUSY && apply_gives_up(a)) {
            return a->how.host->fail(a->how.host, err, SR_ECLOSED, "kafka: given up");
        }
        if (rc == SR_EBUSY) {
            producer_wait(&a->producer, APPLY_LOOK_US);
        }
    }
    return rc;
}

static sr_rc apply_make(struct apply *a, struct sr_error *err)
{
    const struct apply_how *h = &a->how;
    struct producer_how how = {.owner = h->owner, .owners = 1, .transactional_id = h->id};
    apply_does(a, "the topics are asked for");
    producer_close(&a->producer);
    sr_rc rc = producer_open(&a->producer, h->host, h->conf, &how, err);
    rc = rc == SR_OK ? apply_topics(a, err) : rc;
    if (rc != SR_OK) {
        return rc;
    }
    apply_does(a, "older transactions are ended");
    for (bool is_over = false; !is_over;) {
        rd_kafka_error_t *e = rd_kafka_init_transactions(a->producer.client.rk, KAFKA_CALL_MS);
        is_over = apply_is_over(a, e, "transactions cannot begin", &rc, err);
    }
    return a->is_too_long ? kafka_cap_fail(&a->producer, NULL, err) : rc;
}

/* What older transactions have left is aborted, whatever the broker made of it. */
static sr_rc apply_sweep(struct apply *a, const struct kafka_reader_how *how, struct sr_error *err)
{
    const struct apply_how *h = &a->how;
    bool is_loose = false;
    apply_does(a, "rows that an older transaction has left are looked for");
    sr_rc rc = kafka_loose_find(how, &h->conf->topics, &is_loose, err);
    if (rc == SR_OK && is_loose) {
        apply_does(a, "rows that an older transaction has left are aborted");
        rc = kafka_loose_end(how, &h->conf->topics, h->id, err);
        rc = rc == SR_OK ? apply_make(a, err) : rc;
    }
    return rc;
}

static struct kafka_reader_how apply_reader(struct apply *a)
{
    const struct apply_how *h = &a->how;
    return (struct kafka_reader_how){.host = h->host,
                                     .properties = &h->conf->properties,
                                     .group = h->group,
                                     .topic = h->topic,
                                     .way_out = "so nobody can tell which rows were written; "
                                                "--fresh begins again, and writes them again",
                                     .is_stopped = &a->is_stopped};
}

static sr_rc apply_do_open(struct apply *a, struct sr_error *err)
{
    const struct apply_how *h = &a->how;
    struct kafka_reader_how reader = apply_reader(a);
    sr_rc rc = apply_make(a, err);
    rc = rc == SR_OK && h->is_first ? apply_sweep(a, &reader, err) : rc;
    apply_does(a, "the marker is read");
    rc = rc == SR_OK ? kafka_marker_read(&reader, &a->found, err) : rc;
#ifndef MUTANT_KAFKA_REDO_TWICE /* what was applied before a crash comes again */
    a->is_applied = rc == SR_OK && a->found.lineage == h->marker.lineage &&
                    a->found.checkpoint >= h->marker.checkpoint;
#endif
    apply_does(a, "rows are sent");
    if (rc == SR_OK && !a->is_applied) {
        rc = kafka_call_fail(h->host, rd_kafka_begin_transaction(a->producer.client.rk),
                             "a transaction cannot begin", err);
    }
    return rc;
}

static sr_rc apply_do_commit(struct apply *a, struct sr_error *err)
{
    const struct apply_how *h = &a->how;
    rd_kafka_t *rk = a->producer.client.rk;
    sr_rc rc = SR_OK;
    apply_does(a, "the transaction is committed");
    for (bool is_over = false; !is_over;) {
        rd_kafka_error_t *e = kafka_marker_send(rk, h->group, h->topic, &h->marker, KAFKA_CALL_MS);
        is_over = apply_is_over(a, e, "the checkpoint's number was not taken", &rc, err);
    }
    for (bool is_over = rc != SR_OK; !is_over;) {
        rd_kafka_error_t *e = rd_kafka_commit_transaction(rk, KAFKA_CALL_MS);
        is_over = apply_is_over(a, e, "the transaction was not committed", &rc, err);
    }
    struct kafka_reader_how reader = apply_reader(a);
    return rc == SR_OK ? kafka_marker_confirm(&reader, &h->marker, err) : rc;
}

static void *apply_thread(void *arg)
{
    struct apply *a = arg;
    a->rc = a->work(a, &a->err);
    atomic_store_explicit(&a->is_done, true, memory_order_release);
    return NULL;
}

/* Begins the work, or looks whether it is done. */
static sr_rc apply_do(struct apply *a, sr_rc (*work)(struct apply *a, struct sr_error *err),
                      struct sr_error *err)
{
    const struct sr_host *host = a->how.host;
    if (!a->is_running) {
        a->work = work;
        atomic_store_explicit(&a->is_done, false, memory_order_relaxed);
        a->is_running = pthread_create(&a->thread, NULL, apply_thread, a) == 0;
        return a->is_running ? SR_EBUSY
                             : host->fail(host, err, SR_ENOMEM, "kafka: no thread is to be had");
    }
    if (!atomic_load_explicit(&a->is_done, memory_order_acquire)) {
        return SR_EBUSY;
    }
    (void)pthread_join(a->thread, NULL); /* it runs, and is joined once */
    a->is_running = false;
    if (a->rc != SR_OK) {
        *err = a->err;
    }
    return a->rc;
}

/* --- Calls ------------------------------------------------------------------------------------ */

sr_rc apply_begin(struct apply *a, const struct apply_how *how, struct sr_error *err)
{
    *a = (struct apply){.how = *how, .is_begun = true};
    a->producer.fd = -1;
    sr_rc rc = apply_do(a, apply_do_open, err);
    return rc == SR_EBUSY ? SR_OK : rc;
}

sr_rc apply_ready(struct apply *a, struct sr_error *err)
{
    sr_rc rc = a->is_open ? SR_OK : apply_do(a, apply_do_open, err);
    a->is_open = rc == SR_OK;
    return rc;
}

sr_rc apply_commit(struct apply *a, struct sr_error *err)
{
    return apply_do(a, apply_do_commit, err);
}

const char *apply_words(const struct apply *a, char room[APPLY_WORDS])
{
    const char *doing = atomic_load_explicit(&a->doing, memory_order_relaxed);
    int e = atomic_load_explicit(&a->trouble, memory_order_relaxed);
    (void)snprintf(room, APPLY_WORDS, "%s%s%.100s", doing ? doing : "", e ? ": " : "",
                   e ? rd_kafka_err2str((rd_kafka_resp_err_t)e) : "");
    return room;
}

void apply_end(struct apply *a)
{
    if (!a->is_begun) {
        return;
    }
    atomic_store_explicit(&a->is_stopped, true, memory_order_relaxed);
    if (a->is_running) {
        (void)pthread_join(a->thread, NULL); /* it runs, and is joined once */
    }
    producer_close(&a->producer);
    *a = (struct apply){.is_begun = false};
}
