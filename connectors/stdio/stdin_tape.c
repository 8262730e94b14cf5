#include "connectors/stdio/stdin_tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connectors/stdio/stdin_origin.h"

#define TAPE_RETRY_US 100000 /* until a full disk, or a full journal, is tried again */
#define TAPE_LOOK_US  10000  /* until half a line in a pipe is looked at again */

sr_rc tape_open(struct tape *t, const struct sr_host *host, const struct stdin_conf *conf,
                bool is_checkpointed, struct sr_error *err)
{
    *t = (struct tape){.host = host, .is_checkpointed = is_checkpointed};
    t->is_open = true;
    stdin_take_open(&t->take);
    sr_rc rc = journal_open(&t->journal, host, conf->journal, conf->journal_max.bytes, err);
    if (rc != SR_OK) {
        return rc;
    }
    t->group_size = journal_group_bytes(&t->journal);
    t->group = malloc(t->group_size);
    return t->group ? SR_OK : host->fail(host, err, SR_ENOMEM, "stdin: out of memory");
}

void tape_close(struct tape *t)
{
    if (t->is_open) {
        stdin_take_close(&t->take);
    }
    journal_close(&t->journal);
    free(t->group);
    t->group = NULL;
}

sr_rc tape_go(struct tape *t, const struct stdin_note *n, struct sr_error *err)
{
    struct journal *j = &t->journal;
    uint8_t mine[JOURNAL_ORIGIN];
    struct journal_look look = {0};
    sr_rc rc = journal_look(t->host, j->dir, &j->list, n->session, &look, err);
    if (rc != SR_OK) {
        return rc;
    }
    stdin_origin(t->host, mine);
    bool is_new = journal_list_first(&j->list, n->session) == j->list.count && n->offset == 0;
    t->is_live = is_new || (!look.has_end && memcmp(mine, look.origin, sizeof(mine)) == 0);
    t->is_at_end = t->has_end = t->is_saved = false;
    t->group_at = t->group_len = 0;
    return journal_go(j, n->session, n->offset, t->is_live ? mine : NULL, err);
}

/* May a group be read now? With checkpoints the journal will be let go of; without, never. */
static enum tape_got tape_has_room(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    if (!journal_is_full(&t->journal)) {
        t->is_waiting = false;
        return TAPE_BYTES;
    }
    if (!t->is_checkpointed) {
        (void)t->host->fail(t->host, err, SR_ENOSPC,
                            "the journal %s is full (journal.max-size), and no checkpoint is taken "
                            "that would empty it: set execution.checkpointing.interval",
                            t->journal.dir);
        return TAPE_FAILED;
    }
    if (!t->is_waiting) {
        t->host->log(t->host, SR_INFO, "journal %s: full, stdin waits for a checkpoint",
                     t->journal.dir);
        t->host->count(t->host, "journal-waits", 1);
        t->is_waiting = true;
    }
    wait->until_us = t->host->mono_us(t->host) + TAPE_RETRY_US;
    return TAPE_IDLE;
}

/* Reads what waits, as much as is worth one sync. */
static enum tape_got tape_gather(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    enum tape_got room = tape_has_room(t, wait, err);
    if (room != TAPE_BYTES) {
        return room;
    }
    t->group_at = t->group_len = 0;
    t->is_saved = false;
    enum taken taken = TAKEN_BYTES;
    while (t->group_len < t->group_size && taken == TAKEN_BYTES) {
        size_t got = 0;
        taken =
            stdin_take_lines(&t->take, t->group + t->group_len, t->group_size - t->group_len, &got);
        t->group_len += (uint32_t)got;
    }
    t->has_end = taken == TAKEN_END;
    if (taken == TAKEN_FAILED) {
        (void)t->host->fail(t->host, err, SR_EIO, "stdin cannot be read: %s",
                            strerrordesc_np(errno));
        return TAPE_FAILED;
    }
    if (t->group_len > 0 || t->has_end) {
        return TAPE_BYTES;
    }
    if (taken == TAKEN_PARTLY) {
        wait->until_us = t->host->mono_us(t->host) + TAPE_LOOK_US;
    } else {
        wait->fd = STDIN_FILENO;
    }
    return TAPE_IDLE;
}

/* Makes the group durable, and the end behind it. A full disk is waited for: the group is kept. */
static enum tape_got tape_save(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    sr_rc rc = t->group_len > 0 && !t->is_saved
                   ? journal_append(&t->journal, t->group, t->group_len, err)
                   : SR_OK;
    t->is_saved = rc == SR_OK;
    if (rc == SR_OK && t->has_end && !t->journal.has_end) {
        rc = journal_end(&t->journal, err);
    }
    if (rc == SR_ENOSPC && !t->journal.is_broken) {
        if (!t->is_waiting) {
            t->host->log(t->host, SR_WARN, "stdin waits for space: %s", err->words);
            t->is_waiting = true;
        }
        wait->until_us = t->host->mono_us(t->host) + TAPE_RETRY_US;
        return TAPE_IDLE;
    }
    return rc == SR_OK ? TAPE_BYTES : TAPE_FAILED;
}

static enum tape_got tape_live(struct tape *t, struct sr_wait *wait, struct sr_error *err)
{
    enum tape_got got = TAPE_BYTES;
    bool is_pending = t->group_at < t->group_len && !t->is_saved;
    if (!is_pending && !t->has_end) {
        got = tape_gather(t, wait, err);
    }
    return got == TAPE_BYTES ? tape_save(t, wait, err) : got;
}

enum tape_got tape_read(struct tape *t, uint8_t *to, uint32_t room, uint32_t *got,
                        struct sr_wait *wait, struct sr_error *err)
{
    *got = 0;
    if (!t->is_at_end) {
        if (journal_read(&t->journal, to, room, got, err) != SR_OK) {
            return TAPE_FAILED;
        }
        if (*got > 0) {
            return TAPE_BYTES;
        }
        t->is_at_end = true;
    }
    if (!t->is_live) {
        return t->journal.has_end ? TAPE_END : TAPE_CUT;
    }
    if (t->group_at == t->group_len || !t->is_saved) {
        enum tape_got live = tape_live(t, wait, err);
        if (live != TAPE_BYTES) {
            return live;
        }
    }
    uint32_t rest = t->group_len - t->group_at;
    *got = rest < room ? rest : room;
    if (*got > 0) {
        memcpy(to, t->group + t->group_at, *got);
    }
    t->group_at += *got;
    return *got > 0 ? TAPE_BYTES : TAPE_END;
}
