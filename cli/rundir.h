/* Where running jobs listen: one Unix socket a job in a directory of the user's own.
 *
 * `run.dir`, else $STREAMRUN_RUN_DIR, else /tmp/streamrun-UID; mode 0700, and its owner is checked,
 * so that nobody else can listen there in our name.
 */
#ifndef SR_CLI_RUNDIR_H
#define SR_CLI_RUNDIR_H

#include "cli/cli.h"

#define RUNDIR_STANDBY ".standby-" /* between a job's id and the pid of one that stands by */
#define RUNDIR_BACKLOG 16          /* connections that wait to be taken */

/* The directory, made if absent. `set` is run.dir or --run-dir; NULL: not set. */
sr_rc rundir_open(const struct cli *c, const char *set, const char **dir, struct sr_error *err);
/* A listening socket for a job; SR_EBUSY when a job of this id listens there already. */
sr_rc rundir_listen(const struct cli *c, const char *dir, const char *job_id, int *fd,
                    struct sr_error *err);
void rundir_forget(const struct cli *c, const char *dir, const char *job_id); /* whoever's it is */
/* The same, unless another process than this and its guard listens there by now. */
void rundir_leave(const struct cli *c, const char *dir, const char *job_id);
/* Connects to a job; SR_EABSENT when nobody listens. */
sr_rc rundir_connect(const struct cli *c, const char *dir, const char *job_id, int *fd,
                     struct sr_error *err);
/* Ids of the jobs that have a socket there, dead ones too; ends with NULL. */
const char *const *rundir_ids(const struct cli *c, const char *dir);

#endif
