/* How a command asks a running job. */
#ifndef SR_CLI_RUNNING_H
#define SR_CLI_RUNNING_H

#include <jansson.h>

#include "cli/cli.h"

/* Finds the job that `name` means (control_find), and asks it; takes the request. CLI_OK: *answer
 * is the caller's. Else it was said why not. */
enum cli_exit running_ask_job(struct cli *c, const struct args *a, const char *name,
                              json_t *request, json_t **answer);

#endif
