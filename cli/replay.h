/* Puts the bytes of dead letters through their job again.
 *
 * The job runs with each source replaced by a file of the letters that came from it, under a job id
 * and with checkpoints of its own; so the job itself, its state and its positions are not touched.
 */
#ifndef SR_CLI_REPLAY_H
#define SR_CLI_REPLAY_H

#include "cli/letter_list.h"
#include "cli/load.h"

struct replay_what {
    const struct loaded *loaded; /* the job as it is */
    const struct letter_list *letters;
    /* What the job itself set aside, when `letters` lie elsewhere: those of the same ids count as
     * replayed too. NULL: there is none. */
    const struct letter_list *originals;
    const char *const *chosen; /* ids; none for all that were not replayed yet */
    uint32_t count;            /* of them */
};

enum cli_exit replay_run(struct cli *c, const struct args *a, const struct replay_what *what);

#endif
