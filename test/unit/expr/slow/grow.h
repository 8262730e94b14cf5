/* Random typed expressions over a schema of every type. */
#ifndef TEST_UNIT_EXPR_SLOW_GROW_H
#define TEST_UNIT_EXPR_SLOW_GROW_H

#include "engine/base/arena.h"
#include "engine/expr/expr.h"

struct grow {
    struct arena *arena;
    struct sr_schema schema;
    uint64_t seed;
    bool broken;             /* text may be no UTF-8 */
    uint32_t grown, refused; /* calls that were made, and such as take no such types */
};

/* A column of each type, some of them NOT NULL. */
void grow_open(struct grow *g, struct arena *a, uint64_t seed, bool broken);
/* A tree of any type, about so many calls deep. */
const struct expr *grow_any(struct grow *g, int depth);
const struct expr *grow_condition(struct grow *g, int depth);
/* The same tree with columns in place of literals, where a call lets them be columns: what is
 * folded in one is computed in the other. `literal` gets what the columns behind the schema's hold,
 * as many as *literals says. */
const struct expr *grow_unfold(struct grow *g, const struct expr *e, const struct expr **literal,
                               uint32_t *literals, uint32_t max);

#endif
