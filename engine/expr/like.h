/* LIKE: patterns of %, _ and an escape. */
#ifndef SR_EXPR_LIKE_H
#define SR_EXPR_LIKE_H

#include "engine/expr/family.h"

bool like_bind(struct bind_call *b);

#endif
