/* What the parts of the command `kafka` share.
 */
#ifndef SR_CLI_KAFKA_H
#define SR_CLI_KAFKA_H

#include "cli/load.h"

/* kafka transactions list | abort; the words behind `transactions`. */
enum cli_exit kafka_transactions(struct cli *c, const struct args *a);
/* kafka offsets JOB */
enum cli_exit kafka_offsets(struct cli *c, const struct args *a);

/* The job that `word` names: its file, or the name or id of one that runs or has a checkpoint.
 * Faults are shown. */
enum cli_exit kafka_load(struct cli *c, const struct args *a, const char *word, struct loaded *l);

#endif
