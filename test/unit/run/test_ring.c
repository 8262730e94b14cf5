#include <string.h>

#include "test/unit/unit.h"

#include "engine/base/thread.h"
#include "engine/run/ring.h"

static struct msg ms(int64_t v) { return (struct msg){.kind = MSG_WATERMARK, .watermark = v}; }

static void count_wake(void *ctx) { ++*(int *)ctx; }

/* Messages come out in order; rows leave the last slot to a barrier, which gets it. */
START_TEST(test_urgent_slot)
{
    struct ring r = {.tail = 0};
    struct msg m;
    struct msg barrier = {.kind = MSG_BARRIER, .checkpoint = 9};
    for (int64_t i = 0; i < RING_SLOTS - RING_URGENT; i++) {
        m = ms(i);
        ck_assert(ring_put(&r, &m));
    }
    m = ms(99);
    ck_assert(!ring_put(&r, &m));
    ck_assert(ring_put(&r, &barrier));
    ck_assert(!ring_put(&r, &barrier));
    for (int64_t i = 0; i < RING_SLOTS - RING_URGENT; i++) {
        ck_assert(ring_take(&r, &m));
        ck_assert_int_eq(m.watermark, i);
    }
    ck_assert(ring_take(&r, &m));
    ck_assert_int_eq(m.kind, MSG_BARRIER);
    ck_assert(!ring_take(&r, &m));
}
END_TEST

/* The index runs over its end without losing or doubling a message. */
START_TEST(test_wrap)
{
    struct ring r = {.tail = UINT32_MAX - 3, .head = UINT32_MAX - 3};
    r.head_seen = r.tail_seen = UINT32_MAX - 3;
    for (int64_t i = 0; i < 100; i++) {
        struct msg m = ms(i);
        ck_assert(ring_put(&r, &m));
        if (i >= 4) {
            ck_assert(ring_take(&r, &m));
            ck_assert_int_eq(m.watermark, i - 4);
        }
    }
}
END_TEST

/* A reader is woken only while it sleeps; a writer only after it was refused, and then once. */
START_TEST(test_wakes)
{
    int reader_wakes = 0, writer_wakes = 0;
    struct waker reader = {.wake = count_wake, .ctx = &reader_wakes};
    struct waker writer = {.wake = count_wake, .ctx = &writer_wakes, .is_parked = true};
    struct ring r = {.reader = &reader, .writer = &writer};
    struct msg m = ms(1);
    ck_assert(ring_put(&r, &m));
    ck_assert_int_eq(reader_wakes, 0);
    reader.is_parked = true;
    ck_assert(ring_put(&r, &m));
    ck_assert_int_eq(reader_wakes, 1);
    ck_assert(ring_take(&r, &m));
    ck_assert_int_eq(writer_wakes, 0);
    while (ring_put(&r, &m)) {
    }
    ck_assert(ring_take(&r, &m));
    ck_assert_int_eq(writer_wakes, 1);
    ck_assert(ring_take(&r, &m));
    ck_assert_int_eq(writer_wakes, 1);
}
END_TEST

#define HANDED 200000

struct side {
    struct ring *ring;
    struct parker *parker;
    struct waker waker;
};

static void wake_parker(void *ctx) { parker_wake(((struct side *)ctx)->parker); }

/* Sleeps as a worker does: says so, looks once more, waits. */
static void side_sleep(struct side *s, bool (*again)(struct side *s), bool *done)
{
    atomic_store(&s->waker.is_parked, true);
    *done = again(s);
    if (!*done) parker_wait(s->parker, NULL, 0, 0, INT64_MAX);
    atomic_store(&s->waker.is_parked, false);
}

static _Thread_local int64_t at;

static bool try_put(struct side *s)
{
    struct msg m = ms(at);
    return ring_put(s->ring, &m);
}

static bool try_take(struct side *s)
{
    struct msg m;
    if (!ring_take(s->ring, &m)) return false;
    ck_assert_int_eq(m.watermark, at);
    return true;
}

static void side_run(struct side *s, bool (*move)(struct side *s))
{
    for (at = 0; at < HANDED; at++) {
        bool done = move(s);
        while (!done) {
            side_sleep(s, move, &done);
        }
    }
}

static void write_all(void *arg) { side_run(arg, try_put); }

/* Two threads that sleep whenever they cannot go on: every message arrives, in order, and no
 * wake is lost (the test would hang). */
START_TEST(test_two_threads)
{
    struct ring r = {.tail = 0};
    struct side w = {.ring = &r}, d = {.ring = &r};
    struct sr_error err;
    struct thread *t = NULL;
    ck_assert_int_eq(parker_new(&w.parker, &err), SR_OK);
    ck_assert_int_eq(parker_new(&d.parker, &err), SR_OK);
    w.waker = (struct waker){.wake = wake_parker, .ctx = &w};
    d.waker = (struct waker){.wake = wake_parker, .ctx = &d};
    r.writer = &w.waker;
    r.reader = &d.waker;
    ck_assert_int_eq(thread_start(&t, "writer", write_all, &w, &err), SR_OK);
    side_run(&d, try_take);
    thread_join(t);
    parker_free(w.parker);
    parker_free(d.parker);
}
END_TEST

UNIT_MAIN("run: ring", test_urgent_slot, test_wrap, test_wakes, test_two_threads)
