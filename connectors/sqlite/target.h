/* The database that rows are applied to: its table, and which checkpoints it holds already.
 *
 * Rows and the record of their checkpoint go in by one transaction, so that a checkpoint is in the
 * target wholly or not at all, and applying it again does nothing:
 *
 *   streamrun_commit(job, sink, writer, part, lineage, attempt, checkpoint, rows)
 *
 * A writer is one instance of the sink in one run, named at random; its checkpoints ascend. So a
 * repeated lineage, attempt or checkpoint number (a store that was deleted, a run without one) is
 * never taken for work already done.
 *
 * Column types of a table that is made: BOOLEAN 0/1; TINYINT to BIGINT integers; FLOAT, DOUBLE REAL
 * (NaN is NULL); CHAR, STRING TEXT; BYTES BLOB; DECIMAL TEXT, exact; DATE, TIME, TIMESTAMP TEXT as
 * '2026-01-31', '12:00:00', '2026-01-31 12:00:00.123' with as many digits as the type has; ROW,
 * ARRAY, MAP TEXT, as the json format writes them.
 */
#ifndef CONNECTORS_SQLITE_TARGET_H
#define CONNECTORS_SQLITE_TARGET_H

#include <sqlite3.h>

#include "connectors/common/redo.h"
#include "connectors/text/node.h"

#define TARGET_MARKS     "streamrun_commit"
#define TARGET_MARKS_MAX 1000 /* writers of one sink that are remembered */

struct target {
    const struct sr_host *host;
    const struct sr_schema *schema;
    const char *path, *table, *job, *sink; /* borrowed */
    sqlite3 *db;
    sqlite3_stmt *insert, *delete; /* delete: only with a key */
    struct node *node;             /* by column, and what is inside them */
    struct sr_out json;            /* a nested value while it is bound */
};

/* May the columns of the schema be written at all? At plan time. */
sr_rc target_check(const struct sr_schema *schema, const char *table, struct sr_error *err);
/* Opens the database, makes the tables unless told not to, and checks that the table fits. The
 * caller has set what is borrowed. SR_EBUSY: locked by somebody. */
sr_rc target_open(struct target *t, bool may_create, struct sr_error *err);
/* Whether the database and its table, as far as they are there, would do. Writes nothing. */
sr_rc target_look(struct target *t, bool may_create, struct sr_error *err);
/* Applies a redo file, once. SR_EBUSY: locked, nothing happened. */
sr_rc target_apply(struct target *t, const struct redo_mark *mark, struct sr_error *err);
/* Does it hold rows of this sink from any run? SR_EFINAL: no, as when the file was removed or
 * replaced since; then nothing is to be written, because what was committed is gone. */
sr_rc target_is_old(struct target *t, struct sr_error *err);
void target_close(struct target *t);

#endif
