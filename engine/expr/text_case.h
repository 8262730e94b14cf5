/* Upper and lower case of text, by Unicode. */
#ifndef SR_EXPR_TEXT_CASE_H
#define SR_EXPR_TEXT_CASE_H

#include "engine/expr/kernel.h"

/* UPPER and LOWER. What is not one letter to one letter: sharp s becomes SS; a sigma at the end
 * of a word becomes the final one; capital I with a dot becomes i and a combining dot. */
extern const struct kernel text_case_upper, text_case_lower;

#endif
