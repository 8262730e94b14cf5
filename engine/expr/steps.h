/* What operators compute, as typed expressions: the plain data that plan fills and ops read.
 *
 * Each struct is the `conf` of the operator of that name. Expressions refer to the operator's input
 * schema. All of it lives in the plan's arena.
 */
#ifndef SR_EXPR_STEPS_H
#define SR_EXPR_STEPS_H

#include "engine/expr/expr.h"
#include "engine/expr/func.h"

/* "calc": WHERE and SELECT in one; a row that passes yields one row. */
struct calc_step {
    const struct expr *condition; /* NULL: every row passes */
    const struct expr *const *out;
    uint32_t outs;
    const char *time_zone;
};

/* "watermark": stamps each row with the candidate watermark in view->watermark: the value of `at`
 * in ms, NULL counts as SR_WATERMARK_NONE. The source task turns candidates into a watermark. */
struct watermark_step {
    const struct expr *at; /* TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits */
    const char *time_zone;
};

/* "group-aggregate": GROUP BY without a window: an updating result (+I, then -U and +U).
 * "window-aggregate": one row a key and window when the watermark passes its end. Output
 * columns: keys, then (window only) window_start, window_end, window_time, then aggregates. */
/* "normalize" (is_upsert): the last row of each key. `agg` has the other columns, each as `arg`
 * alone. */
enum window_kind { WINDOW_NONE, WINDOW_TUMBLE, WINDOW_HOP, WINDOW_CUMULATE, WINDOW_SESSION };

struct aggregate_step {
    const uint32_t *key; /* input columns */
    uint32_t keys;
    const struct agg *agg;
    uint32_t aggs;
    enum window_kind window;
    uint32_t time_column;       /* the time attribute, when windowed */
    int64_t size_ms, offset_ms; /* SESSION: its gap is the size */
    int64_t slide_ms; /* from one window's end to the next: HOP's slide, CUMULATE's step */
    bool is_proctime; /* windows of the wall clock: of when a row is processed */
    const char *time_zone;
    bool is_upsert;
};

#endif
