/* Preloaded into a process: kills it at the k-th call that changes something on a disk, or lets one
 * call fail.
 *
 * CUT_ROOT=DIR     where that disk is mounted, and perhaps another at its store/; what changes
 *                  elsewhere does not count
 * CUT_AT=K         the K-th such call (from 1) is not made but the process killed; 0, unset: never
 * CUT_SHORT=K      every K-th write to that disk takes the first half of its bytes, every K-th read
 *                  gives the first half; unset: none
 * CUT_FAIL=CALL:K:ERRNO  the K-th call of this name there is not made but fails
 * CUT_COUNT=FILE   holds the number of such calls, then that of each name (CUT_CALLS), in the
 *                  machine's order of bytes, whatever ends the process
 *
 * Its functions take the place of libc's; libsqlite's calls come here as well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
#define CUT_CALLS(X)                                                                        \
    X(read) X(pread64) X(write) X(pwrite64) X(fsync) X(fdatasync) X(ftruncate64) X(rename) \
    X(renameat2) X(link) X(unlink) X(mkdir) X(rmdir) X(open64)
/* clang-format on */
#define CUT_ENUM(name) CALL_##name,
#define CUT_NAME(name) #name,
enum call { CUT_CALLS(CUT_ENUM) CALLS };
static const char *const names[] = {CUT_CALLS(CUT_NAME)};

static atomic_ulong unseen[1 + CALLS];
static atomic_ulong *made = unseen; /* in the file, once there is one; behind it those by name */
static unsigned long fail_at;       /* of the calls of one name; 0: none fails */
static enum call fail_call = CALLS;
static int fail_errno;
static unsigned long cut_at;      /* 0: never */
static unsigned long short_every; /* 0: no write is short */
static atomic_ulong moves;        /* reads and writes of more than a byte */
static const char *root;          /* NULL: nothing counts */
static size_t root_len;
static dev_t device, store; /* of `root`, and of what may be mounted at its store/ */

static void begin_failing(const char *how)
{
    const char *colon = how ? strchr(how, ':') : NULL, *last = how ? strrchr(how, ':') : NULL;
    if (!colon || colon == last) return;
    for (int i = 0; i < CALLS; i++) {
        bool is_it = strlen(names[i]) == (size_t)(colon - how);
        if (is_it && strncmp(names[i], how, (size_t)(colon - how)) == 0) fail_call = (enum call)i;
    }
    fail_at = strtoul(colon + 1, NULL, 10);
    fail_errno = (int)strtoul(last + 1, NULL, 10);
}

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
    if (fd >= 0 && ftruncate(fd, sizeof(unseen)) == 0) {
        void *shared = mmap(NULL, sizeof(unseen), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED) made = shared;
    }
    if (fd >= 0) close(fd);
    cut_at = at ? strtoul(at, NULL, 10) : 0;
    const char *every = getenv("CUT_SHORT");
    short_every = every ? strtoul(every, NULL, 10) : 0;
    begin_failing(getenv("CUT_FAIL"));
    root = dir;
}

/* One that changes something. */
static void count(void)
{
    if (atomic_fetch_add(made, 1) + 1 == cut_at) (void)kill(getpid(), SIGKILL);
}

static bool is_path(const char *path) { return root && strncmp(path, root, root_len) == 0; }

/* Counted by name; true: it is the one that fails, and errno says why. */
static bool fails(enum call call, bool is_there)
{
    if (!is_there) return false;
    bool is_it = atomic_fetch_add(&made[1 + call], 1) + 1 == fail_at && call == fail_call;
    if (is_it) errno = fail_errno;
    return is_it;
}

static bool is_there(int fd)
{
    struct stat s;
    int before = errno;
    bool is = root && fstat(fd, &s) == 0 && (s.st_dev == device || s.st_dev == store);
    errno = before;
    return is;
}

/* How many of `n` bytes the next write takes, or the next read gives. */
static size_t taken(int fd, size_t n)
{
    if (short_every == 0 || n < 2 || !is_there(fd)) return n;
    return (atomic_fetch_add(&moves, 1) + 1) % short_every == 0 ? n / 2 : n;
}

/* `real` is libc's function of the name. */
#define REAL(type, name, ...)         \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

#define ON_FD(type, name, params, types, args)     \
    type name params;                              \
    type name params                               \
    {                                              \
        REAL(type, #name, types);                  \
        bool counts = is_there(fd);                \
        if (counts) count();                       \
        if (fails(CALL_##name, counts)) return -1; \
        return real args;                          \
    }
#define ON_READ(name, params, types, args)               \
    ssize_t name params;                                 \
    ssize_t name params                                  \
    {                                                    \
        REAL(ssize_t, #name, types);                     \
        if (fails(CALL_##name, is_there(fd))) return -1; \
        return real args;                                \
    }
#define ON_PATH(type, name, params, types, args)          \
    type name params;                                     \
    type name params                                      \
    {                                                     \
        REAL(type, #name, types);                         \
        if (is_path(path)) count();                       \
        if (fails(CALL_##name, is_path(path))) return -1; \
        return real args;                                 \
    }
#define TYPES(...) __VA_ARGS__

ON_READ(read, (int fd, void *b, size_t n), TYPES(int, void *, size_t), (fd, b, taken(fd, n)))
ON_READ(pread64, (int fd, void *b, size_t n, off64_t at), TYPES(int, void *, size_t, off64_t),
        (fd, b, taken(fd, n), at))
ON_FD(ssize_t, write, (int fd, const void *b, size_t n), TYPES(int, const void *, size_t),
      (fd, b, taken(fd, n)))
ON_FD(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t at),
      TYPES(int, const void *, size_t, off64_t), (fd, b, taken(fd, n), at))
ON_FD(int, fsync, (int fd), TYPES(int), (fd))
ON_FD(int, fdatasync, (int fd), TYPES(int), (fd))
ON_FD(int, ftruncate64, (int fd, off64_t len), TYPES(int, off64_t), (fd, len))
ON_PATH(int, rename, (const char *path, const char *to), TYPES(const char *, const char *),
        (path, to))
ON_PATH(int, renameat2, (int from, const char *path, int dir, const char *to, unsigned flags),
        TYPES(int, const char *, int, const char *, unsigned), (from, path, dir, to, flags))
ON_PATH(int, link, (const char *path, const char *to), TYPES(const char *, const char *),
        (path, to))
ON_PATH(int, unlink, (const char *path), TYPES(const char *), (path))
ON_PATH(int, mkdir, (const char *path, mode_t mode), TYPES(const char *, mode_t), (path, mode))
ON_PATH(int, rmdir, (const char *path), TYPES(const char *), (path))

/* It answers with the error itself, and never fails here. */
int posix_fallocate64(int fd, off64_t at, off64_t len)
{
    REAL(int, "posix_fallocate64", int, off64_t, off64_t);
    if (is_there(fd)) count();
    return real(fd, at, len);
}

/* Only what may make a file changes something. */
int open64(const char *path, int flags, ...)
{
    REAL(int, "open64", const char *, int, ...);
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if ((flags & (O_CREAT | O_TRUNC)) && is_path(path)) count();
    if (fails(CALL_open64, is_path(path))) return -1;
    return real(path, flags, mode);
}
