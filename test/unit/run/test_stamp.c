#include <string.h>

#include "test/unit/unit.h"

#include "engine/run/stamp.h"

#define NONE SR_WATERMARK_NONE

static struct sr_home *home;

/* A view of split `split` whose rows suggest these watermarks. */
static struct sr_view *view(uint32_t split, uint32_t rows, const int64_t *candidate)
{
    struct sr_view *v = view_new(home, 0);
    v->rows = v->picked = rows;
    v->split = split;
    v->watermark_end = NONE;
    v->watermark = buffer_new(home, rows * (uint32_t)sizeof(int64_t));
    memcpy(v->watermark->data, candidate, rows * sizeof(int64_t));
    return v;
}

static void expect_rows(struct sr_view *v, const int64_t *ms, int64_t ms_end)
{
    ck_assert(v->watermark);
    for (uint32_t r = 0; r < v->rows; r++) {
        ck_assert_int_eq(((const int64_t *)(const void *)v->watermark->data)[r], ms[r]);
    }
    ck_assert_int_eq(v->watermark_end, ms_end);
    view_release(v);
}

/* A row arrives under the watermark that the rows before it made; it moves it for those behind. */
START_TEST(test_one_split)
{
    static const int64_t candidate[] = {5, 3, NONE, 9};
    static const int64_t in_force[] = {NONE, 5, 5, 5};
    struct stamp s = {.is_on = true, .watermark = NONE};
    home = home_new();
    ck_assert_int_eq(stamp_add(&s, 0, NONE, 0), SR_OK);
    struct sr_view *v = view(0, 4, candidate);
    stamp_view(&s, v, 0);
    expect_rows(v, in_force, 9);
    static const int64_t lower[] = {9, 1};
    v = view(0, 2, lower);
    stamp_view(&s, v, 0);
    ck_assert(!v->watermark); /* it does not move */
    ck_assert_int_eq(v->watermark_end, NONE);
    view_release(v);
    stamp_done(&s);
    home_close(home);
}
END_TEST

/* However the rows are cut into views, each arrives under the same watermark. */
START_TEST(test_cuts_do_not_matter)
{
    static const int64_t candidate[] = {4, 8, 2, 8, 11, 10, 30, 1};
    int64_t whole[8];
    for (uint32_t cut = 0; cut <= 8; cut++) {
        struct stamp s = {.is_on = true, .watermark = NONE};
        home = home_new();
        ck_assert_int_eq(stamp_add(&s, 0, NONE, 0), SR_OK);
        ck_assert_int_eq(stamp_add(&s, 1, 9, 0), SR_OK); /* holds the task at 9 */
        int64_t before = NONE;
        for (uint32_t part = 0; part < 2; part++) {
            uint32_t from = part == 0 ? 0 : cut, to = part == 0 ? cut : 8;
            if (from == to) continue;
            struct sr_view *v = view(0, to - from, candidate + from);
            stamp_view(&s, v, 0);
            for (uint32_t r = from; r < to; r++) {
                int64_t ms =
                    v->watermark ? ((int64_t *)(void *)v->watermark->data)[r - from] : before;
                if (cut == 0) whole[r] = ms;
                ck_assert_int_eq(ms, whole[r]);
            }
            if (v->watermark_end != NONE) before = v->watermark_end;
            view_release(v);
        }
        ck_assert_int_eq(s.watermark, 9);
        stamp_done(&s);
        home_close(home);
    }
}
END_TEST

/* The task's watermark is the lowest of its splits'; one that has ended counts no longer, nor one
 * that is idle; and it is held as long as splits wait to be given out. */
START_TEST(test_several_splits)
{
    static const int64_t high[] = {50}, low[] = {20}, higher[] = {60};
    struct stamp s;
    int64_t due = INT64_MAX;
    stamp_init(&s, true, 100, 0);
    home = home_new();
    ck_assert_int_eq(stamp_add(&s, 0, NONE, 0), SR_OK);
    ck_assert_int_eq(stamp_add(&s, 1, NONE, 0), SR_OK);
    struct sr_view *v = view(0, 1, high);
    stamp_view(&s, v, 0);
    ck_assert_int_eq(s.watermark, NONE);
    view_release(v);
    v = view(1, 1, low);
    stamp_view(&s, v, 50);
    ck_assert_int_eq(s.watermark, 20);
    view_release(v);
    ck_assert(!stamp_look(&s, 100, &due)); /* 0 is idle, 1 is not */
    ck_assert_int_eq(due, 150);
    ck_assert(!stamp_advance(&s, 0, &due));
    due = INT64_MAX;
    ck_assert(stamp_look(&s, 150, &due));
    ck_assert_int_eq(due, INT64_MAX);
    ck_assert(!stamp_advance(&s, 0, &due)); /* all idle: the last one counts, time stands still */
    v = view(0, 1, higher);
    stamp_view(&s, v, 150); /* awake again; 1 is idle and left out */
    ck_assert_int_eq(s.watermark, 60);
    view_release(v);
    stamp_remove(&s, 1);
    s.is_held = true;
    ck_assert_int_eq(stamp_add(&s, 2, 90, 160), SR_OK);
    stamp_remove(&s, 0);
    ck_assert(!stamp_advance(&s, 0, &due));
    s.is_held = false;
    ck_assert(stamp_advance(&s, 0, &due));
    ck_assert_int_eq(s.watermark, 90);
    stamp_done(&s);
    home_close(home);
}
END_TEST

/* With a period rows do not move the watermark, the clock does. */
START_TEST(test_period)
{
    static const int64_t first[] = {10}, second[] = {20};
    struct stamp s;
    int64_t due = INT64_MAX;
    home = home_new();
    stamp_init(&s, true, 0, 200);
    ck_assert_int_eq(stamp_add(&s, 0, NONE, 0), SR_OK);
    struct sr_view *v = view(0, 1, first);
    stamp_view(&s, v, 1000);
    ck_assert_ptr_null(v->watermark);
    ck_assert_int_eq(v->watermark_end, NONE);
    view_release(v);
    ck_assert(stamp_advance(&s, 1000, &due));
    ck_assert_int_eq(s.watermark, 10);
    v = view(0, 1, second);
    stamp_view(&s, v, 1100);
    view_release(v);
    ck_assert(!stamp_advance(&s, 1100, &due));
    ck_assert_int_eq(due, 1200);
    ck_assert(stamp_advance(&s, 1200, &due));
    ck_assert_int_eq(s.watermark, 20);
    stamp_done(&s);
    stamp_init(&s, true, 0, INT64_MAX); /* watermarks are turned off */
    ck_assert_int_eq(stamp_add(&s, 0, 7, 0), SR_OK);
    ck_assert(!stamp_advance(&s, INT64_MAX - 1, &due));
    stamp_done(&s);
    home_close(home);
}
END_TEST

/* A source that is kept from reading is not idle; one that never had a split is after the time. */
START_TEST(test_pauses_do_not_count)
{
    struct stamp s;
    int64_t due = INT64_MAX;
    stamp_init(&s, true, 100, 0);
    ck_assert_int_eq(stamp_add(&s, 0, NONE, 1000), SR_OK);
    stamp_pause(&s, 1050);
    stamp_pause(&s, 1500);
    ck_assert(!stamp_look(&s, 2000, &due));
    stamp_resume(&s, 3050);
    due = INT64_MAX;
    ck_assert(!stamp_look(&s, 3060, &due));
    ck_assert_int_eq(due, 3100);
    ck_assert(stamp_look(&s, 3100, &due));
    stamp_remove(&s, 0);
    ck_assert(stamp_look(&s, 3100, &due));
    s.is_unfed = true;
    s.opened_us = -1;
    due = INT64_MAX;
    ck_assert(!stamp_look(&s, 3100, &due));
    ck_assert_int_eq(due, 3200);
    ck_assert(stamp_look(&s, 3200, &due));
    stamp_done(&s);
    stamp_init(&s, true, 0, 0);
    s.is_unfed = true;
    due = INT64_MAX;
    ck_assert(!stamp_look(&s, 3200, &due));
    ck_assert_int_eq(due, INT64_MAX);
}
END_TEST

UNIT_MAIN("run: stamp", test_one_split, test_cuts_do_not_matter, test_several_splits, test_period,
          test_pauses_do_not_count)
