#include "engine/plug/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"

#define LOAD_SYMBOL "sr_plugin_module"

/* Whoever can write here could make us run anything. */
static bool load_is_trusted(const struct stat *st)
{
    if (st->st_uid != 0 && st->st_uid != geteuid()) {
        return false;
    }
    if (st->st_mode & S_IWOTH) {
        return false;
    }
    return !(st->st_mode & S_IWGRP) || st->st_gid == getegid();
}

static sr_rc load_check_file(const char *path, struct sr_error *err)
{
    static const char elf[4] = {0x7f, 'E', 'L', 'F'};
    char head[sizeof(elf)];
    struct stat st;
    sr_rc rc = SR_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return error_errno(err, errno, "open module", path);
    }
    if (fstat(fd, &st) != 0) {
        rc = error_errno(err, errno, "stat module", path);
    } else if (!S_ISREG(st.st_mode)) {
        rc = error_set(err, SR_EABI, "%s is not a plugin: not a regular file", path);
    } else if (!load_is_trusted(&st)) {
        rc = error_set(err, SR_EACCESS,
                       "%s is not loaded: it must belong to root or to you, and others must not be "
                       "able to write it",
                       path);
    } else if (read(fd, head, sizeof(head)) != (ssize_t)sizeof(head) ||
               memcmp(head, elf, sizeof(elf)) != 0) {
        rc = error_set(err, SR_EABI, "%s is not a plugin: not a shared object", path);
    }
    (void)close(fd); /* read-only */
    return rc;
}

static sr_rc load_check_dir(const char *path, struct sr_error *err)
{
    char dir[PATH_MAX];
    struct stat st;
    const char *slash = strrchr(path, '/');

    sr_assert(slash); /* the path is absolute */
    size_t len = slash == path ? 1 : (size_t)(slash - path);
    sr_assert(len < sizeof(dir));
    memcpy(dir, path, len);
    dir[len] = '\0';
    if (stat(dir, &st) != 0) {
        return error_errno(err, errno, "stat", dir);
    }
    if (!load_is_trusted(&st)) {
        return error_set(err, SR_EACCESS,
                         "%s is not loaded: its directory must belong to root or to you, and "
                         "others must not be able to write in it",
                         path);
    }
    return SR_OK;
}

/* The dynamic linker's own words name the file already, but not always. */
static sr_rc load_open(const char *path, const struct sr_plugin **out, struct sr_error *err)
{
    (void)
        dlerror(); /* forgets an older one; NOLINT(concurrency-mt-unsafe): one a thread in glibc */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror(); /* NOLINT(concurrency-mt-unsafe): as above */
        return error_set(err, SR_EABI, "%s cannot be loaded: %s", path, why ? why : "no reason");
    }
    const struct sr_plugin *p = dlsym(handle, LOAD_SYMBOL);
    if (!p) {
        (void)dlclose(handle); /* nothing of it is in use */
        return error_set(err, SR_EABI,
                         "%s is not a plugin: it has no symbol " LOAD_SYMBOL
                         " (build it with -DSR_PLUGIN_MODULE)",
                         path);
    }
    *out = p;
    return SR_OK;
}

sr_rc load_module(const char *path, const struct sr_plugin **out, struct sr_error *err)
{
    sr_assert(path && out);
    char *full = realpath(path, NULL); /* a name without a slash must not be looked up elsewhere */
    if (!full) {
        return error_errno(err, errno, "load module", path);
    }
    sr_rc rc = strlen(full) < PATH_MAX
                   ? load_check_file(full, err)
                   : error_set(err, SR_ELIMIT, "%s: the path is too long", path);
    if (rc == SR_OK) {
        rc = load_check_dir(full, err);
    }
    if (rc == SR_OK) {
        rc = load_open(full, out, err);
    }
    free(full);
    return rc;
}
