#include <stdio.h>
#include <string.h>

#include "engine/expr/steps.h"
#include "engine/ops/ops.h"
#include "test/kit/op_world.h"
#include "test/unit/unit.h"

struct group_world {
    struct op_world base;
    struct aggregate_step step;
    struct agg agg[8];
};

static const uint32_t group_key = 0;

/* Aggregates of column `v` (type as given) by k. */
static void group_world(struct group_world *w, const char *type, uint32_t aggs,
                        const char *const *names, const char *results)
{
    *w = (struct group_world){.step = {.window = WINDOW_NONE}};
    op_world_init(&w->base);
    struct arena *a = w->base.arena;
    const struct sr_schema *in =
        rows_schema(a, arena_printf(a, "k STRING, v %s, is_in BOOLEAN", type));
    for (uint32_t i = 0; i < aggs; i++) {
        bool is_star = strcmp(names[i], "COUNT(*)") == 0;
        const struct expr *arg = is_star ? NULL : expr_column(a, in, 1);
        ck_assert_msg(agg_bind(is_star ? "COUNT" : names[i], arg, &w->agg[i], &w->base.err) ==
                          SR_OK,
                      "%s", w->base.err.words);
    }
    w->step.key = &group_key;
    w->step.keys = 1;
    w->step.agg = w->agg;
    w->step.aggs = aggs;
    w->step.time_zone = "UTC";
    ck_assert_msg(op_world_open(&w->base, &group_aggregate_type, &w->step, in,
                                arena_printf(a, "k STRING, %s", results)) == SR_OK,
                  "%s", w->base.err.words);
}

static const char *const group_sums[] = {"COUNT(*)", "COUNT", "SUM", "AVG"};
static const char *const group_results = "n BIGINT, c BIGINT, s INT, a INT";

START_TEST(a_running_aggregate_tells_what_it_was_and_what_it_is)
{
    struct group_world w;
    group_world(&w, "INT", 4, group_sums, group_results);
    ck_assert_str_eq(op_world_rows(&w.base, "a,5,1; b,NULL,1; a,2,1; a,-10,1"),
                     "+I a,1,1,5,5; +I b,1,0,NULL,NULL; -U a,1,1,5,5; +U a,2,2,7,3; -U a,2,2,7,3; "
                     "+U a,3,3,-3,-1");
    op_world_reborn(&w.base);
    ck_assert_str_eq(op_world_rows(&w.base, "b,4,1; c,1,1"),
                     "-U b,1,0,NULL,NULL; +U b,2,1,4,4; +I c,1,1,1,1");
    ck_assert_uint_eq(w.base.absorbed, 6);
    op_world_done(&w.base);
}
END_TEST

START_TEST(rows_that_are_taken_back_are_undone)
{
    struct group_world w;
    group_world(&w, "INT", 4, group_sums, group_results);
    ck_assert_str_eq(op_world_rows(&w.base, "a,5,1; a,NULL,1; -U a,5,1; +U a,6,1"),
                     "+I a,1,1,5,5; -U a,1,1,5,5; +U a,2,1,5,5; -U a,2,1,5,5; +U a,1,0,NULL,NULL; "
                     "-U a,1,0,NULL,NULL; +U a,2,1,6,6");
    /* The last one gone, the group is gone: and begins anew in the same call. */
    ck_assert_str_eq(op_world_rows(&w.base, "-D a,NULL,1; -D a,6,1; -D a,6,1; a,1,1"),
                     "-U a,2,1,6,6; +U a,1,1,6,6; -D a,1,1,6,6; +I a,1,1,1,1");
    ck_assert_str_eq(op_world_rows(&w.base, "-D a,1,1; -U z,1,1"), "-D a,1,1,1,1");
    op_world_reborn(&w.base);
    ck_assert_str_eq(op_world_rows(&w.base, "z,3,1; a,2,1"), "+I z,1,1,3,3; +I a,1,1,2,2");
    op_world_done(&w.base);
}
END_TEST

START_TEST(an_update_that_changes_nothing_is_not_told)
{
    struct group_world w;
    static const char *const names[] = {"MAX", "MIN"};
    group_world(&w, "STRING", 2, names, "max STRING, min STRING");
    ck_assert_str_eq(op_world_rows(&w.base, "a,m,1; a,k,1; a,l,1; a,NULL,1; a,zz,1; a,z,1"),
                     "+I a,m,m; -U a,m,m; +U a,m,k; -U a,m,k; +U a,zz,k");
    op_world_done(&w.base);
}
END_TEST

START_TEST(min_and_max_refuse_rows_that_are_taken_back)
{
    struct group_world w;
    static const char *const names[] = {"MAX"};
    group_world(&w, "INT", 1, names, "max INT");
    ck_assert_str_eq(op_world_rows(&w.base, "a,1,1; +U a,2,1"), "+I a,1; -U a,1; +U a,2");
    ck_assert_ptr_null(op_world_rows(&w.base, "-U a,2,1"));
    ck_assert_ptr_nonnull(strstr(w.base.err.words, "MIN and MAX"));
    op_world_done(&w.base);
}
END_TEST

/* Against plain arithmetic, with many groups, one of them in every second row. */
START_TEST(results_do_not_depend_on_batches_nor_on_how_rows_are_spread_over_groups)
{
    struct group_world one, many;
    group_world(&one, "INT", 4, group_sums, group_results);
    group_world(&many, "INT", 4, group_sums, group_results);
    char rows[1024 * 24] = "";
    size_t len = 0;
    const char *text = "";
    for (uint32_t i = 0; i < 1000; i++) {
        char row[64];
        (void)snprintf(row, sizeof(row), "k%u,%d,1;", i % 2 ? 0 : i * 37 % 91, (int)(i * 7 % 13));
        len += (size_t)snprintf(rows + len, sizeof(rows) - len, "%s", row);
        const char *out = op_world_rows(&one.base, row);
        text = arena_printf(one.base.arena, "%s%s%s", text, *text && *out ? "; " : "", out);
    }
    ck_assert_str_eq(op_world_rows(&many.base, rows), text);
    op_world_done(&one.base);
    op_world_done(&many.base);
}
END_TEST

START_TEST(a_filter_lets_only_true_rows_into_its_aggregate)
{
    struct group_world w = {.step = {.window = WINDOW_NONE}};
    op_world_init(&w.base);
    const struct sr_schema *in = rows_schema(w.base.arena, "k STRING, v INT, is_in BOOLEAN");
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(agg_bind("SUM", expr_column(w.base.arena, in, 1), &w.agg[i], &w.base.err),
                         SR_OK);
    }
    w.agg[1].filter = expr_column(w.base.arena, in, 2);
    w.step = (struct aggregate_step){
        .key = &group_key, .keys = 1, .agg = w.agg, .aggs = 2, .time_zone = "UTC"};
    ck_assert_int_eq(
        op_world_open(&w.base, &group_aggregate_type, &w.step, in, "k STRING, s INT, f INT"),
        SR_OK);
    ck_assert_str_eq(op_world_rows(&w.base, "a,1,1; a,2,0; a,4,NULL; a,8,1"),
                     "+I a,1,1; -U a,1,1; +U a,3,1; -U a,3,1; +U a,7,1; -U a,7,1; +U a,15,9");
    op_world_done(&w.base);
}
END_TEST

START_TEST(without_keys_all_rows_are_one_group)
{
    struct group_world w = {.step = {.window = WINDOW_NONE}};
    op_world_init(&w.base);
    const struct sr_schema *in = rows_schema(w.base.arena, "v INT");
    ck_assert_int_eq(agg_bind("COUNT", NULL, &w.agg[0], &w.base.err), SR_OK);
    w.step = (struct aggregate_step){.agg = w.agg, .aggs = 1, .time_zone = "UTC"};
    ck_assert_int_eq(op_world_open(&w.base, &group_aggregate_type, &w.step, in, "n BIGINT"), SR_OK);
    ck_assert_str_eq(op_world_rows(&w.base, "1; 2"), "+I 1; -U 1; +U 2");
    op_world_reborn(&w.base);
    ck_assert_str_eq(op_world_rows(&w.base, "1"), "-U 2; +U 3");
    op_world_done(&w.base);
}
END_TEST

START_TEST(distinct_is_refused)
{
    struct group_world w = {.step = {.window = WINDOW_NONE}};
    op_world_init(&w.base);
    const struct sr_schema *in = rows_schema(w.base.arena, "v INT");
    ck_assert_int_eq(agg_bind("COUNT", expr_column(w.base.arena, in, 0), &w.agg[0], &w.base.err),
                     SR_OK);
    w.agg[0].is_distinct = true;
    w.step = (struct aggregate_step){.agg = w.agg, .aggs = 1, .time_zone = "UTC"};
    ck_assert_int_eq(op_world_open(&w.base, &group_aggregate_type, &w.step, in, "n BIGINT"),
                     SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(w.base.err.words, "DISTINCT"));
    op_world_done(&w.base);
}
END_TEST

/* --- Kernels: sum and average of two rows by type, then the second taken back ----------------- */

static void group_check(const char *type, const char *result_types, const char *rows,
                        const char *expect)
{
    static const char *const names[] = {"SUM", "AVG"};
    struct group_world w;
    group_world(&w, type, 2, names, result_types);
    ck_assert_str_eq(op_world_rows(&w.base, rows), expect);
    op_world_done(&w.base);
}

START_TEST(sums_have_their_arguments_type_and_wrap_averages_are_cut_towards_zero)
{
    group_check("TINYINT", "s TINYINT, a TINYINT", "a,100,1; a,101,1; -D a,100,1",
                "+I a,100,100; -U a,100,100; +U a,-55,100; -U a,-55,100; +U a,101,101");
    group_check("SMALLINT", "s SMALLINT, a SMALLINT", "a,32767,1; a,1,1",
                "+I a,32767,32767; -U a,32767,32767; +U a,-32768,16384");
    group_check("INT", "s INT, a INT", "a,-2147483648,1; a,-1,1",
                "+I a,-2147483648,-2147483648; -U a,-2147483648,-2147483648; "
                "+U a,2147483647,-1073741824");
    group_check("BIGINT", "s BIGINT, a BIGINT", "a,-7,1; a,2,1",
                "+I a,-7,-7; -U a,-7,-7; +U a,-5,-2");
    group_check("DOUBLE", "s DOUBLE, a DOUBLE", "a,1.5,1; a,2,1; -D a,1.5,1",
                "+I a,1.5,1.5; -U a,1.5,1.5; +U a,3.5,1.75; -U a,3.5,1.75; +U a,2,2");
    group_check("FLOAT", "s FLOAT, a FLOAT", "a,16777216,1; a,1,1",
                "+I a,1.67772e+07,1.67772e+07; -U a,1.67772e+07,1.67772e+07; "
                "+U a,1.67772e+07,8.38861e+06");
    /* DECIMAL(10, 2): 1.00 and 2.01 to scale 2, and to scale 6, rounded half up. */
    group_check("DECIMAL(10, 2)", "s DECIMAL(38, 2), a DECIMAL(38, 6)",
                "a,100,1; a,100,1; a,101,1; -D a,101,1",
                "+I a,100,1000000; -U a,100,1000000; +U a,200,1000000; -U a,200,1000000; "
                "+U a,301,1003333; -U a,301,1003333; +U a,200,1000000");
    group_check("DECIMAL(38, 0)", "s DECIMAL(38, 0), a DECIMAL(38, 6)", "a,1,1; a,2,1",
                "+I a,1,1000000; -U a,1,1000000; +U a,3,1500000");
}
END_TEST

START_TEST(min_and_max_know_every_ordered_type)
{
    static const char *const names[] = {"MIN", "MAX"};
    static const char *const types[] = {
        "TINYINT",        "SMALLINT",       "INT",  "BIGINT", "FLOAT",        "DOUBLE",
        "DECIMAL(10, 2)", "DECIMAL(38, 2)", "DATE", "TIME",   "TIMESTAMP(3)", "STRING"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct group_world w;
        char results[100];
        (void)snprintf(results, sizeof(results), "min %s, max %s", types[i], types[i]);
        group_world(&w, types[i], 2, names, results);
        ck_assert_str_eq(op_world_rows(&w.base, "a,NULL,1; a,5,1; a,3,1; a,7,1; a,4,1"),
                         "+I a,NULL,NULL; -U a,NULL,NULL; +U a,5,5; -U a,5,5; +U a,3,5; -U a,3,5; "
                         "+U a,3,7");
        op_world_reborn(&w.base);
        ck_assert_str_eq(op_world_rows(&w.base, "a,9,1"), "-U a,3,7; +U a,3,9");
        op_world_done(&w.base);
    }
}
END_TEST

UNIT_MAIN("group aggregate", a_running_aggregate_tells_what_it_was_and_what_it_is,
          rows_that_are_taken_back_are_undone, an_update_that_changes_nothing_is_not_told,
          min_and_max_refuse_rows_that_are_taken_back,
          results_do_not_depend_on_batches_nor_on_how_rows_are_spread_over_groups,
          a_filter_lets_only_true_rows_into_its_aggregate, without_keys_all_rows_are_one_group,
          distinct_is_refused,
          sums_have_their_arguments_type_and_wrap_averages_are_cut_towards_zero,
          min_and_max_know_every_ordered_type)
