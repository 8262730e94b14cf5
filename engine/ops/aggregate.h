/* What the running and the windowed aggregation share: the map of groups, arguments, accumulators.
 */
#ifndef SR_OPS_AGGREGATE_H
#define SR_OPS_AGGREGATE_H

#include <streamrun/op.h>
#include <streamrun/state.h>

#include "engine/expr/program.h"
#include "engine/expr/steps.h"
#include "engine/ops/agg.h"

#define AGGREGATE_MORE_MAX 2u /* columns of a group besides keys and accumulators */

struct aggregate {
    const struct aggregate_step *step;
    struct sr_home *home;
    struct sr_state *state;
    const struct sr_schema *out;
    struct sr_map_def def;           /* of a map of groups; its columns are in `arena` */
    struct sr_map *groups;           /* that rows are folded into; set by the operator */
    struct accumulator *accumulator; /* by aggregate */
    struct arena *arena;
    struct program *program;  /* arguments and filters; NULL: there is neither */
    uint32_t *arg, *filter;   /* by aggregate: output of the program; UINT32_MAX: none */
    struct sr_column **input; /* outputs of the program, for the rows of the running call */
    uint32_t inputs;
    /* The rows of the running call that can be computed. */
    uint16_t row[SR_BATCH_ROWS];
    uint32_t rows;
    uint32_t slot[SR_BATCH_ROWS];
    bool is_new[SR_BATCH_ROWS];
    int8_t sign[SR_BATCH_ROWS];
};

/* `more`, ended by NULL, names BIGINT columns of a group that stand in front of the accumulators;
 * NULL: none. The maps are the operator's to declare. */
sr_rc aggregate_open(struct aggregate *a, const struct sr_op_open *o, const char *const *more,
                     struct sr_error *err);
void aggregate_close(struct aggregate *a); /* half-open ones too */
/* Declares a map of groups. name NULL: out of memory. */
sr_rc aggregate_map(const struct aggregate *a, const char *name, struct sr_map **out,
                    struct sr_error *err);
/* Computes arguments and filters of live rows of `v` from `from` on; rows that fail go to io->bad.
 * Fills a->row and a->rows, and *used with the live rows that are done with. */
sr_rc aggregate_begin(struct aggregate *a, const struct sr_view *v, uint32_t from,
                      struct sr_op_io *io, uint32_t *used, struct sr_error *err);
void aggregate_end(struct aggregate *a); /* lets go of the arguments */
/* Finds or makes entries of a map of groups; new ones are cleared. */
sr_rc aggregate_add(const struct aggregate *a, struct sr_map *m, const struct sr_map_keys *k,
                    uint32_t *slot, bool *is_new);
/* Finds or makes the groups of a->row, fills a->slot and a->is_new; new ones are cleared. */
sr_rc aggregate_groups(struct aggregate *a, const struct sr_view *v, const int64_t *namespaces,
                       struct sr_error *err);
/* Folds rows into accumulator i. `rows->row` are row numbers; rows->arg is filled here. */
sr_rc aggregate_fold(struct aggregate *a, uint32_t i, struct agg_rows rows, struct sr_error *err);
sr_rc aggregate_failed(const struct aggregate *a, sr_rc rc, struct sr_error *err);

#endif
