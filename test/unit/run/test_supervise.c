#include <string.h>

#include "test/unit/unit.h"

#include "test/unit/run/world.h"

#include "engine/base/arena.h"
#include "engine/run/supervise_inner.h"

#define STEPS_MAX 3000000u

static struct supervise *start(struct world *w, struct store *store, const struct manifest *restore)
{
    struct supervise *s = NULL;
    struct sr_error err = {.rc = SR_OK};
    struct run_conf conf = {
        .env = &w->env, .plan = world_plan(w), .store = store, .restore = restore, .lineage = 1};
    ck_assert_msg(supervise_new(&s, &conf, &err) == SR_OK, "%s", err.words);
    supervise_begin(s, &w->sched);
    return s;
}

static void expect_end(struct supervise *s, enum run_end end)
{
    struct sr_error err = {.rc = SR_OK};
    enum run_end got = supervise_end(s, &err);
    ck_assert_msg(got == end, "ended %d instead of %d: %s", (int)got, (int)end, err.words);
}

/* A bounded job ends by itself, with every row shown exactly once. */
START_TEST(test_bounded_job_finishes)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world w;
        world_init(&w, seed);
        w.parts_source = 1 + (uint32_t)(seed % 3);
        w.parts_count = 1 + (uint32_t)(seed / 3 % 3);
        w.parts_sink = 1 + (uint32_t)(seed / 9 % 3);
        w.mode = seed % 2 == 0 ? MODE_EXACTLY_ONCE : MODE_AT_LEAST_ONCE;
        struct store *store = world_store(&w);
        struct supervise *s = start(&w, store, NULL);
        ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
        expect_end(s, RUN_FINISHED);
        const char *wrong = world_check(&w);
        ck_assert_msg(!wrong, "seed %d: %s", (int)seed, wrong);
        supervise_free(s);
        store_close(store);
        world_done(&w);
    }
}
END_TEST

/* Without an interval nothing is shown before the end, and then everything is. */
START_TEST(test_without_interval_all_is_shown_at_the_end)
{
    struct world w;
    world_init(&w, 7);
    w.interval_us = -1;
    struct store *store = world_store(&w);
    struct supervise *s = start(&w, store, NULL);
    ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
    expect_end(s, RUN_FINISHED);
    ck_assert(!world_check(&w));
    struct arena *a = arena_new();
    struct run_status status;
    supervise_status(s, a, &status);
    ck_assert_uint_eq(status.checkpoints_shown, 1);
    ck_assert_int_eq(status.node[0].in, 800);
    ck_assert_int_eq(status.node[2].absorbed, 800);
    ck_assert_int_eq(status.node[3].out, 800);
    arena_free(a);
    supervise_free(s);
    store_close(store);
    world_done(&w);
}
END_TEST

static bool waits(const struct world *w, struct supervise *s)
{
    struct arena *a = arena_new();
    struct run_status status;
    supervise_status(s, a, &status);
    const struct run_node_status *sink = &status.node[3];
    bool does = strstr(sink->waits_for, "busy") && sink->waits_since_us > 0 &&
                sink->waits_since_us <= status.now_us;
    (void)w;
    arena_free(a);
    return does;
}

/* A target that is not to be had is waited for, seen by all, up to the job's limit; then the
 * restart strategy decides. */
START_TEST(test_a_sink_waits_for_its_target)
{
    for (int has_limit = 0; has_limit < 2; has_limit++) {
        struct world w;
        world_init(&w, 77);
        w.rows = 300;
        w.busy_commit = 1000;
        w.restart = RESTART_NONE;
        w.retry_us = has_limit ? 3000000 : 0;
        w.interval_us = 20000;
        struct store *store = world_store(&w);
        struct supervise *s = start(&w, store, NULL);
        ck_assert(world_run(&w, s, 100000, waits));
        int64_t since_us = w.now_us;
        if (has_limit) {
            ck_assert(!world_run(&w, s, 4000000, NULL));
            struct sr_error err;
            ck_assert_int_eq(supervise_end(s, &err), RUN_FAILED);
            ck_assert_ptr_nonnull(strstr(err.words, "sink.retry.timeout"));
            ck_assert_int_ge(w.now_us - since_us, 2900000);
        } else {
            w.busy_commit = 0;
            ck_assert(!world_run(&w, s, 4000000, NULL));
            expect_end(s, RUN_FINISHED);
            ck_assert_ptr_null(world_check(&w));
            ck_assert(!waits(&w, s));
        }
        supervise_free(s);
        store_close(store);
        world_done(&w);
    }
}
END_TEST

/* Whatever fails and wherever, a restart from the newest checkpoint repeats nothing and loses
 * nothing; what the job counts says the same. */
START_TEST(test_restarts_keep_exactly_once)
{
    uint32_t failures = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world w;
        world_init(&w, seed * 977);
        w.rows = 1000;
        w.busy_write = w.busy_commit = w.busy_prepare = 100;
        w.parts_source = 1 + (uint32_t)world_random(&w, 3);
        w.parts_count = 1 + (uint32_t)world_random(&w, 3);
        w.parts_sink = 1 + (uint32_t)world_random(&w, 3);
        w.interval_us = 2000 + (int64_t)world_random(&w, 20000);
        struct store *store = world_store(&w);
        struct supervise *s = start(&w, store, NULL);
        bool goes_on = true;
        while (goes_on) {
            w.fail_in = w.failures < 8 ? (int64_t)world_random(&w, 60) : -1;
            goes_on = world_run(&w, s, 400, NULL);
        }
        expect_end(s, RUN_FINISHED);
        const char *wrong = world_check(&w);
        ck_assert_msg(!wrong, "seed %d: %s", (int)seed, wrong);
        struct arena *a = arena_new();
        struct run_status status;
        supervise_status(s, a, &status);
        ck_assert_int_eq(status.node[0].in, 4000);
        ck_assert_int_eq(status.node[3].out, 4000);
        ck_assert(w.failures == 0 || status.restarts > 0);
        ck_assert(w.failures == 0 || strstr(status.first_cause, "failure 1 was asked for"));
        failures += w.failures;
        arena_free(a);
        supervise_free(s);
        store_close(store);
        world_done(&w);
    }
    ck_assert_uint_gt(failures, 100);
}
END_TEST

static bool has_shown_some(const struct world *w, struct supervise *s)
{
    (void)s;
    return world_shown(w) > 100;
}

/* A process that dies is followed by one with other parallelisms, which goes on from the newest
 * checkpoint: splits, keyed state and notes find new owners. */
START_TEST(test_rescale_after_death_keeps_exactly_once)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world w;
        world_init(&w, seed * 7919);
        w.busy_write = w.busy_commit = 50;
        struct store *store = world_store(&w);
        struct arena *a = arena_new();
        struct manifest *m = NULL;
        struct sr_error err = {.rc = SR_OK};
        bool goes_on = true;
        for (uint32_t life = 0; goes_on; life++) {
            ck_assert_uint_lt(life, 200);
            w.parts_source = 1 + (uint32_t)world_random(&w, 4);
            w.parts_count = 1 + (uint32_t)world_random(&w, 4);
            w.parts_sink = 1 + (uint32_t)world_random(&w, 3);
            w.busy_commit = life % 2 == 0 ? 50 : 0;
            struct supervise *s = start(&w, store, m);
            goes_on = world_run(&w, s, 500 + world_random(&w, 6000), NULL);
            if (!goes_on) expect_end(s, RUN_FINISHED);
            supervise_free(s);
            if (store_load_newest(store, a, &m, &err) != SR_OK) m = NULL;
        }
        const char *wrong = world_check(&w);
        ck_assert_msg(!wrong, "seed %d: %s", (int)seed, wrong);
        arena_free(a);
        store_close(store);
        world_done(&w);
    }
}
END_TEST

/* Checkpoints that are not complete in time are dropped wherever they are: gates flow again,
 * what was prepared goes with the next one, and nothing is lost or shown twice. */
START_TEST(test_dropped_checkpoints)
{
    uint64_t dropped = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world w;
        world_init(&w, seed * 31);
        w.parts_source = w.parts_count = 3;
        w.parts_sink = 2;
        w.rows = 1000;
        w.interval_us = 2000;
        w.timeout_us = 4000 + (int64_t)world_random(&w, 10000);
        w.busy_prepare = 800;
        w.tolerable = 1000000;
        w.concurrent = 1 + (int64_t)seed % 3;
        struct store *store = world_store(&w);
        struct supervise *s = start(&w, store, NULL);
        if (world_run(&w, s, 60000, NULL)) {
            w.busy_prepare = 0;
            ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
        }
        expect_end(s, RUN_FINISHED);
        const char *wrong = world_check(&w);
        ck_assert_msg(!wrong, "seed %d: %s", (int)seed, wrong);
        struct arena *a = arena_new();
        struct run_status status;
        supervise_status(s, a, &status);
        ck_assert_uint_eq(status.restarts, 0);
        dropped += status.checkpoints_failed;
        arena_free(a);
        supervise_free(s);
        store_close(store);
        world_done(&w);
    }
    ck_assert_uint_gt(dropped, 100);
}
END_TEST

static bool has_three_on_the_way(const struct world *w, struct supervise *s)
{
    (void)w;
    return s->ck.runs == 3;
}

/* As many checkpoints are on the way at once as may be, each with what belongs to it. */
START_TEST(test_several_at_once)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world w;
        world_init(&w, seed * 17);
        w.parts_source = w.parts_count = w.parts_sink = 2;
        w.rows = 2000;
        w.interval_us = 200;
        w.busy_prepare = 900;
        w.concurrent = 3;
        struct store *store = world_store(&w);
        struct supervise *s = start(&w, store, NULL);
        ck_assert(world_run(&w, s, STEPS_MAX, has_three_on_the_way));
        ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
        expect_end(s, RUN_FINISHED);
        const char *wrong = world_check(&w);
        ck_assert_msg(!wrong, "seed %d: %s", (int)seed, wrong);
        supervise_free(s);
        store_close(store);
        world_done(&w);
    }
}
END_TEST

/* More failed checkpoints than are tolerable fail the job, and say why. */
START_TEST(test_intolerable_checkpoints)
{
    struct world w;
    world_init(&w, 13);
    w.busy_prepare = 1000;
    w.timeout_us = 5000;
    w.restart = RESTART_NONE;
    struct store *store = world_store(&w);
    struct supervise *s = start(&w, store, NULL);
    ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
    struct sr_error err;
    ck_assert_int_eq(supervise_end(s, &err), RUN_FAILED);
    ck_assert_str_eq(
        err.words, "checkpoint 1 failed: timed out after 5 ms: it was not complete; that is 1 in a "
                   "row, and execution.checkpointing.tolerable-failed-checkpoints is 0");
    supervise_free(s);
    store_close(store);
    world_done(&w);
}
END_TEST

/* A sink whose redo file has grown gets a checkpoint without waiting for the interval. */
START_TEST(test_sink_asks_for_checkpoints)
{
    struct world w;
    world_init(&w, 9);
    w.interval_us = -1;
    w.does_ask = true;
    struct store *store = world_store(&w);
    struct supervise *s = start(&w, store, NULL);
    ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
    expect_end(s, RUN_FINISHED);
    ck_assert(!world_check(&w));
    struct arena *a = arena_new();
    struct run_status status;
    supervise_status(s, a, &status);
    ck_assert_uint_gt(status.checkpoints_shown, 2);
    arena_free(a);
    supervise_free(s);
    store_close(store);
    world_done(&w);
}
END_TEST

/* A suspended job has shown exactly what its last checkpoint holds, and goes on behind it. */
START_TEST(test_suspend_and_go_on)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world w;
        world_init(&w, seed);
        w.rows = 1000;
        struct store *store = world_store(&w);
        struct arena *a = arena_new();
        struct supervise *s = start(&w, store, NULL);
        ck_assert(world_run(&w, s, STEPS_MAX, has_shown_some));
        supervise_ask(s, RUN_ASK_SUSPEND);
        ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
        expect_end(s, RUN_SUSPENDED);
        struct run_status status;
        supervise_status(s, a, &status);
        ck_assert_int_eq(status.node[0].in, world_shown(&w));
        ck_assert_int_lt(world_shown(&w), 4000);
        supervise_free(s);
        struct manifest *m = NULL;
        struct sr_error err = {.rc = SR_OK};
        ck_assert_int_eq(store_load_newest(store, a, &m, &err), SR_OK);
        s = start(&w, store, m);
        ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
        expect_end(s, RUN_FINISHED);
        ck_assert(!world_check(&w));
        supervise_free(s);
        arena_free(a);
        store_close(store);
        world_done(&w);
    }
}
END_TEST

/* An unbounded job goes on for ever, and cancel ends it at once. */
START_TEST(test_cancel)
{
    struct world w;
    world_init(&w, 3);
    w.is_bounded = false;
    struct store *store = world_store(&w);
    struct supervise *s = start(&w, store, NULL);
    ck_assert(world_run(&w, s, 200000, NULL));
    ck_assert(!world_check(&w)); /* all is read and shown, by periodic checkpoints */
    supervise_ask(s, RUN_ASK_CANCEL);
    ck_assert(!world_run(&w, s, 1000, NULL));
    expect_end(s, RUN_CANCELED);
    supervise_free(s);
    store_close(store);
    world_done(&w);
}
END_TEST

/* With no strategy the first failure ends the job, and says which. */
START_TEST(test_no_restart)
{
    struct world w;
    world_init(&w, 5);
    w.restart = RESTART_NONE;
    w.fail_in = 3;
    struct store *store = world_store(&w);
    struct supervise *s = start(&w, store, NULL);
    ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
    struct sr_error err;
    ck_assert_int_eq(supervise_end(s, &err), RUN_FAILED);
    ck_assert_int_eq(err.rc, SR_EIO);
    ck_assert_str_eq(err.words, "step 'pass': failure 1 was asked for");
    supervise_free(s);
    store_close(store);
    world_done(&w);
}
END_TEST

/* State that no step claims stops the start, naming it; unless it may be dropped. */
START_TEST(test_state_that_nobody_claims)
{
    struct world w;
    world_init(&w, 11);
    struct store *store = world_store(&w);
    struct arena *a = arena_new();
    struct supervise *s = start(&w, store, NULL);
    ck_assert(world_run(&w, s, STEPS_MAX, has_shown_some));
    supervise_free(s);
    struct manifest *m = NULL;
    struct sr_error err = {.rc = SR_OK};
    ck_assert_int_eq(store_load_newest(store, a, &m, &err), SR_OK);
    (void)world_plan(&w);
    w.node[2].uid = "other";
    struct run_conf conf = {
        .env = &w.env, .plan = &w.plan, .store = store, .restore = m, .lineage = 1};
    ck_assert_int_eq(supervise_new(&s, &conf, &err), SR_OK);
    supervise_begin(s, &w.sched);
    ck_assert(!world_run(&w, s, 1000, NULL));
    ck_assert_int_eq(supervise_end(s, &err), RUN_FAILED);
    ck_assert_int_eq(err.rc, SR_EMISFIT);
    ck_assert_msg(strstr(err.words, "'count'"), "%s", err.words);
    supervise_free(s);
    conf.may_drop_state = true;
    ck_assert_int_eq(supervise_new(&s, &conf, &err), SR_OK);
    supervise_begin(s, &w.sched);
    ck_assert(!world_run(&w, s, STEPS_MAX, NULL));
    expect_end(s, RUN_FINISHED);
    supervise_free(s);
    arena_free(a);
    store_close(store);
    world_done(&w);
}
END_TEST

UNIT_MAIN("run: supervise", test_bounded_job_finishes,
          test_without_interval_all_is_shown_at_the_end, test_restarts_keep_exactly_once,
          test_a_sink_waits_for_its_target, test_rescale_after_death_keeps_exactly_once,
          test_dropped_checkpoints, test_several_at_once, test_intolerable_checkpoints,
          test_sink_asks_for_checkpoints, test_suspend_and_go_on, test_cancel, test_no_restart,
          test_state_that_nobody_claims)
