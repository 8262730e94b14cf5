/* The filesystem sink: part files in a directory, or in one a partition, or one plain file of a
 * bounded job. Names: fs_place.h. Hidden files appear by rename (fs_part_show) once the checkpoint
 * that names them is shown, and never change from then on.
 *
 * A directory sink closes its parts at each checkpoint; where a sink.rolling-policy key was
 * written, they go on over checkpoints, and the checkpoint notes how much of them is valid. A
 * plain file always goes on, until the input ends. Compressed files are cut into members (pack.h)
 * where a checkpoint cuts them, so that what is valid is a whole file.
 *
 * Notes, by their first byte: FS_NOTE_* below.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_SINK_H
#define CONNECTORS_FILESYSTEM_FS_SINK_H

#include "connectors/filesystem/fs_parting.h"
#include "connectors/filesystem/fs_pending.h"
#include "connectors/filesystem/fs_writer.h"

enum {
    FS_NOTE_PART_OLD = 1, /* fs_part_name, without a partition */
    FS_NOTE_PART = 2,     /* fs_part_name: a commit shows it, a state is gone on with */
    FS_NOTE_SUCCESS = 3,  /* a commit makes the success file of a partition */
    FS_NOTE_PENDING = 4   /* a state: partitions that wait for theirs */
};

/* Encoded rows of one partition, in `rows` of the sink. */
struct fs_group {
    const char *partition;
    size_t begin, end;
    uint32_t rows;
    int64_t time_ms;
};

struct fs_sink {
    const struct sr_host *host;
    const struct fs_sink_conf *conf;
    struct encoder encoder;
    struct fs_place place;
    struct fs_writer writer;
    bool is_parted;    /* by partition-keys */
    bool is_announced; /* success files are made */
    bool goes_on;      /* parts go on over checkpoints */
    bool is_uncheckpointed;
    bool is_finished; /* a plain file was prepared for the last time */
    bool is_stuck;    /* the disk was full: rows that were taken are not written yet */
    int64_t watermark;
    struct fs_parting parting;
    struct fs_pending pending;
    struct sr_out rows;     /* encoded, where they do not go straight into a part */
    struct fs_group *group; /* SR_BATCH_ROWS; only with partitions */
    uint32_t groups;
    struct fs_names stale; /* hidden files whose bytes were copied: removed after the next commit */
};

/* Rows of a view into parts: as sr_sink_type.write. In fs_sink_rows.c. */
sr_rc fs_sink_put(struct fs_sink *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                  struct sr_error *err);
/* As sr_sink_type.check. In fs_sink_conf.c, with the table of options. */
sr_rc fs_sink_check(const void *conf, const struct sr_schema *schema, struct sr_sink_caps *caps,
                    struct sr_error *err);
void fs_sink_leave_out(const void *conf, const struct sr_schema *schema, bool *left_out);
enum pack_kind fs_sink_pack(const struct fs_sink_conf *conf);
extern const struct sr_opt fs_sink_opts[];

#endif
