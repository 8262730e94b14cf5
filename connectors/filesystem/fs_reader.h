/* A reader of the filesystem source: the splits of one subtask, read one after the other.
 *
 *          add            offset at the end         poll again
 *   (new) -----> ready ------------------------> finished (bounded)
 *                 ^  | nothing new
 *    file has grown  v
 *               resting (monitored: looked at again when the interval is over)
 *
 * Only the split being read has a buffer; a resting one holds a few hundred bytes, so that any
 * number of files may be followed. The last few that rested keep their files open: what is written
 * to one after it was renamed or deleted is read for a while.
 *
 * A followed split stays with its contents: under another name, and in a copy when the file itself
 * was cut (fs_rotate.h). A file that was cut and goes on is a new split then, found by the reader.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_READER_H
#define CONNECTORS_FILESYSTEM_FS_READER_H

#include "connectors/common/block.h"
#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_input.h"
#include "connectors/filesystem/fs_split.h"

enum fs_metadata { FS_METADATA_PATH, FS_METADATA_NAME, FS_METADATA_SIZE, FS_METADATA_MODIFIED };

#define FS_KEPT_MAX 8u /* resting files of one reader that are kept open */

struct fs_reading {
    struct fs_split split;
    char *id; /* owned */
    uint32_t number;
    struct fs_input kept; /* of a resting one; or not open */
    int64_t away_us;      /* monotonic; since when its path does not lead to it; 0: it does */
    int64_t due_us;       /* monotonic; a resting one is looked at again then; 0: ready */
};

struct fs_reader {
    const struct sr_host *host;
    const struct fs_source_conf *conf;
    const uint32_t *metadata; /* asked ones: enum fs_metadata */
    uint32_t metadatas;
    uint32_t columns;         /* before them in a builder */
    bool is_lines;            /* of the format */
    bool has_resync;          /* of the format */
    bool is_monitored;        /* a file that grew is read on */
    bool goes_on;             /* what may not be whole is left for a later run */
    char *pattern;            /* clean */
    struct fs_reading **item; /* by ascending number */
    uint32_t count, capacity;
    uint32_t first_live;                    /* items before it are finished */
    struct fs_reading *keeper[FS_KEPT_MAX]; /* whose files are kept open; NULL: none */
    uint32_t next_keeper;
    struct sr_split found; /* shown by the last poll */
    char *found_id;        /* NULL: none was */
    struct sr_out found_note;
    struct sr_split told; /* by the last poll */
    struct sr_out told_note;
    /* The split being read: */
    struct fs_reading *now; /* NULL: none; one of item */
    struct fs_input input;
    struct block block;
    uint64_t read_end; /* file offset behind the bytes in the block */
    uint64_t stop;     /* offset behind the last record, once known; FS_SPLIT_OPEN before */
    uint64_t searched; /* no newline that makes `stop` lies before this offset */
    uint8_t last[FS_PRINT_BYTES]; /* what was consumed last; as much of it as `lasts` says */
    uint32_t lasts;
    bool has_moved;  /* something was consumed since the last poll */
    bool is_passing; /* the record at the split's offset is too long and is passed over */
    uint64_t passed; /* bytes of it that are gone by */
};

sr_rc fs_reader_open(void *reader, const struct sr_source_open *o, struct sr_error *err);
sr_rc fs_reader_add(void *reader, uint32_t number, const struct sr_split *split,
                    struct sr_error *err);
enum sr_polled fs_reader_poll(void *reader, struct sr_poll *p, struct sr_error *err);
void fs_reader_consume(void *reader, uint32_t number, uint32_t used);
sr_rc fs_reader_fill_metadata(void *reader, uint32_t number, const uint32_t *record, uint32_t rows,
                              struct sr_builder *out, struct sr_error *err);
sr_rc fs_reader_position(void *reader, uint32_t number, struct sr_out *note, struct sr_error *err);
void fs_reader_close(void *reader);

#endif
