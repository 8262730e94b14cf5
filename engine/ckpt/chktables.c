#include "engine/ckpt/chktables.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/ckpt/chkdb_sql.h"

#define CHKTABLES_NAME_MAX 200u /* bytes of a table's or column's name: longer ones are cut */

static const char chktables_catalog[] =
    "CREATE TABLE state(\n  number INTEGER PRIMARY KEY,\n  operator TEXT NOT NULL,\n"
    "  name TEXT NOT NULL,\n  table_name TEXT NOT NULL,\n  entries INTEGER NOT NULL,\n"
    "  columns TEXT NOT NULL,\n  definition TEXT NOT NULL,\n  digest TEXT NOT NULL,\n"
    "  check_digest TEXT NOT NULL\n)";

/* The table that is being filled. */
struct chktables {
    struct store_tables base;
    const struct chkdb *db;
    struct arena *arena;
    uint32_t number; /* 0: none yet */
    const char *uid, *name, *table, *signature, *definition;
    uint32_t columns;
    uint64_t entries;
    struct digest digest;
    sqlite3_stmt *insert;
    struct sr_out row; /* of digests */
};

/* --- Digests ---------------------------------------------------------------------------------- */

/* Each row's digest covers that of the row before. */
static void chktables_roll(struct digest *d, struct sr_out *row)
{
    (void)(bytes_put_u64(row, d->low) && bytes_put_u64(row, d->high)); /* room is there: see put */
    *d = digest_of(row->data, row->len);
}

/* Columns of the catalog but the last. False: out of memory. */
static bool chktables_check(sqlite3_stmt *st, int from, int columns, char out[33])
{
    struct sr_out all = bytes_out();
    bool is_ok = true;
    for (int i = from; is_ok && i < from + columns; i++) {
        const void *text = sqlite3_column_text(st, i);
        is_ok = bytes_put_blob(&all, text ? text : "", (uint32_t)sqlite3_column_bytes(st, i));
    }
    if (is_ok) digest_text(digest_of(all.data, all.len), out);
    bytes_free(&all);
    return is_ok;
}

static sr_rc chktables_no_memory(const struct chkdb *c, struct sr_error *err)
{
    return error_set(err, SR_ENOMEM, "tables of %s: out of memory", c->file);
}

/* --- Names ------------------------------------------------------------------------------------ */

/* "state_counts_groups", also for "groups of TUMBLE(...)": letters, digits and underscores only.
 * NULL: out of memory. */
static const char *chktables_name(struct arena *a, const char *uid, const char *name)
{
    size_t word = strcspn(name, " ");
    char *text = arena_printf(a, "state_%.90s_%.*s", uid, word < 90 ? (int)word : 90, name);
    for (char *c = text; c && *c; c++) {
        if (!isalnum((unsigned char)*c)) *c = '_';
    }
    return text;
}

/* Is there something of that name already? */
static sr_rc chktables_is_taken(const struct chkdb *c, const char *name, bool *is_taken,
                                struct sr_error *err)
{
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "SELECT count(*) FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE",
                             &st, err);
    if (rc == SR_OK && (!chkdb_bind_text(st, 1, name) || sqlite3_step(st) != SQLITE_ROW)) {
        rc = chkdb_fail(c, "read", err);
    }
    if (rc == SR_OK) *is_taken = sqlite3_column_int(st, 0) != 0;
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

/* A name between quotes, which are doubled in it. */
static const char *chktables_quote(struct arena *a, const char *name)
{
    char *out = arena_get(a, 2 * CHKTABLES_NAME_MAX + 3);
    char *at = out;
    if (!out) return NULL;
    *at++ = '"';
    for (uint32_t i = 0; name[i] && i < CHKTABLES_NAME_MAX; i++) {
        if (name[i] == '"') *at++ = '"';
        *at++ = name[i];
    }
    *at++ = '"';
    *at = '\0';
    return out;
}

/* A column whose name stands before it, whatever the case of its letters, gets a number. */
static const char *chktables_column(struct arena *a, const struct store_table *t, uint32_t c)
{
    uint32_t same = 1;
    for (uint32_t i = 0; i < c; i++) {
        same += sqlite3_stricmp(t->column[i].name, t->column[c].name) == 0 ? 1 : 0;
    }
    const char *name =
        same == 1 ? t->column[c].name : arena_printf(a, "%s_%" PRIu32, t->column[c].name, same);
    const char *quoted = name ? chktables_quote(a, name) : NULL;
    return quoted ? arena_printf(a, "%s\n  %s %s", c > 0 ? "," : "", quoted, t->column[c].type)
                  : NULL;
}

static const char *chktables_define(struct arena *a, const struct store_table *t, const char *table)
{
    const char *sql = arena_printf(a, "CREATE TABLE %s(", table);
    for (uint32_t c = 0; sql && c < t->columns; c++) {
        const char *column = chktables_column(a, t, c);
        sql = column ? arena_printf(a, "%s%s", sql, column) : NULL;
    }
    return sql ? arena_printf(a, "%s\n)", sql) : NULL;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static sr_rc chktables_end(struct chktables *t, struct sr_error *err)
{
    char digest[33], check[33];
    sqlite3_stmt *st = NULL;
    (void)sqlite3_finalize(t->insert); /* told by step */
    t->insert = NULL;
    if (t->number == 0) return SR_OK;
    digest_text(t->digest, digest);
    /* The check is computed over the row as SQLite reads it. */
    sr_rc rc = chkdb_prepare(t->db, "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8", &st, err);
    bool is_bound = rc == SR_OK && chkdb_bind_number(st, 1, t->number) &&
                    chkdb_bind_text(st, 2, t->uid) && chkdb_bind_text(st, 3, t->name) &&
                    chkdb_bind_text(st, 4, t->table) && chkdb_bind_number(st, 5, t->entries) &&
                    chkdb_bind_text(st, 6, t->signature) && chkdb_bind_text(st, 7, t->definition) &&
                    chkdb_bind_text(st, 8, digest);
    if (rc == SR_OK && (!is_bound || sqlite3_step(st) != SQLITE_ROW)) {
        rc = chkdb_fail(t->db, "write", err);
    }
    if (rc == SR_OK && !chktables_check(st, 0, 8, check)) rc = chktables_no_memory(t->db, err);
    (void)sqlite3_finalize(st); /* told by step */
    st = NULL;
    if (rc == SR_OK) {
        rc = chkdb_prepare(t->db, "INSERT INTO state VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)", &st, err);
    }
    is_bound = rc == SR_OK && chkdb_bind_number(st, 1, t->number) &&
               chkdb_bind_text(st, 2, t->uid) && chkdb_bind_text(st, 3, t->name) &&
               chkdb_bind_text(st, 4, t->table) && chkdb_bind_number(st, 5, t->entries) &&
               chkdb_bind_text(st, 6, t->signature) && chkdb_bind_text(st, 7, t->definition) &&
               chkdb_bind_text(st, 8, digest) && chkdb_bind_text(st, 9, check);
    if (rc == SR_OK && (!is_bound || sqlite3_step(st) != SQLITE_DONE)) {
        rc = chkdb_fail(t->db, "write", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static sr_rc chktables_insert(struct chktables *t, struct sr_error *err)
{
    const char *marks = "?1";
    for (uint32_t c = 1; marks && c < t->columns; c++) {
        marks = arena_printf(t->arena, "%s,?%" PRIu32, marks, c + 1);
    }
    const char *sql =
        marks ? arena_printf(t->arena, "INSERT INTO %s VALUES(%s)", t->table, marks) : NULL;
    return sql ? chkdb_prepare(t->db, sql, &t->insert, err) : chktables_no_memory(t->db, err);
}

static sr_rc chktables_begin(struct store_tables *base, const struct store_table *table,
                             struct sr_error *err)
{
    struct chktables *t = (struct chktables *)(void *)base;
    sr_rc rc = chktables_end(t, err);
    if (rc != SR_OK) return rc;
    bool is_taken = true;
    const char *plain = chktables_name(t->arena, table->uid, table->name);
    const char *name = plain;
    for (uint32_t more = 2; rc == SR_OK && name && is_taken; more++) {
        rc = chktables_is_taken(t->db, name, &is_taken, err);
        if (rc == SR_OK && is_taken) name = arena_printf(t->arena, "%s_%" PRIu32, plain, more);
    }
    t->number++;
    t->uid = arena_text(t->arena, table->uid);
    t->name = arena_text(t->arena, table->name);
    t->signature = arena_text(t->arena, table->signature);
    t->table = name;
    t->definition = name ? chktables_define(t->arena, table, name) : NULL;
    t->columns = table->columns;
    t->entries = 0;
    t->digest = digest_of("", 0);
    if (rc == SR_OK && (arena_is_broken(t->arena) || !t->definition)) {
        rc = chktables_no_memory(t->db, err);
    }
    if (rc == SR_OK) rc = chkdb_exec(t->db, t->definition, err);
    return rc == SR_OK ? chktables_insert(t, err) : rc;
}

static bool chktables_bind(sqlite3_stmt *st, int at, const struct store_value *v)
{
    const void *bytes = v->bytes.data ? v->bytes.data : "";
    switch (v->kind) {
    case STORE_NULL:
        return sqlite3_bind_null(st, at) == SQLITE_OK;
    case STORE_INTEGER:
        return sqlite3_bind_int64(st, at, v->integer) == SQLITE_OK;
    case STORE_REAL:
        return sqlite3_bind_double(st, at, v->real) == SQLITE_OK;
    case STORE_TEXT:
        return sqlite3_bind_text64(st, at, bytes, v->bytes.len, SQLITE_STATIC, SQLITE_UTF8) ==
               SQLITE_OK;
    case STORE_BLOB:
        return sqlite3_bind_blob64(st, at, bytes, v->bytes.len, SQLITE_STATIC) == SQLITE_OK;
    }
    return false;
}

static bool chktables_put(struct sr_out *o, const struct store_value *v)
{
    uint64_t bits = (uint64_t)v->integer;
    if (v->kind == STORE_REAL) memcpy(&bits, &v->real, sizeof(bits));
    if (!bytes_put_u8(o, (uint8_t)v->kind)) return false;
    if (v->kind == STORE_NULL) return true;
    bool is_number = v->kind == STORE_INTEGER || v->kind == STORE_REAL;
    return is_number ? bytes_put_u64(o, bits) : bytes_put_blob(o, v->bytes.data, v->bytes.len);
}

static sr_rc chktables_row(struct store_tables *base, const struct store_value *value,
                           struct sr_error *err)
{
    struct chktables *t = (struct chktables *)(void *)base;
    t->row.len = 0;
    for (uint32_t c = 0; c < t->columns; c++) {
        if (!chktables_put(&t->row, &value[c])) return chktables_no_memory(t->db, err);
        if (!chktables_bind(t->insert, (int)c + 1, &value[c])) {
            return chkdb_fail(t->db, "write", err);
        }
    }
    if (sqlite3_step(t->insert) != SQLITE_DONE || sqlite3_reset(t->insert) != SQLITE_OK) {
        return chkdb_fail(t->db, "write", err);
    }
    chktables_roll(&t->digest, &t->row);
    t->entries++;
    return SR_OK;
}

sr_rc chktables_write(const struct chkdb *c, const struct store_filler *filler,
                      const struct manifest *m, struct sr_error *err)
{
    struct chktables t = {.base = {.begin = chktables_begin, .row = chktables_row},
                          .db = c,
                          .arena = arena_new(),
                          .row = bytes_out()};
    sr_rc rc = t.arena ? chkdb_exec(c, chktables_catalog, err) : chktables_no_memory(c, err);
    if (rc == SR_OK) rc = filler->fill(filler->ctx, m, &t.base, err);
    if (rc == SR_OK) rc = chktables_end(&t, err);
    (void)sqlite3_finalize(t.insert); /* told by step */
    bytes_free(&t.row);
    arena_free(t.arena);
    return rc;
}

/* --- Checking --------------------------------------------------------------------------------- */

sr_rc chktables_check_definition(const struct chkdb *c, size_t i, const char *sql,
                                 struct sr_error *err)
{
    if (i == 0) {
        return strcmp(sql, chktables_catalog) == 0
                   ? SR_OK
                   : chkdb_corrupt(c, "its tables are not those of a checkpoint store", err);
    }
    sqlite3_stmt *st = NULL;
    sr_rc rc = chkdb_prepare(c, "SELECT count(*) FROM state WHERE definition IS ?1", &st, err);
    if (rc == SR_OK && (!chkdb_bind_text(st, 1, sql) || sqlite3_step(st) != SQLITE_ROW)) {
        rc = chkdb_fail(c, "read", err);
    }
    if (rc == SR_OK && sqlite3_column_int(st, 0) != 1) {
        rc = chkdb_corrupt(c, "a table is none of those that it was written with", err);
    }
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}

static struct store_value chktables_get(sqlite3_stmt *st, int at)
{
    struct store_value v = {.kind = STORE_NULL};
    switch (sqlite3_column_type(st, at)) {
    case SQLITE_INTEGER:
        v.kind = STORE_INTEGER;
        v.integer = sqlite3_column_int64(st, at);
        break;
    case SQLITE_FLOAT:
        v.kind = STORE_REAL;
        v.real = sqlite3_column_double(st, at);
        break;
    case SQLITE_TEXT:
        v.kind = STORE_TEXT;
        v.bytes.data = sqlite3_column_text(st, at);
        v.bytes.len = (uint32_t)sqlite3_column_bytes(st, at);
        break;
    case SQLITE_BLOB:
        v.kind = STORE_BLOB;
        v.bytes.data = sqlite3_column_blob(st, at);
        v.bytes.len = (uint32_t)sqlite3_column_bytes(st, at);
        break;
    default:
        break;
    }
    return v;
}

/* The digest of all rows of a table, and how many there are. */
static sr_rc chktables_read(const struct chkdb *c, const char *table, uint64_t *entries,
                            char digest[33], struct sr_error *err)
{
    struct arena *a = arena_new();
    struct sr_out row = bytes_out();
    struct digest d = digest_of("", 0);
    sqlite3_stmt *st = NULL;
    const char *sql = a ? arena_printf(a, "SELECT * FROM %s ORDER BY rowid", table) : NULL;
    sr_rc rc = sql ? chkdb_prepare(c, sql, &st, err) : chktables_no_memory(c, err);
    int step = rc == SR_OK ? sqlite3_step(st) : SQLITE_DONE;
    *entries = 0;
    for (; rc == SR_OK && step == SQLITE_ROW; step = sqlite3_step(st)) {
        row.len = 0;
        for (int i = 0; rc == SR_OK && i < sqlite3_column_count(st); i++) {
            struct store_value v = chktables_get(st, i);
            rc = chktables_put(&row, &v) ? SR_OK : chktables_no_memory(c, err);
        }
        chktables_roll(&d, &row);
        (*entries)++;
    }
    if (rc == SR_OK && step != SQLITE_DONE) rc = chkdb_fail(c, "read", err);
    digest_text(d, digest);
    (void)sqlite3_finalize(st); /* told by step */
    bytes_free(&row);
    arena_free(a);
    return rc;
}

/* Only names that chktables_name makes are put into a statement. */
static bool chktables_is_name(const char *name)
{
    size_t len = strlen(name);
    return len > 6 && strncmp(name, "state_", 6) == 0 &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static sr_rc chktables_verify_row(const struct chkdb *c, sqlite3_stmt *st, struct sr_error *err)
{
    char check[33], digest[33];
    uint64_t entries = 0;
    const char *told_check = (const char *)sqlite3_column_text(st, 8);
    if (!chktables_check(st, 0, 8, check)) return chktables_no_memory(c, err);
    const char *table = (const char *)sqlite3_column_text(st, 3);
    if (!told_check || strcmp(told_check, check) != 0 || !table || !chktables_is_name(table)) {
        return chkdb_corrupt(c, "a row of table state does not match its digest", err);
    }
    sr_rc rc = chktables_read(c, table, &entries, digest, err);
    if (rc != SR_OK) return rc;
    const char *told = (const char *)sqlite3_column_text(st, 7);
    if ((uint64_t)sqlite3_column_int64(st, 4) != entries || !told || strcmp(told, digest) != 0) {
        return error_set(err, SR_ECORRUPT, "%s: damaged: table %s does not match its digest",
                         c->file, table);
    }
    return SR_OK;
}

sr_rc chktables_verify(const struct chkdb *c, struct sr_error *err)
{
    bool has_any = false;
    sqlite3_stmt *st = NULL;
    sr_rc rc = chktables_is_taken(c, "state", &has_any, err);
    if (rc != SR_OK || !has_any) return rc;
    rc = chkdb_prepare(c, "SELECT * FROM state ORDER BY number", &st, err);
    int step = rc == SR_OK ? sqlite3_step(st) : SQLITE_DONE;
    for (; rc == SR_OK && step == SQLITE_ROW; step = sqlite3_step(st)) {
        rc = chktables_verify_row(c, st, err);
        if (rc != SR_OK) break;
    }
    if (rc == SR_OK && step != SQLITE_DONE) rc = chkdb_fail(c, "read", err);
    (void)sqlite3_finalize(st); /* told by step */
    return rc;
}
