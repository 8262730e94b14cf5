#include "connectors/kafka/kafka_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"

#define KAFKA_AGAIN_MS 50 /* between two tries */

/* --- One question, until it is answered ------------------------------------------------------- */

static bool kafka_look_is_over(const struct kafka_look *l)
{
    return atomic_load_explicit(&l->is_stopped, memory_order_relaxed) ||
           l->host->mono_us(l->host) > l->until_us;
}

/* What may be otherwise in a moment. */
static bool kafka_look_passes(const struct kafka_look *l, rd_kafka_resp_err_t e)
{
    return e != RD_KAFKA_RESP_ERR_NO_ERROR && client_rc(e) == SR_EIO &&
           !atomic_load_explicit(&l->client->denied, memory_order_relaxed);
}

static sr_rc kafka_look_fail(struct kafka_look *l, rd_kafka_resp_err_t e, const char *what)
{
    const char *servers = props_find(&l->conf->properties, "bootstrap.servers");
    sr_rc let_in = client_is_let_in(l->client, &l->conf->properties, &l->err);
    if (let_in != SR_OK) { /* else it would only say that nobody answers */
        return let_in;
    }
    bool is_down = atomic_load_explicit(&l->client->is_down, memory_order_relaxed);
    if (is_down && client_rc(e) == SR_EIO) {
        return l->host->fail(l->host, &l->err, SR_EIO, "%s: no broker can be reached (%s)", what,
                             servers ? servers : "");
    }
    return client_fail(l->client, &l->err, e, what);
}

/* --- Topics and partitions ------------------------------------------------------------------- */

static sr_rc kafka_look_add(struct kafka_look *l, const char *topic, int32_t partition)
{
    bool is_known = l->knows(l->ctx, topic, partition);
    if (is_known && !l->wants_known) {
        return SR_OK;
    }
    struct kafka_found *list = list_room(l->found, l->count, &l->room, sizeof(*list));
    char *name = list ? strdup(topic) : NULL;
    l->found = list ? list : l->found;
    if (!name) {
        return l->host->fail(l->host, &l->err, SR_ENOMEM, "kafka: out of memory");
    }
    l->found[l->count++] = (struct kafka_found){
        .topic = name, .partition = partition, .stop = KAFKA_NO_STOP, .is_known = is_known};
    return SR_OK;
}

static sr_rc kafka_look_take(struct kafka_look *l, const rd_kafka_metadata_topic_t *t)
{
    sr_rc rc = SR_OK;
    for (int i = 0; rc == SR_OK && i < t->partition_cnt; i++) {
        rc = kafka_look_add(l, t->topic, t->partitions[i].id);
    }
    return rc;
}

/* Metadata of one topic, or, NULL, of all. */
static rd_kafka_resp_err_t kafka_look_metadata(struct kafka_look *l, rd_kafka_topic_t *rkt,
                                               const struct rd_kafka_metadata **out)
{
    rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR__TIMED_OUT;
    do {
        *out = NULL;
        e = rd_kafka_metadata(l->client->rk, rkt == NULL, rkt, out, KAFKA_LOOK_STEP_MS);
        if (e == RD_KAFKA_RESP_ERR_NO_ERROR && rkt && (*out)->topic_cnt == 1) {
            e = (*out)->topics[0].err;
        }
        if (e != RD_KAFKA_RESP_ERR_NO_ERROR && *out) {
            rd_kafka_metadata_destroy(*out);
            *out = NULL;
        }
        /* Its errors are told by a callback. */
        (void)rd_kafka_poll(l->client->rk, kafka_look_passes(l, e) ? KAFKA_AGAIN_MS : 0);
    } while (kafka_look_passes(l, e) && !kafka_look_is_over(l));
    return e;
}

static sr_rc kafka_look_topic(struct kafka_look *l, const char *name)
{
    char what[KAFKA_TOPIC_MAX + 32];
    const struct rd_kafka_metadata *m = NULL;
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(l->client->rk, name, NULL);
    rd_kafka_resp_err_t e = rkt ? kafka_look_metadata(l, rkt, &m) : rd_kafka_last_error();
    (void)snprintf(what, sizeof(what), "topic '%s'", name);
    sr_rc rc = e || !m ? kafka_look_fail(l, e, what) : kafka_look_take(l, &m->topics[0]);
    if (m) {
        rd_kafka_metadata_destroy(m);
    }
    if (rkt) {
        rd_kafka_topic_destroy(rkt);
    }
    return rc;
}

static sr_rc kafka_look_pattern(struct kafka_look *l)
{
    const struct rd_kafka_metadata *m = NULL;
    rd_kafka_resp_err_t e = kafka_look_metadata(l, NULL, &m);
    sr_rc rc = e || !m ? kafka_look_fail(l, e, "topic-pattern") : SR_OK;
    for (int i = 0; rc == SR_OK && m && i < m->topic_cnt; i++) {
        const rd_kafka_metadata_topic_t *t = &m->topics[i];
        if (t->err == RD_KAFKA_RESP_ERR_NO_ERROR && l->wants(l->ctx, t->topic)) {
            rc = kafka_look_take(l, t);
        }
    }
    if (m) {
        rd_kafka_metadata_destroy(m);
    }
    return rc;
}

/* --- Offsets --------------------------------------------------------------------------------- */

/* Asks for all that was found; `ask`: RD_KAFKA_OFFSET_BEGINNING, _END, a time in ms, or _STORED: of
 * the group. */
static rd_kafka_resp_err_t kafka_look_ask_once(struct kafka_look *l,
                                               rd_kafka_topic_partition_list_t *list, int64_t ask)
{
    for (int i = 0; i < list->cnt; i++) {
        list->elems[i].offset = ask == RD_KAFKA_OFFSET_STORED ? RD_KAFKA_OFFSET_INVALID : ask;
        list->elems[i].err = RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    rd_kafka_resp_err_t e =
        ask == RD_KAFKA_OFFSET_STORED
            ? rd_kafka_committed(l->client->rk, list, KAFKA_LOOK_OFFSET_MS)
            : rd_kafka_offsets_for_times(l->client->rk, list, KAFKA_LOOK_OFFSET_MS);
    for (int i = 0; e == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++) {
        e = list->elems[i].err;
    }
    return e;
}

sr_rc kafka_look_ask(struct kafka_look *l, int64_t ask, int64_t *out)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)l->count);
    for (uint32_t i = 0; i < l->count; i++) {
        (void)rd_kafka_topic_partition_list_add(list, l->found[i].topic, l->found[i].partition);
    }
    rd_kafka_resp_err_t e = kafka_look_ask_once(l, list, ask);
    while (kafka_look_passes(l, e) && !kafka_look_is_over(l)) {
        (void)rd_kafka_poll(l->client->rk, KAFKA_AGAIN_MS);
        e = kafka_look_ask_once(l, list, ask);
    }
    for (uint32_t i = 0; e == RD_KAFKA_RESP_ERR_NO_ERROR && i < l->count; i++) {
        out[i] = list->elems[i].offset;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return e ? kafka_look_fail(l, e, "kafka: offsets") : SR_OK;
}

/* What partitions begin and end by. */
struct kafka_bounds {
    int64_t *low, *high, *own;
};

/* l->found in the order of the answers; NULL where nothing is listed for it. */
static const struct kafka_offset *kafka_look_specific(const struct kafka_offset *list,
                                                      uint32_t count, int32_t partition)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].partition == partition) {
            return &list[i];
        }
    }
    return NULL;
}

/* own[i]: what the text lists for each, or `other`. */
static sr_rc kafka_look_listed(struct kafka_look *l, const char *text, const int64_t *other,
                               int64_t *own)
{
    struct kafka_offset *list = calloc(KAFKA_SPECIFIC_MAX, sizeof(*list));
    uint32_t count = 0;
    if (!list) {
        return l->host->fail(l->host, &l->err, SR_ENOMEM, "kafka: out of memory");
    }
    (void)kafka_offsets_read(text, list, KAFKA_SPECIFIC_MAX, &count); /* checked with the options */
    for (uint32_t i = 0; i < l->count; i++) {
        const struct kafka_offset *k = kafka_look_specific(list, count, l->found[i].partition);
        own[i] = k ? k->offset : other[i];
    }
    free(list);
    return SR_OK;
}

/* own[i]: where the group was; where it was nowhere, low or high as `reset` says, or, NULL, it
 * fails, with what is to be written instead. */
static sr_rc kafka_look_group(struct kafka_look *l, const struct kafka_bounds *b, const char *reset,
                              const char *instead)
{
    sr_rc rc = kafka_look_ask(l, RD_KAFKA_OFFSET_STORED, b->own);
    for (uint32_t i = 0; rc == SR_OK && i < l->count; i++) {
        if (b->own[i] >= 0) {
            continue;
        }
        if (!reset) {
            return l->host->fail(l->host, &l->err, SR_ECONFIG,
                                 "group '%s' has no offset of topic '%s', partition %d: write %s",
                                 props_find(&l->conf->properties, "group.id"), l->found[i].topic,
                                 l->found[i].partition, instead);
        }
        b->own[i] = strcmp(reset, "earliest") == 0 ? b->low[i] : b->high[i];
    }
    return rc;
}

static void kafka_look_copy(int64_t *to, const int64_t *from, uint32_t count)
{
    if (count > 0) {
        memcpy(to, from, count * sizeof(*to));
    }
}

static sr_rc kafka_look_begins(struct kafka_look *l, const struct kafka_bounds *b)
{
    enum kafka_startup mode =
        l->is_first ? (enum kafka_startup)l->conf->startup.index : KAFKA_FROM_EARLIEST;
    sr_rc rc = SR_OK;
    switch (mode) {
    case KAFKA_FROM_EARLIEST:
        kafka_look_copy(b->own, b->low, l->count);
        break;
    case KAFKA_FROM_LATEST:
        kafka_look_copy(b->own, b->high, l->count);
        break;
    case KAFKA_FROM_GROUP:
        rc = kafka_look_group(l, b, kafka_reset(l->conf),
                              "properties.auto.offset.reset: earliest or latest, or another "
                              "scan.startup.mode");
        break;
    case KAFKA_FROM_TIMESTAMP:
        rc = kafka_look_ask(l, l->conf->startup_ms, b->own);
        break;
    case KAFKA_FROM_SPECIFIC:
        rc = kafka_look_listed(l, l->conf->startup_offsets, b->low, b->own);
        break;
    }
    for (uint32_t i = 0; rc == SR_OK && i < l->count; i++) {
        l->found[i].next = b->own[i] >= 0 ? b->own[i] : b->high[i]; /* no record is that late */
    }
    return rc;
}

static sr_rc kafka_look_ends(struct kafka_look *l, const struct kafka_bounds *b)
{
    sr_rc rc = SR_OK;
    kafka_look_copy(b->own, b->high, l->count);
    switch ((enum kafka_bounded)l->conf->bounded.index) {
    case KAFKA_UNBOUNDED:
        return SR_OK;
    case KAFKA_TO_LATEST:
        break;
    case KAFKA_TO_GROUP:
        rc = kafka_look_group(l, b, NULL, "another scan.bounded.mode");
        break;
    case KAFKA_TO_TIMESTAMP:
        rc = kafka_look_ask(l, l->conf->bounded_ms, b->own);
        break;
    case KAFKA_TO_SPECIFIC:
        rc = kafka_look_listed(l, l->conf->bounded_offsets, b->high, b->own);
        break;
    }
    for (uint32_t i = 0; rc == SR_OK && i < l->count; i++) {
        bool is_inside = b->own[i] >= 0 && b->own[i] < b->high[i];
        l->found[i].stop = is_inside ? b->own[i] : b->high[i];
    }
    return rc;
}

static sr_rc kafka_look_offsets(struct kafka_look *l)
{
    int64_t *room = calloc(3 * (size_t)l->count + 1, sizeof(*room));
    if (!room) {
        return l->host->fail(l->host, &l->err, SR_ENOMEM, "kafka: out of memory");
    }
    struct kafka_bounds b = {room, room + l->count, room + 2 * (size_t)l->count};
    sr_rc rc = l->count > 0 ? kafka_look_ask(l, RD_KAFKA_OFFSET_BEGINNING, b.low) : SR_OK;
    if (rc == SR_OK && l->count > 0) {
        rc = kafka_look_ask(l, RD_KAFKA_OFFSET_END, b.high);
    }
    if (rc == SR_OK && l->count > 0) {
        rc = kafka_look_begins(l, &b);
    }
    if (rc == SR_OK && l->count > 0) {
        rc = kafka_look_ends(l, &b);
    }
    free(room);
    return rc;
}

/* --- The whole ------------------------------------------------------------------------------- */

void kafka_look_run(struct kafka_look *l)
{
    sr_rc rc = SR_OK;
    l->until_us = l->host->mono_us(l->host) + KAFKA_LOOK_US;
    for (uint32_t i = 0; rc == SR_OK && i < l->conf->topics.count; i++) {
        rc = kafka_look_topic(l, l->conf->topics.item[i]);
    }
    if (rc == SR_OK && l->conf->pattern) {
        rc = kafka_look_pattern(l);
    }
    l->rc = rc == SR_OK ? kafka_look_offsets(l) : rc;
    atomic_store_explicit(&l->is_done, true, memory_order_release);
}

static void *kafka_look_thread(void *look)
{
    kafka_look_run(look);
    return NULL;
}

sr_rc kafka_look_begin(struct kafka_look *l, struct sr_error *err)
{
    kafka_look_free(l);
    atomic_store_explicit(&l->is_done, false, memory_order_relaxed);
    atomic_store_explicit(&l->is_stopped, false, memory_order_relaxed);
    if (pthread_create(&l->thread, NULL, kafka_look_thread, l) != 0) {
        return l->host->fail(l->host, err, SR_ENOMEM, "kafka: no thread can be made");
    }
    l->is_running = true;
    return SR_OK;
}

bool kafka_look_is_done(const struct kafka_look *l)
{
    return atomic_load_explicit(&l->is_done, memory_order_acquire);
}

void kafka_look_end(struct kafka_look *l)
{
    if (l->is_running) {
        atomic_store_explicit(&l->is_stopped, true, memory_order_relaxed);
        (void)pthread_join(l->thread, NULL); /* it was made, and is joined once */
    }
    l->is_running = false;
}

void kafka_look_free(struct kafka_look *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        free(l->found[i].topic);
    }
    free(l->found);
    l->found = NULL;
    l->count = l->room = 0;
}
