#include "connectors/kafka/kafka_decider.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/kafka_call.h"
#include "connectors/kafka/kafka_cap.h"
#include "connectors/kafka/kafka_loose.h"
#include "connectors/kafka/kafka_marker.h"

#define KAFKA_DECIDER_SLOTS 2u
#define KAFKA_SLOT_ID_BYTES (KAFKA_ID_BYTES + 4u)
#define KAFKA_DECIDER_WAY_OUT \
    "keep others away from it and delete it; the rows then tell what was written"

/* One piece of work on a thread of its own. */
struct kafka_job {
    struct kafka_decider *decider;
    sr_rc (*run)(struct kafka_decider *d, struct kafka_job *j, struct sr_error *err);
    uint32_t slot;
    struct sr_marker marker; /* to be put, or as it was found */
    struct sr_bytes evidence;
    enum sr_evidence found;
    sr_rc rc;
    struct sr_error err;
    pthread_t thread;
    bool is_running;     /* it was begun, and not ended */
    atomic_bool is_done; /* release: what it answers is there */
};

struct kafka_slot {
    struct producer producer;
    atomic_bool is_ready; /* release: a transaction has begun, and rows may go to it */
};

struct kafka_decider {
    const struct sr_decider_open *open;
    const struct sr_host *host;
    struct kafka_sink_conf conf; /* of the first sink, with the topics of all */
    const char **topic;          /* those; owned, the names are not */
    char id[KAFKA_ID_BYTES]; /* prefix and job: of transactional ids and of the marker's group */
    struct producer_owner owner[KAFKA_DECIDER_SINKS_MAX];
    pthread_mutex_t lock; /* of who joins and leaves */
    bool has_lock;
    struct kafka_slot slot[KAFKA_DECIDER_SLOTS];
    _Atomic uint32_t current;  /* slot that rows go to */
    _Atomic uint64_t released; /* who prepared for it may write on; after `current` */
    uint64_t deciding;
    struct kafka_job job, renewal;
    atomic_bool is_stopped; /* relaxed: give up */
};

/* --- Words ------------------------------------------------------------------------------------ */

static bool kafka_decider_gives_up(struct kafka_decider *d)
{
    return atomic_load_explicit(&d->is_stopped, memory_order_relaxed);
}

static sr_rc kafka_decider_given_up(const struct kafka_decider *d, struct sr_error *err)
{
    return d->host->fail(d->host, err, SR_ECLOSED, "kafka: given up");
}

/* --- Work on threads -------------------------------------------------------------------------- */

static void *kafka_job_thread(void *arg)
{
    struct kafka_job *j = arg;
    const struct sr_decider_open *o = j->decider->open;
    j->rc = j->run(j->decider, j, &j->err);
    atomic_store_explicit(&j->is_done, true, memory_order_release);
    o->wake(o);
    return NULL;
}

static sr_rc kafka_job_begin(struct kafka_decider *d, struct kafka_job *j, struct sr_error *err)
{
    j->decider = d;
    j->rc = SR_OK;
    atomic_store_explicit(&j->is_done, false, memory_order_relaxed);
    if (pthread_create(&j->thread, NULL, kafka_job_thread, j) != 0) {
        return d->host->fail(d->host, err, SR_ENOMEM, "kafka: no thread is to be had");
    }
    j->is_running = true;
    return SR_OK;
}

static bool kafka_job_is_done(const struct kafka_job *j)
{
    return atomic_load_explicit(&j->is_done, memory_order_acquire);
}

static sr_rc kafka_job_end(struct kafka_job *j, struct sr_error *err)
{
    (void)pthread_join(j->thread, NULL); /* cannot fail: it runs, and is joined once */
    j->is_running = false;
    if (j->rc != SR_OK) {
        *err = j->err;
    }
    return j->rc;
}

/* Begins the work, or looks whether it is done. */
static sr_rc kafka_job_do(struct kafka_decider *d,
                          sr_rc (*run)(struct kafka_decider *d, struct kafka_job *j,
                                       struct sr_error *err),
                          struct sr_wait *wait, struct sr_error *err)
{
    struct kafka_job *j = &d->job;
    if (!j->is_running) {
        j->run = run;
        sr_rc rc = kafka_job_begin(d, j, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    if (kafka_job_is_done(j)) {
        return kafka_job_end(j, err);
    }
    /* It wakes who waits; this is only in case of need. */
    *wait = (struct sr_wait){.fd = -1, .until_us = d->host->mono_us(d->host) + 50000};
    return SR_EBUSY;
}

/* Brokers refuse the time-out of its transactions. */
static sr_rc kafka_decider_too_long(struct kafka_decider *d, struct producer *p,
                                    struct sr_error *err)
{
    char needed[200];
    (void)snprintf(needed, sizeof(needed),
                   "execution.checkpointing.interval (%" PRId64
                   " ms) and execution.checkpointing.timeout (%" PRId64
                   " ms) together, for so long a transaction may be open",
                   d->open->interval_us / 1000, d->open->timeout_us / 1000);
    return kafka_cap_fail(p, needed, err);
}

/* --- Producers -------------------------------------------------------------------------------- */

static sr_rc kafka_slot_init(struct kafka_decider *d, struct kafka_slot *s, struct sr_error *err)
{
    bool is_too_long = false;
    sr_rc rc = SR_OK;
    for (bool is_over = false; !is_over;) {
        rd_kafka_error_t *e = rd_kafka_init_transactions(s->producer.client.rk, KAFKA_CALL_MS);
        is_too_long = rd_kafka_error_code(e) == RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT;
        is_over =
            kafka_call_is_over(d->host, &d->is_stopped, e, "transactions cannot begin", &rc, err);
    }
    return is_too_long ? kafka_decider_too_long(d, &s->producer, err) : rc;
}

/* The topics' handles are made before the transactions are, or the first row would wait for a
 * second. */
static sr_rc kafka_slot_topics(struct kafka_decider *d, struct kafka_slot *s, struct sr_error *err)
{
    for (;;) {
        int64_t until_us = INT64_MAX;
        sr_rc rc = producer_ready(&s->producer, &until_us, err);
        if (rc != SR_EBUSY) {
            return rc;
        }
        if (kafka_decider_gives_up(d)) {
            return kafka_decider_given_up(d, err);
        }
        int64_t left_us = until_us - d->host->mono_us(d->host);
        producer_wait(&s->producer, left_us < 20000 ? left_us : 20000);
    }
}

static void kafka_slot_id(const struct kafka_decider *d, uint32_t number,
                          char id[KAFKA_SLOT_ID_BYTES])
{
    (void)snprintf(id, KAFKA_SLOT_ID_BYTES, "%s-%" PRIu32, d->id, number);
}

/* A new producer for a slot. What an older one of that id has open is aborted, and it is fenced. */
static sr_rc kafka_slot_make(struct kafka_decider *d, uint32_t number, struct sr_error *err)
{
    struct kafka_slot *s = &d->slot[number];
    char id[KAFKA_SLOT_ID_BYTES];
    kafka_slot_id(d, number, id);
    atomic_store_explicit(&s->is_ready, false, memory_order_relaxed);
    producer_close(&s->producer);
    struct producer_how how = {
        .owner = d->owner, .owners = KAFKA_DECIDER_SINKS_MAX, .transactional_id = id};
    sr_rc rc = producer_open(&s->producer, d->host, &d->conf, &how, err);
    if (rc == SR_OK) {
        rc = kafka_slot_topics(d, s, err);
    }
    return rc == SR_OK ? kafka_slot_init(d, s, err) : rc;
}

/* Nothing goes to a broker before the first row. */
static sr_rc kafka_slot_begin(struct kafka_decider *d, struct kafka_slot *s, struct sr_error *err)
{
    sr_rc rc = kafka_call_fail(d->host, rd_kafka_begin_transaction(s->producer.client.rk),
                               "a transaction cannot begin", err);
    atomic_store_explicit(&s->is_ready, rc == SR_OK, memory_order_release);
    return rc;
}

static struct kafka_reader_how kafka_decider_reader(struct kafka_decider *d)
{
    return (struct kafka_reader_how){.host = d->host,
                                     .properties = &d->conf.properties,
                                     .group = d->id,
                                     .topic = d->conf.topics.item[0],
                                     .way_out = KAFKA_DECIDER_WAY_OUT,
                                     .is_stopped = &d->is_stopped};
}

static sr_rc kafka_slot_mark(struct kafka_decider *d, struct kafka_slot *s,
                             const struct sr_marker *m, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (bool is_over = false; !is_over;) {
        rd_kafka_error_t *e = kafka_marker_send(s->producer.client.rk, d->id,
                                                d->conf.topics.item[0], m, KAFKA_CALL_MS);
        is_over = kafka_call_is_over(d->host, &d->is_stopped, e,
                                     "the checkpoint's number was not taken", &rc, err);
    }
    return rc;
}

/* Never by another producer: what this one has sent may arrive late. */
static sr_rc kafka_slot_commit(struct kafka_decider *d, struct kafka_slot *s,
                               const struct sr_marker *m, struct sr_error *err)
{
    struct kafka_reader_how how = kafka_decider_reader(d);
    sr_rc rc = SR_OK;
    for (bool is_over = false; !is_over;) {
        rd_kafka_error_t *e = rd_kafka_commit_transaction(s->producer.client.rk, KAFKA_CALL_MS);
#ifdef MUTANT_KAFKA_COMMIT_BELIEVED /* what failed counts as committed */
        if (e && !rd_kafka_error_is_retriable(e)) {
            rd_kafka_error_destroy(e);
            return SR_OK;
        }
#endif
        is_over = kafka_call_is_over(d->host, &d->is_stopped, e,
                                     "the transaction was not committed", &rc, err);
    }
    return rc == SR_OK ? kafka_marker_confirm(&how, m, err) : rc;
}

/* --- Jobs ------------------------------------------------------------------------------------- */

/* What older transactions have left is aborted, whatever the broker made of it. */
static sr_rc kafka_decider_sweep(struct kafka_decider *d, const struct kafka_reader_how *how,
                                 struct sr_error *err)
{
    bool is_loose = false;
    char id[KAFKA_SLOT_ID_BYTES];
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < KAFKA_DECIDER_SLOTS && rc == SR_OK; i++) {
        rc = kafka_slot_make(d, i, err);
    }
#ifndef MUTANT_KAFKA_LOOSE /* what a broker did not end comes with the next commit */
    rc = rc == SR_OK ? kafka_loose_find(how, &d->conf.topics, &is_loose, err) : rc;
    for (uint32_t i = 0; i < KAFKA_DECIDER_SLOTS && rc == SR_OK && is_loose; i++) {
        kafka_slot_id(d, i, id);
        rc = kafka_loose_end(how, &d->conf.topics, id, err);
        rc = rc == SR_OK ? kafka_slot_make(d, i, err) : rc;
    }
#endif
    return rc;
}

static sr_rc kafka_decider_do_recover(struct kafka_decider *d, struct kafka_job *j,
                                      struct sr_error *err)
{
    struct kafka_reader_how how = kafka_decider_reader(d);
    sr_rc rc = kafka_decider_sweep(d, &how, err);
    for (uint32_t i = 0; i < KAFKA_DECIDER_SLOTS && rc == SR_OK; i++) {
        rc = kafka_slot_begin(d, &d->slot[i], err);
    }
    return rc == SR_OK ? kafka_marker_read(&how, &j->marker, err) : rc;
}

static sr_rc kafka_decider_do_look(struct kafka_decider *d, struct kafka_job *j,
                                   struct sr_error *err)
{
    struct kafka_reader_how how = kafka_decider_reader(d);
    return kafka_marker_look(&how, j->evidence, &j->found, err);
}

/* In a transaction without a row; its producer is made anew, as after every transaction. */
static sr_rc kafka_decider_do_base(struct kafka_decider *d, struct kafka_job *j,
                                   struct sr_error *err)
{
    struct kafka_slot *s = &d->slot[0];
    sr_rc rc = kafka_slot_mark(d, s, &j->marker, err);
    if (rc == SR_OK) {
        rc = kafka_slot_commit(d, s, &j->marker, err);
    }
#ifndef MUTANT_KAFKA_BASE_KEPT /* what is late of the base marker is of the first rows */
    if (rc == SR_OK) {
        rc = kafka_slot_make(d, 0, err);
    }
#endif
    return rc == SR_OK ? kafka_slot_begin(d, s, err) : rc;
}

static sr_rc kafka_decider_do_commit(struct kafka_decider *d, struct kafka_job *j,
                                     struct sr_error *err)
{
    struct kafka_slot *s = &d->slot[j->slot];
#ifdef MUTANT_KAFKA_UNMARKED /* nobody can tell that the rows were committed */
    sr_rc rc = SR_OK;
#else
    sr_rc rc = kafka_slot_mark(d, s, &j->marker, err);
#endif
    return rc == SR_OK ? kafka_slot_commit(d, s, &j->marker, err) : rc;
}

static sr_rc kafka_decider_do_renew(struct kafka_decider *d, struct kafka_job *j,
                                    struct sr_error *err)
{
#ifdef MUTANT_KAFKA_ONE_INSTANCE /* what is late of one transaction is of the next one */
    sr_rc rc = SR_OK;
#else
    sr_rc rc = kafka_slot_make(d, j->slot, err);
#endif
    return rc == SR_OK ? kafka_slot_begin(d, &d->slot[j->slot], err) : rc;
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* The topics of all sinks that share it, each once. */
static sr_rc kafka_decider_topics(struct kafka_decider *d, struct sr_error *err)
{
    const struct sr_decider_open *o = d->open;
    sr_list all = {.count = 0};
    const char **item = d->topic = calloc(OUTLETS_MAX, sizeof(*item));
    if (!item) {
        return d->host->fail(d->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    d->conf.topics = (sr_list){.item = item};
    for (uint32_t i = 0; i < o->sinks; i++) {
        const struct kafka_sink_conf *c = o->sink[i].conf;
        for (uint32_t k = 0; k < c->topics.count; k++) {
            uint32_t at = 0;
            while (at < all.count && strcmp(item[at], c->topics.item[k]) != 0) {
                at++;
            }
            if (at == OUTLETS_MAX) {
                return d->host->fail(d->host, err, SR_ECONFIG,
                                     "sinks that share a transaction write to %u topics at most",
                                     OUTLETS_MAX);
            }
            item[at] = c->topics.item[k];
            all.count += at == all.count ? 1 : 0;
        }
    }
    d->conf.topics.count = all.count;
    return SR_OK;
}

/* What would give the same producer. */
static bool kafka_decider_fits(const struct kafka_sink_conf *a, const struct kafka_sink_conf *b)
{
    bool is_same =
        a->properties.count == b->properties.count && a->partitioner.index == b->partitioner.index;
    for (uint32_t i = 0; i < a->properties.count && is_same; i++) {
        const char *other = props_find(&b->properties, a->properties.key[i]);
        is_same = other && strcmp(other, a->properties.value[i]) == 0;
    }
    return is_same;
}

static sr_rc kafka_decider_open(void *decider, const struct sr_decider_open *o,
                                struct sr_error *err)
{
    struct kafka_decider *d = decider;
    d->open = o;
    d->host = o->host;
    d->conf = *(const struct kafka_sink_conf *)o->sink[0].conf;
    d->conf.topics = (sr_list){.count = 0};
    for (uint32_t i = 0; i < KAFKA_DECIDER_SLOTS; i++) {
        d->slot[i].producer.fd = -1;
    }
    if (pthread_mutex_init(&d->lock, NULL) != 0) {
        return o->host->fail(o->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    d->has_lock = true;
    for (uint32_t i = 1; i < o->sinks; i++) {
        if (!kafka_decider_fits(o->sink[0].conf, o->sink[i].conf)) {
            return o->host->fail(
                o->host, err, SR_ECONFIG,
                "sinks '%s' and '%s' share sink.transactional-id-prefix '%s', and so a producer: "
                "their properties and sink.partitioner must be the same",
                o->sink[0].uid, o->sink[i].uid, o->key);
        }
    }
    (void)snprintf(d->id, sizeof(d->id), "%s-%.8s", o->key, o->job_id);
    return kafka_decider_topics(d, err);
}

static void kafka_decider_close(void *decider)
{
    struct kafka_decider *d = decider;
    struct sr_error ignored;
    atomic_store_explicit(&d->is_stopped, true, memory_order_relaxed);
    if (d->job.is_running) {
        (void)kafka_job_end(&d->job, &ignored);
    }
    if (d->renewal.is_running) {
        (void)kafka_job_end(&d->renewal, &ignored);
    }
    for (uint32_t i = 0; i < KAFKA_DECIDER_SLOTS; i++) {
        producer_close(&d->slot[i].producer);
    }
    if (d->has_lock) {
        (void)pthread_mutex_destroy(&d->lock); /* nobody holds it */
    }
    free(d->topic);
}

/* --- The engine's calls ----------------------------------------------------------------------- */

static sr_rc kafka_decider_recover(void *decider, struct sr_marker *out, struct sr_wait *wait,
                                   struct sr_error *err)
{
    struct kafka_decider *d = decider;
    sr_rc rc = kafka_job_do(d, kafka_decider_do_recover, wait, err);
    if (rc == SR_OK) {
        *out = d->job.marker;
    }
    return rc;
}

static sr_rc kafka_decider_look(void *decider, struct sr_bytes evidence, enum sr_evidence *out,
                                struct sr_wait *wait, struct sr_error *err)
{
    struct kafka_decider *d = decider;
    if (!d->job.is_running) {
        d->job.evidence = evidence; /* the same in each call */
    }
    sr_rc rc = kafka_job_do(d, kafka_decider_do_look, wait, err);
    if (rc == SR_OK) {
        *out = d->job.found;
    }
    return rc;
}

static sr_rc kafka_decider_base(void *decider, const struct sr_marker *m, struct sr_wait *wait,
                                struct sr_error *err)
{
    struct kafka_decider *d = decider;
    if (!d->job.is_running) {
        d->job.marker = *m;
    }
    return kafka_job_do(d, kafka_decider_do_base, wait, err);
}

static sr_rc kafka_decider_evidence(void *decider, uint64_t checkpoint, struct sr_out *note,
                                    struct sr_error *err)
{
    (void)checkpoint;
    struct kafka_decider *d = decider;
    struct producer *p = kafka_decider_current(d);
#ifdef MUTANT_KAFKA_EVIDENCE_STALE /* a row of another transaction tells */
    static struct producer_row first;
    static bool has_first;
    has_first = has_first || producer_last(p, &first);
    if (has_first) {
        return kafka_marker_note(&first, note) ? SR_OK : SR_ENOMEM;
    }
#endif
    sr_rc rc = producer_is_sound(p, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct producer_row row;
    if (!producer_last(p, &row)) {
        return SR_OK;
    }
    return kafka_marker_note(&row, note)
               ? SR_OK
               : d->host->fail(d->host, err, SR_ENOMEM, "kafka: out of memory");
}

/* Rows that come from now on go to the other producer. */
static void kafka_decider_swap(struct kafka_decider *d, const struct sr_marker *m)
{
    uint32_t used = atomic_load_explicit(&d->current, memory_order_relaxed);
    d->deciding = m->checkpoint;
    d->job.slot = used;
    d->job.marker = *m;
    atomic_store_explicit(&d->current, 1 - used, memory_order_release);
    atomic_store_explicit(&d->released, m->checkpoint, memory_order_release);
}

static sr_rc kafka_decider_decide(void *decider, const struct sr_marker *m, struct sr_wait *wait,
                                  struct sr_error *err)
{
    struct kafka_decider *d = decider;
    if (d->deciding != m->checkpoint) {
        kafka_decider_swap(d, m);
    }
    return kafka_job_do(d, kafka_decider_do_commit, wait, err);
}

static void kafka_decider_drop(void *decider, uint64_t checkpoint)
{
    struct kafka_decider *d = decider;
    if (checkpoint > atomic_load_explicit(&d->released, memory_order_relaxed)) {
        atomic_store_explicit(&d->released, checkpoint, memory_order_release);
    }
}

/* The renewal before this one was of the slot that was just committed: it has ended. */
static sr_rc kafka_decider_renew(void *decider, struct sr_error *err)
{
    struct kafka_decider *d = decider;
    sr_rc rc = d->renewal.is_running ? kafka_job_end(&d->renewal, err) : SR_OK;
    if (rc != SR_OK) {
        return rc;
    }
    d->renewal.run = kafka_decider_do_renew;
    d->renewal.slot = 1 - atomic_load_explicit(&d->current, memory_order_relaxed);
    return kafka_job_begin(d, &d->renewal, err);
}

const struct sr_decider_type kafka_decider_type = {
    .size = sizeof(struct sr_decider_type),
    .decider_size = sizeof(struct kafka_decider),
    .open = kafka_decider_open,
    .recover = kafka_decider_recover,
    .look = kafka_decider_look,
    .base = kafka_decider_base,
    .evidence = kafka_decider_evidence,
    .decide = kafka_decider_decide,
    .drop = kafka_decider_drop,
    .renew = kafka_decider_renew,
    .close = kafka_decider_close,
};

/* --- The sinks' calls ------------------------------------------------------------------------- */

sr_rc kafka_decider_join(struct kafka_decider *d, struct flights *flights, uint32_t part,
                         uint16_t *number, struct sr_error *err)
{
    sr_rc rc = SR_ELIMIT;
    (void)pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < KAFKA_DECIDER_SINKS_MAX && rc != SR_OK; i++) {
        if (!d->owner[i].flights) {
            d->owner[i] = (struct producer_owner){.flights = flights, .part = part};
            *number = (uint16_t)i;
            rc = SR_OK;
        }
    }
    (void)pthread_mutex_unlock(&d->lock);
    return rc == SR_OK ? rc
                       : d->host->fail(d->host, err, rc, "more than %u subtasks share a producer",
                                       KAFKA_DECIDER_SINKS_MAX);
}

void kafka_decider_leave(struct kafka_decider *d, uint16_t number)
{
    (void)pthread_mutex_lock(&d->lock);
    d->owner[number].flights = NULL;
    (void)pthread_mutex_unlock(&d->lock);
}

struct producer *kafka_decider_current(struct kafka_decider *d)
{
    return &d->slot[atomic_load_explicit(&d->current, memory_order_acquire)].producer;
}

struct producer *kafka_decider_producer(struct kafka_decider *d, uint64_t held)
{
#ifndef MUTANT_KAFKA_UNHELD /* rows behind the barrier are in the transaction ahead of it */
    if (held > atomic_load_explicit(&d->released, memory_order_acquire)) {
        return NULL;
    }
#endif
    struct kafka_slot *s = &d->slot[atomic_load_explicit(&d->current, memory_order_acquire)];
    return atomic_load_explicit(&s->is_ready, memory_order_acquire) ? &s->producer : NULL;
}
