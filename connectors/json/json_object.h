/* A JSON object as the current row of a builder. */
#ifndef SR_JSON_JSON_OBJECT_H
#define SR_JSON_JSON_OBJECT_H

#include "connectors/json/json_value.h"

enum json_object_how {
    JSON_OBJECT_WHOLE, /* columns that it does not have are NULL, or its fault */
    JSON_OBJECT_OVER   /* over a row that was put: only what it has is put again */
};

/* Takes the object that is next. False: w->fault or *fault tells; the row is to be dropped. */
bool json_object_put(struct json_decoder *x, struct sr_builder *b, struct json_walk *w,
                     enum json_object_how how, struct json_fault *fault);

#endif
