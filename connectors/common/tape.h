/* A stream that cannot be gone back to, by way of a journal: bytes are shown once they are durable,
 * and again after a crash.
 *
 *            tape_go                        journal at its end
 *   closed ----------> REPLAY -------------------------------------> over (END or CUT)
 *                        |  the session is live
 *                        '----> LIVE: take what waits, append, sync, show ----> END
 *
 * While one group of bytes is shown, the next one is being synced by a thread. What was taken and
 * not synced when the process ends is lost: at most a group of 2 MiB. It was shown to nobody. The
 * end of a stream is written down too; a stream without one was cut by a crash, and what it has
 * behind its last whole record is to be passed over.
 *
 * A source that is bounded has one session after the other; one that is not gets all of them at
 * once, and keeps them here, in order, until their turn comes.
 */
#ifndef CONNECTORS_COMMON_TAPE_H
#define CONNECTORS_COMMON_TAPE_H

#include "connectors/common/scribe.h"
#include "connectors/common/sessions.h"

/* The options of a source that may have a journal, and what it keeps then. `lost`: what is lost
 * with the process beside what was taken and not synced. */
#define JOURNAL_OPTS(type, dir_field, max_field, lost)                                             \
    SR_OPT(type, "journal", dir_field, .flags = SR_OPT_OURS | SR_OPT_PATH,                         \
           .doc = "A directory where everything is written and synced before it is processed, "    \
                  "and read again after a crash: exactly-once from there on. What was read and "   \
                  "not synced yet when the process ends is lost, and " lost "."),                  \
        SR_OPT(type, "journal.max-size", max_field, .def = "1 gb", .min = JOURNAL_BYTES_MIN,       \
               .max = INT64_C(1) << 50, .flags = SR_OPT_OURS,                                      \
               .doc =                                                                              \
                   "Bytes of the journal; a checkpoint empties it. When it is full, nothing more " \
                   "is taken until then.")
#define JOURNAL_KEEPS                                                                             \
    "nothing: its paths have no guarantee; with a `journal`, the record from the moment on when " \
    "it is synced there"

enum taken {
    TAKEN_BYTES,
    TAKEN_NONE,   /* nothing is there: see wait */
    TAKEN_PARTLY, /* only a piece of a record is there: look again later, poll(2) cannot tell */
    TAKEN_END,
    TAKEN_FAILED
};

struct tape_conf {
    const struct sr_host *host;
    const char *name; /* of the source, for words; outlives the tape, as `dir` does */
    const char *dir;
    uint64_t max_bytes;
    bool is_checkpointed;
    uint8_t origin[JOURNAL_ORIGIN]; /* of what is taken now */
    /* Takes up to `room` bytes without waiting, from where the live session comes. NULL: whoever
     * has the tape feeds its scribe (tape_live). */
    enum taken (*take)(void *ctx, uint8_t *to, size_t room, size_t *got, struct sr_wait *wait,
                       struct sr_error *err);
    void *ctx;
};

enum tape_got {
    TAPE_BYTES,
    TAPE_IDLE, /* nothing now: see wait */
    TAPE_END,
    TAPE_CUT, /* no more will come, though the stream did not end */
    TAPE_FAILED
};

struct tape_group {
    uint8_t *bytes; /* owned */
    uint32_t at, len;
};

/* A split that waits for its turn. */
struct tape_split {
    uint32_t number;
    struct session_note note;
};

struct tape {
    struct tape_conf conf;
    struct journal journal;
    struct scribe *scribe; /* of the live session; NULL: the journal is ours */
    bool is_live;          /* the world goes on where the session stops */
    bool is_at_end;        /* of what the journal had */
    bool has_end;          /* of what is taken */
    bool is_waiting;       /* for a checkpoint to make room, or for space; said once */
    int64_t retry_us;      /* when space is looked for again */
    uint32_t group_size;
    struct tape_group shown;    /* synced, being handed out */
    struct tape_group next;     /* taken */
    bool is_flying;             /* next is the scribe's */
    struct tape_split *waiting; /* owned; in order */
    uint32_t waitings, capacity;
};

sr_rc tape_open(struct tape *t, const struct tape_conf *conf, struct sr_error *err);
sr_rc tape_go(struct tape *t, const struct session_note *n, struct sr_error *err);
/* More bytes of the session, at most `room`. */
enum tape_got tape_read(struct tape *t, uint8_t *to, uint32_t room, uint32_t *got,
                        struct sr_wait *wait, struct sr_error *err);
/* The same of what the journal has had; *got 0: no more. */
sr_rc tape_replay(struct tape *t, uint8_t *to, uint32_t room, uint32_t *got, struct sr_error *err);
/* Once all was replayed, and the session is live: the journal is the scribe's from now on. */
sr_rc tape_live(struct tape *t, void (*told)(void *ctx), void *ctx, struct sr_error *err);
void tape_acknowledge(struct tape *t, const struct session_note *n);
void tape_close(struct tape *t); /* half-open and never opened ones too */

/* The queue. */
sr_rc tape_add(struct tape *t, uint32_t number, const struct session_note *n, struct sr_error *err);
/* The note of one that waits; NULL: it does not. */
const struct session_note *tape_waits(const struct tape *t, uint32_t number);
/* Goes to the first one. *is_there: there was one. */
sr_rc tape_turn(struct tape *t, struct tape_split *out, bool *is_there, struct sr_error *err);

#endif
