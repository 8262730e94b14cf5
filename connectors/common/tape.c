#include "connectors/common/tape.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"

#define TAPE_RETRY_US 100000 /* until a full disk, or a full journal, is tried again */
#define TAPE_LOOK_US  10000  /* until half a line in a pipe is looked at again */

sr_rc tape_open(struct tape *t, const struct tape_conf *conf, struct sr_error *err)
{
    const struct sr_host *h = conf->host;
    *t = (struct tape){.conf = *conf};
    sr_rc rc = journal_open(&t->journal, h, conf->dir, conf->max_bytes, err);
    if (rc != SR_OK || !conf->take) {
        return rc;
    }
    t->group_size = journal_group_bytes(&t->journal);
    t->shown.bytes = malloc(t->group_size);
    t->next.bytes = malloc(t->group_size);
    bool is_there = t->shown.bytes && t->next.bytes;
    return is_there ? SR_OK : h->fail(h, err, SR_ENOMEM, "%s: out of memory", conf->name);
}

void tape_close(struct tape *t)
{
    scribe_close(t->scribe);
    journal_close(&t->journal);
    free(t->shown.bytes);
    free(t->next.bytes);
    free(t->waiting);
    *t = (struct tape){0};
}

/* Nothing of it was written yet, and it is the newest. */
static bool tape_is_new(const struct tape *t, const struct session_note *n)
{
    const struct journal_list *l = &t->journal.list;
    bool is_newest = l->count == 0 || l->item[l->count - 1].session < n->session;
    return is_newest && n->offset == 0;
}

sr_rc tape_go(struct tape *t, const struct session_note *n, struct sr_error *err)
{
    struct journal *j = &t->journal;
    struct journal_look look = {0};
    scribe_close(t->scribe);
    t->scribe = NULL;
    sr_rc rc = journal_look(t->conf.host, j->dir, &j->list, n->session, &look, err);
    if (rc != SR_OK) {
        return rc;
    }
    bool is_same = memcmp(t->conf.origin, look.origin, JOURNAL_ORIGIN) == 0;
    t->is_live = tape_is_new(t, n) || (!look.has_end && is_same);
    t->is_at_end = t->has_end = t->is_flying = false;
    t->shown.at = t->shown.len = t->next.at = t->next.len = 0;
    return journal_go(j, n->session, n->offset, t->is_live ? t->conf.origin : NULL, err);
}

void tape_acknowledge(struct tape *t, const struct session_note *n)
{
    if (t->scribe) {
        (n->is_finished ? scribe_drop : scribe_ack)(t->scribe, n->session, n->offset);
    } else {
        (n->is_finished ? journal_drop : journal_ack)(&t->journal, n->session, n->offset);
    }
}

sr_rc tape_live(struct tape *t, void (*told)(void *ctx), void *ctx, struct sr_error *err)
{
    const struct scribe_conf conf = {
        .host = t->conf.host, .journal = &t->journal, .told = told, .ctx = ctx};
    return scribe_open(&t->scribe, &conf, err);
}

/* --- Taking ---------------------------------------------------------------------------------- */

/* May a group be taken now? With checkpoints the journal will be let go of; without, never. */
static enum tape_got tape_has_room(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    const struct sr_host *h = t->conf.host;
    if (!scribe_is_full(t->scribe)) {
        t->is_waiting = false;
        return TAPE_BYTES;
    }
    if (!t->conf.is_checkpointed) {
        (void)h->fail(h, err, SR_ENOSPC,
                      "the journal %s is full (journal.max-size), and no checkpoint is taken that "
                      "would empty it: set execution.checkpointing.interval",
                      t->conf.dir);
        return TAPE_FAILED;
    }
    if (!t->is_waiting) {
        h->log(h, SR_INFO, "journal %s: full, %s waits for a checkpoint", t->conf.dir,
               t->conf.name);
        h->count(h, "journal-waits", 1);
        t->is_waiting = true;
    }
    wait->fd = scribe_fd(t->scribe);
    wait->until_us = h->mono_us(h) + TAPE_RETRY_US;
    return TAPE_IDLE;
}

/* Takes what waits, as much as is worth one sync, and hands it to the scribe. */
static enum tape_got tape_take(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    enum tape_got room = tape_has_room(t, wait, err);
    if (room != TAPE_BYTES) {
        return room;
    }
    struct tape_group *g = &t->next;
    enum taken taken = TAKEN_BYTES;
    g->at = g->len = 0;
    while (g->len < t->group_size && taken == TAKEN_BYTES) {
        size_t got = 0;
        taken =
            t->conf.take(t->conf.ctx, g->bytes + g->len, t->group_size - g->len, &got, wait, err);
        g->len += (uint32_t)got;
    }
    if (taken == TAKEN_FAILED) {
        return TAPE_FAILED;
    }
    t->has_end = taken == TAKEN_END;
    if (g->len > 0 || t->has_end) {
        t->is_flying = true;
        scribe_begin(t->scribe, g->bytes, g->len, t->has_end);
        return TAPE_BYTES;
    }
    if (taken == TAKEN_PARTLY) {
        wait->fd = -1;
        wait->until_us = t->conf.host->mono_us(t->conf.host) + TAPE_LOOK_US;
    }
    return TAPE_IDLE;
}

/* No space: the group is kept and tried again. */
static void tape_short(struct tape *t, const struct sr_error *why, struct sr_wait *wait)
{
    const struct sr_host *h = t->conf.host;
    int64_t now_us = h->mono_us(h);
    if (!t->is_waiting) {
        h->log(h, SR_WARN, "%s waits for space: %s", t->conf.name, why->words);
        t->is_waiting = true;
        t->retry_us = now_us + TAPE_RETRY_US;
    }
    if (now_us >= t->retry_us) {
        t->retry_us = now_us + TAPE_RETRY_US;
        scribe_again(t->scribe);
        wait->fd = scribe_fd(t->scribe);
        return;
    }
    wait->until_us = t->retry_us;
}

/* The group that the scribe has. TAPE_BYTES: it is safe, or there is none. */
static enum tape_got tape_land(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    if (!t->is_flying) {
        return TAPE_BYTES;
    }
    if (scribe_state(t->scribe) != SCRIBE_DONE) {
        wait->fd = scribe_fd(t->scribe);
        return TAPE_IDLE;
    }
    sr_rc rc = scribe_result(t->scribe, err);
    if (rc == SR_ENOSPC) {
        tape_short(t, err, wait);
        return TAPE_IDLE;
    }
    if (rc != SR_OK) {
        return TAPE_FAILED;
    }
    scribe_end(t->scribe);
    t->is_flying = t->is_waiting = false;
    return TAPE_BYTES;
}

/* Moves on what is not shown yet. */
static enum tape_got tape_ahead(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    scribe_hear(t->scribe);
    enum tape_got landed = tape_land(t, wait, err);
    if (landed != TAPE_BYTES) {
        return landed;
    }
    if (t->shown.at == t->shown.len && t->next.len > 0) {
        const struct tape_group shown = t->next;
        t->next = t->shown;
        t->shown = shown;
        t->next.at = t->next.len = 0;
    }
    if (t->next.len > 0) {
        return TAPE_BYTES; /* it is safe, and waits until all is shown that was before it */
    }
    if (t->has_end) {
        return TAPE_END;
    }
    enum tape_got took = tape_take(t, wait, err);
    if (took == TAPE_BYTES) {
        wait->fd = scribe_fd(t->scribe);
        return TAPE_IDLE;
    }
    return took;
}

/* --- Showing --------------------------------------------------------------------------------- */

sr_rc tape_replay(struct tape *t, uint8_t *to, uint32_t room, uint32_t *got, struct sr_error *err)
{
    *got = 0;
    if (t->is_at_end) {
        return SR_OK;
    }
    sr_rc rc = journal_read(&t->journal, to, room, got, err);
    t->is_at_end = rc == SR_OK && *got == 0;
    return rc;
}

enum tape_got tape_read(struct tape *t, uint8_t *to, uint32_t room, uint32_t *got,
                        struct sr_wait *wait, struct sr_error *err)
{
    if (tape_replay(t, to, room, got, err) != SR_OK) {
        return TAPE_FAILED;
    }
    if (*got > 0) {
        return TAPE_BYTES;
    }
    if (!t->is_live) {
        return t->journal.has_end ? TAPE_END : TAPE_CUT;
    }
    if (!t->scribe && tape_live(t, NULL, NULL, err) != SR_OK) {
        return TAPE_FAILED;
    }
    enum tape_got ahead = tape_ahead(t, wait, err);
    uint32_t rest = t->shown.len - t->shown.at;
    if (ahead == TAPE_FAILED || rest == 0) {
        return ahead;
    }
    *got = rest < room ? rest : room;
    memcpy(to, t->shown.bytes + t->shown.at, *got);
    t->shown.at += *got;
    return TAPE_BYTES;
}

/* --- The queue ------------------------------------------------------------------------------- */

sr_rc tape_add(struct tape *t, uint32_t number, const struct session_note *n, struct sr_error *err)
{
    struct tape_split *grown = list_room(t->waiting, t->waitings, &t->capacity, sizeof(*grown));
    if (!grown) {
        return t->conf.host->fail(t->conf.host, err, SR_ENOMEM, "%s: out of memory", t->conf.name);
    }
    t->waiting = grown;
    t->waiting[t->waitings++] = (struct tape_split){number, *n};
    return SR_OK;
}

const struct session_note *tape_waits(const struct tape *t, uint32_t number)
{
    for (uint32_t i = 0; i < t->waitings; i++) {
        if (t->waiting[i].number == number) {
            return &t->waiting[i].note;
        }
    }
    return NULL;
}

sr_rc tape_turn(struct tape *t, struct tape_split *out, bool *is_there, struct sr_error *err)
{
    uint32_t first = 0;
    *is_there = t->waitings > 0;
    if (!*is_there) {
        return SR_OK;
    }
    for (uint32_t i = 1; i < t->waitings; i++) {
        first = t->waiting[i].note.session < t->waiting[first].note.session ? i : first;
    }
    *out = t->waiting[first];
    t->waitings--;
    memmove(t->waiting + first, t->waiting + first + 1,
            (t->waitings - first) * sizeof(*t->waiting));
    return tape_go(t, &out->note, err);
}
