#include "cli/suspects.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/error.h"

#define SUSPECTS_TRIES 3 /* to remove a file that is of no use any more */

/* Shared, so that what was written is there after the process died. Its room is taken at once: on a
 * disk that is full later, a page that has none would kill the process. */
static struct crumbs *suspects_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return NULL;
    void *at = MAP_FAILED;
    off_t size = (off_t)sizeof(struct crumbs);
    int failed = ftruncate(fd, size) == 0 ? posix_fallocate(fd, 0, size) : errno;
    if (failed) {
        (void)unlink(path); /* of no use without its room */
        errno = failed;
    } else {
        at = mmap(NULL, sizeof(struct crumbs), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    (void)close(fd); /* the mapping stays */
    return at == MAP_FAILED ? NULL : at;
}

/* The paths of both files. */
static sr_rc suspects_place(struct suspects *s, const struct cli *c, struct store *store,
                            const char *run_dir, const char *job_id, struct sr_error *err)
{
    memset(s, 0, sizeof(*s));
    if (store_is_durable(store)) {
        const char *dir = store_redo_dir(store, err);
        if (!dir) return err->rc;
        s->path = arena_printf(c->arena, "%s/poison", dir);
    } else {
        s->path = arena_printf(c->arena, "%s/%s.poison", run_dir, job_id);
    }
    s->crumbs_path = s->path ? arena_printf(c->arena, "%s.crumbs", s->path) : NULL;
    return s->crumbs_path ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

static void suspects_no_crumbs(const struct suspects *s, const struct cli *c, int number)
{
    cli_note(c, "warning: %s: %s: a record that kills the process will not be found",
             s->crumbs_path, strerrordesc_np(number));
}

sr_rc suspects_open(struct suspects *s, const struct cli *c, struct store *store,
                    const char *run_dir, const char *job_id, struct sr_error *err)
{
    sr_rc rc = suspects_place(s, c, store, run_dir, job_id, err);
    if (rc != SR_OK) return rc;
    s->crumbs = suspects_map(s->crumbs_path);
    if (!s->crumbs) suspects_no_crumbs(s, c, errno);
    return SR_OK;
}

sr_rc suspects_inherit(struct suspects *s, const struct cli *c, struct store *store,
                       const char *run_dir, const char *job_id, struct sr_error *err)
{
    sr_rc rc = suspects_place(s, c, store, run_dir, job_id, err);
    if (rc != SR_OK) return rc;
    struct crumbs *old = suspects_map(s->crumbs_path);
    const char *mine = arena_printf(c->arena, "%s.new", s->crumbs_path);
    if (mine) (void)unlink(mine); /* what a crash left */
    s->crumbs = mine ? suspects_map(mine) : NULL;
    if (s->crumbs && old) memcpy(s->crumbs, old, sizeof(*old));
    if (!s->crumbs || rename(mine, s->crumbs_path) != 0) suspects_no_crumbs(s, c, errno);
    if (old) (void)munmap(old, sizeof(*old)); /* cannot fail */
    return SR_OK;
}

void suspects_close(struct suspects *s, const struct cli *c, bool is_fenced)
{
    struct sr_error ignored; /* what stays is taken by the next run, and removed at its end */
    if (s->crumbs) (void)munmap(s->crumbs, sizeof(struct crumbs));
    sr_rc rc = s->crumbs_path && !is_fenced ? SR_EIO : SR_OK;
    for (int i = 0; i < SUSPECTS_TRIES && rc != SR_OK && rc != SR_EABSENT; i++) {
        rc = c->env.files->remove(c->env.files, s->crumbs_path, &ignored);
    }
    s->crumbs = NULL;
}
