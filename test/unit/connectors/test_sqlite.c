/* The sqlite sink: rows in the target once, by one transaction a checkpoint. */
#include "test/unit/unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "connectors/common/redo.h"
#include "connectors/sqlite/cell.h"
#include "engine/ckpt/chkdb.h"
#include "streamrun/plugin.h"
#include "test/kit/faulty.h"
#include "test/kit/rows.h"
#include "test/kit/sink_kit.h"

extern const struct sr_plugin sr_plugin_sqlite;

/* As connectors/sqlite/sqlite.c lays it out: filled by its option table. */
struct conf {
    const char *path, *table;
    bool may_create;
    sr_size redo_max;
};

static const struct sr_sink_type *type_of(void) { return sr_plugin_sqlite.sinks[0]; }

static struct conf conf_of(struct stage *s)
{
    return (struct conf){stage_path(s, "out.db"), "rows", true, {256u << 20}};
}

/* The answer of a query: columns by |, a line a row, NULL as it is. */
static const char *ask(struct stage *s, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    static char text[65536];
    size_t n = 0;
    text[0] = 0;
    if (!stage_has(s, "out.db")) {
        return "";
    }
    ck_assert_int_eq(sqlite3_open(stage_path(s, "out.db"), &db), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    while (sqlite3_step(q) == SQLITE_ROW) {
        for (int c = 0; c < sqlite3_column_count(q); c++) {
            const char *value = (const char *)sqlite3_column_text(q, c);
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", c > 0 ? "|" : "",
                                  value ? value : "NULL");
        }
        n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    return arena_text(s->arena, text);
}

static void run(struct stage *s, const char *sql)
{
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(stage_path(s, "out.db"), &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static const char *visible(struct stage *s)
{
    return stage_sort(s, ask(s, "SELECT line FROM rows"));
}

static const char *leftovers(struct stage *s)
{
    char text[8192] = "";
    const char *dirs[] = {"redo", "."};
    for (size_t d = 0; d < 2; d++) {
        for (const char *at = stage_list(s, dirs[d]); *at; at = strchr(at, '\n') + 1) {
            if (strncmp(at, ".redo-", 6) == 0) {
                strncat(text, at, strcspn(at, "\n") + 1);
            }
        }
    }
    return arena_text(s->arena, text);
}

static void reset(struct stage *s)
{
    stage_clear(s, "out.db");
    stage_clear(s, "redo");
    for (const char *at = leftovers(s); *at; at = strchr(at, '\n') + 1) {
        stage_clear(s, arena_text_n(s->arena, at, strcspn(at, "\n")));
    }
}

static struct sink_kit kit_of(struct stage *s, const struct conf *conf)
{
    return (struct sink_kit){.stage = s,
                             .type = type_of(),
                             .conf = conf,
                             .redo_dir = stage_path(s, "redo"),
                             .visible = visible,
                             .leftovers = leftovers,
                             .reset = reset};
}

START_TEST(a_table_keeps_the_promises_of_sinks)
{
    struct stage s;
    stage_open(&s);
    struct conf conf = conf_of(&s);
    struct sink_kit k = kit_of(&s, &conf);
    sink_kit_check(&k);
    k.redo_dir = NULL; /* the redo file lies beside the database */
    sink_kit_check(&k);
    stage_close(&s);
}
END_TEST

/* An instance over a schema, for rows of many types. */
struct table {
    struct stage s;
    struct conf conf;
    struct sr_schema *schema;
    void *sink;
    struct sr_sink_open open;
    struct sink_run kept; /* its notes only */
    struct sr_error err;
};

static sr_rc table_open(struct table *t)
{
    t->sink = calloc(1, type_of()->sink_size);
    t->open = (struct sr_sink_open){.size = sizeof(t->open),
                                    .host = &t->s.host,
                                    .conf = &t->conf,
                                    .schema = t->schema,
                                    .parts = 1,
                                    .job_id = "job",
                                    .uid = "out",
                                    .lineage = 1,
                                    .attempt = 1,
                                    .redo_dir = t->s.dir};
    return type_of()->open(t->sink, &t->open, &t->err);
}

static void table_start(struct table *t, const char *schema)
{
    memset(t, 0, sizeof(*t));
    stage_open(&t->s);
    t->conf = conf_of(&t->s);
    t->schema = rows_schema(t->s.arena, schema);
}

static void table_close(struct table *t)
{
    type_of()->close(t->sink);
    free(t->sink);
}

static void table_end(struct table *t)
{
    table_close(t);
    stage_close(&t->s);
}

static sr_rc table_write(struct table *t, struct sr_view *v)
{
    struct sr_wait wait;
    uint32_t done = 0;
    sr_rc rc = type_of()->write(t->sink, v, 0, &done, &wait, &t->err);
    view_release(v);
    return rc;
}

struct one_note {
    struct sr_notes base;
    uint8_t bytes[4096];
    uint32_t len;
};

static sr_rc one_note_add(struct sr_notes *n, enum sr_note_kind kind, struct sr_bytes note)
{
    struct one_note *o = (struct one_note *)n;
    if (kind == SR_NOTE_STATE) return SR_OK; /* it says that there are rows, and no more */
    memcpy(o->bytes, note.data, note.len);
    o->len = note.len;
    return SR_OK;
}

static struct one_note table_prepare(struct table *t, uint64_t checkpoint)
{
    struct one_note n = {.base = {one_note_add}};
    struct sr_wait wait;
    ck_assert_int_eq(type_of()->prepare(t->sink, checkpoint, false, &n.base, &wait, &t->err),
                     SR_OK);
    return n;
}

static sr_rc table_commit(struct table *t, const struct one_note *n)
{
    return type_of()->commit(t->sink, 1, (struct sr_bytes){n->bytes, n->len}, &t->err);
}

static void table_apply(struct table *t, uint64_t checkpoint, const char *rows)
{
    struct sr_error *err = &t->err;
    ck_assert_msg(table_write(t, rows_view(t->s.home, t->schema, rows)) == SR_OK, "%s", err->words);
    struct one_note n = table_prepare(t, checkpoint);
    ck_assert_msg(table_commit(t, &n) == SR_OK, "%s", err->words);
}

/* Each type has its exact text or number, and NULL is NULL. */
START_TEST(every_type_is_kept_exactly)
{
    struct table t;
    table_start(&t, "b BOOLEAN, i INT, l BIGINT, d DOUBLE, s STRING, y BYTES, n DECIMAL(10, 2), "
                    "w DECIMAL(38, 3), t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), "
                    "day DATE, z TIMESTAMP_LTZ(3)");
    ck_assert_msg(table_open(&t) == SR_OK, "%s", t.err.words);
    struct sr_view *v = rows_empty(t.s.home, t.schema);
    v->rows = v->picked = 2;
    ((uint8_t *)v->col[0]->values)[0] = 1;
    ((int32_t *)v->col[1]->values)[0] = -7;
    ((int64_t *)v->col[2]->values)[0] = INT64_MIN;
    ((double *)v->col[3]->values)[0] = 0.1;
    ck_assert(column_put_bytes(t.s.home, v->col[4], 0, "007", 3));
    ck_assert(column_put_bytes(t.s.home, v->col[5], 0, "\0x", 2));
    ((int64_t *)v->col[6]->values)[0] = -110;
    ((struct sr_wide *)v->col[7]->values)[0] = (struct sr_wide){.low = 1234567, .high = 0};
    ((int64_t *)v->col[8]->values)[0] = -1000000;
    ((int64_t *)v->col[9]->values)[0] = INT64_C(1767225599999000);
    ((int64_t *)v->col[10]->values)[0] = INT64_C(1767225600000001);
    ((int32_t *)v->col[11]->values)[0] = -1;
    ((int64_t *)v->col[12]->values)[0] = 0;
    for (uint32_t c = 0; c < v->cols; c++) {
        v->col[c]->rows = 2;
        column_set_null(v->col[c], 1);
    }
    ck_assert_int_eq(table_write(&t, v), SR_OK);
    struct one_note n = table_prepare(&t, 1);
    ck_assert_msg(table_commit(&t, &n) == SR_OK, "%s", t.err.words);
    ck_assert_str_eq(ask(&t.s, "SELECT b, i, l, d, s, hex(y), n, w, t0, t3, t6, day, z FROM rows"),
                     "1|-7|-9223372036854775808|0.1|007|0078|-1.10|1234.567|1969-12-31 23:59:59|"
                     "2025-12-31 23:59:59.999|2026-01-01 00:00:00.000001|1969-12-31|"
                     "1970-01-01 00:00:00.000\n"
                     "NULL|NULL|NULL|NULL|NULL||NULL|NULL|NULL|NULL|NULL|NULL|NULL\n");
    ck_assert_str_eq(ask(&t.s, "SELECT typeof(b), typeof(l), typeof(d), typeof(s), typeof(y), "
                               "typeof(n), typeof(t3) FROM rows LIMIT 1"),
                     "integer|integer|real|text|blob|text|text\n");
    table_end(&t);
}
END_TEST

static void table_key(struct table *t)
{
    static const uint32_t key[] = {0};
    t->schema->key = key;
    t->schema->keys = 1;
}

/* By key: inserts and updates replace, deletes delete, the last change of a key stands. */
START_TEST(changes_are_applied_by_key)
{
    struct table t;
    table_start(&t, "k BIGINT NOT NULL, s STRING");
    table_key(&t);
    ck_assert_msg(table_open(&t) == SR_OK, "%s", t.err.words);
    table_apply(&t, 1, "1,a; 2,b; 3,c; -U 1,a; +U 1,A; -D 2,b; 4,d; 4,e");
    ck_assert_str_eq(ask(&t.s, "SELECT k, s FROM rows ORDER BY k"), "1|A\n3|c\n4|e\n");
    table_apply(&t, 2, "-U 1,A; +U 9,A; -U 3,c; -D 4,e; 4,f"); /* a -U without its +U deletes */
    ck_assert_str_eq(ask(&t.s, "SELECT k, s FROM rows ORDER BY k"), "4|f\n9|A\n");
    struct sr_view *v = rows_view(t.s.home, t.schema, "5,ok; NULL,bad; 6,ok");
    struct sr_wait wait;
    uint32_t done = 0;
    ck_assert_int_eq(type_of()->write(t.sink, v, 0, &done, &wait, &t.err), SR_EDATA);
    ck_assert_uint_eq(done, 1);
    view_release(v);
    table_end(&t);
}
END_TEST

/* An update is not a delete and an insert: columns that the job does not fill stay. */
START_TEST(updates_keep_other_columns)
{
    struct table t;
    table_start(&t, "k BIGINT NOT NULL, s STRING");
    table_key(&t);
    run(&t.s, "CREATE TABLE rows (k BIGINT PRIMARY KEY, s TEXT, mine TEXT)");
    run(&t.s, "INSERT INTO rows VALUES (1, 'a', 'x'), (2, 'b', 'y')");
    ck_assert_msg(table_open(&t) == SR_OK, "%s", t.err.words);
    table_apply(&t, 1, "-U 1,a; +U 1,A; 2,B");
    ck_assert_str_eq(ask(&t.s, "SELECT * FROM rows ORDER BY k"), "1|A|x\n2|B|y\n");
    table_end(&t);
}
END_TEST

/* A table that does not fit is a fault that names each column. */
START_TEST(tables_that_do_not_fit_are_refused)
{
    static const struct {
        const char *sql, *words;
    } sample[] = {
        {"CREATE TABLE rows (k BIGINT)", "there is no column s"},
        {"CREATE TABLE rows (k TEXT, s TEXT)", "column k is declared TEXT"},
        {"CREATE TABLE rows (k INT, s INT)", "column s is declared INT"},
        {"CREATE TABLE rows (k INT, s TEXT, more INT NOT NULL)", "column more is NOT NULL"},
        {"CREATE TABLE rows (k INT, s NUMERIC, u INT)", "column s is declared NUMERIC"},
    };
    for (size_t i = 0; i < sizeof(sample) / sizeof(sample[0]); i++) {
        struct table t;
        table_start(&t, "k BIGINT, s STRING");
        run(&t.s, sample[i].sql);
        ck_assert_int_eq(table_open(&t), SR_EMISFIT);
        ck_assert_msg(strstr(t.err.words, sample[i].words) != NULL, "%s", t.err.words);
        table_end(&t);
    }
    struct table t;
    table_start(&t, "K BIGINT, s STRING");
    run(&t.s,
        "CREATE TABLE rows (id INTEGER PRIMARY KEY, k ANY, s VARCHAR(9), at TEXT DEFAULT 'x', "
        "n INT NOT NULL DEFAULT 3)");
    ck_assert_msg(table_open(&t) == SR_OK, "%s",
                  t.err.words); /* more columns, which need nothing */
    table_apply(&t, 1, "1,a");
    ck_assert_str_eq(ask(&t.s, "SELECT * FROM rows"), "1|1|a|x|3\n");
    table_end(&t);
    table_start(&t, "k BIGINT NOT NULL, s STRING");
    table_key(&t);
    run(&t.s, "CREATE TABLE rows (k BIGINT, s TEXT)"); /* no key to replace by */
    ck_assert_int_ne(table_open(&t), SR_OK);
    ck_assert_ptr_nonnull(strstr(t.err.words, "ON CONFLICT"));
    table_end(&t);
    table_start(&t, "k BIGINT, s STRING");
    t.conf.may_create = false;
    ck_assert_int_eq(table_open(&t), SR_EABSENT);
    table_end(&t);
}
END_TEST

/* What is no database, or cannot be made, is said when the job starts. */
START_TEST(bad_databases_are_said_at_open)
{
    struct table t;
    table_start(&t, "k BIGINT");
    t.conf.path = stage_path(&t.s, "absent/out.db");
    ck_assert_int_eq(table_open(&t), SR_EACCESS);
    ck_assert_ptr_nonnull(strstr(t.err.words, "is its directory there"));
    table_end(&t);
    table_start(&t, "k BIGINT");
    stage_write(&t.s, "out.db",
                "this is a text, and longer than the head of a database would be: "
                "a hundred bytes are what SQLite looks at first of all.");
    ck_assert_int_eq(table_open(&t), SR_ECORRUPT);
    ck_assert_ptr_nonnull(strstr(t.err.words, "not a database"));
    table_end(&t);
    table_start(&t, "k BIGINT");
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", CHKDB_APPLICATION_ID);
    run(&t.s, sql);
    ck_assert_int_eq(table_open(&t), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(t.err.words, "keeps checkpoints"));
    ck_assert_str_eq(ask(&t.s, "SELECT count(*) FROM sqlite_schema"), "0\n");
    table_end(&t);
}
END_TEST

/* Names are quoted, whatever they hold. */
START_TEST(names_are_quoted)
{
    struct table t;
    table_start(&t, "select BIGINT, a\"b STRING");
    t.conf.table = "drop table \"x\"; --";
    ck_assert_msg(table_open(&t) == SR_OK, "%s", t.err.words);
    table_apply(&t, 1, "1,a");
    ck_assert_str_eq(ask(&t.s, "SELECT \"select\", \"a\"\"b\" FROM \"drop table \"\"x\"\"; --\""),
                     "1|a\n");
    table_end(&t);
}
END_TEST

/* What SQLite cannot keep is refused at plan time. */
START_TEST(schemas_are_checked_at_plan_time)
{
    struct stage s;
    stage_open(&s);
    struct conf conf = conf_of(&s);
    struct sr_sink_caps caps;
    struct sr_error err = {0};
    ck_assert_int_eq(type_of()->check(&conf, rows_schema(s.arena, "a MULTISET<INT>"), &caps, &err),
                     SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "'a': type MULTISET of what is not text"));
    ck_assert_int_eq(type_of()->check(&conf, rows_schema(s.arena, "a INT, A INT"), &caps, &err),
                     SR_ECONFIG);
    conf.table = "streamrun_commit";
    ck_assert_int_eq(type_of()->check(&conf, rows_schema(s.arena, "a INT"), &caps, &err),
                     SR_ECONFIG);
    conf.table = "t";
    ck_assert_int_eq(type_of()->check(&conf, rows_schema(s.arena, "a INT"), &caps, &err), SR_OK);
    ck_assert_int_eq(caps.guarantee, SR_EXACTLY_ONCE);
    ck_assert(!caps.takes_changes);
    stage_close(&s);
}
END_TEST

/* While somebody holds the lock a commit is busy and changes nothing; later it is done. */
START_TEST(a_locked_target_is_busy)
{
    struct table t;
    table_start(&t, "k BIGINT, s STRING");
    ck_assert_int_eq(table_open(&t), SR_OK);
    ck_assert_int_eq(table_write(&t, rows_view(t.s.home, t.schema, "1,a; 2,b")), SR_OK);
    struct one_note n = table_prepare(&t, 1);
    sqlite3 *other = NULL;
    ck_assert_int_eq(sqlite3_open(t.conf.path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(table_commit(&t, &n), SR_EBUSY);
    ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    /* A reader in the middle of a query keeps the commit itself from ending. */
    sqlite3_stmt *reading = NULL;
    ck_assert_int_eq(sqlite3_prepare_v2(other, "SELECT * FROM sqlite_schema", -1, &reading, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(reading), SQLITE_ROW);
    ck_assert_int_eq(table_commit(&t, &n), SR_EBUSY);
    sqlite3_finalize(reading);
    sqlite3_close(other);
    ck_assert_str_eq(ask(&t.s, "SELECT count(*) FROM rows"), "0\n");
    ck_assert_int_eq(table_commit(&t, &n), SR_OK);
    ck_assert_int_eq(table_commit(&t, &n), SR_OK);
    ck_assert_str_eq(ask(&t.s, "SELECT count(*) FROM rows"), "2\n");
    ck_assert_str_eq(ask(&t.s, "SELECT sink, checkpoint, rows FROM streamrun_commit"), "out|1|2\n");
    table_end(&t);
}
END_TEST

/* A row that the table refuses takes the whole checkpoint back. */
START_TEST(a_refused_row_takes_all_back)
{
    struct table t;
    table_start(&t, "k BIGINT, s STRING");
    run(&t.s, "CREATE TABLE rows (k BIGINT, s TEXT CHECK (s <> 'bad'))");
    ck_assert_int_eq(table_open(&t), SR_OK);
    ck_assert_int_eq(table_write(&t, rows_view(t.s.home, t.schema, "1,a; 2,bad; 3,c")), SR_OK);
    struct one_note n = table_prepare(&t, 1);
    ck_assert_int_eq(table_commit(&t, &n), SR_EDATA);
    ck_assert_ptr_nonnull(strstr(t.err.words, "row 2"));
    ck_assert_str_eq(ask(&t.s, "SELECT count(*) FROM rows"), "0\n");
    ck_assert_str_eq(ask(&t.s, "SELECT count(*) FROM streamrun_commit"), "0\n");
    table_end(&t);
}
END_TEST

/* Every changed or missing byte of a redo file, and of its note, is found; no row goes in. */
START_TEST(damage_is_found)
{
    struct table t;
    table_start(&t, "k BIGINT, s STRING");
    ck_assert_int_eq(table_open(&t), SR_OK);
    ck_assert_int_eq(table_write(&t, rows_view(t.s.home, t.schema, "1,a; 2,b")), SR_OK);
    ck_assert_int_eq(table_write(&t, rows_view(t.s.home, t.schema, "3,c")), SR_OK);
    struct one_note n = table_prepare(&t, 1);
    struct redo_mark mark;
    ck_assert_int_eq(redo_mark_load(&mark, (struct sr_bytes){n.bytes, n.len}), SR_OK);
    FILE *f = fopen(mark.path, "r+");
    for (uint64_t at = 0; at < mark.length; at++) {
        fseek(f, (long)at, SEEK_SET);
        int was = fgetc(f);
        fseek(f, (long)at, SEEK_SET);
        fputc(was ^ 1, f);
        fflush(f);
        ck_assert_msg(table_commit(&t, &n) == SR_ECORRUPT, "byte %u", (unsigned)at);
        fseek(f, (long)at, SEEK_SET);
        fputc(was, f);
        fflush(f);
    }
    for (uint32_t len = 0; len < n.len; len++) {
        struct one_note cut = n;
        cut.len = len;
        ck_assert_int_eq(table_commit(&t, &cut), SR_ECORRUPT);
    }
    fseek(f, 0, SEEK_END);
    fputc('x', f);
    fclose(f);
    ck_assert_int_eq(table_commit(&t, &n), SR_ECORRUPT);
    ck_assert_int_eq(remove(mark.path), 0);
    ck_assert_int_eq(table_commit(&t, &n), SR_ECORRUPT);
    ck_assert_ptr_nonnull(strstr(t.err.words, "is gone"));
    ck_assert_str_eq(ask(&t.s, "SELECT count(*) FROM rows"), "0\n");
    redo_mark_done(&mark);
    table_end(&t);
}
END_TEST

static uint32_t asked;
static void ask_checkpoint(const struct sr_sink_open *o)
{
    (void)o;
    asked++;
}

/* A large redo file asks for a checkpoint once, and at twice its limit writing waits for it. */
START_TEST(a_large_redo_file_asks_then_waits)
{
    struct table t;
    table_start(&t, "k BIGINT, s STRING");
    t.conf.redo_max.bytes = 1000;
    ck_assert_int_eq(table_open(&t), SR_OK);
    type_of()->close(t.sink);
    memset(t.sink, 0, type_of()->sink_size);
    t.open.ask_checkpoint = ask_checkpoint;
    ck_assert_int_eq(type_of()->open(t.sink, &t.open, &t.err), SR_OK);
    asked = 0;
    uint32_t writes = 0;
    while (table_write(&t, rows_view(t.s.home, t.schema, "1,aaaaaaaaaaaaaaaaaaaaa")) == SR_OK) {
        ck_assert_uint_lt(++writes, 1000);
    }
    ck_assert_int_eq(t.err.rc, SR_EBUSY);
    ck_assert_uint_eq(asked, 1);
    ck_assert_uint_gt(writes, 10);
    struct one_note n = table_prepare(&t, 1);
    ck_assert_int_eq(table_write(&t, rows_view(t.s.home, t.schema, "2,b")), SR_OK);
    ck_assert_int_eq(table_commit(&t, &n), SR_OK);
    char want[32];
    snprintf(want, sizeof(want), "%u\n", writes);
    ck_assert_str_eq(ask(&t.s, "SELECT count(*) FROM rows"), want);
    table_end(&t);
}
END_TEST

/* Removing fails once: the next commit removes that file too, or the close. */
static void applied_but_not_removed(struct table *t, uint64_t checkpoint)
{
    struct sr_view *v = rows_view(t->s.home, t->schema, "1,a");
    ck_assert_int_eq(table_write(t, v), SR_OK);
    struct one_note n = table_prepare(t, checkpoint);
    bool has_failed = true;
    for (uint32_t i = 0; has_failed; i++) { /* whatever fails before it makes the commit fail */
        faulty_fail(i, false);
        sr_rc rc = table_commit(t, &n);
        has_failed = faulty_heal();
        if (rc == SR_OK && has_failed) {
            break;
        }
    }
    ck_assert(has_failed);
    ck_assert_str_ne(leftovers(&t->s), "");
}

START_TEST(what_could_not_be_removed_is_removed_later)
{
    struct table t;
    table_start(&t, "k BIGINT, s STRING");
    faulty_install(&t.s);
    ck_assert_int_eq(table_open(&t), SR_OK);
    applied_but_not_removed(&t, 1);
    table_apply(&t, 2, "2,b");
    ck_assert_str_eq(leftovers(&t.s), "");
    applied_but_not_removed(&t, 3);
    table_close(&t);
    ck_assert_str_eq(leftovers(&t.s), "");
    ck_assert_str_eq(ask(&t.s, "SELECT k FROM rows ORDER BY 1"), "1\n1\n2\n");
    stage_close(&t.s);
}
END_TEST

/* SQLite's own rules of affinity. */
START_TEST(affinity_is_sqlites)
{
    ck_assert_int_eq(cell_affinity("UNSIGNED BIG INT"), CELL_INTEGER);
    ck_assert_int_eq(cell_affinity("CHARINT"), CELL_INTEGER);
    ck_assert_int_eq(cell_affinity("nvarchar(100)"), CELL_TEXT);
    ck_assert_int_eq(cell_affinity(""), CELL_BLOB);
    ck_assert_int_eq(cell_affinity("DOUBLE PRECISION"), CELL_REAL);
    ck_assert_int_eq(cell_affinity("DECIMAL(10,5)"), CELL_NUMERIC);
    ck_assert_int_eq(cell_affinity("DATETIME"), CELL_NUMERIC);
}
END_TEST

UNIT_MAIN("sqlite", a_table_keeps_the_promises_of_sinks, every_type_is_kept_exactly,
          changes_are_applied_by_key, updates_keep_other_columns,
          tables_that_do_not_fit_are_refused, names_are_quoted, bad_databases_are_said_at_open,
          schemas_are_checked_at_plan_time, a_locked_target_is_busy, a_refused_row_takes_all_back,
          damage_is_found, a_large_redo_file_asks_then_waits,
          what_could_not_be_removed_is_removed_later, affinity_is_sqlites)
