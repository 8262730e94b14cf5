/* A run of a job, as run.c, run_start.c and run_end.c see it. */
#ifndef SR_CLI_RUN_INNER_H
#define SR_CLI_RUN_INNER_H

#include "cli/detach.h"
#include "cli/guard.h"
#include "cli/jobstore.h"
#include "cli/lease.h"
#include "cli/run.h"
#include "engine/ckpt/store.h"
#include "engine/run/supervise.h"

struct run {
    struct cli *c;
    const struct args *args;
    struct loaded loaded;
    struct store_conf store_conf;
    struct store *store;
    struct manifest *restore; /* NULL: fresh */
    const char *restore_path;
    struct store_filler filler; /* tables of savepoints */
    uint64_t tables_max;
    const char *claim_path; /* what is to be the job's own; NULL: nothing */
    uint64_t lineage;
    const char *run_dir;
    struct detach detach;
    struct guard guard;
    bool is_guarded; /* this is an engine under a guard */
    struct lease lease;
    bool has_taken_over; /* from a process that may still be there; or will */
    bool is_fenced;      /* another one has taken over from us */
    struct jobstore_note note;
    int listen_fd;
    int64_t lock_until_us; /* monotonic: how long a lock of another run is waited for; 0: not */
};

/* run_start.c: where its state lies, and what it starts from. */

/* --wait-lock, in the run. */
enum cli_exit run_read_wait(struct run *r);
void run_choose_store(struct run *r);
bool run_has_exactly_once(const struct plan *p);
bool run_is_file(const char *path); /* an SQLite file, by its name */
/* May a run begin that goes on from nothing? Once more, if another run was waited for. */
enum cli_exit run_check_fresh(struct run *r);
/* What `path` names is what the run is restored from. */
enum cli_exit run_load(struct run *r, const char *path);
/* With what the run is restored from known, and the store's place. */
void run_choose_lineage(struct run *r);
/* *is_over: there is nothing to run any more, and the answer is the exit code. */
enum cli_exit run_open_store(struct run *r, bool *is_over);

/* run_end.c: what is said, noted and deleted when it ends. */

/* Is this a run of several over input that grows? What ends then is not the job. */
bool run_goes_on(const struct run *r);
void run_mark(struct run *r, enum manifest_end end);
/* Deletes what is not to be kept behind this end. What goes on later is at no end. */
void run_retire(const struct run *r, enum run_end end);
/* A run that fails or is canceled before its first checkpoint, where others lie in the store: what
 * it began with is not gone on with, as it is behind a crash. */
void run_leave_begin(const struct run *r);
enum cli_exit run_ended(struct run *r, struct supervise *job, enum run_end end,
                        const struct sr_error *err);

#endif
