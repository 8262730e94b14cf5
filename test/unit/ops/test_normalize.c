#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/expr/steps.h"
#include "engine/ops/ops.h"
#include "test/kit/op_world.h"
#include "test/unit/unit.h"

struct table_world {
    struct op_world base;
    struct aggregate_step step;
    struct agg value[2];
};

static const uint32_t table_key[] = {1, 0};

/* Rows (a, k, v) of a table by (k, a), or by k alone; what comes out has the key first. */
static void table_world(struct table_world *w, uint32_t keys, const char *type)
{
    *w = (struct table_world){.step = {.window = WINDOW_NONE}};
    op_world_init(&w->base);
    struct arena *a = w->base.arena;
    const struct sr_schema *in = rows_schema(a, arena_printf(a, "a STRING, k INT, v %s", type));
    uint32_t values = 3 - keys;
    for (uint32_t i = 0; i < values; i++) {
        w->value[i].arg = expr_column(a, in, values == 1 || i == 1 ? 2 : 0);
    }
    w->step.key = table_key;
    w->step.keys = keys;
    w->step.agg = w->value;
    w->step.aggs = values;
    w->step.is_upsert = true;
    ck_assert_msg(op_world_open(&w->base, &normalize_type, &w->step, in,
                                arena_printf(a, "k INT, a STRING, v %s", type)) == SR_OK,
                  "%s", w->base.err.words);
}

START_TEST(a_row_replaces_the_one_of_its_key_and_a_deletion_tells_what_it_was)
{
    struct table_world w;
    table_world(&w, 1, "BIGINT");
    ck_assert_str_eq(op_world_rows(&w.base, "x,1,10; y,2,20; x,1,11; z,1,NULL"),
                     "+I 1,x,10; +I 2,y,20; -U 1,x,10; +U 1,x,11; -U 1,x,11; +U 1,z,NULL");
    ck_assert_str_eq(op_world_rows(&w.base, "-D NULL,2,NULL; -D NULL,1,NULL"),
                     "-D 2,y,20; -D 1,z,NULL");
    ck_assert_uint_eq(w.base.absorbed, 6);
    op_world_done(&w.base);
}
END_TEST

START_TEST(what_changes_nothing_is_not_told)
{
    struct table_world w;
    table_world(&w, 1, "STRING");
    ck_assert_str_eq(op_world_rows(&w.base, "x,1,v; x,1,v; x,1,v"), "+I 1,x,v");
    ck_assert_str_eq(op_world_rows(&w.base, "x,1,v; -D NULL,7,NULL; -D NULL,7,NULL"), "");
    ck_assert_str_eq(op_world_rows(&w.base, "NULL,3,NULL; NULL,3,NULL"), "+I 3,NULL,NULL");
    ck_assert_str_eq(op_world_rows(&w.base, "-U x,1,v; -U y,9,v"), ""); /* says no more than +U */
    ck_assert_str_eq(op_world_rows(&w.base, "x,1,w"), "-U 1,x,v; +U 1,x,w");
    op_world_done(&w.base);
}
END_TEST

START_TEST(a_key_that_was_deleted_begins_anew_in_the_same_batch_too)
{
    struct table_world w;
    table_world(&w, 1, "BIGINT");
    ck_assert_str_eq(
        op_world_rows(&w.base, "x,1,1; -D NULL,1,NULL; -D NULL,1,NULL; y,1,2; -D NULL,1,NULL"),
        "+I 1,x,1; -D 1,x,1; +I 1,y,2; -D 1,y,2");
    ck_assert_str_eq(op_world_rows(&w.base, "z,1,3; -D NULL,1,NULL; z,1,3"),
                     "+I 1,z,3; -D 1,z,3; +I 1,z,3");
    op_world_reborn(&w.base);
    ck_assert_str_eq(op_world_rows(&w.base, "z,1,3; z,1,4"), "-U 1,z,3; +U 1,z,4");
    op_world_done(&w.base);
}
END_TEST

START_TEST(a_key_of_several_columns_may_have_null)
{
    struct table_world w;
    table_world(&w, 2, "BIGINT");
    ck_assert_str_eq(op_world_rows(&w.base, "x,1,1; NULL,1,2; x,NULL,3; NULL,1,4; -D x,1,NULL"),
                     "+I 1,x,1; +I 1,NULL,2; +I NULL,x,3; -U 1,NULL,2; +U 1,NULL,4; -D 1,x,1");
    op_world_reborn(&w.base);
    ck_assert_str_eq(op_world_rows(&w.base, "-D x,1,NULL; -D x,NULL,NULL; -D NULL,1,NULL"),
                     "-D NULL,x,3; -D 1,NULL,4");
    op_world_done(&w.base);
}
END_TEST

/* A plain table of the test's, beside the operator. */
struct table_row {
    bool is_there;
    int v;
};

struct table_text {
    char *text;
    size_t len, room;
};

static void SR_PRINTF(2, 3) table_say(struct table_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    t->len += (size_t)snprintf(t->text + t->len, t->room - t->len, "%s", t->len > 0 ? "; " : "");
    t->len += (size_t)vsnprintf(t->text + t->len, t->room - t->len, fmt, args);
    va_end(args);
}

static void table_change(struct table_row *row, int k, int v, bool is_gone, struct table_text *want)
{
    bool is_same = !is_gone && row->is_there && row->v == v;
    if (row->is_there && !is_same) table_say(want, "%s %d,x,%d", is_gone ? "-D" : "-U", k, row->v);
    if (!is_gone && !is_same) table_say(want, "%s %d,x,%d", row->is_there ? "+U" : "+I", k, v);
    *row = (struct table_row){!is_gone, v};
}

START_TEST(many_rows_are_as_a_plain_table_has_them)
{
    enum { KEYS = 40, ROWS = 1000, BATCHES = 6, ROOM = ROWS * 64 };
    struct table_world w;
    struct table_row table[KEYS] = {{0}};
    struct table_text rows = {.text = calloc(1, ROOM), .room = ROOM};
    struct table_text want = {.text = calloc(1, ROOM), .room = ROOM};
    ck_assert(rows.text && want.text);
    table_world(&w, 1, "BIGINT");
    uint32_t random = 12345;
    for (int batch = 0; batch < BATCHES; batch++) {
        rows.len = want.len = 0;
        for (int i = 0; i < ROWS; i++) {
            random = random * 1664525 + 1013904223;
            int k = (int)(random >> 16) % KEYS, v = (int)(random >> 24) % 3;
            bool is_gone = (random >> 8) % 4 == 0;
            if (is_gone) table_say(&rows, "-D NULL,%d,NULL", k);
            if (!is_gone) table_say(&rows, "x,%d,%d", k, v);
            table_change(&table[k], k, v, is_gone, &want);
        }
        ck_assert_str_eq(op_world_rows(&w.base, rows.text), want.text);
        if (batch % 2) op_world_reborn(&w.base);
    }
    op_world_done(&w.base);
    free(rows.text);
    free(want.text);
}
END_TEST

UNIT_MAIN("normalize", a_row_replaces_the_one_of_its_key_and_a_deletion_tells_what_it_was,
          what_changes_nothing_is_not_told,
          a_key_that_was_deleted_begins_anew_in_the_same_batch_too,
          a_key_of_several_columns_may_have_null, many_rows_are_as_a_plain_table_has_them)
