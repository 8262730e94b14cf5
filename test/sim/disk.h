/* A disk in memory that forgets what was not synced: struct sr_files for the simulator and for
 * tests.
 *
 * It keeps two views of everything: what the running process sees, and what is sure to outlive a
 * power loss. Between them lie the sectors (DISK_SECTOR bytes) that were written and not synced,
 * and the changes of names (create, rename, remove, make_dir) whose directory was not synced. After
 * a power loss any subset of both may have come through; a rename comes through whole or not at
 * all.
 *
 *            disk_crash, disk_crash_in               disk_restart
 *   ON -------------------------------> OFF -------------------------> ON
 *   calls work                          every call fails with SR_EIO   as the seed has decided;
 *                                       and changes nothing            no lock is held
 *
 * OFF is how a process "dies" without a longjmp: whatever it still calls has no effect, so that it
 * comes back with an error and its memory is freed in the ordinary way. Files that were opened
 * before the restart stay dead after it; only closing them is of use.
 *
 * Guaranteed to outlive a power loss:
 *   - bytes, once sync on an open file of theirs has answered SR_OK;
 *   - a name, once sync_dir on its directory has (for a rename: the one that it moved to).
 * A sync that fails leaves an unknown part of the bytes behind, and forgets that the rest is dirty:
 * a second sync of the same file succeeds and proves nothing, as on Linux.
 *
 * Same seed and same calls: same answers, same survivors. One thread.
 */
#ifndef TEST_SIM_DISK_H
#define TEST_SIM_DISK_H

#include <stdio.h>

#include <streamrun/files.h>

#define DISK_SECTOR   512u  /* written whole or not at all */
#define DISK_PATH_MAX 1024u /* bytes of a path */

struct disk;

enum disk_crash {
    DISK_KILL,      /* the process dies, the machine lives: all that it wrote is there */
    DISK_POWER_LOSS /* only what was synced is sure to be there */
};

/* What comes through a power loss of all that was not synced. */
enum disk_mercy {
    DISK_BY_SEED, /* one of the three, drawn */
    DISK_NOTHING,
    DISK_EVERYTHING,
    DISK_SOME /* each sector and each change of a name by a coin; lost ones behind the old end of
                 a file are zeros, and its size lies somewhere between the old and the new one */
};

enum disk_fault {
    DISK_FAULT_NONE,
    DISK_FAULT_EIO,    /* a write, create, rename, remove or read fails, without an effect */
    DISK_FAULT_ENOSPC, /* a write, create or make_dir finds no space */
    DISK_FAULT_SYNC    /* a sync or sync_dir fails: see above */
};

/* Chance of each fault, in a million, for each call that it can strike. */
struct disk_chances {
    uint32_t eio_ppm;
    uint32_t enospc_ppm;
    uint32_t sync_ppm;
};

struct disk *disk_new(uint64_t seed); /* empty but for "/"; aborts when memory is out */
void disk_free(struct disk *d);       /* open files must have been closed; NULL allowed */
const struct sr_files *disk_files(struct disk *d);

/* --- Dying and coming back -------------------------------------------------------------------- */

void disk_crash(struct disk *d, enum disk_crash kind);
/* Dies right before the n-th changing call from now (0: the next one) takes effect. */
void disk_crash_in(struct disk *d, uint64_t n, enum disk_crash kind);
void disk_crash_never(struct disk *d); /* takes back disk_crash_in */
bool disk_is_off(const struct disk *d);
void disk_restart(struct disk *d, enum disk_mercy mercy); /* only when OFF */
/* Calls so far that change something (create, write, truncate, sync, make_dir, sync_dir, rename,
 * remove, remove_dir): the steps at which a crash makes a difference. */
uint64_t disk_steps(const struct disk *d);

/* --- Faults --------------------------------------------------------------------------------- */

/* The n-th call from now (0: the next one) that `what` can strike fails with it, once. */
void disk_fail_in(struct disk *d, enum disk_fault what, uint64_t n);
bool disk_fail_pending(const struct disk *d); /* disk_fail_in has not struck yet */
void disk_set_chances(struct disk *d, const struct disk_chances *chances);
/* Of all files together, removed ones until their directory is synced; UINT64_MAX: any. */
void disk_set_capacity(struct disk *d, uint64_t bytes);
uint64_t disk_used(const struct disk *d);

/* --- For tests, beside the vtable: no fault, no step, and no effect on what is synced --------- */

void disk_set_time(struct disk *d, int64_t us); /* the clock of modified_us */
/* The content, good until the next call; NULL: no such file. */
const uint8_t *disk_bytes(const struct disk *d, const char *path, uint64_t *size_bytes);
/* Makes the content exactly this, and durable with its names: what a hand or bit rot leaves. */
sr_rc disk_put(struct disk *d, const char *path, const void *bytes, size_t len);
/* Lets go of every lock: as if a broken network file system had given them to a second process. */
void disk_break_locks(struct disk *d);
uint64_t disk_hash(const struct disk *d); /* of all names and bytes that the process sees */
/* All names in byte order with kind, size, what is durable of it, and what is pending. */
void disk_dump(const struct disk *d, FILE *to);

#endif
