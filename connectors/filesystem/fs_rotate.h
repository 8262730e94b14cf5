/* Where the contents of a followed file went. */
#ifndef CONNECTORS_FILESYSTEM_FS_ROTATE_H
#define CONNECTORS_FILESYSTEM_FS_ROTATE_H

#include "connectors/filesystem/fs_split.h"

struct fs_rotated {
    char *
        path; /* of the file that holds them: renamed, or a copy; the caller frees it; NULL: none */
    bool is_cut; /* the split's own file is still at its path, with other contents */
};

/* Among the files of `pattern`; it is walked, so this is for when something has changed. */
sr_rc fs_rotate_find(const struct sr_host *host, const char *pattern, const struct fs_split *s,
                     struct fs_rotated *out, struct sr_error *err);

#endif
