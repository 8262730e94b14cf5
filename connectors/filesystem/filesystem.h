/* What the files of the filesystem connector share: its two types and what users configure. */
#ifndef CONNECTORS_FILESYSTEM_FILESYSTEM_H
#define CONNECTORS_FILESYSTEM_FILESYSTEM_H

#include <streamrun/connector.h>

struct fs_source_conf {
    const char *path;
    sr_duration monitor_interval; /* not above 0: read what is there, then end */
    sr_size split_size;
    sr_size record_max;
    const char *report_statistics; /* Flink's; nothing to us */
};

struct fs_sink_conf {
    const char *path;
    sr_size roll_size;         /* 0: not written */
    sr_duration roll_interval; /* negative: not written */
    sr_duration inactive_interval;
    sr_duration check_interval;
};

extern const struct sr_source_type fs_source_type;
extern const struct sr_sink_type fs_sink_type;

/* A path as it was configured, without `file:` and without doubled or trailing slashes. The caller
 * frees it; NULL: out of memory. */
char *fs_path_clean(const char *path);
/* `dir` and a name in it; the caller frees it; NULL: out of memory. */
char *fs_path_join(const char *dir, const char *name);
/* The directory that a path lies in; the caller frees it. */
char *fs_path_parent(const char *path);
const char *fs_path_name(const char *path); /* what stands behind the last slash */

#endif
