/* What became of jobs: one small file each in the run directory, for `list --all` and `wait`.
 *
 *   RUNDIR/JOB-ID.job   JSON, as `list --all --json` shows it: written when the job runs, and again
 *                       when it has ended; replaced as a whole
 *
 * A job that says it runs and has no process any more was killed. What ended goes after
 * jobstore.expiration-time, and of more than JOBSTORE_JOBS_MAX the oldest ends: whoever looks
 * clears away.
 */
#ifndef SR_CLI_JOBSTORE_H
#define SR_CLI_JOBSTORE_H

#include <jansson.h>

#include "cli/cli.h"
#include "engine/plan/job.h"
#include "engine/run/supervise.h"

#define JOBSTORE_JOBS_MAX  1000u
#define JOBSTORE_BYTES_MAX 65536u /* of one file */

struct jobstore_note {
    const struct job *job;
    const char *checkpoints; /* where they lie, a url */
    const char *ended_as;    /* a state; NULL: it runs */
    const char *cause;       /* NULL, "": none */
    uint64_t checkpoint;     /* the newest that was shown; 0: none */
    enum cli_exit exit_code; /* good when it has ended */
    int64_t started_ms;      /* set by the first note */
};

const char *jobstore_state(enum run_end end); /* "FINISHED" */
/* A failure is said, no more: nothing depends on it. */
void jobstore_note(const struct cli *c, const char *dir, struct jobstore_note *n);
/* The caller's reference; NULL: nothing is known of it. One that was killed says so. */
json_t *jobstore_find(const struct cli *c, const char *dir, const char *job_id);
/* The last of that name, id or file that has ended; the caller's reference, or NULL. */
json_t *jobstore_find_ended(const struct cli *c, const char *dir, const char *name);
/* All, an array by end, the oldest first; the caller's reference. */
json_t *jobstore_all(const struct cli *c, const char *dir);
/* Has it ended? */
bool jobstore_is_over(const json_t *job);

#endif
