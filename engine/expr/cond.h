/* Conditions: their kernels, and the calls that decide which of their arguments a row needs, which
 * the compiler lays out itself. */
#ifndef SR_EXPR_COND_H
#define SR_EXPR_COND_H

#include "engine/expr/kernel.h"

enum cond { COND_NONE, COND_AND, COND_OR, COND_CASE, COND_COALESCE };

enum cond cond_of(const struct expr *e); /* COND_NONE for what is no such call */

/* Three-valued AND and OR of two columns. Where the first one decides, the second is not looked at
 * to any effect, so it may hold anything. */
extern const struct kernel cond_and, cond_or;
/* (when, a, b): a where `when` is TRUE, else b. (a, b): a where it is not NULL, else b. Values of a
 * fixed size, or texts in one and the same buffer. */
extern const struct kernel cond_select, cond_first;

extern const struct kernel cond_not, cond_null, cond_not_null;
extern const struct kernel cond_tests[4]; /* IS TRUE, IS NOT TRUE, IS FALSE, IS NOT FALSE */

#endif
