/* Time zones that stand as text in arguments of a call: loaded when they change. */
#ifndef SR_EXPR_ZONE_ARG_H
#define SR_EXPR_ZONE_ARG_H

#include "engine/base/zone.h"
#include "engine/expr/kernel.h"

struct zone_arg {
    bool is_set, is_good;
    char name[ZONE_NAME_MAX + 1];
    struct zone *zone; /* NULL: UTC */
};

void zone_arg_done(struct zone_arg *z);
/* Makes the text of argument i in row r the zone, unless it is already. False: there is no such
 * zone, and it is UTC. */
bool zone_arg_use(struct zone_arg *z, const struct call *k, uint32_t i, uint32_t r);

#endif
