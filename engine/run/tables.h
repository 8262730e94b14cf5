/* What a savepoint holds, as tables for people: the filler of a store (store.h).
 *
 * One table a map of an operator. BOOLEAN and integers are INTEGER, FLOAT and DOUBLE REAL, BYTES
 * BLOB; all others are TEXT: as CAST(x AS STRING) writes them, ARRAY, MAP and ROW as JSON.
 */
#ifndef SR_RUN_TABLES_H
#define SR_RUN_TABLES_H

#include "engine/ckpt/store.h"

/* Parts of more bytes together than `bytes_max` give no tables. ctx: a const uint64_t of that. */
sr_rc tables_fill(void *bytes_max, const struct manifest *m, struct store_tables *to,
                  struct sr_error *err);

#endif
