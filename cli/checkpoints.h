/* What the files of `checkpoints` share.
 */
#ifndef SR_CLI_CHECKPOINTS_H
#define SR_CLI_CHECKPOINTS_H

#include "cli/args.h"
#include "cli/cli.h"
#include "engine/ckpt/store.h"

/* Does the path name one alone? Several: wrong usage, and they are named. */
enum cli_exit checkpoints_one(struct cli *c, const char *what, const struct store_list *l);

enum cli_exit checkpoints_diff(struct cli *c, const struct args *a);
enum cli_exit checkpoints_delete(struct cli *c, const struct args *a, const struct store_list *l);

#endif
