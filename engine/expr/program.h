/* A vector program: expressions compiled to a straight list of steps over columns.
 *
 * One program computes an optional condition and any number of outputs from the columns of a view.
 * Common sub-expressions are computed once a batch, constants once a program. A step is one call of
 * one kernel over all rows that need it; no call, branch on type or allocation a row.
 *
 * A row whose computation fails (CAST, division by zero, overflow) is reported, and left out of the
 * answer. A branch that a row does not take (CASE, COALESCE, AND behind FALSE) cannot fail it.
 */
#ifndef SR_EXPR_PROGRAM_H
#define SR_EXPR_PROGRAM_H

#include <streamrun/op.h>

#include "engine/expr/expr.h"

struct program;

struct program_conf {
    const struct sr_schema *in;
    const struct expr *condition; /* BOOLEAN; rows where it is not TRUE are dropped; NULL: none */
    const struct expr *const *out;
    uint32_t outs;
    const char *time_zone; /* table.local-time-zone */
    const struct sr_host
        *host; /* clock and random numbers; NULL: calls that need them are refused */
};

/* Compiles. The program belongs to one thread. Trees are borrowed for its life. */
sr_rc program_new(struct program **out, const struct program_conf *conf, struct sr_error *err);
void program_free(struct program *p); /* NULL allowed */

struct program_result {
    bool has_watermark; /* the caller knows it: `watermark` is in force in front of v */
    int64_t watermark;
    uint32_t picked; /* rows that passed */
    const uint16_t
        *sel; /* their row numbers, ascending; good until the next run and as long as v; NULL: all
                 stored */
    struct sr_column **col; /* `outs` columns, a reference each is the caller's */
    uint32_t bads;
    struct sr_bad_row *bad; /* the caller's room for SR_BAD_ROWS_MAX; sorted by row */
    uint32_t used;          /* live rows taken: all, or fewer when `bad` was full */
    uint32_t filtered;      /* of these: dropped by the condition */
};

/* Runs over live rows [from, picked) of v. r->col (room for outs) and r->bad are the caller's.
 * Output columns are indexed by the row numbers of v and have v->rows stored rows. */
sr_rc program_run(struct program *p, struct sr_home *home, const struct sr_view *v, uint32_t from,
                  struct program_result *r, struct sr_error *err);

struct program_text {
    const char *text;
    uint32_t len;
};

/* The value of a constant expression, as text that Flink would print, ended by a \0 that `len` does
 * not count; NULL for a NULL: for `eval` and tests. SR_EDATA when computing it fails, SR_ECONFIG
 * when it is not constant. */
sr_rc program_constant(struct arena *a, const struct expr *e, const char *time_zone,
                       const struct sr_host *host, struct program_text *out, struct sr_error *err);
/* A constant folded to a literal; e itself when it is none or when computing it fails. */
const struct expr *program_fold(struct arena *a, const struct expr *e, const char *time_zone);
/* The same where the session's time zone is not known: what hangs on it stays e. */
const struct expr *program_fold_early(struct arena *a, const struct expr *e);

#endif
