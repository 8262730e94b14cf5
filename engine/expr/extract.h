/* EXTRACT: one part of a date, time or interval. */
#ifndef SR_EXPR_EXTRACT_H
#define SR_EXPR_EXTRACT_H

#include "engine/expr/family.h"

/* Argument 0 is a literal with the unit's name. */
bool extract_bind(struct bind_call *b);

#endif
