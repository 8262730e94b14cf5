/* One value of a column as SQLite keeps it. */
#ifndef CONNECTORS_SQLITE_CELL_H
#define CONNECTORS_SQLITE_CELL_H

#include <sqlite3.h>
#include <streamrun/batch.h>

enum cell_affinity { CELL_TEXT, CELL_NUMERIC, CELL_INTEGER, CELL_REAL, CELL_BLOB };

/* What a column of this type is declared as; NULL: cannot be written. */
const char *cell_declared(const struct sr_type *t);
/* The affinity that SQLite gives a declared type. */
enum cell_affinity cell_affinity(const char *declared);
/* Does a column of this affinity keep the values of the type as they are? */
bool cell_fits(const struct sr_type *t, enum cell_affinity a);
/* Binds row r as parameter `at`; text and bytes must stay until the statement was run. Answers
 * SQLite's code. Not for a column with children: its JSON is the caller's to make. */
int cell_bind(sqlite3_stmt *s, int at, const struct sr_column *c, uint32_t r);
/* Are two rows of a column equal? For keys: no NULLs. */
bool cell_equal(const struct sr_column *c, uint32_t r, uint32_t other);

#endif
