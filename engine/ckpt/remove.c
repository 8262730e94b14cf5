/* Deleting one checkpoint or savepoint by its path. */
#include <inttypes.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/ckpt/durable.h"
#include "engine/ckpt/jobdir.h"

static const char remove_nobody[] =
    "00000000000000000000000000000000"; /* damage hides whose it is */

static sr_rc remove_no_memory(const struct store_entry *e, struct sr_error *err)
{
    return error_set(err, SR_ENOMEM, "delete %s: out of memory", e->path);
}

/* Through its store, under the job's lock and as its newest attempt: who is still running it is
 * told by SR_EBUSY, and who is taken for dead is fenced. */
static sr_rc remove_of_store(const struct env *env, const struct store_type *type,
                             const char *place, const struct store_entry *e, struct sr_error *err)
{
    struct store *s = NULL;
    const char *job_id = strlen(e->job_id) == 32 ? e->job_id : remove_nobody;
    struct store_conf conf = {.job_id = job_id, .job_name = e->job_name, .retained = 1};
    sr_rc rc = store_open_at(&s, env, type, place, &conf, err);
    if (rc == SR_OK) {
        rc = store_delete(s, e->lineage, e->checkpoint, err);
    }
    store_close(s);
    return rc;
}

/* What belongs to no store: renamed, so that it is whole or gone, then removed. */
static sr_rc remove_alone(const struct env *env, const struct store_entry *e, struct arena *a,
                          struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    const char *name = strrchr(e->path, '/') + 1;
    const char *gone = arena_printf(a, "%.*s.%s.%08" PRIx64 ".deleted", (int)(name - e->path),
                                    e->path, name, env->random(env) >> 32);
    if (!gone) {
        return remove_no_memory(e, err);
    }
    sr_rc rc = fs->rename(fs, e->path, gone, false, err);
    if (rc == SR_OK) {
        rc = durable_sync_parent(env, e->path, err);
    }
    return rc == SR_OK ? durable_remove(env, gone, err) : rc;
}

/* The directory of the job that keeps chk-N in its store; NULL: it lies there by itself. */
static sr_rc remove_find_place(const struct env *env, const struct store_entry *e, struct arena *a,
                               const char **place, struct sr_error *err)
{
    uint64_t number = 0;
    enum durable_kind kind = DURABLE_ABSENT;
    const char *name = strrchr(e->path, '/');
    *place = NULL;
    if (name == e->path || !durable_number(name + 1, "chk-", &number)) {
        return SR_OK;
    }
    const char *dir = arena_text_n(a, e->path, (size_t)(name - e->path));
    const char *counters = dir ? durable_join(a, dir, COUNTERS_NAME) : NULL;
    if (!counters) {
        return remove_no_memory(e, err);
    }
    sr_rc rc = durable_look(env, counters, &kind, err);
    *place = rc == SR_OK && kind == DURABLE_FILE ? dir : NULL;
    return rc;
}

sr_rc store_remove(const struct env *env, const struct store_entry *e, struct sr_error *err)
{
    const char *hash = strrchr(e->path, '#');
    const char *place = NULL;
    uint64_t number = 0;
    if (e->checkpoint == 0) {
        return error_set(err, SR_ECORRUPT, "%s: nothing in it can be read: remove it by hand",
                         e->path);
    }
    struct arena *a = arena_new();
    sr_rc rc = a ? SR_OK : remove_no_memory(e, err);
    if (rc == SR_OK && hash && durable_number(hash + 1, "chk-", &number)) {
        place = arena_text_n(a, e->path, (size_t)(hash - e->path));
        rc = place ? remove_of_store(env, &store_sqlite_type, place, e, err)
                   : remove_no_memory(e, err);
    } else if (rc == SR_OK) {
        rc = remove_find_place(env, e, a, &place, err);
        if (rc == SR_OK) {
            rc = place ? remove_of_store(env, &store_dir_type, place, e, err)
                       : remove_alone(env, e, a, err);
        }
    }
    arena_free(a);
    return rc;
}
