/* The builders of what is inside nested columns: one for each column with children, at any depth.
 *
 * All of one root builder lie in a list in which the one around comes before those inside it. Their
 * columns are the children of the columns around them, so they move when those are sealed or grow:
 * inner_point says so.
 */
#ifndef SR_DATA_INNER_H
#define SR_DATA_INNER_H

#include <streamrun/host.h>

/* Makes the builders for root->col; none for columns without children. False: out of memory. */
bool inner_open(struct sr_builder *root, struct sr_home *home);
void inner_close(struct sr_builder *root);
/* The root's columns are others now, without rows. */
void inner_begin(struct sr_builder *root);
/* Before the root's `rows` rows are sealed: says in each column inside how many rows it has. */
void inner_end(struct sr_builder *root);
/* Memory ran out in b, which may be a root. */
void inner_break(struct sr_builder *b);

/* For a sr_host. */
bool inner_widen(struct sr_builder *elements);
void inner_null(struct sr_builder *b, uint32_t c);
void inner_forget(struct sr_builder *b, uint32_t c);

#endif
