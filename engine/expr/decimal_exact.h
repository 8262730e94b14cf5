/* Sums, differences and products of DECIMAL that always fit the type of their result, so that no
 * row is checked or rounded: all but those whose result would need more than 38 digits. */
#ifndef SR_EXPR_DECIMAL_EXACT_H
#define SR_EXPR_DECIMAL_EXACT_H

#include <streamrun/types.h>

struct kernel; /* kernel.h */

/* op: + - *. Of DECIMAL and BIGINT. NULL: the result does not always fit, or is of other types. */
const struct kernel *decimal_exact(char op, const struct sr_type *a, const struct sr_type *b,
                                   const struct sr_type *result);

#endif
