/* Puts the bytes of dead letters through their job again.
 *
 * The job runs with each source replaced by a file of the letters that came from it, under a job id
 * and with checkpoints of its own; so the job itself, its state and its positions are not touched.
 */
#ifndef SR_CLI_REPLAY_H
#define SR_CLI_REPLAY_H

#include "cli/letter_list.h"
#include "cli/load.h"

/* `loaded`: the job as it is; `chosen`: ids, none for all that were not replayed yet. */
enum cli_exit replay_run(struct cli *c, const struct args *a, const struct loaded *loaded,
                         const struct letter_list *letters, const char *const *chosen,
                         uint32_t count);

#endif
