/* The table of built-in operators, ends with NULL. */
#ifndef SR_OPS_OPS_H
#define SR_OPS_OPS_H

#include <streamrun/op.h>

extern const struct sr_op_type *const ops_builtin[];

#endif
