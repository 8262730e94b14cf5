/* The splits of standard input: itself; or, with a journal, each stream that the journal holds.
 *
 * A job that goes on with another pipe, after one that was read to its end, has another split.
 *
 * With a journal every stream is a split of its own, oldest first, because each may begin with a
 * header and end without a newline. The newest one is "live" when it comes from where standard
 * input comes from and has no end yet: it is read on behind what the journal has of it. If there is
 * no such one, standard input is a stream of its own.
 */
#ifndef CONNECTORS_STDIO_STDIN_FINDER_H
#define CONNECTORS_STDIO_STDIN_FINDER_H

#include "connectors/common/note.h"
#include "connectors/stdio/stdio.h"

/* A position. */
struct stdin_note {
    uint64_t offset;  /* bytes that were consumed */
    uint64_t session; /* of the journal; 0: there is none */
    bool is_finished; /* the session is read to its end */
};

bool stdin_note_put(struct sr_out *to, const struct stdin_note *n);
bool stdin_note_get(struct sr_bytes note, struct stdin_note *out); /* false: it cannot be read */

struct stdin_known {
    uint64_t session;
    bool is_finished;
};

struct stdin_finder {
    const struct sr_host *host;
    const struct stdin_conf *conf;
    bool is_known;             /* it was named, now or before the restore, and is not over */
    uint32_t overs;            /* streams that were read to their end before the restore */
    bool is_short;             /* memory ran out */
    struct stdin_known *known; /* owned */
    uint32_t knowns, capacity;
};

sr_rc stdin_discover_open(void *finder, const struct sr_source_open *o, struct sr_error *err);
void stdin_known(void *finder, const struct sr_split *split);
enum sr_discovered stdin_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                  struct sr_error *err);
void stdin_discover_close(void *finder);

#endif
