#include "connectors/kafka/kafka_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/common/note.h"

#define KAFKA_FIND_TICK_US INT64_C(5000) /* how soon a running look is asked again */

static bool kafka_find_wants(void *ctx, const char *topic)
{
    const struct kafka_find *f = ctx;
    return pattern_matches(f->pattern, topic, strlen(topic));
}

/* --- What is known --------------------------------------------------------------------------- */

static bool kafka_find_knows(void *ctx, const char *topic, int32_t partition)
{
    const struct kafka_find *f = ctx;
    for (uint32_t i = 0; i < f->knowns; i++) {
        if (f->known[i].partition == partition && strcmp(f->known[i].topic, topic) == 0) {
            return true;
        }
    }
    return false;
}

static sr_rc kafka_find_know(struct kafka_find *f, const char *topic, int32_t partition)
{
    struct kafka_find_known *list = list_room(f->known, f->knowns, &f->known_room, sizeof(*list));
    char *name = list ? strdup(topic) : NULL;
    f->known = list ? list : f->known;
    if (!name) {
        return SR_ENOMEM;
    }
    f->known[f->knowns++] = (struct kafka_find_known){name, partition};
    return SR_OK;
}

void kafka_find_restored(void *find, uint32_t number, const struct sr_split *split,
                         bool is_finished)
{
    struct kafka_find *f = find;
    struct kafka_note note;
    sr_rc rc = kafka_note_get(split->note, &note);
    struct kafka_find_old *list =
        rc == SR_OK ? list_room(f->old, f->olds, &f->old_room, sizeof(*list)) : NULL;
    if (list) {
        f->old = list;
        f->old[f->olds++] = (struct kafka_find_old){note, number, is_finished};
        rc = kafka_find_know(f, note.topic, note.partition);
        f->has_found = true;
    } else if (rc == SR_OK) {
        free(note.topic);
        rc = SR_ENOMEM;
    }
    f->old_rc = f->old_rc == SR_OK ? rc : f->old_rc; /* discover tells */
}

/* --- Opening --------------------------------------------------------------------------------- */

sr_rc kafka_find_open(void *find, const struct sr_source_open *o, struct sr_error *err)
{
    struct kafka_find *f = find;
    rd_kafka_conf_t *conf = NULL;
    f->host = o->host;
    f->conf = o->conf;
    f->goes_on = o->goes_on;
    f->next_us = INT64_MIN;
    f->look = (struct kafka_look){.host = f->host,
                                  .conf = f->conf,
                                  .client = &f->client,
                                  .knows = kafka_find_knows,
                                  .wants = kafka_find_wants,
                                  .ctx = f};
    if (f->conf->pattern) {
        f->pattern = pattern_new(f->conf->pattern);
        if (!f->pattern) {
            return f->host->fail(f->host, err, SR_ENOMEM, "kafka: out of memory");
        }
    }
    client_tell_idle(f->host, &f->conf->properties);
    sr_rc rc = client_conf(&f->conf->properties, &conf, err);
    if (rc == SR_OK) {
        client_set(conf, "enable.auto.commit", "false");
        client_set(conf, "allow.auto.create.topics", "false");
        client_default(conf, &f->conf->properties, "isolation.level", "read_committed");
        rc = client_open(&f->client, f->host, RD_KAFKA_CONSUMER, conf, err);
    }
    return rc;
}

void kafka_find_close(void *find)
{
    struct kafka_find *f = find;
    kafka_look_end(&f->look);
    kafka_look_free(&f->look);
    client_close(&f->client);
    pattern_free(f->pattern);
    for (uint32_t i = 0; i < f->knowns; i++) {
        free(f->known[i].topic);
    }
    for (uint32_t i = 0; i < f->olds; i++) {
        free(f->old[i].note.topic);
    }
    free(f->known);
    free(f->old);
    *f = (struct kafka_find){.host = NULL};
}

/* --- Discovery ------------------------------------------------------------------------------- */

static sr_rc kafka_find_put(struct kafka_find *f, struct sr_splits *out,
                            const struct kafka_found *k)
{
    char name[KAFKA_TOPIC_MAX + 16];
    struct kafka_note note = {
        .topic = k->topic, .partition = k->partition, .next = k->next, .stop = k->stop, .last = -1};
    struct sr_out bytes = note_out();
    kafka_split_name(name, k->topic, k->partition);
    sr_rc rc = kafka_note_put(&bytes, &note) ? SR_OK : SR_ENOMEM;
    if (rc == SR_OK) {
        struct sr_split split = {
            .id = name, .note = {bytes.data, (uint32_t)bytes.len}, .order = k->partition};
        rc = out->add(out, &split);
    }
    note_free(&bytes);
    return rc == SR_OK ? kafka_find_know(f, k->topic, k->partition) : rc;
}

/* A bounded read that goes on in a later run has a new end. */
static sr_rc kafka_find_move(struct kafka_find *f, struct sr_splits *out,
                             const struct kafka_found *k)
{
    struct kafka_find_old *old = NULL;
    for (uint32_t i = 0; i < f->olds && !old; i++) {
        const struct kafka_note *n = &f->old[i].note;
        old = n->partition == k->partition && strcmp(n->topic, k->topic) == 0 ? &f->old[i] : NULL;
    }
    if (!old) {
        return SR_OK;
    }
    char name[KAFKA_TOPIC_MAX + 16];
    struct sr_out bytes = note_out();
    old->note.stop = k->stop;
    kafka_split_name(name, k->topic, k->partition);
    sr_rc rc = kafka_note_put(&bytes, &old->note) ? SR_OK : SR_ENOMEM;
    if (rc == SR_OK) {
        struct sr_split split = {
            .id = name, .note = {bytes.data, (uint32_t)bytes.len}, .order = k->partition};
        bool is_at_end = old->is_finished && old->note.next >= k->stop;
        rc = out->change(out, old->number, &split, is_at_end);
    }
    note_free(&bytes);
    return rc;
}

/* What the look found, to the engine. */
static sr_rc kafka_find_give(struct kafka_find *f, struct sr_splits *out, struct sr_error *err)
{
    struct kafka_look *l = &f->look;
    if (l->rc != SR_OK && f->has_found && l->rc == SR_EIO) {
        f->host->log(f->host, SR_WARN, "new partitions could not be looked for: %s", l->err.words);
        return SR_OK;
    }
    if (l->rc != SR_OK) {
        *err = l->err;
        return l->rc;
    }
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < l->count; i++) {
        rc = l->found[i].is_known ? kafka_find_move(f, out, &l->found[i])
                                  : kafka_find_put(f, out, &l->found[i]);
    }
    if (rc != SR_OK) {
        return f->host->fail(f->host, err, rc, "kafka: out of memory");
    }
    if (l->count > 0 && f->has_found && !l->wants_known) {
        f->host->log(f->host, SR_INFO, "%u new partitions, the first one %s-%d", l->count,
                     l->found[0].topic, l->found[0].partition);
    }
    if (l->count == 0 && !f->has_found) {
        f->host->log(f->host, SR_WARN, "no topic matches %s",
                     f->conf->pattern ? f->conf->pattern : "");
    }
    f->has_found = true;
    return SR_OK;
}

/* Splits of a bounded read that goes on are changed within the first call: it waits. */
static enum sr_discovered kafka_find_go_on(struct kafka_find *f, struct sr_splits *out,
                                           struct sr_error *err)
{
    f->look.is_first = false;
    f->look.wants_known = true;
    kafka_look_run(&f->look);
    return kafka_find_give(f, out, err) == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}

static void kafka_find_wait(const struct kafka_find *f, struct sr_wait *wait)
{
    *wait = (struct sr_wait){.fd = -1, .until_us = f->next_us};
    if (f->look.is_running) {
        wait->until_us = f->host->mono_us(f->host) + KAFKA_FIND_TICK_US;
    }
}

enum sr_discovered kafka_find_discover(void *find, struct sr_splits *out, struct sr_wait *wait,
                                       struct sr_error *err)
{
    struct kafka_find *f = find;
    bool is_bounded = f->conf->bounded.index != KAFKA_UNBOUNDED;
    bool is_once = is_bounded || f->conf->discovery.us <= 0;
    if (f->old_rc != SR_OK) {
        (void)f->host->fail(f->host, err, f->old_rc, "kafka: a position cannot be read");
        return SR_DISCOVER_FAILED;
    }
    if (is_bounded && f->olds > 0) {
        return f->goes_on ? kafka_find_go_on(f, out, err) : SR_DISCOVERED_ALL;
    }
    int64_t now_us = f->host->mono_us(f->host);
    if (!f->look.is_running && now_us >= f->next_us) {
        f->look.is_first = !f->has_found;
        if (kafka_look_begin(&f->look, err) != SR_OK) {
            return SR_DISCOVER_FAILED;
        }
    }
    if (f->look.is_running && kafka_look_is_done(&f->look)) {
        kafka_look_end(&f->look);
        f->next_us = now_us + (f->conf->discovery.us > 0 ? f->conf->discovery.us : 0);
        if (kafka_find_give(f, out, err) != SR_OK) {
            return SR_DISCOVER_FAILED;
        }
        if (is_once && f->look.rc == SR_OK) {
            return SR_DISCOVERED_ALL;
        }
    }
    kafka_find_wait(f, wait);
    return SR_DISCOVERED_SOFAR;
}
