#include "connectors/kafka/kafka_loose.h"

#include "connectors/kafka/kafka_call.h"

#define LOOSE_UNSTABLE 3u /* steps in which the group's offset may become stable by itself */
#define LOOSE_WHAT     "an older transaction is not ended"

static bool loose_gives_up(const struct kafka_reader_how *how)
{
    return atomic_load_explicit(how->is_stopped, memory_order_relaxed);
}

static sr_rc loose_given_up(const struct kafka_reader_how *how, struct sr_error *err)
{
    return how->host->fail(how->host, err, SR_ECLOSED, "kafka: given up");
}

/* What may pass is tried again. */
static bool loose_may_pass(const struct kafka_reader_how *how, rd_kafka_resp_err_t e)
{
    sr_rc rc = client_rc(e);
    return rc != SR_OK && rc != SR_EACCESS && rc != SR_ECONFIG && rc != SR_EFENCED &&
           !loose_gives_up(how);
}

static sr_rc loose_partitions(const struct kafka_reader_how *how, struct client *c,
                              const char *topic, int32_t *out, struct sr_error *err)
{
    const struct rd_kafka_metadata *all = NULL;
    rd_kafka_resp_err_t e;
    rd_kafka_topic_t *t = rd_kafka_topic_new(c->rk, topic, NULL);
    do {
        e = rd_kafka_metadata(c->rk, 0, t, &all, KAFKA_CALL_MS);
    } while (loose_may_pass(how, e));
    rd_kafka_topic_destroy(t);
    if (e) {
        return client_fail(c, err, e, topic);
    }
    *out = all->topic_cnt == 1 ? all->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(all);
    return SR_OK;
}

/* --- Is there anything? ----------------------------------------------------------------------- */

static sr_rc loose_end_of(const struct kafka_reader_how *how, struct client *c, const char *topic,
                          int32_t partition, int64_t *out, struct sr_error *err)
{
    int64_t low = 0;
    rd_kafka_resp_err_t e;
    do {
        e = rd_kafka_query_watermark_offsets(c->rk, topic, partition, &low, out, KAFKA_CALL_MS);
    } while (loose_may_pass(how, e));
    return e ? client_fail(c, err, e, topic) : SR_OK;
}

/* Does a partition have rows that are neither committed nor aborted? */
static sr_rc loose_rows(const struct kafka_reader_how *how, struct client *committed,
                        struct client *all, const char *topic, bool *is_some, struct sr_error *err)
{
    int32_t partitions = 0;
    sr_rc rc = loose_partitions(how, all, topic, &partitions, err);
    for (int32_t i = 0; rc == SR_OK && !*is_some && i < partitions; i++) {
        int64_t stable = 0, end = 0; /* in this order: the end moves while others write */
        rc = loose_end_of(how, all, topic, i, &end, err);
        rc = rc == SR_OK ? loose_end_of(how, committed, topic, i, &stable, err) : rc;
        *is_some = rc == SR_OK && stable < end;
    }
    return rc;
}

/* Brokers do not tell an offset that a transaction has written and not ended. */
static bool loose_marker(const struct kafka_reader_how *how, struct client *c)
{
    rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    (void)rd_kafka_topic_partition_list_add(list, how->topic, 0);
    for (uint32_t i = 0; i < LOOSE_UNSTABLE && e && !loose_gives_up(how); i++) {
        e = rd_kafka_committed(c->rk, list, KAFKA_CALL_MS);
        e = e ? e : list->elems[0].err;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return e == RD_KAFKA_RESP_ERR__TIMED_OUT || e == RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT;
}

sr_rc kafka_loose_find(const struct kafka_reader_how *how, const sr_list *topics, bool *is_some,
                       struct sr_error *err)
{
    struct client committed = {.rk = NULL}, all = {.rk = NULL};
    *is_some = false;
    sr_rc rc = kafka_marker_open(how, true, &committed, err);
    rc = rc == SR_OK ? kafka_marker_open(how, false, &all, err) : rc;
    for (uint32_t i = 0; rc == SR_OK && !*is_some && i < topics->count; i++) {
        rc = loose_rows(how, &committed, &all, topics->item[i], is_some, err);
    }
    if (rc == SR_OK && !*is_some) {
        *is_some = loose_marker(how, &committed);
    }
    client_close(&all);
    client_close(&committed);
    return rc;
}

/* --- Ending it -------------------------------------------------------------------------------- */

static bool loose_is_over(const struct kafka_reader_how *how, rd_kafka_error_t *e, sr_rc *rc,
                          struct sr_error *err)
{
    return kafka_call_is_over(how->host, how->is_stopped, e, LOOSE_WHAT, rc, err);
}

static sr_rc loose_open(const struct kafka_reader_how *how, const char *id, struct client *c,
                        struct sr_error *err)
{
    rd_kafka_conf_t *conf = NULL;
    sr_rc rc = client_conf(how->properties, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    client_set(conf, "transactional.id", id);
    rc = client_open(c, how->host, RD_KAFKA_PRODUCER, conf, err);
    while (rc == SR_OK &&
           !loose_is_over(how, rd_kafka_init_transactions(c->rk, KAFKA_CALL_MS), &rc, err)) {
    }
    if (rc == SR_OK) {
        rc = kafka_call_fail(how->host, rd_kafka_begin_transaction(c->rk), LOOSE_WHAT, err);
    }
    return rc;
}

/* A record in each partition of the topic, so that it is of the transaction. */
static sr_rc loose_touch(const struct kafka_reader_how *how, struct client *c, const char *topic,
                         struct sr_error *err)
{
    int32_t partitions = 0;
    sr_rc rc = loose_partitions(how, c, topic, &partitions, err);
    for (int32_t i = 0; rc == SR_OK && i < partitions; i++) {
        char key[] =
            "streamrun"; /* which compacted topics ask for, and no value: nobody reads it */
        rd_kafka_vu_t field[] = {
            {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
            {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = i},
            {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK},
            {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {.ptr = key, .size = sizeof(key) - 1}}};
        rd_kafka_error_t *e = rd_kafka_produceva(c->rk, field, sizeof(field) / sizeof(field[0]));
        rc = kafka_call_fail(how->host, e, LOOSE_WHAT, err);
    }
    return rc;
}

/* Until all of them have arrived: one that comes later would be loose itself. */
static sr_rc loose_flush(const struct kafka_reader_how *how, struct client *c, struct sr_error *err)
{
    while (rd_kafka_flush(c->rk, KAFKA_CALL_MS) == RD_KAFKA_RESP_ERR__TIMED_OUT) {
        if (loose_gives_up(how)) {
            return loose_given_up(how, err);
        }
    }
    return SR_OK;
}

sr_rc kafka_loose_end(const struct kafka_reader_how *how, const sr_list *topics, const char *id,
                      struct sr_error *err)
{
    static const struct sr_marker nothing = {.lineage = 0, .checkpoint = 0};
    struct client c = {.rk = NULL};
    sr_rc rc = loose_open(how, id, &c, err);
    for (uint32_t i = 0; rc == SR_OK && i < topics->count; i++) {
        rc = loose_touch(how, &c, topics->item[i], err);
    }
    rc = rc == SR_OK ? loose_flush(how, &c, err) : rc;
    for (bool is_over = rc != SR_OK; !is_over;) {
        rd_kafka_error_t *e =
            kafka_marker_send(c.rk, how->group, how->topic, &nothing, KAFKA_CALL_MS);
        is_over = loose_is_over(how, e, &rc, err);
    }
    for (bool is_over = rc != SR_OK; !is_over;) {
        is_over = loose_is_over(how, rd_kafka_abort_transaction(c.rk, KAFKA_CALL_MS), &rc, err);
    }
    client_close(&c);
    if (rc == SR_OK) {
        how->host->log(how->host, SR_WARN,
                       "kafka: the topics hold rows of an open transaction; in case it is an older "
                       "one of %s, which a broker did not end there, it was aborted",
                       id);
    }
    return rc;
}
