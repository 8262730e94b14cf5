/* Preloaded into a process: its OOM_AT-th allocation finds no memory, whoever makes it; all others
 * do. The file OOM_COUNT holds their number, in the machine's order of bytes. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong unseen;
static atomic_ulong *made = &unseen; /* in the file, once there is one: a process may die */
static unsigned long fails_at;       /* 0: none does */

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("OOM_AT"), *path = getenv("OOM_COUNT");
    fails_at = at ? strtoul(at, NULL, 10) : 0;
    int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, sizeof(*made)) != 0) return;
    void *shared = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED) made = shared;
    close(fd);
}

static int fails(void)
{
    if (atomic_fetch_add(made, 1) + 1 != fails_at) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = fails() ? NULL : __libc_memalign(alignment, size);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}
