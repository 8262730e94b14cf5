/* The sessions of a journal as the splits of a source: each stream that it holds is one.
 *
 * Every session is a split of its own, oldest first, because each may begin with a header and end
 * within a record. The newest one is "live" when it comes from where the source reads now and has
 * no end yet: it is written on behind what the journal has of it. If there is no such one, what the
 * source reads now is a session of its own.
 *
 *   sessions_known* -> sessions_discover -> sessions_done
 */
#ifndef CONNECTORS_COMMON_SESSIONS_H
#define CONNECTORS_COMMON_SESSIONS_H

#include "connectors/common/journal.h"
#include "connectors/common/note.h"

/* A position. */
struct session_note {
    uint64_t offset;  /* bytes of the stream that were consumed */
    uint64_t session; /* of the journal; 0: there is none */
    bool is_finished; /* the session is read to its end */
    uint32_t within;  /* of what begins at `offset`, where that is no stream of bytes */
};

bool session_note_put(struct sr_out *to, const struct session_note *n);
bool session_note_get(struct sr_bytes note, struct session_note *out); /* false: it is damaged */
/* Was it read by way of a journal as it is now? A split that was not read yet fits without one. */
bool session_note_fits(const struct session_note *n, bool has_journal);
sr_rc session_note_misfits(const struct sr_host *host, const char *name, bool has_journal,
                           struct sr_error *err); /* the fault: SR_EMISFIT */

struct session_known {
    uint64_t session;
    bool is_finished;
};

struct sessions {
    const struct sr_host *host;
    const char *dir;             /* of the journal; borrowed */
    const char *name;            /* of the source: "stdin"; borrowed */
    bool is_short;               /* memory ran out */
    struct session_known *known; /* owned */
    uint32_t knowns, capacity;
};

/* Of a restored split; a note that cannot be read is left to who adds it. */
void sessions_known(struct sessions *f, const struct session_note *n);
/* Names every session that is not known, and the live one: `origin` says where it comes from. */
sr_rc sessions_discover(struct sessions *f, const uint8_t origin[JOURNAL_ORIGIN],
                        struct sr_splits *out, struct sr_error *err);
void sessions_done(struct sessions *f);

#endif
