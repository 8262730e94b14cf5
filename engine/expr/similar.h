/* SIMILAR TO: regular expressions as SQL writes them, by way of those of regex.h. */
#ifndef SR_EXPR_SIMILAR_H
#define SR_EXPR_SIMILAR_H

#include "engine/expr/family.h"

bool similar_bind(struct bind_call *b); /* text, pattern, perhaps the escape character */

#endif
