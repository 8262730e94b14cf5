/* What earlier runs read, and where it is now: files that grew, were renamed, copied, compressed.
 *
 * A file of the past is looked for among those that are there now, in this order:
 *
 *   its inode     whatever the path, if the contents begin with what was read
 *   its path      another inode with these contents: it was replaced by a longer edition of itself
 *   its inode     also if nothing was read of it, which any contents begin with: inodes are given
 *                 to other files, as when a directory is copied
 *   a copy        a file whose name is made of the old one ("app.log" -> "app.log.1",
 *                 "app.1.log.gz", "app-20261130.log") with these contents, compressed or not; only
 *                 for contents that are nowhere else any more
 *
 * So two files with the same contents that are there at the same time are two, and a file that was
 * cut and written anew begins at its first byte.
 *
 *   fs_known_add* -> fs_known_settle -> fs_known_match -> fs_known_done
 */
#ifndef CONNECTORS_FILESYSTEM_FS_KNOWN_H
#define CONNECTORS_FILESYSTEM_FS_KNOWN_H

#include "connectors/filesystem/fs_set.h"
#include "connectors/filesystem/fs_split.h"
#include "connectors/filesystem/fs_walk.h"

#define FS_COPIES_MAX 1000u /* lost files that one new file is compared with */

/* A split as it was restored. */
struct fs_piece {
    uint32_t number; /* the engine's */
    char *id;
    size_t id_file; /* bytes of the id that are the file's */
    int64_t order;
    struct fs_split split;
};

/* A file of the past. */
struct fs_past {
    struct fs_piece *piece; /* by ascending begin */
    uint32_t pieces;
    const struct fs_piece *mark; /* the one that got furthest; NULL: nothing was read */
    const struct fs_found *now;  /* where its contents are; NULL: nowhere */
    bool is_gone;                /* no file has its path, nor its contents */
    bool has_more;               /* there may be something that was not read */
    bool is_packed;              /* now */
};

struct fs_known {
    const struct sr_host *host;
    struct fs_piece *piece;
    uint32_t pieces, capacity;
    struct fs_past *past; /* by id */
    struct fs_set stems;  /* of their names */
    uint32_t pasts;
};

sr_rc fs_known_add(struct fs_known *k, uint32_t number, const struct sr_split *split);
sr_rc fs_known_settle(struct fs_known *k); /* SR_ENOMEM */
/* Sets `now` of every past file, and is_taken[i] for each of the list's that is one. Files of the
 * list have distinct inodes. What is at fault (fs_input_is_at_fault) is taken for what its inode
 * says. */
sr_rc fs_known_match(struct fs_known *k, const struct fs_list *l, bool *is_taken,
                     struct sr_error *err);
void fs_known_done(struct fs_known *k); /* and empty again */

/* Is a file that is none of the past a copy in the making of one that is still there, or of what
 * is now where one was found? */
sr_rc fs_known_is_copying(const struct fs_known *k, const struct fs_found *file, bool *is_copying,
                          struct sr_error *err);

/* Is `name` made of the name of a file that it may have been rotated from? */
bool fs_known_is_related(const char *old_path, const char *new_path);

#endif
