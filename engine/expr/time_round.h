/* FLOOR(time TO unit) and CEIL(time TO unit). */
#ifndef SR_EXPR_TIME_ROUND_H
#define SR_EXPR_TIME_ROUND_H

#include "engine/expr/family.h"

/* Argument 1 is a literal with the unit's name. */
bool time_round_bind(struct bind_call *b, bool is_ceil);

#endif
