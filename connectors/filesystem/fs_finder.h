/* The discoverer of the filesystem source: which files there are, now and later, cut into splits.
 *
 * A path is named once, with all its splits. With a monitor interval it looks again for ever.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_FINDER_H
#define CONNECTORS_FILESYSTEM_FS_FINDER_H

#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_set.h"

struct fs_finder {
    const struct sr_host *host;
    const struct fs_source_conf *conf;
    char *path; /* clean */
    bool may_cut;
    bool has_looked;
    bool is_broken;      /* a known split could not be remembered: memory ran out */
    struct fs_set known; /* paths that were named */
};

sr_rc fs_finder_open(void *finder, const struct sr_source_open *o, struct sr_error *err);
void fs_finder_known(void *finder, const struct sr_split *split);
enum sr_discovered fs_finder_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                      struct sr_error *err);
void fs_finder_close(void *finder);

#endif
