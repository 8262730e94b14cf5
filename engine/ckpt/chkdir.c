#include "engine/ckpt/chkdir.h"

#include <inttypes.h>

#include "engine/base/error.h"
#include "engine/base/warm.h"
#include "engine/ckpt/durable.h"

#define CHKDIR_RUN_BYTES   ((uint64_t)ARENA_DROP_LEAST) /* parts from here on are read alone */
#define CHKDIR_PIECE_BYTES ((size_t)1 << 20)

static sr_rc chkdir_write_parts(const struct env *env, struct sr_file *f, const struct manifest *m,
                                struct sr_error *err)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < m->parts; i++) {
        const struct manifest_part *p = &m->part[i];
        sr_rc rc = p->len > 0 ? env->files->write(f, p->bytes, (size_t)p->len, at, err) : SR_OK;
        if (rc != SR_OK) {
            return rc;
        }
        at += p->len;
    }
    return SR_OK;
}

static sr_rc chkdir_write_state(const struct env *env, const char *path, const struct manifest *m,
                                struct sr_error *err)
{
    const struct sr_files *fs = env->files;
    struct sr_file *f = NULL;
    sr_rc rc = fs->open(
        fs, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE | SR_FILE_PRIVATE, &f, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = chkdir_write_parts(env, f, m, err);
    store_point(env, STORE_DATA_WRITTEN);
#ifndef MUTANT_SKIP_FSYNC /* a mutant that refers to data which is not durable */
    if (rc == SR_OK) {
        rc = fs->sync(f, err);
    }
#endif
    sr_rc closed = fs->close(f, rc == SR_OK ? err : NULL);
    store_point(env, STORE_DATA_SYNCED);
    return rc == SR_OK ? closed : rc;
}

/* A mutant leaves it out, and a power loss takes the names of the files with it. */
static sr_rc chkdir_sync(const struct env *env, const char *dir, struct sr_error *err)
{
#ifdef MUTANT_SKIP_DIR_FSYNC
    (void)env;
    (void)dir;
    (void)err;
    return SR_OK;
#else
    return env->files->sync_dir(env->files, dir, err);
#endif
}

sr_rc chkdir_write(const struct env *env, const char *dir, const struct manifest *m,
                   const struct sr_out *metadata, struct sr_error *err)
{
    struct arena *a = arena_new();
    if (!a) {
        return error_set(err, SR_ENOMEM, "write %s: out of memory", dir);
    }
    const char *state = durable_join(a, dir, CHKDIR_STATE);
    const char *meta = durable_join(a, dir, CHKDIR_METADATA);
    sr_rc rc = SR_OK;
    if (!state || !meta) {
        rc = error_set(err, SR_ENOMEM, "write %s: out of memory", dir);
    }
    if (rc == SR_OK) {
        rc = chkdir_write_state(env, state, m, err);
    }
    if (rc == SR_OK) {
        rc = chkdir_sync(env, dir, err);
    }
    if (rc == SR_OK) {
        rc = durable_write(env, meta, metadata->data, metadata->len, err);
    }
    store_point(env, STORE_METADATA_SYNCED);
    if (rc == SR_OK) {
        rc = chkdir_sync(env, dir, err);
    }
    store_point(env, STORE_BUILD_SYNCED);
    arena_free(a);
    return rc;
}

static sr_rc chkdir_missing(const struct env *env, const char *dir, const char *name,
                            struct sr_error *err)
{
    enum durable_kind kind = DURABLE_ABSENT;
    sr_rc rc = durable_look(env, dir, &kind, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (kind != DURABLE_DIR) {
        return error_set(err, SR_EABSENT, "%s: no such checkpoint", dir);
    }
    return error_set(err, SR_ECORRUPT, "%s: its file %s is missing", dir, name);
}

static sr_rc chkdir_check_size(const struct env *env, const char *dir, const struct manifest *m,
                               struct arena *a, struct sr_error *err)
{
    const char *state = durable_join(a, dir, CHKDIR_STATE);
    if (!state) {
        return error_set(err, SR_ENOMEM, "read %s: out of memory", dir);
    }
    struct sr_stat st;
    sr_rc rc = env->files->stat(env->files, state, &st, err);
    if (rc == SR_EABSENT) {
        return chkdir_missing(env, dir, CHKDIR_STATE, err);
    }
    if (rc == SR_OK && (st.kind != SR_FILE_REGULAR || st.size_bytes != manifest_bytes(m))) {
        rc = error_set(err, SR_ECORRUPT, "%s: has %" PRIu64 " bytes, not %" PRIu64, state,
                       st.size_bytes, manifest_bytes(m));
    }
    return rc;
}

sr_rc chkdir_read(const struct env *env, const char *dir, struct arena *a, struct manifest **out,
                  struct digest *digest, struct sr_error *err)
{
    struct durable_bytes is = {0};
    struct manifest *m = NULL;
    const char *path = durable_join(a, dir, CHKDIR_METADATA);
    if (!path) {
        return error_set(err, SR_ENOMEM, "read %s: out of memory", dir);
    }
    sr_rc rc = durable_read(env, path, MANIFEST_BYTES_MAX, a, &is, err);
    if (rc == SR_EABSENT) {
        return chkdir_missing(env, dir, CHKDIR_METADATA, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    rc = manifest_decode(a, is.data, is.len, &m, err);
    if (rc != SR_OK) {
        return err ? error_wrap(err, "%s", path) : rc;
    }
    rc = chkdir_check_size(env, dir, m, a, err);
    if (rc == SR_OK) {
        *digest = digest_of(is.data, is.len);
        *out = m;
    }
    return rc;
}

/* Parts that lie one behind another and are read at once; a large one is alone, so that its memory
 * can be let go of. */
struct chkdir_run {
    struct sr_file *f;
    const char *path;
    uint32_t first, end; /* parts */
    uint64_t at, len;
    struct digest digest; /* of all bytes */
};

static void chkdir_next_run(const struct manifest *m, struct chkdir_run *run)
{
    run->first = run->end;
    run->at += run->len;
    run->len = m->part[run->end++].len;
    while (run->end < m->parts && run->len < CHKDIR_RUN_BYTES &&
           m->part[run->end].len < CHKDIR_RUN_BYTES) {
        run->len += m->part[run->end++].len;
    }
}

/* Piece by piece: each goes into the digest while it is near. */
static sr_rc chkdir_read_pieces(const struct env *env, struct chkdir_run *run, uint8_t *to,
                                struct sr_error *err)
{
    struct digester *d = digester_new();
    if (!d) {
        return error_set(err, SR_ENOMEM, "read %s: out of memory", run->path);
    }
    sr_rc rc = SR_OK;
    for (uint64_t done = 0; done < run->len && rc == SR_OK;) {
        size_t got = 0, piece = run->len - done < CHKDIR_PIECE_BYTES ? (size_t)(run->len - done)
                                                                     : CHKDIR_PIECE_BYTES;
        rc = env->files->read(run->f, to + done, piece, run->at + done, &got, err);
        if (rc == SR_OK && got != piece) {
            rc = error_set(err, SR_ECORRUPT, "%s changed while it was read", run->path);
        }
        digester_add(d, to + done, got);
        done += got;
    }
    run->digest = digester_get(d);
    digester_free(d);
    return rc;
}

static sr_rc chkdir_check_digest(const struct chkdir_run *run, const struct manifest_part *p,
                                 uint64_t at, struct sr_error *err)
{
#ifndef MUTANT_SKIP_DIGEST
    bool is_alone = run->end - run->first == 1;
    struct digest is = is_alone ? run->digest : digest_of(p->bytes, (size_t)p->len);
    if (is.low != p->digest.low || is.high != p->digest.high) {
        return error_set(err, SR_ECORRUPT,
                         "%s: damaged: part %s/%s/%" PRIu32 " at byte %" PRIu64
                         " does not match its digest",
                         run->path, p->uid, p->name, p->part, at);
    }
#else
    (void)run, (void)p, (void)at, (void)err;
#endif
    return SR_OK;
}

static sr_rc chkdir_load_run(const struct env *env, struct chkdir_run *run, struct arena *a,
                             struct manifest *m, struct sr_error *err)
{
    uint8_t *bytes = arena_get(a, (size_t)run->len);
    if (!bytes) {
        return error_set(err, SR_ENOMEM, "read %s: out of memory", run->path);
    }
    struct warm *warm = warm_start(bytes, (size_t)run->len, WARM_FROM_END);
    sr_rc rc = chkdir_read_pieces(env, run, bytes, err);
    warm_stop(warm);
    uint64_t at = 0;
    for (uint32_t i = run->first; i < run->end && rc == SR_OK; i++) {
        m->part[i].bytes = bytes + at;
        rc = chkdir_check_digest(run, &m->part[i], run->at + at, err);
        at += m->part[i].len;
    }
    return rc;
}

/* Each part gets its bytes, only if its digest is right. */
static sr_rc chkdir_load_parts(const struct env *env, const char *path, struct arena *a,
                               struct manifest *m, struct sr_error *err)
{
    struct chkdir_run run = {.path = path};
    sr_rc rc = env->files->open(env->files, path, SR_FILE_READ, &run.f, err);
    if (rc != SR_OK) {
        return rc;
    }
    while (run.end < m->parts && rc == SR_OK) {
        chkdir_next_run(m, &run);
        rc = chkdir_load_run(env, &run, a, m, err);
    }
    (void)env->files->close(run.f, NULL); /* was only read */
    return rc;
}

sr_rc chkdir_load(const struct env *env, const char *dir, struct arena *a, struct manifest **out,
                  struct digest *digest, struct sr_error *err)
{
    struct manifest *m = NULL;
    sr_rc rc = chkdir_read(env, dir, a, &m, digest, err);
    if (rc != SR_OK) {
        return rc;
    }
    const char *path = durable_join(a, dir, CHKDIR_STATE);
    rc = path ? chkdir_load_parts(env, path, a, m, err)
              : error_set(err, SR_ENOMEM, "read %s: out of memory", dir);
    if (rc == SR_OK) {
        *out = m;
    }
    return rc;
}
