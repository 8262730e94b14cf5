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
    struct window_world w = {.step = {.window = WINDOW_TUMBLE, .slide_ms = size_ms}};
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

/* What is tried: kind, slide, size, offset. */
static const struct cut {
    enum window_kind kind;
    int64_t slide_ms, size_ms, offset_ms;
} cuts[] = {
    {WINDOW_TUMBLE, 10000, 10000, 0},      {WINDOW_HOP, 5000, 10000, 0},
    {WINDOW_HOP, 2000, 10000, -1000},      {WINDOW_HOP, 4000, 10000, 0},
    {WINDOW_HOP, 10000, 10000, 3000},      {WINDOW_CUMULATE, 5000, 20000, 0},
    {WINDOW_CUMULATE, 1000, 10000, 12500}, {WINDOW_SESSION, 0, 1200, 0},
    {WINDOW_SESSION, 0, 4000, 0},
};

#define CUTS (sizeof(cuts) / sizeof(cuts[0]))

static struct window_world cut_world(const struct cut *c)
{
    struct window_world w = window_world(c->size_ms, c->offset_ms);
    w.step.window = c->kind;
    w.step.slide_ms = c->slide_ms;
    window_open(&w);
    return w;
}

static void cut_everywhere(const struct cut *c)
{
    struct window_world whole = cut_world(c);
    const char *expect = cut_run(&whole, 0, 0, false);
    ck_assert_uint_gt(whole.base.late, 3);
    for (uint32_t a = 0; a <= CUT_ROWS; a += 3) {
        for (uint32_t b = a; b <= CUT_ROWS; b += 2 + b % 7) {
            struct window_world w = cut_world(c);
            ck_assert_str_eq(cut_run(&w, a, b, (a + b) % 2 == 0), expect);
            ck_assert_uint_eq(w.base.late, whole.base.late);
            ck_assert_uint_eq(w.base.absorbed, whole.base.absorbed);
            op_world_done(&w.base);
        }
    }
    op_world_done(&whole.base);
}
START_TEST(results_and_late_rows_do_not_depend_on_where_the_input_is_cut)
{
    for (size_t i = 0; i < CUTS; i++) {
        cut_everywhere(&cuts[i]);
    }
}
END_TEST

/* The windows of `ts`, found by looking at every one that could be: *end is the last one tried, or
 * INT64_MIN at first. False: no further one. */
static bool model_window(const struct cut *c, int64_t ts, int64_t *start, int64_t *end)
{
    int64_t at = *end == INT64_MIN ? ts + 1 : *end + 1;
    for (; at <= ts + c->size_ms; at++) {
        int64_t from = at - c->size_ms;
        int64_t slide = c->kind == WINDOW_TUMBLE ? c->size_ms : c->slide_ms;
        if (c->kind == WINDOW_CUMULATE) {
            int64_t into = (at - 1 - c->offset_ms) % c->size_ms;
            from = at - 1 - (into < 0 ? into + c->size_ms : into);
        }
        bool is_window = (from - c->offset_ms) % slide == 0 && (at - from) % slide == 0;
        is_window = c->kind == WINDOW_HOP ? (from - c->offset_ms) % slide == 0 : is_window;
        if (is_window && from <= ts && ts < at) {
            *start = from;
            *end = at;
            return true;
        }
    }
    return false;
}

/* COUNT and SUM of one key and window over the rows that are in time for it. */
static bool model_row(const struct cut *c, char key, int64_t start, int64_t end, uint32_t *count,
                      int64_t *sum)
{
    int64_t watermark = SR_WATERMARK_NONE;
    *count = 0;
    *sum = 0;
    for (uint32_t i = 0; i < CUT_ROWS; i++) {
        char row[64];
        int64_t ts, from, to = INT64_MIN;
        cut_row(i, row, &ts);
        while (row[0] == key && model_window(c, ts, &from, &to)) {
            if (from == start && to == end && watermark < end - 1) {
                *count += 1;
                *sum += i;
            }
        }
        watermark = ts - 3001 > watermark ? ts - 3001 : watermark;
    }
    return *count > 0;
}

static void model_compare(const struct cut *c)
{
    struct window_world w = cut_world(c);
    const char *out = cut_run(&w, 7, 31, true);
    uint32_t lines = 0, found = 0;
    for (const char *at = out; (at = strstr(at, "+I")) != NULL; at++) {
        lines++;
    }
    for (uint32_t i = 0; i < CUT_ROWS; i++) {
        char row[64], line[128];
        int64_t ts, start, end = INT64_MIN, sum;
        uint32_t count;
        cut_row(i, row, &ts);
        while (model_window(c, ts, &start, &end)) {
            bool is_there = model_row(c, row[0], start, end, &count, &sum);
            (void)snprintf(line, sizeof(line), "I %c,%lld,%lld,%lld,%u,%lld,", row[0],
                           (long long)start, (long long)end, (long long)end - 1, count,
                           (long long)sum);
            const char *at = strstr(out, line);
            ck_assert_msg(!is_there || at, "%s in %s", line, out);
            ck_assert(!at || strstr(at + 1, line) == NULL);
            if (at && at[-1] == '+') {
                ((char *)(uintptr_t)at)[-1] = '#'; /* counted once */
                found++;
            }
        }
    }
    ck_assert_uint_eq(found, lines);
    op_world_done(&w.base);
}
START_TEST(every_window_holds_the_rows_that_came_before_it_fired)
{
    for (size_t i = 0; i < CUTS; i++) {
        if (cuts[i].kind != WINDOW_SESSION) {
            model_compare(&cuts[i]);
        }
    }
}
END_TEST

START_TEST(a_hop_window_is_merged_from_panes_that_each_row_touches_once)
{
    const struct cut c = {WINDOW_HOP, 5000, 10000, 0};
    struct window_world w = cut_world(&c);
    (void)op_world_rows(&w.base, "a,-1,4; a,4000,2; b,4000,7; a,12000,NULL");
    ck_assert_str_eq(op_world_tell(&w.base, 4999), "+I a,-10000,0,-1,1,4,4,4,4; "
                                                   "+I b,-5000,5000,4999,1,7,7,7,7; "
                                                   "+I a,-5000,5000,4999,2,6,2,4,3");
    op_world_reborn(&w.base);
    ck_assert_str_eq(op_world_tell(&w.base, 14999),
                     "+I b,0,10000,9999,1,7,7,7,7; +I a,0,10000,9999,1,2,2,2,2; "
                     "+I a,5000,15000,14999,1,NULL,NULL,NULL,NULL");
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END),
                     "+I a,10000,20000,19999,1,NULL,NULL,NULL,NULL");
    op_world_done(&w.base);
}
END_TEST

START_TEST(a_row_that_is_late_for_some_of_its_windows_is_in_the_others)
{
    const struct cut c = {WINDOW_HOP, 5000, 10000, 0};
    struct window_world w = cut_world(&c);
    struct sr_view *v =
        rows_view(w.base.home, w.base.in, "a,1000,1; a,6000,2; a,2000,4; a,-3000,8");
    const int64_t before[] = {SR_WATERMARK_NONE, 999, 5999, 5999};
    rows_set_watermarks(w.base.home, v, before);
    v->watermark_end = 5999;
    /* The third row came when [-5000, 5000) had fired; the fourth had no window left. */
    ck_assert_str_eq(op_world_view(&w.base, v), "+I a,-5000,5000,4999,1,1,1,1,1");
    ck_assert_uint_eq(w.base.late, 1);
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END),
                     "+I a,0,10000,9999,3,7,1,4,2; +I a,5000,15000,14999,1,2,2,2,2");
    op_world_done(&w.base);
}
END_TEST

static int64_t clock_ms;
static int64_t clock_wall_us(const struct env *e)
{
    (void)e;
    return clock_ms * 1000;
}

/* Everything that comes out when the operator is woken now; *next: when it wants to be again. */
static const char *clock_wake(struct window_world *w, int64_t *next)
{
    const char *text = "";
    enum sr_step step = SR_STEP_AGAIN;
    while (step == SR_STEP_AGAIN) {
        struct sr_op_io io = {.in = NULL};
        step = window_aggregate_type.wake(w->base.op, clock_ms, &io, &w->base.err);
        ck_assert_int_ne(step, SR_STEP_FAILED);
        ck_assert(step == SR_STEP_DONE || io.out);
        *next = io.wake_ms;
        if (io.out) {
            text = arena_printf(w->base.arena, "%s%s; ", text, rows_text(w->base.arena, io.out));
            view_release(io.out);
        }
    }
    return text;
}

START_TEST(windows_of_the_wall_clock_take_every_row_and_fire_when_it_is_there)
{
    struct window_world w = window_world(10000, 0);
    int64_t next;
    w.step.window = WINDOW_HOP;
    w.step.slide_ms = 5000;
    w.step.is_proctime = true;
    w.base.env.wall_us = clock_wall_us;
    window_open(&w);
    clock_ms = 1000;
    ck_assert_str_eq(clock_wake(&w, &next), "");
    ck_assert_int_eq(next, SR_WAKE_NEVER);
    ck_assert_str_eq(op_world_rows(&w.base, "a,99999,1; a,NULL,2"), ""); /* columns do not matter */
    ck_assert_str_eq(op_world_tell(&w.base, 1000000), "");               /* nor do watermarks */
    clock_ms = 4999;
    ck_assert_str_eq(clock_wake(&w, &next), "");
    ck_assert_int_eq(next, 5000);
    clock_ms = 5000;
    ck_assert_str_eq(clock_wake(&w, &next), "+I a,-5000,5000,4999,2,3,1,2,1; ");
    ck_assert_int_eq(next, 10000);
    op_world_reborn(&w.base);
    clock_ms = 5500;
    ck_assert_str_eq(op_world_rows(&w.base, "a,1,4"), "");
    clock_ms = 70000; /* the job did not run for a while */
    ck_assert_str_eq(clock_wake(&w, &next),
                     "+I a,0,10000,9999,3,7,1,4,2; +I a,5000,15000,14999,1,4,4,4,4; ");
    ck_assert_int_eq(next, SR_WAKE_NEVER);
    ck_assert_str_eq(op_world_rows(&w.base, "a,1,4"), "");
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END),
                     "+I a,65000,75000,74999,1,4,4,4,4; +I a,70000,80000,79999,1,4,4,4,4");
    ck_assert_uint_eq(w.base.late + w.base.bads, 0);
    op_world_done(&w.base);
}
END_TEST

START_TEST(a_row_between_two_sessions_makes_them_one)
{
    const struct cut c = {WINDOW_SESSION, 0, 5000, 0};
    struct window_world w = cut_world(&c);
    (void)op_world_rows(&w.base, "a,0,1; a,8000,4; b,4000,9");
    op_world_reborn(&w.base);
    (void)op_world_rows(&w.base, "a,4000,2; a,-5000,8; a,-10001,16");
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END),
                     "+I a,-10001,-5001,-5002,1,16,16,16,16; +I b,4000,9000,8999,1,9,9,9,9; "
                     "+I a,-5000,13000,12999,4,15,1,8,3");
    op_world_done(&w.base);
}
END_TEST

/* The third row's own session is in time, but it does not bring back the first one, which is over
 * by the watermark of the second row and has not fired yet. */
START_TEST(a_session_that_is_over_takes_no_row_of_the_same_batch)
{
    const struct cut c = {WINDOW_SESSION, 0, 5000, 0};
    struct window_world w = cut_world(&c);
    struct sr_view *v =
        rows_view(w.base.home, w.base.in, "a,1000,1; b,7000,2; a,5500,4; a,499,8; a,9000,16");
    const int64_t before[] = {SR_WATERMARK_NONE, 0, 6000, 6000, 6000};
    rows_set_watermarks(w.base.home, v, before);
    v->watermark_end = 6000;
    ck_assert_str_eq(op_world_view(&w.base, v), "+I a,1000,6000,5999,1,1,1,1,1");
    ck_assert_uint_eq(w.base.late, 1);
    ck_assert_str_eq(op_world_tell(&w.base, SR_WATERMARK_END),
                     "+I b,7000,12000,11999,1,2,2,2,2; +I a,5500,14000,13999,2,20,4,16,10");
    op_world_done(&w.base);
}
END_TEST

START_TEST(state_of_other_windows_is_refused)
{
    struct window_world w = cut_world(&(struct cut){WINDOW_HOP, 5000, 10000, 0});
    (void)op_world_rows(&w.base, "a,1000,1");
    struct sr_out out = bytes_out();
    ck_assert_int_eq(state_save(w.base.state, &out, &w.base.err), SR_OK);
    struct window_world other = cut_world(&(struct cut){WINDOW_HOP, 2000, 10000, 0});
    ck_assert_int_eq(state_load(other.base.state, out.data, out.len, &other.base.err), SR_EMISFIT);
    ck_assert_msg(strstr(other.base.err.words, "HOP(slide 5000 ms, size 10000 ms") != NULL, "%s",
                  other.base.err.words);
    bytes_free(&out);
    op_world_done(&other.base);
    op_world_done(&w.base);
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
    w.step.agg = w.agg;
    w.step.window = WINDOW_CUMULATE;
    w.step.slide_ms = 3000;
    ck_assert_int_eq(op_world_open(&w.base, &window_aggregate_type, &w.step, w.base.in, "k STRING"),
                     SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(w.base.err.words, "multiple"));
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
          every_window_holds_the_rows_that_came_before_it_fired,
          a_hop_window_is_merged_from_panes_that_each_row_touches_once,
          a_row_that_is_late_for_some_of_its_windows_is_in_the_others,
          windows_of_the_wall_clock_take_every_row_and_fire_when_it_is_there,
          a_row_between_two_sessions_makes_them_one,
          a_session_that_is_over_takes_no_row_of_the_same_batch, state_of_other_windows_is_refused,
          windows_fire_in_the_order_of_their_ends_and_empty_ones_do_not_exist,
          many_groups_of_one_window_come_in_several_answers,
          rows_without_a_window_are_bad_rows_and_the_others_go_on,
          a_late_row_stays_late_after_a_restore, what_cannot_be_a_window_is_refused)
