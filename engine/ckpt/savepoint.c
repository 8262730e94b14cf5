/* Savepoints: one directory, or one SQLite file, that belongs to no store and is never deleted.
 *
 * Built under a hidden name beside its place, made durable, then renamed: it is whole or absent.
 */
#include <inttypes.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/ckpt/chkdb.h"
#include "engine/ckpt/chkdir.h"
#include "engine/ckpt/durable.h"

static sr_rc savepoint_build(const struct store *s, const char *path, const struct manifest *m,
                             const struct sr_out *metadata, struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    if (s->type->has_file) {
        struct chkdb_content content = {m, metadata, s->filler};
        return chkdb_write_file(s->env, path, s->job_id, &content, err);
    }
    sr_rc rc = fs->make_dir(fs, path, err);
    return rc == SR_OK ? chkdir_write(s->env, path, m, metadata, err) : rc;
}

/* Only the outcome of the last two steps can be unknown; a savepoint that may or may not be there
 * harms nobody, since no sink is told: it just failed. */
static sr_rc savepoint_put(const struct store *s, const char *build, const char *path,
                           const struct manifest *m, const struct sr_out *metadata,
                           struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    sr_rc rc = savepoint_build(s, build, m, metadata, err);
    store_point(s->env, STORE_SAVEPOINT_BUILT);
    if (rc == SR_OK) {
        rc = fs->rename(fs, build, path, false, err);
    }
    if (rc != SR_OK) {
        (void)durable_remove(s->env, build, NULL); /* best effort: its name is hidden */
        return rc;
    }
    store_point(s->env, STORE_SAVEPOINT_RENAMED);
    return durable_sync_parent(s->env, path, err);
}

static sr_rc savepoint_prepare(struct store *s, struct manifest *m, struct sr_out *metadata,
                               struct sr_error *err)
{
    if (s->dead != SR_OK) {
        return error_set(err, s->dead, "the checkpoint store is closed since an earlier failure");
    }
    if (m->checkpoint <= s->newest) {
        return error_set(err, SR_EEXISTS,
                         "number %" PRIu64 " comes after %" PRIu64 ", which was used already",
                         m->checkpoint, s->newest);
    }
    m->kind = MANIFEST_SAVEPOINT;
    m->attempt = s->attempt;
    m->job_id = s->job_id;
    m->job_name = s->job_name;
    sr_rc rc = store_seal(m, metadata, err);
    if (rc == SR_OK && s->type->use_id) {
        rc = s->type->use_id(s, m->checkpoint, err);
        if (rc == SR_EUNKNOWN || rc == SR_EFENCED) {
            s->dead = rc;
        }
    }
    if (rc == SR_OK) {
        s->newest = m->checkpoint;
        s->savepoint = m->checkpoint;
    }
    return rc;
}

sr_rc store_savepoint(struct store *s, const char *dir, struct manifest *m, struct arena *a,
                      const char **path, struct sr_error *err)
{
    struct sr_out metadata = bytes_out();
    struct store_url url = {0};
    sr_rc rc = store_url_parse(dir, a, &url, err);
    if (rc == SR_OK && !url.path) {
        rc = error_set(err, SR_ECONFIG, "a savepoint needs a directory, not '%s'", dir);
    }
    if (rc == SR_OK) {
        rc = savepoint_prepare(s, m, &metadata, err);
    }
    if (rc == SR_OK) {
        rc = durable_make_dirs(s->env, url.path, err);
    }
    uint64_t random = s->env->random(s->env) >> 16; /* 12 hex digits */
    const char *end = s->type->has_file ? ".db" : "";
    const char *name = arena_printf(a, "savepoint-%.6s-%012" PRIx64 "%s", s->job_id, random, end);
    const char *hidden = name ? arena_printf(a, ".%s.part", name) : NULL;
    const char *to = name ? durable_join(a, url.path ? url.path : "", name) : NULL;
    const char *build = hidden ? durable_join(a, url.path ? url.path : "", hidden) : NULL;
    if (rc == SR_OK && (!to || !build)) {
        rc = error_set(err, SR_ENOMEM, "write a savepoint: out of memory");
    }
    if (rc == SR_OK) {
        rc = savepoint_put(s, build, to, m, &metadata, err);
    }
    bytes_free(&metadata);
    if (rc != SR_OK) {
        return err ? error_wrap(err, "savepoint in %s", dir) : rc;
    }
    *path = to;
    return SR_OK;
}
