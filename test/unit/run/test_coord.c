#include "test/unit/unit.h"

#include "engine/ckpt/coord.h"

static struct coord_conf conf = {.tasks = 3,
                                 .newest = 10,
                                 .interval_us = 1000,
                                 .timeout_us = 500,
                                 .min_pause_us = 200,
                                 .concurrent_max = 1,
                                 .tolerable = 1};

static void expect(struct coord_cmd c, enum coord_do what, uint64_t n)
{
    ck_assert_int_eq(c.what, what);
    if (what != COORD_NOTHING) ck_assert_uint_eq(c.checkpoint, n);
}

/* A checkpoint is stored when all tasks have saved, and shown only when it is stored. */
START_TEST(test_life_of_one)
{
    struct coord c;
    coord_init(&c, &conf, 0);
    ck_assert_int_eq(coord_due_us(&c), 1000);
    expect(coord_tick(&c, 999), COORD_NOTHING, 0);
    expect(coord_tick(&c, 1000), COORD_INJECT, 11);
    expect(coord_tick(&c, 1000), COORD_NOTHING, 0);
    expect(coord_saved(&c, 11), COORD_NOTHING, 0);
    expect(coord_saved(&c, 11), COORD_NOTHING, 0);
    expect(coord_saved(&c, 11), COORD_STORE, 11);
    ck_assert_uint_eq(c.shown, 0);
    expect(coord_tick(&c, 5000), COORD_NOTHING, 0); /* while it is being stored it is not late */
    expect(coord_stored(&c, 11, true, 1900), COORD_SHOW, 11);
    ck_assert_uint_eq(c.shown, 11);
    ck_assert_int_eq(coord_due_us(&c), 2100); /* the pause moved it from 2000 */
    expect(coord_tick(&c, 2099), COORD_NOTHING, 0);
    expect(coord_tick(&c, 2100), COORD_INJECT, 12);
}
END_TEST

/* Late ones are dropped; what is reported for them afterwards is ignored; the number is not used
 * again. */
START_TEST(test_deadline)
{
    struct coord c;
    coord_init(&c, &conf, 0);
    expect(coord_tick(&c, 1000), COORD_INJECT, 11);
    ck_assert_int_eq(coord_due_us(&c), 1500);
    expect(coord_saved(&c, 11), COORD_NOTHING, 0);
    expect(coord_tick(&c, 1499), COORD_NOTHING, 0);
    expect(coord_tick(&c, 1500), COORD_DROP, 11);
    expect(coord_saved(&c, 11), COORD_NOTHING, 0);
    expect(coord_tick(&c, 2000), COORD_INJECT, 12);
}
END_TEST

/* All have saved their parts, and the store cannot keep them. */
static struct coord_cmd unstored(struct coord *c, uint64_t checkpoint, int64_t now_us)
{
    for (uint32_t i = 0; i < conf.tasks; i++) {
        (void)coord_saved(c, checkpoint);
    }
    return coord_stored(c, checkpoint, false, now_us);
}

/* Failures in a row beyond what is tolerable fail the job; a shown one begins the count anew;
 * savepoints never count. */
START_TEST(test_tolerable)
{
    struct coord c;
    coord_init(&c, &conf, 0);
    expect(coord_tick(&c, 1000), COORD_INJECT, 11);
    expect(unstored(&c, 11, 1001), COORD_DROP, 11);
    for (uint64_t n = 12; n < 20; n++) {
        expect(coord_request(&c, COORD_SAVEPOINT, 1002), COORD_INJECT, n);
        expect(unstored(&c, n, 1002), COORD_DROP, n);
    }
    expect(coord_request(&c, COORD_CHECKPOINT, 1003), COORD_INJECT, 20);
    for (int i = 0; i < 2; i++) {
        expect(coord_saved(&c, 20), COORD_NOTHING, 0);
    }
    expect(coord_saved(&c, 20), COORD_STORE, 20);
    expect(coord_stored(&c, 20, true, 1004), COORD_SHOW, 20);
    expect(coord_request(&c, COORD_LAST, 1005), COORD_INJECT, 21);
    expect(unstored(&c, 21, 1005), COORD_DROP, 21);
    expect(coord_request(&c, COORD_LAST, 1006), COORD_INJECT, 22);
    for (int i = 0; i < 2; i++) {
        expect(coord_saved(&c, 22), COORD_NOTHING, 0);
    }
    expect(coord_saved(&c, 22), COORD_STORE, 22);
    expect(coord_stored(&c, 22, false, 1007), COORD_FAIL, 22);
    ck_assert_uint_eq(c.pendings, 0);
}
END_TEST

/* As many run as may; one that is shown takes older ones, which it subsumes, with it. */
START_TEST(test_concurrent)
{
    struct coord c;
    struct coord_conf two = conf;
    two.concurrent_max = 2;
    two.tasks = 1;
    coord_init(&c, &two, 0);
    expect(coord_request(&c, COORD_CHECKPOINT, 1), COORD_INJECT, 11);
    expect(coord_request(&c, COORD_CHECKPOINT, 2), COORD_INJECT, 12);
    expect(coord_request(&c, COORD_CHECKPOINT, 3), COORD_NOTHING, 0);
    expect(coord_saved(&c, 12), COORD_STORE, 12);
    expect(coord_stored(&c, 12, true, 4), COORD_SHOW, 12);
    ck_assert_uint_eq(c.pendings, 0);
    expect(coord_saved(&c, 11), COORD_NOTHING, 0);
}
END_TEST

/* Dropping one leaves those behind it; what is on the way keeps the numbers that are still to come
 * near. */
START_TEST(test_drop_of_one)
{
    struct coord c;
    struct coord_conf many = conf;
    many.concurrent_max = COORD_PENDING_MAX;
    many.tasks = 1;
    many.min_pause_us = 0;
    coord_init(&c, &many, 0);
    expect(coord_request(&c, COORD_CHECKPOINT, 0), COORD_INJECT, 11);
    expect(coord_request(&c, COORD_SAVEPOINT, 100), COORD_INJECT, 12);
    expect(coord_request(&c, COORD_CHECKPOINT, 200), COORD_INJECT, 13);
    expect(coord_tick(&c, 500), COORD_DROP, 11);
    ck_assert_uint_eq(c.pendings, 2);
    expect(coord_saved(&c, 11), COORD_NOTHING, 0);
    for (uint64_t n = 14; n < 12 + COORD_PENDING_MAX; n++) {
        expect(coord_request(&c, COORD_CHECKPOINT, 500), COORD_INJECT, n);
    }
    expect(coord_request(&c, COORD_CHECKPOINT, 500), COORD_NOTHING, 0);
    expect(coord_saved(&c, 13), COORD_STORE, 13);
    expect(coord_stored(&c, 13, true, 501), COORD_SHOW, 13);
    ck_assert_uint_eq(c.pendings, COORD_PENDING_MAX - 2);
    ck_assert_int_eq(c.failures, 0);
}
END_TEST

/* Behind one at which the job stops nothing starts, whatever there is room for. */
START_TEST(test_nothing_behind_a_stop)
{
    static const enum coord_kind ends[] = {COORD_STOP, COORD_LAST};
    for (size_t i = 0; i < 2; i++) {
        struct coord c;
        struct coord_conf many = conf;
        many.concurrent_max = 4;
        coord_init(&c, &many, 0);
        expect(coord_request(&c, COORD_CHECKPOINT, 900), COORD_INJECT, 11);
        expect(coord_request(&c, ends[i], 900), COORD_INJECT, 12);
        expect(coord_tick(&c, 1000), COORD_NOTHING, 0);
        expect(coord_request(&c, COORD_SAVEPOINT, 1000), COORD_NOTHING, 0);
        ck_assert_int_eq(coord_due_us(&c), 1400);
    }
}
END_TEST

/* The pause begins with a checkpoint that was shown; one that failed is followed at once. */
START_TEST(test_pause)
{
    struct coord c;
    struct coord_conf one = conf;
    one.tasks = 1;
    one.timeout_us = 3000;
    coord_init(&c, &one, 0);
    expect(coord_tick(&c, 1000), COORD_INJECT, 11);
    expect(coord_saved(&c, 11), COORD_STORE, 11);
    expect(coord_stored(&c, 11, false, 2500), COORD_DROP, 11);
    expect(coord_tick(&c, 2500), COORD_INJECT, 12);
    expect(coord_saved(&c, 12), COORD_STORE, 12);
    expect(coord_stored(&c, 12, true, 4000), COORD_SHOW, 12);
    expect(coord_tick(&c, 4199), COORD_NOTHING, 0);
    expect(coord_tick(&c, 4200), COORD_INJECT, 13);
}
END_TEST

/* Without an interval, or once stopped, there are none but those that are asked for. */
START_TEST(test_on_request_only)
{
    struct coord c;
    struct coord_conf none = conf;
    none.interval_us = 0;
    coord_init(&c, &none, 0);
    ck_assert_int_eq(coord_due_us(&c), INT64_MAX);
    expect(coord_tick(&c, INT64_MAX / 2), COORD_NOTHING, 0);
    coord_init(&c, &conf, 0);
    coord_stop(&c);
    expect(coord_tick(&c, 5000), COORD_NOTHING, 0);
    expect(coord_request(&c, COORD_LAST, 5000), COORD_INJECT, 11);
    ck_assert_int_eq(c.pending[0].kind, COORD_LAST);
}
END_TEST

/* While sources work off a backlog the interval is another one, or there are no periodic ones; the
 * next one comes sooner for that, never later. */
START_TEST(test_backlog)
{
    struct coord c;
    struct coord_conf slow = conf;
    slow.backlog_us = 4000;
    slow.timeout_us = 100000;
    coord_init(&c, &slow, 0);
    coord_backlog(&c, true, 0);
    expect(coord_tick(&c, 1000), COORD_INJECT, 11); /* it was due already */
    expect(coord_declined(&c, 11), COORD_DROP, 11);
    ck_assert_int_eq(coord_due_us(&c), 5000);
    coord_backlog(&c, false, 1500);
    ck_assert_int_eq(coord_due_us(&c), 2500);
    slow.backlog_us = 0;
    coord_init(&c, &slow, 0);
    coord_backlog(&c, true, 500);
    ck_assert_int_eq(coord_due_us(&c), INT64_MAX);
    expect(coord_tick(&c, 50000), COORD_NOTHING, 0);
    expect(coord_request(&c, COORD_SAVEPOINT, 50000), COORD_INJECT, 11);
    expect(coord_declined(&c, 11), COORD_DROP, 11);
    coord_backlog(&c, true, 50000);
    coord_backlog(&c, false, 60000);
    expect(coord_tick(&c, 60999), COORD_NOTHING, 0);
    expect(coord_tick(&c, 61000), COORD_INJECT, 12);
    slow.backlog_us = -1;
    coord_init(&c, &slow, 0);
    coord_backlog(&c, true, 0);
    ck_assert_int_eq(coord_due_us(&c), 1000);
    expect(coord_tick(&c, 1000), COORD_INJECT, 11);
    slow.interval_us = 0;
    slow.backlog_us = 1000;
    coord_init(&c, &slow, 0);
    coord_backlog(&c, true, 0);
    ck_assert_int_eq(coord_due_us(&c), INT64_MAX); /* checkpoints are not on at all */
}
END_TEST

UNIT_MAIN("ckpt: coord", test_backlog, test_life_of_one, test_deadline, test_tolerable,
          test_concurrent, test_drop_of_one, test_nothing_behind_a_stop, test_pause,
          test_on_request_only)
