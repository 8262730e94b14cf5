/* An SQLite VFS that changes nothing: what is written goes to memory and is forgotten.
 *
 * For looking into a store whose last commit was interrupted. SQLite reads no page before it has
 * played the journal back into the file; here it does so in memory, and the files stay as they are,
 * for the process that recovers, or for whoever investigates.
 *
 *   lookvfs_new -> sqlite3_open_v2(file, &db, READWRITE, lookvfs_name) -> close -> lookvfs_free
 *
 * One connection. While it has something in memory it keeps its SHARED lock, so that no writer can
 * change the file beneath. No WAL.
 */
#ifndef SR_CKPT_LOOKVFS_H
#define SR_CKPT_LOOKVFS_H

struct lookvfs;

/* On top of the VFS `base` (NULL: the default one). NULL: out of memory, or no such base. */
struct lookvfs *lookvfs_new(const char *base);
void lookvfs_free(struct lookvfs *v); /* after the connection was closed; NULL allowed */
const char *lookvfs_name(const struct lookvfs *v);

#endif
