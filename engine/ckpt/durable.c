#include "engine/ckpt/durable.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"

sr_rc durable_look(const struct env *env, const char *path, enum durable_kind *out,
                   struct sr_error *err)
{
    struct sr_stat st;
    sr_rc rc = env->files->stat(env->files, path, &st, err);
    if (rc == SR_OK && st.kind == SR_FILE_OTHER) { /* reading a pipe would wait for its writer */
        return error_set(err, SR_ECONFIG, "%s is neither a file nor a directory", path);
    }
    if (rc == SR_OK) {
        *out = st.kind == SR_FILE_DIRECTORY ? DURABLE_DIR : DURABLE_FILE;
    } else if (rc == SR_EABSENT) {
        *out = DURABLE_ABSENT;
        rc = SR_OK;
    }
    return rc;
}

const char *durable_join(struct arena *a, const char *dir, const char *name)
{
    size_t len = strlen(dir);
    while (len > 0 && dir[len - 1] == '/') {
        len--;
    }
    return arena_printf(a, "%.*s/%s", (int)len, dir, name);
}

bool durable_number(const char *name, const char *prefix, uint64_t *out)
{
    size_t skip = strlen(prefix);
    if (strncmp(name, prefix, skip) != 0 || name[skip] < '1' || name[skip] > '9') {
        return false;
    }
    uint64_t n = 0;
    for (const char *c = name + skip; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(n, 10u, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n)) {
            return false;
        }
    }
    *out = n;
    return true;
}

sr_rc durable_sync_parent(const struct env *env, const char *path, struct sr_error *err)
{
    const char *slash = strrchr(path, '/');
    sr_assert(slash != NULL);
    char *dir = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (!dir) {
        return error_set(err, SR_ENOMEM, "sync the directory of %s: out of memory", path);
    }
    sr_rc rc = env->files->sync_dir(env->files, dir, err);
    free(dir);
    return rc;
}

/* One level: made if absent; a name that somebody else made in the meantime is as good. */
static sr_rc durable_make_dir(const struct env *env, const char *path, struct sr_error *err)
{
    enum durable_kind kind = DURABLE_ABSENT;
    sr_rc rc = durable_look(env, path, &kind, err);
    if (rc != SR_OK || kind == DURABLE_DIR) {
        return rc;
    }
    if (kind == DURABLE_FILE) {
        return error_set(err, SR_EEXISTS, "make directory %s: a file is there", path);
    }
    rc = env->files->make_dir(env->files, path, err);
    if (rc == SR_EEXISTS) {
        rc = durable_look(env, path, &kind, err);
        if (rc == SR_OK && kind != DURABLE_DIR) {
            return error_set(err, SR_EEXISTS, "make directory %s: a file is there", path);
        }
    }
    if (rc != SR_OK) return rc;
    rc = durable_sync_parent(env, path, err);
    if (rc != SR_OK) { /* or it would be there the next time, with a name that is not durable */
        (void)env->files->remove_dir(env->files, path, NULL);
    }
    return rc;
}

sr_rc durable_make_dirs(const struct env *env, const char *path, struct sr_error *err)
{
    sr_assert(path[0] == '/');
    char *part = strdup(path);
    if (!part) {
        return error_set(err, SR_ENOMEM, "make %s: out of memory", path);
    }
    sr_rc rc = SR_OK;
    for (char *c = part + 1; rc == SR_OK && *c != '\0'; c++) {
        if (*c == '/' && c[-1] != '/') {
            *c = '\0';
            rc = durable_make_dir(env, part, err);
            *c = '/';
        }
    }
    size_t len = strlen(part);
    while (len > 1 && part[len - 1] == '/') {
        part[--len] = '\0';
    }
    if (rc == SR_OK && len > 1) {
        rc = durable_make_dir(env, part, err);
    }
    free(part);
    return rc;
}

sr_rc durable_write(const struct env *env, const char *path, const void *bytes, size_t len,
                    struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    struct sr_file *f = NULL;
    sr_rc rc = fs->open(
        fs, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE | SR_FILE_PRIVATE, &f, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = fs->write(f, bytes, len, 0, err);
#ifndef MUTANT_METADATA_UNSYNCED /* a name for bytes that are not there */
    if (rc == SR_OK) {
        rc = fs->sync(f, err);
    }
#endif
    sr_rc closed = fs->close(f, rc == SR_OK ? err : NULL);
    return rc == SR_OK ? closed : rc;
}

sr_rc durable_replace_by(const struct env *env, const char *tmp, const char *path,
                         const struct durable_bytes *bytes, struct sr_error *err)
{
    sr_rc rc = durable_remove(env, tmp, err); /* what a crash left */
    if (rc == SR_OK) {
        rc = durable_write(env, tmp, bytes->data, bytes->len, err);
    }
    if (rc == SR_OK) {
        rc = env->files->rename(env->files, tmp, path, true, err);
    }
    return rc == SR_OK ? durable_sync_parent(env, path, err) : rc;
}

sr_rc durable_replace(const struct env *env, const char *path, const void *bytes, size_t len,
                      struct sr_error *err)
{
    size_t room = strlen(path) + sizeof(".tmp");
    char *tmp = malloc(room);
    if (!tmp) {
        return error_set(err, SR_ENOMEM, "replace %s: out of memory", path);
    }
    memcpy(tmp, path, room - sizeof(".tmp"));
    memcpy(tmp + room - sizeof(".tmp"), ".tmp", sizeof(".tmp"));
    sr_rc rc = durable_replace_by(env, tmp, path, &(struct durable_bytes){bytes, len}, err);
    free(tmp);
    return rc;
}

sr_rc durable_read(const struct env *env, const char *path, uint64_t max, struct arena *a,
                   struct durable_bytes *out, struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    struct sr_file *f = NULL;
    struct sr_stat st;
    sr_rc rc = fs->open(fs, path, SR_FILE_READ, &f, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = fs->stat_file(f, &st, err);
    if (rc == SR_OK && st.kind != SR_FILE_REGULAR) {
        rc = error_set(err, SR_ECORRUPT, "%s is not a regular file", path);
    }
    if (rc == SR_OK && st.size_bytes > max) {
        rc = error_set(err, SR_ECORRUPT, "%s is larger than it can be: %llu bytes", path,
                       (unsigned long long)st.size_bytes);
    }
    uint8_t *space = NULL;
    size_t got = 0;
    if (rc == SR_OK) {
        space = arena_get(a, (size_t)st.size_bytes + 1);
        rc = space ? fs->read(f, space, (size_t)st.size_bytes + 1, 0, &got, err)
                   : error_set(err, SR_ENOMEM, "read %s: out of memory", path);
    }
    if (rc == SR_OK && got != st.size_bytes) {
        rc = error_set(err, SR_ECORRUPT, "%s changed while it was read", path);
    }
    (void)fs->close(f, NULL); /* was only read */
    if (rc == SR_OK) {
        *out = (struct durable_bytes){.data = space, .len = got};
    }
    return rc;
}

static sr_rc durable_absent_is_fine(sr_rc rc) { return rc == SR_EABSENT ? SR_OK : rc; }

/* Removes the files of one directory, and the directory. */
static sr_rc durable_remove_flat(const struct env *env, const char *dir, struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    struct arena *a = arena_new();
    char **names = NULL;
    if (!a) {
        return error_set(err, SR_ENOMEM, "remove %s: out of memory", dir);
    }
    sr_rc rc = fs->list(fs, dir, &names, err);
    for (char **n = names; rc == SR_OK && *n; n++) {
        const char *path = durable_join(a, dir, *n);
        rc = path ? durable_absent_is_fine(fs->remove(fs, path, err))
                  : error_set(err, SR_ENOMEM, "remove %s: out of memory", dir);
    }
    if (rc == SR_OK) {
        rc = fs->remove_dir(fs, dir, err);
    }
    fs->names_free(fs, names);
    arena_free(a);
    return durable_absent_is_fine(rc);
}

/* Under a name of its own first: whoever is about to rename it to where it counts, and was late,
 * finds it whole or not at all. */
static sr_rc durable_remove_within(const struct env *env, const char *dir, struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    struct arena *a = arena_new();
    const char *gone = a ? arena_printf(a, "%s.gone", dir) : NULL;
    sr_rc rc = gone ? fs->rename(fs, dir, gone, false, err)
                    : error_set(err, SR_ENOMEM, "remove %s: out of memory", dir);
    if (rc == SR_EEXISTS) { /* what a crash left of another one */
        rc = durable_remove_flat(env, gone, err);
        rc = rc == SR_OK ? fs->rename(fs, dir, gone, false, err) : rc;
    }
    rc = rc == SR_OK ? durable_remove_flat(env, gone, err) : durable_absent_is_fine(rc);
    arena_free(a);
    return rc;
}

/* A file is left to the caller. */
static sr_rc durable_remove_child(const struct env *env, const char *path, struct sr_error *err)
{
    enum durable_kind kind = DURABLE_ABSENT;
    sr_rc rc = durable_look(env, path, &kind, err);
    return rc == SR_OK && kind == DURABLE_DIR ? durable_remove_within(env, path, err) : rc;
}

sr_rc durable_remove(const struct env *env, const char *path, struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    enum durable_kind kind = DURABLE_ABSENT;
    char **names = NULL;
    sr_rc rc = durable_look(env, path, &kind, err);
    if (rc != SR_OK || kind == DURABLE_ABSENT) {
        return rc;
    }
    if (kind == DURABLE_FILE) {
        return durable_absent_is_fine(fs->remove(fs, path, err));
    }
    rc = fs->list(fs, path, &names, err);
    struct arena *a = arena_new();
    if (rc == SR_OK && !a) {
        rc = error_set(err, SR_ENOMEM, "remove %s: out of memory", path);
    }
    for (char **n = names; rc == SR_OK && *n; n++) {
        const char *child = durable_join(a, path, *n);
        rc = child ? durable_remove_child(env, child, err)
                   : error_set(err, SR_ENOMEM, "remove %s: out of memory", path);
    }
    fs->names_free(fs, names);
    arena_free(a);
    return rc == SR_OK ? durable_remove_flat(env, path, err) : durable_absent_is_fine(rc);
}
