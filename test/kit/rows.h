/* Views by hand: written and read as text, so that a test shows its rows.
 *
 * A schema: "k BIGINT, s STRING NOT NULL". Rows: "1,a; -U 2,NULL": change kinds +I (when left out),
 * -U, +U, -D; integers as they are, BOOLEAN 0 or 1, DECIMAL unscaled, times in milliseconds.
 */
#ifndef TEST_KIT_ROWS_H
#define TEST_KIT_ROWS_H

#include "engine/base/arena.h"
#include "engine/data/pool.h"

struct sr_schema *rows_schema(struct arena *a, const char *text);
struct sr_view *rows_view(struct sr_home *home, const struct sr_schema *schema, const char *text);
/* A view without rows, to be filled: columns with room for a batch. */
struct sr_view *rows_empty(struct sr_home *home, const struct sr_schema *schema);
/* The live rows: "+I 1,a; -U 2,NULL". */
const char *rows_text(struct arena *a, const struct sr_view *v);
void rows_set_watermarks(struct sr_home *home, struct sr_view *v, const int64_t *ms);

#endif
