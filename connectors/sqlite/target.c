#include "connectors/sqlite/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "connectors/common/note.h"
#include "connectors/sqlite/base.h"
#include "connectors/sqlite/cell.h"
#include "connectors/text/json_put.h"

#define TARGET_OPEN_MS  2000       /* how long to wait for a lock: when the job starts */
#define TARGET_STORE_ID 0x53524350 /* "SRCP": the application_id of a checkpoint store */
#define TARGET_APPLY_MS 50         /* ... when a checkpoint is applied: the engine comes again */

/* --- Faults ---------------------------------------------------------------------------------- */

static sr_rc target_fail(struct target *t, const char *doing, struct sr_error *err)
{
    int code = t->db ? sqlite3_extended_errcode(t->db) : SQLITE_NOMEM;
    const char *words = t->db ? sqlite3_errmsg(t->db) : "out of memory";
    return t->host->fail(t->host, err, base_rc(code), "%s: cannot %s: %s", t->path, doing, words);
}

static sr_rc target_exec(struct target *t, const char *sql, const char *doing, struct sr_error *err)
{
    int code = sqlite3_exec(t->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? SR_OK : target_fail(t, doing, err);
}

static sr_rc target_prepare(struct target *t, const char *sql, sqlite3_stmt **out,
                            const char *doing, struct sr_error *err)
{
    int code = sqlite3_prepare_v3(t->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? SR_OK : target_fail(t, doing, err);
}

/* --- Statements ------------------------------------------------------------------------------ */

static bool target_is_key(const struct sr_schema *s, uint32_t field)
{
    for (uint32_t i = 0; i < s->keys; i++) {
        if (s->key[i] == field) {
            return true;
        }
    }
    return false;
}

static void target_add_keys(const struct sr_schema *s, sqlite3_str *sql)
{
    for (uint32_t i = 0; i < s->keys; i++) {
        sqlite3_str_appendf(sql, "%s\"%w\"", i > 0 ? ", " : "", s->field[s->key[i]].name);
    }
}

static char *target_create_sql(const struct target *t)
{
    const struct sr_schema *s = t->schema;
    sqlite3_str *sql = sqlite3_str_new(t->db);
    sqlite3_str_appendf(sql, "CREATE TABLE IF NOT EXISTS \"%w\" (", t->table);
    for (uint32_t i = 0; i < s->fields; i++) {
        sqlite3_str_appendf(sql, "%s\"%w\" %s%s", i > 0 ? ", " : "", s->field[i].name,
                            cell_declared(&s->field[i].type),
                            target_is_key(s, i) ? " NOT NULL" : "");
    }
    if (s->keys > 0) {
        sqlite3_str_appendall(sql, ", PRIMARY KEY (");
        target_add_keys(s, sql);
        sqlite3_str_appendall(sql, ")");
    }
    sqlite3_str_appendall(sql, ")");
    return sqlite3_str_finish(sql);
}

static char *target_insert_sql(const struct target *t)
{
    const struct sr_schema *s = t->schema;
    sqlite3_str *sql = sqlite3_str_new(t->db);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" (", t->table);
    for (uint32_t i = 0; i < s->fields; i++) {
        sqlite3_str_appendf(sql, "%s\"%w\"", i > 0 ? ", " : "", s->field[i].name);
    }
    sqlite3_str_appendall(sql, ") VALUES (");
    for (uint32_t i = 0; i < s->fields; i++) {
        sqlite3_str_appendf(sql, "%s?%u", i > 0 ? ", " : "", i + 1);
    }
    sqlite3_str_appendall(sql, ")");
    if (s->keys > 0) {
        sqlite3_str_appendall(sql, " ON CONFLICT (");
        target_add_keys(s, sql);
        sqlite3_str_appendall(sql, s->keys < s->fields ? ") DO UPDATE SET " : ") DO NOTHING");
        const char *comma = "";
        for (uint32_t i = 0; i < s->fields; i++) {
            if (!target_is_key(s, i)) {
                const char *name = s->field[i].name;
                sqlite3_str_appendf(sql, "%s\"%w\" = excluded.\"%w\"", comma, name, name);
                comma = ", ";
            }
        }
    }
    return sqlite3_str_finish(sql);
}

static char *target_delete_sql(const struct target *t)
{
    const struct sr_schema *s = t->schema;
    sqlite3_str *sql = sqlite3_str_new(t->db);
    sqlite3_str_appendf(sql, "DELETE FROM \"%w\" WHERE ", t->table);
    for (uint32_t i = 0; i < s->keys; i++) {
        sqlite3_str_appendf(sql, "%s\"%w\" = ?%u", i > 0 ? " AND " : "", s->field[s->key[i]].name,
                            i + 1);
    }
    return sqlite3_str_finish(sql);
}

static sr_rc target_prepare_text(struct target *t, char *sql, sqlite3_stmt **out,
                                 struct sr_error *err)
{
    if (!sql) {
        return t->host->fail(t->host, err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = target_prepare(t, sql, out, "write to the table", err);
    sqlite3_free(sql);
    return rc;
}

/* --- Does the table fit? --------------------------------------------------------------------- */

sr_rc target_check(const struct sr_schema *schema, const char *table, struct sr_error *err)
{
    const char *words = NULL;
    const char *name = "";
    if (table[0] == 0 || strcasecmp(table, TARGET_MARKS) == 0 ||
        strncasecmp(table, "sqlite_", 7) == 0) {
        words = "is no name for the table of rows";
        name = table;
    }
    for (uint32_t i = 0; i < schema->fields; i++) {
        if (!cell_declared(&schema->field[i].type)) {
            words = "has a type that SQLite cannot keep: CAST it, to STRING for example";
            name = schema->field[i].name;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcasecmp(schema->field[i].name, schema->field[j].name) == 0) {
                words = "stands twice: in SQLite the case of names does not count";
                name = schema->field[i].name;
            }
        }
    }
    for (uint32_t i = 0; i < schema->keys; i++) {
        const struct sr_field *key = &schema->field[schema->key[i]];
        if (sr_is_nested(key->type.kind)) {
            words = "cannot be a key: it is a ROW, an ARRAY, a MAP or a MULTISET";
            name = key->name;
        }
    }
    if (!words) {
        return node_check_schema(schema, true, "SQLite", err);
    }
    err->rc = SR_ECONFIG;
    sqlite3_snprintf((int)sizeof(err->words), err->words, "'%s' %s", name, words);
    return SR_ECONFIG;
}

/* One column of the table that is there, or -1: is it a column of the schema? */
static int32_t target_field(const struct sr_schema *s, const char *name)
{
    for (uint32_t i = 0; i < s->fields; i++) {
        if (strcasecmp(s->field[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* Looks at the column in `info`; what is wrong with it is added to `faults`. */
static void target_check_column(const struct target *t, sqlite3_stmt *info, bool *is_there,
                                sqlite3_str *faults)
{
    const char *name = (const char *)sqlite3_column_text(info, 0);
    const char *declared = (const char *)sqlite3_column_text(info, 1);
    bool needs_value = sqlite3_column_int(info, 2) != 0 && sqlite3_column_int(info, 3) != 0;
    if (!name) {
        return;
    }
    int32_t field = target_field(t->schema, name);
    if (field < 0) {
        if (needs_value) {
            sqlite3_str_appendf(faults, "; column %s is NOT NULL, and the job does not fill it",
                                name);
        }
        return;
    }
    is_there[field] = true;
    const struct sr_type *type = &t->schema->field[field].type;
    if (!cell_fits(type, cell_affinity(declared ? declared : ""))) {
        sqlite3_str_appendf(faults, "; column %s is declared %s, but its values need %s", name,
                            declared ? declared : "", cell_declared(type));
    }
}

static sr_rc target_check_table(struct target *t, struct sr_error *err)
{
    sqlite3_stmt *info = NULL;
    sr_rc rc = target_prepare(t,
                              "SELECT name, type, \"notnull\", dflt_value IS NULL FROM "
                              "pragma_table_info(?1)",
                              &info, "look at the table", err);
    if (rc != SR_OK) {
        return rc;
    }
    bool *is_there = calloc(t->schema->fields, sizeof(*is_there));
    sqlite3_str *faults = sqlite3_str_new(t->db);
    int code = is_there ? sqlite3_bind_text(info, 1, t->table, -1, SQLITE_STATIC) : SQLITE_NOMEM;
    uint32_t columns = 0;
    while (code == SQLITE_OK && (code = sqlite3_step(info)) == SQLITE_ROW) {
        target_check_column(t, info, is_there, faults);
        columns++;
        code = SQLITE_OK;
    }
    for (uint32_t i = 0; code == SQLITE_DONE && columns > 0 && i < t->schema->fields; i++) {
        if (!is_there[i]) {
            sqlite3_str_appendf(faults, "; there is no column %s", t->schema->field[i].name);
        }
    }
    char *words = sqlite3_str_finish(faults);
    if (code != SQLITE_DONE) {
        rc = is_there ? target_fail(t, "look at the table", err)
                      : t->host->fail(t->host, err, SR_ENOMEM, "out of memory");
    } else if (columns == 0) {
        rc = t->host->fail(t->host, err, SR_EABSENT,
                           "%s has no table %s, and table.create is false", t->path, t->table);
    } else if (words) {
        rc = t->host->fail(t->host, err, SR_EMISFIT, "%s: table %s does not fit the rows: %s",
                           t->path, t->table, words + 2);
    }
    sqlite3_free(words);
    free(is_there);
    (void)sqlite3_finalize(info); /* its error was seen above */
    return rc;
}

/* --- Open ------------------------------------------------------------------------------------ */

/* A checkpoint store holds its own tables and no others, or it counts as damaged. */
static sr_rc target_refuse_store(struct target *t, struct sr_error *err)
{
    sqlite3_stmt *s = NULL;
    sr_rc rc = target_prepare(t, "PRAGMA application_id", &s, "read the database", err);
    int code = rc == SR_OK ? sqlite3_step(s) : SQLITE_DONE;
    if (rc == SR_OK && code != SQLITE_ROW) {
        rc = target_fail(t, "read the database", err);
    }
    if (rc == SR_OK && sqlite3_column_int(s, 0) == TARGET_STORE_ID) {
        rc = t->host->fail(t->host, err, SR_ECONFIG,
                           "%s keeps checkpoints: rows need a database of their own", t->path);
    }
    (void)sqlite3_finalize(s); /* its error was seen above */
    return rc;
}

static const char target_marks_sql[] =
    "CREATE TABLE IF NOT EXISTS " TARGET_MARKS
    " (job TEXT NOT NULL, sink TEXT NOT NULL, writer TEXT NOT NULL, part INTEGER NOT NULL,"
    " lineage INTEGER NOT NULL, attempt INTEGER NOT NULL, checkpoint INTEGER NOT NULL,"
    " rows INTEGER NOT NULL, PRIMARY KEY (job, sink, writer))";

/* A database that was just made must not lose its name in a power loss: whatever its journal mode
 * is, its directory is synced. */
static sr_rc target_sync_name(const struct target *t, struct sr_error *err)
{
    const char *slash = strrchr(t->path, '/');
    char dir[4096];
    size_t len = slash && slash > t->path ? (size_t)(slash - t->path) : 1;
    if (!slash || len >= sizeof(dir))
        return SR_OK; /* SQLite opened it: its path is absolute and short */
    memcpy(dir, t->path, len);
    dir[len] = '\0';
    return t->host->files->sync_dir(t->host->files, dir, err);
}

static sr_rc target_make_tables(struct target *t, bool may_create, struct sr_error *err)
{
    sr_rc rc = target_exec(t, target_marks_sql, "make table " TARGET_MARKS, err);
    if (rc != SR_OK || !may_create) {
        return rc;
    }
    char *sql = target_create_sql(t);
    if (!sql) {
        return t->host->fail(t->host, err, SR_ENOMEM, "out of memory");
    }
    rc = target_exec(t, sql, "make the table", err);
    sqlite3_free(sql);
    return rc == SR_OK ? target_sync_name(t, err) : rc;
}

/* SR_EABSENT: the table is not there. */
static sr_rc target_has_table(struct target *t, struct sr_error *err)
{
    sqlite3_stmt *s = NULL;
    sr_rc rc = target_prepare(t, "SELECT 1 FROM sqlite_schema WHERE name = ?1", &s,
                              "look at the database", err);
    if (rc != SR_OK) {
        return rc;
    }
    int code = sqlite3_bind_text(s, 1, t->table, -1, SQLITE_STATIC);
    code = code == SQLITE_OK ? sqlite3_step(s) : code;
    rc = code == SQLITE_ROW    ? SR_OK
         : code == SQLITE_DONE ? SR_EABSENT
                               : target_fail(t, "look at the database", err);
    (void)sqlite3_finalize(s); /* its error was seen above */
    return rc;
}

sr_rc target_look(struct target *t, bool may_create, struct sr_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(t->path, &t->db, flags, t->host->sqlite_vfs) != SQLITE_OK) {
        return target_fail(t, "open the database", err);
    }
    (void)sqlite3_busy_timeout(t->db, TARGET_OPEN_MS);
    sr_rc rc = target_refuse_store(t, err);
    rc = rc == SR_OK ? target_has_table(t, err) : rc;
    if (rc == SR_EABSENT && may_create) {
        return SR_OK;
    }
    return rc == SR_OK || rc == SR_EABSENT ? target_check_table(t, err) : rc;
}

sr_rc target_open(struct target *t, bool may_create, struct sr_error *err)
{
    uint32_t nodes = 0;
    t->json = t->node ? t->json : note_out();
    t->node = t->node ? t->node : node_new(t->schema, MOMENT_SPACE, MOMENT_SPACE, &nodes);
    if (!t->node) {
        return t->host->fail(t->host, err, SR_ENOMEM, "out of memory");
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(t->path, &t->db, flags, t->host->sqlite_vfs);
    if (code == SQLITE_CANTOPEN) {
        return t->host->fail(t->host, err, SR_EACCESS,
                             "cannot open or make the database %s: is its directory there, and may "
                             "it be written to?",
                             t->path);
    }
    if (code != SQLITE_OK) {
        return target_fail(t, "open the database", err);
    }
    (void)sqlite3_busy_timeout(t->db, TARGET_OPEN_MS);
    sr_rc rc = target_refuse_store(t, err);
    if (rc != SR_OK) {
        return rc;
    }
    /* The journal mode stays as the database's owner set it; what we commit survives power loss. */
    /* EXTRA also syncs the directory once the journal is deleted: with FULL a power loss can bring
     * the journal back, and SQLite would roll back a commit that it had confirmed. */
    rc = target_exec(t, "PRAGMA synchronous = EXTRA", "set synchronous", err);
#ifdef MUTANT_TARGET_FULL /* SQLite's own default: the last commit may come undone */
    rc = target_exec(t, "PRAGMA synchronous = FULL", "set synchronous", err);
#endif
    if (rc == SR_OK) {
        rc = target_make_tables(t, may_create, err);
    }
    if (rc == SR_OK) {
        rc = target_check_table(t, err);
    }
    if (rc == SR_OK) {
        rc = target_prepare_text(t, target_insert_sql(t), &t->insert, err);
    }
    if (rc == SR_OK && t->schema->keys > 0) {
        rc = target_prepare_text(t, target_delete_sql(t), &t->delete, err);
    }
    (void)sqlite3_busy_timeout(t->db, TARGET_APPLY_MS);
    return rc;
}

void target_close(struct target *t)
{
    (void)sqlite3_finalize(t->insert);
    (void)sqlite3_finalize(t->delete);
    (void)sqlite3_close(t->db); /* no statement is left */
    free(t->node);
    note_free(&t->json);
    t->insert = t->delete = NULL;
    t->db = NULL;
    t->node = NULL;
}

/* --- Apply ----------------------------------------------------------------------------------- */

static sr_rc target_step(struct target *t, sqlite3_stmt *s, int bound, uint64_t row,
                         struct sr_error *err)
{
    int code = bound == SQLITE_OK ? sqlite3_step(s) : bound;
    sr_rc rc = SR_OK;
    if (code != SQLITE_DONE) {
        rc = t->host->fail(t->host, err, base_rc(code), "%s: row %llu cannot be written to %s: %s",
                           t->path, (unsigned long long)row, t->table,
                           bound == SQLITE_OK ? sqlite3_errmsg(t->db) : sqlite3_errstr(bound));
    }
    (void)sqlite3_reset(s); /* repeats the code of step */
    return rc;
}

/* A value of column `col` to place `at` of a statement; what is nested, and a VARIANT, as JSON. */
static int target_bind(struct target *t, sqlite3_stmt *s, int at, uint32_t col,
                       const struct sr_column *c, uint32_t r)
{
    bool is_json = sr_is_nested(c->type.kind) || c->type.kind == SR_VARIANT;
    if (!is_json || !sr_is_valid(c, r)) {
        return cell_bind(s, at, c, r);
    }
    static const struct json_put how = {
        .decimal = VALUE_DECIMAL_PLAIN, .null_key = JSON_PUT_KEY_LITERAL, .null_literal = "null"};
    t->json.len = 0;
    if (json_put_any(&how, &t->node[col], c, r, &t->json) != JSON_PUT_OK) {
        return SQLITE_NOMEM;
    }
    return t->json.len > INT32_MAX ? SQLITE_TOOBIG
                                   : sqlite3_bind_text(s, at, (const char *)t->json.data,
                                                       (int)t->json.len, SQLITE_TRANSIENT);
}

static sr_rc target_insert(struct target *t, const struct sr_view *v, uint32_t r, uint64_t row,
                           struct sr_error *err)
{
    int code = SQLITE_OK;
    for (uint32_t c = 0; code == SQLITE_OK && c < v->cols; c++) {
        code = target_bind(t, t->insert, (int)c + 1, c, v->col[c], r);
    }
    return target_step(t, t->insert, code, row, err);
}

static sr_rc target_delete(struct target *t, const struct sr_view *v, uint32_t r, uint64_t row,
                           struct sr_error *err)
{
    int code = t->delete ? SQLITE_OK : SQLITE_MISUSE;
    for (uint32_t i = 0; code == SQLITE_OK && i < t->schema->keys; i++) {
        uint32_t c = t->schema->key[i];
        code = target_bind(t, t->delete, (int)i + 1, c, v->col[c], r);
    }
    return target_step(t, t->delete, code, row, err);
}

/* Is live row i a -U whose +U with the same key follows at once? Then that one alone does it. */
static bool target_is_replaced(const struct target *t, const struct sr_view *v, uint32_t i)
{
    if (i + 1 >= v->picked) {
        return false;
    }
    uint32_t r = sr_row(v, i), next = sr_row(v, i + 1);
    bool is_pair = sr_change_of(v, next) == SR_UPDATE_AFTER;
    for (uint32_t k = 0; is_pair && k < t->schema->keys; k++) {
        is_pair = cell_equal(v->col[t->schema->key[k]], r, next);
    }
    return is_pair;
}

static sr_rc target_apply_view(struct target *t, const struct sr_view *v, uint64_t *row,
                               struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < v->picked; i++) {
        uint32_t r = sr_row(v, i);
        (*row)++;
        switch (sr_change_of(v, r)) {
        case SR_INSERT:
        case SR_UPDATE_AFTER:
            rc = target_insert(t, v, r, *row, err);
            break;
        case SR_UPDATE_BEFORE:
            rc = target_is_replaced(t, v, i) ? SR_OK : target_delete(t, v, r, *row, err);
            break;
        case SR_DELETE:
            rc = target_delete(t, v, r, *row, err);
            break;
        }
    }
    return rc;
}

static sr_rc target_apply_rows(struct target *t, const struct redo_mark *mark, struct sr_error *err)
{
    struct redo_reader reader;
    sr_rc rc = redo_read_open(&reader, t->host, mark, err);
    if (rc == SR_EABSENT) {
        rc = t->host->fail(t->host, err, SR_ECORRUPT,
                           "the redo file %s is gone, and %s does not hold checkpoint %llu of it: "
                           "%llu rows are lost, unless the database is an older copy",
                           mark->path, t->path, (unsigned long long)mark->checkpoint,
                           (unsigned long long)mark->rows);
    }
    uint64_t row = 0;
    struct sr_view *v = NULL;
    while (rc == SR_OK && (rc = redo_read(&reader, t->schema, &v, err)) == SR_OK && v) {
        rc = target_apply_view(t, v, &row, err);
        t->host->view_release(v);
        v = NULL;
    }
    if (rc == SR_OK && row != mark->rows) {
        rc = t->host->fail(t->host, err, SR_ECORRUPT, "%s holds %llu rows instead of %llu",
                           mark->path, (unsigned long long)row, (unsigned long long)mark->rows);
    }
    redo_read_close(&reader);
    return rc;
}

/* *last: the newest checkpoint of the writer that the target holds; -1: none. */
static sr_rc target_last(struct target *t, const struct redo_mark *mark, int64_t *last,
                         struct sr_error *err)
{
    sqlite3_stmt *s = NULL;
    sr_rc rc = target_prepare(
        t, "SELECT checkpoint FROM " TARGET_MARKS " WHERE job = ?1 AND sink = ?2 AND writer = ?3",
        &s, "read " TARGET_MARKS, err);
    if (rc != SR_OK) {
        return rc;
    }
    (void)sqlite3_bind_text(s, 1, t->job, -1, SQLITE_STATIC); /* a failure shows in step's row */
    (void)sqlite3_bind_text(s, 2, t->sink, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 3, mark->writer, -1, SQLITE_STATIC);
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW) {
        *last = sqlite3_column_int64(s, 0);
    } else if (code == SQLITE_DONE) {
        *last = -1;
    } else {
        rc = target_fail(t, "read " TARGET_MARKS, err);
    }
    (void)sqlite3_finalize(s); /* its error was seen above */
    return rc;
}

sr_rc target_is_old(struct target *t, struct sr_error *err)
{
    sqlite3_stmt *s = NULL;
    sr_rc rc =
        target_prepare(t, "SELECT 1 FROM " TARGET_MARKS " WHERE job = ?1 AND sink = ?2 LIMIT 1", &s,
                       "read " TARGET_MARKS, err);
    if (rc != SR_OK) {
        return rc;
    }
    (void)sqlite3_bind_text(s, 1, t->job, -1, SQLITE_STATIC); /* a failure shows in step's row */
    (void)sqlite3_bind_text(s, 2, t->sink, -1, SQLITE_STATIC);
    int code = sqlite3_step(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        rc = target_fail(t, "read " TARGET_MARKS, err);
    } else if (code == SQLITE_DONE) {
        rc = t->host->fail(t->host, err, SR_EFINAL,
                           "%s holds nothing of this sink, although the checkpoint knows of rows "
                           "that were committed there: was it moved, or removed? Put it back, or "
                           "begin again with --fresh",
                           t->path);
    }
    (void)sqlite3_finalize(s); /* its error was seen above */
    return rc;
}

static sr_rc target_run(struct target *t, const char *sql, const struct redo_mark *mark,
                        struct sr_error *err)
{
    sqlite3_stmt *s = NULL;
    sr_rc rc = target_prepare(t, sql, &s, "write " TARGET_MARKS, err);
    if (rc != SR_OK) {
        return rc;
    }
    const int64_t number[] = {mark->part, (int64_t)mark->lineage, (int64_t)mark->attempt,
                              (int64_t)mark->checkpoint, (int64_t)mark->rows};
    int code = sqlite3_bind_text(s, 1, t->job, -1, SQLITE_STATIC);
    code = code == SQLITE_OK ? sqlite3_bind_text(s, 2, t->sink, -1, SQLITE_STATIC) : code;
    int count = sqlite3_bind_parameter_count(s);
    if (code == SQLITE_OK && count > 2) {
        code = sqlite3_bind_text(s, 3, mark->writer, -1, SQLITE_STATIC);
    }
    for (int i = 4; code == SQLITE_OK && i <= count; i++) {
        code = sqlite3_bind_int64(s, i, number[i - 4]);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
    }
    if (code != SQLITE_DONE) {
        rc = target_fail(t, "write " TARGET_MARKS, err);
    }
    (void)sqlite3_finalize(s); /* its error was seen above */
    return rc;
}

#define TARGET_TEXT_OF(x) TARGET_TEXT(x)
#define TARGET_TEXT(x)    #x

static sr_rc target_remember(struct target *t, const struct redo_mark *mark, bool is_new_writer,
                             struct sr_error *err)
{
    sr_rc rc = target_run(t,
                          "INSERT INTO " TARGET_MARKS
                          " (job, sink, writer, part, lineage, attempt, checkpoint, rows)"
                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                          " ON CONFLICT (job, sink, writer) DO UPDATE SET"
                          " checkpoint = excluded.checkpoint, rows = rows + excluded.rows",
                          mark, err);
    if (rc != SR_OK || !is_new_writer) {
        return rc;
    }
    return target_run(t,
                      "DELETE FROM " TARGET_MARKS " WHERE job = ?1 AND sink = ?2 AND rowid NOT IN"
                      " (SELECT rowid FROM " TARGET_MARKS
                      " WHERE job = ?1 AND sink = ?2 ORDER BY rowid DESC LIMIT " TARGET_TEXT_OF(
                          TARGET_MARKS_MAX) ")",
                      mark, err);
}

sr_rc target_apply(struct target *t, const struct redo_mark *mark, struct sr_error *err)
{
    sr_rc rc = target_exec(t, "BEGIN IMMEDIATE", "begin a transaction", err);
    if (rc != SR_OK) {
        return rc;
    }
    int64_t last = -1;
    rc = target_last(t, mark, &last, err);
    bool is_applied = rc == SR_OK && last >= 0 && (uint64_t)last >= mark->checkpoint;
#ifdef MUTANT_REDO_TWICE /* what was applied before a crash comes again */
    is_applied = false;
#endif
    if (rc == SR_OK && !is_applied) {
        rc = target_apply_rows(t, mark, err);
    }
    if (rc == SR_OK && !is_applied) {
        rc = target_remember(t, mark, last < 0, err);
    }
    if (rc == SR_OK) {
        rc = target_exec(t, "COMMIT", "commit", err);
    }
    if (rc != SR_OK && sqlite3_get_autocommit(t->db) == 0) {
        /* Whatever it answers: the connection holds nothing that was not committed. */
        (void)sqlite3_exec(t->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}
