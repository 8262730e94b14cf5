/* Checkpoints as rows. What is written and what is compared on reading are bound by the same
 * functions, so that no column can be written that is not checked. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/calendar.h"
#include "engine/base/error.h"
#include "engine/base/warm.h"
#include "engine/ckpt/chkdb_sql.h"
#include "engine/ckpt/chktables.h"
#include "engine/ckpt/durable.h"

#define CHKDB_READ_BYTES ((size_t)1 << 20) /* of a blob at once */

static const char *chkdb_kind(const struct manifest *m)
{
    return m->kind == MANIFEST_SAVEPOINT ? "savepoint" : "checkpoint";
}

/* Columns 1 to 12 of `checkpoint`, in the order of the schema. */
static bool chkdb_bind_checkpoint(sqlite3_stmt *st, const struct manifest *m, const void *metadata,
                                  size_t len)
{
    char started[25];
    char ended[25];
    civil_iso_ms(m->started_us, started);
    civil_iso_ms(m->ended_us, ended);
    return chkdb_bind_number(st, 1, m->checkpoint) && chkdb_bind_text(st, 2, chkdb_kind(m)) &&
           chkdb_bind_number(st, 3, m->lineage) && chkdb_bind_number(st, 4, m->attempt) &&
           chkdb_bind_number(st, 5, m->parent) && chkdb_bind_text(st, 6, started) &&
           chkdb_bind_text(st, 7, ended) && chkdb_bind_number(st, 8, manifest_bytes(m)) &&
           chkdb_bind_text(st, 9, m->job_name) && chkdb_bind_text(st, 10, m->made_by) &&
           chkdb_bind_text(st, 11, m->description) &&
           sqlite3_bind_blob64(st, 12, metadata, len, SQLITE_STATIC) == SQLITE_OK;
}

static bool chkdb_bind_part(sqlite3_stmt *st, const struct manifest *m, uint32_t i, uint32_t piece)
{
    const struct manifest_part *p = &m->part[i];
    char digest[33];
    digest_text(p->digest, digest);
    return chkdb_bind_number(st, 1, m->checkpoint) && chkdb_bind_text(st, 2, p->uid) &&
           chkdb_bind_text(st, 3, p->name) && chkdb_bind_number(st, 4, p->part) &&
           chkdb_bind_number(st, 5, piece) && chkdb_bind_number(st, 6, p->parts) &&
           chkdb_bind_text(st, 7, digest);
}

static bool chkdb_bind_counter(sqlite3_stmt *st, const struct manifest *m, uint32_t i)
{
    return chkdb_bind_number(st, 1, m->checkpoint) && chkdb_bind_number(st, 2, i) &&
           chkdb_bind_text(st, 3, m->counter[i].name) &&
           chkdb_bind_number(st, 4, (uint64_t)m->counter[i].value);
}

/* A part of no bytes has one empty piece. */
static uint64_t chkdb_pieces(const struct manifest_part *p)
{
    return p->len == 0 ? 1 : (p->len + CHKDB_PIECE_BYTES - 1) / CHKDB_PIECE_BYTES;
}

static size_t chkdb_piece_len(const struct manifest_part *p, uint64_t piece)
{
    uint64_t rest = p->len - piece * CHKDB_PIECE_BYTES;
    return rest < CHKDB_PIECE_BYTES ? (size_t)rest : CHKDB_PIECE_BYTES;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static sr_rc chkdb_step_write(const struct chkdb *c, sqlite3_stmt *st, bool is_bound,
                              struct sr_error *err)
{
    if (!is_bound || sqlite3_step(st) != SQLITE_DONE || sqlite3_reset(st) != SQLITE_OK) {
        return chkdb_fail(c, "write", err);
    }
    return SR_OK;
}

static sr_rc chkdb_insert_checkpoint(const struct chkdb *c, const struct manifest *m,
                                     const struct sr_out *metadata, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(
        c, "INSERT INTO checkpoint VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)", &st, err);
    if (rc == SR_OK) {
        bool is_bound = chkdb_bind_checkpoint(st, m, metadata->data, metadata->len) &&
                        chkdb_bind_text(st, 13, manifest_end_name(m->end));
        rc = chkdb_step_write(c, st, is_bound, err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc chkdb_insert_part(const struct chkdb *c, sqlite3_stmt *st, const struct manifest *m,
                               uint32_t i, struct sr_error *err)
{
    static const uint8_t nothing[1] = {0};
    const struct manifest_part *p = &m->part[i];
    sr_rc rc = SR_OK;
    for (uint64_t piece = 0; rc == SR_OK && piece < chkdb_pieces(p); piece++) {
        const uint8_t *bytes = p->len > 0 ? p->bytes + piece * CHKDB_PIECE_BYTES : nothing;
        bool is_bound = chkdb_bind_part(st, m, i, (uint32_t)piece) &&
                        sqlite3_bind_blob64(st, 8, bytes, chkdb_piece_len(p, piece),
                                            SQLITE_STATIC) == SQLITE_OK;
        rc = chkdb_step_write(c, st, is_bound, err);
    }
    return rc;
}

static sr_rc chkdb_insert_parts(const struct chkdb *c, const struct manifest *m,
                                struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "INSERT INTO part VALUES(?1,?2,?3,?4,?5,?6,?7,?8)", &st, err);
    for (uint32_t i = 0; rc == SR_OK && i < m->parts; i++) {
        rc = chkdb_insert_part(c, st, m, i, err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc chkdb_insert_counters(const struct chkdb *c, const struct manifest *m,
                                   struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "INSERT INTO counter VALUES(?1,?2,?3,?4)", &st, err);
    for (uint32_t i = 0; rc == SR_OK && i < m->counters; i++) {
        rc = chkdb_step_write(c, st, chkdb_bind_counter(st, m, i), err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

sr_rc chkdb_insert(const struct chkdb *c, const struct manifest *m, const struct sr_out *metadata,
                   struct sr_error *err)
{
    sr_rc rc = chkdb_insert_parts(c, m, err);
    if (rc == SR_OK) {
        rc = chkdb_insert_counters(c, m, err);
    }
    return rc == SR_OK ? chkdb_insert_checkpoint(c, m, metadata, err) : rc;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* A row that is not found: it never was, was retired, or is lost. */
static sr_rc chkdb_absent(const struct chkdb *c, uint64_t number, struct sr_error *err)
{
    struct chkdb_fence f = {0};
    sr_rc rc = chkdb_fence_get(c, &f, err);
    if (rc == SR_OK && f.published == number) {
        return error_set(err, SR_ECORRUPT,
                         "%s: damaged: chk-%" PRIu64 " was published and cannot be found", c->file,
                         number);
    }
    return rc == SR_OK ? error_set(err, SR_EABSENT, "%s#chk-%" PRIu64 ": no such checkpoint",
                                   c->file, number)
                       : rc;
}

/* Copies the encoded manifest and the word for the end out of the row. */
static sr_rc chkdb_get_row(const struct chkdb *c, uint64_t number, struct arena *a,
                           struct sr_bytes *metadata, enum manifest_end *end, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc =
        chkdb_prepare(c, "SELECT metadata, run FROM checkpoint WHERE checkpoint=?1", &st, err);
    int step = SQLITE_ERROR;
    if (rc == SR_OK) {
        step = chkdb_bind_number(st, 1, number) ? sqlite3_step(st) : SQLITE_ERROR;
        rc = step == SQLITE_ROW || step == SQLITE_DONE ? SR_OK : chkdb_fail(c, "read", err);
    }
    if (rc == SR_OK && step == SQLITE_DONE) {
        rc = chkdb_absent(c, number, err);
    }
    if (rc == SR_OK) {
        const void *blob = sqlite3_column_blob(st, 0);
        metadata->len = (uint32_t)sqlite3_column_bytes(st, 0);
        metadata->data = arena_copy(a, blob, metadata->len);
        const char *word = (const char *)sqlite3_column_text(st, 1);
        if (!metadata->data) {
            rc = error_set(err, SR_ENOMEM, "read %s: out of memory", c->file);
        } else if (!word || !manifest_end_of(word, end)) {
            rc = error_set(err, SR_ECORRUPT, "%s#chk-%" PRIu64 ": how its run ended is damaged",
                           c->file, number);
        }
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

/* Exactly one row must have what was bound. */
static sr_rc chkdb_step_compare(const struct chkdb *c, sqlite3_stmt *st, bool is_bound,
                                const char *what, struct sr_error *err)
{
    int step = is_bound ? sqlite3_step(st) : SQLITE_ERROR;
    if (step != SQLITE_ROW) {
        return chkdb_fail(c, "read", err);
    }
    int64_t rows = sqlite3_column_int64(st, 0);
    if (sqlite3_reset(st) != SQLITE_OK) {
        return chkdb_fail(c, "read", err);
    }
    return rows == 1 ? SR_OK : chkdb_corrupt(c, what, err);
}

static sr_rc chkdb_compare_checkpoint(const struct chkdb *c, const struct manifest *m,
                                      struct sr_bytes metadata, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c,
                             "SELECT count(*) FROM checkpoint WHERE checkpoint=?1 AND kind IS ?2 "
                             "AND lineage IS ?3 AND attempt IS ?4 AND restored_from IS ?5 AND "
                             "started IS ?6 AND ended IS ?7 AND bytes IS ?8 AND job_name IS ?9 "
                             "AND made_by IS ?10 AND description IS ?11 AND metadata IS ?12",
                             &st, err);
    if (rc == SR_OK) {
        rc = chkdb_step_compare(c, st, chkdb_bind_checkpoint(st, m, metadata.data, metadata.len),
                                "a checkpoint's columns differ from its metadata", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc chkdb_compare_counters(const struct chkdb *c, const struct manifest *m,
                                    struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c,
                             "SELECT count(*) FROM counter WHERE checkpoint=?1 AND position=?2 AND "
                             "name IS ?3 AND value IS ?4",
                             &st, err);
    for (uint32_t i = 0; rc == SR_OK && i < m->counters; i++) {
        rc = chkdb_step_compare(c, st, chkdb_bind_counter(st, m, i),
                                "a counter differs from its metadata", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

sr_rc chkdb_read(const struct chkdb *c, uint64_t number, struct arena *a, struct manifest **out,
                 struct sr_error *err)
{
    struct sr_bytes metadata = {0};
    struct manifest *m = NULL;
    enum manifest_end end = MANIFEST_RUNNING;
    sr_rc rc = chkdb_get_row(c, number, a, &metadata, &end, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = manifest_decode(a, metadata.data, metadata.len, &m, err);
    if (rc != SR_OK) {
        return err ? error_wrap(err, "%s#chk-%" PRIu64, c->file, number) : rc;
    }
    rc = m->checkpoint == number
             ? chkdb_compare_checkpoint(c, m, metadata, err)
             : chkdb_corrupt(c, "a checkpoint has another number than its metadata", err);
    if (rc == SR_OK) {
        rc = chkdb_compare_counters(c, m, err);
    }
    if (rc == SR_OK) {
        m->end = end;
        *out = m;
    }
    return rc;
}

static sr_rc chkdb_damaged_part(const struct chkdb *c, const struct manifest *m, uint32_t i,
                                const char *what, struct sr_error *err)
{
    const struct manifest_part *p = &m->part[i];
    return error_set(err, SR_ECORRUPT, "%s#chk-%" PRIu64 ": damaged: part %s/%s/%" PRIu32 " %s",
                     c->file, m->checkpoint, p->uid, p->name, p->part, what);
}

/* A part that is being read. */
struct chkdb_reading {
    sqlite3_stmt *st; /* that finds a piece's row */
    uint8_t *to;      /* where the next piece belongs: a query's blob would be copied twice */
    struct digester *digester;
    const char *damage; /* NULL: none so far */
};

/* Little by little: each goes into the digest while it is near. */
static sr_rc chkdb_read_blob(const struct chkdb *c, sqlite3_blob *blob, struct chkdb_reading *r,
                             size_t len, struct sr_error *err)
{
    for (size_t done = 0; done < len;) {
        size_t n = len - done < CHKDB_READ_BYTES ? len - done : CHKDB_READ_BYTES;
        if (sqlite3_blob_read(blob, r->to, (int)n, (int)done) != SQLITE_OK) {
            return chkdb_fail(c, "read", err);
        }
        digester_add(r->digester, r->to, n);
        r->to += n;
        done += n;
    }
    return SR_OK;
}

static sr_rc chkdb_read_content(const struct chkdb *c, struct chkdb_reading *r, int64_t rowid,
                                size_t len, struct sr_error *err)
{
    sqlite3_blob *blob = NULL;
    if (sqlite3_blob_open(c->db, "main", "part", "content", rowid, 0, &blob) != SQLITE_OK) {
        return chkdb_fail(c, "read", err);
    }
    sr_rc rc = SR_OK;
    if ((size_t)sqlite3_blob_bytes(blob) != len) {
        r->damage = "has not the length that it was written with";
    } else {
        rc = chkdb_read_blob(c, blob, r, len, err);
    }
    (void)sqlite3_blob_close(blob); /* told by read */
    return rc;
}

/* Reads the piece that the statement is bound to. */
static sr_rc chkdb_step_piece(const struct chkdb *c, struct chkdb_reading *r, size_t len,
                              struct sr_error *err)
{
    int step = sqlite3_step(r->st);
    if (step != SQLITE_ROW && step != SQLITE_DONE) {
        return chkdb_fail(c, "read", err);
    }
    sr_rc rc = SR_OK;
    if (step == SQLITE_DONE) {
        r->damage = "is missing";
    } else if (strcmp((const char *)sqlite3_column_text(r->st, 1), "blob") != 0) {
        r->damage = "is no blob";
    } else {
        rc = chkdb_read_content(c, r, sqlite3_column_int64(r->st, 0), len, err);
    }
    bool is_reset = sqlite3_reset(r->st) == SQLITE_OK;
    return rc == SR_OK && !is_reset ? chkdb_fail(c, "read", err) : rc;
}

static sr_rc chkdb_load_part(const struct chkdb *c, sqlite3_stmt *st, struct manifest *m,
                             uint32_t i, struct arena *a, struct sr_error *err)
{
    struct manifest_part *p = &m->part[i];
    uint8_t *bytes = arena_get(a, (size_t)p->len);
    struct chkdb_reading r = {.st = st, .to = bytes, .digester = digester_new()};
    if (!bytes || !r.digester) {
        digester_free(r.digester);
        return error_set(err, SR_ENOMEM, "read %s: out of memory", c->file);
    }
    sr_rc rc = SR_OK;
    struct warm *warm = warm_start(bytes, (size_t)p->len, WARM_FROM_END);
    for (uint64_t piece = 0; rc == SR_OK && !r.damage && piece < chkdb_pieces(p); piece++) {
        rc = chkdb_bind_part(st, m, i, (uint32_t)piece)
                 ? chkdb_step_piece(c, &r, chkdb_piece_len(p, piece), err)
                 : chkdb_fail(c, "read", err);
    }
    warm_stop(warm);
#ifndef MUTANT_SKIP_DIGEST
    if (rc == SR_OK && !r.damage) {
        struct digest is = digester_get(r.digester);
        bool is_right = is.low == p->digest.low && is.high == p->digest.high;
        r.damage = is_right ? NULL : "does not match its digest";
    }
#endif
    digester_free(r.digester);
    p->bytes = bytes;
    return r.damage ? chkdb_damaged_part(c, m, i, r.damage, err) : rc;
}

/* So that a hostile manifest cannot ask for more memory than the file could fill. */
static sr_rc chkdb_check_size(const struct chkdb *c, const struct manifest *m, struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(
        c, "SELECT count(*), total(length(content)) FROM part WHERE checkpoint=?1", &st, err);
    if (rc == SR_OK &&
        (!chkdb_bind_number(st, 1, m->checkpoint) || sqlite3_step(st) != SQLITE_ROW)) {
        rc = chkdb_fail(c, "read", err);
    }
    uint64_t pieces = 0;
    for (uint32_t i = 0; rc == SR_OK && i < m->parts; i++) {
        pieces += chkdb_pieces(&m->part[i]);
    }
    if (rc == SR_OK && ((uint64_t)sqlite3_column_int64(st, 0) != pieces ||
                        (uint64_t)sqlite3_column_double(st, 1) != manifest_bytes(m))) {
        rc = chkdb_corrupt(c, "parts are missing, too many, or of another length", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

sr_rc chkdb_load(const struct chkdb *c, uint64_t number, struct arena *a, struct manifest **out,
                 struct sr_error *err)
{
    struct manifest *m = NULL;
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_read(c, number, a, &m, err);
    if (rc == SR_OK) {
        rc = chkdb_check_size(c, m, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_prepare(
            c,
            "SELECT rowid, typeof(content) FROM part WHERE checkpoint=?1 AND uid=?2 AND name=?3 "
            "AND subtask=?4 AND piece=?5 AND subtasks IS ?6 AND digest IS ?7",
            &st, err);
    }
    for (uint32_t i = 0; rc == SR_OK && i < m->parts; i++) {
        rc = chkdb_load_part(c, st, m, i, a, err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    if (rc == SR_OK) {
        rc = chktables_verify(c, err);
    }
    if (rc == SR_OK) {
        *out = m;
    }
    return rc;
}

sr_rc chkdb_newest(const struct chkdb *c, uint64_t *number, struct sr_error *err)
{
    struct chkdb_fence f;
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_fence_get(c, &f, err);
    if (rc == SR_OK) {
        rc = chkdb_prepare(c, "SELECT checkpoint FROM checkpoint ORDER BY checkpoint DESC LIMIT 1",
                           &st, err);
    }
    if (rc == SR_OK) {
        int step = sqlite3_step(st);
        uint64_t newest = step == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
        if (step != SQLITE_ROW && step != SQLITE_DONE) {
            rc = chkdb_fail(c, "read", err);
        } else if (f.published == 0) { /* what is there is left over: a newer one was deleted */
            rc = error_set(err, SR_EABSENT, "there is no checkpoint in %s", c->file);
        } else if (newest != f.published) {
            rc = error_set(err, SR_ECORRUPT,
                           "%s: damaged: chk-%" PRIu64 " was published last, but chk-%" PRIu64
                           " is the newest there",
                           c->file, f.published, newest);
        } else {
            *number = newest;
        }
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

/* --- A file of its own ------------------------------------------------------------------------ */

static sr_rc chkdb_fill_file(const struct chkdb *c, const struct chkdb_content *content,
                             struct sr_error *err)
{
    const struct manifest *m = content->m;
    struct chkdb_fence f = {
        .attempt = m->attempt, .newest = m->checkpoint, .published = m->checkpoint};
    sr_rc rc = chkdb_exec(c, "BEGIN IMMEDIATE", err);
    if (rc == SR_OK) {
        rc = chkdb_fence_set(c, 0, &f, err);
    }
    if (rc == SR_OK) {
        rc = chkdb_insert(c, m, content->metadata, err);
    }
    if (rc == SR_OK && content->filler) {
        rc = chktables_write(c, content->filler, m, err);
    }
    return rc == SR_OK ? chkdb_commit(c, err) : rc;
}

/* SQLite must have closed the file before plain calls touch it: closing any descriptor of a file
 * lets go of all POSIX locks that the process has on it. */
static sr_rc chkdb_sync_file(const struct env *env, const char *file, struct sr_error *err)
{
    struct sr_file *f = NULL;
    sr_rc rc = env->files->open(env->files, file, SR_FILE_WRITE, &f, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = env->files->sync(f, err);
    sr_rc closed = env->files->close(f, rc == SR_OK ? err : NULL);
    return rc == SR_OK ? closed : rc;
}

sr_rc chkdb_write_file(const struct env *env, const char *file, const char *job_id,
                       const struct chkdb_content *content, struct sr_error *err)
{
    struct chkdb c = {0};
    sr_rc rc = durable_write(env, file, "", 0, err); /* ours alone, before SQLite opens it */
    if (rc == SR_OK) {
        rc = chkdb_open(&c, env, file, CHKDB_BUILD, job_id, err);
    }
    if (rc == SR_OK) {
        rc = content->m ? chkdb_fill_file(&c, content, err) : SR_OK;
        chkdb_close(&c);
    }
    if (rc == SR_OK) {
        rc = chkdb_sync_file(env, file, err);
    }
    if (rc == SR_EUNKNOWN && err) {
        err->rc = SR_EIO;
    }
    return rc == SR_EUNKNOWN ? SR_EIO : rc; /* nobody was told of this file yet */
}
