#include "cli/suspects.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Shared, so that what was written is there after the process died. */
static struct crumbs *suspects_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return NULL;
    void *at = MAP_FAILED;
    if (ftruncate(fd, (off_t)sizeof(struct crumbs)) == 0) {
        at = mmap(NULL, sizeof(struct crumbs), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    (void)close(fd); /* the mapping stays */
    return at == MAP_FAILED ? NULL : at;
}

sr_rc suspects_open(struct suspects *s, const struct cli *c, struct store *store,
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
    if (!s->crumbs_path) return SR_ENOMEM;
    s->crumbs = suspects_map(s->crumbs_path);
    if (!s->crumbs) {
        cli_note(c, "warning: %s: %s: a record that kills the process will not be found",
                 s->crumbs_path, strerrordesc_np(errno));
    }
    return SR_OK;
}

void suspects_close(struct suspects *s, const struct cli *c)
{
    struct sr_error ignored; /* an empty one left behind does no harm */
    if (s->crumbs) (void)munmap(s->crumbs, sizeof(struct crumbs));
    if (s->crumbs_path) (void)c->env.files->remove(c->env.files, s->crumbs_path, &ignored);
    s->crumbs = NULL;
}
