/* Letters of a replay itself, when the job's dead letters are one plain file: a job replaces such a
 * file as a whole, and letters that were never replayed would be gone with it. So the batch has a
 * file of its own, which is put behind the others once its job is over.
 *
 *   replay_target -> the job of the batch, with that as its target -> replay_target_keep
 */
#ifndef SR_CLI_REPLAY_TARGET_H
#define SR_CLI_REPLAY_TARGET_H

#include "cli/cli.h"
#include "engine/plan/plan.h"

/* The plain file that the dead letters of a job are; NULL: another target, or none. */
const char *replay_target(const struct plan *p);
/* Puts the parts in `from` behind what is in `target`, unless a call that was killed has done so;
 * neither needs to be there. */
sr_rc replay_target_keep(struct cli *c, const char *target, const char *from, struct sr_error *err);

#endif
