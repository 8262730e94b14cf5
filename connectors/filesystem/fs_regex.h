/* Flink's source.path.regex-pattern: which of the files under a path are meant, by a regular
 * expression that the whole absolute path must match. */
#ifndef CONNECTORS_FILESYSTEM_FS_REGEX_H
#define CONNECTORS_FILESYSTEM_FS_REGEX_H

#include "connectors/filesystem/fs_walk.h"

struct fs_regex;

/* NULL: *why says what is wrong with it, in `room` bytes. */
struct fs_regex *fs_regex_new(const char *pattern, char *why, size_t room);
/* Takes out of a list what does not match. SR_ELIMIT: a match took too many steps. */
sr_rc fs_regex_filter(const struct fs_regex *r, struct fs_list *l);
void fs_regex_free(struct fs_regex *r); /* NULL allowed */

#endif
