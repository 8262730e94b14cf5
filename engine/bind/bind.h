/* From a job as written to a plan that can run: names, types, operators, chains, parallelism.
 *
 * Every fault of the job is added to `faults` with its place: unknown and unused names, cycles,
 * types that do not fit, guarantees that cannot be kept.
 */
#ifndef SR_BIND_BIND_H
#define SR_BIND_BIND_H

#include "engine/expr/expr.h"
#include "engine/plan/plan.h"
#include "engine/plug/registry.h"

/* The plan lives in job->arena. SR_ECONFIG when any fault of level error was added. */
sr_rc bind_job(const struct job *job, struct registry *registry, struct faults *faults,
               const struct plan **out);

/* One expression without columns, as `streamrun eval` takes it; err has the place in words, behind
 * the code of the fault. */
sr_rc bind_constant(struct arena *a, const char *text, const struct expr **out,
                    struct sr_error *err);

#endif
