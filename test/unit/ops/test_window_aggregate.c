#include <stdio.h>
#include <string.h>

#include "engine/expr/steps.h"
#include "engine/ops/ops.h"
#include "test/kit/op_world.h"
#include "test/unit/unit.h"

struct window_world {
    struct op_world base;
    struct aggregate_step step;
    struct agg agg[5];
};

static const uint32_t window_key = 0;

/* COUNT(*), SUM, MIN, MAX and AVG of v by k, over windows of 10 s of ts. */
static struct window_world window_world(int64_t size_ms, int64_t offset_ms)
{
    struct window_world w = {.step = {.window = WINDOW_TUMBLE}};
    op_world_init(&w.base);
    const struct sr_schema *in = rows_schema(w.base.arena, "k STRING, ts TIMESTAMP(3), v INT");
    static const char *const names[] = {"COUNT", "SUM", "MIN", "MAX", "AVG"};
    for (uint32_t i = 0; i < 5; i++) {
        const struct expr *arg = i > 0 ? expr_column(w.base.arena, in, 2) : NULL;
        ck_assert_int_eq(agg_bind(names[i], arg, &w.agg[i], &w.base.err), SR_OK);
    }
    w.step.key = &window_key;
    w.step.keys = 1;
    w.step.aggs = 5;
    w.step.time_column = 1;
    w.step.size_ms = size_ms;
    w.step.offset_ms = offset_ms;
    w.step.time_zone = "UTC";
    w.base.in = in;
    return w;
}

static void window_open(struct window_world *w)
{
    w->step.agg = w->agg;
    ck_assert_msg(op_world_open(&w->base, &window_aggregate_type, &w->step, w->base.in,
                                "k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), "
                                "window_time TIMESTAMP(3), n BIGINT, sum INT, min INT, max INT, "
                                "avg INT") == SR_OK,
                  "%s", w->base.err.words);
}

START_TEST(a_window_fires_when_the_watermark_reaches_its_last_millisecond)
{
    struct window_world w = window_world(10000, 0);
    window_open(&w);
    ck_assert_str_eq(op_world_rows(&w.base, "a,1000,5; a,9999,-2; a,10000,7; a,2000,NULL"), "");
    ck_assert_str_eq(op_world_tell(&w.base, 9998), "");
    ck_assert_str_eq(op_world_tell(&w.base, 9999), "+I a,0,10000,9999,3,3,-2,5,1");
    ck_assert_str_eq(op_world_tell(&w.base, 19998), "");
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END), "+I a,10000,20000,19999,1,7,7,7,7");
    ck_assert_uint_eq(w.base.absorbed, 4);
    op_world_done(&w.base);
}
END_TEST

START_TEST(times_before_1970_and_offsets_fall_into_the_windows_of_floor_mod)
{
    struct window_world w = window_world(10000, 0);
    window_open(&w);
    (void)op_world_rows(&w.base, "a,-1,1; b,-10000,1; c,-10001,1; d,0,1; e,9999,1");
    const char *fired = op_world_tell(&w.base, SR_WATERMARK_END);
    const char *const wanted[] = {"a,-10000,0,", "b,-10000,0,", "c,-20000,-10000,", "d,0,10000,",
                                  "e,0,10000,"};
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_msg(strstr(fired, wanted[i]) != NULL, "%s in %s", wanted[i], fired);
    }
    op_world_done(&w.base);
    w = window_world(10000, 5000);
    window_open(&w);
    (void)op_world_rows(&w.base, "a,-58000,1; b,-48000,1");
    fired = op_world_tell(&w.base, SR_WATERMARK_END);
    ck_assert_ptr_nonnull(strstr(fired, "a,-65000,-55000,"));
    ck_assert_ptr_nonnull(strstr(fired, "b,-55000,-45000,"));
    op_world_done(&w.base);
    w = window_world(86400000, -28800000);
    window_open(&w);
    (void)op_world_rows(&w.base, "a,1704124799000,1; b,1704124800000,1");
    fired = op_world_tell(&w.base, SR_WATERMARK_END);
    ck_assert_ptr_nonnull(strstr(fired, "a,1704038400000,"));
    ck_assert_ptr_nonnull(strstr(fired, "b,1704124800000,"));
    op_world_done(&w.base);
}
END_TEST

/* The times 9999, 10000, 10000, 9999, 19999 with the watermark of each row behind it. */
START_TEST(a_row_is_late_by_the_watermark_in_force_when_it_arrived)
{
    struct window_world w = window_world(10000, 0);
    window_open(&w);
    struct sr_view *v =
        rows_view(w.base.home, w.base.in, "a,9999,1; a,10000,1; a,10000,1; a,9999,1; a,19999,1");
    const int64_t before[] = {SR_WATERMARK_NONE, 9998, 9999, 9999, 9999};
    rows_set_watermarks(w.base.home, v, before);
    v->watermark_end = 19998;
    ck_assert_str_eq(op_world_view(&w.base, v), "+I a,0,10000,9999,1,1,1,1,1");
    ck_assert_uint_eq(w.base.late, 1);
    ck_assert_uint_eq(w.base.absorbed, 4);
    ck_assert_str_eq(op_world_tell(&w.base, 19999), "+I a,10000,20000,19999,3,3,1,1,1");
    op_world_done(&w.base);
}
END_TEST

/* --- Cuts: rows whose watermark is their running maximum less 3 s, less 1 ms ------------------ */

#define CUT_ROWS 60u

static void cut_row(uint32_t i, char out[64], int64_t *ts)
{
    *ts = (int64_t)i * 1500 - (int64_t)(i * i * 7919 % 21000);
    (void)snprintf(out, 64, "%c,%lld,%u;", (char)('a' + i * 31 % 5), (long long)*ts, i);
}

/* Feeds rows [from, to) as one view. */
static const char *cut_feed(struct window_world *w, uint32_t from, uint32_t to, int64_t *watermark)
{
    char rows[CUT_ROWS * 64] = "";
    int64_t in_force[CUT_ROWS];
    for (uint32_t i = from; i < to; i++) {
        char row[64];
        int64_t ts;
        cut_row(i, row, &ts);
        strcat(rows, row);
        in_force[i - from] = *watermark;
        int64_t mark = ts - 3001;
        *watermark = mark > *watermark ? mark : *watermark;
    }
    struct sr_view *v = rows_view(w->base.home, w->base.in, rows);
    rows_set_watermarks(w->base.home, v, in_force);
    v->watermark_end = *watermark;
    return op_world_view(&w->base, v);
}

/* All that comes out when the input is cut behind rows a and b, and saved at the first cut. */
static const char *cut_run(struct window_world *w, uint32_t a, uint32_t b, bool is_saved)
{
    const char *text = "";
    int64_t watermark = SR_WATERMARK_NONE;
    const uint32_t at[] = {0, a, b, CUT_ROWS};
    for (uint32_t i = 0; i < 3; i++) {
        if (at[i] < at[i + 1]) {
            const char *out = cut_feed(w, at[i], at[i + 1], &watermark);
            text = arena_printf(w->base.arena, "%s%s%s", text, *out ? "; " : "", out);
        }
        if (i == 0 && is_saved) {
            op_world_reborn(&w->base);
        }
    }
    return arena_printf(w->base.arena, "%s; %s", text, op_world_tell(&w->base, SR_WATERMARK_END));
}

START_TEST(results_and_late_rows_do_not_depend_on_where_the_input_is_cut)
{
    struct window_world whole = window_world(10000, 0);
    window_open(&whole);
    const char *expect = cut_run(&whole, 0, 0, false);
    ck_assert_uint_gt(whole.base.late, 3);
    for (uint32_t a = 0; a <= CUT_ROWS; a++) {
        for (uint32_t b = a; b <= CUT_ROWS; b += 1 + b % 7) {
            struct window_world w = window_world(10000, 0);
            window_open(&w);
            ck_assert_str_eq(cut_run(&w, a, b, (a + b) % 2 == 0), expect);
            ck_assert_uint_eq(w.base.late, whole.base.late);
            ck_assert_uint_eq(w.base.absorbed, whole.base.absorbed);
            op_world_done(&w.base);
        }
    }
    op_world_done(&whole.base);
}
END_TEST

START_TEST(windows_fire_in_the_order_of_their_ends_and_empty_ones_do_not_exist)
{
    struct window_world w = window_world(10000, 0);
    window_open(&w);
    ck_assert_str_eq(op_world_rows(&w.base, "a,95000,1; a,1000,1; a,7258118400000,1"), "");
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END),
                     "+I a,0,10000,9999,1,1,1,1,1; +I a,90000,100000,99999,1,1,1,1,1; "
                     "+I a,7258118400000,7258118410000,7258118409999,1,1,1,1,1");
    op_world_done(&w.base);
}
END_TEST

START_TEST(many_groups_of_one_window_come_in_several_answers)
{
    struct window_world w = window_world(10000, 0);
    window_open(&w);
    for (uint32_t i = 0; i < 5000; i += 500) {
        char rows[500 * 40] = "";
        size_t len = 0;
        for (uint32_t n = i; n < i + 500; n++) {
            len += (size_t)snprintf(rows + len, sizeof(rows) - len, "key-%u,1,%u;", n, n);
        }
        ck_assert_str_eq(op_world_rows(&w.base, rows), "");
    }
    op_world_reborn(&w.base);
    const char *fired = op_world_tell(&w.base, 9999);
    uint32_t rows = 0;
    for (const char *at = fired; (at = strstr(at, "key-")) != NULL; at++) {
        rows++;
    }
    ck_assert_uint_eq(rows, 5000);
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END), "");
    op_world_done(&w.base);
}
END_TEST

START_TEST(rows_without_a_window_are_bad_rows_and_the_others_go_on)
{
    struct window_world w = window_world(10000, 0);
    window_open(&w);
    ck_assert_str_eq(op_world_rows(&w.base, "a,1,1; a,NULL,1; a,NULL,1; a,2,1; a,NULL,1"), "");
    ck_assert_uint_eq(w.base.bads, 3);
    ck_assert_uint_eq(w.base.absorbed, 2);
    ck_assert_str_eq(w.base.bad_words, "the time attribute is NULL");
    (void)op_world_rows(&w.base, "a,9223372036854770,1; a,-9223372036854770,1");
    ck_assert_uint_eq(w.base.bads, 5);
    ck_assert_str_eq(op_world_tell(&w.base, 10000), "+I a,0,10000,9999,2,2,1,1,1");
    op_world_done(&w.base);
}
END_TEST

START_TEST(a_late_row_stays_late_after_a_restore)
{
    struct window_world w = window_world(10000, 0);
    window_open(&w);
    (void)op_world_rows(&w.base, "a,1,1");
    (void)op_world_tell(&w.base, 9999);
    op_world_reborn(&w.base);
    ck_assert_str_eq(op_world_rows(&w.base, "a,2,1"), "");
    ck_assert_uint_eq(w.base.late, 1);
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END), "");
    op_world_done(&w.base);
}
END_TEST

START_TEST(what_cannot_be_a_window_is_refused)
{
    struct window_world w = window_world(10000, 10000);
    w.step.agg = w.agg;
    ck_assert_int_eq(op_world_open(&w.base, &window_aggregate_type, &w.step, w.base.in, "k STRING"),
                     SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(w.base.err.words, "offset"));
    op_world_done(&w.base);
    w = window_world(10000, 0);
    window_open(&w);
    ck_assert_ptr_null(op_world_rows(&w.base, "a,1,1; -U a,1,1"));
    op_world_done(&w.base);
}
END_TEST

UNIT_MAIN("window aggregate", a_window_fires_when_the_watermark_reaches_its_last_millisecond,
          times_before_1970_and_offsets_fall_into_the_windows_of_floor_mod,
          a_row_is_late_by_the_watermark_in_force_when_it_arrived,
          results_and_late_rows_do_not_depend_on_where_the_input_is_cut,
          windows_fire_in_the_order_of_their_ends_and_empty_ones_do_not_exist,
          many_groups_of_one_window_come_in_several_answers,
          rows_without_a_window_are_bad_rows_and_the_others_go_on,
          a_late_row_stays_late_after_a_restore, what_cannot_be_a_window_is_refused)
