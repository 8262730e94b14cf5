#include <stdio.h>

#include <streamrun/opt.h>

#include "connectors/common/reach.h"
#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_finder.h"
#include "connectors/filesystem/fs_reader.h"
#include "connectors/filesystem/fs_regex.h"

static const struct sr_opt fs_source_opts[] = {
    SR_OPT(struct fs_source_conf, "path", path, .flags = SR_OPT_REQUIRED | SR_OPT_PATH,
           .doc =
               "A file, a directory (with all files below it), or a pattern with * ? [a-z] {a,b} "
               "and ** for any directories. Names that begin with . or _ are left out."),
    SR_OPT(struct fs_source_conf, "source.path.regex-pattern", regex,
           .doc = "A regular expression: of the files that path means, only those are read whose "
                  "whole absolute path matches it."),
    SR_OPT(struct fs_source_conf, "source.monitor-interval", monitor_interval, .min = 1000,
           .max = INT64_C(1000000) * 86400 * 365,
           .doc = "How often to look for new files and for growth of files; the source never ends "
                  "then. Absent: what is there is read, and the source ends."),
    SR_OPT(struct fs_source_conf, "source.split-size", split_size, .def = "64 mb", .min = 1,
           .max = INT64_MAX, .flags = SR_OPT_OURS,
           .doc =
               "A file of a line format is cut into splits of this size, which subtasks read side "
               "by side."),
    SR_OPT(struct fs_source_conf, "source.max-record-size", record_max, .def = "64 mb", .min = 1,
           .max = 1 << 29, .flags = SR_OPT_OURS,
           .doc = "A longer record is a bad one (on-error): most likely its delimiter is missing."),
    SR_OPT(struct fs_source_conf, "source.report-statistics", report_statistics,
           .flags = SR_OPT_IGNORED, .doc = "Flink's hint to its planner."),
    SR_OPT_END};

static const struct sr_metadata fs_source_metadata[] = {
    [FS_METADATA_PATH] = {.name = "file.path",
                          .type = {.kind = SR_VARCHAR, .length = SR_LENGTH_MAX},
                          .doc = "The file's path, absolute."},
    [FS_METADATA_NAME] = {.name = "file.name",
                          .type = {.kind = SR_VARCHAR, .length = SR_LENGTH_MAX},
                          .doc = "The last part of the path."},
    [FS_METADATA_SIZE] = {.name = "file.size",
                          .type = {.kind = SR_BIGINT},
                          .doc = "Bytes of the file when this reading of it began."},
    [FS_METADATA_MODIFIED] = {.name = "file.modification-time",
                              .type = {.kind = SR_TIMESTAMP_LTZ, .length = 3},
                              .doc = "When the file was last changed, as of when this reading of "
                                     "it began."},
    {.name = NULL}};

static sr_rc fs_source_check(const void *conf, const struct sr_schema *schema,
                             struct sr_source_caps *caps, struct sr_error *err)
{
    (void)schema;
    const struct fs_source_conf *c = conf;
    char why[160];
    struct fs_regex *regex = c->regex ? fs_regex_new(c->regex, why, sizeof(why)) : NULL;
    if (c->regex && !regex) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words),
                       "source.path.regex-pattern is no regular expression: %s", why);
        return SR_ECONFIG;
    }
    fs_regex_free(regex);
    *caps = (struct sr_source_caps){.is_bounded = c->monitor_interval.us <= 0,
                                    .can_rewind = true,
                                    .makes_rows = false,
                                    .parts_max = 0,
                                    .has_backlog = c->monitor_interval.us > 0};
    return SR_OK;
}

static sr_rc fs_source_ask(struct sr_ask *a, struct sr_error *err)
{
    const struct fs_source_conf *c = a->conf;
    bool is_bounded = c->monitor_interval.us <= 0;
    return reach_input(a, c->path, is_bounded, err);
}

const struct sr_source_type fs_source_type = {
    .size = sizeof(struct sr_source_type),
    .name = "filesystem",
    .doc = "Files in directories, once or followed as they appear and grow. gzip, zstd, lz4, bzip2 "
           "and xz are known by their first bytes and read decompressed; going on in one reads it "
           "again from its beginning, up to the exact position.",
    .keeps = "the record",
    .opts = fs_source_opts,
    .conf_size = sizeof(struct fs_source_conf),
    .discoverer_size = sizeof(struct fs_finder),
    .reader_size = sizeof(struct fs_reader),
    .check = fs_source_check,
    .discover_open = fs_finder_open,
    .discover = fs_finder_discover,
    .discover_close = fs_finder_close,
    .open = fs_reader_open,
    .add = fs_reader_add,
    .poll = fs_reader_poll,
    .consume = fs_reader_consume,
    .position = fs_reader_position,
    .close = fs_reader_close,
    .metadata = fs_source_metadata,
    .fill_metadata = fs_reader_fill_metadata,
    .restored = fs_finder_restored,
    .told = fs_finder_told,
    .ask = fs_source_ask,
};
