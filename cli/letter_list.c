#include "cli/letter_list.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show.h"
#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

/* Columns of a letter as text, before they are understood. */
enum { TIME, STEP, SOURCE, SPLIT, OFFSET, LINE, ERROR, RAW, ATTEMPT, COLUMNS };
static const char *const letter_columns[COLUMNS] = {"time", "step",  "source", "split",  "offset",
                                                    "line", "error", "raw",    "attempt"};

static int64_t letter_number(const char *text) { return *text ? strtoll(text, NULL, 10) : -1; }

/* The key, and which of those that have it. */
static void letter_id(const struct cli *c, const struct letter_list *l, struct letter_row *r)
{
    uint32_t same = 0;
    for (uint32_t i = l->count; i-- > 0;) { /* the last ones are the likely ones */
        const struct letter_row *o = &l->item[i];
        if (l->count - i > 4096) break;
        if (strcmp(o->time, r->time) == 0 && strcmp(o->step, r->step) == 0 &&
            strcmp(o->split, r->split) == 0 && o->offset == r->offset) {
            same++;
        }
    }
    const char *key = arena_printf(c->arena, "%s\n%s\n%s\n%s\n%lld\n%u", r->time, r->step,
                                   r->source, r->split, (long long)r->offset, same);
    char text[33];
    digest_text(digest_of(key ? key : "", key ? strlen(key) : 0), text);
    memcpy(r->id, text, sizeof(r->id) - 1);
    r->id[sizeof(r->id) - 1] = '\0';
}

/* Texts of a letter, NULL where it has none. */
static sr_rc letter_add(const struct cli *c, struct letter_list *l, const char *const text[COLUMNS],
                        struct sr_error *err)
{
    const char *t[COLUMNS];
    if (l->count == l->capacity) {
        uint32_t more = l->capacity ? l->capacity * 2 : 64;
        struct letter_row *grown = arena_array(c->arena, more, sizeof(*grown));
        if (!grown) return error_set(err, SR_ENOMEM, "out of memory");
        if (l->count > 0) memcpy(grown, l->item, l->count * sizeof(*grown));
        l->item = grown;
        l->capacity = more;
    }
    for (int i = 0; i < COLUMNS; i++) {
        t[i] = arena_text(c->arena, text[i] ? text[i] : "");
        if (!t[i]) return error_set(err, SR_ENOMEM, "out of memory");
    }
    struct letter_row r = {.time = t[TIME],
                           .step = t[STEP],
                           .source = t[SOURCE],
                           .split = t[SPLIT],
                           .error = t[ERROR],
                           .offset = letter_number(t[OFFSET]),
                           .line = letter_number(t[LINE]),
                           .attempt = letter_number(t[ATTEMPT])};
    size_t len = strlen(t[RAW]);
    uint8_t *raw = text[RAW] ? arena_get(c->arena, len + 1) : NULL;
    if (raw && base64_read(t[RAW], len, raw, &r.raw_len)) r.raw = raw;
    if (raw && !r.raw) {
        return error_set(err, SR_EDATA, "the letter of %s, offset %lld: 'raw' is no base64",
                         r.split, (long long)r.offset);
    }
    letter_id(c, l, &r);
    l->item[l->count++] = r;
    return SR_OK;
}

/* --- JSON lines ------------------------------------------------------------------------------- */

static sr_rc letter_line(const struct cli *c, struct letter_list *l, const char *path,
                         uint64_t line, const char *text, struct sr_error *err)
{
    json_error_t why;
    const char *column[COLUMNS] = {NULL};
    char number[COLUMNS][24];
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(j)) {
        sr_rc rc = error_set(err, SR_EDATA, "%s:%llu: this is no dead letter: %s", path,
                             (unsigned long long)line, j ? "no JSON object" : why.text);
        json_decref(j);
        return rc;
    }
    for (int i = 0; i < COLUMNS; i++) {
        const json_t *v = json_object_get(j, letter_columns[i]);
        column[i] = json_string_value(v);
        if (!json_is_integer(v)) continue;
        (void)snprintf(number[i], sizeof(number[i]), "%lld", (long long)json_integer_value(v));
        column[i] = number[i];
    }
    bool is_letter = column[ERROR] || column[RAW]; /* rows that a sink wrote beside are none */
    sr_rc rc = is_letter ? letter_add(c, l, column, err)
                         : error_set(err, SR_EDATA, "this is no dead letter: it has no 'error'");
    json_decref(j);
    return rc == SR_OK ? rc : error_wrap(err, "%s:%llu", path, (unsigned long long)line);
}

/* gzip or zstd: the sink may pack what it writes. */
static bool letter_is_packed(const char *first, size_t len)
{
    return (len >= 2 && memcmp(first, "\x1f\x8b", 2) == 0) ||
           (len >= 4 && memcmp(first, "\x28\xb5\x2f\xfd", 4) == 0);
}

static sr_rc letter_file(const struct cli *c, struct letter_list *l, const char *path,
                         struct sr_error *err)
{
    FILE *f = fopen(path, "re");
    if (!f) return error_errno(err, errno, "open", path);
    char *text = NULL;
    size_t room = 0;
    uint64_t line = 0;
    sr_rc rc = SR_OK;
    ssize_t len = 0;
    while (rc == SR_OK && (len = getline(&text, &room, f)) > 0) {
        line++;
        if (line == 1 && letter_is_packed(text, (size_t)len)) {
            rc = error_set(err, SR_EDATA,
                           "%s is compressed: unpack it, and name what comes out (--letters PATH)",
                           path);
            break;
        }
        if (text[strspn(text, " \t\r\n")]) rc = letter_line(c, l, path, line, text, err);
    }
    if (rc == SR_OK && ferror(f)) rc = error_errno(err, errno, "read", path);
    free(text);
    (void)fclose(f); /* was only read */
    return rc;
}

static sr_rc letter_dir(const struct cli *c, struct letter_list *l, struct sr_error *err)
{
    const struct sr_files *fs = c->env.files;
    char **names = NULL;
    sr_rc rc = fs->list(fs, l->path, &names, err);
    if (rc != SR_OK) return rc;
    for (char **n = names; *n && rc == SR_OK; n++) {
        struct sr_stat stat;
        const char *path = arena_printf(c->arena, "%s/%s", l->path, *n);
        if (**n == '.' || !path || fs->stat(fs, path, &stat, err) != SR_OK) continue;
        if (stat.kind == SR_FILE_REGULAR) rc = letter_file(c, l, path, err);
        if (stat.kind == SR_FILE_DIRECTORY && strchr(*n, '=')) {
            rc = error_set(err, SR_EDATA,
                           "%s is a partition: name it, or another one, itself (--letters PATH)",
                           path);
        }
    }
    fs->names_free(fs, names);
    return rc;
}

/* --- SQLite ----------------------------------------------------------------------------------- */

static sr_rc letter_sqlite_failed(sqlite3 *db, const char *path, struct sr_error *err)
{
    return error_set(err, SR_EDATA, "%s: %s", path, sqlite3_errmsg(db));
}

/* The first table that has the columns of dead letters. */
static sr_rc letter_table(const struct cli *c, sqlite3 *db, const char *path, const char **table,
                          struct sr_error *err)
{
    static const char find[] =
        "SELECT name FROM sqlite_master m WHERE type = 'table' AND (SELECT count(*) FROM "
        "pragma_table_info(m.name) WHERE name IN ('time', 'step', 'split', 'error', 'raw')) = 5";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, find, -1, &s, NULL) != SQLITE_OK) {
        return letter_sqlite_failed(db, path, err);
    }
    if (sqlite3_step(s) == SQLITE_ROW) {
        *table = arena_text(c->arena, (const char *)sqlite3_column_text(s, 0));
    }
    (void)sqlite3_finalize(s); /* only read */
    if (*table) return SR_OK;
    return error_set(err, SR_EABSENT, "%s: no table there has the columns of dead letters", path);
}

static sr_rc letter_rows(const struct cli *c, struct letter_list *l, sqlite3 *db, const char *table,
                         struct sr_error *err)
{
    char *sql =
        sqlite3_mprintf("SELECT \"time\", step, source, split, \"offset\", line, error, raw, "
                        "attempt FROM \"%w\" ORDER BY rowid",
                        table);
    sqlite3_stmt *s = NULL;
    sr_rc rc = SR_OK;
    if (!sql || sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        rc = letter_sqlite_failed(db, l->path, err);
    }
    int step = SQLITE_DONE;
    while (rc == SR_OK && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *column[COLUMNS];
        for (int i = 0; i < COLUMNS; i++) {
            column[i] = (const char *)sqlite3_column_text(s, i);
        }
        rc = letter_add(c, l, column, err);
    }
    if (rc == SR_OK && step != SQLITE_DONE) rc = letter_sqlite_failed(db, l->path, err);
    (void)sqlite3_finalize(s); /* only read */
    sqlite3_free(sql);
    return rc;
}

static sr_rc letter_sqlite(const struct cli *c, struct letter_list *l, const char *table,
                           struct sr_error *err)
{
    sqlite3 *db = NULL;
    sr_rc rc = SR_OK;
    /* Whoever wrote letters may have been killed amid a transaction: taking that back is writing.
     * A file that may not be written is opened for reading all the same. */
    if (sqlite3_open_v2(l->path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        rc = letter_sqlite_failed(db, l->path, err);
    }
    if (rc == SR_OK && !table) rc = letter_table(c, db, l->path, &table, err);
    if (rc == SR_OK) rc = letter_rows(c, l, db, table, err);
    (void)sqlite3_close(db); /* only read */
    return rc;
}

static bool letter_is_sqlite(const char *path)
{
    char head[16] = "";
    FILE *f = fopen(path, "re");
    if (!f) return false;
    size_t got = fread(head, 1, sizeof(head), f);
    (void)fclose(f); /* was only read */
    return got == sizeof(head) && memcmp(head, "SQLite format 3", sizeof(head)) == 0;
}

/* ---------------------------------------------------------------------------------------------- */

sr_rc letter_list_read(const struct cli *c, const char *path, const char *table,
                       struct letter_list *out, struct sr_error *err)
{
    struct sr_stat stat;
    *out = (struct letter_list){.path = cli_absolute(c, path)};
    size_t len = strlen(out->path);
    if (len > 1 && out->path[len - 1] == '/')
        out->path = arena_text_n(c->arena, out->path, len - 1);
    sr_rc rc = c->env.files->stat(c->env.files, out->path, &stat, err);
    if (rc != SR_OK) return rc;
    out->is_dir = stat.kind == SR_FILE_DIRECTORY;
    if (out->is_dir) return letter_dir(c, out, err);
    return letter_is_sqlite(out->path) ? letter_sqlite(c, out, table, err)
                                       : letter_file(c, out, out->path, err);
}

const struct letter_row *letter_list_find(const struct letter_list *l, const char *id)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (strcmp(l->item[i].id, id) == 0) return &l->item[i];
    }
    return NULL;
}
