/* The leader's beat: a thread that shows those who stand by that the process lives.
 *
 * It beats five times within high-availability.lease-duration (ckpt/lock.h). When the lock was
 * seized, because the process was stopped or hung for longer, it ends the process at once: what the
 * job still did would be refused by the fence anyway.
 */
#ifndef SR_CLI_LEASE_H
#define SR_CLI_LEASE_H

#include "cli/cli.h"
#include "engine/base/thread.h"
#include "engine/ckpt/store.h"

struct lease {
    const struct cli *cli;
    const char *job_name;
    int64_t duration_us;
    /* Its own: */
    struct store *store;
    struct thread *thread; /* NULL: it does not beat */
    int stop_fd;
};

void lease_start(struct lease *l, struct store *s); /* said when no thread can be had */
void lease_stop(struct lease *l);                   /* one that does not run too */

#endif
