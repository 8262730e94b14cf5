#include "cli/replay_target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/error.h"
#include "engine/ckpt/durable.h"

const char *replay_target(const struct plan *p)
{
    if (!p->dead_letter || !p->dead_letter->node.sink_caps.is_bounded_only) return NULL;
    return p->dead_letter->node.sink_caps.exclusive;
}

static sr_rc replay_target_read(const struct cli *c, const char *path, struct durable_bytes *out,
                                struct sr_error *err)
{
    struct sr_error absent = {0};
    *out = (struct durable_bytes){.len = 0};
    sr_rc rc = durable_read(&c->env, path, SIZE_MAX, c->arena, out, &absent);
    if (rc == SR_EABSENT) return SR_OK;
    if (rc != SR_OK) *err = absent;
    return rc;
}

static int replay_target_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All parts in `dir`, in the order of their names. *first: the path of one; NULL: there is none. */
static sr_rc replay_target_parts(const struct cli *c, const char *dir, struct durable_bytes *out,
                                 const char **first, struct sr_error *err)
{
    const struct sr_files *fs = c->env.files;
    struct sr_error absent = {0};
    char **names = NULL;
    *out = (struct durable_bytes){.len = 0};
    sr_rc rc = fs->list(fs, dir, &names, &absent);
    if (rc == SR_EABSENT) return SR_OK;
    if (rc != SR_OK) {
        *err = absent;
        return rc;
    }
    size_t count = 0;
    while (names[count]) {
        count++;
    }
    qsort(names, count, sizeof(char *), replay_target_by_name);
    for (size_t i = 0; i < count && rc == SR_OK; i++) {
        struct durable_bytes one;
        if (names[i][0] == '.') continue;
        const char *path = arena_printf(c->arena, "%s/%s", dir, names[i]);
        rc = path ? replay_target_read(c, path, &one, err)
                  : error_set(err, SR_ENOMEM, "out of memory");
        uint8_t *all = rc == SR_OK ? arena_array(c->arena, out->len + one.len + 1, 1) : NULL;
        if (rc == SR_OK && !all) rc = error_set(err, SR_ENOMEM, "out of memory");
        if (rc != SR_OK) break;
        if (out->len > 0) memcpy(all, out->data, out->len);
        if (one.len > 0) memcpy(all + out->len, one.data, one.len);
        *out = (struct durable_bytes){.data = all, .len = out->len + one.len};
        *first = path;
    }
    fs->names_free(fs, names);
    return rc;
}

sr_rc replay_target_keep(struct cli *c, const char *target, const char *from, struct sr_error *err)
{
    struct durable_bytes old, more = {.len = 0};
    const char *part = NULL;
    sr_rc rc = replay_target_read(c, target, &old, err);
    if (rc == SR_OK) rc = replay_target_parts(c, from, &more, &part, err);
    if (rc != SR_OK || more.len == 0) return rc;
    /* Letters hold the time and their batch: no others can look the same. */
    if (old.len >= more.len && memcmp(old.data + old.len - more.len, more.data, more.len) == 0) {
        return SR_OK;
    }
    uint8_t *both = arena_array(c->arena, old.len + more.len, 1);
    if (!both) return error_set(err, SR_ENOMEM, "out of memory");
    if (old.len > 0) memcpy(both, old.data, old.len);
    memcpy(both + old.len, more.data, more.len);
    struct stat st;
    bool has_mode = stat(old.len > 0 ? target : part, &st) == 0;
    rc = durable_replace(&c->env, target, both, old.len + more.len, err);
    if (rc == SR_OK && has_mode)
        (void)chmod(target, st.st_mode & 07777); /* as readable as it was */
    return rc;
}
