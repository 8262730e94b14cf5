/* What the files of `checkpoints` share.
 */
#ifndef SR_CLI_CHECKPOINTS_H
#define SR_CLI_CHECKPOINTS_H

#include "cli/args.h"
#include "cli/cli.h"
#include "engine/ckpt/manifest.h"
#include "engine/ckpt/store.h"

/* Does the path name one alone? Several: wrong usage, and they are named. */
enum cli_exit checkpoints_one(struct cli *c, const char *what, const struct store_list *l);

const char *checkpoints_end(enum manifest_end end); /* "running or killed" */

/* For people: what it is, its parts, the job inside. */
void checkpoints_show(const struct cli *c, const struct store_entry *e, const struct manifest *m);
enum cli_exit checkpoints_diff(struct cli *c, const struct args *a);
enum cli_exit checkpoints_delete(struct cli *c, const struct args *a, const struct store_list *l);

#endif
