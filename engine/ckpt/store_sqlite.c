/* The SQLite store: one file holds a job's checkpoints. Tables: chkdb.h.
 *
 * journal_mode=TRUNCATE and synchronous=FULL, so that a commit that answered outlives a power loss.
 * One transaction a checkpoint, and the fence is moved in the same one: an older attempt cannot
 * commit. After a failure the connection is closed, and opened again by the next call: what its
 * journal holds is then rolled back.
 *
 *   FILE        the database        FILE.lock   the lock; never unlinked
 *   FILE.new    a store being made  FILE.redo/  redo files of sinks
 */
#include <inttypes.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/ckpt/chkdb_sql.h"
#include "engine/ckpt/durable.h"

struct store_sqlite {
    struct chkdb db; /* closed after a failure */
};

/* A device error at the commit of anything but a checkpoint is just a failure: nobody counts on
 * it. */
static sr_rc store_sqlite_known(sr_rc rc, struct sr_error *err)
{
    if (rc != SR_EUNKNOWN) {
        return rc;
    }
    if (err) {
        err->rc = SR_EIO;
    }
    return SR_EIO;
}

static sr_rc store_sqlite_connect(struct store *s, struct sr_error *err)
{
    struct store_sqlite *own = s->own;
    if (chkdb_is_open(&own->db)) {
        return SR_OK;
    }
    sr_rc rc = chkdb_open(&own->db, s->env, s->place, CHKDB_RUN, s->job_id, err);
    return store_sqlite_known(rc, err);
}

/* Connects and begins; the fence as it is. */
static sr_rc store_sqlite_begin(struct store *s, struct chkdb_fence *f, struct sr_error *err)
{
    struct store_sqlite *own = s->own;
    sr_rc rc = store_sqlite_connect(s, err);
    if (rc == SR_OK) {
        rc = chkdb_exec(&own->db, "BEGIN IMMEDIATE", err);
    }
    if (rc == SR_OK) {
        rc = chkdb_fence_get(&own->db, f, err);
    }
    store_point(s->env, STORE_BEGUN);
    return rc;
}

/* Commits if all went well; else closes the connection. */
static sr_rc store_sqlite_end(struct store *s, sr_rc rc, struct sr_error *err)
{
    struct store_sqlite *own = s->own;
    if (rc == SR_OK) {
        store_point(s->env, STORE_ROWS);
        rc = chkdb_commit(&own->db, err);
        store_point(s->env, STORE_COMMITTED);
    }
    if (rc != SR_OK) {
        chkdb_close(&own->db);
    }
    return rc;
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* A new store is put in place with its schema, by rename: so an empty file is never one that was
 * not finished, but always one that lost what it held. */
static sr_rc store_sqlite_make_file(const struct store *s, const char *build, struct sr_error *err)
{
    const struct sr_files *fs = s->env->files;
    enum durable_kind kind = DURABLE_ABSENT;
    sr_rc rc = durable_look(s->env, s->place, &kind, err);
    if (rc == SR_OK && kind == DURABLE_DIR) {
        return error_set(err, SR_ECONFIG,
                         "%s is a directory: write file://%s to keep checkpoints in it", s->place,
                         s->place);
    }
    if (rc == SR_OK && kind == DURABLE_ABSENT) {
        rc = durable_remove(s->env, build, err); /* what a crash left */
        if (rc == SR_OK) {
            struct chkdb_content nothing = {.m = NULL};
            rc = chkdb_write_file(s->env, build, s->job_id, &nothing, err);
        }
        if (rc == SR_OK) {
            rc = fs->rename(fs, build, s->place, false, err);
        }
    }
    return rc == SR_OK ? durable_sync_parent(s->env, s->place, err) : rc;
}

static sr_rc store_sqlite_prepare(struct store *s, struct sr_error *err)
{
    const char *lock = arena_printf(s->arena, "%s%s", s->place, s->type->lock_name);
    const char *build = arena_printf(s->arena, "%s.new", s->place);
    char *dir = arena_text(s->arena, s->place);
    if (!lock || !build || !dir) {
        return error_set(err, SR_ENOMEM, "open %s: out of memory", s->place);
    }
    char *slash = strrchr(dir, '/');
    slash[slash == dir ? 1 : 0] = '\0';
    sr_rc rc = durable_make_dirs(s->env, dir, err);
    if (rc == SR_OK) {
        rc = store_lock(s, lock, err);
    }
    return rc == SR_OK ? store_sqlite_make_file(s, build, err) : rc;
}

static sr_rc store_sqlite_max_attempt(const struct store *s, uint64_t *attempt,
                                      struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(&own->db, "SELECT max(attempt) FROM checkpoint", &st, err);
    if (rc == SR_OK && sqlite3_step(st) != SQLITE_ROW) {
        rc = chkdb_fail(&own->db, "read", err);
    }
    if (rc == SR_OK) {
        *attempt = (uint64_t)sqlite3_column_int64(st, 0); /* 0 for no row */
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc store_sqlite_take_attempt(struct store *s, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    struct chkdb_fence f = {0};
    uint64_t used = 0;
    sr_rc rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK && s->attempt != 0 && f.attempt != s->attempt) {
        rc = error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over by %" PRIu64,
                       s->attempt, f.attempt);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_max_attempt(s, &used, err);
    }
    uint64_t before = f.attempt;
    if (rc == SR_OK) {
        f.attempt = (used > f.attempt ? used : f.attempt) + 1;
        rc = chkdb_fence_set(&own->db, before, &f, err);
    }
    rc = store_sqlite_known(store_sqlite_end(s, rc, err), err);
    store_point(s->env, STORE_ATTEMPT);
    if (rc == SR_OK) {
        s->attempt = f.attempt;
        s->newest = f.newest > s->newest ? f.newest : s->newest;
    }
    return rc;
}

static sr_rc store_sqlite_open(struct store *s, struct sr_error *err)
{
    s->own = arena_get(s->arena, sizeof(struct store_sqlite));
    sr_rc rc = s->own ? store_sqlite_prepare(s, err)
                      : error_set(err, SR_ENOMEM, "open %s: out of memory", s->place);
    return rc == SR_OK ? store_sqlite_take_attempt(s, err) : rc;
}

static void store_sqlite_close(struct store *s)
{
    struct store_sqlite *own = s->own;
    if (own && chkdb_is_open(&own->db)) {
        chkdb_close(&own->db);
    }
}

/* --- Publishing ------------------------------------------------------------------------------- */

/* Within a transaction: moves the fence, if it is still ours. */
static sr_rc store_sqlite_fence(struct store *s, const struct chkdb_fence *f, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    struct chkdb_fence to = *f;
    to.attempt = s->attempt;
    return chkdb_fence_set(&own->db, s->attempt, &to, err);
}

static sr_rc store_sqlite_publish(struct store *s, const struct manifest *m,
                                  const struct sr_out *metadata, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    struct chkdb_fence f = {0};
    sr_rc rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK) {
        f.newest = m->checkpoint > f.newest ? m->checkpoint : f.newest;
        f.published = m->checkpoint;
        rc = store_sqlite_fence(s, &f, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_insert(&own->db, m, metadata, err);
    }
    return store_sqlite_end(s, rc, err);
}

static sr_rc store_sqlite_use_id(struct store *s, uint64_t id, struct sr_error *err)
{
    struct chkdb_fence f = {0};
    sr_rc rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK) {
        f.newest = id > f.newest ? id : f.newest;
        rc = store_sqlite_fence(s, &f, err);
    }
    return store_sqlite_known(store_sqlite_end(s, rc, err), err);
}

/* --- Retention -------------------------------------------------------------------------------- */

static sr_rc store_sqlite_step(const struct chkdb *c, const char *sql, uint64_t lineage,
                               uint64_t shown, uint32_t retained, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, sql, &st, err);
    if (rc == SR_OK && (!chkdb_bind_number(st, 1, lineage) || !chkdb_bind_number(st, 2, shown) ||
                        !chkdb_bind_number(st, 3, retained) || sqlite3_step(st) != SQLITE_DONE)) {
        rc = chkdb_fail(c, "write", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

/* Fewer than `retained` that are shown: the oldest of them is the bound, and nothing goes. */
#ifdef MUTANT_RETAIN_EARLY /* deletes what is shown before there is anything newer */
#define STORE_SQLITE_OLDEST "(SELECT ?2 + 1 + 0 * ?3)"
#else
#define STORE_SQLITE_OLDEST                                                                 \
    "(SELECT min(checkpoint) FROM (SELECT checkpoint FROM checkpoint WHERE lineage=?1 AND " \
    "checkpoint<=?2 ORDER BY checkpoint DESC LIMIT ?3))"
#endif

static sr_rc store_sqlite_delete_orphans(struct store *s, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    return chkdb_exec(&own->db,
                      "DELETE FROM part WHERE checkpoint NOT IN (SELECT checkpoint FROM "
                      "checkpoint); DELETE FROM counter WHERE checkpoint NOT IN (SELECT "
                      "checkpoint FROM checkpoint)",
                      err);
}

static sr_rc store_sqlite_delete(struct store *s, uint64_t lineage, uint64_t shown,
                                 struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    sr_rc rc = store_sqlite_step(&own->db,
                                 "DELETE FROM checkpoint WHERE lineage=?1 AND "
                                 "checkpoint<" STORE_SQLITE_OLDEST,
                                 lineage, shown, s->retained, err);
    return rc == SR_OK ? store_sqlite_delete_orphans(s, err) : rc;
}

static sr_rc store_sqlite_has_victims(struct store *s, uint64_t lineage, uint64_t shown, bool *has,
                                      struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    sqlite3_stmt *st = NULL;
    sr_rc rc = store_sqlite_connect(s, err);
    if (rc == SR_OK) {
        rc = chkdb_prepare(&own->db,
                           "SELECT EXISTS (SELECT 1 FROM checkpoint WHERE lineage=?1 AND "
                           "checkpoint<" STORE_SQLITE_OLDEST ")",
                           &st, err);
    }
    if (rc == SR_OK && (!chkdb_bind_number(st, 1, lineage) || !chkdb_bind_number(st, 2, shown) ||
                        !chkdb_bind_number(st, 3, s->retained) || sqlite3_step(st) != SQLITE_ROW)) {
        rc = chkdb_fail(&own->db, "read", err);
    }
    if (rc == SR_OK) {
        *has = sqlite3_column_int(st, 0) != 0;
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc store_sqlite_retain(struct store *s, uint64_t lineage, uint64_t shown,
                                 struct sr_error *err)
{
    struct chkdb_fence f = {0};
    bool has = false;
    sr_rc rc = store_sqlite_has_victims(s, lineage, shown, &has, err);
    if (rc != SR_OK || !has) {
        return rc;
    }
    rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK) {
        rc = store_sqlite_fence(s, &f, err);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_delete(s, lineage, shown, err);
    }
    rc = store_sqlite_known(store_sqlite_end(s, rc, err), err);
    store_point(s->env, STORE_RETAINED);
    return rc;
}

/* --- Deleting --------------------------------------------------------------------------------- */

/* One row with one number, of the lineage up to `shown`. */
static sr_rc store_sqlite_ask(struct store *s, const char *sql, uint64_t lineage, uint64_t shown,
                              int64_t *out, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    sqlite3_stmt *st = NULL;
    sr_rc rc = store_sqlite_connect(s, err);
    if (rc == SR_OK) {
        rc = chkdb_prepare(&own->db, sql, &st, err);
    }
    if (rc == SR_OK && (!chkdb_bind_number(st, 1, lineage) || !chkdb_bind_number(st, 2, shown) ||
                        sqlite3_step(st) != SQLITE_ROW)) {
        rc = chkdb_fail(&own->db, "read", err);
    }
    if (rc == SR_OK) {
        *out = sqlite3_column_int64(st, 0);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc store_sqlite_count(struct store *s, uint64_t lineage, uint64_t shown, uint32_t *count,
                                struct sr_error *err)
{
    int64_t n = 0;
    sr_rc rc =
        store_sqlite_ask(s, "SELECT count(*) FROM checkpoint WHERE lineage=?1 AND checkpoint<=?2",
                         lineage, shown, &n, err);
    if (rc == SR_OK) {
        *count = (uint32_t)n;
    }
    return rc;
}

#define STORE_SQLITE_VICTIM "(CASE WHEN ?2=0 THEN lineage=?1 ELSE checkpoint=?2 END)"

/* Within a transaction. */
static sr_rc store_sqlite_remove_rows(struct store *s, uint64_t lineage, uint64_t number,
                                      struct chkdb_fence *f, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    int64_t victims = 0, newest = 0;
    sr_rc rc = store_sqlite_ask(s, "SELECT count(*) FROM checkpoint WHERE " STORE_SQLITE_VICTIM,
                                lineage, number, &victims, err);
    if (rc == SR_OK && number != 0 && victims == 0) {
        rc = error_set(err, SR_EABSENT, "%s#chk-%" PRIu64 ": no such checkpoint", s->place, number);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_ask(
            s, "SELECT ifnull(max(checkpoint), 0) FROM checkpoint WHERE " STORE_SQLITE_VICTIM,
            lineage, number, &newest, err);
    }
    if (rc == SR_OK && (uint64_t)newest == f->published) {
        f->published = 0; /* nothing goes on from what is left */
    }
    if (rc == SR_OK) {
        rc = store_sqlite_fence(s, f, err);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_step(&own->db,
                               "DELETE FROM checkpoint WHERE ?3=0 AND " STORE_SQLITE_VICTIM,
                               lineage, number, 0, err);
    }
    return rc == SR_OK ? store_sqlite_delete_orphans(s, err) : rc;
}

static sr_rc store_sqlite_remove(struct store *s, uint64_t lineage, uint64_t number,
                                 struct sr_error *err)
{
    struct chkdb_fence f = {0};
    sr_rc rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK) {
        rc = store_sqlite_remove_rows(s, lineage, number, &f, err);
    }
    rc = store_sqlite_known(store_sqlite_end(s, rc, err), err);
    return rc;
}

/* --- The newest one --------------------------------------------------------------------------- */

/* Within a transaction: gives a checkpoint another word for its end; *rows: how many have it now. A
 * pending one only when it is made complete. */
static sr_rc store_sqlite_set_end(struct store *s, uint64_t number, enum manifest_end end,
                                  bool is_decided, int *rows, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(
        &own->db, "UPDATE checkpoint SET run=?1 WHERE checkpoint=?2 AND (run='pending')=?3", &st,
        err);
    if (rc == SR_OK &&
        (!chkdb_bind_text(st, 1, manifest_end_name(end)) || !chkdb_bind_number(st, 2, number) ||
         !chkdb_bind_number(st, 3, is_decided) || sqlite3_step(st) != SQLITE_DONE)) {
        rc = chkdb_fail(&own->db, "write", err);
    }
    *rows = rc == SR_OK ? sqlite3_changes(own->db.db) : 0;
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc store_sqlite_mark_end(struct store *s, enum manifest_end end, struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    struct chkdb_fence f = {0};
    uint64_t number = 0;
    int rows = 0;
    sr_rc rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK) {
        rc = store_sqlite_fence(s, &f, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_newest(&own->db, &number, err);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_set_end(s, number, end, false, &rows, err);
    }
    if (rc == SR_OK && rows == 0) {
        rc = store_is_pending(number, err);
    }
    rc = store_sqlite_known(store_sqlite_end(s, rc, err), err);
    store_point(s->env, STORE_MARKED);
    return rc;
}

/* --- Pending ones ----------------------------------------------------------------------------- */

static sr_rc store_sqlite_complete(struct store *s, uint64_t number, struct sr_error *err)
{
    struct chkdb_fence f = {0};
    int rows = 0;
    sr_rc rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK) {
        rc = store_sqlite_fence(s, &f, err);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_set_end(s, number, MANIFEST_RUNNING, true, &rows, err);
    }
    return store_sqlite_known(store_sqlite_end(s, rc, err), err);
}

/* The newest one before `number` of the same lineage, read with all its copies; 0: there is none,
 * and what older lineages left is not gone on with by itself. */
static sr_rc store_sqlite_before(struct store *s, uint64_t number, uint64_t *before,
                                 struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    struct manifest *m = NULL, *older = NULL;
    int64_t max = 0;
    struct arena *a = arena_new();
    sr_rc rc = a ? chkdb_read(&own->db, number, a, &m, err)
                 : error_set(err, SR_ENOMEM, "drop a checkpoint: out of memory");
    if (rc == SR_OK && m->end != MANIFEST_PENDING) {
        rc = store_is_complete(number, err);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_ask(
            s, "SELECT ifnull(max(checkpoint), 0) FROM checkpoint WHERE ?1=0 AND checkpoint<?2", 0,
            number, &max, err);
    }
    if (rc == SR_OK && max > 0) {
        rc = chkdb_read(&own->db, (uint64_t)max, a, &older, err);
    }
    if (rc == SR_OK) {
        *before = older && older->lineage == m->lineage ? (uint64_t)max : 0;
    }
    arena_free(a);
    return rc;
}

/* Within a transaction. */
static sr_rc store_sqlite_drop_rows(struct store *s, uint64_t number, struct chkdb_fence *f,
                                    struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    sr_rc rc = store_sqlite_before(s, number, &f->published, err);
    if (rc == SR_OK) {
        rc = store_sqlite_fence(s, f, err);
    }
    if (rc == SR_OK) {
        rc = store_sqlite_step(&own->db,
                               "DELETE FROM checkpoint WHERE ?1=0 AND ?3=0 AND checkpoint=?2", 0,
                               number, 0, err);
    }
    return rc == SR_OK ? store_sqlite_delete_orphans(s, err) : rc;
}

static sr_rc store_sqlite_drop(struct store *s, uint64_t number, struct sr_error *err)
{
    struct chkdb_fence f = {0};
    sr_rc rc = store_sqlite_begin(s, &f, err);
    if (rc == SR_OK) {
        rc = store_sqlite_drop_rows(s, number, &f, err);
    }
    return store_sqlite_known(store_sqlite_end(s, rc, err), err);
}

static sr_rc store_sqlite_check_fence(const struct store *s, struct sr_error *err)
{
    struct store_sqlite *own = s->own;
    struct chkdb_fence f = {0};
    sr_rc rc = SR_OK;
    if (!chkdb_is_open(&own->db)) {
        rc = chkdb_open(&own->db, s->env, s->place, CHKDB_RUN, s->job_id, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_fence_get(&own->db, &f, err);
    }
    if (rc == SR_OK && f.attempt != s->attempt) {
        rc = error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over by %" PRIu64,
                       s->attempt, f.attempt);
    }
    return store_sqlite_known(rc, err);
}

/* --- Loading ---------------------------------------------------------------------------------- */

static sr_rc store_sqlite_load_newest(struct store *s, struct arena *a, struct manifest **out,
                                      struct sr_error *err)
{
    const struct store_sqlite *own = s->own;
    uint64_t number = 0;
    sr_rc rc = store_sqlite_connect(s, err);
    if (rc == SR_OK) {
        rc = chkdb_newest(&own->db, &number, err);
    }
    return rc == SR_OK ? chkdb_load(&own->db, number, a, out, err) : rc;
}

const struct store_type store_sqlite_type = {
    .is_durable = true,
    .has_file = true,
    .open = store_sqlite_open,
    .close = store_sqlite_close,
    .next_attempt = store_sqlite_take_attempt,
    .publish = store_sqlite_publish,
    .retain = store_sqlite_retain,
    .count = store_sqlite_count,
    .remove = store_sqlite_remove,
    .mark_end = store_sqlite_mark_end,
    .load_newest = store_sqlite_load_newest,
    .complete = store_sqlite_complete,
    .drop = store_sqlite_drop,
    .check_fence = store_sqlite_check_fence,
    .use_id = store_sqlite_use_id,
    .redo_name = ".redo",
    .claim_name = ".claimed",
    .lock_name = ".lock",
};
