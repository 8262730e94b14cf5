/* From the parts of a checkpoint to the tasks, whatever their number was when it was taken.
 *
 * Splits go back to their source's pool and are given out anew; keyed state is taken by key group
 * (task_load); notes of a sink are committed again by its subtask 0 and states of writers dealt out
 * in turn.
 */
#ifndef SR_RUN_RESTORE_H
#define SR_RUN_RESTORE_H

#include "engine/run/crew.h"

/* Does the checkpoint fit the plan? SR_EMISFIT names the first uid that no operator claims (unless
 * may_drop_state), or a max-parallelism that differs. */
sr_rc restore_check(const struct plan *p, const struct manifest *m, bool may_drop_state,
                    struct sr_error *err);
/* Each of these for the tasks of one region, or CREW_ALL.
 * Fills the pools; before they are opened. */
sr_rc restore_sources(struct crew *c, uint32_t region, const struct manifest *m,
                      struct sr_error *err);
sr_rc restore_counters(struct crew *c, uint32_t region, const struct manifest *m,
                       struct sr_error *err);
/* Commits what the checkpoint holds, hands writers their states, discards leftovers. m NULL: a
 * fresh run, which has leftovers too. */
sr_rc restore_sinks(struct crew *c, uint32_t region, const struct manifest *m,
                    struct sr_error *err);

#endif
