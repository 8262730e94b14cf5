#include "cli/progress.h"

#include "cli/show.h"

#define PROGRESS_SURE_US INT64_C(1000000) /* the time left is a guess that needs so much of a run */

struct progress_sum {
    int64_t rows, bytes, total; /* of all sources */
    bool is_known;              /* total: every source says how much there is */
};

static struct progress_sum progress_sum(const struct run_status *s)
{
    struct progress_sum sum = {.is_known = true};
    for (uint32_t i = 0; i < s->nodes; i++) {
        if (s->node[i].kind != PLAN_SOURCE) continue;
        sum.rows += s->node[i].in;
        sum.bytes += s->node[i].bytes_in;
        sum.total += s->node[i].bytes_total;
        sum.is_known = sum.is_known && s->node[i].bytes_total > 0;
    }
    sum.is_known = sum.is_known && sum.total > 0;
    return sum;
}

static const char *progress_left(const struct progress *p, struct arena *a,
                                 const struct progress_sum *sum, int64_t now_us)
{
    int64_t us = now_us - p->first_us, bytes = sum->bytes - p->first_bytes;
    int64_t left = sum->total - sum->bytes;
    if (us < PROGRESS_SURE_US || bytes <= 0 || left <= 0) return "";
    double more = (double)us / (double)bytes * (double)left;
    if (more > 1e15) return ""; /* nobody waits that long */
    int64_t seconds = (int64_t)(more / 1e6) + 1;
    if (seconds < 60) return arena_printf(a, ", %d s left", (int)seconds);
    return arena_printf(a, ", %s left", show_duration(a, seconds * 1000000));
}

const char *progress_line(struct progress *p, struct arena *a, const struct run_status *s)
{
    struct progress_sum sum = progress_sum(s);
    int64_t since_us = p->has_begun ? p->last_us : s->started_us;
    if (!p->has_begun) {
        p->has_begun = true;
        p->first_us = s->now_us;
        p->first_bytes = sum.bytes;
    }
    int64_t us = s->now_us - since_us;
    int64_t rate = us > 0 ? (int64_t)((double)(sum.rows - p->last_rows) * 1e6 / (double)us) : 0;
    p->last_us = s->now_us;
    p->last_rows = sum.rows;
    const char *share = "";
    if (sum.is_known) {
        share =
            arena_printf(a, ", %d %% of %s%s", (int)((double)sum.bytes * 100 / (double)sum.total),
                         show_size(a, sum.total), progress_left(p, a, &sum, s->now_us));
    }
    return arena_printf(a, "%s, %s/s%s, %s", show_many(a, (uint64_t)sum.rows, "record"),
                        show_count(a, rate), share ? share : "",
                        show_many(a, s->checkpoints_shown, "checkpoint"));
}
