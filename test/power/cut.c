/* Preloaded into a process: kills it at the k-th call that changes something on a disk.
 *
 * CUT_ROOT=DIR     where that disk is mounted, and perhaps another at its store/; what changes
 *                  elsewhere does not count
 * CUT_AT=K         the K-th such call (from 1) is not made but the process killed; 0, unset: never
 * CUT_SHORT=K      every K-th write to that disk takes the first half of its bytes; unset: none
 * CUT_COUNT=FILE   holds the number of such calls, in the machine's order of bytes, whatever ends
 *                  the process
 *
 * Its functions take the place of libc's; libsqlite's calls come here as well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_ulong unseen;
static atomic_ulong *made = &unseen; /* in the file, once there is one */
static unsigned long cut_at;         /* 0: never */
static unsigned long short_every;    /* 0: no write is short */
static atomic_ulong writes;          /* of more than a byte */
static const char *root;             /* NULL: nothing counts */
static size_t root_len;
static dev_t device, store; /* of `root`, and of what may be mounted at its store/ */

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("CUT_AT"), *path = getenv("CUT_COUNT"), *dir = getenv("CUT_ROOT");
    struct stat s;
    if (!dir || stat(dir, &s) != 0) return;
    device = store = s.st_dev;
    char within[4096];
    (void)snprintf(within, sizeof(within), "%s/store", dir);
    if (stat(within, &s) == 0) store = s.st_dev;
    root_len = strlen(dir);
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0 && ftruncate(fd, sizeof(*made)) == 0) {
        void *shared = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED) made = shared;
    }
    if (fd >= 0) close(fd);
    cut_at = at ? strtoul(at, NULL, 10) : 0;
    const char *every = getenv("CUT_SHORT");
    short_every = every ? strtoul(every, NULL, 10) : 0;
    root = dir;
}

static void count(void)
{
    if (atomic_fetch_add(made, 1) + 1 == cut_at) (void)kill(getpid(), SIGKILL);
}

static void count_path(const char *path)
{
    if (root && strncmp(path, root, root_len) == 0) count();
}

static int is_there(int fd)
{
    struct stat s;
    int before = errno;
    int is = root && fstat(fd, &s) == 0 && (s.st_dev == device || s.st_dev == store);
    errno = before;
    return is;
}

/* How many of `n` bytes the next write takes. */
static size_t taken(int fd, size_t n)
{
    if (short_every == 0 || n < 2 || !is_there(fd)) return n;
    return (atomic_fetch_add(&writes, 1) + 1) % short_every == 0 ? n / 2 : n;
}

static void count_fd(int fd)
{
    if (is_there(fd)) count();
}

/* `real` is libc's function of the name. */
#define REAL(type, name, ...)         \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

#define ON_FD(type, name, params, types, args) \
    type name params;                          \
    type name params                           \
    {                                          \
        REAL(type, #name, types);              \
        count_fd(fd);                          \
        return real args;                      \
    }
#define ON_PATH(type, name, params, types, args) \
    type name params;                            \
    type name params                             \
    {                                            \
        REAL(type, #name, types);                \
        count_path(path);                        \
        return real args;                        \
    }
#define TYPES(...) __VA_ARGS__

ON_FD(ssize_t, write, (int fd, const void *b, size_t n), TYPES(int, const void *, size_t),
      (fd, b, taken(fd, n)))
ON_FD(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t at),
      TYPES(int, const void *, size_t, off64_t), (fd, b, taken(fd, n), at))
ON_FD(int, fsync, (int fd), TYPES(int), (fd))
ON_FD(int, fdatasync, (int fd), TYPES(int), (fd))
ON_FD(int, ftruncate64, (int fd, off64_t len), TYPES(int, off64_t), (fd, len))
ON_FD(int, posix_fallocate64, (int fd, off64_t at, off64_t len), TYPES(int, off64_t, off64_t),
      (fd, at, len))
ON_PATH(int, rename, (const char *path, const char *to), TYPES(const char *, const char *),
        (path, to))
ON_PATH(int, renameat2, (int from, const char *path, int dir, const char *to, unsigned flags),
        TYPES(int, const char *, int, const char *, unsigned), (from, path, dir, to, flags))
ON_PATH(int, link, (const char *path, const char *to), TYPES(const char *, const char *),
        (path, to))
ON_PATH(int, unlink, (const char *path), TYPES(const char *), (path))
ON_PATH(int, mkdir, (const char *path, mode_t mode), TYPES(const char *, mode_t), (path, mode))
ON_PATH(int, rmdir, (const char *path), TYPES(const char *), (path))

/* Only what may make a file changes something. */
int open64(const char *path, int flags, ...)
{
    REAL(int, "open64", const char *, int, ...);
    if (!(flags & (O_CREAT | O_TRUNC))) return real(path, flags);
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    count_path(path);
    return real(path, flags, mode);
}
