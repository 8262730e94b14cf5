#include "engine/ckpt/chkdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/ckpt/chkdb_sql.h"
#include "engine/ckpt/chktables.h"
#include "engine/ckpt/durable.h"

#define CHKDB_BUSY_MS 10000 /* how long a reader may hold up a commit */

/* Made in this order; compared byte by byte when a file is opened. */
static const char *const chkdb_schema[] = {
    "CREATE TABLE job(\n  id TEXT NOT NULL\n)",
    "CREATE TABLE fence(\n  attempt INTEGER NOT NULL,\n  newest INTEGER NOT NULL,\n"
    "  published INTEGER NOT NULL,\n  digest TEXT NOT NULL\n)",
    "CREATE TABLE checkpoint(\n  checkpoint INTEGER PRIMARY KEY,\n  kind TEXT NOT NULL,\n"
    "  lineage INTEGER NOT NULL,\n  attempt INTEGER NOT NULL,\n  restored_from INTEGER NOT NULL,\n"
    "  started TEXT NOT NULL,\n  ended TEXT NOT NULL,\n  bytes INTEGER NOT NULL,\n"
    "  job_name TEXT NOT NULL,\n  made_by TEXT NOT NULL,\n  description TEXT NOT NULL,\n"
    "  metadata BLOB NOT NULL,\n  run TEXT NOT NULL\n)",
    "CREATE TABLE part(\n  checkpoint INTEGER NOT NULL,\n  uid TEXT NOT NULL,\n"
    "  name TEXT NOT NULL,\n  subtask INTEGER NOT NULL,\n  piece INTEGER NOT NULL,\n"
    "  subtasks INTEGER NOT NULL,\n  digest TEXT NOT NULL,\n  content BLOB NOT NULL,\n"
    "  PRIMARY KEY (checkpoint, uid, name, subtask, piece)\n)",
    "CREATE TABLE counter(\n  checkpoint INTEGER NOT NULL,\n  position INTEGER NOT NULL,\n"
    "  name TEXT NOT NULL,\n  value INTEGER NOT NULL,\n"
    "  PRIMARY KEY (checkpoint, position)\n) WITHOUT ROWID",
};

#define CHKDB_TABLES (sizeof(chkdb_schema) / sizeof(chkdb_schema[0]))

/* --- Errors ----------------------------------------------------------------------------------- */

static sr_rc chkdb_code(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return SR_ENOMEM;
    case SQLITE_FULL:
        return SR_ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return SR_EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* our statements are right: the schema is not */
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
        return SR_ECORRUPT;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return SR_EACCESS;
    default:
        return SR_EIO;
    }
}

sr_rc chkdb_fail(const struct chkdb *c, const char *what, struct sr_error *err)
{
    int code = sqlite3_extended_errcode(c->db);
    return error_set(err, chkdb_code(code), "%s %s: SQLite: %s (%d)", what, c->file,
                     sqlite3_errmsg(c->db), code);
}

sr_rc chkdb_corrupt(const struct chkdb *c, const char *what, struct sr_error *err)
{
    return error_set(err, SR_ECORRUPT, "%s: damaged: %s", c->file, what);
}

sr_rc chkdb_exec(const struct chkdb *c, const char *sql, struct sr_error *err)
{
    if (sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK) {
        return SR_OK;
    }
    return chkdb_fail(c, "write", err);
}

void chkdb_rollback(const struct chkdb *c)
{
    if (c->db && sqlite3_get_autocommit(c->db) == 0) {
        /* If this fails, the journal stays and is played back by whoever opens the file next. */
        (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

/* SQLite keeps the transaction open after SQLITE_BUSY and SQLITE_FULL; memory may run out before or
 * after the point of no return, and a device error says nothing at all. */
sr_rc chkdb_commit(const struct chkdb *c, struct sr_error *err)
{
    if (sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK) {
        return SR_OK;
    }
    sr_rc rc = chkdb_fail(c, "commit to", err);
    bool is_open = sqlite3_get_autocommit(c->db) == 0;
    chkdb_rollback(c);
    bool is_undone = is_open && sqlite3_get_autocommit(c->db) != 0;
    if (rc == SR_EBUSY || rc == SR_ENOSPC || (rc == SR_ENOMEM && is_undone)) {
        return rc;
    }
    if (err) {
        err->rc = SR_EUNKNOWN;
    }
    return SR_EUNKNOWN;
}

/* --- Statements ------------------------------------------------------------------------------- */

sr_rc chkdb_prepare(const struct chkdb *c, const char *sql, sqlite3_stmt **out,
                    struct sr_error *err)
{
    if (sqlite3_prepare_v2(c->db, sql, -1, out, NULL) != SQLITE_OK) {
        return chkdb_fail(c, "read", err);
    }
    return SR_OK;
}

bool chkdb_bind_number(sqlite3_stmt *st, int at, uint64_t n)
{
    return sqlite3_bind_int64(st, at, (sqlite3_int64)n) == SQLITE_OK;
}

bool chkdb_bind_text(sqlite3_stmt *st, int at, const char *s)
{
    return sqlite3_bind_text(st, at, s, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

/* One row with one number. */
static sr_rc chkdb_number(const struct chkdb *c, const char *sql, int64_t *out,
                          struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, sql, &st, err);
    if (rc == SR_OK) {
        int step = sqlite3_step(st);
        if (step == SQLITE_ROW && sqlite3_column_type(st, 0) == SQLITE_INTEGER) {
            *out = sqlite3_column_int64(st, 0);
        } else if (step == SQLITE_ROW || step == SQLITE_DONE) {
            rc = chkdb_corrupt(c, "a number is missing", err);
        } else {
            rc = chkdb_fail(c, "read", err);
        }
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

/* --- Fence ------------------------------------------------------------------------------------ */

static void chkdb_fence_digest(const struct chkdb_fence *f, char out[33])
{
    char text[80];
    int len = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRIu64, f->attempt,
                       f->newest, f->published);
    sr_assert(len > 0 && (size_t)len < sizeof(text));
    digest_text(digest_of(text, (size_t)len), out);
}

static sr_rc chkdb_fence_row(const struct chkdb *c, sqlite3_stmt *st, struct chkdb_fence *out,
                             struct sr_error *err)
{
    int step = sqlite3_step(st);
    if (step != SQLITE_ROW && step != SQLITE_DONE) {
        return chkdb_fail(c, "read", err);
    }
    if (step == SQLITE_DONE) {
        return chkdb_corrupt(c, "its fence is missing", err);
    }
    struct chkdb_fence f = {.attempt = (uint64_t)sqlite3_column_int64(st, 0),
                            .newest = (uint64_t)sqlite3_column_int64(st, 1),
                            .published = (uint64_t)sqlite3_column_int64(st, 2)};
    char digest[33];
    chkdb_fence_digest(&f, digest);
    const char *told = (const char *)sqlite3_column_text(st, 3);
    if (!told || strcmp(told, digest) != 0) {
        return chkdb_corrupt(c, "its fence does not match its digest", err);
    }
    *out = f;
    return SR_OK;
}

sr_rc chkdb_fence_get(const struct chkdb *c, struct chkdb_fence *out, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "SELECT attempt, newest, published, digest FROM fence", &st, err);
    if (rc == SR_OK) {
        rc = chkdb_fence_row(c, st, out, err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

sr_rc chkdb_fence_set(const struct chkdb *c, uint64_t attempt, const struct chkdb_fence *to,
                      struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    char digest[33];
    chkdb_fence_digest(to, digest);
    sr_rc rc = chkdb_prepare(c,
                             "UPDATE fence SET attempt=?1, newest=?2, published=?3, digest=?4"
#ifndef MUTANT_SKIP_FENCE
                             " WHERE attempt=?5"
#else
                             " WHERE ?5 IS NOT NULL"
#endif
                             ,
                             &st, err);
    if (rc == SR_OK &&
        (!chkdb_bind_number(st, 1, to->attempt) || !chkdb_bind_number(st, 2, to->newest) ||
         !chkdb_bind_number(st, 3, to->published) || !chkdb_bind_text(st, 4, digest) ||
         !chkdb_bind_number(st, 5, attempt) || sqlite3_step(st) != SQLITE_DONE)) {
        rc = chkdb_fail(c, "write", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    if (rc == SR_OK && sqlite3_changes(c->db) != 1) {
        rc = error_set(err, SR_EFENCED, "attempt %" PRIu64 " was taken over in %s", attempt,
                       c->file);
    }
    return rc;
}

/* --- Opening ---------------------------------------------------------------------------------- */

bool chkdb_is_open(const struct chkdb *c) { return c->db != NULL; }

void chkdb_close(struct chkdb *c)
{
    chkdb_rollback(c);
    (void)sqlite3_close_v2(c->db); /* every statement is finalized */
    c->db = NULL;
    lookvfs_free(c->look);
    c->look = NULL;
}

static sr_rc chkdb_open_as(struct chkdb *c, const struct env *env, int flags, struct sr_error *err)
{
    const char *vfs = c->look ? lookvfs_name(c->look) : env->sqlite_vfs;
    int code = sqlite3_open_v2(c->file, &c->db, flags | SQLITE_OPEN_EXRESCODE, vfs);
    if (!c->db) {
        return error_set(err, SR_ENOMEM, "open %s: out of memory", c->file);
    }
    if (code != SQLITE_OK) {
        return chkdb_fail(c, "open", err);
    }
    (void)sqlite3_busy_timeout(c->db, CHKDB_BUSY_MS);
    int was = 0;
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &was);
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &was);
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, &was);
    return chkdb_exec(c, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY",
                      err);
}

static sr_rc chkdb_make_schema(const struct chkdb *c, const char *job_id, struct sr_error *err)
{
    char sql[128];
    sr_rc rc = chkdb_exec(c, "BEGIN IMMEDIATE", err);
    for (size_t i = 0; rc == SR_OK && i < CHKDB_TABLES; i++) {
        rc = chkdb_exec(c, chkdb_schema[i], err);
    }
    (void)snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
                   CHKDB_APPLICATION_ID, CHKDB_USER_VERSION);
    rc = rc == SR_OK ? chkdb_exec(c, sql, err) : rc;
    struct chkdb_fence none = {0};
    char digest[33];
    chkdb_fence_digest(&none, digest);
    (void)snprintf(sql, sizeof(sql), "INSERT INTO fence VALUES(0, 0, 0, '%s')", digest);
    rc = rc == SR_OK ? chkdb_exec(c, sql, err) : rc;
    sqlite3_stmt *st = NULL;
    rc = rc == SR_OK ? chkdb_prepare(c, "INSERT INTO job VALUES(?1)", &st, err) : rc;
    if (rc == SR_OK && (!chkdb_bind_text(st, 1, job_id) || sqlite3_step(st) != SQLITE_DONE)) {
        rc = chkdb_fail(c, "write", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    if (rc == SR_OK) {
        rc = chkdb_commit(c, err);
    }
    return rc;
}

static sr_rc chkdb_compare_schema(const struct chkdb *c, sqlite3_stmt *st, struct sr_error *err)
{
    size_t i = 0;
    int step = sqlite3_step(st);
    for (; step == SQLITE_ROW; step = sqlite3_step(st), i++) {
        const char *sql = (const char *)sqlite3_column_text(st, 0);
        if (sql && i >= CHKDB_TABLES) {
            sr_rc rc = chktables_check_definition(c, i - CHKDB_TABLES, sql, err);
            if (rc != SR_OK) {
                return rc;
            }
            continue;
        }
        if (!sql || strcmp(sql, chkdb_schema[i]) != 0) {
            return chkdb_corrupt(c, "its tables are not those of a checkpoint store", err);
        }
    }
    if (step != SQLITE_DONE) {
        return chkdb_fail(c, "read", err);
    }
    return i >= CHKDB_TABLES ? SR_OK : chkdb_corrupt(c, "a table is missing", err);
}

static sr_rc chkdb_check_schema(const struct chkdb *c, struct sr_error *err)
{
    int64_t id = 0;
    int64_t version = 0;
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_number(c, "PRAGMA application_id", &id, err);
    if (rc == SR_OK) {
        rc = chkdb_number(c, "PRAGMA user_version", &version, err);
    }
    if (rc == SR_OK && id != CHKDB_APPLICATION_ID) {
        return error_set(err, SR_EMISFIT, "%s is an SQLite database, but no checkpoint store",
                         c->file);
    }
    if (rc == SR_OK && version != CHKDB_USER_VERSION) {
        return error_set(err, SR_EMISFIT,
                         "%s was made by another streamrun: format %lld, this one reads %d; go on "
                         "with that one, or move the file away",
                         c->file, (long long)version, CHKDB_USER_VERSION);
    }
    if (rc == SR_OK) {
        rc = chkdb_prepare(c, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
                           &st, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_compare_schema(c, st, err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc chkdb_check_job(struct chkdb *c, const char *job_id, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "SELECT id FROM job", &st, err);
    if (rc == SR_OK) {
        int step = sqlite3_step(st);
        const char *id = step == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
        if (step != SQLITE_ROW && step != SQLITE_DONE) {
            rc = chkdb_fail(c, "read", err);
        } else if (!id || strlen(id) != sizeof(c->job_id) - 1) {
            rc = chkdb_corrupt(c, "the job's id is missing", err);
        } else if (job_id && strcmp(id, job_id) != 0) {
            rc = error_set(err, SR_EMISFIT,
                           "%s holds the checkpoints of job %s, not of %s: give each job a file of "
                           "its own",
                           c->file, id, job_id);
        } else {
            memcpy(c->job_id, id, sizeof(c->job_id));
        }
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

/* A page that could not be read is told in words as well, some with SQLite's code: no damage. */
static sr_rc chkdb_bad_check(const struct chkdb *c, const char *words, struct sr_error *err)
{
    static const char mark[] = "error code=";
    const char *at = words ? strstr(words, mark) : NULL;
    long code = at ? strtol(at + sizeof(mark) - 1, NULL, 10) : SQLITE_CORRUPT;
    sr_rc rc = code > 0 && code <= INT32_MAX ? chkdb_code((int)code) : SR_ECORRUPT;
    if (words && strstr(words, "failed to get page"))
        rc = SR_EIO; /* its number was checked before */
    if (rc != SR_ECORRUPT) {
        return error_set(err, rc, "check %s: SQLite: %s", c->file, words);
    }
    return chkdb_corrupt(c, words ? words : "the check failed", err);
}

static sr_rc chkdb_quick_check(const struct chkdb *c, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "PRAGMA quick_check(1)", &st, err);
    if (rc == SR_OK) {
        int step = sqlite3_step(st);
        const char *word = step == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
        if (step != SQLITE_ROW) {
            rc = chkdb_fail(c, "check", err);
        } else if (!word || strcmp(word, "ok") != 0) {
            rc = chkdb_bad_check(c, word, err);
        }
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

/* The journal must be the kind whose commit outlives a power loss: Debian's default does not. */
static sr_rc chkdb_set_journal(const struct chkdb *c, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "PRAGMA journal_mode=TRUNCATE", &st, err);
    if (rc == SR_OK) {
        int step = sqlite3_step(st);
        const char *mode = step == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
        if (step != SQLITE_ROW) {
            rc = chkdb_fail(c, "open", err);
        } else if (!mode || strcmp(mode, "truncate") != 0) {
            rc = error_set(err, SR_EIO, "%s: SQLite keeps journal_mode=%s, which is not durable",
                           c->file, mode ? mode : "?");
        }
    }
    (void)sqlite3_finalize(st); /* told by step */
#ifdef MUTANT_SKIP_FSYNC        /* a mutant whose commits are not durable */
    return rc == SR_OK ? chkdb_exec(c, "PRAGMA synchronous=OFF", err) : rc;
#else
    return rc == SR_OK ? chkdb_exec(c, "PRAGMA synchronous=FULL", err) : rc;
#endif
}

/* The first look into the file. It was opened before, so what cannot be opened now is a journal
 * that a damaged head asks for. */
static sr_rc chkdb_check_pages(const struct chkdb *c, struct sr_error *err)
{
    int64_t pages = 0;
    sr_rc rc = chkdb_number(c, "PRAGMA page_count", &pages, err);
    if (rc == SR_EIO && (sqlite3_errcode(c->db) & 0xff) == SQLITE_CANTOPEN) {
        return chkdb_corrupt(c, "its journal cannot be opened", err);
    }
    return rc == SR_OK && pages == 0 ? chkdb_corrupt(c, "it is empty", err) : rc;
}

static sr_rc chkdb_open_run(struct chkdb *c, const struct env *env, const char *job_id,
                            struct sr_error *err)
{
    int was = 0;
    sr_rc rc = chkdb_open_as(c, env, SQLITE_OPEN_READWRITE, err);
    if (rc == SR_OK) {
        rc = chkdb_check_pages(c, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_set_journal(c, err);
    }
    if (rc == SR_OK) {
        (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &was);
        rc = chkdb_check_schema(c, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_quick_check(c, err);
    }
    return rc == SR_OK ? chkdb_check_job(c, job_id, err) : rc;
}

/* A commit was interrupted: SQLite must undo it before anything can be read. */
static sr_rc chkdb_open_undone(struct chkdb *c, const struct env *env, struct sr_error *err)
{
    c->look = lookvfs_new(env->sqlite_vfs);
    if (!c->look) {
        return error_set(err, SR_ENOMEM, "open %s: out of memory", c->file);
    }
    sr_rc rc = chkdb_open_as(c, env, SQLITE_OPEN_READWRITE, err);
    return rc == SR_OK ? chkdb_check_pages(c, err) : rc;
}

/* One transaction, so that all that is seen is of one moment: a run may publish meanwhile. */
static sr_rc chkdb_open_look(struct chkdb *c, const struct env *env, const char *job_id,
                             struct sr_error *err)
{
    sr_rc rc = chkdb_open_as(c, env, SQLITE_OPEN_READONLY, err);
    if (rc == SR_OK) {
        rc = chkdb_check_pages(c, err);
    }
    if (rc == SR_EACCESS && sqlite3_extended_errcode(c->db) == SQLITE_READONLY_ROLLBACK) {
        chkdb_close(c);
        rc = chkdb_open_undone(c, env, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_check_schema(c, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_check_job(c, job_id, err);
    }
    return rc == SR_OK ? chkdb_exec(c, "BEGIN", err) : rc;
}

static sr_rc chkdb_open_build(struct chkdb *c, const struct env *env, const char *job_id,
                              struct sr_error *err)
{
    sr_rc rc = chkdb_open_as(c, env, SQLITE_OPEN_READWRITE, err);
    if (rc == SR_OK) {
        /* Pages larger than usual, because most of the file is long blobs. */
        rc = chkdb_exec(c,
                        "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                        "PRAGMA locking_mode=EXCLUSIVE",
                        err);
    }
    return rc == SR_OK ? chkdb_make_schema(c, job_id, err) : rc;
}

sr_rc chkdb_open(struct chkdb *out, const struct env *env, const char *file, enum chkdb_mode mode,
                 const char *job_id, struct sr_error *err)
{
    struct chkdb c = {.file = file};
    sr_rc rc = SR_OK;
    switch (mode) {
    case CHKDB_RUN:
        rc = chkdb_open_run(&c, env, job_id, err);
        break;
    case CHKDB_LOOK:
        rc = chkdb_open_look(&c, env, job_id, err);
        break;
    case CHKDB_BUILD:
        rc = chkdb_open_build(&c, env, job_id, err);
        break;
    }
    if (rc != SR_OK) {
        chkdb_close(&c);
        return rc;
    }
    *out = c;
    return SR_OK;
}
