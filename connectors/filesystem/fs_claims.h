/* What readers have read, as the discoverer of a followed source is told: by split, the contents
 * and where they were last. A new file that holds them, after their own file was cut, is their
 * copy: its rows are read already, or the split's reader goes on in it.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_CLAIMS_H
#define CONNECTORS_FILESYSTEM_FS_CLAIMS_H

#include "connectors/filesystem/fs_split.h"
#include "connectors/filesystem/fs_walk.h"

struct fs_claim {
    char *id; /* of the split */
    struct fs_split split;
};

struct fs_claims {
    struct fs_claim *item; /* by id */
    uint32_t count, capacity;
};

/* In place of what was claimed for that split before. Copies. SR_ENOMEM; SR_ECORRUPT. */
sr_rc fs_claims_put(struct fs_claims *c, const char *id, struct sr_bytes note);
void fs_claims_done(struct fs_claims *c); /* and empty again */

enum fs_newness { FS_NEW, FS_COPY, FS_COPY_MAYBE };

/* Is `file` the copy of what is claimed? Maybe, where the claim's own file still holds it: it may
 * be about to be cut. The copy of a claim is its file from then on. The list is in order of
 * devices and inodes. What is at fault (fs_input_is_at_fault) is new. */
sr_rc fs_claims_match(struct fs_claims *c, const struct sr_host *host, const struct fs_list *l,
                      const struct fs_found *file, enum fs_newness *out, struct sr_error *err);

/* Orders struct fs_found by device and inode. */
int fs_found_compare_inodes(const void *a, const void *b);

#endif
