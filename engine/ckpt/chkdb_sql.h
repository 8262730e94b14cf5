/* What chkdb.c lends to chkdb_rows.c: statements and failures. */
#ifndef SR_CKPT_CHKDB_SQL_H
#define SR_CKPT_CHKDB_SQL_H

#include "engine/ckpt/chkdb.h"

sr_rc chkdb_fail(const struct chkdb *c, const char *what, struct sr_error *err); /* SQLite's last */
sr_rc chkdb_corrupt(const struct chkdb *c, const char *what, struct sr_error *err);
/* *out must be NULL before, and finalized after. */
sr_rc chkdb_prepare(const struct chkdb *c, const char *sql, sqlite3_stmt **out,
                    struct sr_error *err);
bool chkdb_bind_number(sqlite3_stmt *st, int at, uint64_t n);
bool chkdb_bind_text(sqlite3_stmt *st, int at, const char *s);

#endif
