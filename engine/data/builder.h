/* The engine's side of struct sr_builder: makes one, seals it into a view. */
#ifndef SR_DATA_BUILDER_H
#define SR_DATA_BUILDER_H

#include <streamrun/host.h>

struct sr_home;

/* Columns by schema; `wanted` (by column, borrowed) may be NULL: all. Columns that are not wanted
 * hold NULLs when sealed. */
sr_rc builder_open(struct sr_builder *b, struct sr_home *home, const struct sr_host *host,
                   const struct sr_schema *schema, const bool *wanted, struct sr_error *err);
/* The rows done so far as a view that the caller owns; the builder begins anew. *out is NULL when
 * there are none. */
sr_rc builder_seal(struct sr_builder *b, struct sr_view **out, struct sr_error *err);
void builder_close(struct sr_builder *b); /* NULL and half-open ones allowed */

/* For a sr_host: services over the home of the task that h->ctx is a struct host_ctx for. */
bool builder_grow(struct sr_builder *b, uint32_t c, uint32_t len);
void builder_use(struct sr_builder *b, uint32_t c, struct sr_buffer *bytes);
bool builder_changes(struct sr_builder *b);

#endif
