/* Standing by: waits for the lock of a job that another process leads, and takes it over.
 *
 *   STANDING BY ---the lock is free------------------------------> LEADING, or
 *        |                        the last leader said "ended" --> OVER
 *        '---the leader's beat stood still for the lease, ------> LEADING
 *            and its lock is seized
 *
 * While it waits it answers at a socket of its own, JOB-ID.standby-PID, so that list and status
 * show it. Nothing of the store is touched before the lock is held.
 */
#ifndef SR_CLI_STANDBY_H
#define SR_CLI_STANDBY_H

#include "cli/cli.h"
#include "engine/ckpt/store.h"
#include "engine/plan/job.h"

#define STANDBY_STATE "STANDBY" /* in its status */

struct standby {
    /* By the caller: */
    const struct cli *cli;
    const struct job *job;
    const char *run_dir;
    struct store_conf *store_conf;
    int64_t lease_us;
    bool kills_hung;             /* a leader on this machine that does not move */
    void (*announce)(void *ctx); /* once, when it begins to wait */
    void *ctx;
    /* Its own: */
    struct lock_sight sight; /* of the leader's lock */
    int64_t moved_us;        /* monotonic, when it last looked otherwise */
    int64_t started_us;      /* wall clock; 0: it does not wait yet */
    int listen_fd, signal_fd;
    bool is_asked_to_end;
};

enum standby_end {
    STANDBY_LEADS,  /* *store is open */
    STANDBY_OVER,   /* the job or the waiting has ended: *code */
    STANDBY_FAILED, /* err says why */
};

/* Call it with SIGTERM and SIGINT blocked. */
enum standby_end standby_wait(struct standby *s, struct store **store, enum cli_exit *code,
                              struct sr_error *err);
/* Was there somebody to wait for? */
static inline bool standby_has_waited(const struct standby *s) { return s->started_us != 0; }

#endif
