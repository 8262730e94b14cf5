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

/* "DIR/NAME" as it is called until it is whole: "DIR/.NAME.part". NULL: out of memory. */
static const char *savepoint_hidden(struct arena *a, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return arena_printf(a, "%.*s.%s.part", (int)(name - path), path, name);
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

/* A free name in a directory, which is made. */
static sr_rc savepoint_name(const struct store *s, const char *dir, struct arena *a,
                            const char **path, struct sr_error *err)
{
    struct store_url url = {0};
    sr_rc rc = store_url_parse(dir, a, &url, err);
    if (rc == SR_OK && !url.path) {
        rc = error_set(err, SR_ECONFIG, "a savepoint needs a directory, not '%s'", dir);
    }
    if (rc == SR_OK) {
        rc = durable_make_dirs(s->env, url.path, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    uint64_t random = s->env->random(s->env) >> 16; /* 12 hex digits */
    const char *end = s->type->has_file ? ".db" : "";
    const char *name = arena_printf(a, "savepoint-%.6s-%012" PRIx64 "%s", s->job_id, random, end);
    *path = name ? durable_join(a, url.path, name) : NULL;
    return *path ? SR_OK : error_set(err, SR_ENOMEM, "write a savepoint: out of memory");
}

sr_rc store_savepoint_hidden(struct store *s, const char *dir, struct manifest *m, struct arena *a,
                             const char **path, struct sr_error *err)
{
    struct sr_out metadata = bytes_out();
    const char *to = NULL;
    sr_rc rc = savepoint_name(s, dir, a, &to, err);
    if (rc == SR_OK) {
        rc = savepoint_prepare(s, m, &metadata, err);
    }
    const char *build = to ? savepoint_hidden(a, to) : NULL;
    if (rc == SR_OK) {
        rc = build ? savepoint_build(s, build, m, &metadata, err)
                   : error_set(err, SR_ENOMEM, "write a savepoint: out of memory");
        store_point(s->env, STORE_SAVEPOINT_BUILT);
    }
    bytes_free(&metadata);
    if (rc != SR_OK) {
        if (to) {
            store_savepoint_forget(s, to);
        }
        return err ? error_wrap(err, "savepoint in %s", dir) : rc;
    }
    *path = to;
    return SR_OK;
}

/* Only the outcome of the last two steps can be unknown; a savepoint that may or may not be there
 * harms nobody, since no sink is told: it just failed. */
sr_rc store_savepoint_keep(struct store *s, const char *path, struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    struct arena *a = arena_new();
    const char *build = a ? savepoint_hidden(a, path) : NULL;
    sr_rc rc = build ? fs->rename(fs, build, path, false, err)
                     : error_set(err, SR_ENOMEM, "name a savepoint: out of memory");
    arena_free(a);
    if (rc == SR_OK) {
        store_point(s->env, STORE_SAVEPOINT_RENAMED);
        rc = durable_sync_parent(s->env, path, err);
    } else {
        store_savepoint_forget(s, path);
    }
    return rc == SR_OK || !err ? rc : error_wrap(err, "savepoint %s", path);
}

void store_savepoint_forget(struct store *s, const char *path)
{
    struct arena *a = arena_new();
    const char *build = a ? savepoint_hidden(a, path) : NULL;
    if (build) {
        (void)durable_remove(s->env, build, NULL); /* best effort: its name is hidden */
    }
    arena_free(a);
}

sr_rc store_savepoint(struct store *s, const char *dir, struct manifest *m, struct arena *a,
                      const char **path, struct sr_error *err)
{
    sr_rc rc = store_savepoint_hidden(s, dir, m, a, path, err);
    return rc == SR_OK ? store_savepoint_keep(s, *path, err) : rc;
}
