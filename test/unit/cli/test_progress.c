#include "cli/progress.h"

#include "test/unit/cli/world.h"
#include "test/unit/unit.h"

/* The rate since the last line, the share where all sources know their size, and the time left once
 * a second has shown how fast it goes. */
START_TEST(a_line_tells_rate_share_and_time_left)
{
    struct world w;
    world_open(&w);
    struct progress p = {0};
    struct run_node_status n[] = {
        {.kind = PLAN_SOURCE, .in = 1000, .bytes_in = 256, .bytes_total = 2048},
        {.kind = PLAN_SINK, .in = 1000, .out = 1000}};
    struct run_status s = {.nodes = 2, .node = n, .now_us = 500000, .checkpoints_shown = 1};
    ck_assert_str_eq(progress_line(&p, w.cli.arena, &s),
                     "1,000 records, 2,000/s, 12 % of 2.0 KiB, 1 checkpoint");
    s.now_us = 2500000;
    n[0].in = 3000;
    n[0].bytes_in = 512;
    ck_assert_str_eq(progress_line(&p, w.cli.arena, &s),
                     "3,000 records, 1,000/s, 25 % of 2.0 KiB, 13 s left, 1 checkpoint");
    n[0].bytes_total = -1;
    s.checkpoints_shown = 0;
    ck_assert_str_eq(progress_line(&p, w.cli.arena, &s), "3,000 records, 0/s, 0 checkpoints");
    world_close(&w);
}
END_TEST

UNIT_MAIN("progress", a_line_tells_rate_share_and_time_left)
