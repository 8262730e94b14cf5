/* One value of a result of SQLite as a column of a declared type.
 *
 * SQLite keeps any value in any column, so what stands there need not be of the type: that is a bad
 * row, with words about it. Whole numbers are taken for all types of numbers and for BOOLEAN (0,
 * 1), reals for FLOAT, DOUBLE and DECIMAL, texts for every type that they can be read as, as the
 * csv format reads them. ROW, ARRAY, MAP and MULTISET are texts of JSON, as the sink writes them.
 */
#ifndef CONNECTORS_SQLITE_CELL_READ_H
#define CONNECTORS_SQLITE_CELL_READ_H

#include <sqlite3.h>

#include "connectors/json/json_cell.h"
#include "connectors/text/value.h"

struct cell_type {
    bool is_nested; /* JSON, for json_cells: else the value */
    struct value value;
    bool may_have_zone; /* TIMESTAMP_LTZ: with an offset or a Z, or else in UTC */
    struct value zoned;
};

/* False: cannot be read. */
bool cell_type_init(struct cell_type *t, const struct sr_field *field);
/* Puts it to column c of the builder's current row. `nested` reads columns of nested types, NULL if
 * there are none. False: it is none of the type, see words. */
bool cell_read(struct sr_builder *b, uint32_t c, const struct cell_type *t,
               struct json_cells *nested, sqlite3_stmt *s, char words[JSON_CELL_WORDS]);
/* Appends the values of a result's first `columns` columns as a JSON object, for people. False: out
 * of memory. */
bool cell_describe(sqlite3_stmt *s, int columns, struct sr_out *out);

#endif
