/* The part files that a filesystem sink is writing, one a partition.
 *
 * At most FS_OPEN_MAX of them have an open file and a block in memory; further ones are parked:
 * their bytes are in the file, rows that come are held in memory, and it is opened again when
 * FS_HELD bytes of them are there. At most FS_WRITTEN_MAX are
 * being written; the one that took no row for longest is closed when there would be more.
 *
 *   fs_writer_find -> { append to part.buf -> fs_writer_took | fs_writer_put }*
 *       -> fs_writer_sync (it goes on) | fs_writer_close (it is ready to be noted)
 */
#ifndef CONNECTORS_FILESYSTEM_FS_WRITER_H
#define CONNECTORS_FILESYSTEM_FS_WRITER_H

#include "connectors/common/encoder.h"
#include "connectors/filesystem/fs_place.h"

#define FS_OPEN_MAX        128u  /* part files of a subtask that are open at once */
#define FS_OPEN_PACKED_MAX 32u   /* ... when they are compressed */
#define FS_WRITTEN_MAX     4096u /* part files of a subtask that are being written */
#define FS_WRITER_HEADS    1024u
#define FS_HELD            16384u /* bytes of rows that a parked part has in memory at most */

struct fs_names {
    struct fs_part_name *item;
    uint32_t count, capacity;
};

/* Takes *name in any case. */
sr_rc fs_names_add(struct fs_names *l, struct fs_part_name *name);
void fs_names_clear(struct fs_names *l);

struct fs_bucket {
    struct fs_bucket *next; /* of the same head */
    struct fs_part part;    /* its name has the partition */
    struct pack *pack;      /* NULL: not compressed, or between two members */
    struct sr_out held;     /* rows that came while it was parked */
    uint64_t rows;          /* held ones too; at least 1 when it was gone on with */
    uint64_t used;          /* the writer's clock when rows came last */
    uint32_t index;         /* in item */
};

struct fs_writer {
    const struct sr_host *host;
    struct fs_place *place;
    struct encoder *encoder;
    enum pack_kind pack;
    uint64_t roll_bytes;
    int64_t roll_us, inactive_us; /* ages at which a part is closed; 0: whatever its age */
    struct fs_bucket *head[FS_WRITER_HEADS];
    struct fs_bucket **item; /* all of them, in no order that means anything */
    uint32_t count, capacity;
    uint32_t opens; /* that are not parked */
    uint64_t clock;
    struct pack *spare_pack; /* of a part that was parked, between two members */
    struct sr_out spare;     /* the buffer of a part that was closed */
    struct sr_out space;
    struct fs_names ready; /* closed and durable, not noted yet */
};

/* The part of a partition, open; begun if there is none. */
sr_rc fs_writer_find(struct fs_writer *w, const char *partition, struct fs_bucket **out,
                     struct sr_error *err);
/* A part that goes on with the bytes of `from`; one of its partition is closed before. */
sr_rc fs_writer_restore(struct fs_writer *w, const struct fs_part_name *from, struct sr_error *err);
/* Rows were appended to part.buf: writes them, and closes the part when that is due. */
sr_rc fs_writer_took(struct fs_writer *w, struct fs_bucket *b, uint64_t rows, struct sr_error *err);
/* Appends encoded rows, compressed if so, and goes on as `took`. */
sr_rc fs_writer_put(struct fs_writer *w, struct fs_bucket *b, const struct sr_bytes *bytes,
                    uint64_t rows, struct sr_error *err);
/* Takes the rows where the part is parked and has room for them; else *is_held is false. */
sr_rc fs_writer_hold(struct fs_writer *w, const char *partition, const struct sr_bytes *bytes,
                     uint64_t rows, bool *is_held, struct sr_error *err);
bool fs_writer_knows(struct fs_writer *w, const char *partition); /* has it a part? */
/* Writes what was left standing when the disk was full. */
sr_rc fs_writer_relieve(struct fs_writer *w, struct sr_error *err);
bool fs_writer_is_due(const struct fs_writer *w, const struct fs_bucket *b);
/* Makes it durable as far as it is; the name has length and digest. */
sr_rc fs_writer_sync(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err);
/* ... and closes it: its name goes to `ready`, and b is gone. */
sr_rc fs_writer_close(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err);
/* Throws away a part without rows. */
sr_rc fs_writer_drop(struct fs_writer *w, struct fs_bucket *b, struct sr_error *err);
void fs_writer_done(struct fs_writer *w);

#endif
