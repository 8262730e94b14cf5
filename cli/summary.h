/* Where the rows went: the last line of a bounded job, and the line of progress. */
#ifndef SR_CLI_SUMMARY_H
#define SR_CLI_SUMMARY_H

#include "cli/cli.h"
#include "engine/plan/plan.h"
#include "engine/run/supervise.h"

/* One line a sink: read = written + filtered + aggregated + late + dead-lettered + skipped. Says so
 * when the sums do not agree. Answers how many rows were set aside (skipped or dead-lettered). */
int64_t summary_print(const struct cli *c, const struct plan *plan, const struct run_status *s);

/* "12,345 records, 4,100/s, 37 % of 120.0 MiB, 3 checkpoints"; in the arena. `last` is the status
 * drawn before, for the rate; zeroed the first time. */
const char *summary_progress(struct arena *a, const struct run_status *s, int64_t last_rows,
                             int64_t last_us);
int64_t summary_rows_read(const struct run_status *s);

#endif
