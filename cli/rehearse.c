#include "cli/rehearse.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/error.h"

#define REHEARSE_TRACE_BYTES 4096u
#define REHEARSE_PUBLISHED   "run: after publish"

struct rehearse {
    char name[128];    /* of the point that kills; "": none */
    int64_t nth;       /* passage that kills */
    bool is_stop;      /* or stops */
    atomic_long count; /* relaxed: any thread may be the one that dies */
    atomic_long shown; /* passages of REHEARSE_PUBLISHED; relaxed */
    char *trace;       /* REHEARSE_TRACE_BYTES shared with the file; NULL: none */
};

static void rehearse_point(const struct env *e, const char *name)
{
    struct rehearse *r = e->crash_ctx;
    bool is_publication = strcmp(name, REHEARSE_PUBLISHED) == 0;
    long shown = atomic_fetch_add_explicit(&r->shown, is_publication ? 1 : 0, memory_order_relaxed);
    shown += is_publication ? 1 : 0;
    if (r->trace) (void)snprintf(r->trace, REHEARSE_TRACE_BYTES, "%s\n%ld\n", name, shown);
    if (*r->name && strcmp(name, r->name) == 0 &&
        atomic_fetch_add_explicit(&r->count, 1, memory_order_relaxed) + 1 == r->nth) {
        (void)raise(r->is_stop ? SIGSTOP : SIGKILL); /* the latter does not return */
    }
}

static sr_rc rehearse_map(struct rehearse *r, const char *path, struct sr_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return error_errno(err, errno, "open", path);
    void *p = MAP_FAILED;
    if (ftruncate(fd, REHEARSE_TRACE_BYTES) == 0) {
        p = mmap(NULL, REHEARSE_TRACE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    int number = errno;
    (void)close(fd); /* the mapping stays */
    if (p == MAP_FAILED) return error_errno(err, number, "map", path);
    r->trace = p;
    return SR_OK;
}

sr_rc rehearse_open(struct rehearse **out, struct cli *c, struct sr_error *err)
{
    const char *at = getenv("STREAMRUN_REHEARSE"), *trace = getenv("STREAMRUN_REHEARSE_TRACE");
    *out = NULL;
    if (!at && !trace) return SR_OK;
    struct rehearse *r = calloc(1, sizeof(*r));
    if (!r) return error_set(err, SR_ENOMEM, "out of memory");
    static const char stop[] = ":stop";
    size_t len = at ? strlen(at) : 0;
    char *name = at ? strdup(at) : NULL;
    r->is_stop = name && len >= sizeof(stop) && strcmp(name + len - sizeof(stop) + 1, stop) == 0;
    if (r->is_stop) name[len - sizeof(stop) + 1] = '\0';
    const char *colon = name ? strrchr(name, ':') : NULL;
    if (colon && (size_t)(colon - name) < sizeof(r->name)) {
        memcpy(r->name, name, (size_t)(colon - name));
        r->nth = strtol(colon + 1, NULL, 10);
    }
    free(name);
    sr_rc rc = trace ? rehearse_map(r, trace, err) : SR_OK;
    if (rc != SR_OK) {
        rehearse_close(r);
        return rc;
    }
    c->env.crash_point = rehearse_point;
    c->env.crash_ctx = r;
    *out = r;
    return SR_OK;
}

void rehearse_close(struct rehearse *r)
{
    if (!r) return;
    if (r->trace) (void)munmap(r->trace, REHEARSE_TRACE_BYTES);
    free(r);
}
