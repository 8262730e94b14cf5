/* Rehearsed crashes, for tests that kill a real process where it hurts.
 *
 * STREAMRUN_REHEARSE=NAME:K        the process kills itself when the crash point NAME is passed the
 *                                  K-th time (from 1)
 * STREAMRUN_REHEARSE=NAME:K:stop   it stops there (SIGSTOP), and goes on at SIGCONT
 * STREAMRUN_REHEARSE_TRACE=FILE    the name of the last crash point passed stands in FILE, below it
 *                                  how many checkpoints were published, whatever kills the process:
 *                                  it is written through a shared mapping
 *
 * Neither set: crash points cost a comparison with NULL.
 */
#ifndef SR_CLI_REHEARSE_H
#define SR_CLI_REHEARSE_H

#include "cli/cli.h"

struct rehearse;

sr_rc rehearse_open(struct rehearse **out, struct cli *c, struct sr_error *err);
void rehearse_close(struct rehearse *r); /* NULL allowed */

#endif
