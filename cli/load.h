/* From the words of the command line to a job and its plan, faults printed on the way. */
#ifndef SR_CLI_LOAD_H
#define SR_CLI_LOAD_H

#include "cli/cli.h"
#include "conf/conf.h"
#include "engine/plan/plan.h"

struct loaded {
    struct faults *faults;
    struct job *job;         /* NULL when the file could not be read at all */
    const struct plan *plan; /* NULL when there are errors */
    const char *path, *text; /* what it was read from: one of them is NULL */
};

/* Reads and binds a job: from `path`, or from `text` (a description kept in a checkpoint) when path
 * is NULL. Options -D, -p and --conf come from `a`. Faults stay in l->faults, not yet printed. */
enum cli_exit load_job(struct cli *c, const struct args *a, const char *path, const char *text,
                       struct loaded *l);

/* What was read is changed before it is bound; an answer other than CLI_OK ends it. */
struct load_change {
    enum cli_exit (*job)(void *ctx, struct job *job);
    void *ctx;
};
/* Reads what `from` was read from again. */
enum cli_exit load_changed(struct cli *c, const struct args *a, const struct loaded *from,
                           const struct load_change *change, struct loaded *l);

#endif
