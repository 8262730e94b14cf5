/* A value as Flink writes it: what CAST(x AS STRING) gives, and what `eval` prints. */
#ifndef SR_EXPR_VALUE_TEXT_H
#define SR_EXPR_VALUE_TEXT_H

#include <streamrun/batch.h>

#define VALUE_TEXT_MAX 64 /* room that any value but text and bytes needs */

/* Row r of a column of any type but text, bytes and nested ones; answers the length. */
uint32_t value_text(const struct sr_column *c, uint32_t r, char *to);

#endif
