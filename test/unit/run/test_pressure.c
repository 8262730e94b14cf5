/* What a task's time goes into: sums, and shares of the last second or two. */
#include "test/unit/unit.h"

#include "engine/run/pressure.h"

#define MS INT64_C(1000)
#define S  (1000 * MS)

static struct pressure_shown look(const struct pressure *p, int64_t now_us)
{
    struct pressure_shown shown = {.sum_us = {0}};
    ck_assert(pressure_look(p, now_us, &shown));
    return shown;
}

/* What has not begun is not shown. */
START_TEST(test_nothing_yet)
{
    struct pressure p = {.version = 0};
    struct pressure_shown shown;
    ck_assert(!pressure_look(&p, 5 * S, &shown));
    pressure_enter(&p, PRESSURE_IDLE, 5 * S);
    shown = look(&p, 5 * S);
    ck_assert_int_eq(shown.sum_us[PRESSURE_IDLE], 0);
    ck_assert_int_eq(shown.ms_per_second[PRESSURE_IDLE], 0);
}
END_TEST

/* Times of a task that changes between its states: the sums are exact at any moment, and the shares
 * of a second make a second. */
START_TEST(test_sums_and_shares)
{
    struct pressure p = {.version = 0};
    int64_t now_us = 7 * S;
    for (int i = 0; i < 1000; i++) { /* 10 s: 2 ms busy, 3 ms idle, 5 ms pressed */
        pressure_enter(&p, PRESSURE_BUSY, now_us);
        pressure_enter(&p, PRESSURE_BUSY, now_us + MS);
        pressure_enter(&p, PRESSURE_IDLE, now_us + 2 * MS);
        pressure_enter(&p, PRESSURE_PRESSED, now_us + 5 * MS);
        now_us += 10 * MS;
        if (i < 1) continue;
        struct pressure_shown shown = look(&p, now_us);
        ck_assert_int_eq(shown.sum_us[PRESSURE_BUSY], (i + 1) * 2 * MS);
        ck_assert_int_eq(shown.sum_us[PRESSURE_IDLE], (i + 1) * 3 * MS);
        ck_assert_int_eq(shown.sum_us[PRESSURE_PRESSED], (i + 1) * 5 * MS);
        ck_assert_int_eq(shown.ms_per_second[PRESSURE_BUSY], 200);
        ck_assert_int_eq(shown.ms_per_second[PRESSURE_IDLE], 300);
        ck_assert_int_eq(shown.ms_per_second[PRESSURE_PRESSED], 500);
    }
}
END_TEST

/* The shares follow within two seconds, whether or not the task is stepped meanwhile. */
START_TEST(test_shares_follow)
{
    struct pressure p = {.version = 0};
    pressure_enter(&p, PRESSURE_BUSY, S);
    for (int64_t now_us = S; now_us < 60 * S; now_us += 100 * MS) {
        pressure_enter(&p, PRESSURE_BUSY, now_us);
    }
    pressure_enter(&p, PRESSURE_PRESSED, 60 * S);
    struct pressure_shown shown = look(&p, 60 * S + 500 * MS);
    ck_assert_int_ge(shown.ms_per_second[PRESSURE_PRESSED], 200);
    ck_assert_int_le(shown.ms_per_second[PRESSURE_PRESSED], 500);
    shown = look(&p, 62 * S); /* not stepped */
    ck_assert_int_eq(shown.ms_per_second[PRESSURE_PRESSED], 1000);
    ck_assert_int_eq(shown.ms_per_second[PRESSURE_BUSY], 0);
    pressure_enter(&p, PRESSURE_IDLE, 90 * S);
    shown = look(&p, 90 * S + 100 * MS);
    ck_assert_int_ge(shown.ms_per_second[PRESSURE_PRESSED], 900);
    ck_assert_int_eq(shown.sum_us[PRESSURE_BUSY], 59 * S);
    ck_assert_int_eq(shown.sum_us[PRESSURE_PRESSED], 30 * S);
    ck_assert_int_eq(shown.sum_us[PRESSURE_IDLE], 100 * MS);
}
END_TEST

UNIT_MAIN("run: pressure", test_nothing_yet, test_sums_and_shares, test_shares_follow)
