/* What outlives a process that dies, so that the next one knows which record may have killed it:
 * the list of records that failed the job, and bread crumbs in a mapped file.
 */
#ifndef SR_CLI_SUSPECTS_H
#define SR_CLI_SUSPECTS_H

#include "cli/cli.h"
#include "engine/ckpt/store.h"
#include "engine/run/crumbs.h"

struct suspects {
    const char *path;        /* of the list: beside the checkpoints, else in the run directory */
    const char *crumbs_path; /* of the mapped file */
    struct crumbs *crumbs;   /* NULL: it could not be mapped, and it was said */
};

sr_rc suspects_open(struct suspects *s, const struct cli *c, struct store *store,
                    const char *run_dir, const char *job_id, struct sr_error *err);
/* As suspects_open, from a process that may still write to its crumbs: they are copied first. */
sr_rc suspects_inherit(struct suspects *s, const struct cli *c, struct store *store,
                       const char *run_dir, const char *job_id, struct sr_error *err);
/* The job ended by itself; or another process goes on with it, and the files are its own. */
void suspects_close(struct suspects *s, const struct cli *c, bool is_fenced);

#endif
