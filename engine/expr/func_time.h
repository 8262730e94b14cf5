/* Dates and times: what arithmetic asks of them. */
#ifndef SR_EXPR_FUNC_TIME_H
#define SR_EXPR_FUNC_TIME_H

#include "engine/expr/family.h"

/* Binds `a op b` of dates, times and intervals. */
bool func_time_arith(struct bind_call *b, char op);

#endif
