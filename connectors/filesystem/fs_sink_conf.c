/* What users configure of the filesystem sink, and whether it fits. */
#include <stdio.h>
#include <string.h>

#include "connectors/filesystem/fs_sink.h"

static sr_rc fs_sink_fault(struct sr_error *err, const char *words)
{
    err->rc = SR_ECONFIG;
    (void)snprintf(err->words, sizeof(err->words), "%s", words);
    return SR_ECONFIG;
}

enum pack_kind fs_sink_pack(const struct fs_sink_conf *conf)
{
    switch ((enum fs_compression)conf->compression.index) {
    case FS_COMPRESS_AUTO:
        return fs_place_names_file(conf->path) ? pack_of_name(conf->path) : PACK_NONE;
    case FS_COMPRESS_NONE:
        break;
    case FS_COMPRESS_GZIP:
        return PACK_GZIP;
    case FS_COMPRESS_ZSTD:
        return PACK_ZSTD;
    }
    return PACK_NONE;
}

void fs_sink_leave_out(const void *conf, const struct sr_schema *schema, bool *left_out)
{
    for (uint32_t i = 0; i < schema->fields; i++) {
        left_out[i] = fs_parting_has(conf, schema->field[i].name);
    }
}

static sr_rc fs_sink_check_names(const struct fs_sink_conf *c, struct sr_error *err)
{
    uint32_t mode = 0;
    if (c->part_prefix[0] == '.' || c->part_prefix[0] == '_' || strchr(c->part_prefix, '/') ||
        strchr(c->part_suffix, '/')) {
        return fs_sink_fault(err, "sink.part-prefix and sink.part-suffix hold no '/', and a file "
                                  "whose name begins with '.' or '_' is read by nobody");
    }
    if (strchr(c->success_name, '/') || c->success_name[0] == 0) {
        return fs_sink_fault(err, "sink.partition-commit.success-file.name is a name, not a path");
    }
    if (c->file_mode && !fs_place_mode(c->file_mode, &mode)) {
        return fs_sink_fault(err, "sink.file-mode is octal and lets the owner read and write, as "
                                  "in '0640'");
    }
    return SR_OK;
}

static sr_rc fs_sink_check_commit(const struct fs_sink_conf *c, struct sr_error *err)
{
    for (uint32_t i = 0; i < c->commit_policy.count; i++) {
        if (strcmp(c->commit_policy.item[i], "success-file") != 0) {
            return fs_sink_fault(err, "sink.partition-commit.policy.kind can be success-file; "
                                      "there is no metastore and no Java class here");
        }
    }
    if (c->commit_policy.count > 0 && c->partition_keys.count == 0) {
        return fs_sink_fault(err, "sink.partition-commit needs partition-keys");
    }
    if (c->commit_policy.count == 0 &&
        (c->commit_trigger.index != FS_PROCESS_TIME || c->commit_delay.us > 0 || c->time_pattern)) {
        return fs_sink_fault(err, "how partitions are committed says "
                                  "sink.partition-commit.policy.kind: success-file");
    }
    return SR_OK;
}

sr_rc fs_sink_check(const void *conf, const struct sr_schema *schema, struct sr_sink_caps *caps,
                    struct sr_error *err)
{
    const struct fs_sink_conf *c = conf;
    bool is_plain = fs_place_names_file(c->path);
    sr_rc rc = fs_sink_check_names(c, err);
    if (rc == SR_OK) {
        rc = fs_sink_check_commit(c, err);
    }
    if (rc == SR_OK && is_plain && c->partition_keys.count > 0) {
        rc = fs_sink_fault(err, "partition-keys make directories below path, and this one names a "
                                "file: end it with a '/'");
    }
    if (rc == SR_OK && c->partition_keys.count > 0) {
        rc = fs_parting_check(c, schema, err);
    }
    /* Who makes success files must have written all of a partition. */
    bool is_alone = is_plain || c->commit_policy.count > 0;
    *caps = (struct sr_sink_caps){.guarantee = SR_EXACTLY_ONCE,
                                  .takes_changes = true,
                                  .makes_rows = false,
                                  .is_bounded_only = is_plain,
                                  .parts_max = is_alone ? 1 : 0,
                                  .exclusive = is_plain ? c->path : NULL};
    return rc;
}

static const char *const fs_sink_triggers[] = {"process-time", "partition-time", NULL};
static const char *const fs_sink_compressions[] = {"auto", "none", "gzip", "zstd", NULL};

#define FS_SINK_OPT(key, field, ...) SR_OPT(struct fs_sink_conf, key, field, __VA_ARGS__)
#define FS_SINK_AGES                 .min = 1000, .max = INT64_C(1000000) * 86400 * 365

/* clang-format off */
const struct sr_opt fs_sink_opts[] = {
    FS_SINK_OPT("path", path, .flags = SR_OPT_REQUIRED | SR_OPT_PATH,
        .doc = "A directory of part files, made if absent; in a bounded job also a plain file, whose name has an extension: "
               "it appears complete at the end, or not at all, and keeps the mode and owner of the one that it replaces."),
    FS_SINK_OPT("partition-keys", partition_keys, .flags = SR_OPT_OURS,
        .doc = "PARTITIONED BY these columns: part files lie in directories such as day=2026-01-31/hour=10, and do not hold "
               "these columns."),
    FS_SINK_OPT("partition.default-name", default_name, .def = "__DEFAULT_PARTITION__",
        .doc = "The partition of rows whose key is NULL or ''."),
    FS_SINK_OPT("sink.partition-commit.policy.kind", commit_policy,
        .doc = "success-file: an empty file in a partition tells that it is complete; the sink then runs as one subtask."),
    FS_SINK_OPT("sink.partition-commit.trigger", commit_trigger, .def = "process-time", .choices = fs_sink_triggers,
        .doc = "When a partition is complete: process-time (a delay after its first row, at a checkpoint) or partition-time "
               "(the watermark has passed its time and the delay)."),
    FS_SINK_OPT("sink.partition-commit.delay", commit_delay, .def = "0 s", .max = INT64_C(1000000) * 86400 * 365,
        .doc = "How long after its time a partition is complete: 1 d for partitions of a day."),
    FS_SINK_OPT("sink.partition-commit.success-file.name", success_name, .def = "_SUCCESS",
        .doc = "The name of the success file."),
    FS_SINK_OPT("partition.time-extractor.timestamp-pattern", time_pattern,
        .doc = "The time of a partition, in UTC, as text of its keys, as in '$day $hour:00:00'; the first key unless written."),
    FS_SINK_OPT("compression", compression, .def = "auto", .choices = fs_sink_compressions, .flags = SR_OPT_OURS,
        .doc = "gzip, zstd or none; auto: as the name of a plain file ends, .gz or .zst."),
    FS_SINK_OPT("sink.part-prefix", part_prefix, .def = "part-", .flags = SR_OPT_OURS,
        .doc = "How the names of part files begin."),
    FS_SINK_OPT("sink.part-suffix", part_suffix, .def = "", .flags = SR_OPT_OURS,
        .doc = "How they end, as in .csv; .gz or .zst is added to compressed ones."),
    FS_SINK_OPT("sink.file-mode", file_mode, .flags = SR_OPT_OURS,
        .doc = "The permissions of new files, as in '0640'; 0666 less the umask unless written."),
    FS_SINK_OPT("sink.rolling-policy.file-size", roll_size, .min = 1, .max = INT64_MAX,
        .doc = "A part of this size is closed (128 mb unless written). Where a rolling-policy key is written, parts go on over "
               "checkpoints; else each checkpoint closes its parts."),
    FS_SINK_OPT("sink.rolling-policy.rollover-interval", roll_interval, FS_SINK_AGES,
        .doc = "A part of this age is closed (30 min unless written)."),
    FS_SINK_OPT("sink.rolling-policy.inactivity-interval", inactive_interval, FS_SINK_AGES,
        .doc = "A part that took no row for so long is closed (30 min unless written)."),
    FS_SINK_OPT("sink.rolling-policy.check-interval", check_interval, FS_SINK_AGES,
        .doc = "Flink's interval of looking at ages; here they are looked at with each row and at each checkpoint."),
    SR_OPT_END};
/* clang-format on */
