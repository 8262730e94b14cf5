/* Memory runs out at the n-th allocation, for every n: each failure shows as SR_ENOMEM, leaks
 * nothing (the sanitizer looks), and the same call made again goes on as if nothing had been. */
#include <stdio.h>
#include <string.h>

#include "engine/state/backend.h"
#include "test/kit/rows.h"
#include "test/unit/unit.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);

static uint64_t countdown; /* allocations until one fails; 0: none does */
static bool is_watching;   /* during our own calls: the test library allocates too */

static bool fails_now(void) { return is_watching && countdown > 0 && --countdown == 0; }

void *__wrap_malloc(size_t size) { return fails_now() ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, size);
}

/* rc of a call under watch. */
#define WATCHED(rc, call)    \
    do {                     \
        is_watching = true;  \
        rc = (call);         \
        is_watching = false; \
    } while (0)

/* A call that may find no memory, made again when it did. */
#define TWICE(call)                           \
    do {                                      \
        sr_rc rc_;                            \
        WATCHED(rc_, call);                   \
        if (rc_ != SR_OK) {                   \
            ck_assert_int_eq(rc_, SR_ENOMEM); \
            WATCHED(rc_, call);               \
        }                                     \
        ck_assert_int_eq(rc_, SR_OK);         \
    } while (0)

static const uint32_t columns[] = {0, 1, 2, 3};

struct scene {
    struct arena *arena;
    struct sr_home *home;
    struct sr_schema *schema;
    struct sr_view *view;
    struct sr_map_def def;
    struct state_conf conf;
};

static struct scene scene_of(enum sr_map_kind kind)
{
    struct scene s = {.arena = arena_new(), .home = home_new()};
    char rows[400 * 60] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < 400; i++) {
        len += (size_t)snprintf(rows + len, sizeof(rows) - len, "key-%u,%u,%u,text-%0*u;", i % 97,
                                i, i * 3, (int)(i % 40) + 1, i);
    }
    s.schema = rows_schema(s.arena, "k STRING, o INT, v BIGINT, t STRING");
    s.view = rows_view(s.home, s.schema, rows);
    uint32_t sorts = kind == SR_MAP_ORDERED ? 1 : 0;
    s.def = (struct sr_map_def){.size = sizeof(s.def),
                                .name = "m",
                                .kind = kind,
                                .keys = 1,
                                .key = s.schema->field,
                                .sorts = sorts,
                                .sort = s.schema->field + 1,
                                .values = 3 - sorts,
                                .value = s.schema->field + 1 + sorts};
    s.conf = (struct state_conf){.max_parallelism = 128, .part = 0, .parts = 1, .uid = "op"};
    return s;
}

static void scene_done(struct scene *s)
{
    view_release(s->view);
    home_close(s->home);
    arena_free(s->arena);
}

static void fill(const struct scene *s, struct sr_state *state, struct sr_map *m)
{
    static uint32_t slot[SR_BATCH_ROWS];
    static bool is_new[SR_BATCH_ROWS];
    struct sr_map_keys k = {.view = s->view,
                            .key = columns,
                            .sort = s->def.sorts > 0 ? columns + 1 : NULL,
                            .count = s->view->rows};
    if (s->def.kind != SR_MAP_MULTI) {
        TWICE(state->calls->find_or_add(m, &k, slot, is_new));
    } else {
        /* Rows before a failing one have their entries: so one row a call. */
        for (uint32_t i = 0; i < s->view->rows; i++) {
            uint16_t row = (uint16_t)i;
            k.row = &row;
            k.count = 1;
            TWICE(state->calls->add(m, &k, &slot[i]));
        }
    }
    for (uint32_t c = 1 + s->def.sorts; c < 4; c++) {
        TWICE(state->calls->put(m, slot, s->view->rows, c, s->view->col[c], NULL));
    }
    for (uint32_t i = 0; i < s->view->rows; i++) {
        TWICE(state->calls->set_timer(m, slot[i], i % 50));
    }
}

/* Writes while a view is there. Where memory runs out for that, the view is lost and the state goes
 * on; nothing else happens. */
static void fill_beside_view(const struct scene *s, struct sr_state *state, struct sr_map *m)
{
    struct sr_error err = {0};
    struct frozen *view = NULL;
    struct sr_out ignored = bytes_out();
    sr_rc rc;
    bool is_done = false;
    TWICE(state_freeze(state, &view, &err));
    fill(s, state, m);
    do {
        WATCHED(rc, frozen_save(view, &ignored, &is_done, &err));
    } while (rc == SR_OK && !is_done);
    ck_assert(rc == SR_OK || rc == SR_ENOMEM);
    frozen_free(view);
    bytes_free(&ignored);
}

/* All of it, with memory running out at allocation n. Answers the bytes that were saved last;
 * *was_hit: an allocation failed. */
static struct sr_out live(const struct scene *s, uint64_t n, bool *was_hit)
{
    struct sr_error err = {0};
    struct sr_state *a = NULL, *b = NULL;
    struct sr_map *m = NULL;
    countdown = n;
    TWICE(state_new(&a, &s->conf, &err));
    TWICE(a->calls->map(a, &s->def, &m, &err));
    fill(s, a, m);
    fill_beside_view(s, a, m);
    struct sr_out saved = bytes_out();
    sr_rc rc;
    WATCHED(rc, state_save(a, &saved, &err));
    if (rc != SR_OK) {
        ck_assert_int_eq(rc, SR_ENOMEM);
        saved.len = 0;
        ck_assert_int_eq(state_save(a, &saved, &err), SR_OK);
    }
    /* A load that failed leaves a state that is only good to be freed. */
    for (int attempt = 0; attempt < 2; attempt++) {
        TWICE(state_new(&b, &s->conf, &err));
        TWICE(b->calls->map(b, &s->def, &m, &err));
        WATCHED(rc, state_load(b, saved.data, saved.len, &err));
        if (rc == SR_OK) {
            break;
        }
        ck_assert_int_eq(rc, SR_ENOMEM);
        state_free(b);
        b = NULL;
    }
    ck_assert_ptr_nonnull(b);
    *was_hit = countdown == 0 && n > 0;
    countdown = 0;
    struct sr_out again = bytes_out();
    ck_assert_int_eq(state_save(b, &again, &err), SR_OK);
    ck_assert_uint_eq(again.len, saved.len);
    ck_assert_int_eq(memcmp(again.data, saved.data, saved.len), 0);
    bytes_free(&saved);
    state_free(a);
    state_free(b);
    return again;
}

static void sweep(enum sr_map_kind kind)
{
    struct scene s = scene_of(kind);
    bool was_hit = false;
    struct sr_out expect = live(&s, 0, &was_hit);
    uint64_t n = 0;
    do {
        struct sr_out got = live(&s, ++n, &was_hit);
        ck_assert_uint_eq(got.len, expect.len);
        ck_assert_int_eq(memcmp(got.data, expect.data, expect.len), 0);
        bytes_free(&got);
    } while (was_hit);
    ck_assert_uint_gt(n, 20); /* it did strike */
    bytes_free(&expect);
    scene_done(&s);
}

START_TEST(a_value_map_survives_every_allocation_that_fails) { sweep(SR_MAP_VALUE); }
END_TEST

START_TEST(a_multimap_survives_every_allocation_that_fails) { sweep(SR_MAP_MULTI); }
END_TEST

START_TEST(an_ordered_map_survives_every_allocation_that_fails) { sweep(SR_MAP_ORDERED); }
END_TEST

UNIT_MAIN("state without memory", a_value_map_survives_every_allocation_that_fails,
          a_multimap_survives_every_allocation_that_fails,
          an_ordered_map_survives_every_allocation_that_fails)
