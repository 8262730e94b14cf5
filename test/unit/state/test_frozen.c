/* A view holds what the state held when it was frozen, whatever the state does meanwhile. */
#include <stdio.h>
#include <string.h>

#include "engine/base/thread.h"
#include "engine/state/frozen.h"
#include "test/kit/rows.h"
#include "test/unit/unit.h"

#define KEYS  300u
#define VIEWS 4u

static const uint32_t columns[] = {0, 1, 2, 3};

struct scene {
    struct arena *arena;
    struct sr_home *home;
    const struct sr_schema *schema;
    struct sr_state *state;
    struct sr_map *map;
    enum sr_map_kind kind;
    uint64_t seed;
    char large[HEAP_SMALL_MAX + 100];
};

/* A view that is being saved, and the bytes that the state would have given at that moment. */
struct watch {
    struct frozen *view;
    struct sr_out got, expect;
};

static uint32_t below(struct scene *s, uint32_t n)
{
    s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->seed >> 33) % n;
}

static struct scene scene_of(enum sr_map_kind kind, uint64_t seed)
{
    struct scene s = {.arena = arena_new(), .home = home_new(), .kind = kind, .seed = seed};
    s.schema = rows_schema(s.arena, "k STRING, o INT, v BIGINT, t STRING");
    struct state_conf conf = {.max_parallelism = 128, .part = 0, .parts = 1, .uid = "op"};
    uint32_t sorts = kind == SR_MAP_ORDERED ? 1 : 0;
    struct sr_map_def def = {.size = sizeof(def),
                             .name = "m",
                             .kind = kind,
                             .keys = 1,
                             .key = s.schema->field,
                             .sorts = sorts,
                             .sort = s.schema->field + 1,
                             .values = 3 - sorts,
                             .value = s.schema->field + 1 + sorts};
    struct sr_error err = {0};
    ck_assert_int_eq(state_new(&s.state, &conf, &err), SR_OK);
    ck_assert_int_eq(s.state->calls->map(s.state, &def, &s.map, &err), SR_OK);
    memset(s.large, 'x', sizeof(s.large));
    return s;
}

static void scene_done(struct scene *s)
{
    state_free(s->state);
    home_close(s->home);
    arena_free(s->arena);
}

static struct sr_map_keys keys_of(const struct scene *s, const struct sr_view *v)
{
    return (struct sr_map_keys){.view = v,
                                .key = columns,
                                .sort = s->kind == SR_MAP_ORDERED ? columns + 1 : NULL,
                                .count = v->rows};
}

static struct sr_view *random_row(struct scene *s)
{
    char row[64];
    (void)snprintf(row, sizeof(row), "key-%u,%u,%u,NULL", below(s, KEYS), below(s, 40),
                   below(s, 1000));
    return rows_view(s->home, s->schema, row);
}

static void write_entry(struct scene *s, uint32_t slot)
{
    const struct sr_state_calls *calls = s->state->calls;
    *(int64_t *)sr_map_at(s->map, slot, 2) += 1 + below(s, 9);
    sr_map_set_null(s->map, slot, 2, false);
    uint32_t len = below(s, 200) == 0 ? (uint32_t)sizeof(s->large) : below(s, 300);
    s->large[len / 2] = (char)('a' + below(s, 26));
    ck_assert_int_eq(calls->set_text(s->map, slot, 3, s->large, len), SR_OK);
    int64_t ms = below(s, 3) == 0 ? SR_TIMER_NONE : below(s, 1000);
    ck_assert_int_eq(calls->set_timer(s->map, slot, ms), SR_OK);
}

/* Adds or changes an entry, takes one away, moves it, or lets timers come due. */
static void live(struct scene *s)
{
    const struct sr_state_calls *calls = s->state->calls;
    struct sr_view *v = random_row(s);
    struct sr_map_keys k = keys_of(s, v);
    uint32_t slot, count, some[8];
    bool is_new;
    switch (below(s, 8)) {
    case 0:
    case 1:
        ck_assert_int_eq(calls->find(s->map, &k, &slot), SR_OK);
        if (slot != SR_SLOT_NONE) calls->remove(s->map, &slot, 1);
        break;
    case 2:
        ck_assert_int_eq(calls->due(s->map, below(s, 1000), 8, some, NULL, &count), SR_OK);
        calls->remove(s->map, some, count);
        break;
    case 3:
        ck_assert_int_eq(calls->find(s->map, &k, &slot), SR_OK);
        if (slot != SR_SLOT_NONE && s->kind == SR_MAP_VALUE) {
            (void)calls->rekey(s->map, slot, below(s, 5));
        } else if (slot != SR_SLOT_NONE && calls->next(s->map, slot) != SR_SLOT_NONE) {
            write_entry(s, calls->next(s->map, slot));
        }
        break;
    default:
        ck_assert_int_eq(s->kind == SR_MAP_MULTI ? calls->add(s->map, &k, &slot)
                                                 : calls->find_or_add(s->map, &k, &slot, &is_new),
                         SR_OK);
        write_entry(s, slot);
    }
    view_release(v);
}

static void watch_begin(struct scene *s, struct watch *w)
{
    struct sr_error err = {0};
    *w = (struct watch){.got = bytes_out(), .expect = bytes_out()};
    ck_assert_int_eq(state_save(s->state, &w->expect, &err), SR_OK);
    ck_assert_int_eq(state_freeze(s->state, &w->view, &err), SR_OK);
}

/* A piece; or the end, and the view is compared. */
static void watch_step(struct watch *w)
{
    struct sr_error err = {0};
    bool is_done = false;
    ck_assert_msg(frozen_save(w->view, &w->got, &is_done, &err) == SR_OK, "%s", err.words);
    if (!is_done) {
        return;
    }
    ck_assert_uint_eq(w->got.len, w->expect.len);
    ck_assert_int_eq(memcmp(w->got.data, w->expect.data, w->got.len), 0);
    frozen_free(w->view);
    bytes_free(&w->got);
    bytes_free(&w->expect);
    w->view = NULL;
}

static void interleave(enum sr_map_kind kind, uint64_t seed)
{
    struct scene s = scene_of(kind, seed);
    struct watch watch[VIEWS] = {{0}};
    for (uint32_t i = 0; i < 6000; i++) {
        live(&s);
        struct watch *w = &watch[below(&s, VIEWS)];
        if (!w->view && below(&s, 100) == 0) {
            watch_begin(&s, w);
        } else if (w->view && below(&s, 4) == 0) {
            watch_step(w);
        }
    }
    for (uint32_t i = 0; i < VIEWS; i++) {
        while (watch[i].view) {
            watch_step(&watch[i]);
        }
    }
    scene_done(&s);
}

START_TEST(views_are_as_a_stopped_copy_while_the_state_goes_on)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        interleave(SR_MAP_VALUE, seed);
        interleave(SR_MAP_MULTI, seed);
        interleave(SR_MAP_ORDERED, seed);
    }
}
END_TEST

static void watch_thread(void *arg)
{
    struct watch *w = arg;
    while (w->view) {
        watch_step(w);
    }
}

START_TEST(a_view_is_read_by_another_thread_without_a_race)
{
    struct scene s = scene_of(SR_MAP_ORDERED, 7);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 400; i++) {
            live(&s);
        }
        struct watch w;
        struct thread *t = NULL;
        struct sr_error err = {0};
        watch_begin(&s, &w);
        ck_assert_int_eq(thread_start(&t, "reader", watch_thread, &w, &err), SR_OK);
        for (uint32_t i = 0; i < 400; i++) {
            live(&s);
        }
        thread_join(t);
    }
    scene_done(&s);
}
END_TEST

START_TEST(a_view_outlives_its_state)
{
    struct scene s = scene_of(SR_MAP_VALUE, 3);
    struct watch w;
    for (uint32_t i = 0; i < 1000; i++) {
        live(&s);
    }
    watch_begin(&s, &w);
    for (uint32_t i = 0; i < 1000; i++) {
        live(&s);
    }
    scene_done(&s);
    watch_thread(&w);
}
END_TEST

START_TEST(what_a_view_held_is_free_again_when_it_is_gone)
{
    uint64_t bytes[2];
    for (uint32_t has_views = 0; has_views < 2; has_views++) {
        struct scene s = scene_of(SR_MAP_VALUE, 5);
        const struct map *m = map_of(s.map);
        for (uint32_t round = 0; round < 30; round++) {
            struct watch w = {.view = NULL};
            if (has_views) {
                watch_begin(&s, &w);
            }
            for (uint32_t i = 0; i < 500; i++) {
                live(&s);
            }
            watch_thread(&w);
            for (uint32_t i = 0; i < 500; i++) {
                live(&s);
            }
            ck_assert_uint_eq(m->old_page.count, 0);
            ck_assert_uint_eq(m->heap.limbo.count, 0);
        }
        bytes[has_views] = state_bytes(s.state);
        scene_done(&s);
    }
    ck_assert_uint_lt(bytes[1], 2 * bytes[0]);
}
END_TEST

START_TEST(a_state_has_so_many_views_and_no_more)
{
    struct scene s = scene_of(SR_MAP_VALUE, 1);
    struct frozen *view[FREEZER_VIEWS_MAX + 1];
    struct sr_error err = {0};
    for (uint32_t i = 0; i < FREEZER_VIEWS_MAX; i++) {
        ck_assert_int_eq(state_freeze(s.state, &view[i], &err), SR_OK);
    }
    ck_assert_int_eq(state_freeze(s.state, &view[FREEZER_VIEWS_MAX], &err), SR_ELIMIT);
    frozen_free(view[3]);
    ck_assert_int_eq(state_freeze(s.state, &view[3], &err), SR_OK);
    for (uint32_t i = 0; i < FREEZER_VIEWS_MAX; i++) {
        frozen_free(view[i]);
    }
    scene_done(&s);
}
END_TEST

UNIT_MAIN("frozen state", views_are_as_a_stopped_copy_while_the_state_goes_on,
          a_view_is_read_by_another_thread_without_a_race, a_view_outlives_its_state,
          what_a_view_held_is_free_again_when_it_is_gone, a_state_has_so_many_views_and_no_more)
