/* The kit's tables for people in savepoint files: whatever is in them, and whatever befalls it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "test/kit/store_kit.h"

#define TABLES_ROWS 70
static const char tables_mark[] = "a text that is looked for";

static struct store_value tables_text(const char *text)
{
    return (struct store_value){.kind = STORE_TEXT, .bytes = {text, (uint32_t)strlen(text)}};
}

/* Names that differ in case only, that need quotes, that are our own; every kind of value. */
static sr_rc tables_fill_some(void *ctx, const struct manifest *m, struct store_tables *to,
                              struct sr_error *err)
{
    static const struct store_column column[] = {{"a b\"c", "TEXT"},    {"A B\"C", "BLOB"},
                                                 {"select", "INTEGER"}, {"d", "REAL"},
                                                 {"timer", "INTEGER"},  {"timer", "TEXT"}};
    static const struct store_table table[] = {
        {"part", "groups of (x, y)", "columns", 6, column},
        {"part", "groups", "columns", 6, column},
        {"x'); DROP TABLE part; --", "", "columns", 6, column},
        {"empty", "none", "no rows", 6, column}};
    ck_assert_uint_gt(m->parts, 0);
    (void)ctx;
    for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++) {
        sr_rc rc = to->begin(to, &table[t], err);
        for (int64_t i = 0; rc == SR_OK && t < 3 && i < TABLES_ROWS; i++) {
            struct store_value v[] = {tables_text(i % 7 == 0 ? tables_mark : ""),
                                      {.kind = STORE_BLOB, .bytes = {"\0\xff", 2}},
                                      {.kind = STORE_INTEGER, .integer = INT64_MIN + i},
                                      {.kind = STORE_REAL, .real = i == 0 ? 0 : 1.0 / (double)i},
                                      {.kind = STORE_NULL},
                                      tables_text("123")};
            rc = to->row(to, v, err);
        }
        if (rc != SR_OK) return rc;
    }
    return SR_OK;
}

static sr_rc tables_load(struct store_world *w, const char *path)
{
    struct manifest *m = NULL;
    struct arena *a = arena_new();
    sr_rc rc = store_load(&w->env, path, a, &m, &w->err);
    if (rc == SR_OK) store_kit_check(m, 1, 1);
    arena_free(a);
    return rc;
}

static uint8_t *tables_bytes(struct store_world *w, const char *path, size_t *len)
{
    struct sr_file *f = NULL;
    struct sr_stat st;
    const struct sr_files *fs = w->env.files;
    size_t got = 0;
    ck_assert_int_eq(fs->stat(fs, path, &st, &w->err), SR_OK);
    uint8_t *bytes = malloc((size_t)st.size_bytes);
    ck_assert_int_eq(fs->open(fs, path, SR_FILE_READ, &f, &w->err), SR_OK);
    ck_assert_int_eq(fs->read(f, bytes, (size_t)st.size_bytes, 0, &got, &w->err), SR_OK);
    ck_assert_int_eq(fs->close(f, &w->err), SR_OK);
    *len = got;
    return bytes;
}

void store_kit_tables(void)
{
    static const struct store_filler filler = {.fill = tables_fill_some};
    struct store_world *w = store_world_new(STORE_SQLITE, true, 1);
    const char *path = NULL;
    w->conf.filler = &filler;
    struct store *s = store_kit_open(w);
    ck_assert_msg(store_kit_savepoint(w, s, 1, &path) == SR_OK, "%s", w->err.words);
    store_close(s);
    ck_assert_msg(tables_load(w, path) == SR_OK, "%s", w->err.words);
    size_t len, refused = 0, marks = 0;
    uint8_t *bytes = tables_bytes(w, path, &len);
    for (size_t i = 0; i < len; i++) {
        bool is_mark = i + sizeof(tables_mark) < len &&
                       memcmp(bytes + i, tables_mark, sizeof(tables_mark) - 1) == 0;
        if (!is_mark && (bytes[i] == 0 || i % 11 != 0)) continue;
        bytes[i] ^= 1;
        ck_assert_int_eq(disk_put(w->disk, path, bytes, len), SR_OK);
        sr_rc rc = tables_load(w, path);
        ck_assert_msg(rc == SR_OK || rc == SR_ECORRUPT || rc == SR_EMISFIT, "%s", w->err.words);
        ck_assert_msg(!is_mark || rc == SR_ECORRUPT, "a changed row at %zu was believed", i);
        marks += is_mark ? 1 : 0;
        refused += rc != SR_OK ? 1 : 0;
        bytes[i] ^= 1;
    }
    free(bytes);
    ck_assert_uint_eq(marks, 3 * TABLES_ROWS / 7);
    ck_assert_uint_gt(refused, 300);
    store_world_free(w);
}
