#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/kafka_find.h"
#include "connectors/kafka/kafka_tell.h"

#define KAFKA_TELL_GROUP_MS 10000

/* A look at all partitions, with what is known of each, in the order of look->found. */
struct kafka_asked {
    struct kafka_find find;
    struct kafka_look *look;         /* of find */
    int64_t *low, *high, *committed; /* committed: SR_NO_NUMBER where there is none */
    const char *group;               /* NULL: none is written */
};

static bool kafka_tell_knows(void *ctx, const char *topic, int32_t partition)
{
    (void)ctx, (void)topic, (void)partition;
    return false;
}

static void kafka_asked_close(struct kafka_asked *k)
{
    free(k->low);
    kafka_find_close(&k->find);
}

static sr_rc kafka_asked_committed(struct kafka_asked *k)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < k->look->count; i++) {
        k->committed[i] = SR_NO_NUMBER;
    }
    if (k->group) {
        rc = kafka_look_ask(k->look, RD_KAFKA_OFFSET_STORED, k->committed);
    }
    for (uint32_t i = 0; i < k->look->count; i++) {
        k->committed[i] = k->committed[i] < 0 ? SR_NO_NUMBER : k->committed[i];
    }
    return rc;
}

static sr_rc kafka_asked_fill(struct kafka_asked *k)
{
    uint32_t n = k->look->count;
    k->low = calloc(3 * (size_t)n + 1, sizeof(*k->low));
    if (!k->low) {
        return k->look->host->fail(k->look->host, &k->look->err, SR_ENOMEM, "kafka: out of memory");
    }
    k->high = k->low + n;
    k->committed = k->high + n;
    if (n == 0) {
        return SR_OK;
    }
    sr_rc rc = kafka_look_ask(k->look, RD_KAFKA_OFFSET_BEGINNING, k->low);
    return rc == SR_OK ? kafka_look_ask(k->look, RD_KAFKA_OFFSET_END, k->high) : rc;
}

/* Looks as a start would: a first one, if there is no checkpoint. */
static sr_rc kafka_asked_open(struct kafka_asked *k, struct sr_ask *a, struct sr_error *err)
{
    const struct kafka_source_conf *conf = a->conf;
    const struct sr_source_open open = {.size = sizeof(open), .host = a->host, .conf = conf};
    k->group = props_find(&conf->properties, "group.id");
    k->look = &k->find.look;
    sr_rc rc = kafka_find_open(&k->find, &open, err);
    if (rc != SR_OK) {
        return rc;
    }
    k->look->knows = kafka_tell_knows;
    k->look->is_first = !a->has_checkpoint;
    kafka_look_run(k->look);
    rc = k->look->rc == SR_OK ? kafka_asked_fill(k) : k->look->rc;
    if (rc != SR_OK) {
        *err = k->look->err;
    }
    return rc;
}

/* --- validate --connect ----------------------------------------------------------------------- */

/* Members of the group that are no jobs of ours, whose offsets are committed without being one. */
static void kafka_tell_members(struct sr_ask *a, struct kafka_asked *k)
{
    const struct rd_kafka_group_list *list = NULL;
    rd_kafka_resp_err_t e =
        rd_kafka_list_groups(k->find.client.rk, k->group, &list, KAFKA_TELL_GROUP_MS);
    if (!e && list->group_cnt == 1 && list->groups[0].member_cnt > 0) {
        a->tell(a, SR_WARN,
                "properties.group.id: %s has %d living members: while they are there, offsets of "
                "this job cannot be committed to it (they are for people only; the job goes on "
                "from its checkpoints)",
                k->group, list->groups[0].member_cnt);
    }
    if (list) {
        rd_kafka_group_list_destroy(list);
    }
}

static sr_rc kafka_tell_source_connected(struct sr_ask *a, struct kafka_asked *k)
{
    const struct kafka_look *l = k->look;
    sr_rc rc = SR_OK;
    if (k->group && kafka_asked_committed(k) != SR_OK) {
        a->tell(a, SR_WARN, "offsets cannot be committed to properties.group.id: %s: %s", k->group,
                l->err.words);
    } else if (k->group) {
        kafka_tell_members(a, k);
    }
    for (uint32_t i = 0; rc == SR_OK && i < l->count;) {
        const char *topic = l->found[i].topic;
        int64_t partitions = 0, records = 0;
        for (; i < l->count && strcmp(l->found[i].topic, topic) == 0; i++) {
            partitions++;
            records += k->high[i] - k->low[i];
        }
        const struct sr_fact fact[] = {{.name = "topic", .text = topic},
                                       {.name = "partitions", .number = partitions},
                                       {.name = "offsets", .number = records}};
        rc = a->row(a, fact, sizeof(fact) / sizeof(fact[0]));
    }
    return rc;
}

/* --- kafka offsets ---------------------------------------------------------------------------- */

/* What a run would do with the partition that it finds there. */
static void kafka_tell_restart(const struct sr_ask *a, const struct kafka_asked *k, uint32_t i,
                               int64_t at, char out[120])
{
    static const char *const lost[] = {"the job fails", "it goes on at the earliest one",
                                       "it goes on at the latest one"};
    const struct kafka_source_conf *conf = a->conf;
    int64_t low = k->low[i], high = k->high[i];
    const char *fate = lost[conf->lost.index];
    if (at == SR_NO_NUMBER && a->has_checkpoint) {
        (void)snprintf(out, 120, "new: begins at %" PRId64, low);
    } else if (at == SR_NO_NUMBER) {
        (void)snprintf(out, 120, "begins at %" PRId64 " (scan.startup.mode)",
                       k->look->found[i].next);
    } else if (at < low) {
        (void)snprintf(out, 120, "%" PRId64 " offsets are gone: %s", low - at, fate);
    } else if (at > high) {
        (void)snprintf(out, 120, "%" PRId64 " beyond the end: %s", at - high, fate);
    } else {
        (void)snprintf(out, 120, "goes on at %" PRId64, at);
    }
}

static void kafka_tell_differs(struct sr_ask *a, const struct kafka_asked *k, uint32_t i,
                               int64_t at)
{
    const struct kafka_found *f = &k->look->found[i];
    if (at == SR_NO_NUMBER || k->committed[i] == SR_NO_NUMBER || k->committed[i] == at) {
        return;
    }
    int64_t ahead = k->committed[i] - at;
    a->tell(a, ahead > 0 ? SR_WARN : SR_INFO,
            "%s-%d: group %s is %" PRId64 " offsets %s the checkpoint%s", f->topic, f->partition,
            k->group, ahead > 0 ? ahead : -ahead, ahead > 0 ? "ahead of" : "behind",
            ahead > 0 ? ": somebody else commits to it, or the checkpoint is not the newest; the "
                        "job goes on from its checkpoint"
                      : "");
}

static sr_rc kafka_tell_position(struct sr_ask *a, const struct kafka_asked *k, uint32_t i,
                                 int64_t at)
{
    const struct kafka_found *f = &k->look->found[i];
    char restart[120];
    kafka_tell_restart(a, k, i, at, restart);
    kafka_tell_differs(a, k, i, at);
    int64_t from = at == SR_NO_NUMBER ? f->next : at;
    const struct sr_fact fact[] = {
        {.name = "topic", .text = f->topic},
        {.name = "partition", .number = f->partition},
        {.name = "checkpoint", .number = at},
        {.name = "committed", .number = k->committed[i]},
        {.name = "start", .number = k->low[i]},
        {.name = "end", .number = k->high[i]},
        {.name = "lag", .number = k->high[i] > from ? k->high[i] - from : 0},
        {.name = "restart", .text = restart}};
    return a->row(a, fact, sizeof(fact) / sizeof(fact[0]));
}

/* One that the checkpoint has, and the cluster has not. */
static sr_rc kafka_tell_gone(struct sr_ask *a, const struct kafka_note *n)
{
    const struct sr_fact fact[] = {{.name = "topic", .text = n->topic},
                                   {.name = "partition", .number = n->partition},
                                   {.name = "checkpoint", .number = n->next},
                                   {.name = "committed", .number = SR_NO_NUMBER},
                                   {.name = "start", .number = SR_NO_NUMBER},
                                   {.name = "end", .number = SR_NO_NUMBER},
                                   {.name = "lag", .number = SR_NO_NUMBER},
                                   {.name = "restart", .text = "it is gone: the job fails"}};
    return a->row(a, fact, sizeof(fact) / sizeof(fact[0]));
}

static sr_rc kafka_tell_notes(const struct sr_ask *a, struct kafka_note *note, struct sr_error *err)
{
    for (uint32_t i = 0; i < a->splits; i++) {
        sr_rc rc = kafka_note_get(a->split[i].note, &note[i]);
        if (rc != SR_OK) {
            return a->host->fail(a->host, err, rc, "kafka: the position of '%s' cannot be read",
                                 a->split[i].id);
        }
    }
    return SR_OK;
}

static bool kafka_tell_is_of(const struct kafka_note *n, const struct kafka_found *f)
{
    return n->topic && n->partition == f->partition && strcmp(n->topic, f->topic) == 0;
}

static sr_rc kafka_tell_compare(struct sr_ask *a, const struct kafka_asked *k,
                                const struct kafka_note *note, bool *is_found)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < k->look->count; i++) {
        const struct kafka_found *f = &k->look->found[i];
        int64_t at = SR_NO_NUMBER;
        for (uint32_t n = 0; n < a->splits; n++) {
            if (kafka_tell_is_of(&note[n], f)) {
                at = note[n].next;
                is_found[n] = true;
            }
        }
        rc = kafka_tell_position(a, k, i, at);
    }
    for (uint32_t n = 0; rc == SR_OK && n < a->splits; n++) {
        rc = is_found[n] ? SR_OK : kafka_tell_gone(a, &note[n]);
    }
    return rc;
}

/* Both have room for a->splits. */
static sr_rc kafka_tell_with(struct sr_ask *a, struct kafka_asked *k, struct kafka_note *note,
                             bool *is_found, struct sr_error *err)
{
    sr_rc rc = kafka_tell_notes(a, note, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!k->group) {
        a->tell(a, SR_INFO, "no properties.group.id is written: nothing is committed to a group");
    }
    if (kafka_asked_committed(k) != SR_OK) {
        a->tell(a, SR_WARN, "offsets of properties.group.id: %s cannot be asked for: %s", k->group,
                k->look->err.words);
    }
    return kafka_tell_compare(a, k, note, is_found);
}

static sr_rc kafka_tell_positions(struct sr_ask *a, struct kafka_asked *k, struct sr_error *err)
{
    struct kafka_note *note = calloc((size_t)a->splits + 1, sizeof(*note));
    bool *is_found = calloc((size_t)a->splits + 1, sizeof(*is_found));
    sr_rc rc = note && is_found ? kafka_tell_with(a, k, note, is_found, err)
                                : a->host->fail(a->host, err, SR_ENOMEM, "kafka: out of memory");
    for (uint32_t i = 0; note && i < a->splits; i++) {
        free(note[i].topic);
    }
    free(note);
    free(is_found);
    return rc;
}

sr_rc kafka_tell_source(struct sr_ask *a, struct sr_error *err)
{
    struct kafka_asked k = {.low = NULL};
    sr_rc rc = SR_ECONFIG;
    switch (a->question) {
    case SR_ASK_CONNECTED:
        rc = kafka_asked_open(&k, a, err);
        rc = rc == SR_OK ? kafka_tell_source_connected(a, &k) : rc;
        break;
    case SR_ASK_POSITIONS:
        rc = kafka_asked_open(&k, a, err);
        rc = rc == SR_OK ? kafka_tell_positions(a, &k, err) : rc;
        break;
    case SR_ASK_TRANSACTIONS:
    case SR_ASK_ABORT:
        return a->host->fail(a->host, err, rc, "a kafka source has no transactions");
    }
    kafka_asked_close(&k);
    return rc;
}
