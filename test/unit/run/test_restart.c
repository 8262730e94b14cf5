#include <string.h>

#include "test/unit/unit.h"

#include "engine/run/restart.h"

#define SECOND INT64_C(1000000)

/* Flink's defaults, as settings.c declares them. */
static struct settings defaults(enum settings_restart strategy)
{
    return (struct settings){.restart = {strategy},
                             .fixed_attempts = 1,
                             .fixed_delay = {SECOND},
                             .exp_initial = {SECOND},
                             .exp_max = {60 * SECOND},
                             .exp_reset = {3600 * SECOND},
                             .exp_attempts = INT64_MAX,
                             .exp_multiplier = 1.5,
                             .exp_jitter = 0.0};
}

/* Not written: give up when there are no checkpoints, else exponential-delay for ever. */
START_TEST(test_unset)
{
    struct restart r;
    struct settings s = defaults(RESTART_UNSET);
    restart_init(&r, &s, false);
    ck_assert(restart_failed(&r, 0, 0).give_up);
    restart_init(&r, &s, true);
    for (int i = 0; i < 1000; i++) {
        ck_assert(!restart_failed(&r, 0, 0).give_up);
    }
}
END_TEST

/* fixed-delay counts over the job's whole life, however long it ran in between. */
START_TEST(test_fixed)
{
    struct restart r;
    struct settings s = defaults(RESTART_FIXED);
    s.fixed_attempts = 2;
    restart_init(&r, &s, true);
    ck_assert_int_eq(restart_failed(&r, 0, 0).delay_us, SECOND);
    restart_running(&r, SECOND);
    struct restart_answer second = restart_failed(&r, 100000 * SECOND, 0);
    ck_assert(!second.give_up);
    ck_assert_int_eq(second.delay_us, SECOND);
    ck_assert(restart_failed(&r, 200000 * SECOND, 0).give_up);
}
END_TEST

/* exponential-delay grows by the multiplier up to the maximum, and begins anew after a run of the
 * reset threshold without failure. */
START_TEST(test_exponential)
{
    static const int64_t delays[] = {1000000,  1500000,  2250000,  3375000,  5062500,
                                     7593750,  11390625, 17085937, 25628905, 38443357,
                                     57665035, 60000000, 60000000};
    struct restart r;
    struct settings s = defaults(RESTART_EXPONENTIAL);
    restart_init(&r, &s, true);
    int64_t now = 0;
    for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        restart_running(&r, now);
        now += SECOND;
        ck_assert_int_eq(restart_failed(&r, now, 0).delay_us, delays[i]);
    }
    restart_running(&r, now);
    ck_assert_int_eq(restart_failed(&r, now + 3600 * SECOND - 1, 0).delay_us, 60 * SECOND);
    restart_running(&r, now);
    ck_assert_int_eq(restart_failed(&r, now + 3600 * SECOND, 0).delay_us, SECOND);
}
END_TEST

/* The jitter spreads a delay evenly around it, and never beyond the maximum; attempts are counted
 * until the reset. */
START_TEST(test_jitter_and_attempts)
{
    struct restart r;
    struct settings s = defaults(RESTART_EXPONENTIAL);
    s.exp_jitter = 0.1;
    s.exp_attempts = 2;
    restart_init(&r, &s, true);
    ck_assert_int_eq(restart_failed(&r, 0, 0).delay_us, 900000);
    ck_assert_int_eq(restart_failed(&r, 0, UINT64_MAX / 2 + 1).delay_us, 1500000);
    ck_assert(restart_failed(&r, 0, 0).give_up);
    s.exp_initial = s.exp_max;
    restart_init(&r, &s, true);
    ck_assert_int_eq(restart_failed(&r, 0, UINT64_MAX).delay_us, 60 * SECOND);
}
END_TEST

UNIT_MAIN("run: restart", test_unset, test_fixed, test_exponential, test_jitter_and_attempts)
