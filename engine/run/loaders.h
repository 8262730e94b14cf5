/* Keyed state goes into tasks side by side: most of the time of a restore.
 *
 * What one task loads is its own, so that several threads may each take the next one. They are gone
 * when loaders_run returns.
 */
#ifndef SR_RUN_LOADERS_H
#define SR_RUN_LOADERS_H

#include "engine/run/crew.h"

/* task_load for the tasks of a region, or CREW_ALL, by up to `threads` at once, the caller being
 * one of them (0 and 1: nobody else). Of several failures the one of the first task is told. */
sr_rc loaders_run(struct crew *c, uint32_t region, const struct manifest *m, uint32_t threads,
                  struct sr_error *err);

#endif
