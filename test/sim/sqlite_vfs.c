#include "test/sim/sqlite_vfs.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "test/sim/disk_impl.h"

struct sqlite_vfs {
    sqlite3_vfs vfs; /* first: SQLite hands it back */
    struct disk *disk;
    char *name;
};

struct sqlite_file {
    sqlite3_file file; /* first: SQLite hands it back */
    struct sr_file *f;
    int level;         /* SQLITE_LOCK_* that this connection holds */
    bool is_new;       /* a journal whose name is not durable yet */
    bool delete_after; /* SQLITE_OPEN_DELETEONCLOSE */
};

static const struct sr_files *sqlite_fs(const struct sqlite_file *s) { return &s->f->disk->files; }

static int sqlite_code(sr_rc rc, int otherwise)
{
    return rc == SR_ENOSPC ? SQLITE_FULL : otherwise;
}

/* The directory of a path, made durable. */
static sr_rc sqlite_sync_dir(const struct sr_files *fs, const char *path)
{
    char dir[DISK_PATH_MAX];
    (void)snprintf(dir, sizeof(dir), "%s", path);
    char *slash = strrchr(dir, '/');
    sr_assert(slash != NULL);
    slash[slash == dir ? 1 : 0] = '\0';
    return fs->sync_dir(fs, dir, NULL);
}

/* --- Files ------------------------------------------------------------------------------------ */

static int sqlite_read(sqlite3_file *file, void *buf, int len, sqlite3_int64 at)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    size_t got = 0;
    if (sqlite_fs(s)->read(s->f, buf, (size_t)len, (uint64_t)at, &got, NULL) != SR_OK) {
        return SQLITE_IOERR_READ;
    }
    if (got < (size_t)len) {
        memset((char *)buf + got, 0, (size_t)len - got);
        return SQLITE_IOERR_SHORT_READ;
    }
    return SQLITE_OK;
}

static int sqlite_write(sqlite3_file *file, const void *buf, int len, sqlite3_int64 at)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    sr_rc rc = sqlite_fs(s)->write(s->f, buf, (size_t)len, (uint64_t)at, NULL);
    return rc == SR_OK ? SQLITE_OK : sqlite_code(rc, SQLITE_IOERR_WRITE);
}

static int sqlite_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    return sqlite_fs(s)->truncate(s->f, (uint64_t)size, NULL) == SR_OK ? SQLITE_OK
                                                                       : SQLITE_IOERR_TRUNCATE;
}

static int sqlite_sync(sqlite3_file *file, int flags)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    (void)flags;
    if (sqlite_fs(s)->sync(s->f, NULL) != SR_OK) {
        return SQLITE_IOERR_FSYNC;
    }
    if (s->is_new) {
        if (sqlite_sync_dir(sqlite_fs(s), s->f->path) != SR_OK) {
            return SQLITE_IOERR_DIR_FSYNC;
        }
        s->is_new = false;
    }
    return SQLITE_OK;
}

static int sqlite_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    struct sr_stat st;
    if (sqlite_fs(s)->stat_file(s->f, &st, NULL) != SR_OK) {
        return SQLITE_IOERR_FSTAT;
    }
    *size = (sqlite3_int64)st.size_bytes;
    return SQLITE_OK;
}

/* --- Locks ------------------------------------------------------------------------------------ */

static int sqlite_lock_shared(struct sqlite_file *s, struct disk_node *n)
{
    if (n->pending || n->exclusive) {
        return SQLITE_BUSY;
    }
    n->shared++;
    s->level = SQLITE_LOCK_SHARED;
    return SQLITE_OK;
}

static int sqlite_lock_reserved(struct sqlite_file *s, struct disk_node *n)
{
    if (n->reserved) {
        return SQLITE_BUSY;
    }
    n->reserved = s;
    s->level = SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

/* PENDING stays when others still read: no new reader comes, and a second try will do. */
static int sqlite_lock_exclusive(struct sqlite_file *s, struct disk_node *n)
{
    if (n->pending && n->pending != s) {
        return SQLITE_BUSY;
    }
    n->pending = s;
    s->level = s->level > SQLITE_LOCK_PENDING ? s->level : SQLITE_LOCK_PENDING;
    if (n->shared > 1) {
        return SQLITE_BUSY;
    }
    n->exclusive = s;
    s->level = SQLITE_LOCK_EXCLUSIVE;
    return SQLITE_OK;
}

static int sqlite_lock(sqlite3_file *file, int level)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    if (!disk_is_alive(s->f)) {
        return SQLITE_IOERR_LOCK;
    }
    if (level <= s->level) {
        return SQLITE_OK;
    }
    if (level == SQLITE_LOCK_SHARED) {
        return sqlite_lock_shared(s, s->f->node);
    }
    if (level == SQLITE_LOCK_RESERVED) {
        return sqlite_lock_reserved(s, s->f->node);
    }
    return sqlite_lock_exclusive(s, s->f->node);
}

static int sqlite_unlock(sqlite3_file *file, int level)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    if (s->level <= level) {
        return SQLITE_OK;
    }
    if (disk_is_alive(s->f)) {
        struct disk_node *n = s->f->node;
        n->reserved = n->reserved == s ? NULL : n->reserved;
        n->pending = n->pending == s ? NULL : n->pending;
        n->exclusive = n->exclusive == s ? NULL : n->exclusive;
        n->shared -= level == SQLITE_LOCK_NONE && n->shared > 0 ? 1 : 0;
    }
    s->level = level;
    return SQLITE_OK;
}

static int sqlite_check_reserved(sqlite3_file *file, int *out)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    if (!disk_is_alive(s->f)) {
        return SQLITE_IOERR_CHECKRESERVEDLOCK;
    }
    const struct disk_node *n = s->f->node;
    *out = n->reserved || n->pending || n->exclusive ? 1 : 0;
    return SQLITE_OK;
}

static int sqlite_close(sqlite3_file *file)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    const struct sr_files *fs = sqlite_fs(s);
    (void)sqlite_unlock(file, SQLITE_LOCK_NONE);
    if (s->delete_after) {
        (void)fs->remove(fs, s->f->path, NULL); /* a temporary file */
    }
    (void)fs->close(s->f, NULL); /* fails only when the disk is off */
    s->f = NULL;
    return SQLITE_OK;
}

static int sqlite_control(sqlite3_file *file, int operation, void *arg)
{
    (void)file;
    (void)operation;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int sqlite_sector_size(sqlite3_file *file)
{
    (void)file;
    return (int)DISK_SECTOR;
}

/* As unix says of itself: a write spoils no byte beside it. */
static int sqlite_characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods sqlite_methods = {
    .iVersion = 1,
    .xClose = sqlite_close,
    .xRead = sqlite_read,
    .xWrite = sqlite_write,
    .xTruncate = sqlite_truncate,
    .xSync = sqlite_sync,
    .xFileSize = sqlite_size,
    .xLock = sqlite_lock,
    .xUnlock = sqlite_unlock,
    .xCheckReservedLock = sqlite_check_reserved,
    .xFileControl = sqlite_control,
    .xSectorSize = sqlite_sector_size,
    .xDeviceCharacteristics = sqlite_characteristics,
};

/* --- The VFS ---------------------------------------------------------------------------------- */

static struct disk *sqlite_disk(sqlite3_vfs *vfs) { return ((struct sqlite_vfs *)vfs)->disk; }

static int sqlite_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                       int *out_flags)
{
    struct sqlite_file *s = (struct sqlite_file *)file;
    struct disk *d = sqlite_disk(vfs);
    char temporary[64];
    *s = (struct sqlite_file){.delete_after = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0};
    if (!name) {
        (void)snprintf(temporary, sizeof(temporary), "/sqlite-%llx",
                       (unsigned long long)disk_random(&d->random));
        name = temporary;
    }
    uint32_t how = flags & SQLITE_OPEN_READWRITE ? SR_FILE_WRITE : SR_FILE_READ;
    how |= flags & SQLITE_OPEN_CREATE ? SR_FILE_CREATE : 0;
    how |= flags & SQLITE_OPEN_EXCLUSIVE ? SR_FILE_EXCLUSIVE : 0;
    bool was_there = disk_find(d, name) != NULL;
    sr_rc rc = d->files.open(&d->files, name, how, &s->f, NULL);
    if (rc != SR_OK) {
        return sqlite_code(rc, SQLITE_CANTOPEN);
    }
    s->is_new = !was_there && (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
    s->file.pMethods = &sqlite_methods;
    if (out_flags) {
        *out_flags = flags;
    }
    return SQLITE_OK;
}

static int sqlite_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    const struct sr_files *fs = &sqlite_disk(vfs)->files;
    sr_rc rc = fs->remove(fs, name, NULL);
    if (rc == SR_EABSENT) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    if (rc == SR_OK && sync_dir != 0 && sqlite_sync_dir(fs, name) != SR_OK) {
        return SQLITE_IOERR_DIR_FSYNC;
    }
    return rc == SR_OK ? SQLITE_OK : SQLITE_IOERR_DELETE;
}

/* As the unix VFS: an empty journal counts as none. */
static int sqlite_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    const struct sr_files *fs = &sqlite_disk(vfs)->files;
    struct sr_stat st;
    sr_rc rc = fs->stat(fs, name, &st, NULL);
    if (rc != SR_OK && rc != SR_EABSENT) {
        return SQLITE_IOERR_ACCESS;
    }
    *out = rc == SR_OK &&
           (flags != SQLITE_ACCESS_EXISTS || st.size_bytes > 0 || st.kind != SR_FILE_REGULAR);
    return SQLITE_OK;
}

static int sqlite_full_path(sqlite3_vfs *vfs, const char *name, int len, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)len, "%s", name) < len ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int sqlite_randomness(sqlite3_vfs *vfs, int len, char *out)
{
    for (int i = 0; i < len; i++) {
        out[i] = (char)disk_random(&sqlite_disk(vfs)->random);
    }
    return len;
}

static int sqlite_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return us;
}

static int sqlite_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *out)
{
    *out = INT64_C(210866760000000) + sqlite_disk(vfs)->now_us / 1000; /* julian day of 1970 */
    return SQLITE_OK;
}

static int sqlite_time(sqlite3_vfs *vfs, double *out)
{
    sqlite3_int64 ms = 0;
    (void)sqlite_time_ms(vfs, &ms);
    *out = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static int sqlite_last_error(sqlite3_vfs *vfs, int len, char *out)
{
    (void)vfs;
    if (len > 0) {
        out[0] = '\0';
    }
    return 0;
}

struct sqlite_vfs *sqlite_vfs_new(const char *name, struct disk *d)
{
    struct sqlite_vfs *v = disk_alloc(NULL, sizeof(*v));
    size_t len = strlen(name) + 1;
    *v = (struct sqlite_vfs){.disk = d, .name = memcpy(disk_alloc(NULL, len), name, len)};
    v->vfs = (sqlite3_vfs){.iVersion = 2,
                           .szOsFile = (int)sizeof(struct sqlite_file),
                           .mxPathname = (int)DISK_PATH_MAX - 1,
                           .zName = v->name,
                           .xOpen = sqlite_open,
                           .xDelete = sqlite_delete,
                           .xAccess = sqlite_access,
                           .xFullPathname = sqlite_full_path,
                           .xRandomness = sqlite_randomness,
                           .xSleep = sqlite_sleep,
                           .xCurrentTime = sqlite_time,
                           .xGetLastError = sqlite_last_error,
                           .xCurrentTimeInt64 = sqlite_time_ms};
    int rc = sqlite3_vfs_register(&v->vfs, 0);
    sr_assert(rc == SQLITE_OK);
    /* SQLite's own random numbers are the process's, and come from the default VFS unless told. */
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED,
                               (int)(disk_random(&d->random) % 1000000) + 1, NULL);
    return v;
}

void sqlite_vfs_free(struct sqlite_vfs *v)
{
    if (!v) {
        return;
    }
    (void)sqlite3_vfs_unregister(&v->vfs);
    free(v->name);
    free(v);
}
