/* The discoverer of the filesystem source: which files there are, now and later, cut into splits.
 *
 * A file is named once, however many paths lead to it. The first look also says of what earlier
 * runs read where it goes on: fs_known.h. With a monitor interval it looks again for ever; then a
 * file whose inode was named is never new, whatever it is called, and one that begins as a followed
 * one of a related name is a copy of it in the making: rotation by copy and truncation.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_FINDER_H
#define CONNECTORS_FILESYSTEM_FS_FINDER_H

#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_claims.h"
#include "connectors/filesystem/fs_known.h"
#include "connectors/filesystem/fs_regex.h"
#include "connectors/filesystem/fs_set.h"

#define FS_LOOK_SHARE 50 /* looking for files takes this part of the time at most */

/* A file that may be a copy in the making is left alone until it was not touched for so long, and
 * for three intervals. */
#define FS_COPYING_US INT64_C(5000000)

/* A file that was named. */
struct fs_named {
    uint64_t device, inode;
    char *path;
};

struct fs_finder {
    const struct sr_host *host;
    const struct fs_source_conf *conf;
    char *path;             /* clean */
    struct fs_regex *regex; /* NULL: none */
    bool may_cut;
    bool is_monitored;
    bool goes_on;            /* in a later run */
    sr_rc broken;            /* a restored split could not be taken; SR_OK: all could */
    uint32_t looks;          /* so far */
    struct fs_known known;   /* until the first look is done */
    struct fs_claims claims; /* of a monitored source: what is read */
    struct fs_set ids;       /* of files that were named */
    struct fs_named *named;  /* of a monitored source: by device and inode */
    uint32_t names;
};

sr_rc fs_finder_open(void *finder, const struct sr_source_open *o, struct sr_error *err);
void fs_finder_restored(void *finder, uint32_t number, const struct sr_split *split,
                        bool is_finished);
enum sr_discovered fs_finder_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                      struct sr_error *err);
sr_rc fs_finder_told(void *finder, const struct sr_split *split, struct sr_error *err);
void fs_finder_close(void *finder);

#endif
