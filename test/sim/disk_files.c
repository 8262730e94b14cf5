/* struct sr_files over the simulated disk. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "test/sim/disk_impl.h"

static struct disk *disk_of(const struct sr_files *fs) { return fs->ctx; }

/* A handle from before a restart is dead; what it says must be an error, whatever the disk does. */
static sr_rc disk_enter_file(const struct sr_file *f, enum disk_call call, const char *operation,
                             struct sr_error *err)
{
    if (f->generation != f->disk->generation) {
        return disk_fail(err, SR_EIO, operation, f->path);
    }
    return disk_enter(f->disk, call, operation, f->path, err);
}

static bool disk_has_room(const struct disk *d, uint64_t more)
{
    return more <= d->capacity && d->used <= d->capacity - more;
}

/* --- Open files ------------------------------------------------------------------------------- */

/* Creates the file, or answers why not. */
static sr_rc disk_create(struct disk *d, const char *path, struct disk_node **out,
                         struct sr_error *err)
{
    const char *name = NULL;
    struct disk_node *dir = disk_find_dir(d, path, &name);
    if (!dir || name[0] == '\0') {
        return disk_fail(err, SR_EABSENT, "open", path);
    }
    sr_rc rc = disk_enter(d, DISK_CALL_GROW, "open", path, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct disk_node *n = disk_node_new(d, SR_FILE_REGULAR);
    disk_change_now(d, &(struct disk_change){.dir = dir, .node = n, .name = (char *)name});
    *out = n;
    return SR_OK;
}

static sr_rc disk_open_node(struct disk *d, const char *path, uint32_t flags,
                            struct disk_node **out, struct sr_error *err)
{
    struct disk_node *n = disk_find(d, path);
    if (!n && (flags & SR_FILE_CREATE) != 0) {
        return disk_create(d, path, out, err);
    }
    sr_rc rc = disk_enter(d, flags & SR_FILE_TRUNCATE ? DISK_CALL_CHANGE : DISK_CALL_READ, "open",
                          path, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!n) {
        return disk_fail(err, SR_EABSENT, "open", path);
    }
    if ((flags & SR_FILE_EXCLUSIVE) != 0) {
        return disk_fail(err, SR_EEXISTS, "open", path);
    }
    if (n->kind != SR_FILE_REGULAR) {
        return disk_fail(err, SR_EIO, "open", path);
    }
    if ((flags & SR_FILE_TRUNCATE) != 0) {
        disk_node_resize(d, n, 0);
    }
    *out = n;
    return SR_OK;
}

static sr_rc disk_open(const struct sr_files *fs, const char *path, uint32_t flags,
                       struct sr_file **out, struct sr_error *err)
{
    struct disk *d = disk_of(fs);
    struct disk_node *n = NULL;
    sr_rc rc = disk_open_node(d, path, flags, &n, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct sr_file *f = disk_alloc(NULL, sizeof(*f));
    *f = (struct sr_file){.disk = d, .node = n, .flags = flags, .generation = d->generation};
    (void)snprintf(f->path, sizeof(f->path), "%s", path);
    disk_node_hold(n);
    *out = f;
    return SR_OK;
}

static sr_rc disk_read(struct sr_file *f, void *buf, size_t len, uint64_t at, size_t *got,
                       struct sr_error *err)
{
    sr_rc rc = disk_enter_file(f, DISK_CALL_READ, "read", err);
    if (rc != SR_OK) {
        return rc;
    }
    size_t rest = at < f->node->now.size ? f->node->now.size - (size_t)at : 0;
    *got = len < rest ? len : rest;
    if (*got > 0) {
        memcpy(buf, f->node->now.bytes + at, *got);
    }
    return SR_OK;
}

static sr_rc disk_write(struct sr_file *f, const void *buf, size_t len, uint64_t at,
                        struct sr_error *err)
{
    sr_assert((f->flags & SR_FILE_WRITE) != 0);
    uint64_t end = at + len;
    uint64_t more = end > f->node->now.size ? end - f->node->now.size : 0;
    sr_rc rc = disk_enter_file(f, more > 0 ? DISK_CALL_GROW : DISK_CALL_CHANGE, "write", err);
    if (rc != SR_OK) {
        return rc;
    }
    if (!disk_has_room(f->disk, more)) {
        return disk_fail(err, SR_ENOSPC, "write", f->path);
    }
    disk_node_write(f->disk, f->node, buf, len, (size_t)at);
    return SR_OK;
}

static sr_rc disk_truncate(struct sr_file *f, uint64_t size, struct sr_error *err)
{
    sr_assert((f->flags & SR_FILE_WRITE) != 0);
    sr_rc rc = disk_enter_file(f, DISK_CALL_CHANGE, "truncate", err);
    if (rc == SR_OK) {
        disk_node_resize(f->disk, f->node, (size_t)size);
    }
    return rc;
}

static sr_rc disk_sync(struct sr_file *f, struct sr_error *err)
{
    sr_rc rc = disk_enter_file(f, DISK_CALL_SYNC, "sync", err);
    if (rc == SR_OK) {
        disk_node_sync(f->node);
    } else if (disk_is_alive(f)) {
        disk_node_sync_some(f->disk, f->node, DISK_SOME);
    }
    return rc;
}

static sr_rc disk_lock(struct sr_file *f, struct sr_error *err)
{
    sr_rc rc = disk_enter_file(f, DISK_CALL_READ, "lock", err);
    if (rc != SR_OK) {
        return rc;
    }
    if (f->node->lock && f->node->lock != f) {
        return disk_fail(err, SR_EBUSY, "lock", f->path);
    }
    f->node->lock = f;
    return SR_OK;
}

static void disk_stat_node(const struct disk_node *n, struct sr_stat *out)
{
    *out = (struct sr_stat){.kind = n->kind,
                            .size_bytes = n->now.size,
                            .modified_us = n->modified_us,
                            .device = 1,
                            .inode = n->number};
}

static sr_rc disk_stat_file(struct sr_file *f, struct sr_stat *out, struct sr_error *err)
{
    sr_rc rc = disk_enter_file(f, DISK_CALL_READ, "stat", err);
    if (rc == SR_OK) {
        disk_stat_node(f->node, out);
    }
    return rc;
}

static sr_rc disk_close(struct sr_file *f, struct sr_error *err)
{
    if (!f) {
        return SR_OK;
    }
    bool is_alive = disk_is_alive(f);
    if (f->node->lock == f) {
        f->node->lock = NULL;
    }
    sr_rc rc = is_alive ? SR_OK : disk_fail(err, SR_EIO, "close", f->path);
    disk_node_drop(f->disk, f->node);
    free(f);
    return rc;
}

/* --- Names ------------------------------------------------------------------------------------ */

static sr_rc disk_stat(const struct sr_files *fs, const char *path, struct sr_stat *out,
                       struct sr_error *err)
{
    sr_rc rc = disk_enter(disk_of(fs), DISK_CALL_READ, "stat", path, err);
    if (rc != SR_OK) {
        return rc;
    }
    const struct disk_node *n = disk_find(disk_of(fs), path);
    if (!n) {
        return disk_fail(err, SR_EABSENT, "stat", path);
    }
    disk_stat_node(n, out);
    return SR_OK;
}

static sr_rc disk_list(const struct sr_files *fs, const char *path, char ***names,
                       struct sr_error *err)
{
    sr_rc rc = disk_enter(disk_of(fs), DISK_CALL_READ, "list", path, err);
    if (rc != SR_OK) {
        return rc;
    }
    const struct disk_node *n = disk_find(disk_of(fs), path);
    if (!n || n->kind != SR_FILE_DIRECTORY) {
        return disk_fail(err, SR_EABSENT, "list", path);
    }
    char **list = disk_alloc(NULL, (n->names.count + 1) * sizeof(char *));
    for (uint32_t i = 0; i < n->names.count; i++) {
        size_t len = strlen(n->names.name[i].name) + 1;
        list[i] = memcpy(disk_alloc(NULL, len), n->names.name[i].name, len);
    }
    list[n->names.count] = NULL;
    *names = list;
    return SR_OK;
}

static void disk_names_free(const struct sr_files *fs, char **names)
{
    (void)fs;
    for (char **n = names; n && *n; n++) {
        free(*n);
    }
    free(names);
}

static sr_rc disk_make_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    struct disk *d = disk_of(fs);
    const char *name = NULL;
    sr_rc rc = disk_enter(d, DISK_CALL_GROW, "make directory", path, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct disk_node *dir = disk_find_dir(d, path, &name);
    if (!dir) {
        return disk_fail(err, SR_EABSENT, "make directory", path);
    }
    if (name[0] == '\0' || disk_names_get(&dir->names, name)) {
        return disk_fail(err, SR_EEXISTS, "make directory", path);
    }
    struct disk_node *n = disk_node_new(d, SR_FILE_DIRECTORY);
    disk_change_now(d, &(struct disk_change){.dir = dir, .node = n, .name = (char *)name});
    return SR_OK;
}

static sr_rc disk_sync_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    struct disk *d = disk_of(fs);
    sr_rc rc = disk_enter(d, DISK_CALL_SYNC, "sync directory", path, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct disk_node *n = disk_find(d, path);
    if (!n || n->kind != SR_FILE_DIRECTORY) {
        return disk_fail(err, SR_EABSENT, "sync directory", path);
    }
    disk_change_sync(d, n);
    return SR_OK;
}

/* What rename(2) would say of the two names; SR_OK: it can be done. */
static sr_rc disk_check_rename(const struct disk_node *node, const struct disk_node *old,
                               bool may_replace)
{
    if (!node) {
        return SR_EABSENT;
    }
    if (!old || old == node) {
        return old ? SR_EEXISTS : SR_OK;
    }
    if (!may_replace || (old->kind == SR_FILE_DIRECTORY && old->names.count > 0)) {
        return SR_EEXISTS;
    }
    return old->kind == node->kind ? SR_OK : SR_EIO;
}

static sr_rc disk_rename(const struct sr_files *fs, const char *from, const char *to,
                         bool may_replace, struct sr_error *err)
{
    struct disk *d = disk_of(fs);
    const char *name = NULL;
    const char *from_name = NULL;
    sr_rc rc = disk_enter(d, DISK_CALL_CHANGE, "rename to", to, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct disk_node *dir = disk_find_dir(d, to, &name);
    struct disk_node *from_dir = disk_find_dir(d, from, &from_name);
    if (!dir || !from_dir) {
        return disk_fail(err, SR_EABSENT, "rename to", to);
    }
    struct disk_node *node = disk_names_get(&from_dir->names, from_name);
    rc = disk_check_rename(node, disk_names_get(&dir->names, name), may_replace);
    if (rc != SR_OK) {
        return disk_fail(err, rc, "rename to", to);
    }
    disk_change_now(d, &(struct disk_change){.dir = dir,
                                             .node = node,
                                             .name = (char *)name,
                                             .from_dir = from_dir,
                                             .from_name = (char *)from_name});
    return SR_OK;
}

static sr_rc disk_unlink(struct disk *d, const char *path, enum sr_file_kind kind,
                         struct sr_error *err)
{
    const char *name = NULL;
    sr_rc rc = disk_enter(d, DISK_CALL_CHANGE, "remove", path, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct disk_node *dir = disk_find_dir(d, path, &name);
    struct disk_node *n = dir ? disk_names_get(&dir->names, name) : NULL;
    if (!n) {
        return disk_fail(err, SR_EABSENT, "remove", path);
    }
    if (n->kind != kind) {
        return disk_fail(err, SR_EIO, "remove", path);
    }
    if (n->names.count > 0) {
        return disk_fail(err, SR_EEXISTS, "remove", path);
    }
    disk_change_now(d, &(struct disk_change){.dir = dir, .name = (char *)name});
    return SR_OK;
}

static sr_rc disk_remove(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    return disk_unlink(disk_of(fs), path, SR_FILE_REGULAR, err);
}

static sr_rc disk_remove_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    return disk_unlink(disk_of(fs), path, SR_FILE_DIRECTORY, err);
}

static sr_rc disk_space(const struct sr_files *fs, const char *path, uint64_t *free_bytes,
                        struct sr_error *err)
{
    const struct disk *d = disk_of(fs);
    sr_rc rc = disk_enter(disk_of(fs), DISK_CALL_READ, "look at the space of", path, err);
    if (rc == SR_OK) {
        *free_bytes = d->capacity > d->used ? d->capacity - d->used : 0;
    }
    return rc;
}

/* No links here: a path is what it says. */
static sr_rc disk_follow(const struct sr_files *fs, const char *path, char **out,
                         struct sr_error *err)
{
    struct sr_stat stat;
    sr_rc rc = disk_stat(fs, path, &stat, err);
    if (rc == SR_OK) {
        *out = strdup(path);
    }
    return rc;
}

/* Nor owners and permissions. */
static sr_rc disk_set_access(struct sr_file *f, uint32_t mode, uint32_t user, uint32_t group,
                             struct sr_error *err)
{
    (void)f, (void)mode, (void)user, (void)group, (void)err;
    return SR_OK;
}

/* --- The disk --------------------------------------------------------------------------------- */

struct disk *disk_new(uint64_t seed)
{
    struct disk *d = disk_alloc(NULL, sizeof(*d));
    *d = (struct disk){.random = seed, .luck = ~seed, .capacity = UINT64_MAX};
    d->files = (struct sr_files){.size = sizeof(struct sr_files),
                                 .ctx = d,
                                 .open = disk_open,
                                 .read = disk_read,
                                 .write = disk_write,
                                 .truncate = disk_truncate,
                                 .sync = disk_sync,
                                 .lock = disk_lock,
                                 .stat_file = disk_stat_file,
                                 .close = disk_close,
                                 .stat = disk_stat,
                                 .list = disk_list,
                                 .names_free = disk_names_free,
                                 .make_dir = disk_make_dir,
                                 .sync_dir = disk_sync_dir,
                                 .rename = disk_rename,
                                 .remove = disk_remove,
                                 .remove_dir = disk_remove_dir,
                                 .space = disk_space,
                                 .follow = disk_follow,
                                 .set_access = disk_set_access};
    d->root = disk_node_new(d, SR_FILE_DIRECTORY);
    disk_node_hold(d->root);
    return d;
}

void disk_free(struct disk *d)
{
    if (!d) {
        return;
    }
    disk_change_settle(d, DISK_NOTHING);
    disk_node_drop(d, d->root);
    free(d->change);
    free(d);
}

const struct sr_files *disk_files(struct disk *d) { return &d->files; }
