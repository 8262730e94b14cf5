#include "connectors/kafka/transactions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/kafka/cluster.h"

#define TRANSACTIONS_TOPIC   "__transaction_state"
#define TRANSACTIONS_STEP_MS 1000

/* --- One record ------------------------------------------------------------------------------- */

/* Numbers are big-endian; a flexible version (1) has lengths as varints, 1 more than they are. */
struct transaction_in {
    const uint8_t *at;
    size_t left;
    bool is_flexible, is_broken;
};

static int64_t transaction_get(struct transaction_in *in, size_t size)
{
    uint64_t n = 0;
    if (in->left < size) {
        in->is_broken = true;
        in->left = 0;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        n = n << 8 | in->at[i];
    }
    in->at += size;
    in->left -= size;
    uint32_t unused = (uint32_t)(64 - 8 * size);
    return (int64_t)(n << unused) >> unused;
}

static uint32_t transaction_varint(struct transaction_in *in)
{
    uint64_t n = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
        uint8_t b = (uint8_t)transaction_get(in, 1);
        n |= (uint64_t)(b & 0x7F) << shift;
        if (!(b & 0x80)) {
            return n <= UINT32_MAX ? (uint32_t)n : 0;
        }
    }
    in->is_broken = true;
    return 0;
}

/* Elements, or bytes; one that is null counts as none. */
static uint32_t transaction_length(struct transaction_in *in, size_t size)
{
    uint32_t n = in->is_flexible ? transaction_varint(in) : 0;
    int64_t len = in->is_flexible ? (int64_t)n - 1 : transaction_get(in, size);
    if (len > (int64_t)in->left) {
        in->is_broken = true;
    }
    return len < 0 || in->is_broken ? 0 : (uint32_t)len;
}

/* Fields that this version of the record need not have: none is of use here. */
static void transaction_skip_tags(struct transaction_in *in)
{
    uint32_t tags = in->is_flexible ? transaction_varint(in) : 0;
    for (uint32_t i = 0; i < tags && !in->is_broken; i++) {
        (void)transaction_varint(in);
        uint32_t len = transaction_varint(in);
        in->is_broken = in->is_broken || len > in->left;
        if (!in->is_broken) {
            in->at += len;
            in->left -= len;
        }
    }
}

static void transaction_add_words(struct transaction *t, size_t *used, const uint8_t *topic,
                                  uint32_t len, int32_t partition)
{
    size_t room = sizeof(t->partitions) - *used;
    int n = snprintf(t->partitions + *used, room, "%s%.*s-%" PRId32, *used > 0 ? "," : "", (int)len,
                     (const char *)topic, partition);
    if (n > 0 && (size_t)n < room) {
        *used += (size_t)n;
    } else {
        t->partitions[*used] = '\0';
    }
    t->partition_count++;
}

static void transaction_parse_partitions(struct transaction_in *in, struct transaction *t)
{
    size_t used = 0;
    uint32_t topics = transaction_length(in, 4);
    t->partition_count = 0;
    t->partitions[0] = '\0';
    for (uint32_t i = 0; i < topics && !in->is_broken; i++) {
        uint32_t len = transaction_length(in, 2);
        const uint8_t *topic = in->at;
        in->at += len;
        in->left -= len;
        uint32_t count = transaction_length(in, 4);
        for (uint32_t k = 0; k < count && !in->is_broken; k++) {
            int32_t partition = (int32_t)transaction_get(in, 4);
            transaction_add_words(t, &used, topic, len, partition);
        }
        transaction_skip_tags(in);
    }
}

bool transaction_parse(const uint8_t *value, size_t len, struct transaction *t)
{
    struct transaction_in in = {.at = value, .left = len};
    int64_t version = transaction_get(&in, 2);
    in.is_flexible = version == 1;
    t->producer_id = transaction_get(&in, 8);
    t->epoch = (int32_t)transaction_get(&in, 2);
    t->timeout_ms = (int32_t)transaction_get(&in, 4);
    t->state = (int32_t)transaction_get(&in, 1);
    transaction_parse_partitions(&in, t);
    t->moved_ms = transaction_get(&in, 8);
    t->since_ms = transaction_get(&in, 8);
    if (t->state == TRANSACTION_COMPLETE_COMMIT || t->state == TRANSACTION_COMPLETE_ABORT) {
        t->ended = t->state;
    }
    return !in.is_broken && (version == 0 || version == 1);
}

bool transaction_is_open(const struct transaction *t)
{
    return t->state == TRANSACTION_ONGOING || t->state == TRANSACTION_PREPARE_COMMIT ||
           t->state == TRANSACTION_PREPARE_ABORT || t->state == TRANSACTION_PREPARE_EPOCH_FENCE;
}

const char *transaction_state_name(int32_t state)
{
    static const char *const name[] = {"Empty",        "Ongoing",          "PrepareCommit",
                                       "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                       "Dead",         "PrepareEpochFence"};
    return state >= 0 && state < (int32_t)(sizeof(name) / sizeof(name[0])) ? name[state]
                                                                           : "unknown";
}

/* --- All of them ------------------------------------------------------------------------------ */

struct transaction *transactions_find(const struct transactions *t, const char *id)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (strcmp(t->item[i].id, id) == 0) {
            return &t->item[i];
        }
    }
    return NULL;
}

void transactions_done(struct transactions *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        free(t->item[i].id);
    }
    free(t->item);
    *t = (struct transactions){.count = 0};
}

/* The id that a key names, if it begins with the stem; to be freed. */
static char *transactions_id(const rd_kafka_message_t *m, const char *stem)
{
    const uint8_t *key = m->key;
    size_t len = strlen(stem);
    if (m->key_len < 4 || key[0] != 0 || key[1] != 0) {
        return NULL; /* of another version, of which none is known */
    }
    size_t id_len = (size_t)(key[2] << 8 | key[3]);
    bool is_ours = id_len + 4 == m->key_len && id_len >= len && memcmp(key + 4, stem, len) == 0;
    return is_ours ? strndup((const char *)key + 4, id_len) : NULL;
}

static sr_rc transactions_take(struct transactions *t, const struct sr_ask *a,
                               const rd_kafka_message_t *m, const char *stem, struct sr_error *err)
{
    char *id = transactions_id(m, stem);
    if (!id) {
        return SR_OK;
    }
    struct transaction *one = transactions_find(t, id);
    struct transaction now = {.state = TRANSACTION_DEAD, .ended = one ? one->ended : 0};
    if (m->payload && !transaction_parse(m->payload, m->len, &now)) {
        free(id);
        return a->host->fail(a->host, err, SR_EMISFIT,
                             "kafka: " TRANSACTIONS_TOPIC " is written in a way that this version "
                             "does not know");
    }
    if (one) {
        now.id = one->id;
        *one = now;
        free(id);
        return SR_OK;
    }
    if (t->count == TRANSACTIONS_MAX) {
        free(id);
        return a->host->fail(a->host, err, SR_ELIMIT,
                             "kafka: more than %u transactional ids begin with '%s'",
                             TRANSACTIONS_MAX, stem);
    }
    struct transaction *list = list_room(t->item, t->count, &t->room, sizeof(*list));
    if (!list) {
        free(id);
        return a->host->fail(a->host, err, SR_ENOMEM, "kafka: out of memory");
    }
    t->item = list;
    now.id = id;
    t->item[t->count++] = now;
    return SR_OK;
}

/* What is wrong with reading the topic, when it is a right that is missing. */
static sr_rc transactions_refused(const struct cluster *k, rd_kafka_resp_err_t e,
                                  struct sr_error *err)
{
    return client_rc(e) == SR_EACCESS
               ? k->ask->host->fail(
                     k->ask->host, err, SR_EACCESS,
                     "kafka: transactions are listed by reading topic " TRANSACTIONS_TOPIC
                     ", which this user may not: %s",
                     rd_kafka_err2str(e))
               : cluster_fail(k, e, "kafka: " TRANSACTIONS_TOPIC, err);
}

/* Polls until each partition was read to the end that it has when it is reached. */
static sr_rc transactions_poll(struct transactions *out, struct cluster *k, const char *stem,
                               int32_t partitions, struct sr_error *err)
{
    const struct sr_ask *a = k->ask;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && partitions > 0) {
        if (cluster_is_over(k)) {
            return a->host->fail(a->host, err, SR_EIO,
                                 "kafka: " TRANSACTIONS_TOPIC " could not be read to its end: %d "
                                 "partitions are left",
                                 partitions);
        }
        rd_kafka_message_t *m = rd_kafka_consumer_poll(k->client.rk, 100);
        if (!m) {
            continue;
        }
        if (!m->err) {
            rc = transactions_take(out, a, m, stem, err);
        } else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            partitions--;
        } else if (m->rkt && client_rc(m->err) != SR_EIO) {
            rc = transactions_refused(k, m->err, err);
        }
        rd_kafka_message_destroy(m);
    }
    return rc;
}

/* All partitions, from their beginnings. */
static void transactions_assign(const struct cluster *k, int32_t partitions)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t i = 0; i < partitions; i++) {
        rd_kafka_topic_partition_list_add(list, TRANSACTIONS_TOPIC, i)->offset =
            RD_KAFKA_OFFSET_BEGINNING;
    }
    (void)rd_kafka_poll_set_consumer(k->client.rk); /* errors, too, come by consumer_poll now */
    (void)rd_kafka_assign(k->client.rk, list);      /* what is wrong with it is polled */
    rd_kafka_topic_partition_list_destroy(list);
}

sr_rc transactions_read(struct transactions *out, const struct sr_ask *a,
                        const struct sr_pairs *properties, const char *stem, struct sr_error *err)
{
    struct cluster k = {.broker = -1};
    int32_t partitions = 0;
    sr_rc rc = cluster_open(&k, a, properties, stem, err);
    if (rc == SR_OK) {
        rd_kafka_resp_err_t e = cluster_ask(&k, TRANSACTIONS_TOPIC, &partitions);
        bool is_absent = e == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART; /* there never was one */
        rc = e && !is_absent ? transactions_refused(&k, e, err) : SR_OK;
    }
    if (rc == SR_OK && partitions > 0) {
        transactions_assign(&k, partitions);
        rc = transactions_poll(out, &k, stem, partitions, err);
    }
    cluster_close(&k);
    return rc;
}

/* --- Ending one ------------------------------------------------------------------------------- */

sr_rc transaction_end(const struct sr_ask *a, const struct sr_pairs *properties, const char *id,
                      int32_t timeout_ms, struct sr_error *err)
{
    struct cluster k = {.ask = a, .properties = properties};
    struct client *c = &k.client;
    rd_kafka_conf_t *conf = NULL;
    char text[16];
    sr_rc rc = client_conf(properties, &conf, err);
    if (rc != SR_OK) {
        return rc;
    }
    client_set(conf, "transactional.id", id);
    if (timeout_ms > 0) {
        (void)snprintf(text, sizeof(text), "%" PRId32, timeout_ms);
        client_set(conf, "transaction.timeout.ms", text);
    }
    rc = client_open(c, a->host, RD_KAFKA_PRODUCER, conf, err);
    for (bool is_over = rc != SR_OK; !is_over;) {
        rd_kafka_error_t *e = rd_kafka_init_transactions(c->rk, TRANSACTIONS_STEP_MS);
        is_over = !e || !rd_kafka_error_is_retriable(e) || cluster_is_over(&k);
        (void)rd_kafka_poll(c->rk, 0); /* errors are told by a callback */
        if (e && is_over) {
            sr_rc let_in = client_is_let_in(c, properties, err);
            rc = let_in != SR_OK ? let_in
                                 : a->host->fail(a->host, err, client_rc(rd_kafka_error_code(e)),
                                                 "kafka: transactional id '%s': %s", id,
                                                 rd_kafka_error_string(e));
        }
        rd_kafka_error_destroy(e); /* NULL allowed */
    }
    cluster_close(&k);
    return rc;
}
