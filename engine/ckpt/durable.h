/* Files that must outlive a power loss: whole files written, replaced, read; trees removed.
 *
 * Everything through env->files, every call blocks. A file whose sync failed is never used again:
 * the caller gives up what it was building.
 */
#ifndef SR_CKPT_DURABLE_H
#define SR_CKPT_DURABLE_H

#include "engine/base/arena.h"
#include "engine/base/env.h"

/* What a whole file holds. */
struct durable_bytes {
    const uint8_t *data;
    size_t len;
};

/* Makes the directory and every missing one above it; each new name is durable. */
sr_rc durable_make_dirs(const struct env *env, const char *path, struct sr_error *err);
/* Syncs the directory that holds `path`. */
sr_rc durable_sync_parent(const struct env *env, const char *path, struct sr_error *err);
/* Makes a new file that holds exactly these bytes, and syncs it. The name is not durable yet. */
sr_rc durable_write(const struct env *env, const char *path, const void *bytes, size_t len,
                    struct sr_error *err);
/* Puts a small file in place in one step: `path`.tmp, sync, rename, sync of the directory. On
 * failure the old content or the new one is there. */
sr_rc durable_replace(const struct env *env, const char *path, const void *bytes, size_t len,
                      struct sr_error *err);
/* The same by way of `tmp`, a name of one's own: SR_EABSENT when its directory is gone, or went
 * before the rename; `path` is untouched then. */
sr_rc durable_replace_by(const struct env *env, const char *tmp, const char *path,
                         const struct durable_bytes *bytes, struct sr_error *err);
/* Reads a whole file of at most `max` bytes: SR_ECORRUPT if larger, SR_EABSENT if none is there. */
sr_rc durable_read(const struct env *env, const char *path, uint64_t max, struct arena *a,
                   struct durable_bytes *out, struct sr_error *err);
/* Removes a file, or a directory with what is in it, two levels deep; nothing there is fine. Nobody
 * can rename a directory of the second level away once a part of it is gone. */
sr_rc durable_remove(const struct env *env, const char *path, struct sr_error *err);

/* What is at a path. Failing to look is a failure, never absence; a pipe or a device is refused. */
enum durable_kind { DURABLE_ABSENT, DURABLE_FILE, DURABLE_DIR };

sr_rc durable_look(const struct env *env, const char *path, enum durable_kind *out,
                   struct sr_error *err);

/* "dir/name" in the arena; NULL: out of memory. */
const char *durable_join(struct arena *a, const char *dir, const char *name);
/* The N of a name like "chk-N": decimal, no sign, no leading zero, above 0. */
bool durable_number(const char *name, const char *prefix, uint64_t *out);

#endif
