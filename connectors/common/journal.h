/* A journal: what a stream that cannot be gone back to has brought, kept until a checkpoint has it.
 *
 * A source appends what it read and only then shows it or acknowledges it to whoever sent it; after
 * a crash it reads from the journal again, from the offset of the checkpoint. So its path is as
 * safe as that of a file, from the moment on when journal_append has answered.
 *
 *   journal_open -> journal_go -> { journal_read }*      what is in it, from an offset on
 *                       |              | got 0, and the session is ours to write
 *                       |              v
 *                       |         { journal_append }* -> journal_end
 *                       '<---- the next session
 *   at any time: journal_ack, journal_drop, journal_is_full                  at last: journal_close
 *
 * A session is one stream, with offsets of its own; it lies in segments of about an eighth of
 * max_bytes, at most JOURNAL_SEGMENT_MAX, which go once a checkpoint has all of them. One frame is
 * written and synced at a time, so that at most one can be torn by a crash: at the very end, where
 * it is cut off (nobody was told of it). Anything else that is not as it was written is
 * SR_ECORRUPT; of the last frame too, unless it has a sector of zeros, as one that a crash tore.
 *
 * The directory is locked: one writer. A write that fails has changed nothing and may be tried
 * again (no space is left); after a sync that failed the journal can only be closed.
 */
#ifndef CONNECTORS_COMMON_JOURNAL_H
#define CONNECTORS_COMMON_JOURNAL_H

#include "connectors/common/journal_dir.h"

#define JOURNAL_SEGMENT_MAX (16u << 20) /* bytes of a segment, and one frame more */
#define JOURNAL_BYTES_MIN   (1u << 20)  /* of max_bytes */

struct journal {
    const struct sr_host *host;
    const char *dir; /* borrowed */
    uint64_t max_bytes;
    struct sr_file *lock;
    struct journal_list list;
    uint64_t session;
    bool has_end;    /* it was read or written to its end */
    bool is_broken;  /* it can only be closed */
    uint64_t offset; /* of what is read next */
    /* reading */
    struct sr_file *in;
    struct journal_segment from; /* that `in` is */
    uint64_t in_at;              /* of the next frame in it */
    uint8_t *frame;              /* the bytes of the frame that is being handed out */
    uint32_t frame_size, frame_at, frame_len;
    /* writing */
    struct sr_file *out;
    uint64_t out_at; /* in it */
    uint64_t end;    /* offset in the session */
};

/* Makes the directory, takes its lock (SR_EBUSY). `dir` must outlive the journal. */
sr_rc journal_open(struct journal *j, const struct sr_host *host, const char *dir,
                   uint64_t max_bytes, struct sr_error *err);
void journal_close(struct journal *j); /* half-open ones too */

/* Goes to `offset` of a session. With an origin the session is written behind what is there, and
 * made when it is not; a torn end is cut. SR_EMISFIT: the offset is not in it any more. */
sr_rc journal_go(struct journal *j, uint64_t session, uint64_t offset,
                 const uint8_t origin[JOURNAL_ORIGIN], struct sr_error *err);

/* At most `room` of the bytes at j->offset, which moves behind them. 0: there are no more. */
sr_rc journal_read(struct journal *j, uint8_t *to, uint32_t room, uint32_t *got,
                   struct sr_error *err);

/* Once all was read: makes bytes durable, up to JOURNAL_FRAME_MAX; j->offset moves behind them. */
sr_rc journal_append(struct journal *j, const uint8_t *bytes, uint32_t len, struct sr_error *err);
/* The stream is at its end: nothing is appended any more. */
sr_rc journal_end(struct journal *j, struct sr_error *err);
/* No more should be appended before something was acknowledged. */
bool journal_is_full(const struct journal *j);
/* Bytes that are worth one append: as many as wait, and no more than this. */
uint32_t journal_group_bytes(const struct journal *j);
uint64_t journal_bytes(const struct journal *j); /* on disk */

/* A checkpoint has what lies before `offset`, or the whole session. Failures are logged: then more
 * is kept than must be. */
void journal_ack(struct journal *j, uint64_t session, uint64_t offset);
void journal_drop(struct journal *j, uint64_t session, uint64_t end);

#endif
