/* The filesystem sink: part files in a directory, or one plain file of a bounded job.
 *
 *   directory   .part-<sink>-<lineage>-<attempt>-<subtask>-<n>.inprogress  -> part-...-<n>
 *   plain file  .<name>.<sink>-<lineage>-<attempt>-<n>.inprogress          -> <name>
 *
 * <sink> are 8 hex digits made of the job and the step, so that several sinks may share a directory
 * and each finds only its own leftovers. Hidden files appear by rename (fs_part_show) once the
 * checkpoint that names them is shown, and never change from then on.
 *
 * A directory sink closes its part at each checkpoint; where a sink.rolling-policy key was written,
 * the part goes on over checkpoints, and the checkpoint notes how much of it is valid. A plain file
 * always goes on, until the input ends.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_SINK_H
#define CONNECTORS_FILESYSTEM_FS_SINK_H

#include "connectors/common/encoder.h"
#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_part.h"

#define FS_SINK_STEM 96u /* bytes of the part of a name that all files of a run share */

struct fs_names {
    struct fs_part_name *item;
    uint32_t count, capacity;
};

struct fs_sink {
    const struct sr_host *host;
    const struct fs_sink_conf *conf;
    struct encoder encoder;
    char *path;             /* clean */
    char *dir;              /* that files are made in */
    char *own;              /* how the hidden names of this sink begin, whatever run they are of */
    char run[FS_SINK_STEM]; /* "<lineage>-<attempt>-" */
    uint64_t attempt;
    uint32_t part;
    bool is_plain;
    bool goes_on; /* parts go on over checkpoints */
    bool is_uncheckpointed;
    bool is_finished; /* a plain file was prepared for the last time */
    uint64_t roll_bytes;
    int64_t roll_us, inactive_us; /* ages at which a part is closed; only where parts go on */
    struct fs_part now;
    uint64_t rows;         /* in the part; at least 1 when it was gone on with */
    uint64_t next;         /* number of the next part */
    bool has_new_names;    /* since the directory was synced */
    struct fs_names ready; /* closed and durable, not noted yet */
    struct fs_names stale; /* hidden files whose bytes were copied: removed after the next commit */
};

#endif
