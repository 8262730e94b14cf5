/* Standard input by way of a journal: bytes are shown once they are durable, and again after a
 * crash.
 *
 *            tape_go                        journal at its end
 *   closed ----------> REPLAY -------------------------------------> over (END or CUT)
 *                        |  the session is live
 *                        '----> LIVE: read what waits in the pipe, append, sync, show ----> END
 *
 * What was taken and not synced when the process ends is lost: at most a group of 2 MiB, whole
 * lines of it (stdin_take.h), and what the pipe itself holds, if nobody else reads it. It was shown
 * to nobody. The end of a stream is written down too; a stream without one was cut by a crash, and
 * what it has behind its last whole record is passed over.
 */
#ifndef CONNECTORS_STDIO_STDIN_TAPE_H
#define CONNECTORS_STDIO_STDIN_TAPE_H

#include "connectors/common/journal.h"
#include "connectors/stdio/stdin_finder.h"
#include "connectors/stdio/stdin_take.h"

enum tape_got {
    TAPE_BYTES,
    TAPE_IDLE, /* nothing now: see wait */
    TAPE_END,
    TAPE_CUT, /* no more will come, though the stream did not end */
    TAPE_FAILED
};

struct tape {
    const struct sr_host *host;
    struct journal journal;
    struct stdin_take take;
    bool is_open;
    bool is_checkpointed;
    bool is_live;    /* standard input goes on where the session stops */
    bool is_at_end;  /* of what the journal had */
    bool has_end;    /* of standard input */
    bool is_waiting; /* for a checkpoint to make room */
    uint8_t *group;  /* read, and being appended or handed out; owned */
    uint32_t group_size, group_at, group_len;
    bool is_saved; /* the group is in the journal */
};

sr_rc tape_open(struct tape *t, const struct sr_host *host, const struct stdin_conf *conf,
                bool is_checkpointed, struct sr_error *err);
sr_rc tape_go(struct tape *t, const struct stdin_note *n, struct sr_error *err);
/* More bytes of the session, at most `room`. */
enum tape_got tape_read(struct tape *t, uint8_t *to, uint32_t room, uint32_t *got,
                        struct sr_wait *wait, struct sr_error *err);
void tape_close(struct tape *t); /* half-open and never opened ones too */

#endif
