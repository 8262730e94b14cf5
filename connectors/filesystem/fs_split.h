/* A split of a file: a run of its bytes, and how far it was read. Kept in checkpoints as a note.
 *
 * A split [begin, end) of a line format holds the lines that begin in it: whoever reads it skips to
 * behind the first newline at begin - 1 or later, and reads on over `end` to finish the last line.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_SPLIT_H
#define CONNECTORS_FILESYSTEM_FS_SPLIT_H

#include <streamrun/connector.h>

#define FS_SPLIT_OPEN  UINT64_MAX /* `end`: whatever the file has when it is read */
#define FS_PRINT_BYTES 256u       /* of a file's first bytes, for its fingerprint, at most */

/* Which file it is, whatever it is called. */
struct fs_identity {
    uint64_t device, inode;
    uint64_t size_bytes;  /* when last looked at */
    uint32_t print_bytes; /* how many first bytes the fingerprint is of; 0: none was taken */
    uint64_t print[2];
};

struct fs_split {
    char *path; /* owned */
    uint64_t begin, end;
    uint64_t offset;  /* of the first byte not consumed */
    bool is_aligned;  /* offset is known to be a record's first byte */
    bool is_finished; /* read to its end */
    struct fs_identity file;
};

sr_rc fs_split_save(const struct fs_split *s, struct sr_out *note);
/* SR_ECORRUPT for what is no such note. */
sr_rc fs_split_load(struct fs_split *s, struct sr_bytes note);
void fs_split_done(struct fs_split *s); /* and empty again */

/* The id of a split: the path, and `//` with the first byte for pieces behind the first. No clean
 * path holds two slashes. The caller frees it; NULL: out of memory. */
char *fs_split_id(const char *path, uint64_t begin);
/* The path in an id; the caller frees it. */
char *fs_split_id_path(const char *id);

#endif
