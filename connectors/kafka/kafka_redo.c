#include "connectors/kafka/kafka_redo.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KAFKA_REDO_STILL_US INT64_C(10000000) /* without a move while restoring, before it fails */
#define KAFKA_REDO_PAUSE_MS 5
#define KAFKA_REDO_WAIT_US  INT64_C(10000) /* between two looks at the first marker's transaction */

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc kafka_redo_no_memory(const struct kafka_redo *r, struct sr_error *err)
{
    return r->host->fail(r->host, err, SR_ENOMEM, "kafka: out of memory");
}

sr_rc kafka_redo_open(struct kafka_redo *r, const struct sr_sink_open *o, struct records *records,
                      struct producer *to, struct sr_error *err)
{
    const struct kafka_sink_conf *c = o->conf;
    r->host = o->host;
    r->schema = o->schema;
    r->conf = c;
    r->lineage = o->lineage;
    r->part = o->part;
    r->records = records;
    r->to = to;
    r->is_restoring = o->part == 0;
    r->apply.producer.fd = -1;
    if (asprintf(&r->stem, "%s-%s-%s", c->prefix ? c->prefix : "streamrun", o->job_id, o->uid) <
        0) {
        r->stem = NULL;
        return kafka_redo_no_memory(r, err);
    }
    struct redo_box_how how = {
        .target = c->topics.item[0], .dir = "/tmp", .bytes_max = c->redo_max.bytes};
    return redo_box_open(&r->box, o, &how, err);
}

/* The file that is being committed, and its transaction, are let go of. */
static void kafka_redo_let_go(struct kafka_redo *r)
{
    apply_end(&r->apply); /* its answers go to the flights */
    flights_done(&r->flights);
    if (r->reader.host) {
        redo_read_close(&r->reader);
    }
    if (r->view) {
        r->host->view_release(r->view);
    }
    redo_mark_done(&r->mark);
    free(r->id);
    free(r->group);
    r->flights = (struct flights){.count = 0};
    r->view = NULL;
    r->id = r->group = NULL;
    r->is_read = false;
}

void kafka_redo_close(struct kafka_redo *r)
{
    kafka_redo_let_go(r);
    redo_box_close(&r->box);
    free(r->stem);
    *r = (struct kafka_redo){.host = NULL};
}

/* --- Rows into the file ----------------------------------------------------------------------- */

/* Could row i of those that are encoded be sent? */
static sr_rc kafka_redo_try(struct kafka_redo *r, uint32_t i, struct sr_error *err)
{
    struct record record;
    struct outlet *outlet = NULL;
    sr_rc rc = records_get(r->records, i, &record, err);
    if (rc != SR_OK || record.is_none) {
        return rc;
    }
    rc = producer_outlet(r->to, r->records, &record, &outlet, err);
    rc = rc == SR_OK ? producer_takes(r->to, outlet, &record, err) : rc;
    if (record.headers) {
        rd_kafka_headers_destroy(record.headers);
    }
    return rc;
}

sr_rc kafka_redo_write(struct kafka_redo *r, const struct sr_view *v, uint32_t from, uint32_t *done,
                       struct sr_wait *wait, struct sr_error *err)
{
    *done = 0;
    sr_rc rc = redo_box_room(&r->box, wait, err);
    if (rc != SR_OK) {
        return rc;
    }
    sr_rc bad = records_take(r->records, v, from, err);
    if (bad != SR_OK && bad != SR_EDATA) {
        return bad;
    }
    uint32_t behind = r->records->from + r->records->count, i = from;
    struct sr_error one = {.rc = SR_OK};
    while (i < behind && (rc = kafka_redo_try(r, i, &one)) == SR_OK) {
        i++;
    }
    if (rc != SR_OK) {
        *err = one;
        bad = rc;
    }
    rc = i > from ? redo_append(&r->box.redo, v, from, i - from, err) : SR_OK;
    *done = rc == SR_OK ? i - from : 0;
    return rc == SR_OK ? bad : rc;
}

/* --- A transaction ---------------------------------------------------------------------------- */

/* Begins that of checkpoint n of the writer `part`; its marker is of that one too. */
static sr_rc kafka_redo_begin(struct kafka_redo *r, uint32_t part, const struct sr_marker *marker,
                              struct sr_error *err)
{
    bool is_named =
        asprintf(&r->id, "%s-%" PRIu32 "-redo", r->stem, part) > 0 &&
        asprintf(&r->group, "%s-%" PRIu32 "-redo-%" PRIx64, r->stem, part, marker->lineage) > 0;
    if (!is_named || flights_init(&r->flights, 0) != SR_OK) {
        return kafka_redo_no_memory(r, err);
    }
    r->owner = (struct producer_owner){.flights = &r->flights, .part = part};
    struct apply_how how = {.host = r->host,
                            .conf = r->conf,
                            .owner = &r->owner,
                            .id = r->id,
                            .group = r->group,
                            .topic = r->conf->topics.item[0],
                            .marker = *marker,
                            .is_first = r->is_restoring || !r->has_swept};
    r->has_swept = true;
    return apply_begin(&r->apply, &how, err);
}

/* The first marker, ahead of the first file. SR_EBUSY: not yet. */
static sr_rc kafka_redo_base(struct kafka_redo *r, struct sr_error *err)
{
    struct sr_marker base = {.lineage = r->lineage, .checkpoint = 0};
    sr_rc rc = r->apply.is_begun ? SR_OK : kafka_redo_begin(r, r->part, &base, err);
    rc = rc == SR_OK ? apply_ready(&r->apply, err) : rc;
    if (rc == SR_OK && !r->apply.is_applied) {
        rc = apply_commit(&r->apply, err);
    }
    if (rc != SR_EBUSY) {
        kafka_redo_let_go(r);
    }
    r->has_base = rc == SR_OK;
    return rc;
}

sr_rc kafka_redo_prepare(struct kafka_redo *r, uint64_t checkpoint, struct sr_notes *notes,
                         struct sr_wait *wait, struct sr_error *err)
{
    sr_rc rc = r->has_base || !r->box.redo.file ? SR_OK : kafka_redo_base(r, err);
    if (rc == SR_EBUSY) {
        int64_t until_us = r->host->mono_us(r->host) + KAFKA_REDO_WAIT_US;
        *wait = (struct sr_wait){.fd = -1, .until_us = until_us};
    }
    return rc == SR_OK ? redo_box_prepare(&r->box, checkpoint, notes, err) : rc;
}

/* --- Rows out of the file --------------------------------------------------------------------- */

static sr_rc kafka_redo_put(struct kafka_redo *r, uint32_t i, uint32_t flight, struct sr_error *err)
{
    struct record record;
    struct outlet *outlet = NULL;
    sr_rc rc = records_get(r->records, i, &record, err);
    if (rc != SR_OK || record.is_none) {
        return rc;
    }
    rc = producer_outlet(&r->apply.producer, r->records, &record, &outlet, err);
    if (rc == SR_OK) {
        void *tag = flights_tag(&r->flights, flight);
        rc = producer_send(&r->apply.producer, outlet, &record, tag, err);
        if (rc != SR_OK) {
            flights_untag(&r->flights, flight);
        }
    }
    if (rc != SR_OK && record.headers) {
        rd_kafka_headers_destroy(record.headers);
    }
    return rc;
}

/* Rows of the view from r->from on. SR_EBUSY: no room for all of them now. */
static sr_rc kafka_redo_send(struct kafka_redo *r, struct sr_error *err)
{
    sr_rc rc = records_take(r->records, r->view, r->from, err);
    uint32_t flight = rc == SR_OK ? flights_begin(&r->flights) : FLIGHTS_MAX;
    if (flight == FLIGHTS_MAX) {
        return rc == SR_OK ? SR_EBUSY : rc;
    }
    while (rc == SR_OK && r->from < r->view->picked) {
        rc = kafka_redo_put(r, r->from, flight, err);
        r->from += rc == SR_OK ? 1 : 0;
    }
    flights_end(&r->flights, flight);
    return rc;
}

/* All rows of the file. */
static sr_rc kafka_redo_send_all(struct kafka_redo *r, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    while (rc == SR_OK && !r->is_read) {
        producer_poll(&r->apply.producer);
        (void)flights_settled(&r->flights); /* frees those that are over */
        if (!r->view) {
            rc = redo_read(&r->reader, r->schema, &r->view, err);
            r->from = 0;
            r->is_read = rc == SR_OK && !r->view;
            continue;
        }
        rc = kafka_redo_send(r, err);
        if (rc == SR_OK) {
            r->records->of = NULL; /* what comes next may lie where this one did */
            r->host->view_release(r->view);
            r->view = NULL;
        }
    }
    return rc;
}

/* --- Commit ----------------------------------------------------------------------------------- */

static sr_rc kafka_redo_begin_file(struct kafka_redo *r, struct sr_bytes note, struct sr_error *err)
{
    sr_rc rc = redo_box_load(&r->box, &r->mark, note, err);
    struct sr_marker marker = {.lineage = r->mark.lineage, .checkpoint = r->mark.checkpoint};
    return rc == SR_OK ? kafka_redo_begin(r, r->mark.part, &marker, err) : rc;
}

/* The marker was read: is there anything to be done? */
static sr_rc kafka_redo_look(struct kafka_redo *r, struct sr_error *err)
{
#ifdef MUTANT_KAFKA_REDO_BASELESS /* a marker that is gone may never have been */
    r->apply.found.lineage = r->lineage;
#endif
    if (r->apply.found.lineage == 0) {
        return r->host->fail(r->host, err, SR_EMISFIT,
                             "kafka: consumer group '%s', which says what was written, is gone "
                             "(deleted, or expired): nobody can tell whether checkpoint %" PRIu64
                             " is in the topics; --fresh begins again, and writes all again",
                             r->group, r->mark.checkpoint);
    }
    return r->apply.is_applied || r->reader.host
               ? SR_OK
               : redo_read_open(&r->reader, r->host, &r->mark, err);
}

static sr_rc kafka_redo_go_on(struct kafka_redo *r, struct sr_error *err)
{
    sr_rc rc = apply_ready(&r->apply, err);
    rc = rc == SR_OK ? kafka_redo_look(r, err) : rc;
    if (rc != SR_OK || r->apply.is_applied) {
        return rc;
    }
    rc = kafka_redo_send_all(r, err);
    return rc == SR_OK ? apply_commit(&r->apply, err) : rc;
}

/* As kafka_redo_go_on, while something moves. */
static sr_rc kafka_redo_wait(struct kafka_redo *r, struct sr_error *err)
{
    sr_rc rc = SR_EBUSY;
    uint64_t seen = UINT64_MAX;
    int64_t since_us = 0, now_us = 0;
    while (rc == SR_EBUSY && now_us - since_us < KAFKA_REDO_STILL_US) {
        (void)poll(NULL, 0, KAFKA_REDO_PAUSE_MS); /* cannot fail, and may be short */
        rc = kafka_redo_go_on(r, err);
        now_us = r->host->mono_us(r->host);
        uint64_t moved = r->flights.taken + (r->apply.is_open ? 1 : 0);
        since_us = moved != seen ? now_us : since_us;
        seen = moved;
    }
    return rc;
}

sr_rc kafka_redo_commit(struct kafka_redo *r, struct sr_bytes note, struct sr_error *err)
{
    sr_rc rc = r->apply.is_begun ? SR_OK : kafka_redo_begin_file(r, note, err);
    if (rc == SR_OK) {
        rc = r->is_restoring ? kafka_redo_wait(r, err) : kafka_redo_go_on(r, err);
    }
    if (rc == SR_EBUSY) {
        char words[APPLY_WORDS];
        return r->host->fail(r->host, err, rc,
                             "kafka: the rows of checkpoint %" PRIu64 " are on their way: %s",
                             r->mark.checkpoint, apply_words(&r->apply, words));
    }
    if (rc == SR_OK) {
        redo_box_remove(&r->box, r->mark.path);
        r->mark.path = NULL;
    }
    /* A file that is gone, or a row that is not taken, does not come right by waiting. */
    if (rc == SR_EABSENT || rc == SR_EDATA || rc == SR_ENOSPC) {
        err->rc = rc = SR_EIO;
    }
    kafka_redo_let_go(r);
    return rc;
}

sr_rc kafka_redo_recover(struct kafka_redo *r, const struct sr_bytes *live, uint32_t count,
                         struct sr_error *err)
{
    struct redo_mark *mark = calloc((size_t)count + 1, sizeof(*mark));
    if (!mark) {
        return kafka_redo_no_memory(r, err);
    }
    sr_rc rc = SR_OK;
    uint32_t loaded = 0;
    for (; rc == SR_OK && loaded < count; loaded += rc == SR_OK ? 1 : 0) {
        rc = redo_box_load(&r->box, &mark[loaded], live[loaded], err);
    }
    rc = rc == SR_OK ? redo_box_leftovers(&r->box, mark, loaded, err) : rc;
    r->is_restoring = false;
    for (uint32_t i = 0; i < loaded; i++) {
        redo_mark_done(&mark[i]);
    }
    free(mark);
    return rc;
}
