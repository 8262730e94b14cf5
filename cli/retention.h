/* What becomes of a job's checkpoints when it ends: externalized-checkpoint-retention.
 *
 *                                finished, stopped   canceled   failed   suspended, still to go on
 *   not written                  kept                kept       kept     kept
 *   RETAIN_ON_CANCELLATION       deleted             kept       kept     kept
 *   DELETE_ON_CANCELLATION       deleted             deleted    kept     kept
 *   NO_EXTERNALIZED_CHECKPOINTS  deleted             deleted    deleted  kept
 */
#ifndef SR_CLI_RETENTION_H
#define SR_CLI_RETENTION_H

#include "cli/cli.h"
#include "engine/ckpt/store.h"
#include "engine/plan/settings.h"
#include "engine/run/supervise.h"

bool retention_deletes(const struct settings *s, enum run_end end);
/* Deletes those of the lineage, if the job's end asks for that, and says so. */
void retention_apply(const struct cli *c, const struct settings *s, struct store *store,
                     uint64_t lineage, enum run_end end);

#endif
