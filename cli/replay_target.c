#include "cli/replay_target.h"

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

sr_rc replay_target_keep(struct cli *c, const char *target, const char *from, struct sr_error *err)
{
    struct durable_bytes old, more;
    sr_rc rc = replay_target_read(c, target, &old, err);
    if (rc == SR_OK) rc = replay_target_read(c, from, &more, err);
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
    bool has_mode = stat(old.len > 0 ? target : from, &st) == 0;
    rc = durable_replace(&c->env, target, both, old.len + more.len, err);
    if (rc == SR_OK && has_mode)
        (void)chmod(target, st.st_mode & 07777); /* as readable as it was */
    return rc;
}
