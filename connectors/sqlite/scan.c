#include "connectors/sqlite/scan.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/sqlite/base.h"

#define SCAN_VERSION 1u

sr_rc scan_fail(const struct scan *c, const char *doing, struct sr_error *err)
{
    int code = c->db ? sqlite3_extended_errcode(c->db) : SQLITE_NOMEM;
    const char *words = c->db ? sqlite3_errmsg(c->db) : "out of memory";
    return c->host->fail(c->host, err, base_rc(code), "%s: cannot %s: %s", c->conf->path, doing,
                         words);
}

static sr_rc scan_prepare(struct scan *c, char *sql, sqlite3_stmt **out, const char *doing,
                          struct sr_error *err)
{
    if (!sql) {
        return c->host->fail(c->host, err, SR_ENOMEM, "out of memory");
    }
    int code = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    sqlite3_free(sql);
    if (code == SQLITE_ERROR) { /* no such table, no such column: for the user */
        return c->host->fail(c->host, err, SR_ECONFIG, "%s: %s", c->conf->path,
                             sqlite3_errmsg(c->db));
    }
    return code == SQLITE_OK ? SR_OK : scan_fail(c, doing, err);
}

/* --- SQL ------------------------------------------------------------------------------------- */

static void scan_put_from(const struct scan *c, sqlite3_str *sql)
{
    if (c->conf->query) {
        sqlite3_str_appendf(sql, " FROM (%s) AS s", c->conf->query);
    } else {
        sqlite3_str_appendf(sql, " FROM \"%w\" AS s", c->conf->table);
    }
}

/* Qualified, because a bare name in quotes that is no column would be a text. */
static void scan_put_name(sqlite3_str *sql, const char *name)
{
    sqlite3_str_appendf(sql, "s.\"%w\"", name);
}

static void scan_put_key(const struct scan *c, sqlite3_str *sql)
{
    if (c->column) {
        scan_put_name(sql, c->column);
    } else {
        sqlite3_str_appendall(sql, "s._rowid_");
    }
}

static void scan_put_columns(const struct scan *c, sqlite3_str *sql)
{
    for (uint32_t i = 0; i < c->schema->fields; i++) {
        scan_put_name(sql, c->schema->field[i].name);
        sqlite3_str_appendall(sql, ", ");
    }
    scan_put_key(c, sql);
    if (c->has_rowid) {
        sqlite3_str_appendall(sql, ", s._rowid_");
    }
}

static void scan_put_where(const struct scan *c, const struct scan_split *split, sqlite3_str *sql)
{
    sqlite3_str_appendall(sql, " WHERE ");
    scan_put_key(c, sql);
    sqlite3_str_appendall(sql, " IS NOT NULL");
    if (split->lower.type != 0 && split->last.type == 0) {
        sqlite3_str_appendall(sql, " AND ");
        scan_put_key(c, sql);
        sqlite3_str_appendall(sql, " >= ?1");
    }
    if (split->upper.type != 0) {
        sqlite3_str_appendall(sql, " AND ");
        scan_put_key(c, sql);
        sqlite3_str_appendall(sql, " <= ?2");
    }
    if (split->last.type == 0) {
        return;
    }
    sqlite3_str_appendall(sql, " AND ");
    if (c->has_rowid && c->column) {
        sqlite3_str_appendall(sql, "(");
        scan_put_key(c, sql);
        sqlite3_str_appendall(sql, ", s._rowid_) > (?3, ?4)");
    } else {
        scan_put_key(c, sql);
        sqlite3_str_appendall(sql, c->has_rowid ? " > ?3" : " >= ?3");
    }
}

static void scan_put_order(const struct scan *c, sqlite3_str *sql)
{
    sqlite3_str_appendall(sql, " ORDER BY ");
    scan_put_key(c, sql);
    if (c->has_rowid) {
        sqlite3_str_appendall(sql, c->column ? ", s._rowid_" : "");
        return;
    }
    for (uint32_t i = 0; i < c->schema->fields; i++) {
        sqlite3_str_appendall(sql, ", ");
        scan_put_name(sql, c->schema->field[i].name);
    }
}

static int scan_bind(const struct scan_split *split, sqlite3_stmt *s)
{
    int count = sqlite3_bind_parameter_count(s);
    int code = count >= 1 ? key_bind(&split->lower, s, 1) : SQLITE_OK;
    if (code == SQLITE_OK && count >= 2) {
        code = key_bind(&split->upper, s, 2);
    }
    if (code == SQLITE_OK && count >= 3) {
        code = key_bind(&split->last, s, 3);
    }
    return code == SQLITE_OK && count >= 4 ? sqlite3_bind_int64(s, 4, split->tie) : code;
}

sr_rc scan_begin(struct scan *c, const struct scan_split *split, sqlite3_stmt **out,
                 struct sr_error *err)
{
    sqlite3_str *sql = sqlite3_str_new(c->db);
    sqlite3_str_appendall(sql, "SELECT ");
    scan_put_columns(c, sql);
    scan_put_from(c, sql);
    scan_put_where(c, split, sql);
    scan_put_order(c, sql);
    sr_rc rc = scan_prepare(c, sqlite3_str_finish(sql), out, "read", err);
    if (rc == SR_OK && scan_bind(split, *out) != SQLITE_OK) {
        rc = scan_fail(c, "read", err);
    }
    return rc;
}

int64_t scan_to_skip(const struct scan *c, const struct scan_split *split)
{
    return c->has_rowid || split->last.type == 0 ? 0 : split->tie;
}

bool scan_took(const struct scan *c, struct scan_split *split, sqlite3_stmt *s)
{
    int at = (int)c->schema->fields;
    if (c->has_rowid) {
        split->tie = sqlite3_column_int64(s, at + 1);
    } else if (split->last.type != 0 && key_equals_column(&split->last, s, at)) {
        split->tie++;
        return true;
    } else {
        split->tie = 1;
    }
    return key_of_column(&split->last, s, at);
}

/* --- The database ---------------------------------------------------------------------------- */

/* Has it rowids? Views, and tables WITHOUT ROWID, have none. */
static sr_rc scan_look(struct scan *c, struct sr_error *err)
{
    c->has_rowid = false;
    if (c->conf->query) {
        return SR_OK;
    }
    sqlite3_stmt *s = NULL;
    sr_rc rc = scan_prepare(
        c,
        sqlite3_mprintf("SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND lower(name) ="
                        " lower(%Q) AND (type <> 'table' OR wr)",
                        c->conf->table),
        &s, "look at the table", err);
    if (rc != SR_OK) {
        return rc;
    }
    int code = sqlite3_step(s);
    c->has_rowid = code == SQLITE_DONE;
    if (code != SQLITE_DONE && code != SQLITE_ROW) {
        rc = scan_fail(c, "look at the table", err);
    }
    (void)sqlite3_finalize(s); /* its error was seen above */
    if (rc == SR_OK && !c->has_rowid && (!c->column || c->conf->growing)) {
        rc = c->host->fail(c->host, err, SR_ECONFIG,
                           c->column ? "%s: %s has no rowids, which scan.incremental.column needs"
                                     : "%s: %s has no rowids: name a column by "
                                       "scan.partition.column",
                           c->conf->path, c->conf->table);
    }
    return rc;
}

/* What the statement needs is there? Said when the job starts, not with the first row. */
static sr_rc scan_try(struct scan *c, struct sr_error *err)
{
    struct scan_split all = {.tie = 0};
    sqlite3_stmt *s = NULL;
    sr_rc rc = scan_begin(c, &all, &s, err);
    (void)sqlite3_finalize(s); /* it was never run */
    return rc;
}

static int scan_open_as(struct scan *c, int how)
{
    (void)sqlite3_close(c->db);
    c->db = NULL;
    return sqlite3_open_v2(c->conf->path, &c->db, how | SQLITE_OPEN_NOMUTEX, c->host->sqlite_vfs);
}

/* For reading only, even if somebody was killed amid a transaction: the next one who opens the
 * database for writing takes that back, and this is done here, since else nobody can read it. */
static int scan_connect(struct scan *c)
{
    static const char look[] = "SELECT count(*) FROM sqlite_schema";
    int code = scan_open_as(c, SQLITE_OPEN_READONLY);
    if (code != SQLITE_OK || sqlite3_exec(c->db, look, NULL, NULL, NULL) == SQLITE_OK ||
        sqlite3_extended_errcode(c->db) != SQLITE_READONLY_ROLLBACK) {
        return code;
    }
    code = scan_open_as(c, SQLITE_OPEN_READWRITE);
    if (code == SQLITE_OK) (void)sqlite3_exec(c->db, look, NULL, NULL, NULL); /* told below */
    return code == SQLITE_OK ? scan_open_as(c, SQLITE_OPEN_READONLY) : code;
}

sr_rc scan_open(struct scan *c, const struct sr_source_open *o, struct sr_error *err)
{
    c->host = o->host;
    c->conf = o->conf;
    c->schema = o->schema;
    c->column = c->conf->growing ? c->conf->growing : c->conf->column;
    struct sr_stat stat;
    sr_rc rc = c->host->files->stat(c->host->files, c->conf->path, &stat, err);
    if (rc != SR_OK) {
        return rc == SR_EABSENT
                   ? c->host->fail(c->host, err, rc, "there is no database %s", c->conf->path)
                   : rc;
    }
    if (scan_connect(c) != SQLITE_OK) {
        return scan_fail(c, "open the database", err);
    }
    rc = scan_look(c, err);
    return rc == SR_OK ? scan_try(c, err) : rc;
}

void scan_close(struct scan *c)
{
    (void)sqlite3_close(c->db); /* no statement is left */
    c->db = NULL;
}

sr_rc scan_range(struct scan *c, struct key *least, struct key *greatest, struct sr_error *err)
{
    sqlite3_str *sql = sqlite3_str_new(c->db);
    const char *const part[] = {"SELECT (SELECT min(", "), (SELECT max(", "), EXISTS (SELECT 1"};
    for (uint32_t i = 0; i < 3; i++) {
        sqlite3_str_appendall(sql, part[i]);
        if (i < 2) {
            scan_put_key(c, sql);
            sqlite3_str_appendall(sql, ")");
        }
        scan_put_from(c, sql);
    }
    sqlite3_str_appendall(sql, " WHERE ");
    scan_put_key(c, sql);
    sqlite3_str_appendall(sql, " IS NULL)");
    sqlite3_stmt *s = NULL;
    sr_rc rc = scan_prepare(c, sqlite3_str_finish(sql), &s, "read", err);
    if (rc != SR_OK) {
        return rc;
    }
    int code = sqlite3_step(s);
    if (code != SQLITE_ROW) {
        rc = scan_fail(c, "read", err);
    } else if (c->column && sqlite3_column_int(s, 2) != 0) {
        rc = c->host->fail(c->host, err, SR_ECONFIG,
                           "%s: there are rows whose %s is NULL, and they would be left out: read "
                           "by another column",
                           c->conf->path, c->column);
    } else if (!key_of_column(least, s, 0) || !key_of_column(greatest, s, 1)) {
        rc = c->host->fail(c->host, err, SR_ENOMEM, "out of memory");
    }
    (void)sqlite3_finalize(s); /* its error was seen above */
    return rc;
}

/* --- Splits ---------------------------------------------------------------------------------- */

bool scan_split_save(const struct scan_split *s, struct sr_out *note)
{
    return note_put_u8(note, SCAN_VERSION) && key_save(&s->lower, note) &&
           key_save(&s->upper, note) && key_save(&s->last, note) &&
           note_put_u64(note, (uint64_t)s->tie);
}

sr_rc scan_split_load(struct scan_split *s, struct sr_bytes note)
{
    struct note_in in = note_in(note);
    uint8_t version = note_get_u8(&in);
    *s = (struct scan_split){.tie = 0};
    key_load(&s->lower, &in);
    key_load(&s->upper, &in);
    key_load(&s->last, &in);
    s->tie = (int64_t)note_get_u64(&in);
    if (version == SCAN_VERSION && note_is_done(&in)) {
        return SR_OK;
    }
    scan_split_done(s);
    return note_why(&in);
}

void scan_split_done(struct scan_split *s)
{
    key_done(&s->lower);
    key_done(&s->upper);
    key_done(&s->last);
}
