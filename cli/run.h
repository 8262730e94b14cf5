/* A job from its plan to its end, for commands that are a `run` of another kind.
 */
#ifndef SR_CLI_RUN_H
#define SR_CLI_RUN_H

#include "cli/load.h"

/* Runs what was loaded, with the options of `run` in `a`, and answers its exit code. */
enum cli_exit run_loaded(struct cli *c, const struct args *a, const struct loaded *l);

/* Where checkpoints go when nothing says where. */
const char *run_default_dir(struct cli *c);

#endif
