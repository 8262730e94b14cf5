/* The line that tells how far a bounded job is: records, rate, share of the bytes, time left.
 */
#ifndef SR_CLI_PROGRESS_H
#define SR_CLI_PROGRESS_H

#include "engine/run/supervise.h"

/* What earlier lines told; zeroed at first. */
struct progress {
    bool has_begun;
    int64_t first_us, first_bytes; /* of the first line: time left follows from what came since */
    int64_t last_us, last_rows;
};

/* "1,234 records, 500/s, 34 % of 1.2 MiB, 2 min 3 s left, 3 checkpoints", in the arena. */
const char *progress_line(struct progress *p, struct arena *a, const struct run_status *s);

#endif
