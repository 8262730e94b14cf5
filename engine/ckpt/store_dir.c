/* The directory store: one directory a checkpoint, published by rename.
 *
 *   DIR/JOB-ID/LOCK       held as long as the store is open: lock.h
 *              counters   last attempt, highest id, where the attempt went on: counters.h
 *              .ep-E/     where attempt E builds; sealing it (rename to trash) fences that attempt;
 *                         there is always one, of the last attempt: its number is never used again
 *              chk-N/     published, immutable
 *              trash/     renamed away, being removed; whatever is in it may go at any time
 *
 * Publishing:  .ep-E/chk-N made -> filled and synced (chkdir.c) -> .ep-E still ours? -> rename to
 *              chk-N, replacing nothing -> sync DIR/JOB-ID -> .ep-E still ours?
 * The second look closes the race with a successor that seals while the rename is under way.
 * Everything else that an attempt changes goes by way of its .ep-E too, so that the kernel refuses
 * it to an attempt that was sealed: counters and marks are renamed out of it, what is deleted is
 * renamed into it, and the next attempt of the process is the same directory renamed.
 *
 * Taking an attempt:  .ep-E made, E above all -> every lower one sealed -> what is there looked at
 *                     -> counters -> .ep-E still ours?
 * Of two that do it at once the higher number wins, whoever holds the lock: it seals the other,
 * and never the reverse.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ckpt/chkdir.h"
#include "engine/ckpt/durable.h"
#include "engine/ckpt/jobdir.h"
#include "engine/ckpt/store_dir_inner.h"

#define STORE_DIR_TRASH_TRIES 1000u

sr_rc store_dir_no_memory(struct sr_error *err)
{
    return error_set(err, SR_ENOMEM, "checkpoint store: out of memory");
}

/* --- Fence ------------------------------------------------------------------------------------ */

sr_rc store_dir_check_fence(const struct store *s, struct sr_error *err)
{
#ifdef MUTANT_SKIP_FENCE /* a mutant that goes on after it was taken over */
    (void)s;
    (void)err;
    return SR_OK;
#else
    const struct store_dir *own = s->own;
    struct sr_stat is;
    sr_rc rc = s->env->files->stat(s->env->files, own->build, &is, err);
    if (rc == SR_EABSENT ||
        (rc == SR_OK && (is.inode != own->build_is.inode || is.device != own->build_is.device))) {
        return error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over: %s is gone",
                         s->attempt, own->build);
    }
    return rc;
#endif
}

/* Something of ours is gone: because the attempt was sealed, or for a reason of its own. */
sr_rc store_dir_absent(const struct store *s, sr_rc rc, struct sr_error *err)
{
    if (rc != SR_EABSENT) {
        return rc;
    }
    sr_rc fence = store_dir_check_fence(s, err);
    return fence == SR_OK ? rc : fence;
}

/* --- Trash ------------------------------------------------------------------------------------ */

/* Moves one name of the job's directory to `dir`: trash/, or our .ep-E, which is refused when we
 * were taken over. Not durable yet. */
sr_rc store_dir_move(struct store *s, const char *path, const char *dir, struct sr_error *err)
{
    struct store_dir *own = s->own;
    const struct sr_files *fs = s->env->files;
    const char *name = strrchr(path, '/') + 1;
    struct arena *a = arena_new();
    sr_rc rc = a ? SR_EEXISTS : store_dir_no_memory(err);
    /* A name may be one that an earlier process could not remove. */
    for (unsigned tries = 0; rc == SR_EEXISTS && tries < STORE_DIR_TRASH_TRIES; tries++) {
        const char *to =
            arena_printf(a, "%s/%s.%" PRIu64 ".%" PRIu64, dir, name, s->attempt, own->trashed++);
        rc = to ? fs->rename(fs, path, to, false, err) : store_dir_no_memory(err);
    }
    arena_free(a);
    return rc;
}

/* Both ends of renames to trash/ become durable; then what lies there is removed. What cannot be
 * removed stays for the next time. */
sr_rc store_dir_sync_move(const struct store *s, const char *dir, struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    sr_rc rc = fs->sync_dir(fs, dir, err);
    if (rc == SR_OK) {
        rc = fs->sync_dir(fs, s->place, err);
    }
    store_point(s->env, STORE_TRASH_SYNCED);
    return rc;
}

sr_rc store_dir_empty(const struct store *s, const char *dir, struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    char **names = NULL;
    struct arena *a = arena_new();
    if (!a) {
        return store_dir_no_memory(err);
    }
    sr_rc rc = fs->list(fs, dir, &names, err);
    for (char **n = names; rc == SR_OK && *n; n++) {
        const char *path = durable_join(a, dir, *n);
        rc = path ? durable_remove(s->env, path, err) : store_dir_no_memory(err);
    }
    fs->names_free(fs, names);
    arena_free(a);
    store_point(s->env, STORE_RETAINED);
    return rc;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static sr_rc store_dir_prepare(struct store *s, struct sr_error *err)
{
    struct store_dir *own = s->own;
    const char *lock = arena_printf(s->arena, "%s%s", s->place, s->type->lock_name);
    const char *shared = durable_join(s->arena, s->place, "shared");
    own->counters = durable_join(s->arena, s->place, COUNTERS_NAME);
    own->trash = durable_join(s->arena, s->place, "trash");
    if (arena_is_broken(s->arena)) {
        return store_dir_no_memory(err);
    }
    sr_rc rc = durable_make_dirs(s->env, s->place, err);
    if (rc == SR_OK) {
        rc = store_lock(s, lock, err);
    }
    if (rc == SR_OK) {
        rc = durable_make_dirs(s->env, shared, err);
    }
    if (rc == SR_OK) {
        rc = durable_make_dirs(s->env, own->trash, err);
    }
    return rc;
}

/* Renames every .ep-K below ours away: from here on no older attempt can begin anything.
 * *sealed: how many there were. SR_EFENCED: a higher one is there. */
static sr_rc store_dir_seal_pass(struct store *s, uint32_t *sealed, struct sr_error *err)
{
    const struct store_dir *own = s->own;
    const struct sr_files *fs = s->env->files;
    char **names = NULL;
    *sealed = 0;
    sr_rc rc = fs->list(fs, s->place, &names, err);
    for (char **n = names; rc == SR_OK && *n; n++) {
        uint64_t attempt = 0;
        if (!durable_number(*n, ".ep-", &attempt) || attempt == s->attempt) {
            continue;
        }
        if (attempt > s->attempt) {
            rc = error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over by %" PRIu64,
                           s->attempt, attempt);
            break;
        }
        const char *path = durable_join(s->arena, s->place, *n);
        rc = path ? store_dir_move(s, path, own->trash, err) : store_dir_no_memory(err);
        rc = rc == SR_EABSENT ? SR_OK : rc; /* it went on to its next attempt just then */
        (*sealed)++;
    }
    if (names) {
        fs->names_free(fs, names);
    }
    return rc;
}

/* Until none is found: an attempt that lives may move on by one, up to ours and not beyond. */
static sr_rc store_dir_seal(struct store *s, struct sr_error *err)
{
    const struct store_dir *own = s->own;
    uint32_t sealed = 1;
    sr_rc rc = SR_OK;
    for (unsigned tries = 0; rc == SR_OK && sealed > 0; tries++) {
        sr_assert(tries < STORE_DIR_TRASH_TRIES);
        rc = store_dir_seal_pass(s, &sealed, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_sync_move(s, own->trash, err);
    }
    store_point(s->env, STORE_SEALED);
    return rc;
}

static void store_dir_warn_late(const struct store *s, const struct jobdir *j)
{
    for (uint32_t i = 0; i < j->count; i++) {
        if (j->checkpoint[i].is_late) {
            env_log(s->env, SR_WARN, "ckpt",
                    "chk-%" PRIu64 " in %s is ignored: attempt %" PRIu64
                    " published it after attempt %" PRIu64 " had gone on from chk-%" PRIu64,
                    j->checkpoint[i].number, s->place, j->checkpoint[i].attempt,
                    j->counters.attempt, j->counters.base);
        }
    }
}

/* Where this attempt goes on: the highest number that is part of the job's history. */
static void store_dir_numbers(const struct jobdir *j, struct counters *next)
{
    next->newest = j->counters.newest;
    next->base = 0;
    next->retired = j->counters.retired;
    for (uint32_t i = 0; i < j->count; i++) {
        uint64_t n = j->checkpoint[i].number;
        if (!j->checkpoint[i].is_late) {
            next->base = n;
            next->newest = n > next->newest ? n : next->newest;
        }
    }
}

/* Takes .ep-E, which was just made or renamed, as the attempt of this store. */
static sr_rc store_dir_own_build(struct store *s, const char *build, uint64_t attempt,
                                 struct sr_error *err)
{
    struct store_dir *own = s->own;
    const struct sr_files *fs = s->env->files;
    struct sr_stat is;
    const char *draft = durable_join(s->arena, build, "draft");
    sr_rc rc = draft ? fs->sync_dir(fs, s->place, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = fs->stat(fs, build, &is, err);
    }
    if (rc == SR_EABSENT) {
        rc = error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over: %s is gone", attempt,
                       build);
    }
    if (rc == SR_OK) {
        own->build = build;
        own->draft = draft;
        own->build_is = is;
        s->attempt = attempt;
    }
    return rc;
}

/* Makes .ep-E with the first number from `attempt` on that nobody has. */
static sr_rc store_dir_make_build(struct store *s, uint64_t attempt, struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    sr_rc rc = SR_EEXISTS;
    const char *build = NULL;
    for (unsigned tries = 0; rc == SR_EEXISTS && tries < STORE_DIR_TRASH_TRIES; tries++) {
        build = arena_printf(s->arena, "%s/.ep-%" PRIu64, s->place, attempt);
        rc = build ? fs->make_dir(fs, build, err) : store_dir_no_memory(err);
        attempt += rc == SR_EEXISTS ? 1 : 0;
    }
    return rc == SR_OK ? store_dir_own_build(s, build, attempt, err) : rc;
}

sr_rc store_dir_write_counters(const struct store *s, const struct counters *c,
                               struct sr_error *err)
{
    const struct store_dir *own = s->own;
    sr_rc rc = counters_write(s->env, own->draft, own->counters, c, err);
    return store_dir_absent(s, rc, err);
}

/* Takes the next number, seals, looks: what is there from now on is ours. */
static sr_rc store_dir_take_attempt(struct store *s, struct sr_error *err)
{
    struct jobdir j = {0};
    struct counters next = {0};
    struct arena *a = arena_new();
    sr_rc rc = a ? jobdir_scan(s->env, s->place, a, &j, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = store_dir_make_build(s, j.attempt_max + 1, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_seal(s, err);
    }
    if (rc == SR_OK) {
        rc = jobdir_scan(s->env, s->place, a, &j, err);
    }
    if (rc == SR_OK) {
        store_dir_warn_late(s, &j);
        store_dir_numbers(&j, &next);
        next.attempt = s->attempt;
        s->newest = next.newest;
        rc = store_dir_write_counters(s, &next, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_check_fence(s, err);
    }
    arena_free(a);
    store_point(s->env, STORE_ATTEMPT);
    return rc;
}

/* Without a directory of its own, a job must not take another's. */
static sr_rc store_dir_check_job(const struct store *s, struct sr_error *err)
{
    struct jobdir j;
    struct manifest *m = NULL;
    struct digest digest;
    struct sr_error why;
    if (!s->is_flat) {
        return SR_OK;
    }
    struct arena *a = arena_new();
    sr_rc rc = a ? jobdir_scan(s->env, s->place, a, &j, err) : store_dir_no_memory(err);
    for (uint32_t i = 0; rc == SR_OK && i < j.count; i++) {
        const char *path = jobdir_path(a, s->place, j.checkpoint[i].number);
        if (path && chkdir_read(s->env, path, a, &m, &digest, &why) == SR_OK &&
            strcmp(m->job_id, s->job_id) != 0) {
            rc = error_set(err, SR_EMISFIT,
                           "%s holds checkpoints of job '%s' (%s); with "
                           "execution.checkpointing.create-subdir: false each job needs a "
                           "directory of its own",
                           s->place, m->job_name, m->job_id);
        }
    }
    arena_free(a);
    return rc;
}

static sr_rc store_dir_open(struct store *s, struct sr_error *err)
{
    s->own = arena_get(s->arena, sizeof(struct store_dir));
    sr_rc rc = s->own ? store_dir_prepare(s, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = store_dir_check_job(s, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_take_attempt(s, err);
    }
    if (rc != SR_OK) {
        return rc;
    }
    struct sr_error why;
    const struct store_dir *own = s->own;
    if (store_dir_empty(s, own->trash, &why) != SR_OK) {
        env_log(s->env, SR_WARN, "ckpt", "leftovers of earlier runs stay for now: %s", why.words);
    }
    return SR_OK;
}

static void store_dir_close(struct store *s) { (void)s; /* all in the arena */ }

/* Whether the counters still tell our attempt; they lag one behind when writing them failed. */
sr_rc store_dir_read_counters(const struct store *s, struct counters *c, struct sr_error *err)
{
    const struct store_dir *own = s->own;
    sr_rc rc = store_dir_check_fence(s, err);
    if (rc == SR_OK) {
        rc = counters_read(s->env, own->counters, c, err);
    }
    if (rc == SR_OK && c->attempt > s->attempt) {
        rc = error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over by %" PRIu64,
                       s->attempt, c->attempt);
    }
    return rc;
}

/* The same directory under the next name: whether or not the counters can be written then, the
 * attempt is the new one and what it publishes counts. */
static sr_rc store_dir_next_attempt(struct store *s, struct sr_error *err)
{
    const struct store_dir *own = s->own;
    const struct sr_files *fs = s->env->files;
    struct counters c;
    uint64_t attempt = s->attempt + 1;
    sr_rc rc = store_dir_read_counters(s, &c, err);
    const char *build = arena_printf(s->arena, "%s/.ep-%" PRIu64, s->place, attempt);
    if (rc == SR_OK) {
        rc = build ? fs->rename(fs, own->build, build, false, err) : store_dir_no_memory(err);
    }
    if (rc == SR_EABSENT || rc == SR_EEXISTS) {
        rc = error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over", s->attempt);
    }
    if (rc == SR_OK) {
        rc = store_dir_own_build(s, build, attempt, err);
    }
    if (rc == SR_OK) {
        (void)store_dir_empty(s, own->build, NULL); /* else the next open sweeps it */
        c.attempt = s->attempt;
        c.newest = c.base = s->newest;
        rc = store_dir_write_counters(s, &c, err);
    }
    store_point(s->env, STORE_ATTEMPT);
    return rc;
}

static sr_rc store_dir_use_id(struct store *s, uint64_t id, struct sr_error *err)
{
    struct counters c;
    sr_rc rc = store_dir_read_counters(s, &c, err);
    if (rc == SR_OK && id > c.newest) {
        c.newest = id;
        rc = store_dir_write_counters(s, &c, err);
    }
    return rc;
}

/* --- Publishing ------------------------------------------------------------------------------- */

/* chk-N is there already: a late one of an older attempt makes room, anything else has fenced
 * us. */
static sr_rc store_dir_clear_late(struct store *s, uint64_t number, const char *path,
                                  struct sr_error *err)
{
    struct jobdir j;
    bool is_late = false;
    struct arena *a = arena_new();
    sr_rc rc = a ? jobdir_scan(s->env, s->place, a, &j, err) : store_dir_no_memory(err);
    for (uint32_t i = 0; rc == SR_OK && i < j.count; i++) {
        is_late = is_late || (j.checkpoint[i].number == number && j.checkpoint[i].is_late);
    }
    arena_free(a);
    if (rc != SR_OK) {
        return rc;
    }
    if (!is_late) {
        return error_set(err, SR_EFENCED, "%s is there already: another process has taken over",
                         path);
    }
    const struct store_dir *own = s->own;
    rc = store_dir_absent(s, store_dir_move(s, path, own->build, err), err);
    return rc == SR_OK ? store_dir_sync_move(s, own->build, err) : rc;
}

static sr_rc store_dir_rename(struct store *s, const char *build, const char *path, uint64_t number,
                              struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    sr_rc rc = fs->rename(fs, build, path, false, err);
    if (rc == SR_EEXISTS) {
        rc = store_dir_clear_late(s, number, path, err);
        if (rc == SR_OK) {
            rc = fs->rename(fs, build, path, false, err);
        }
    }
    if (rc == SR_EABSENT) {
        return error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over: %s is gone",
                         s->attempt, build);
    }
    /* A rename that failed with an input or output error may still have been done. */
    if (rc == SR_EIO && err) {
        err->rc = SR_EUNKNOWN;
    }
    return rc == SR_EIO ? SR_EUNKNOWN : rc;
}

/* The last two steps: after them nobody can say that the checkpoint is not there. */
static sr_rc store_dir_confirm(const struct store *s, struct sr_error *err)
{
    sr_rc rc = SR_OK;
#if !defined(MUTANT_SKIP_DIR_FSYNC) && !defined(MUTANT_PUBLISH_UNSYNCED) /* shown, and gone */
    rc = s->env->files->sync_dir(s->env->files, s->place, err);
#endif
#ifndef MUTANT_RACE_SKIP_RECHECK /* a mutant that trusts a rename which came too late */
    if (rc == SR_OK) {
        rc = store_dir_check_fence(s, err);
    }
#endif
    if (rc == SR_OK || rc == SR_EFENCED) {
        return rc;
    }
    if (err) {
        err->rc = SR_EUNKNOWN;
        return error_wrap(err, "published or not, nobody can tell");
    }
    return SR_EUNKNOWN;
}

static sr_rc store_dir_build(struct store *s, const char *build, const struct manifest *m,
                             const struct sr_out *metadata, struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    sr_rc rc = fs->make_dir(fs, build, err);
    store_point(s->env, STORE_BUILD_MADE);
    if (rc == SR_OK) {
        rc = chkdir_write(s->env, build, m, metadata, err);
    }
    if (rc == SR_OK || store_dir_check_fence(s, NULL) != SR_EFENCED) {
        return rc;
    }
    return store_dir_check_fence(s, err); /* the real reason */
}

static sr_rc store_dir_publish(struct store *s, const struct manifest *m,
                               const struct sr_out *metadata, struct sr_error *err)
{
    const struct store_dir *own = s->own;
    struct arena *a = arena_new();
    if (!a) {
        return store_dir_no_memory(err);
    }
    const char *build = jobdir_path(a, own->build, m->checkpoint);
    const char *path = jobdir_path(a, s->place, m->checkpoint);
    sr_rc rc =
        build && path ? store_dir_build(s, build, m, metadata, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = store_dir_check_fence(s, err);
    }
    if (rc == SR_OK) {
        rc = store_dir_rename(s, build, path, m->checkpoint, err);
        store_point(s->env, STORE_RENAMED);
        rc = rc == SR_OK ? store_dir_confirm(s, err) : rc;
    }
    if (rc != SR_OK && rc != SR_EUNKNOWN && rc != SR_EFENCED && build) {
        (void)durable_remove(s->env, build,
                             NULL); /* gives the space back; the sweep does it else */
    }
    arena_free(a);
    return rc;
}

/* --- Retention -------------------------------------------------------------------------------- */

/* The number from which on checkpoints of the lineage stay: `retained` of those that are shown. */
static uint64_t store_dir_oldest_kept(const struct jobdir *j, uint64_t lineage, uint64_t shown,
                                      uint32_t retained)
{
    uint64_t oldest = 0;
    for (uint32_t i = j->count; i > 0 && retained > 0; i--) {
        const struct jobdir_checkpoint *c = &j->checkpoint[i - 1];
        if (!c->is_damaged && !c->is_late && c->lineage == lineage && c->number <= shown) {
            oldest = c->number;
            retained--;
        }
    }
#ifdef MUTANT_RETAIN_EARLY /* deletes what is shown before there is anything newer */
    return shown + 1;
#endif
    return retained == 0 ? oldest : 0;
}

sr_rc store_dir_trash_checkpoint(struct store *s, uint64_t number, struct sr_error *err)
{
    struct arena *a = arena_new();
    const char *path = a ? jobdir_path(a, s->place, number) : NULL;
    const char *end = a ? jobdir_end_path(a, s->place, number) : NULL;
    const struct store_dir *own = s->own;
    sr_rc rc = path && end ? store_dir_move(s, path, own->build, err) : store_dir_no_memory(err);
    rc = store_dir_absent(s, rc, err);
    if (rc == SR_OK) {
        rc = store_dir_absent(s, store_dir_move(s, end, own->build, err), err);
        rc = rc == SR_EABSENT ? SR_OK : rc; /* most have none */
    }
    arena_free(a);
    store_point(s->env, STORE_TRASHED);
    return rc;
}

static void store_dir_name_others(const struct store *s, const struct jobdir *j, uint64_t lineage)
{
    struct store_dir *own = s->own;
    uint32_t others = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        others += j->checkpoint[i].is_damaged || j->checkpoint[i].lineage != lineage ? 1 : 0;
    }
    if (others > 0 && !own->has_named_others) {
        env_log(s->env, SR_INFO, "ckpt",
                "%" PRIu32 " checkpoints of earlier lineages stay in %s; chk-%" PRIu64
                " is the oldest",
                others, s->place, j->checkpoint[0].number);
    }
    own->has_named_others = true;
}

static sr_rc store_dir_retain(struct store *s, uint64_t lineage, uint64_t shown,
                              struct sr_error *err)
{
    struct jobdir j = {0};
    uint32_t victims = 0;
    struct arena *a = arena_new();
    sr_rc rc = a ? store_dir_check_fence(s, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = jobdir_scan(s->env, s->place, a, &j, err);
    }
    uint64_t oldest = rc == SR_OK ? store_dir_oldest_kept(&j, lineage, shown, s->retained) : 0;
    for (uint32_t i = 0; rc == SR_OK && i < j.count; i++) {
        const struct jobdir_checkpoint *c = &j.checkpoint[i];
        bool is_ours = c->lineage == lineage;
#ifdef MUTANT_RETAIN_OTHERS /* deletes what belongs to another lineage */
        is_ours = true;
#endif
        if (!c->is_damaged && is_ours && c->number < oldest) {
            rc = store_dir_trash_checkpoint(s, c->number, err);
            victims++;
        }
    }
    if (rc == SR_OK) {
        store_dir_name_others(s, &j, lineage);
    }
    if (rc == SR_OK && victims > 0) {
        const struct store_dir *own = s->own;
        rc = store_dir_sync_move(s, own->build, err);
        rc = rc == SR_OK ? store_dir_empty(s, own->build, err) : rc;
        rc = store_dir_absent(s, rc, err);
    }
    arena_free(a);
    return rc;
}

static sr_rc store_dir_count(struct store *s, uint64_t lineage, uint64_t shown, uint32_t *count,
                             struct sr_error *err)
{
    struct jobdir j = {0};
    struct arena *a = arena_new();
    sr_rc rc = a ? store_dir_check_fence(s, err) : store_dir_no_memory(err);
    if (rc == SR_OK) {
        rc = jobdir_scan(s->env, s->place, a, &j, err);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; rc == SR_OK && i < j.count; i++) {
        const struct jobdir_checkpoint *c = &j.checkpoint[i];
        n += !c->is_damaged && !c->is_late && c->lineage == lineage && c->number <= shown ? 1 : 0;
    }
    arena_free(a);
    if (rc == SR_OK) {
        *count = n;
    }
    return rc;
}

/* --- The newest one --------------------------------------------------------------------------- */

sr_rc store_dir_newest_path(const struct store *s, struct arena *a, const char **path,
                            uint64_t *number, struct sr_error *err)
{
    struct jobdir j;
    sr_rc rc = jobdir_scan(s->env, s->place, a, &j, err);
    if (rc != SR_OK) {
        return rc;
    }
    int64_t newest = jobdir_newest(&j);
    if (newest < 0) {
        return error_set(err, SR_EABSENT, "there is no checkpoint in %s", s->place);
    }
    *number = j.checkpoint[newest].number;
    *path = jobdir_path(a, s->place, *number);
    return *path ? SR_OK : store_dir_no_memory(err);
}

static sr_rc store_dir_load_newest(struct store *s, struct arena *a, struct manifest **out,
                                   struct sr_error *err)
{
    const char *path = NULL;
    uint64_t number = 0;
    struct manifest *m = NULL;
    sr_rc rc = store_dir_newest_path(s, a, &path, &number, err);
    if (rc == SR_OK) {
        rc = store_dir_load(s->env, path, a, &m, err);
    }
    if (rc == SR_OK && strcmp(m->job_id, s->job_id) != 0) {
        rc =
            error_set(err, SR_EMISFIT, "%s belongs to job '%s' (%s)", path, m->job_name, m->job_id);
    }
    if (rc == SR_OK) {
        *out = m;
    }
    return rc;
}

const struct store_type store_dir_type = {
    .is_durable = true,
    .open = store_dir_open,
    .close = store_dir_close,
    .next_attempt = store_dir_next_attempt,
    .publish = store_dir_publish,
    .retain = store_dir_retain,
    .count = store_dir_count,
    .remove = store_dir_remove,
    .mark_end = store_dir_mark_end,
    .load_newest = store_dir_load_newest,
    .complete = store_dir_complete,
    .drop = store_dir_drop,
    .check_fence = store_dir_check_fence,
    .use_id = store_dir_use_id,
    .redo_name = "/redo",
    .claim_name = "/claimed",
    .lock_name = "/LOCK",
};
