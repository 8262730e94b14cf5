/* ROW, ARRAY, MAP and MULTISET columns from JSON texts, one value a text: for connectors whose
 * cells hold what the json format would write there.
 *
 *   json_cells_new -> json_cells_put* -> json_cells_free
 *
 * Belongs to one thread.
 */
#ifndef SR_JSON_JSON_CELL_H
#define SR_JSON_JSON_CELL_H

#include <streamrun/format.h>

#define JSON_CELL_WORDS 160u

struct json_cells;

/* Can columns of that type be read? False: words say why, and are the caller's. */
sr_rc json_cells_check(const struct sr_field *field, struct sr_error *err);
/* For the nested columns of a schema, which is kept; all of them were checked. NULL: out of
 * memory. */
struct json_cells *json_cells_new(const struct sr_host *host, const struct sr_schema *schema);
void json_cells_free(struct json_cells *x); /* NULL allowed */
/* Puts the value of the text to column c of the builder's current row. False: it is none of the
 * column's type, see words; the row is to be dropped. */
bool json_cells_put(struct json_cells *x, struct sr_builder *b, uint32_t c, const char *text,
                    uint32_t len, char words[JSON_CELL_WORDS]);

#endif
