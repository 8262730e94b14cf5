#include <string.h>

#include "test/unit/unit.h"

#include "engine/run/gate.h"

#define INPUTS_MAX 70u /* more than a machine word has bits */

struct fixture {
    struct gate gate;
    struct ring ring[INPUTS_MAX];
    struct sr_home *home;
    struct sr_error err;
};

static void begin(struct fixture *f, uint32_t inputs)
{
    memset(f, 0, sizeof(*f));
    f->home = home_new();
    ck_assert_int_eq(gate_init(&f->gate, inputs, &f->err), SR_OK);
    f->gate.home = f->home;
    for (uint32_t i = 0; i < inputs; i++) {
        f->gate.input[i].ring = &f->ring[i];
        f->gate.input[i].port = i;
    }
}

static void end(struct fixture *f)
{
    gate_done(&f->gate);
    home_close(f->home);
}

static void put(struct fixture *f, uint32_t i, struct msg m)
{
    ck_assert(ring_put(&f->ring[i], &m));
}

static void put_barrier(struct fixture *f, uint32_t i, uint64_t n)
{
    put(f, i, (struct msg){.kind = MSG_BARRIER, .checkpoint = n});
}

static void put_ms(struct fixture *f, uint32_t i, int64_t ms)
{
    put(f, i, (struct msg){.kind = MSG_WATERMARK, .watermark = ms});
}

static void put_kind(struct fixture *f, uint32_t i, enum msg_kind kind)
{
    put(f, i, (struct msg){.kind = kind});
}

/* A view of `rows` rows; watermarks by row, or NULL. */
static void put_view(struct fixture *f, uint32_t i, uint32_t rows, const int64_t *ms,
                     int64_t ms_end)
{
    struct sr_view *v = view_new(f->home, 0);
    v->rows = v->picked = rows;
    v->watermark_end = ms_end;
    if (ms) {
        v->watermark = buffer_new(f->home, rows * (uint32_t)sizeof(int64_t));
        memcpy(v->watermark->data, ms, rows * sizeof(int64_t));
    }
    put(f, i, (struct msg){.kind = MSG_VIEW, .view = v});
}

static struct msg next(struct fixture *f)
{
    struct msg m;
    uint32_t port;
    ck_assert_int_eq(gate_next(&f->gate, &m, &port, &f->err), SR_OK);
    return m;
}

static void expect_nothing(struct fixture *f) { ck_assert_int_eq(next(f).kind, MSG_NONE); }

static void expect_barrier(struct fixture *f, uint64_t n)
{
    struct msg m = next(f);
    ck_assert_int_eq(m.kind, MSG_BARRIER);
    ck_assert_uint_eq(m.checkpoint, n);
}

static void expect_ms(struct fixture *f, int64_t ms)
{
    struct msg m = next(f);
    ck_assert_int_eq(m.kind, MSG_WATERMARK);
    ck_assert_int_eq(m.watermark, ms);
}

static void expect_view(struct fixture *f, const int64_t *ms, int64_t ms_end)
{
    struct msg m = next(f);
    ck_assert_int_eq(m.kind, MSG_VIEW);
    ck_assert((ms != NULL) == (m.view->watermark != NULL));
    for (uint32_t r = 0; ms && r < m.view->rows; r++) {
        ck_assert_int_eq(((const int64_t *)(const void *)m.view->watermark->data)[r], ms[r]);
    }
    ck_assert_int_eq(m.view->watermark_end, ms_end);
    view_release(m.view);
}

/* Rows behind a barrier wait until every input has shown it, however many inputs there are. */
START_TEST(test_alignment)
{
    struct fixture f;
    begin(&f, INPUTS_MAX);
    for (uint32_t i = 0; i < INPUTS_MAX; i++) {
        put_barrier(&f, i, 5);
        put_view(&f, i, 1, NULL, SR_WATERMARK_NONE);
        if (i + 1 < INPUTS_MAX) expect_nothing(&f);
    }
    expect_barrier(&f, 5);
    for (uint32_t i = 0; i < INPUTS_MAX; i++) {
        expect_view(&f, NULL, SR_WATERMARK_NONE);
    }
    expect_nothing(&f);
    end(&f);
}
END_TEST

/* An input that has ended counts as having shown the barrier, before it and after it. */
START_TEST(test_ended_input_counts)
{
    struct fixture f;
    begin(&f, 3);
    put_kind(&f, 0, MSG_END);
    put_barrier(&f, 1, 1);
    expect_nothing(&f);
    put_kind(&f, 2, MSG_END);
    expect_barrier(&f, 1);
    put_barrier(&f, 1, 2);
    expect_barrier(&f, 2);
    put_kind(&f, 1, MSG_END);
    ck_assert_int_eq(next(&f).kind, MSG_END);
    expect_nothing(&f);
    end(&f);
}
END_TEST

/* A dropped checkpoint frees held inputs; its barriers that come later are ignored. */
START_TEST(test_drop)
{
    struct fixture f;
    begin(&f, 2);
    put_barrier(&f, 0, 1);
    put_view(&f, 0, 1, NULL, SR_WATERMARK_NONE);
    expect_nothing(&f);
    gate_drop(&f.gate, 1);
    expect_view(&f, NULL, SR_WATERMARK_NONE);
    put_barrier(&f, 1, 1);
    put_view(&f, 1, 1, NULL, SR_WATERMARK_NONE);
    expect_view(&f, NULL, SR_WATERMARK_NONE);
    put_barrier(&f, 1, 2);
    expect_nothing(&f);
    put_barrier(&f, 0, 2);
    expect_barrier(&f, 2);
    end(&f);
}
END_TEST

/* A higher number on an input that never showed the lower one means that the lower one was
 * dropped up the stream: inputs held for it flow again, and the higher one is aligned. */
START_TEST(test_higher_number_supersedes)
{
    struct fixture f;
    begin(&f, 2);
    put_barrier(&f, 0, 1);
    put_view(&f, 0, 1, NULL, SR_WATERMARK_NONE);
    expect_nothing(&f);
    put_barrier(&f, 1, 2);
    expect_view(&f, NULL, SR_WATERMARK_NONE);
    expect_nothing(&f);
    put_barrier(&f, 0, 2);
    expect_barrier(&f, 2);
    end(&f);
}
END_TEST

/* AT_LEAST_ONCE goes on reading, and still passes the barrier once, when all have shown it. */
START_TEST(test_at_least_once)
{
    struct fixture f;
    begin(&f, 2);
    f.gate.is_at_least_once = true;
    put_barrier(&f, 0, 1);
    put_view(&f, 0, 1, NULL, SR_WATERMARK_NONE);
    expect_view(&f, NULL, SR_WATERMARK_NONE);
    expect_nothing(&f);
    put_barrier(&f, 1, 1);
    expect_barrier(&f, 1);
    expect_nothing(&f);
    end(&f);
}
END_TEST

/* With several checkpoints on the way, an input that is ahead shows the next one before others have
 * shown the first: each is passed when all have, in order; dropping one leaves those behind it. */
START_TEST(test_at_least_once_several)
{
    struct fixture f;
    begin(&f, 2);
    f.gate.is_at_least_once = true;
    put_barrier(&f, 0, 1);
    put_barrier(&f, 0, 2);
    put_barrier(&f, 0, 3);
    expect_nothing(&f);
    put_barrier(&f, 1, 1);
    expect_barrier(&f, 1);
    expect_nothing(&f);
    gate_drop(&f.gate, 2);
    put_barrier(&f, 1, 2);
    expect_nothing(&f);
    put_barrier(&f, 1, 3);
    expect_barrier(&f, 3);
    expect_nothing(&f);
    end(&f);
}
END_TEST

/* The watermark is the lowest of the inputs', idle and ended ones left out, and never goes back. */
START_TEST(test_watermark_is_lowest)
{
    struct fixture f;
    begin(&f, 3);
    put_ms(&f, 0, 10);
    put_ms(&f, 1, 20);
    expect_nothing(&f);
    put_ms(&f, 2, 5);
    expect_ms(&f, 5);
    put_kind(&f, 2, MSG_IDLE);
    expect_ms(&f, 10);
    put_kind(&f, 0, MSG_END);
    expect_ms(&f, 20);
    put_kind(&f, 2, MSG_ACTIVE); /* it is behind, and cannot take time back */
    expect_nothing(&f);
    put_ms(&f, 2, 15);
    put_ms(&f, 1, 30);
    expect_nothing(&f);
    put_ms(&f, 2, 25);
    expect_ms(&f, 25);
    end(&f);
}
END_TEST

/* In whichever order inputs fall idle: time is as far as the one that got furthest. */
START_TEST(test_idle_order)
{
    for (uint32_t first = 0; first < 2; first++) {
        struct fixture f;
        begin(&f, 2);
        put_ms(&f, 0, 30);
        expect_nothing(&f);
        put_kind(&f, first, MSG_IDLE);
        if (first == 0) {
            expect_nothing(&f);
        } else {
            expect_ms(&f, 30);
        }
        put_kind(&f, 1 - first, MSG_IDLE);
        if (first == 0) {
            expect_ms(&f, 30);
        }
        ck_assert_int_eq(next(&f).kind, MSG_IDLE);
        put_kind(&f, 1, MSG_ACTIVE);
        ck_assert_int_eq(next(&f).kind, MSG_ACTIVE);
        put_ms(&f, 1, 20);
        expect_nothing(&f);
        end(&f);
    }
}
END_TEST

/* All inputs idle: that is told, time stands still; and told again when one comes back. */
START_TEST(test_idle)
{
    struct fixture f;
    begin(&f, 2);
    put_kind(&f, 0, MSG_IDLE);
    expect_nothing(&f);
    put_kind(&f, 1, MSG_IDLE);
    ck_assert_int_eq(next(&f).kind, MSG_IDLE);
    expect_nothing(&f);
    put_kind(&f, 1, MSG_ACTIVE);
    ck_assert_int_eq(next(&f).kind, MSG_ACTIVE);
    put_ms(&f, 1, 7);
    expect_ms(&f, 7);
    end(&f);
}
END_TEST

/* What a view says row by row is bounded by the other inputs, row by row. */
START_TEST(test_rows_are_merged)
{
    static const int64_t own[] = {SR_WATERMARK_NONE, 3, 8, 12};
    static const int64_t merged[] = {2, 3, 8, 10};
    struct fixture f;
    begin(&f, 2);
    put_ms(&f, 0, 2);
    put_ms(&f, 1, 10);
    expect_ms(&f, 2);
    put_view(&f, 0, 4, own, 15);
    expect_view(&f, merged, 10);
    ck_assert_int_eq(f.gate.watermark, 10);
    put_view(&f, 0, 4, own, 20); /* held where it is by input 1: no row moves it */
    expect_view(&f, NULL, SR_WATERMARK_NONE);
    put_ms(&f, 1, 100);
    expect_ms(&f, 20);
    end(&f);
}
END_TEST

/* With one input nothing needs merging: the array travels on as it is. */
START_TEST(test_one_input)
{
    static const int64_t own[] = {1, 2};
    struct fixture f;
    begin(&f, 1);
    put_view(&f, 0, 2, own, 3);
    expect_view(&f, own, 3);
    put_ms(&f, 0, SR_WATERMARK_END);
    expect_ms(&f, SR_WATERMARK_END);
    ck_assert_int_eq(f.gate.watermark_end, 3); /* what a checkpoint keeps */
    end(&f);
}
END_TEST

UNIT_MAIN("run: gate", test_alignment, test_ended_input_counts, test_drop,
          test_higher_number_supersedes, test_at_least_once, test_at_least_once_several,
          test_watermark_is_lowest, test_idle_order, test_idle, test_rows_are_merged,
          test_one_input)
