/* Which partition each row of a filesystem sink belongs to, and what of it goes into files.
 *
 * A partition is named as Hive does: `day=2026-01-31/hour=10`, keys in the order of partition-keys,
 * bytes that mean something to shells, URLs or Hive as %XX, and NULL or '' by a name of its own.
 * The columns that name it do not stand in the files.
 *
 *   fs_parting_open -> { fs_parting_begin -> { fs_parting_rewind? -> fs_parting_next* } }*
 *       -> fs_parting_done
 */
#ifndef CONNECTORS_FILESYSTEM_FS_PARTING_H
#define CONNECTORS_FILESYSTEM_FS_PARTING_H

#include "connectors/filesystem/filesystem.h"

#define FS_PARTITION_NAME_MAX 255u /* bytes of one directory's name */

struct fs_parting_scratch;

struct fs_parting {
    const struct sr_host *host;
    const struct fs_sink_conf *conf;
    uint32_t keys, rests;
    uint32_t *key;           /* columns that name the partition */
    uint32_t *rest;          /* columns that go into files */
    struct sr_out *prefix;   /* by key: "day=" */
    struct sr_schema schema; /* of the files */
    struct sr_field *field;
    struct fs_parting_scratch *scratch; /* of the view being written */
    struct sr_view piece;               /* rows of one partition; columns of the files only */
    struct sr_column **piece_col;
    uint16_t live[SR_BATCH_ROWS]; /* of the piece: which live row of the view each is */
};

/* Do the keys name columns that can name partitions? At plan time. */
sr_rc fs_parting_check(const struct fs_sink_conf *conf, const struct sr_schema *schema,
                       struct sr_error *err);
bool fs_parting_has(const struct fs_sink_conf *conf, const char *column); /* is it a key? */

sr_rc fs_parting_open(struct fs_parting *p, const struct sr_host *host,
                      const struct fs_sink_conf *conf, const struct sr_schema *schema,
                      struct sr_error *err);
/* Works out the partitions of live rows [from, picked) of v, up to `*limit`: the first row that can
 * have none, or picked. SR_EDATA: there is such a row. */
sr_rc fs_parting_begin(struct fs_parting *p, const struct sr_view *v, uint32_t from,
                       uint32_t *limit, struct sr_error *err);
/* All rows are to be given again. */
void fs_parting_rewind(struct fs_parting *p);
/* The rows before `limit` of a partition that was not given yet, in p->piece; its name is good
 * until the next begin. NULL: there is none. */
const char *fs_parting_next(struct fs_parting *p, const struct sr_view *v, uint32_t limit);
void fs_parting_done(struct fs_parting *p);

/* The time that a partition begins at, as its keys say, in ms since the epoch (UTC). False: they
 * say none. */
bool fs_parting_time(const struct fs_parting *p, const char *partition, int64_t *ms);

#endif
