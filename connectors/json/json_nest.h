/* JSON objects and arrays to ROW, MAP and ARRAY columns, at any depth. */
#ifndef SR_JSON_JSON_NEST_H
#define SR_JSON_JSON_NEST_H

#include "connectors/json/json_value.h"

/* Takes the value that is next and puts it to a column with children. Of keys that come twice the
 * last one counts, in a MAP too. False: w->fault or *fault tells; what was put is to be
 * forgotten. */
bool json_nest_put(struct json_decoder *x, struct json_walk *w, const struct json_place *p,
                   struct json_fault *fault);

#endif
