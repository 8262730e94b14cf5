#include <string.h>

#include "test/unit/unit.h"

#include "test/unit/run/world.h"

#include "engine/run/outlet.h"

#define LANES 5u

/* Three edges: forward; by key to three; round robin to... the first lane of each is at 0, 1, 4. */
struct fixture {
    struct plan_edge edge[3];
    struct ring ring[LANES + 2];
    struct outlet outlet;
    struct sr_home *home;
    struct sr_error err;
};

static void begin(struct fixture *f, uint32_t edges, const enum plan_ship *ship,
                  const uint32_t *lanes)
{
    static const uint32_t key[] = {0};
    memset(f, 0, sizeof(*f));
    f->home = home_new();
    ck_assert_int_eq(outlet_init(&f->outlet, edges, lanes, &f->err), SR_OK);
    f->outlet.home = f->home;
    f->outlet.max_parallelism = 128;
    for (uint32_t i = 0; i < edges; i++) {
        f->edge[i] = (struct plan_edge){.ship = ship[i], .key = key, .keys = 1};
        f->outlet.edge[i].edge = &f->edge[i];
    }
    for (uint32_t i = 0; i < f->outlet.lanes; i++) {
        f->outlet.lane[i].ring = &f->ring[i];
    }
}

static void end(struct fixture *f)
{
    outlet_done(&f->outlet);
    for (uint32_t i = 0; i < LANES + 2; i++) {
        struct msg m;
        while (ring_take(&f->ring[i], &m)) {
            if (m.kind == MSG_VIEW) view_release(m.view);
        }
    }
    home_close(f->home);
}

/* Keys 0, 1, 2 ... */
static struct sr_view *view(struct fixture *f, uint32_t rows, int64_t ms_end)
{
    struct sr_type type = {.kind = SR_BIGINT, .is_nullable = true};
    struct sr_view *v = view_new(f->home, 1);
    v->col[0] = column_new(f->home, &type, SR_BATCH_ROWS);
    v->rows = v->picked = v->col[0]->rows = rows;
    v->watermark_end = ms_end;
    for (uint32_t r = 0; r < rows; r++) {
        ((int64_t *)v->col[0]->values)[r] = r;
    }
    return v;
}

static uint32_t take_rows(struct ring *r, int64_t *ms_end)
{
    struct msg m;
    *ms_end = SR_WATERMARK_NONE;
    if (!ring_take(r, &m)) return 0;
    if (m.kind == MSG_WATERMARK) {
        *ms_end = m.watermark;
        return 0;
    }
    ck_assert_int_eq(m.kind, MSG_VIEW);
    uint32_t rows = m.view->picked;
    *ms_end = m.view->watermark_end;
    view_release(m.view);
    return rows;
}

/* Rows of a key always go to the same lane, none is lost, and every lane learns the watermark. */
START_TEST(test_by_key)
{
    struct fixture f;
    begin(&f, 1, (enum plan_ship[]){SHIP_HASH}, (uint32_t[]){3});
    uint32_t first[3];
    for (int turn = 0; turn < 2; turn++) {
        uint32_t sum = 0;
        ck_assert_int_eq(outlet_view(&f.outlet, view(&f, 100, 7 + turn), &f.err), SR_OK);
        for (uint32_t i = 0; i < 3; i++) {
            int64_t ms;
            uint32_t rows = take_rows(&f.ring[i], &ms);
            ck_assert_int_eq(ms, 7 + turn);
            if (turn == 0) first[i] = rows;
            ck_assert_uint_eq(rows, first[i]);
            sum += rows;
        }
        ck_assert_uint_eq(sum, 100);
    }
    ck_assert_int_eq(outlet_view(&f.outlet, view(&f, 1, 20), &f.err), SR_OK);
    uint32_t with_rows = 0;
    for (uint32_t i = 0; i < 3; i++) {
        int64_t ms;
        with_rows += take_rows(&f.ring[i], &ms);
        ck_assert_int_eq(ms, 20); /* in the view, or by itself where there is no row */
    }
    ck_assert_uint_eq(with_rows, 1);
    end(&f);
}
END_TEST

/* Round robin, a view at a time; every edge gets the same rows. */
START_TEST(test_several_edges)
{
    struct fixture f;
    begin(&f, 2, (enum plan_ship[]){SHIP_FORWARD, SHIP_REBALANCE}, (uint32_t[]){1, 2});
    for (uint32_t turn = 0; turn < 4; turn++) {
        int64_t ms;
        ck_assert_int_eq(outlet_view(&f.outlet, view(&f, 10, SR_WATERMARK_NONE), &f.err), SR_OK);
        ck_assert_uint_eq(take_rows(&f.ring[0], &ms), 10);
        ck_assert_uint_eq(take_rows(&f.ring[1 + turn % 2], &ms), 10);
        ck_assert_uint_eq(take_rows(&f.ring[1 + (turn + 1) % 2], &ms), 0);
    }
    end(&f);
}
END_TEST

/* What a ring will not take waits, in order, and a barrier waits behind it. */
START_TEST(test_full_ring)
{
    struct fixture f;
    begin(&f, 1, (enum plan_ship[]){SHIP_FORWARD}, (uint32_t[]){1});
    uint32_t put = 0;
    while (outlet_flush(&f.outlet)) {
        ck_assert_int_eq(outlet_view(&f.outlet, view(&f, ++put, SR_WATERMARK_NONE), &f.err), SR_OK);
    }
    ck_assert_uint_eq(put, RING_SLOTS - RING_URGENT + 1);
    ck_assert(!outlet_flush(&f.outlet));
    int64_t ms;
    ck_assert_uint_eq(take_rows(&f.ring[0], &ms), 1);
    ck_assert(outlet_flush(&f.outlet));
    struct msg barrier = {.kind = MSG_BARRIER, .checkpoint = 3};
    outlet_control(&f.outlet, &barrier); /* has a slot of its own */
    ck_assert(outlet_flush(&f.outlet));
    outlet_watermark(&f.outlet, 9);
    ck_assert(!outlet_flush(&f.outlet));
    for (uint32_t i = 2; i <= put; i++) {
        ck_assert_uint_eq(take_rows(&f.ring[0], &ms), i);
    }
    struct msg m;
    ck_assert(ring_take(&f.ring[0], &m));
    ck_assert_int_eq(m.kind, MSG_BARRIER);
    ck_assert(outlet_flush(&f.outlet));
    ck_assert_uint_eq(take_rows(&f.ring[0], &ms), 0);
    ck_assert_int_eq(ms, 9);
    end(&f);
}
END_TEST

UNIT_MAIN("run: outlet", test_by_key, test_several_edges, test_full_ring)
