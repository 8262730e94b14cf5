#include "engine/ckpt/lookvfs.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKVFS_BLOCK 4096

struct lookvfs {
    sqlite3_vfs vfs; /* first: SQLite hands it back */
    sqlite3_vfs *base;
    bool is_journal_gone; /* played back and deleted, as far as this connection sees */
    char name[40];
};

/* A file as it lies there, under the blocks that were written. */
struct lookvfs_file {
    sqlite3_file file; /* first: SQLite hands it back */
    sqlite3_file *real;
    uint8_t **block; /* NULL: as it lies there */
    int64_t blocks;
    int64_t size;     /* as seen; -1: as it lies there */
    int64_t size_min; /* least that was seen: what lies behind it is zeros */
    bool keeps_lock;
};

static sqlite3_vfs *lookvfs_base(sqlite3_vfs *vfs) { return ((struct lookvfs *)vfs)->base; }

static struct lookvfs_file *lookvfs_of(sqlite3_file *file) { return (struct lookvfs_file *)file; }

/* --- Content ---------------------------------------------------------------------------------- */

static int lookvfs_size(sqlite3_file *file, sqlite3_int64 *out)
{
    struct lookvfs_file *f = lookvfs_of(file);
    if (f->size >= 0) {
        *out = f->size;
        return SQLITE_OK;
    }
    return f->real->pMethods->xFileSize(f->real, out);
}

/* From now on the size is ours. */
static int lookvfs_take_size(struct lookvfs_file *f)
{
    sqlite3_int64 size = 0;
    if (f->size >= 0) {
        return SQLITE_OK;
    }
    int rc = f->real->pMethods->xFileSize(f->real, &size);
    if (rc == SQLITE_OK) {
        f->size = f->size_min = size;
        f->keeps_lock = true;
    }
    return rc;
}

/* What lies there, zeros where nothing does or where it was cut away. */
static int lookvfs_read_real(struct lookvfs_file *f, uint8_t *to, int len, int64_t at)
{
    int64_t end = f->size >= 0 ? f->size_min : INT64_MAX;
    int64_t rest = at < end ? end - at : 0;
    int take = rest < len ? (int)rest : len;
    memset(to, 0, (size_t)len);
    if (take == 0) {
        return SQLITE_OK;
    }
    int rc = f->real->pMethods->xRead(f->real, to, take, at);
    return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc;
}

/* The written block `n`; made from what lies there when it is not yet. NULL with *rc set. */
static uint8_t *lookvfs_block(struct lookvfs_file *f, int64_t n, int *rc)
{
    if (n >= f->blocks) {
        int64_t blocks = f->blocks * 2 > n ? f->blocks * 2 : n + 16;
        uint8_t **grown = realloc(f->block, (size_t)blocks * sizeof(uint8_t *));
        if (!grown) {
            *rc = SQLITE_NOMEM;
            return NULL;
        }
        memset(grown + f->blocks, 0, (size_t)(blocks - f->blocks) * sizeof(uint8_t *));
        f->block = grown;
        f->blocks = blocks;
    }
    if (!f->block[n]) {
        uint8_t *fresh = malloc(LOOKVFS_BLOCK);
        *rc = fresh ? lookvfs_read_real(f, fresh, LOOKVFS_BLOCK, n * LOOKVFS_BLOCK) : SQLITE_NOMEM;
        if (*rc != SQLITE_OK) {
            free(fresh);
            return NULL;
        }
        f->block[n] = fresh;
    }
    return f->block[n];
}

/* Bytes of one block, from memory or from the file. */
static int lookvfs_read_block(struct lookvfs_file *f, uint8_t *to, int len, int64_t at)
{
    int64_t n = at / LOOKVFS_BLOCK;
    if (n < f->blocks && f->block[n]) {
        memcpy(to, f->block[n] + at % LOOKVFS_BLOCK, (size_t)len);
        return SQLITE_OK;
    }
    return lookvfs_read_real(f, to, len, at);
}

static int lookvfs_piece(int len, int64_t at)
{
    int rest = LOOKVFS_BLOCK - (int)(at % LOOKVFS_BLOCK);
    return rest < len ? rest : len;
}

static int lookvfs_read(sqlite3_file *file, void *buf, int len, sqlite3_int64 at)
{
    struct lookvfs_file *f = lookvfs_of(file);
    sqlite3_int64 size = 0;
    int rc = lookvfs_size(file, &size);
    int64_t rest = at < size ? size - at : 0;
    int take = rest < len ? (int)rest : len;
    for (int done = 0; rc == SQLITE_OK && done < take;) {
        int piece = lookvfs_piece(take - done, at + done);
        rc = lookvfs_read_block(f, (uint8_t *)buf + done, piece, at + done);
        done += piece;
    }
    if (rc != SQLITE_OK || take == len) {
        return rc;
    }
    memset((uint8_t *)buf + take, 0, (size_t)(len - take));
    return SQLITE_IOERR_SHORT_READ;
}

static int lookvfs_write(sqlite3_file *file, const void *buf, int len, sqlite3_int64 at)
{
    struct lookvfs_file *f = lookvfs_of(file);
    int rc = lookvfs_take_size(f);
    for (int done = 0; rc == SQLITE_OK && done < len;) {
        int piece = lookvfs_piece(len - done, at + done);
        uint8_t *block = lookvfs_block(f, (at + done) / LOOKVFS_BLOCK, &rc);
        if (block) {
            memcpy(block + (at + done) % LOOKVFS_BLOCK, (const uint8_t *)buf + done, (size_t)piece);
        }
        done += piece;
    }
    if (rc == SQLITE_OK && at + len > f->size) {
        f->size = at + len;
    }
    return rc;
}

static int lookvfs_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct lookvfs_file *f = lookvfs_of(file);
    int rc = lookvfs_take_size(f);
    if (rc != SQLITE_OK || size >= f->size) {
        return rc;
    }
    for (int64_t n = size / LOOKVFS_BLOCK; n < f->blocks; n++) {
        int64_t keep = size - n * LOOKVFS_BLOCK > 0 ? size - n * LOOKVFS_BLOCK : 0;
        if (f->block[n]) {
            memset(f->block[n] + keep, 0, (size_t)(LOOKVFS_BLOCK - keep));
        }
    }
    f->size = size;
    f->size_min = size < f->size_min ? size : f->size_min;
    return SQLITE_OK;
}

static int lookvfs_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

/* --- Locks ------------------------------------------------------------------------------------ */

/* More than SHARED is not needed: nobody else sees what is written. */
static int lookvfs_lock(sqlite3_file *file, int level)
{
    struct lookvfs_file *f = lookvfs_of(file);
    return level == SQLITE_LOCK_SHARED ? f->real->pMethods->xLock(f->real, level) : SQLITE_OK;
}

static int lookvfs_unlock(sqlite3_file *file, int level)
{
    struct lookvfs_file *f = lookvfs_of(file);
    bool is_kept = level != SQLITE_LOCK_NONE || f->keeps_lock;
    return is_kept ? SQLITE_OK : f->real->pMethods->xUnlock(f->real, level);
}

static int lookvfs_check_reserved(sqlite3_file *file, int *out)
{
    struct lookvfs_file *f = lookvfs_of(file);
    return f->real->pMethods->xCheckReservedLock(f->real, out);
}

static int lookvfs_close(sqlite3_file *file)
{
    struct lookvfs_file *f = lookvfs_of(file);
    for (int64_t n = 0; n < f->blocks; n++) {
        free(f->block[n]);
    }
    free(f->block);
    return f->real->pMethods->xClose(f->real);
}

static int lookvfs_control(sqlite3_file *file, int operation, void *arg)
{
    (void)file;
    (void)operation;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int lookvfs_sector_size(sqlite3_file *file)
{
    struct lookvfs_file *f = lookvfs_of(file);
    return f->real->pMethods->xSectorSize(f->real);
}

static int lookvfs_characteristics(sqlite3_file *file)
{
    struct lookvfs_file *f = lookvfs_of(file);
    return f->real->pMethods->xDeviceCharacteristics(f->real);
}

static const sqlite3_io_methods lookvfs_methods = {
    .iVersion = 1,
    .xClose = lookvfs_close,
    .xRead = lookvfs_read,
    .xWrite = lookvfs_write,
    .xTruncate = lookvfs_truncate,
    .xSync = lookvfs_sync,
    .xFileSize = lookvfs_size,
    .xLock = lookvfs_lock,
    .xUnlock = lookvfs_unlock,
    .xCheckReservedLock = lookvfs_check_reserved,
    .xFileControl = lookvfs_control,
    .xSectorSize = lookvfs_sector_size,
    .xDeviceCharacteristics = lookvfs_characteristics,
};

/* --- The VFS ---------------------------------------------------------------------------------- */

/* SQLite is told that it may write; the file is opened so that nobody can. Anything but a database
 * and its journal, that are there, is refused. */
static int lookvfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                        int *out_flags)
{
    struct lookvfs_file *f = lookvfs_of(file);
    sqlite3_vfs *base = lookvfs_base(vfs);
    *f = (struct lookvfs_file){.real = (sqlite3_file *)(f + 1), .size = -1};
    f->real->pMethods = NULL;
    if (!name || (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL)) == 0) {
        return SQLITE_CANTOPEN;
    }
    int how = flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE);
    int rc = base->xOpen(base, name, f->real, how | SQLITE_OPEN_READONLY, NULL);
    if (rc == SQLITE_OK) {
        f->file.pMethods = &lookvfs_methods;
        if (out_flags) {
            *out_flags = flags;
        }
    }
    return rc;
}

static int lookvfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    (void)name; /* the journal is all that SQLite deletes here */
    (void)sync_dir;
    ((struct lookvfs *)vfs)->is_journal_gone = true;
    return SQLITE_OK;
}

static int lookvfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    const char *tail = strrchr(name, '-');
    if (((struct lookvfs *)vfs)->is_journal_gone && tail && strcmp(tail, "-journal") == 0) {
        *out = 0;
        return SQLITE_OK;
    }
    return lookvfs_base(vfs)->xAccess(lookvfs_base(vfs), name, flags, out);
}

static int lookvfs_full_path(sqlite3_vfs *vfs, const char *name, int len, char *out)
{
    return lookvfs_base(vfs)->xFullPathname(lookvfs_base(vfs), name, len, out);
}

static int lookvfs_randomness(sqlite3_vfs *vfs, int len, char *out)
{
    return lookvfs_base(vfs)->xRandomness(lookvfs_base(vfs), len, out);
}

static int lookvfs_sleep(sqlite3_vfs *vfs, int us)
{
    return lookvfs_base(vfs)->xSleep(lookvfs_base(vfs), us);
}

static int lookvfs_time(sqlite3_vfs *vfs, double *out)
{
    return lookvfs_base(vfs)->xCurrentTime(lookvfs_base(vfs), out);
}

static int lookvfs_last_error(sqlite3_vfs *vfs, int len, char *out)
{
    return lookvfs_base(vfs)->xGetLastError(lookvfs_base(vfs), len, out);
}

struct lookvfs *lookvfs_new(const char *base_name)
{
    sqlite3_vfs *base = sqlite3_vfs_find(base_name);
    struct lookvfs *v = base ? calloc(1, sizeof(*v)) : NULL;
    if (!v) {
        return NULL;
    }
    v->base = base;
    (void)snprintf(v->name, sizeof(v->name), "streamrun-look-%p", (void *)v); /* one of its kind */
    v->vfs = (sqlite3_vfs){.iVersion = 1,
                           .szOsFile = (int)sizeof(struct lookvfs_file) + base->szOsFile,
                           .mxPathname = base->mxPathname,
                           .zName = v->name,
                           .xOpen = lookvfs_open,
                           .xDelete = lookvfs_delete,
                           .xAccess = lookvfs_access,
                           .xFullPathname = lookvfs_full_path,
                           .xRandomness = lookvfs_randomness,
                           .xSleep = lookvfs_sleep,
                           .xCurrentTime = lookvfs_time,
                           .xGetLastError = lookvfs_last_error};
    if (sqlite3_vfs_register(&v->vfs, 0) != SQLITE_OK) {
        free(v);
        return NULL;
    }
    return v;
}

void lookvfs_free(struct lookvfs *v)
{
    if (v) {
        (void)sqlite3_vfs_unregister(&v->vfs);
        free(v);
    }
}

const char *lookvfs_name(const struct lookvfs *v) { return v->name; }
