/* Calls that decide which of their arguments a row needs: the compiler lays them out itself. */
#ifndef SR_EXPR_COND_H
#define SR_EXPR_COND_H

#include "engine/expr/kernel.h"

enum cond { COND_NONE, COND_AND, COND_OR, COND_CASE, COND_COALESCE };

enum cond cond_of(const struct expr *e); /* COND_NONE for what is no such call */

/* Three-valued AND and OR of two columns. Where the first one decides, the second is not looked at
 * to any effect, so it may hold anything. */
extern const struct kernel cond_and, cond_or;

#endif
