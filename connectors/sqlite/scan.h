/* Reading a table or a query in the order of one column, from any place on.
 *
 * Rows of a table are ordered by the column and the rowid, so a place is the two of the last row. A
 * query, a view or a table without rowids is ordered by the column and all others that are read:
 * rows that are equal in all of them can stand for one another, so a place is the column of the
 * last row and how many rows with it were read.
 *
 *   scan_open -> { scan_begin -> sqlite3_step* -> scan_took* -> sqlite3_finalize }* -> scan_close
 */
#ifndef CONNECTORS_SQLITE_SCAN_H
#define CONNECTORS_SQLITE_SCAN_H

#include <sqlite3.h>

#include "connectors/sqlite/key.h"

struct scan_conf {
    const char *path, *table, *query;
    const char *column; /* NULL: the rowid */
    int64_t parts;
    const char *lower, *upper; /* whole numbers; NULL: not written */
    const char *growing;       /* column of an incremental scan; NULL: it is none */
    sr_duration interval;      /* not above 0: read what is there, then end */
};

struct scan {
    const struct sr_host *host;
    const struct scan_conf *conf;
    const struct sr_schema *schema;
    sqlite3 *db;
    const char *column; /* NULL: the rowid */
    bool has_rowid;
};

/* A piece of a scan, and how far it was read. */
struct scan_split {
    struct key lower, upper; /* inclusive; none: open */
    struct key last;         /* of the last row read; none: no row was */
    int64_t tie;             /* its rowid; or how many rows with `last` were read */
};

/* SR_EABSENT, SR_ECONFIG, SR_EBUSY and what SQLite says. */
sr_rc scan_open(struct scan *c, const struct sr_source_open *o, struct sr_error *err);
void scan_close(struct scan *c);
/* A statement whose first columns are the schema's, from behind what was read on. */
sr_rc scan_begin(struct scan *c, const struct scan_split *split, sqlite3_stmt **out,
                 struct sr_error *err);
/* How many rows at the begin of that statement were read before. */
int64_t scan_to_skip(const struct scan *c, const struct scan_split *split);
/* The statement's row was read. False: out of memory, or a key that is too long. */
bool scan_took(const struct scan *c, struct scan_split *split, sqlite3_stmt *s);
/* The least and the greatest of the column; none in an empty table. SR_ECONFIG: it has NULLs. */
sr_rc scan_range(struct scan *c, struct key *least, struct key *greatest, struct sr_error *err);
sr_rc scan_fail(const struct scan *c, const char *doing, struct sr_error *err);

bool scan_split_save(const struct scan_split *s, struct sr_out *note); /* false: out of memory */
sr_rc scan_split_load(struct scan_split *s, struct sr_bytes note);     /* SR_ECORRUPT */
void scan_split_done(struct scan_split *s);

#endif
