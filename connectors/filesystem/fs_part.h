/* A part file being written, under a hidden name until a commit shows it.
 *
 * Bytes are encoded into `buf` and written in whole blocks of BLOCKSUM_BLOCK; the last, unfinished
 * block stays in memory, so that the digest of what was written is known at any time. A write that
 * failed may be tried again (the same bytes go to the same place); a failed sync may not: the file
 * is condemned.
 *
 *   fs_part_create | fs_part_copy
 *       -> { append to buf -> fs_part_write | fs_part_park -> fs_part_wake }* -> fs_part_sync
 *       -> fs_part_done
 */
#ifndef CONNECTORS_FILESYSTEM_FS_PART_H
#define CONNECTORS_FILESYSTEM_FS_PART_H

#include <streamrun/connector.h>

#include "connectors/common/blocksum.h"

/* What a note says of a part: enough for anyone to show it, or to go on with it. */
struct fs_part_name {
    char *hidden; /* full paths, owned */
    char *final;
    char *partition; /* as in fs_parting.h, owned; "" without partitions */
    uint64_t length; /* bytes that are valid */
    uint64_t digest[2];
    uint64_t attempt; /* of the job, that wrote it */
    uint32_t part;    /* subtask that wrote it */
    bool may_replace; /* a plain file takes the place of an older one */
};

struct fs_part {
    const struct sr_host *host;
    struct sr_file *file;           /* NULL: no part is open */
    struct fs_part_name name;       /* length and digest as of the last sync */
    struct sr_out buf;              /* bytes from file offset `base` on */
    size_t written;                 /* of buf */
    uint64_t base;                  /* a multiple of BLOCKSUM_BLOCK */
    struct blocksum chain;          /* of the bytes before base */
    int64_t created_us, touched_us; /* monotonic */
    bool is_condemned;              /* a sync failed */
    size_t parked;                  /* bytes behind base that are in the file only */
};

static inline bool fs_part_is_open(const struct fs_part *p) { return p->file != NULL; }
static inline uint64_t fs_part_length(const struct fs_part *p)
{
    return p->base + p->buf.len + p->parked;
}

/* Takes the texts of `name`, also when it fails. SR_EEXISTS: the hidden name is taken. */
sr_rc fs_part_create(struct fs_part *p, const struct sr_host *host, struct fs_part_name name,
                     struct sr_error *err);
/* A new file, `name`, that begins with the valid bytes of `from`: never goes on in a file that an
 * older process may still hold. SR_ECORRUPT when neither of its paths has these bytes. */
sr_rc fs_part_copy(struct fs_part *p, const struct sr_host *host, struct fs_part_name name,
                   const struct fs_part_name *from, struct sr_error *err);
/* Writes the whole blocks of buf. */
sr_rc fs_part_write(struct fs_part *p, struct sr_error *err);
/* Writes all, makes it durable, and sets length and digest of the name. */
sr_rc fs_part_sync(struct fs_part *p, struct sr_error *err);
/* Writes all and closes the file, so that others can be open; a few hundred bytes stay. */
sr_rc fs_part_park(struct fs_part *p, struct sr_error *err);
/* Opens a parked one again. */
sr_rc fs_part_wake(struct fs_part *p, struct sr_error *err);
/* Closes the file and leaves it where it is; the name goes to *name unless that is NULL. */
void fs_part_done(struct fs_part *p, struct fs_part_name *name);

void fs_part_name_done(struct fs_part_name *n); /* and empty again */
sr_rc fs_part_name_save(const struct fs_part_name *n, struct sr_out *note);
sr_rc fs_part_name_load(struct fs_part_name *n, struct sr_bytes note); /* SR_ECORRUPT, SR_ENOMEM */

/* Shows a part: renames it to its final name, whose directories are made if absent. Idempotent:
 *
 *   hidden there                 -> rename (its bytes are checked unless is_own)
 *   hidden gone, final has them  -> done before
 *   anything else                -> SR_ECORRUPT, and nothing is touched
 */
sr_rc fs_part_show(const struct sr_host *host, const struct fs_part_name *n, bool is_own,
                   struct sr_error *err);

#endif
