/* The table of built-in operators, ends with NULL. */
#ifndef SR_OPS_OPS_H
#define SR_OPS_OPS_H

#include <streamrun/op.h>

extern const struct sr_op_type *const ops_builtin[];

/* Each by itself; its conf is the struct of expr/steps.h that has its name. */
extern const struct sr_op_type calc_type, watermark_type;
extern const struct sr_op_type group_aggregate_type, window_aggregate_type; /* aggregate_step */
extern const struct sr_op_type normalize_type;                              /* likewise */

#endif
