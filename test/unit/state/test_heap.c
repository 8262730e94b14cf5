#include "engine/state/heap.h"

#include <string.h>

#include "engine/state/backend.h"
#include "test/kit/rows.h"
#include "test/unit/unit.h"

START_TEST(every_length_holds_what_was_put)
{
    struct heap h;
    static struct heap_ref ref[3000];
    static uint8_t bytes[200000];
    heap_init(&h);
    memset(ref, 0, sizeof(ref));
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t len = i < 2900 ? i : i * 60;
        memset(bytes, (int)(i % 251), len);
        ck_assert_int_eq(heap_set(&h, &ref[i], bytes, len), SR_OK);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        ck_assert_uint_eq(ref[i].len, i < 2900 ? i : i * 60);
        memset(bytes, (int)(i % 251), ref[i].len);
        ck_assert_int_eq(memcmp(heap_bytes(&h, ref[i]), bytes, ref[i].len), 0);
    }
    heap_done(&h);
}
END_TEST

START_TEST(texts_that_change_do_not_grow_the_heap)
{
    struct heap h;
    struct heap_ref ref[64] = {{0}};
    uint8_t bytes[3000] = {1};
    uint64_t settled = 0;
    heap_init(&h);
    for (uint32_t round = 0; round < 400; round++) {
        for (uint32_t i = 0; i < 64; i++) {
            ck_assert_int_eq(heap_set(&h, &ref[i], bytes, (round * 7 + i) % 100 * 30), SR_OK);
        }
        settled = round == 200 ? h.bytes : settled;
    }
    ck_assert_uint_eq(h.bytes, settled);
    heap_done(&h);
}
END_TEST

START_TEST(large_values_go_back_to_the_system)
{
    struct heap h;
    struct heap_ref ref = {0};
    static uint8_t bytes[1 << 20] = {1};
    heap_init(&h);
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert_int_eq(heap_set(&h, &ref, bytes, sizeof(bytes) - i), SR_OK);
        ck_assert_uint_le(h.bytes, 2 * sizeof(bytes));
    }
    heap_clear(&h, &ref);
    ck_assert_uint_eq(h.bytes, 0);
    ck_assert_uint_le(h.room, 128);
    heap_done(&h);
}
END_TEST

/* COUNT and SUM by a BIGINT key and a window, a timer each. */
START_TEST(a_million_windows_fit_in_100_megabytes)
{
    struct arena *a = arena_new();
    struct sr_home *home = home_new();
    struct sr_schema *schema = rows_schema(a, "k BIGINT, n BIGINT, sum BIGINT, sum_count BIGINT");
    struct state_conf conf = {.max_parallelism = 128, .part = 0, .parts = 1, .uid = "windows"};
    struct sr_map_def def = {.size = sizeof(def),
                             .name = "groups",
                             .kind = SR_MAP_VALUE,
                             .keys = 1,
                             .key = schema->field,
                             .values = 3,
                             .value = schema->field + 1};
    struct sr_state *s = NULL;
    struct sr_map *m = NULL;
    struct sr_error err = {0};
    ck_assert_int_eq(state_new(&s, &conf, &err), SR_OK);
    ck_assert_int_eq(s->calls->map(s, &def, &m, &err), SR_OK);
    struct sr_view *v = rows_empty(home, schema);
    v->rows = v->picked = v->col[0]->rows = SR_BATCH_ROWS;
    static int64_t spaces[SR_BATCH_ROWS];
    static uint32_t slot[SR_BATCH_ROWS];
    static bool is_new[SR_BATCH_ROWS];
    const uint32_t key = 0;
    struct sr_map_keys k = {.view = v, .key = &key, .count = SR_BATCH_ROWS, .namespaces = spaces};
    for (int64_t i = 0; i < 1000000; i += SR_BATCH_ROWS) {
        for (int64_t r = 0; r < SR_BATCH_ROWS; r++) {
            ((int64_t *)v->col[0]->values)[r] = i + r;
            spaces[r] = 60000;
        }
        ck_assert_int_eq(s->calls->find_or_add(m, &k, slot, is_new), SR_OK);
        sr_rc rc = SR_OK;
        for (uint32_t r = 0; r < SR_BATCH_ROWS && rc == SR_OK; r++) {
            rc = s->calls->set_timer(m, slot[r], 59999);
        }
        ck_assert_int_eq(rc, SR_OK);
    }
    ck_assert_uint_ge(m->entries, 1000000);
    ck_assert_uint_le(state_bytes(s), 100u * 1000 * 1000);
    view_release(v);
    state_free(s);
    home_close(home);
    arena_free(a);
}
END_TEST

UNIT_MAIN("heap", every_length_holds_what_was_put, texts_that_change_do_not_grow_the_heap,
          large_values_go_back_to_the_system, a_million_windows_fit_in_100_megabytes)
