/* The events equal the published ones, byte for byte: checksums over their canonical CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "connectors/nexmark/generator.h"
#include "engine/data/host.h"
#include "engine/data/pool.h"
#include "test/unit/unit.h"

struct sum {
    uint64_t fnv, bytes;
};

static void sum_add(struct sum *s, const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++) {
        s->fnv = (s->fnv ^ p[i]) * UINT64_C(0x100000001B3);
    }
    s->bytes += len;
}

static const struct sum sum_empty = {UINT64_C(0xCBF29CE484222325), 0};

struct world {
    struct env env;
    struct sr_home *home;
    struct host_ctx ctx;
    struct sr_host host;
    struct tables tables;
    struct generator generator;
};

static void world_open(struct world *w, const struct generator_conf *conf)
{
    memset(w, 0, sizeof(*w));
    w->env = env_posix(SR_WARN);
    w->home = home_new();
    ck_assert_ptr_nonnull(w->home);
    host_init(&w->host, &w->ctx, &w->env, w->home, "test");
    struct sr_error err;
    ck_assert_int_eq(tables_open(&w->tables, &w->host, &err), SR_OK);
    generator_init(&w->generator, conf, &w->tables);
}

static void world_close(struct world *w)
{
    tables_close(&w->tables, &w->host);
    home_close(w->home);
}

static void csv_text(struct sum *s, const struct generator_text *t)
{
    sum_add(s, ",", 1);
    sum_add(s, t->bytes, t->len);
}

static void csv_extra(struct world *w, struct sum *s, struct sr_span e)
{
    sum_add(s, ",", 1);
    sum_add(s, w->tables.pool->data + e.at, e.len);
    sum_add(s, "\n", 1);
}

static void csv_event(struct world *w, struct sum *s, int64_t i)
{
    struct generator_place p = generator_at(&w->generator, i);
    char head[128];
    int n = snprintf(head, sizeof(head), "%c,%" PRId64 ",%" PRId64, "PAB"[p.kind], p.id, p.ms);
    sum_add(s, head, (size_t)n);
    if (p.kind == GENERATOR_PERSON) {
        struct generator_person e;
        generator_person(&w->generator, &p, &e);
        n = snprintf(head, sizeof(head), ",%" PRId64, e.id);
        sum_add(s, head, (size_t)n);
        csv_text(s, &e.name);
        csv_text(s, &e.email);
        csv_text(s, &e.card);
        n = snprintf(head, sizeof(head), ",%s,%s", e.city, e.state);
        sum_add(s, head, (size_t)n);
        csv_extra(w, s, e.extra);
    } else if (p.kind == GENERATOR_AUCTION) {
        struct generator_auction e;
        generator_auction(&w->generator, &p, &e);
        n = snprintf(head, sizeof(head), ",%" PRId64, e.id);
        sum_add(s, head, (size_t)n);
        csv_text(s, &e.name);
        csv_text(s, &e.description);
        n = snprintf(head, sizeof(head),
                     ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, e.initial_bid,
                     e.reserve, e.expires_ms, e.seller, e.category);
        sum_add(s, head, (size_t)n);
        csv_extra(w, s, e.extra);
    } else {
        struct generator_bid e;
        generator_bid(&w->generator, &p, GENERATOR_ALL, &e);
        n = snprintf(head, sizeof(head), ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", e.auction,
                     e.bidder, e.price);
        sum_add(s, head, (size_t)n);
        struct sr_span t = w->tables.name[e.channel];
        sum_add(s, w->tables.names->data + t.at, t.len);
        sum_add(s, ",", 1);
        t = w->tables.url[e.channel];
        sum_add(s, w->tables.urls->data + t.at, t.len);
        csv_extra(w, s, e.extra);
    }
}

START_TEST(random_numbers_are_those_of_splittable_random)
{
    struct random r = {42};
    ck_assert_int_eq(random_i32(&r), -491277234);
    ck_assert_int_eq(random_i32(&r), 909395113);
    r.state = 42;
    ck_assert(random_i64(&r) == INT64_C(-4767286540954276203));
    static const uint32_t ten[] = {1, 6, 1, 2, 1, 1, 6, 9};
    r.state = 42;
    for (int i = 0; i < 8; i++) {
        ck_assert_uint_eq(random_below(&r, 10), ten[i]);
    }
    static const uint32_t rejected[] = {454697556, 1208822481, 1376986781, 1274364071};
    r.state = 42;
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(random_below(&r, 1610612737), rejected[i]);
    }
}
END_TEST

START_TEST(tables_have_their_published_checksums)
{
    struct world w;
    struct generator_conf conf = generator_conf_default();
    world_open(&w, &conf);
    struct sum pool = sum_empty, urls = sum_empty;
    sum_add(&pool, w.tables.pool->data, TABLES_POOL);
    ck_assert(pool.fnv == UINT64_C(0x584c439d48f7bc9b));
    for (uint32_t i = 0; i < TABLES_HOT + TABLES_CHANNELS; i++) {
        sum_add(&urls, w.tables.urls->data + w.tables.url[i].at, w.tables.url[i].len);
        sum_add(&urls, "\n", 1);
    }
    ck_assert_uint_eq(urls.bytes, 737542);
    ck_assert(urls.fnv == UINT64_C(0xf6e69dfca42f74f2));
    world_close(&w);
}
END_TEST

START_TEST(events_have_their_published_checksums)
{
    static const struct {
        int64_t events;
        uint64_t bytes, fnv;
    } golden[] = {{1, 494, UINT64_C(0x64ff50be0159a8a3)},
                  {20, 4290, UINT64_C(0x7037b673642272ed)},
                  {200, 40332, UINT64_C(0x4f5586a25b690a47)},
                  {1000, 200380, UINT64_C(0x6a8635592f5ab17a)},
                  {10000, 2014219, UINT64_C(0xe786fe665a288c46)},
                  {100000, 20233572, UINT64_C(0x5ffbd909b5682a02)}};
    struct world w;
    struct generator_conf conf = generator_conf_default();
    world_open(&w, &conf);
    struct sum s = sum_empty;
    int64_t i = 0;
    for (size_t g = 0; g < sizeof(golden) / sizeof(golden[0]); g++) {
        for (; i < golden[g].events; i++) {
            csv_event(&w, &s, i);
        }
        ck_assert_uint_eq(s.bytes, golden[g].bytes);
        ck_assert(s.fnv == golden[g].fnv);
    }
    world_close(&w);
}
END_TEST

START_TEST(an_event_can_be_made_again_alone)
{
    struct world w;
    struct generator_conf conf = generator_conf_default();
    world_open(&w, &conf);
    for (int64_t i = 0; i < 200; i++) {
        struct sum forward = sum_empty, again = sum_empty;
        csv_event(&w, &forward, i);
        csv_event(&w, &again, 199 - i);
        again = sum_empty;
        csv_event(&w, &again, i);
        ck_assert(forward.fnv == again.fnv);
    }
    world_close(&w);
}
END_TEST

UNIT_MAIN("nexmark", random_numbers_are_those_of_splittable_random,
          tables_have_their_published_checksums, events_have_their_published_checksums,
          an_event_can_be_made_again_alone)
