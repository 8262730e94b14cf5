/* GREATEST and LEAST. */
#ifndef SR_EXPR_EXTREME_H
#define SR_EXPR_EXTREME_H

#include "engine/expr/family.h"

bool extreme_bind(struct bind_call *b, bool is_greatest);

#endif
