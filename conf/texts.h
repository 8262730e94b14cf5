/* Expressions and names of a job file, as job_text with their places.
 *
 * YAML sometimes eats a part of an expression: a comma in a flow list, what stands behind ` #`, a
 * `: `. Where the rest shows it, the fault says so and shows the form in which YAML keeps off.
 */
#ifndef SR_CONF_TEXTS_H
#define SR_CONF_TEXTS_H

#include "conf/reader.h"

/* False: a fault was added, *out is not set. */
bool texts_one(struct reader *rd, const struct entry *e, struct node *n, struct job_text *out);
bool texts_type(struct reader *rd, const struct entry *e, struct node *n, struct job_text *out);
/* A list, or one text that is split at its outer commas and semicolons. */
void texts_list(struct reader *rd, const struct entry *e, struct job_texts *out);

#endif
