/* A job by its name or id, whether it runs or not: its file, or what its newest checkpoint keeps of
 * it.
 */
#ifndef SR_CLI_NAMED_H
#define SR_CLI_NAMED_H

#include "cli/cli.h"

struct named {
    const char *path; /* of its file; NULL: see text */
    const char *text; /* its description in a checkpoint; NULL: see path */
    const char *dir;  /* where checkpoints were looked for */
};

/* Looks at running jobs, then into --checkpoints, else the default directory. CLI_NO_JOB, without a
 * word: there is none; others are told. */
enum cli_exit named_find(struct cli *c, const struct args *a, const char *name, struct named *out);

#endif
