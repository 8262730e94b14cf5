/* The guard: a small process that watches over the engine, for -d and --supervise.
 *
 *   caller --detach_fork--> guard --fork--> engine
 *
 *            engine dies of a signal, and the restart strategy
 *   WATCHING ------------------------------------------------> WAITING --delay over--> WATCHING
 *      |  engine exits                 gives up |                 |  cancel, a signal
 *      v                                        v                 v
 *   the end, with the engine's code        code 1             0, or 7
 *
 * A crash is a failure like others: counts and first cause go on over it (run/carry.h), in a page
 * that guard and engine share. The guard has one thread and does nothing else: it passes SIGTERM,
 * SIGINT and SIGHUP on, and while it waits it answers in the engine's place at the job's socket,
 * which it was handed. When the guard itself is killed the engine gets SIGTERM, and suspends.
 */
#ifndef SR_CLI_GUARD_H
#define SR_CLI_GUARD_H

#include "cli/cli.h"
#include "cli/detach.h"
#include "engine/plan/job.h"
#include "engine/run/carry.h"

/* Shared with every engine. */
struct guard_page {
    struct carry carry;
    char crumbs_path[4096]; /* where the engine leaves word of what it works on; "": it does not */
};

struct guard {
    /* By the caller: */
    const struct cli *cli;
    const struct job *job;
    const char *run_dir;
    bool may_restart;       /* what was committed can be gone on from */
    struct detach *detach;  /* its ready_fd is the guard's, in the engine a way to the guard */
    void (*cancel)(void *); /* notes in the store that the job was canceled between two engines */
    /* The job ends without an engine: for this crash, or before another one was started. */
    void (*ended)(void *, const char *state, const char *words, enum cli_exit code);
    void *ctx;
    /* Its own: */
    struct guard_page *page;
    uint32_t deaths;
    int listen_fd; /* the job's socket; -1: not made yet */
    int engine_fd; /* the guard's end of what the engine tells */
    int tell_fd;   /* the engine's end; -1 in the guard */
    int signal_fd;
    int64_t started_us; /* wall clock */
    bool is_told;       /* the caller knows that the job runs */
    bool is_canceled;
};

/* Answers several times: in each engine with *is_engine, and in the guard once, at the end, with
 * the exit code. Call it before any thread starts. */
sr_rc guard_run(struct guard *g, bool *is_engine, enum cli_exit *code, struct sr_error *err);
/* In the engine: the guard keeps the socket from now on. */
void guard_keep_socket(const struct guard *g, int listen_fd);

#endif
