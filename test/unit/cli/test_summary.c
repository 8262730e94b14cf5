#include <string.h>

#include "cli/summary.h"
#include "test/unit/cli/world.h"
#include "test/unit/unit.h"

static struct world w;
static const struct sr_op_type keyed = {.name = "aggregate", .is_keyed = true};
static const struct sr_op_type plain = {.name = "calc"};
static const uint32_t input[] = {0, 1, 2, 3, 4};

/* source -> calc -> aggregate -> calc -> sink */
static const struct plan_node chain[] = {
    {.kind = PLAN_SOURCE, .step = "in"},
    {.kind = PLAN_OP, .step = "c", .op = &plain, .inputs = 1, .input = &input[0]},
    {.kind = PLAN_OP, .step = "a", .op = &keyed, .inputs = 1, .input = &input[1]},
    {.kind = PLAN_OP, .step = "h", .op = &plain, .inputs = 1, .input = &input[2]},
    {.kind = PLAN_SINK, .step = "out", .inputs = 1, .input = &input[3]}};

static struct run_status status_of(const struct run_node_status *node, uint32_t nodes)
{
    return (struct run_status){
        .nodes = nodes, .node = node, .started_us = 0, .now_us = 2000000, .checkpoints_shown = 1};
}

/* Rows of a plain path are written, filtered or skipped, and the sums agree. */
START_TEST(a_plain_path)
{
    world_open(&w);
    struct plan_node node[] = {chain[0], chain[1], chain[4]};
    node[2].input = &input[1];
    const struct plan p = {.nodes = 3, .node = node};
    const struct run_node_status n[] = {
        {.kind = PLAN_SOURCE, .in = 1010, .out = 1000, .skipped = 10},
        {.kind = PLAN_OP, .in = 1000, .out = 900, .filtered = 100},
        {.kind = PLAN_SINK, .in = 900, .out = 900}};
    struct run_status s = status_of(n, 3);
    ck_assert_int_eq(summary_print(&w.cli, &p, &s), 10);
    ck_assert_str_eq(world_err(&w),
                     "streamrun: read 1,010 = written 900 + filtered 100 + aggregated 0 + late 0 + "
                     "dead-lettered 0 + skipped 10 (in all: 2.0 s, 1 checkpoint)\n");
    ck_assert_str_eq(world_out(&w), "");
    world_close(&w);
}
END_TEST

/* Behind an aggregate rows are results: what is filtered there is no part of what was read, and is
 * told with them. */
START_TEST(a_path_with_an_aggregate)
{
    world_open(&w);
    const struct plan p = {.nodes = 5, .node = chain};
    const struct run_node_status n[] = {
        {.kind = PLAN_SOURCE, .in = 100, .out = 100},
        {.kind = PLAN_OP, .in = 100, .out = 90, .filtered = 10},
        {.kind = PLAN_OP, .in = 90, .out = 7, .absorbed = 85, .late = 5},
        {.kind = PLAN_OP, .in = 7, .out = 4, .filtered = 3},
        {.kind = PLAN_SINK, .in = 4, .out = 4}};
    struct run_status s = status_of(n, 5);
    s.restored_from = 3;
    ck_assert_int_eq(summary_print(&w.cli, &p, &s), 0);
    ck_assert_str_eq(world_err(&w),
                     "streamrun: read 100 = written 0 + filtered 10 + aggregated 85 + late 5 + "
                     "dead-lettered 0 + skipped 0; aggregates emitted 7, written 4, filtered 3 "
                     "(in all: 2.0 s, 1 checkpoint, counted since the job's first run)\n");
    world_close(&w);
}
END_TEST

/* Where rows branch there is a line a sink, with its name, over its own path only. */
START_TEST(two_sinks)
{
    world_open(&w);
    struct plan_node node[] = {chain[0], chain[1], chain[4], chain[4]};
    node[2].step = "some";
    node[2].input = &input[1];
    node[3].step = "all";
    node[3].input = &input[0];
    const struct plan p = {.nodes = 4, .node = node};
    const struct run_node_status n[] = {{.kind = PLAN_SOURCE, .in = 5, .out = 5},
                                        {.kind = PLAN_OP, .in = 5, .out = 2, .filtered = 3},
                                        {.kind = PLAN_SINK, .in = 2, .out = 2},
                                        {.kind = PLAN_SINK, .in = 5, .out = 5}};
    struct run_status s = status_of(n, 4);
    (void)summary_print(&w.cli, &p, &s);
    ck_assert_ptr_nonnull(
        strstr(world_err(&w), "streamrun: some: read 5 = written 2 + filtered 3 +"));
    ck_assert_ptr_nonnull(
        strstr(world_err(&w), "streamrun: all: read 5 = written 5 + filtered 0 +"));
    ck_assert_ptr_null(strstr(world_err(&w), "on the way"));
    world_close(&w);
}
END_TEST

/* Sums that do not agree are not hidden: the difference is named. */
START_TEST(rows_on_the_way)
{
    world_open(&w);
    struct plan_node node[] = {chain[0], chain[4]};
    node[1].input = &input[0];
    const struct plan p = {.nodes = 2, .node = node};
    const struct run_node_status n[] = {{.kind = PLAN_SOURCE, .in = 5, .out = 5},
                                        {.kind = PLAN_SINK, .in = 3, .out = 3}};
    struct run_status s = status_of(n, 2);
    (void)summary_print(&w.cli, &p, &s);
    ck_assert_ptr_nonnull(strstr(world_err(&w), "; on the way 2 (in all"));
    world_close(&w);
}
END_TEST

/* -q says nothing, and still answers how many rows were set aside. */
START_TEST(quiet)
{
    world_open(&w);
    struct plan_node node[] = {chain[0], chain[4]};
    node[1].input = &input[0];
    const struct plan p = {.nodes = 2, .node = node};
    const struct run_node_status n[] = {{.kind = PLAN_SOURCE, .in = 5, .out = 2, .skipped = 3},
                                        {.kind = PLAN_SINK, .in = 2, .out = 1, .dead = 1}};
    struct run_status s = status_of(n, 2);
    w.cli.is_quiet = true;
    ck_assert_int_eq(summary_print(&w.cli, &p, &s), 4);
    ck_assert_str_eq(world_err(&w), "");
    world_close(&w);
}
END_TEST

UNIT_MAIN("summary", a_plain_path, a_path_with_an_aggregate, two_sinks, rows_on_the_way, quiet)
