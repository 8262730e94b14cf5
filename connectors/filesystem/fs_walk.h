/* Which files a path means: one file, a directory with all below it, or a pattern.
 *
 * A pattern has `*` and `?` (not over a slash), `[a-z]`, `{a,b}` and `**` (any directories, none
 * too). Files and directories whose names begin with `.` or `_` are left out, as in Flink, unless
 * the path says that character itself. What is no regular file is left out of directories.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_WALK_H
#define CONNECTORS_FILESYSTEM_FS_WALK_H

#include <streamrun/host.h>

#define FS_BRACES_MAX 1024u    /* patterns that the braces of one path make */
#define FS_DEPTH_MAX  128u     /* directories below one another */
#define FS_FILES_MAX  1000000u /* files of one path */

struct fs_found {
    char *path;
    struct sr_stat stat;
};

struct fs_list {
    struct fs_found *item; /* every path once, in no order that means anything */
    uint32_t count, capacity;
    size_t nowhere;      /* names that matched and led nowhere: dangling links, loops of them */
    char *nowhere_first; /* one of them; NULL: none */
};

/* Fills an empty list. A path that is not there: SR_EABSENT; a pattern that nothing matches, or an
 * empty directory: an empty list. A file that vanishes meanwhile is left out, and counts with the
 * links to nothing. */
sr_rc fs_walk(const struct sr_host *host, const char *path, struct fs_list *out,
              struct sr_error *err);
bool fs_walk_is_pattern(const char *path);
void fs_list_done(struct fs_list *l); /* and empty again */

#endif
