#include "connectors/stdio/stdin_finder.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connectors/stdio/stdin_origin.h"

sr_rc stdin_discover_open(void *finder, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    struct stdin_finder *f = finder;
    f->host = o->host;
    f->conf = o->conf;
    f->sessions = (struct sessions){.host = o->host, .dir = f->conf->journal, .name = STDIN_NAME};
    return SR_OK;
}

void stdin_discover_close(void *finder)
{
    struct stdin_finder *f = finder;
    sessions_done(&f->sessions);
}

void stdin_known(void *finder, const struct sr_split *split)
{
    struct stdin_finder *f = finder;
    struct session_note n;
    bool is_told = session_note_get(split->note, &n);
    bool is_over = is_told && n.is_finished;
    f->is_known = f->is_known || !is_over; /* what cannot be read, add will tell */
    f->overs += is_over ? 1 : 0;
    if (is_told) {
        sessions_known(&f->sessions, &n);
    }
}

/* Whether a file is the one that was read to its end, nobody knows: it is not read once more. */
static bool stdin_finder_is_file(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
}

/* Without a journal. */
static sr_rc stdin_finder_name(struct stdin_finder *f, struct sr_splits *out, struct sr_error *err)
{
    if (f->is_known || (f->overs > 0 && stdin_finder_is_file())) {
        return SR_OK;
    }
    static const struct session_note start = {0};
    char id[32] = STDIN_NAME;
    if (f->overs > 0) {
        (void)snprintf(id, sizeof(id), STDIN_NAME "-%u", f->overs + 1);
    }
    struct sr_out note = note_out();
    sr_rc rc = session_note_put(&note, &start) ? SR_OK : SR_ENOMEM;
    if (rc == SR_OK) {
        struct sr_split split = {.id = id, .note = {note.data, (uint32_t)note.len}};
        rc = out->add(out, &split);
    }
    note_free(&note);
    f->is_known = rc == SR_OK;
    return rc == SR_OK ? rc : f->host->fail(f->host, err, rc, "stdin cannot be taken as a split");
}

enum sr_discovered stdin_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                  struct sr_error *err)
{
    (void)wait;
    struct stdin_finder *f = finder;
    uint8_t mine[JOURNAL_ORIGIN];
    sr_rc rc = SR_OK;
    if (f->conf->journal) {
        stdin_origin(f->host, mine);
        rc = sessions_discover(&f->sessions, mine, out, err);
    } else {
        rc = stdin_finder_name(f, out, err);
    }
    return rc == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}
