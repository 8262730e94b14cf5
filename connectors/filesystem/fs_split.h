/* A split of a file: a run of its bytes, and how far it was read. Kept in checkpoints as a note.
 *
 * Offsets count bytes of the contents, uncompressed. The file is known again by device and inode,
 * and by fingerprints of what was read: of the first bytes, and of the last ones before `offset`.
 *
 * A split [begin, end) of a line format holds the lines that begin in it: whoever reads it skips to
 * behind the first newline at begin - 1 or later, and reads on over `end` to finish the last line.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_SPLIT_H
#define CONNECTORS_FILESYSTEM_FS_SPLIT_H

#include <streamrun/connector.h>

#define FS_SPLIT_OPEN  UINT64_MAX /* `end`: whatever the file has when it is read */
#define FS_PRINT_BYTES 256u       /* of a file's first bytes, for its fingerprint, at most */

/* The digest of some bytes. */
struct fs_print {
    uint32_t bytes; /* how many, up to FS_PRINT_BYTES; 0: none was taken */
    uint64_t digest[2];
};

/* Which file it is, whatever it is called. */
struct fs_identity {
    uint64_t device, inode;
    uint64_t size_bytes; /* when last looked at */
    int64_t modified_us;
    struct fs_print head; /* of the contents */
};

struct fs_split {
    char *path; /* owned */
    uint64_t begin, end;
    uint64_t offset;  /* of the first byte not consumed */
    bool is_aligned;  /* offset is known to be a record's first byte */
    bool is_finished; /* read to its end */
    bool is_packed;   /* the file is compressed; else not, or it was not looked at yet */
    bool is_missing;  /* no file had these contents when files were last listed */
    struct fs_identity file;
    struct fs_print tail; /* of what lies before `offset` */
};

sr_rc fs_split_save(const struct fs_split *s, struct sr_out *note);
/* SR_ECORRUPT for what is no such note. */
sr_rc fs_split_load(struct fs_split *s, struct sr_bytes note);
void fs_split_done(struct fs_split *s); /* and empty again */

/* The id of a split: that of its file, and `//` with the first byte for pieces behind the first. A
 * file's id is its path when it was found, with `//#2` and so on where one before had that path; no
 * clean path holds two slashes. The caller frees it; NULL: out of memory. */
char *fs_split_id(const char *file, uint64_t begin);
/* How many bytes of an id are that of the file. */
size_t fs_split_id_file(const char *id);

#endif
