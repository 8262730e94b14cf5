/* IN over a list of literals: a sorted table, looked up once a row. */
#ifndef SR_EXPR_IN_LIST_H
#define SR_EXPR_IN_LIST_H

#include "engine/expr/kernel.h"

/* For values of this kind; NULL: there is none, each literal is compared on its own. The call's
 * argument 0 is the value, all others are literals of its type that are not NULL. */
const struct kernel *in_list_kernel(const struct sr_type *t);

#endif
