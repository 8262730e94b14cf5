#include "connectors/common/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"

bool session_note_put(struct sr_out *to, const struct session_note *n)
{
    bool is_put = note_put_u64(to, n->offset);
    if (is_put && (n->session != 0 || n->is_finished)) {
        is_put = note_put_u64(to, n->session) && note_put_u8(to, n->is_finished ? 1 : 0);
    }
    if (is_put && n->within > 0) {
        is_put = note_put_u32(to, n->within);
    }
    return is_put;
}

bool session_note_get(struct sr_bytes note, struct session_note *out)
{
    struct note_in in = note_in(note);
    *out = (struct session_note){.offset = note_get_u64(&in)};
    if (!note_is_done(&in)) {
        out->session = note_get_u64(&in);
        out->is_finished = note_get_u8(&in) == 1;
    }
    if (!note_is_done(&in)) {
        out->within = note_get_u32(&in);
    }
    return note_is_done(&in) && out->offset <= INT64_MAX / 2;
}

bool session_note_fits(const struct session_note *n, bool has_journal)
{
    return (n->session != 0) == has_journal;
}

sr_rc session_note_misfits(const struct sr_host *host, const char *name, bool has_journal,
                           struct sr_error *err)
{
    return host->fail(host, err, SR_EMISFIT,
                      "%s was read %s a journal before the checkpoint, and is not now (write "
                      "`journal:` as it was, or begin anew with --fresh)",
                      name, has_journal ? "without" : "by way of");
}

static void sessions_learn(struct sessions *f, uint64_t session, bool is_finished)
{
    struct session_known *grown = list_room(f->known, f->knowns, &f->capacity, sizeof(*grown));
    if (!grown) {
        f->is_short = true;
        return;
    }
    f->known = grown;
    f->known[f->knowns++] = (struct session_known){session, is_finished};
}

void sessions_known(struct sessions *f, const struct session_note *n)
{
    if (n->session != 0) {
        sessions_learn(f, n->session, n->is_finished);
    }
}

static bool sessions_knows(const struct sessions *f, uint64_t session)
{
    for (uint32_t i = 0; i < f->knowns; i++) {
        if (f->known[i].session == session) {
            return true;
        }
    }
    return false;
}

static sr_rc sessions_name(struct sessions *f, struct sr_splits *out, const struct session_note *n,
                           struct sr_error *err)
{
    char id[64];
    (void)snprintf(id, sizeof(id), "%s-%016llx", f->name, (unsigned long long)n->session);
    sessions_learn(f, n->session, false);
    struct sr_out note = note_out();
    sr_rc rc = session_note_put(&note, n) ? SR_OK : SR_ENOMEM;
    if (rc == SR_OK) {
        struct sr_split split = {.id = id,
                                 .note = {note.data, (uint32_t)note.len},
                                 .order = (int64_t)(n->session & INT64_MAX)};
        rc = out->add(out, &split);
    }
    note_free(&note);
    return rc == SR_OK ? rc
                       : f->host->fail(f->host, err, rc, "%s cannot be taken as a split", f->name);
}

/* What the restored checkpoint has to its end is of no use: its acknowledgement may have been cut
 * short by a crash. */
static sr_rc sessions_clean(struct sessions *f, struct journal_list *l, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < f->knowns && rc == SR_OK; i++) {
        uint64_t session = f->known[i].session;
        if (f->known[i].is_finished && journal_list_first(l, session) < l->count) {
            rc = journal_remove(f->host, f->dir, l, session, err);
        }
    }
    return rc;
}

/* Sessions that no checkpoint has anything of, from where an earlier life of the job had come. */
static sr_rc sessions_old(struct sessions *f, struct sr_splits *out, const struct journal_list *l,
                          struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < l->count && rc == SR_OK; i++) {
        const struct journal_segment *s = &l->item[i];
        if (sessions_knows(f, s->session)) {
            continue;
        }
        uint64_t acked = journal_acked(f->host, f->dir, s->session);
        struct session_note n = {.offset = acked > s->begin ? acked : s->begin,
                                 .session = s->session};
        rc = sessions_name(f, out, &n, err);
    }
    return rc;
}

/* What is read now, unless a session that is named goes on with it. */
static sr_rc sessions_live(struct sessions *f, const uint8_t origin[JOURNAL_ORIGIN],
                           struct sr_splits *out, const struct journal_list *l,
                           struct sr_error *err)
{
    uint64_t newest = 0, last = l->count > 0 ? l->item[l->count - 1].session : 0;
    bool is_finished = false;
    for (uint32_t i = 0; i < f->knowns; i++) {
        if (f->known[i].session > newest) {
            newest = f->known[i].session;
            is_finished = f->known[i].is_finished;
        }
    }
    if (newest > last && !is_finished) {
        return SR_OK; /* named before a crash, and nothing of it was read yet */
    }
    struct journal_look look = {0};
    sr_rc rc = last ? journal_look(f->host, f->dir, l, last, &look, err) : SR_OK;
    bool goes_on = last && !look.has_end && memcmp(origin, look.origin, JOURNAL_ORIGIN) == 0;
    if (rc != SR_OK || goes_on) {
        return rc;
    }
    newest = newest > last ? newest : last;
    uint64_t now = (uint64_t)f->host->wall_us(f->host);
    struct session_note n = {.session = now > newest ? now : newest + 1};
    return sessions_name(f, out, &n, err);
}

sr_rc sessions_discover(struct sessions *f, const uint8_t origin[JOURNAL_ORIGIN],
                        struct sr_splits *out, struct sr_error *err)
{
    struct journal_list l;
    sr_rc rc = journal_list(f->host, f->dir, &l, err);
    if (rc == SR_OK) {
        rc = sessions_clean(f, &l, err);
    }
    if (rc == SR_OK) {
        rc = sessions_old(f, out, &l, err);
    }
    if (rc == SR_OK) {
        rc = sessions_live(f, origin, out, &l, err);
    }
    if (rc == SR_OK && f->is_short) {
        rc =
            f->host->fail(f->host, err, SR_ENOMEM, "out of memory for the sessions of %s", f->name);
    }
    journal_list_done(&l);
    return rc;
}

void sessions_done(struct sessions *f)
{
    free(f->known);
    f->known = NULL;
}
