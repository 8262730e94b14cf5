/* The sqlite source: every row once, from any place on, whatever it is read by. */
#include "test/unit/unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "connectors/sqlite/base.h"
#include "connectors/sqlite/cell_read.h"
#include "connectors/sqlite/scan.h"
#include "test/kit/source_kit.h"

static void run(struct stage *s, const char *sql)
{
    sqlite3 *db = NULL;
    char *words = NULL;
    ck_assert_int_eq(sqlite3_open(stage_path(s, "in.db"), &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &words) == SQLITE_OK, "%s", words);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static void make(struct stage *s)
{
    run(s, "CREATE TABLE t (k, line TEXT);"
           "CREATE TABLE w (line TEXT PRIMARY KEY) WITHOUT ROWID;"
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
           " INSERT INTO t SELECT CASE i % 5 WHEN 0 THEN 'text ' || (i % 2) WHEN 1 THEN 2.5"
           " WHEN 2 THEN x'00ff' ELSE i % 4 END, 'line ' || i FROM n;"
           "INSERT INTO w SELECT line FROM t;"
           "DELETE FROM t WHERE rowid IN (7, 8, 31);"
           "INSERT INTO t (rowid, k, line) VALUES (-5, 1, 'minus'), (1000000, 2, 'far');");
}

static struct scan_conf conf_of(struct stage *s)
{
    return (struct scan_conf){
        .path = stage_path(s, "in.db"), .table = "t", .parts = 1, .interval = {-1}};
}

START_TEST(it_keeps_the_promises_of_sources)
{
    struct stage s;
    stage_open(&s);
    make(&s);
    struct scan_conf conf[] = {conf_of(&s), conf_of(&s), conf_of(&s), conf_of(&s),
                               conf_of(&s), conf_of(&s), conf_of(&s)};
    conf[1].parts = 3;
    conf[2].column = "k"; /* of all kinds of values, each many times */
    conf[3].table = NULL;
    conf[3].query = "SELECT * FROM t";
    conf[3].column = "k";
    conf[4].table = "w";
    conf[4].column = "line";
    conf[5].growing = "k";
    conf[6].lower = "-5";
    conf[6].upper = "20";
    conf[6].parts = 1000;
    for (size_t i = 0; i < sizeof(conf) / sizeof(conf[0]); i++) {
        struct source_kit k = {
            .stage = &s, .type = &sqlite_source_type, .conf = &conf[i], .makes_rows = true};
        source_kit_check(&k);
    }
    stage_close(&s);
}
END_TEST

/* Splits have the rows of the table, each once, whatever their number. */
START_TEST(splits_have_all_rows)
{
    struct stage s;
    stage_open(&s);
    make(&s);
    struct scan_conf conf = conf_of(&s);
    struct source_kit k = {
        .stage = &s, .type = &sqlite_source_type, .conf = &conf, .makes_rows = true};
    const char *one = source_kit_lines(&s, source_kit_read(&k, 1, 10));
    ck_assert_ptr_nonnull(strstr(one, "minus"));
    ck_assert_ptr_nonnull(strstr(one, "far"));
    for (int64_t parts = 2; parts < 60; parts += 7) {
        conf.parts = parts;
        ck_assert_str_eq(source_kit_lines(&s, source_kit_read(&k, 2, 10)), one);
    }
    stage_close(&s);
}
END_TEST

/* A database that another process holds is waited for, and nothing is lost. */
START_TEST(a_locked_database_is_waited_for)
{
    struct stage s;
    stage_open(&s);
    make(&s);
    struct scan_conf conf = conf_of(&s);
    struct source_kit k = {
        .stage = &s, .type = &sqlite_source_type, .conf = &conf, .makes_rows = true};
    const char *all = source_kit_read(&k, 1, 10);
    struct source_run r;
    source_run_open(&r, &k, 1, 10, NULL);
    ck_assert_int_eq(source_run_discover(&r), SR_DISCOVERED_ALL);
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(stage_path(&s, "in.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(source_run_read(&r, UINT32_MAX), SR_POLL_IDLE);
    ck_assert_int_lt(r.wait.until_us, INT64_MAX);
    ck_assert_uint_eq(r.rows, 0);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    enum sr_polled got = SR_POLL_IDLE;
    while (got == SR_POLL_IDLE) { /* until the wait is over */
        got = source_run_read(&r, UINT32_MAX);
    }
    ck_assert_int_eq(got, SR_POLL_SPLIT_END);
    ck_assert_str_eq(r.text, all);
    source_run_close(&r);
    stage_close(&s);
}
END_TEST

/* A position that is damaged is said, wherever it was cut. */
START_TEST(a_damaged_position_is_said)
{
    struct scan_split split = {.tie = 7}, back;
    struct sr_out note = note_out();
    split.last = (struct key){.type = SQLITE_TEXT, .bytes = (uint8_t *)"abc", .len = 3};
    split.upper = (struct key){.type = SQLITE_FLOAT, .real = 1.5};
    ck_assert(scan_split_save(&split, &note));
    struct sr_bytes whole = {note.data, (uint32_t)note.len};
    ck_assert_int_eq(scan_split_load(&back, whole), SR_OK);
    ck_assert_int_eq(back.tie, 7);
    ck_assert_int_eq(memcmp(back.last.bytes, "abc", 3), 0);
    ck_assert(back.upper.real == 1.5);
    scan_split_done(&back);
    for (uint32_t len = 0; len < note.len; len++) {
        struct sr_bytes cut = {note.data, len};
        ck_assert_int_eq(scan_split_load(&back, cut), SR_ECORRUPT);
    }
    note_free(&note);
}
END_TEST

UNIT_MAIN("sqlite_source", it_keeps_the_promises_of_sources, splits_have_all_rows,
          a_locked_database_is_waited_for, a_damaged_position_is_said)
