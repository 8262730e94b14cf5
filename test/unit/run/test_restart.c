#include <string.h>

#include "test/unit/unit.h"

#include "engine/run/restart.h"
#include "test/unit/run/restart_grid.h"

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
        ck_assert(!restart_failed(&r, i * 61 * SECOND, 0).give_up);
    }
}
END_TEST

/* All strategies answer as Flink's do, for many parameters and moments of failure. */
START_TEST(test_grid)
{
    for (size_t i = 0; i < sizeof(grid) / sizeof(grid[0]); i++) {
        const struct grid_row *g = &grid[i];
        struct settings s = defaults(g->strategy);
        s.fixed_attempts = s.exp_attempts = s.rate_failures = g->attempts;
        s.fixed_delay.us = s.exp_initial.us = s.rate_delay.us = g->delay * 1000;
        s.exp_max.us = s.rate_interval.us = g->limit * 1000;
        s.exp_reset.us = g->reset * 1000;
        s.exp_multiplier = g->multiplier > 0 ? g->multiplier : 1.0;
        struct restart r;
        restart_init(&r, &s, true);
        for (uint32_t k = 0; k < g->failures; k++) {
            struct restart_answer is = restart_failed(&r, g->at[k] * 1000, 1);
            int64_t answer = is.give_up ? -1 : is.delay_us / 1000;
            ck_assert_msg(answer == g->answer[k], "row %zu, failure %u: %lld instead of %lld", i, k,
                          (long long)answer, (long long)g->answer[k]);
        }
    }
}
END_TEST

/* The jitter spreads a delay evenly around it, in whole milliseconds, never below the first nor
 * beyond the longest. */
START_TEST(test_jitter)
{
    struct settings s = defaults(RESTART_EXPONENTIAL);
    s.exp_jitter = 0.1;
    int64_t least = INT64_MAX, most = 0;
    for (uint64_t chance = 0; chance < 5000; chance++) {
        struct restart r;
        restart_init(&r, &s, true);
        int64_t first_us = restart_failed(&r, 0, chance).delay_us;
        ck_assert(first_us >= SECOND && first_us <= 1100000);
        int64_t us = restart_failed(&r, 2 * SECOND, chance).delay_us;
        least = us < least ? us : least;
        most = us > most ? us : most;
        ck_assert_int_eq(us % 1000, 0);
    }
    ck_assert_int_eq(least, 1350000);
    ck_assert_int_eq(most, 1650000);
    struct restart r;
    s.exp_initial = s.exp_max;
    restart_init(&r, &s, true);
    ck_assert_int_eq(restart_failed(&r, 0, 7).delay_us, 60 * SECOND);
    ck_assert_int_eq(restart_failed(&r, 61 * SECOND, UINT64_MAX).delay_us, 60 * SECOND);
}
END_TEST

/* A failure while a restart is due waits for the same moment and counts as the same. */
START_TEST(test_same)
{
    struct restart r;
    struct settings s = defaults(RESTART_EXPONENTIAL);
    s.exp_attempts = 1;
    restart_init(&r, &s, true);
    ck_assert(!restart_failed(&r, 0, 0).is_same);
    struct restart_answer second = restart_failed(&r, SECOND / 4, 0);
    ck_assert(second.is_same && !second.give_up);
    ck_assert_int_eq(second.delay_us, SECOND * 3 / 4);
    ck_assert(restart_failed(&r, SECOND + 1, 0).give_up);
}
END_TEST

UNIT_MAIN("run: restart", test_unset, test_grid, test_jitter, test_same)
