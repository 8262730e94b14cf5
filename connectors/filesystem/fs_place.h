/* Where a filesystem sink writes, and what its files are called.
 *
 *   directory   <path>/.part-<sink>-<lineage>-<attempt>-<subtask>-<n>.inprogress
 *               -> <path>/[<partition>/]<prefix><sink>-...-<n><suffix>
 *   plain file  .<name>.<sink>-<lineage>-<attempt>-<n>.inprogress -> <name>
 *
 * <sink> are 8 hex digits made of the job and the step, so that several sinks may share a directory
 * and each finds only its own leftovers. Hidden files of all partitions lie in the directory.
 */
#ifndef CONNECTORS_FILESYSTEM_FS_PLACE_H
#define CONNECTORS_FILESYSTEM_FS_PLACE_H

#include "connectors/compress/pack.h"
#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_part.h"

#define FS_PLACE_STEM 96u           /* bytes of the part of a name that all files of a run share */
#define FS_PLACE_END  ".inprogress" /* of hidden names */

struct fs_place {
    const struct sr_host *host;
    const struct fs_sink_conf *conf;
    char *path;              /* clean; links of a plain file are followed */
    char *dir;               /* that files are made in */
    char *own;               /* how the hidden names of this sink begin, whatever run they are of */
    char run[FS_PLACE_STEM]; /* "<lineage>-<attempt>-" */
    const char *pack_suffix;
    uint64_t attempt;
    uint32_t part;
    uint64_t next; /* number of the next part */
    bool is_plain;
    bool has_new_names; /* or lost ones, since the directory was synced */
    uint32_t mode, user, group;
};

/* A path names a plain file when its name has an extension and no slash follows. */
bool fs_place_names_file(const char *path);
/* The bits of an octal text, as in "0640"; false: it is none. */
bool fs_place_mode(const char *text, uint32_t *mode);

sr_rc fs_place_open(struct fs_place *p, const struct fs_sink_conf *conf, enum pack_kind pack,
                    const struct sr_sink_open *o, struct sr_error *err);
/* Whether files can be made here shows now, not at the first checkpoint. */
sr_rc fs_place_probe(struct fs_place *p, struct sr_error *err);
/* A new part file under names that nobody has; with the bytes of `from` unless that is NULL. */
sr_rc fs_place_new_part(struct fs_place *p, const char *partition, const struct fs_part_name *from,
                        struct fs_part *part, struct sr_error *err);
sr_rc fs_place_sync(struct fs_place *p, struct sr_error *err);
/* Is this name one of ours that no run goes on with? may_be_new: parts of this run are none. */
bool fs_place_is_leftover(const struct fs_place *p, const char *name, bool may_be_new);
void fs_place_done(struct fs_place *p);

#endif
