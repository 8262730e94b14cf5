#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/assert.h"
#include "engine/base/calendar.h"
#include "engine/base/env.h"
#include "engine/base/error.h"
#include "engine/base/room.h"

struct sr_file {
    int fd;
    bool is_condemned; /* a sync failed: what is on disk is unknown, for ever */
    char path[];       /* for words */
};

static sr_rc posix_open(const struct sr_files *fs, const char *path, uint32_t flags,
                        struct sr_file **out, struct sr_error *err)
{
    (void)fs;
    int how = O_CLOEXEC | O_NOCTTY | O_NONBLOCK; /* a FIFO must not make an open wait */
    how |= flags & SR_FILE_WRITE ? O_RDWR : O_RDONLY;
    how |= flags & SR_FILE_CREATE ? O_CREAT : 0;
    how |= flags & SR_FILE_EXCLUSIVE ? O_EXCL | O_NOFOLLOW : 0;
    how |= flags & SR_FILE_TRUNCATE ? O_TRUNC : 0;
    size_t len = strlen(path);
    struct sr_file *f = malloc(sizeof(*f) + len + 1);
    if (!f) {
        return error_set(err, SR_ENOMEM, "open %s: out of memory", path);
    }
    memcpy(f->path, path, len + 1);
    f->is_condemned = false;
    do {
        f->fd = open(path, how, flags & SR_FILE_PRIVATE ? 0600 : 0666);
    } while (f->fd < 0 && errno == EINTR);
    if (f->fd < 0) {
        sr_rc rc = error_errno(err, errno, "open", path);
        free(f);
        return rc;
    }
    *out = f;
    return SR_OK;
}

/* What has no places to read at, a pipe or a terminal, is read on from where it is; it was opened
 * without waiting, so this waits for whoever writes. */
static ssize_t posix_read_on(int fd, void *buf, size_t len)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n = -1;
    do {
        n = poll(&p, 1, -1) < 0 ? -1 : read(fd, buf, len);
    } while (n < 0 && errno == EAGAIN);
    return n;
}

static sr_rc posix_read(struct sr_file *f, void *buf, size_t len, uint64_t at, size_t *got,
                        struct sr_error *err)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = pread(f->fd, (char *)buf + done, len - done, (off_t)(at + done));
        if (n < 0 && errno == ESPIPE) {
            n = posix_read_on(f->fd, (char *)buf + done, len - done);
        }
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return error_errno(err, errno, "read", f->path);
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    *got = done;
    return SR_OK;
}

static sr_rc posix_write(struct sr_file *f, const void *buf, size_t len, uint64_t at,
                         struct sr_error *err)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = pwrite(f->fd, (const char *)buf + done, len - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return error_errno(err, n < 0 ? errno : EIO, "write", f->path);
        }
        done += (size_t)n;
    }
    return SR_OK;
}

static sr_rc posix_truncate(struct sr_file *f, uint64_t size_bytes, struct sr_error *err)
{
    int n = 0;
    do {
        n = ftruncate(f->fd, (off_t)size_bytes);
    } while (n < 0 && errno == EINTR);
    return n == 0 ? SR_OK : error_errno(err, errno, "truncate", f->path);
}

/* Whatever the reason, also a full disk: nobody is to try it again. */
static sr_rc posix_unsynced(struct sr_error *err, const char *doing, const char *path)
{
    (void)error_errno(err, errno, doing, path);
    if (err) err->rc = SR_EIO;
    return SR_EIO;
}

/* After a failed fsync the kernel may have dropped the pages and would call a second one good. */
static sr_rc posix_sync(struct sr_file *f, struct sr_error *err)
{
    if (f->is_condemned) {
        return error_set(err, SR_EIO, "sync %s: an earlier sync failed", f->path);
    }
    if (fsync(f->fd) == 0) {
        return SR_OK;
    }
    f->is_condemned = true;
    return posix_unsynced(err, "sync", f->path);
}

static sr_rc posix_lock(struct sr_file *f, struct sr_error *err)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int n = 0;
    do {
        n = fcntl(f->fd, F_OFD_SETLK, &all);
    } while (n < 0 && errno == EINTR);
    if (n == 0) {
        return SR_OK;
    }
    if (errno == EAGAIN || errno == EACCES) {
        return error_set(err, SR_EBUSY, "lock %s: held by another process", f->path);
    }
    return error_errno(err, errno, "lock", f->path);
}

static struct sr_stat posix_stat_from(const struct stat *s)
{
    struct sr_stat out = {.kind = SR_FILE_OTHER,
                          .size_bytes = (uint64_t)s->st_size,
                          .device = (uint64_t)s->st_dev,
                          .inode = (uint64_t)s->st_ino,
                          .mode = (uint32_t)s->st_mode & 07777u,
                          .user = s->st_uid,
                          .group = s->st_gid};
    out.modified_us = (int64_t)s->st_mtim.tv_sec * 1000000 + s->st_mtim.tv_nsec / 1000;
    if (S_ISREG(s->st_mode)) {
        out.kind = SR_FILE_REGULAR;
    } else if (S_ISDIR(s->st_mode)) {
        out.kind = SR_FILE_DIRECTORY;
    }
    return out;
}

static sr_rc posix_stat_file(struct sr_file *f, struct sr_stat *out, struct sr_error *err)
{
    struct stat s;
    if (fstat(f->fd, &s) != 0) {
        return error_errno(err, errno, "stat", f->path);
    }
    *out = posix_stat_from(&s);
    return SR_OK;
}

/* close is not repeated on EINTR: on Linux the descriptor is gone whatever it answers. */
static sr_rc posix_close(struct sr_file *f, struct sr_error *err)
{
    if (!f) {
        return SR_OK;
    }
    sr_rc rc = SR_OK;
    if (close(f->fd) != 0 && errno != EINTR) {
        rc = error_errno(err, errno, "close", f->path);
    }
    free(f);
    return rc;
}

static sr_rc posix_stat(const struct sr_files *fs, const char *path, struct sr_stat *out,
                        struct sr_error *err)
{
    (void)fs;
    struct stat s;
    if (stat(path, &s) != 0) {
        return error_errno(err, errno, "stat", path);
    }
    *out = posix_stat_from(&s);
    return SR_OK;
}

static void posix_names_free(const struct sr_files *fs, char **names)
{
    (void)fs;
    for (char **n = names; n && *n; n++) {
        free(*n);
    }
    free(names);
}

static int posix_compare_names(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    return strcmp(*x, *y);
}

struct posix_names {
    char **name; /* ended by NULL */
    uint32_t count, space;
};

/* Adds one, and keeps the end. */
static bool posix_add_name(struct posix_names *l, const char *name)
{
    char **grown = room_for((void *)l->name, l->count, 2, &l->space, sizeof(char *));
    if (!grown) {
        return false;
    }
    l->name = grown;
    l->name[l->count] = name ? strdup(name) : NULL;
    l->name[l->count + 1] = NULL;
    return !name || l->name[l->count++] != NULL;
}

static sr_rc posix_list_from(DIR *d, const char *dir, struct posix_names *l, struct sr_error *err)
{
    for (;;) {
        errno = 0;
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own */
        const struct dirent *e = readdir(d);
        if (!e) {
            return errno == 0 ? SR_OK : error_errno(err, errno, "list", dir);
        }
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        if (!posix_add_name(l, e->d_name)) {
            return error_set(err, SR_ENOMEM, "list %s: out of memory", dir);
        }
    }
}

static sr_rc posix_list(const struct sr_files *fs, const char *dir, char ***names,
                        struct sr_error *err)
{
    DIR *d = opendir(dir); /* sets O_CLOEXEC */
    if (!d) {
        return error_errno(err, errno, "list", dir);
    }
    struct posix_names l = {.name = NULL};
    sr_rc rc = posix_add_name(&l, NULL) ? posix_list_from(d, dir, &l, err)
                                        : error_set(err, SR_ENOMEM, "list %s: out of memory", dir);
    if (rc == SR_OK) {
        qsort(l.name, l.count, sizeof(char *), posix_compare_names);
        *names = l.name;
        l.name = NULL;
    }
    posix_names_free(fs, l.name);
    (void)closedir(d); /* was only read */
    return rc;
}

static sr_rc posix_make_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    (void)fs;
    return mkdir(path, 0777) == 0 ? SR_OK : error_errno(err, errno, "make directory", path);
}

static sr_rc posix_sync_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    (void)fs;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return error_errno(err, errno, "open directory", path);
    }
    sr_rc rc = SR_OK;
    if (fsync(fd) != 0) {
        rc = posix_unsynced(err, "sync directory", path);
    }
    (void)close(fd); /* read-only */
    return rc;
}

static sr_rc posix_rename(const struct sr_files *fs, const char *from, const char *to,
                          bool may_replace, struct sr_error *err)
{
    (void)fs;
    unsigned flags = may_replace ? 0 : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, flags) == 0) {
        return SR_OK;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return error_errno(err, errno, "rename to", to);
    }
    /* A file system without RENAME_NOREPLACE. A hard link is as atomic and never replaces; a
     * directory cannot be linked, and an empty or missing target is all that rename then takes. */
    if (link(from, to) == 0) {
        if (unlink(from) != 0) {
            return error_errno(err, errno, "remove", from);
        }
        return SR_OK;
    }
    if (errno != EPERM && errno != EOPNOTSUPP) {
        return error_errno(err, errno, "rename to", to);
    }
    struct stat s;
    if (lstat(to, &s) == 0) {
        return error_errno(err, EEXIST, "rename to", to);
    }
    return rename(from, to) == 0 ? SR_OK : error_errno(err, errno, "rename to", to);
}

static sr_rc posix_remove(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    (void)fs;
    return unlink(path) == 0 ? SR_OK : error_errno(err, errno, "remove", path);
}

static sr_rc posix_remove_dir(const struct sr_files *fs, const char *path, struct sr_error *err)
{
    (void)fs;
    return rmdir(path) == 0 ? SR_OK : error_errno(err, errno, "remove directory", path);
}

static sr_rc posix_space(const struct sr_files *fs, const char *path, uint64_t *free_bytes,
                         struct sr_error *err)
{
    (void)fs;
    struct statvfs s;
    int n = 0;
    do {
        n = statvfs(path, &s);
    } while (n != 0 && errno == EINTR);
    if (n != 0) {
        return error_errno(err, errno, "look at the space of", path);
    }
    *free_bytes = (uint64_t)s.f_bavail * (uint64_t)s.f_frsize;
    return SR_OK;
}

static sr_rc posix_follow(const struct sr_files *fs, const char *path, char **out,
                          struct sr_error *err)
{
    (void)fs;
    char *found = realpath(path, NULL);
    if (!found) {
        return error_errno(err, errno, "follow", path);
    }
    *out = found;
    return SR_OK;
}

/* The owner first: a change of owner takes the set-user bits away. */
static sr_rc posix_set_access(struct sr_file *f, uint32_t mode, uint32_t user, uint32_t group,
                              struct sr_error *err)
{
    if ((user != SR_FILE_KEEP || group != SR_FILE_KEEP) && fchown(f->fd, user, group) != 0 &&
        errno != EPERM) {
        return error_errno(err, errno, "change the owner of", f->path);
    }
    if (mode != SR_FILE_KEEP && fchmod(f->fd, mode) != 0) {
        return error_errno(err, errno, "change the mode of", f->path);
    }
    return SR_OK;
}

static const struct sr_files posix_files = {
    .size = sizeof(struct sr_files),
    .open = posix_open,
    .read = posix_read,
    .write = posix_write,
    .truncate = posix_truncate,
    .sync = posix_sync,
    .lock = posix_lock,
    .stat_file = posix_stat_file,
    .close = posix_close,
    .stat = posix_stat,
    .list = posix_list,
    .names_free = posix_names_free,
    .make_dir = posix_make_dir,
    .sync_dir = posix_sync_dir,
    .rename = posix_rename,
    .remove = posix_remove,
    .remove_dir = posix_remove_dir,
    .space = posix_space,
    .follow = posix_follow,
    .set_access = posix_set_access,
};

static int64_t posix_clock_us(clockid_t clock)
{
    struct timespec t;
    int n = clock_gettime(clock, &t);
    sr_assert(n == 0);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t posix_wall_us(const struct env *e)
{
    (void)e;
    return posix_clock_us(CLOCK_REALTIME);
}

static int64_t posix_mono_us(const struct env *e)
{
    (void)e;
    return posix_clock_us(CLOCK_MONOTONIC);
}

static uint64_t posix_random(const struct env *e)
{
    (void)e;
    uint64_t v = 0;
    ssize_t n = 0;
    do {
        n = getrandom(&v, sizeof(v), 0); /* eight bytes come whole or not at all */
    } while (n < 0 && errno == EINTR);
    sr_assert(n == (ssize_t)sizeof(v));
    return v;
}

/* One write(2) a line, so that lines of several threads and processes do not mix. */
static void posix_write_log(const struct env *e, enum sr_level level, const char *who,
                            const char *line)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARN", "ERROR"};
    if ((intptr_t)level < (intptr_t)e->ctx) {
        return;
    }
    char time[25];
    civil_iso_ms(posix_wall_us(e), time);
    char text[1400];
    int len = snprintf(text, sizeof(text) - 1, "%s %-5s %s: %s", time, names[level], who, line);
    if (len < 0) {
        return;
    }
    size_t n = (size_t)len < sizeof(text) - 1 ? (size_t)len : sizeof(text) - 2;
    text[n++] = '\n';
    ssize_t done = write(STDERR_FILENO, text, n);
    (void)done; /* there is nobody left to tell */
}

struct env env_posix(enum sr_level level)
{
    /* The level is all there is to keep, so it stands where the pointer would. */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return (struct env){.ctx = (void *)(intptr_t)level,
                        .files = &posix_files,
                        .wall_us = posix_wall_us,
                        .mono_us = posix_mono_us,
                        .random = posix_random,
                        .log = posix_write_log};
}
