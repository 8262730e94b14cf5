/* Tables for people in a savepoint's SQLite file, one a state: `SELECT * FROM state_a_groups;`.
 *
 *   state            one row a table: number, operator (its uid), name (of the state), table_name,
 *                    entries, columns (with SQL types), definition, digest (of all rows in order),
 *                    check_digest (of the other columns)
 *   state_OPERATOR_NAME   key columns, order columns, value columns, then
 *                    key_group, namespace (0, or the end of the window in ms), timer (ms of event
 *                    time, or NULL)
 *
 * They are copies: a savepoint is restored from `part`. But every byte of them is under a digest,
 * and one that is wrong is damage as elsewhere.
 */
#ifndef SR_CKPT_CHKTABLES_H
#define SR_CKPT_CHKTABLES_H

#include "engine/ckpt/chkdb.h"

/* Within a transaction: what the filler has to say of m. */
sr_rc chktables_write(const struct chkdb *c, const struct store_filler *filler,
                      const struct manifest *m, struct sr_error *err);
/* Is this a definition of a table that belongs here? Number `i` behind the store's own. */
sr_rc chktables_check_definition(const struct chkdb *c, size_t i, const char *sql,
                                 struct sr_error *err);
/* Reads all of them, and compares digests. A file without them is fine. */
sr_rc chktables_verify(const struct chkdb *c, struct sr_error *err);

#endif
