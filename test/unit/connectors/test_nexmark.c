/* The events equal the published ones, byte for byte: checksums over their canonical CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <streamrun/plugin.h>

#include "connectors/nexmark/generator.h"
#include "engine/base/bytes.h"
#include "engine/data/builder.h"
#include "engine/data/codec.h"
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

extern const struct sr_plugin sr_plugin_nexmark;

/* --- The source: its type is all that is seen of it. */

#define SPLITS 3u

struct reading {
    struct world *w;
    const struct sr_source_type *type;
    int64_t conf[32];
    void *reader;
    struct sr_builder rows;
    uint32_t splits;
    char note[SPLITS][256];
    uint32_t note_len[SPLITS];
    uint32_t ended;
    struct sum sum[SPLITS]; /* of the rows of each split, in their order */
};

static void reading_conf(struct reading *r, int64_t events, uint32_t table)
{
    for (const struct sr_opt *o = r->type->opts; o->key; o++) {
        int64_t v = strtoll(o->def, NULL, 10);
        if (strcmp(o->key, "events.num") == 0) v = events;
        if (strcmp(o->key, "generators") == 0) v = SPLITS;
        if (o->kind == SR_OPT_CHOICE) {
            memcpy((char *)r->conf + o->offset, &(sr_choice){table}, sizeof(sr_choice));
        } else {
            memcpy((char *)r->conf + o->offset, &v, sizeof(v));
        }
    }
}

static struct reading *adding; /* where discovered splits go: the lobby's callback has no context */

static sr_rc add_split(struct sr_splits *s, const struct sr_split *split)
{
    (void)s;
    ck_assert_uint_lt(adding->splits, SPLITS);
    ck_assert_uint_le(split->note.len, sizeof(adding->note[0]));
    memcpy(adding->note[adding->splits], split->note.data, split->note.len);
    adding->note_len[adding->splits++] = split->note.len;
    return SR_OK;
}

static void reading_discover(struct reading *r, const struct sr_source_open *o)
{
    struct sr_error err;
    struct sr_wait wait;
    struct sr_splits out = {.add = add_split};
    void *d = calloc(1, r->type->discoverer_size);
    adding = r;
    ck_assert_int_eq(r->type->discover_open(d, o, &err), SR_OK);
    ck_assert_int_eq(r->type->discover(d, &out, &wait, &err), SR_DISCOVERED_ALL);
    r->type->discover_close(d);
    free(d);
}

/* Opens a reader on the splits where they stand; discovers them the first time. */
static void reading_open(struct reading *r)
{
    struct sr_error err;
    const struct sr_schema *schema = r->type->schema(r->conf);
    struct sr_source_open o = {
        .size = sizeof(o), .host = &r->w->host, .conf = r->conf, .schema = schema, .parts = 1};
    if (r->splits == 0) reading_discover(r, &o);
    r->reader = calloc(1, r->type->reader_size);
    ck_assert_int_eq(r->type->open(r->reader, &o, &err), SR_OK);
    ck_assert_int_eq(builder_open(&r->rows, r->w->home, &r->w->host, schema, NULL, &err), SR_OK);
    for (uint32_t i = 0; i < r->splits; i++) {
        struct sr_split s = {.id = "split", .note = {r->note[i], r->note_len[i]}};
        ck_assert_int_eq(r->type->add(r->reader, i, &s, &err), SR_OK);
    }
    r->ended = 0;
}

static void reading_close(struct reading *r)
{
    for (uint32_t i = 0; i < r->splits; i++) {
        struct sr_out note = bytes_out();
        struct sr_error err;
        ck_assert_int_eq(r->type->position(r->reader, i, &note, &err), SR_OK);
        memcpy(r->note[i], note.data, note.len);
        r->note_len[i] = (uint32_t)note.len;
        bytes_free(&note);
    }
    r->type->close(r->reader);
    free(r->reader);
    builder_close(&r->rows);
}

static void reading_take(struct reading *r, uint32_t split)
{
    struct sr_error err;
    struct sr_view *v = NULL;
    struct sr_out rows = bytes_out();
    ck_assert_int_eq(builder_seal(&r->rows, &v, &err), SR_OK);
    for (uint32_t i = 0; v && i < v->picked; i++) { /* a row at a time: where views end is free */
        rows.len = 0;
        for (uint32_t c = 0; c < v->cols; c++) {
            ck_assert(codec_put(&rows, v->col[c], i));
        }
        sum_add(&r->sum[split], rows.data, rows.len);
    }
    bytes_free(&rows);
    view_release(v);
}

/* Polls at most `polls` times. True: every split has told its end. */
static bool reading_read(struct reading *r, uint32_t polls, uint32_t room)
{
    for (uint32_t i = 0; i < polls && r->ended < r->splits; i++) {
        struct sr_error err;
        struct sr_poll p = {.rows = &r->rows};
        r->rows.rows_max = room;
        enum sr_polled got = r->type->poll(r->reader, &p, &err);
        ck_assert(got == SR_POLL_DATA || got == SR_POLL_SPLIT_END);
        if (got == SR_POLL_SPLIT_END) {
            r->ended++;
        } else {
            r->type->consume(r->reader, p.split, r->rows.rows);
            reading_take(r, p.split);
        }
    }
    return r->ended == r->splits;
}

START_TEST(a_reader_goes_on_at_exactly_the_next_event_of_each_split)
{
    struct world w;
    struct generator_conf conf = generator_conf_default();
    world_open(&w, &conf);
    for (uint32_t table = 0; table < 3; table++) {
        struct reading whole = {.w = &w, .type = sr_plugin_nexmark.sources[0]};
        for (uint32_t i = 0; i < SPLITS; i++) {
            whole.sum[i] = sum_empty;
        }
        reading_conf(&whole, 3001, table);
        struct reading parts = whole;
        reading_open(&whole);
        ck_assert(reading_read(&whole, UINT32_MAX, SR_BATCH_ROWS));
        reading_close(&whole);
        for (uint32_t polls = 1;; polls = polls % 5 + 1) { /* another cut each time */
            reading_open(&parts);
            bool is_over = reading_read(&parts, polls, 7 * polls);
            reading_close(&parts);
            if (is_over) break;
        }
        for (uint32_t i = 0; i < SPLITS; i++) {
            ck_assert_uint_gt(whole.sum[i].bytes, 0);
            ck_assert(whole.sum[i].fnv == parts.sum[i].fnv);
        }
    }
    world_close(&w);
}
END_TEST

START_TEST(a_note_that_is_cut_or_foreign_is_refused)
{
    struct world w;
    struct generator_conf conf = generator_conf_default();
    world_open(&w, &conf);
    struct reading r = {.w = &w, .type = sr_plugin_nexmark.sources[0]};
    reading_conf(&r, 100, 0);
    reading_open(&r);
    struct sr_error err;
    for (uint32_t len = 0; len < r.note_len[0]; len++) {
        struct sr_split s = {.id = "cut", .note = {r.note[0], len}};
        ck_assert_int_eq(r.type->add(r.reader, SPLITS, &s, &err), SR_ECORRUPT);
    }
    reading_close(&r);
    world_close(&w);
}
END_TEST

UNIT_MAIN("nexmark", random_numbers_are_those_of_splittable_random,
          tables_have_their_published_checksums, events_have_their_published_checksums,
          an_event_can_be_made_again_alone,
          a_reader_goes_on_at_exactly_the_next_event_of_each_split,
          a_note_that_is_cut_or_foreign_is_refused)
