/* What operators do when they fill the view that they answer. */
#ifndef SR_OPS_EMIT_H
#define SR_OPS_EMIT_H

#include <streamrun/op.h>

#include "engine/data/pool.h"

/* `out` has the rows of `in`, of which `picked` by `sel` (NULL: all stored ones) are alive: takes
 * over change kinds, watermarks and split. */
void emit_pick(struct sr_view *out, const struct sr_view *in, const uint16_t *sel, uint32_t picked);

/* A new column with the values of `from` at rows row[0..count) as its rows at[0..count), of `rows`
 * altogether; text is shared, not copied. NULL: out of memory. For types that are not nested. */
struct sr_column *emit_gather(struct sr_home *home, const struct sr_column *from,
                              const uint16_t *row, const uint16_t *at, uint32_t count,
                              uint32_t rows);
/* Are rows a and b of a column the same value, bit for bit? Not for nested types. */
bool emit_same(const struct sr_column *c, uint32_t a, uint32_t b);

/* The end of a call of an operator that answers `out`, taken over: without rows there is none. */
enum sr_step emit_end(struct sr_op_io *io, struct sr_view *out);

/* Says in io->bad that row number r cannot be computed; false: there is no room. */
bool emit_bad(struct sr_op_io *io, uint32_t r, const char *words);

#endif
