/* SQLite on a simulated disk: a VFS over struct disk, with journal files, syncs and locks.
 *
 *   struct sqlite_vfs *v = sqlite_vfs_new("sim", disk);     env.sqlite_vfs = "sim";
 *   ... sqlite3_open_v2(path, &db, flags, "sim") ...
 *   sqlite_vfs_free(v);                                     after the last connection was closed
 *
 * It does what SQLite's unix VFS does: a new journal's directory is synced with the journal's first
 * sync, xDelete syncs the directory when SQLite asks for it, locks go NONE, SHARED, RESERVED,
 * PENDING, EXCLUSIVE. The name of a new *database* is not made durable by SQLite, here as there:
 * its maker must sync_dir. Two connections are two processes as far as locks go. While the disk is
 * off every call answers SQLITE_IOERR, so that a connection can only be closed; locks of
 * connections from before a restart are gone. There is no shared memory, so no WAL. Random bytes
 * come from the disk's seed, sleeping takes no time, and the clock is what disk_set_time said.
 */
#ifndef TEST_SIM_SQLITE_VFS_H
#define TEST_SIM_SQLITE_VFS_H

#include "test/sim/disk.h"

struct sqlite_vfs;

struct sqlite_vfs *sqlite_vfs_new(const char *name, struct disk *d); /* aborts on failure */
void sqlite_vfs_free(struct sqlite_vfs *v);                          /* NULL allowed */

#endif
