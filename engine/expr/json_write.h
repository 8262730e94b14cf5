/* Values of columns as JSON, as Flink's JSON_OBJECT, JSON_ARRAY and JSON_STRING write them. */
#ifndef SR_EXPR_JSON_WRITE_H
#define SR_EXPR_JSON_WRITE_H

#include <streamrun/batch.h>

#include "engine/expr/json_text.h"

/* DATE, TIME and intervals have no JSON there; nor do maps whose keys are no text. */
bool json_can_write(const struct sr_type *t);
void json_write_value(struct json_out *o, const struct sr_column *c,
                      uint32_t r); /* null for NULL */

#endif
