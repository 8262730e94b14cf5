#include <string.h>

#include "engine/expr/steps.h"
#include "engine/ops/ops.h"
#include "test/kit/op_world.h"
#include "test/unit/unit.h"

/* Trees: what can go wrong while they are made has a test of its own. */
static const struct expr *call(struct op_world *w, const char *name, const struct expr *a,
                               const struct expr *b)
{
    const struct expr *args[] = {a, b};
    const struct expr *e = expr_call(w->arena, name, args, b ? 2 : 1, &w->err);
    ck_assert_msg(e != NULL, "%s", w->err.words);
    return e;
}

static const struct expr *number(struct op_world *w, const char *text)
{
    return expr_number(w->arena, text, &w->err);
}

/* SELECT s, 12 / v WHERE v <> 3 */
static struct calc_step calc_of(struct op_world *w, const struct sr_schema *in)
{
    const struct expr **out = arena_array(w->arena, 2, sizeof(*out));
    const struct expr *v = expr_column(w->arena, in, 0);
    out[0] = expr_column(w->arena, in, 1);
    out[1] = call(w, "/", number(w, "12"), v);
    return (struct calc_step){
        .condition = call(w, "<>", v, number(w, "3")), .out = out, .outs = 2, .time_zone = "UTC"};
}

START_TEST(rows_are_dropped_computed_and_reported_and_their_kinds_kept)
{
    struct op_world w;
    op_world_init(&w);
    const struct sr_schema *in = rows_schema(w.arena, "v INT, s STRING");
    struct calc_step step = calc_of(&w, in);
    ck_assert_int_eq(op_world_open(&w, &calc_type, &step, in, "s STRING, q INT"), SR_OK);
    ck_assert_str_eq(op_world_rows(&w, "4,a; 3,b; 0,c; -U 6,d; NULL,e; +U 5,f"),
                     "+I a,3; -U d,2; +U f,2");
    ck_assert_uint_eq(w.filtered, 2);
    ck_assert_uint_eq(w.bads, 1);
    ck_assert_str_eq(op_world_rows(&w, "3,a; 3,b"), "");
    ck_assert_uint_eq(w.used, 8);
    op_world_done(&w);
}
END_TEST

START_TEST(more_bad_rows_than_an_answer_holds_come_in_several)
{
    struct op_world w;
    op_world_init(&w);
    const struct sr_schema *in = rows_schema(w.arena, "v INT, s STRING");
    struct calc_step step = calc_of(&w, in);
    char rows[300 * 8] = "";
    for (int i = 0; i < 300; i++) {
        strcat(rows, i % 100 == 99 ? "2,x;" : "0,x;");
    }
    ck_assert_int_eq(op_world_open(&w, &calc_type, &step, in, "s STRING, q INT"), SR_OK);
    ck_assert_str_eq(op_world_rows(&w, rows), "+I x,6; +I x,6; +I x,6");
    ck_assert_uint_eq(w.bads, 297);
    op_world_done(&w);
}
END_TEST

START_TEST(a_calc_keeps_the_watermarks_that_rows_arrived_under)
{
    struct op_world w;
    op_world_init(&w);
    const struct sr_schema *in = rows_schema(w.arena, "v INT, s STRING");
    struct calc_step step = calc_of(&w, in);
    ck_assert_int_eq(op_world_open(&w, &calc_type, &step, in, "s STRING, q INT"), SR_OK);
    struct sr_view *v = rows_view(w.home, in, "4,a; 3,b; 6,d");
    const int64_t ms[] = {10, 20, 30};
    rows_set_watermarks(w.home, v, ms);
    struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    struct sr_op_io io = {.in = v, .bad = bad};
    ck_assert_int_eq(calc_type.process(w.op, &io, &w.err), SR_STEP_DONE);
    ck_assert_uint_eq(io.out->picked, 2);
    const int64_t *kept = (const int64_t *)(const void *)io.out->watermark->data;
    ck_assert_int_eq(kept[sr_row(io.out, 1)], 30);
    view_release(io.out);
    view_release(v);
    op_world_done(&w);
}
END_TEST

START_TEST(a_watermark_step_stamps_each_row_with_its_candidate)
{
    struct op_world w;
    op_world_init(&w);
    const struct sr_schema *in = rows_schema(w.arena, "k INT, ts TIMESTAMP(3)");
    const struct expr *delay = expr_interval(w.arena, "5", 1, false, "SECOND", NULL, &w.err);
    ck_assert_msg(delay != NULL, "%s", w.err.words);
    struct watermark_step step = {.at = call(&w, "-", expr_column(w.arena, in, 1), delay),
                                  .time_zone = "UTC"};
    ck_assert_int_eq(op_world_open(&w, &watermark_type, &step, in, "k INT, ts TIMESTAMP(3)"),
                     SR_OK);
    struct sr_view *v = rows_view(w.home, in, "1,7000; 2,NULL; 3,4999; 4,9000");
    v->sel_space[0] = 0;
    v->sel_space[1] = 1;
    v->sel_space[2] = 2;
    v->sel = v->sel_space;
    v->picked = 3;
    struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    struct sr_op_io io = {.in = v, .bad = bad};
    ck_assert_int_eq(watermark_type.process(w.op, &io, &w.err), SR_STEP_DONE);
    const int64_t *at = (const int64_t *)(const void *)io.out->watermark->data;
    ck_assert_int_eq(at[0], 2000);
    ck_assert_int_eq(at[1], SR_WATERMARK_NONE);
    ck_assert_int_eq(at[2], -1);
    ck_assert_str_eq(rows_text(w.arena, io.out), "+I 1,7000; +I 2,NULL; +I 3,4999");
    view_release(io.out);
    view_release(v);
    op_world_done(&w);
}
END_TEST

UNIT_MAIN("calc", rows_are_dropped_computed_and_reported_and_their_kinds_kept,
          more_bad_rows_than_an_answer_holds_come_in_several,
          a_calc_keeps_the_watermarks_that_rows_arrived_under,
          a_watermark_step_stamps_each_row_with_its_candidate)
