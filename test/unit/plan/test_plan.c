#include <jansson.h>

#include "engine/expr/steps.h"
#include "test/unit/bind/jobs.h"

/* The drawing of a job is exactly this. */
static void plan_check_at(const char *job, int64_t parallelism, const char *want)
{
    struct jobs_bound b = jobs_open(job, parallelism);
    ck_assert_msg(b.plan != NULL, "%s\n%s", job, jobs_faults(&b));
    const char *got = plan_text(b.arena, b.plan);
    ck_assert_msg(strcmp(got, want) == 0, "%s\n  gives\n%s  not\n%s", job, got, want);
    jobs_close(&b);
}

START_TEST(stateless_neighbours_become_one_calc_in_one_chain)
{
    plan_check_at("source a; schema=k INT, v INT, unused STRING\n"
                  "transform t; from=a; where=v > 1; select=k | v + 1 AS w\n"
                  "transform u; from=t; where=w < 9; select=w * 2 AS x\n"
                  "sink s; from=u\n",
                  1,
                  "test: bounded, 1 task\n"
                  "\n"
                  "[1] x1  a: source rows  1 of 3 columns: v\n"
                  "     |   t + u: calc     WHERE v > 1 AND v + 1 < 9; (v + 1) * 2 AS x\n"
                  "     |   s: sink once    exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
}
END_TEST

START_TEST(a_step_that_changes_nothing_is_not_there)
{
    plan_check_at("source a; schema=k INT, v INT\n"
                  "transform t; from=a\n"
                  "sink s; from=t\n",
                  2,
                  "test: bounded, 2 tasks\n"
                  "\n"
                  "[1] x2  a: source rows  all 2 columns\n"
                  "     |   s: sink once    exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
}
END_TEST

START_TEST(computed_columns_are_only_computed_when_used)
{
    plan_check_at("source a; schema=x STRING, n INT, big AS n * 100, low AS LOWER(x)\n"
                  "transform t; from=a; select=big | n\n"
                  "sink s; from=t\n",
                  1,
                  "test: bounded, 1 task\n"
                  "\n"
                  "[1] x1  a: source rows  1 of 2 columns: n\n"
                  "     |   t: calc         n * 100 AS big, n\n"
                  "     |   s: sink once    exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
}
END_TEST

START_TEST(the_watermark_is_stamped_at_the_source)
{
    const char *job = "source a; schema=k INT, ts TIMESTAMP(3); watermark=ts AS ts\n"
                      "transform t; from=a; where=k > 1; select=k\n"
                      "sink s; from=t\n";
    plan_check_at(job, 1,
                  "test: bounded, 1 task\n"
                  "\n"
                  "[1] x1  a: source rows  all 2 columns\n"
                  "     |   a: watermark    ts\n"
                  "     |   t: calc         WHERE k > 1; k\n"
                  "     |   s: sink once    exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
    struct jobs_bound b = jobs_open(job, 1);
    ck_assert_int_eq(b.plan->node[0].kind, PLAN_SOURCE);
    ck_assert_int_eq(b.plan->node[0].stamp, 1);
    ck_assert_str_eq(b.plan->node[1].op->name, "watermark");
    ck_assert_uint_eq(b.plan->node[1].vertex, b.plan->node[0].vertex);
    jobs_close(&b);
    plan_check_at(
        "source a; schema=k INT, x STRING, ts AS CAST(x AS TIMESTAMP(3)); watermark=ts AS ts\n"
        "transform t; from=a; where=k > 1; select=k | ts\n"
        "sink s; from=t\n",
        1,
        "test: bounded, 1 task\n"
        "\n"
        "[1] x1  a: source rows  all 2 columns\n"
        "     |   a: calc         k, CAST(x AS TIMESTAMP(3)) AS ts\n"
        "     |   a: watermark    ts\n"
        "     |   t: calc         WHERE k > 1; k, ts\n"
        "     |   s: sink once    exactly-once\n"
        "\n"
        "a -> s: exactly-once\n");
}
END_TEST

START_TEST(rows_are_split_by_key_in_front_of_an_aggregate)
{
    plan_check_at("source a; schema=k STRING, v INT, ts TIMESTAMP(3), y INT; watermark=ts AS ts\n"
                  "transform t; from=a; where=v > 0; window=TUMBLE(ts, INTERVAL '1' MINUTE); "
                  "group=k; select=k | window_start | SUM(v) AS total | COUNT(*) AS n | SUM(v) / "
                  "COUNT(*) AS mean\n"
                  "sink s; from=t\n",
                  2,
                  "test: bounded, 4 tasks\n"
                  "\n"
                  "[1] x2  a: source rows       3 of 4 columns: k, v, ts\n"
                  "     |   a: watermark         ts\n"
                  "     |   t: calc              WHERE v > 0; k, ts, v\n"
                  "     '-> [2] hash(k)\n"
                  "[2] x2  t: window-aggregate  TUMBLE(ts, 1 min) by k: SUM(v), COUNT(*)\n"
                  "     |   t: calc              k, window_start, SUM(v) AS total, COUNT(*) AS n, "
                  "CAST(SUM(v) AS BIGINT) / COUNT(*) AS mean\n"
                  "     |   s: sink once         exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
    plan_check_at("source a; schema=k STRING, v INT\n"
                  "transform t; from=a; group=k; select=COUNT(*) AS n | k\n"
                  "sink s; from=t; key=k; parallelism=1\n",
                  2,
                  "test: bounded, 5 tasks\n"
                  "\n"
                  "[1] x2  a: source rows      1 of 2 columns: k\n"
                  "     |   a: calc             k\n"
                  "     '-> [2] hash(k)\n"
                  "[2] x2  t: group-aggregate  by k: COUNT(*)\n"
                  "     |   t: calc             COUNT(*) AS n, k\n"
                  "     '-> [3] gather\n"
                  "[3] x1  s: sink once        exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
    plan_check_at("source a; schema=k STRING, v INT\n"
                  "transform t; from=a; select=MAX(v) AS top\n"
                  "sink s; from=t\n",
                  2,
                  "test: bounded, 3 tasks\n"
                  "\n"
                  "[1] x2  a: source rows      1 of 2 columns: v\n"
                  "     |   a: calc             v\n"
                  "     '-> [2] gather\n"
                  "[2] x1  t: group-aggregate  MAX(v)\n"
                  "     |   s: sink once        exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
}
END_TEST

START_TEST(a_result_that_nobody_reads_is_not_computed)
{
    plan_check_at("source a; schema=k STRING, v INT\n"
                  "transform t; from=a; group=k; select=k | COUNT(*) AS n | SUM(v) AS total\n"
                  "transform u; from=t; select=k | n\n"
                  "sink s; from=u\n",
                  1,
                  "test: bounded, 2 tasks\n"
                  "\n"
                  "[1] x1  a: source rows      1 of 2 columns: k\n"
                  "     |   a: calc             k\n"
                  "     '-> [2] hash(k)\n"
                  "[2] x1  t: group-aggregate  by k: COUNT(*)\n"
                  "     |   s: sink once        exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
}
END_TEST

START_TEST(branches_and_unions_are_edges)
{
    plan_check_at("source a; schema=k INT, v INT, w INT\n"
                  "source b; schema=k INT, v INT; parallelism=1\n"
                  "transform t; from=a; where=v > 1; select=k | v\n"
                  "transform u; from=t | b; select=k\n"
                  "sink s; from=u\n"
                  "sink z; from=t; connector=append; parallelism=1\n",
                  2,
                  "test: bounded, 8 tasks\n"
                  "\n"
                  "[1] x2  a: source rows  2 of 3 columns: k, v\n"
                  "     |   t: calc         WHERE v > 1; k, v\n"
                  "     '-> [3] forward\n"
                  "     '-> [5] gather\n"
                  "[2] x1  b: source rows  1 of 2 columns: k\n"
                  "     |   b: calc         k\n"
                  "     '-> [4] rebalance\n"
                  "[3] x2  t: calc         k\n"
                  "     '-> [4] forward\n"
                  "[4] x2  s: sink once    exactly-once\n"
                  "[5] x1  z: sink append  at-least-once\n"
                  "\n"
                  "a -> s: exactly-once\n"
                  "b -> s: exactly-once\n"
                  "a -> z: at-least-once: sink 'z' (append) can keep no more\n");
}
END_TEST

/* Rows that were dealt out to several subtasks could overtake each other. */
START_TEST(updates_of_unequal_inputs_are_gathered)
{
    plan_check_at("source a; schema=k INT\n"
                  "transform t; from=a; group=k; select=k | COUNT(*) AS n; parallelism=2\n"
                  "transform u; from=a; group=k; select=k | COUNT(*) AS n; parallelism=3\n"
                  "transform v; from=t | u; select=k | n + 1 AS m\n"
                  "sink s; from=v; key=k; parallelism=2\n",
                  1,
                  "test: bounded, 9 tasks\n"
                  "\n"
                  "[1] x1  a: source rows      1 column\n"
                  "     '-> [2] hash(k)\n"
                  "     '-> [3] hash(k)\n"
                  "[2] x2  t: group-aggregate  by k: COUNT(*)\n"
                  "     '-> [4] gather\n"
                  "[3] x3  u: group-aggregate  by k: COUNT(*)\n"
                  "     '-> [4] gather\n"
                  "[4] x1  v: calc             k, COUNT(*) + CAST(1 AS BIGINT) AS m\n"
                  "     '-> [5] hash(k)\n"
                  "[5] x2  s: sink once        exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n");
}
END_TEST

START_TEST(a_calc_behind_a_union_runs_in_front_of_it)
{
    plan_check_at("source a; schema=k INT, v INT, w INT\n"
                  "source b; schema=k INT, v INT, z STRING\n"
                  "transform c; from=b; select=k | v | v AS w\n"
                  "transform u; from=a | c; where=v > 1; select=k + w AS q\n"
                  "transform x; from=u; where=q > 3\n"
                  "sink s; from=x\n",
                  1,
                  "test: bounded, 3 tasks\n"
                  "\n"
                  "[1] x1  a: source rows   all 3 columns\n"
                  "     |   u + x: calc      WHERE v > 1 AND k + w > 3; k + w AS q\n"
                  "     '-> [3] forward\n"
                  "[2] x1  b: source rows   2 of 3 columns: k, v\n"
                  "     |   c + u + x: calc  WHERE v > 1 AND k + v > 3; k + v AS q\n"
                  "     '-> [3] forward\n"
                  "[3] x1  s: sink once     exactly-once\n"
                  "\n"
                  "a -> s: exactly-once\n"
                  "b -> s: exactly-once\n");
}
END_TEST

START_TEST(parallelism_is_the_steps_or_the_jobs_and_bounded_by_the_connector)
{
    plan_check_at("source a; schema=k INT; connector=pipe\n"
                  "transform t; from=a; where=k > 1; parallelism=3\n"
                  "sink s; from=t; connector=text; format=csv\n",
                  4,
                  "test: bounded, 5 tasks\n"
                  "\n"
                  "[1] x1  a: source pipe  1 column\n"
                  "     '-> [2] rebalance\n"
                  "[2] x3  t: calc         WHERE k > 1; k\n"
                  "     '-> [3] gather\n"
                  "[3] x1  s: sink text    csv; no guarantee\n"
                  "\n"
                  "a -> s: no guarantee: source 'a' (pipe) cannot go back to read a row again\n");
}
END_TEST

START_TEST(uids_are_unique_and_stable)
{
    struct jobs_bound b =
        jobs_open("source a; schema=k INT, v INT\n"
                  "transform t; from=a; where=v > 1; group=k; select=k | COUNT(*) + 1 AS n\n"
                  "sink s; from=t\n",
                  1);
    ck_assert_ptr_nonnull(b.plan);
    const char *want[] = {"a", "t.calc", "t", "t.calc-2", "s"};
    ck_assert_uint_eq(b.plan->nodes, 5);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_str_eq(b.plan->node[i].uid, want[i]);
    }
    jobs_close(&b);
}
END_TEST

/* t1: x || x AS x, t2: x || x AS x, ...: written out, 2^30 parts. */
START_TEST(fusing_stops_before_expressions_explode)
{
    struct arena *a = arena_new();
    const char *job = "source t0; schema=x STRING\n";
    for (int i = 1; i <= 15; i++) {
        job = arena_printf(a, "%stransform t%d; from=t%d; select=x || x AS x\n", job, i, i - 1);
    }
    struct jobs_bound b = jobs_open(arena_printf(a, "%ssink s; from=t15\n", job), 1);
    ck_assert_ptr_nonnull(b.plan);
    ck_assert_uint_gt(b.plan->nodes, 3);
    ck_assert_uint_eq(b.plan->vertices, 1);
    jobs_close(&b);
    arena_free(a);
}
END_TEST

START_TEST(guarantees_name_the_weakest_link)
{
    struct arena *a = arena_new();
    struct job *job =
        jobs_make(a, "source a; schema=k INT; connector=endless\nsink s; from=a\n", 1);
    job->settings.interval.us = -1;
    struct jobs_bound b = {.arena = a};
    jobs_bind(&b, job);
    const struct plan_path *path = NULL;
    ck_assert_uint_eq(plan_paths(a, b.plan, &path), 1);
    ck_assert_int_eq(path[0].guarantee, SR_AT_LEAST_ONCE);
    ck_assert_ptr_nonnull(strstr(path[0].weakest, "checkpointing is off"));
    ck_assert_int_eq(b.plan->node[b.plan->nodes - 1].guarantee, SR_AT_LEAST_ONCE);
    jobs_close(&b);
}
END_TEST

START_TEST(json_and_dot_say_the_same)
{
    struct jobs_bound b = jobs_open("source a; schema=k INT, v INT\n"
                                    "transform t; from=a; group=k; select=k | COUNT(*) AS n\n"
                                    "sink s; from=t\n",
                                    2);
    json_t *root = json_loads(plan_json(b.arena, b.plan), 0, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "nodes")), b.plan->nodes);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "edges")), 1);
    const json_t *edge = json_array_get(json_object_get(root, "edges"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(edge, "ship")), "hash");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(edge, "key"), 0)), "k");
    json_decref(root);
    ck_assert_ptr_nonnull(strstr(plan_dot(b.arena, b.plan), "v1 -> v2 [label=\"hash(k)\"];"));
    jobs_close(&b);
}
END_TEST

/* Steps fail together that an edge joins, or that write to the same dead letters; with `full` all
 * do. */
START_TEST(regions_are_what_is_connected)
{
    static const uint32_t node[] = {0, 1, 2, 3, 4};
    struct job job = {.settings = {.poison_failures = 0}};
    struct plan_node nodes[5] = {{.kind = PLAN_SOURCE}, {.kind = PLAN_OP}, {.kind = PLAN_OP}};
    struct plan_vertex vertex[5] = {{.nodes = 1, .node = &node[0]},
                                    {.nodes = 1, .node = &node[1]},
                                    {.nodes = 1, .node = &node[2]},
                                    {.nodes = 1, .node = &node[3]},
                                    {.nodes = 1, .node = &node[4]}};
    const struct plan_edge edge[] = {{.from = 0, .to = 4}, {.from = 1, .to = 3}};
    struct plan_dead_letter letters = {.total_max = 0};
    struct plan p = {.job = &job,
                     .vertices = 5,
                     .nodes = 5,
                     .edges = 2,
                     .node = nodes,
                     .vertex = vertex,
                     .edge = edge};
    uint32_t region[5];
    ck_assert_uint_eq(plan_regions(&p, region), 3);
    ck_assert_mem_eq(region, ((uint32_t[]){0, 1, 2, 1, 0}), sizeof(region));
    p.dead_letter = &letters;
    nodes[2].on_error = nodes[4].on_error = JOB_DEAD_LETTER;
    ck_assert_uint_eq(plan_regions(&p, region), 2);
    ck_assert_mem_eq(region, ((uint32_t[]){0, 1, 0, 1, 0}), sizeof(region));
    /* Or that write into the transaction that decides. */
    struct sr_sink_type sink = {.decider = (const struct sr_decider_type *)&p};
    p.dead_letter = NULL;
    for (uint32_t i = 2; i < 5; i++) {
        nodes[i] = (struct plan_node){.kind = PLAN_SINK, .guarantee = SR_EXACTLY_ONCE};
        nodes[i].sink = &sink;
        nodes[i].sink_caps.decider = i == 3 ? NULL : "target";
    }
    ck_assert_ptr_eq(plan_decider(&p), &nodes[2]);
    ck_assert_uint_eq(plan_regions(&p, region), 2);
    ck_assert_mem_eq(region, ((uint32_t[]){0, 1, 0, 1, 0}), sizeof(region));
    nodes[2].guarantee = SR_AT_LEAST_ONCE;
    ck_assert_ptr_eq(plan_decider(&p), &nodes[4]);
    ck_assert_uint_eq(plan_regions(&p, region), 3);
    job.settings.failover.index = FAILOVER_FULL;
    ck_assert_uint_eq(plan_regions(&p, region), 1);
    ck_assert_mem_eq(region, ((uint32_t[]){0, 0, 0, 0, 0}), sizeof(region));
}
END_TEST

UNIT_MAIN("plan", regions_are_what_is_connected, stateless_neighbours_become_one_calc_in_one_chain,
          a_step_that_changes_nothing_is_not_there, computed_columns_are_only_computed_when_used,
          the_watermark_is_stamped_at_the_source, rows_are_split_by_key_in_front_of_an_aggregate,
          a_result_that_nobody_reads_is_not_computed, branches_and_unions_are_edges,
          updates_of_unequal_inputs_are_gathered, a_calc_behind_a_union_runs_in_front_of_it,
          parallelism_is_the_steps_or_the_jobs_and_bounded_by_the_connector,
          uids_are_unique_and_stable, fusing_stops_before_expressions_explode,
          guarantees_name_the_weakest_link, json_and_dot_say_the_same)
