/* Partitions that have rows and wait for their success file.
 *
 * A partition is due behind its delay: since its first row came (process time), or once the
 * watermark has passed its own time (partition time). What is not due is kept in the checkpoint. A
 * row that comes later makes its partition wait again, and be committed again, as in Flink.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_PENDING_H
#define CONNECTORS_FILESYSTEM_FS_PENDING_H

#include "connectors/filesystem/filesystem.h"

struct fs_waiting {
    char *partition;    /* owned */
    int64_t created_ms; /* wall clock */
    int64_t time_ms;    /* that it begins at; 0 when nobody asks */
    bool is_due;
};

struct fs_pending {
    struct fs_waiting *item;
    uint32_t count, capacity;
};

/* Copies; nothing when it waits already. SR_ENOMEM. */
sr_rc fs_pending_add(struct fs_pending *p, const char *partition, int64_t created_ms,
                     int64_t time_ms);
struct fs_when {
    enum fs_trigger trigger;
    int64_t delay_ms;
    int64_t now_ms;    /* wall clock */
    int64_t watermark; /* SR_WATERMARK_NONE: none yet */
    bool is_last;      /* no row will come */
};
/* Sets is_due of each. */
void fs_pending_decide(struct fs_pending *p, const struct fs_when *when);
bool fs_pending_is_due(const struct fs_pending *p, const char *partition);
void fs_pending_drop_due(struct fs_pending *p);
/* What is not due. False: out of memory. */
bool fs_pending_save(const struct fs_pending *p, struct sr_out *note);
/* Adds what stands in a note. SR_ECORRUPT, SR_ENOMEM. */
sr_rc fs_pending_load(struct fs_pending *p, struct sr_bytes note);
void fs_pending_done(struct fs_pending *p);

#endif
