/* -d: the job goes on in the background, the caller waits until it runs.
 *
 *   parent: detach_fork ... waits for the child's word, then ends with the job id or its exit code
 *   child:  detach_fork -> detach_check -> detach_running
 *           faults reach the caller's stderr up to there
 */
#ifndef SR_CLI_DETACH_H
#define SR_CLI_DETACH_H

#include "cli/cli.h"

struct detach {
    int ready_fd; /* the child's end; -1: not detached, or told already */
    const char *log_file;
};

/* In the parent this answers only *code, after the child is running or has ended: *is_parent. */
sr_rc detach_fork(struct detach *d, const struct cli *c, const char *job_id, bool *is_parent,
                  enum cli_exit *code, struct sr_error *err);
/* Whether the log can be written, while the caller still hears it: call it once the store is open,
 * which makes the directory. */
sr_rc detach_check(const struct detach *d, struct sr_error *err);
/* The job runs: from now on words go to the log file, and the parent may go. */
void detach_running(struct detach *d);

#endif
