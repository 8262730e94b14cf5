/* Where the rows went: the last line of a bounded job. */
#ifndef SR_CLI_SUMMARY_H
#define SR_CLI_SUMMARY_H

#include "cli/cli.h"
#include "engine/plan/plan.h"
#include "engine/run/supervise.h"

/* One line a sink: read = written + filtered + aggregated + late + dead-lettered + skipped. Says so
 * when the sums do not agree. Answers how many rows were set aside (skipped or dead-lettered). */
int64_t summary_print(const struct cli *c, const struct plan *plan, const struct run_status *s);

#endif
