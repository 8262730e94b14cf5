/* Whether what came out is what the scene's rows give: every row exactly once, in order per split,
 * aggregates equal to a trivial reference.
 */
#ifndef TEST_SIM_CHECKER_H
#define TEST_SIM_CHECKER_H

#include "test/sim/life.h"

void checker_check(struct world *w, const struct history *h); /* world_fail says what is wrong */

#endif
