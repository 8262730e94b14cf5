/* A set of texts that only grows: paths that were named, directories that were seen. */
#ifndef CONNECTORS_FILESYSTEM_FS_SET_H
#define CONNECTORS_FILESYSTEM_FS_SET_H

#include <streamrun/error.h>

struct fs_set {
    char **slot; /* NULL: free; a power of two of them, at most half full */
    size_t slots, count;
};

bool fs_set_has(const struct fs_set *s, const char *text);
/* Copies. *is_new may be NULL. SR_ENOMEM. */
sr_rc fs_set_add(struct fs_set *s, const char *text, bool *is_new);
void fs_set_done(struct fs_set *s); /* and empty again */

#endif
