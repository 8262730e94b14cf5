/* Variables in values: ${NAME}, ${NAME:-default}, ${file:PATH}, and $${ for a literal ${. One pass,
 * no second look. */
#ifndef SR_CONF_VARS_H
#define SR_CONF_VARS_H

#include "conf/reader.h"

/* Replaces ${...} in a scalar, once; faults what is unset. Idempotent. Answers its text. `dir`:
 * where relative paths start. */
const char *vars_expand(struct reader *rd, struct node *n, const char *dir);

#endif
