/* What the files of the filesystem connector share: its two types and what users configure. */
#ifndef CONNECTORS_FILESYSTEM_FILESYSTEM_H
#define CONNECTORS_FILESYSTEM_FILESYSTEM_H

#include <streamrun/connector.h>

struct fs_source_conf {
    const char *path;
    const char *regex;            /* that whole paths must match; NULL: all */
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
    sr_list partition_keys;
    const char *default_name; /* of a partition whose value is NULL or '' */
    sr_choice commit_trigger; /* enum fs_trigger */
    sr_duration commit_delay;
    sr_list commit_policy; /* none: partitions are not committed */
    const char *success_name;
    const char *time_pattern; /* NULL: the first key is the time */
    sr_choice compression;    /* enum fs_compression */
    const char *part_prefix, *part_suffix;
    const char *file_mode; /* octal; NULL: 0666 less the umask */
};

enum fs_trigger { FS_PROCESS_TIME, FS_PARTITION_TIME };
enum fs_compression { FS_COMPRESS_AUTO, FS_COMPRESS_NONE, FS_COMPRESS_GZIP, FS_COMPRESS_ZSTD };

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
/* Makes `dir` and the directories above it that are missing, durably. */
sr_rc fs_path_make(const struct sr_host *host, const char *dir, struct sr_error *err);

#endif
