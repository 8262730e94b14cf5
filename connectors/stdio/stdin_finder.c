#include "connectors/stdio/stdin_finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connectors/common/journal.h"
#include "connectors/common/list.h"
#include "connectors/stdio/stdin_origin.h"

#define STDIN_ID "stdin"

bool stdin_note_put(struct sr_out *to, const struct stdin_note *n)
{
    bool is_put = note_put_u64(to, n->offset);
    if (is_put && (n->session != 0 || n->is_finished)) {
        is_put = note_put_u64(to, n->session) && note_put_u8(to, n->is_finished ? 1 : 0);
    }
    return is_put;
}

bool stdin_note_get(struct sr_bytes note, struct stdin_note *out)
{
    struct note_in in = note_in(note);
    *out = (struct stdin_note){.offset = note_get_u64(&in)};
    if (!note_is_done(&in)) {
        out->session = note_get_u64(&in);
        out->is_finished = note_get_u8(&in) == 1;
    }
    return note_is_done(&in) && out->offset <= INT64_MAX / 2;
}

sr_rc stdin_discover_open(void *finder, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    struct stdin_finder *f = finder;
    f->host = o->host;
    f->conf = o->conf;
    return SR_OK;
}

void stdin_discover_close(void *finder)
{
    struct stdin_finder *f = finder;
    free(f->known);
    f->known = NULL;
}

static void stdin_finder_learn(struct stdin_finder *f, uint64_t session, bool is_finished)
{
    struct stdin_known *grown = list_room(f->known, f->knowns, &f->capacity, sizeof(*grown));
    if (!grown) {
        f->is_short = true;
        return;
    }
    f->known = grown;
    f->known[f->knowns++] = (struct stdin_known){session, is_finished};
}

void stdin_known(void *finder, const struct sr_split *split)
{
    struct stdin_finder *f = finder;
    struct stdin_note n;
    bool is_told = stdin_note_get(split->note, &n);
    bool is_over = is_told && n.is_finished;
    f->is_known = f->is_known || !is_over; /* what cannot be read, add will tell */
    f->overs += is_over ? 1 : 0;
    if (is_told && n.session != 0) {
        stdin_finder_learn(f, n.session, n.is_finished);
    }
}

static const struct stdin_known *stdin_finder_find(const struct stdin_finder *f, uint64_t session)
{
    for (uint32_t i = 0; i < f->knowns; i++) {
        if (f->known[i].session == session) {
            return &f->known[i];
        }
    }
    return NULL;
}

static sr_rc stdin_finder_name(struct stdin_finder *f, struct sr_splits *out,
                               const struct stdin_note *n, struct sr_error *err)
{
    char id[48] = STDIN_ID;
    if (n->session == 0 && f->overs > 0) {
        (void)snprintf(id, sizeof(id), STDIN_ID "-%u", f->overs + 1);
    }
    if (n->session != 0) {
        (void)snprintf(id, sizeof(id), STDIN_ID "-%016llx", (unsigned long long)n->session);
        stdin_finder_learn(f, n->session, false);
    }
    struct sr_out note = note_out();
    sr_rc rc = stdin_note_put(&note, n) ? SR_OK : SR_ENOMEM;
    if (rc == SR_OK) {
        struct sr_split split = {.id = id,
                                 .note = {note.data, (uint32_t)note.len},
                                 .order = (int64_t)(n->session & INT64_MAX)};
        rc = out->add(out, &split);
    }
    note_free(&note);
    return rc == SR_OK ? rc : f->host->fail(f->host, err, rc, "stdin cannot be taken as a split");
}

/* --- With a journal -------------------------------------------------------------------------- */

/* What the restored checkpoint has to its end is of no use: its acknowledgement may have been cut
 * short by a crash. */
static sr_rc stdin_finder_clean(struct stdin_finder *f, struct journal_list *l,
                                struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < f->knowns && rc == SR_OK; i++) {
        uint64_t session = f->known[i].session;
        if (f->known[i].is_finished && journal_list_first(l, session) < l->count) {
            rc = journal_remove(f->host, f->conf->journal, l, session, err);
        }
    }
    return rc;
}

/* Sessions that no checkpoint has anything of, from where an earlier life of the job had come. */
static sr_rc stdin_finder_old(struct stdin_finder *f, struct sr_splits *out,
                              const struct journal_list *l, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; i < l->count && rc == SR_OK; i++) {
        const struct journal_segment *s = &l->item[i];
        if (stdin_finder_find(f, s->session)) {
            continue;
        }
        uint64_t acked = journal_acked(f->host, f->conf->journal, s->session);
        struct stdin_note n = {.offset = acked > s->begin ? acked : s->begin,
                               .session = s->session};
        rc = stdin_finder_name(f, out, &n, err);
    }
    return rc;
}

/* Standard input itself, unless a session that is named goes on with it. */
static sr_rc stdin_finder_live(struct stdin_finder *f, struct sr_splits *out,
                               const struct journal_list *l, struct sr_error *err)
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
    uint8_t mine[JOURNAL_ORIGIN];
    sr_rc rc = last ? journal_look(f->host, f->conf->journal, l, last, &look, err) : SR_OK;
    stdin_origin(f->host, mine);
    if (rc != SR_OK || (last && !look.has_end && memcmp(mine, look.origin, sizeof(mine)) == 0)) {
        return rc;
    }
    newest = newest > last ? newest : last;
    uint64_t now = (uint64_t)f->host->wall_us(f->host);
    struct stdin_note n = {.session = now > newest ? now : newest + 1};
    return stdin_finder_name(f, out, &n, err);
}

static sr_rc stdin_finder_sessions(struct stdin_finder *f, struct sr_splits *out,
                                   struct sr_error *err)
{
    struct journal_list l;
    sr_rc rc = journal_list(f->host, f->conf->journal, &l, err);
    if (rc == SR_OK) {
        rc = stdin_finder_clean(f, &l, err);
    }
    if (rc == SR_OK) {
        rc = stdin_finder_old(f, out, &l, err);
    }
    if (rc == SR_OK) {
        rc = stdin_finder_live(f, out, &l, err);
    }
    if (rc == SR_OK && f->is_short) {
        rc = f->host->fail(f->host, err, SR_ENOMEM, "out of memory for the sessions of stdin");
    }
    journal_list_done(&l);
    return rc;
}

/* Whether a file is the one that was read to its end, nobody knows: it is not read once more. */
static bool stdin_finder_is_file(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
}

enum sr_discovered stdin_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                  struct sr_error *err)
{
    (void)wait;
    struct stdin_finder *f = finder;
    static const struct stdin_note start = {0};
    sr_rc rc = SR_OK;
    if (f->conf->journal) {
        rc = stdin_finder_sessions(f, out, err);
    } else if (!f->is_known && (f->overs == 0 || !stdin_finder_is_file())) {
        rc = stdin_finder_name(f, out, &start, err);
        f->is_known = rc == SR_OK;
    }
    return rc == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}
