/* What Java's hashCode() answers for a value as Flink holds it: %h of PRINTF shows it. */
#ifndef SR_EXPR_JAVA_HASH_H
#define SR_EXPR_JAVA_HASH_H

#include <streamrun/batch.h>

/* Of row r, which is not NULL, of a column of any type but bytes and nested ones. */
uint32_t java_hash(const struct sr_column *c, uint32_t r);

#endif
