/* One frame of a journal: a head of JOURNAL_HEAD bytes, then its bytes, all of it under a digest.
 *
 *   magic u32 | kind u32 | len u32 | check u32 | session u64 | offset u64 | digest 2 x u64 | bytes
 *
 * Numbers are little-endian. The digest is of the head before it and of the digest of the bytes, so
 * a frame can stand nowhere but in its session and at its offset. The check is of the other numbers
 * of the head: a length that passes it is the one that was written. (0: an older version wrote it.)
 */
#ifndef CONNECTORS_COMMON_JOURNAL_FRAME_H
#define CONNECTORS_COMMON_JOURNAL_FRAME_H

#include <streamrun/host.h>

#define JOURNAL_HEAD      48u
#define JOURNAL_FRAME_MAX (4u << 20) /* bytes of one */

enum journal_kind {
    JOURNAL_BEGIN = 1, /* of a segment; its bytes say where the stream comes from */
    JOURNAL_DATA,
    JOURNAL_END,  /* of the stream: what came before is whole */
    JOURNAL_ACKED /* alone in a file: what comes before its offset is of no use any more */
};

struct journal_frame {
    enum journal_kind kind;
    uint32_t len;
    uint64_t session, offset; /* of its first byte in the session's stream */
};

void journal_frame_put(const struct sr_host *host, const struct journal_frame *f,
                       const uint8_t *bytes, uint8_t head[JOURNAL_HEAD]);
/* False: no head of a frame. What it says is true only if the frame is whole. */
bool journal_frame_get(const uint8_t head[JOURNAL_HEAD], struct journal_frame *out);
bool journal_frame_is_whole(const struct sr_host *host, const uint8_t head[JOURNAL_HEAD],
                            const uint8_t *bytes);

/* Of the last bytes of a file, from `at` on, which are no whole frame: were they all written once,
 * and are damaged? What a crash tears ends early, or lacks sectors, which then are zeros. */
bool journal_frame_was_whole(const struct sr_host *host, const uint8_t *bytes, size_t len,
                             uint64_t at);

/* Is there a whole frame of the session anywhere in these bytes? Then what stands before it was
 * whole once, and is damaged: frames are synced one by one. */
bool journal_frame_is_within(const struct sr_host *host, uint64_t session, const uint8_t *bytes,
                             size_t len);

#endif
