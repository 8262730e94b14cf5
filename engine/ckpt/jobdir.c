#include "engine/ckpt/jobdir.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ckpt/chkdir.h"
#include "engine/ckpt/durable.h"

#define JOBDIR_END_MAX 128u /* bytes of a mark */

const char *jobdir_path(struct arena *a, const char *dir, uint64_t number)
{
    return arena_printf(a, "%s/chk-%" PRIu64, dir, number);
}

const char *jobdir_end_path(struct arena *a, const char *dir, uint64_t number)
{
    return arena_printf(a, "%s/ended-%" PRIu64, dir, number);
}

/* --- The mark of an end ----------------------------------------------------------------------- */

static size_t jobdir_print_end(enum manifest_end end, struct digest metadata,
                               char text[JOBDIR_END_MAX])
{
    char digest[33];
    digest_text(metadata, digest);
    int len = snprintf(text, JOBDIR_END_MAX, "%s %s\n", manifest_end_name(end), digest);
    sr_assert(len > 0 && (size_t)len < JOBDIR_END_MAX);
    return (size_t)len;
}

sr_rc jobdir_read_end(const struct env *env, const char *end_path, struct digest metadata,
                      enum manifest_end *end, struct sr_error *err)
{
    struct durable_bytes is = {0};
    struct arena *a = arena_new();
    if (!a) {
        return error_set(err, SR_ENOMEM, "read %s: out of memory", end_path);
    }
    sr_rc rc = durable_read(env, end_path, JOBDIR_END_MAX, a, &is, err);
    for (unsigned e = MANIFEST_RUNNING; rc == SR_OK && e <= MANIFEST_FINISHED; e++) {
        char text[JOBDIR_END_MAX];
        size_t n = jobdir_print_end((enum manifest_end)e, metadata, text);
        if (n == is.len && memcmp(text, is.data, n) == 0) {
            *end = (enum manifest_end)e;
        }
    }
    arena_free(a);
    return rc == SR_EABSENT || rc == SR_ECORRUPT ? SR_OK : rc;
}

sr_rc jobdir_write_end(const struct env *env, const char *tmp, const char *end_path,
                       const struct digest *metadata, enum manifest_end end, struct sr_error *err)
{
    char text[JOBDIR_END_MAX];
    size_t len = jobdir_print_end(end, *metadata, text);
    return durable_replace_by(env, tmp, end_path,
                              &(struct durable_bytes){(const uint8_t *)text, len}, err);
}

/* --- Scanning --------------------------------------------------------------------------------- */

/* Reads one manifest into a record; what is wrong with it stays in the record. */
static sr_rc jobdir_look(const struct env *env, const char *dir, struct jobdir_checkpoint *c,
                         struct sr_error *err)
{
    struct arena *a = arena_new();
    const char *path = a ? jobdir_path(a, dir, c->number) : NULL;
    struct manifest *m = NULL;
    struct digest digest;
    if (!path) {
        arena_free(a);
        return error_set(err, SR_ENOMEM, "look at %s: out of memory", dir);
    }
    sr_rc rc = chkdir_read(env, path, a, &m, &digest, err);
    if (rc == SR_OK && m->checkpoint == c->number) {
        c->lineage = m->lineage;
        c->attempt = m->attempt;
    } else if (rc == SR_OK || rc == SR_ECORRUPT || rc == SR_EMISFIT) {
        c->is_damaged = true;
        rc = SR_OK;
    }
    arena_free(a);
    return rc;
}

static int jobdir_compare(const void *a, const void *b)
{
    const struct jobdir_checkpoint *x = a;
    const struct jobdir_checkpoint *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void jobdir_sort_names(char **names, struct jobdir *j)
{
    uint64_t n = 0;
    for (char **name = names; *name; name++) {
        if (durable_number(*name, "chk-", &n)) {
            j->checkpoint[j->count++] = (struct jobdir_checkpoint){.number = n};
        } else if (durable_number(*name, ".ep-", &n) && n > j->attempt_max) {
            j->attempt_max = n;
        }
    }
    qsort(j->checkpoint, j->count, sizeof(*j->checkpoint), jobdir_compare);
}

static sr_rc jobdir_look_at_all(const struct env *env, const char *dir, struct jobdir *j,
                                struct sr_error *err)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        struct jobdir_checkpoint *c = &j->checkpoint[kept];
        *c = j->checkpoint[i];
        sr_rc rc = jobdir_look(env, dir, c, err);
        if (rc == SR_EABSENT) {
            continue; /* a leader that is not sealed yet deleted it just now */
        }
        if (rc != SR_OK) {
            return rc;
        }
        kept++;
        c->is_late =
            !c->is_damaged && c->attempt < j->counters.attempt && c->number > j->counters.base;
        c->is_retired = c->number <= j->counters.retired;
        if (c->attempt > j->attempt_max) {
            j->attempt_max = c->attempt;
        }
    }
    j->count = kept;
    return SR_OK;
}

sr_rc jobdir_scan(const struct env *env, const char *dir, struct arena *a, struct jobdir *out,
                  struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    struct jobdir j = {0};
    char **names = NULL;
    const char *path = durable_join(a, dir, COUNTERS_NAME);
    sr_rc rc = path ? counters_read(env, path, &j.counters, err)
                    : error_set(err, SR_ENOMEM, "look at %s: out of memory", dir);
    if (rc == SR_OK) {
        rc = fs->list(fs, dir, &names, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    size_t count = 0;
    while (names[count]) {
        count++;
    }
    j.attempt_max = j.counters.attempt;
    j.checkpoint = arena_array(a, count + 1, sizeof(*j.checkpoint));
    if (!j.checkpoint) {
        rc = error_set(err, SR_ENOMEM, "look at %s: out of memory", dir);
    } else {
        jobdir_sort_names(names, &j);
        rc = jobdir_look_at_all(env, dir, &j, err);
    }
    fs->names_free(fs, names);
    if (rc == SR_OK) {
        *out = j;
    }
    return rc;
}

int64_t jobdir_newest(const struct jobdir *j)
{
    int64_t newest = -1;
    for (uint32_t i = 0; i < j->count; i++) {
        const struct jobdir_checkpoint *c = &j->checkpoint[i];
        bool is_left_out = c->is_late || c->is_retired;
#ifdef MUTANT_FALL_BACK /* an older one is taken silently: what came behind it comes twice */
        is_left_out = is_left_out || c->is_damaged;
#endif
        newest = is_left_out ? newest : (int64_t)i;
    }
    return newest;
}
