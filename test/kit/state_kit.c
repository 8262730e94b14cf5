#include "test/kit/state_kit.h"

#include <stdio.h>
#include <string.h>

#include "test/kit/state_world.h"
#include "test/unit/unit.h"

static uint64_t kit_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* --- Value maps: against a table of 256 keys, half of them NULL in one column ----------------- */

#define MODEL_KEYS 256u

struct model {
    struct {
        bool is_there;
        int64_t value, timer;
    } entry[MODEL_KEYS];
    uint64_t entries;
};

static const char *model_schema = "k BIGINT, s STRING, v BIGINT, t STRING";

static void model_key(uint32_t n, char out[64])
{
    if (n % 2 == 0) {
        (void)snprintf(out, 64, "%u,NULL", n / 8);
    } else {
        (void)snprintf(out, 64, "%u,key-%.*s", n / 8, (int)(n % 8), "aaaaaaaa");
    }
}

/* Keys n with n % 2 == 0 and the same n / 8 are the same key: their namespace tells them apart. */
static int64_t model_space(uint32_t n) { return n % 2 == 0 ? (int64_t)(n % 8) - 3 : 0; }

static void model_add(struct world *w, struct model *m, uint64_t *seed)
{
    char rows[SR_BATCH_ROWS * 80] = "";
    int64_t spaces[64];
    uint32_t key[64], slot[64];
    bool is_new[64];
    uint32_t count = 1 + (uint32_t)(kit_random(seed) % 64);
    size_t len = 0;
    for (uint32_t i = 0; i < count; i++) {
        char text[64];
        key[i] = (uint32_t)(kit_random(seed) % MODEL_KEYS);
        spaces[i] = model_space(key[i]);
        model_key(key[i], text);
        len += (size_t)snprintf(rows + len, sizeof(rows) - len, "%s,0,NULL;", text);
    }
    struct sr_view *v = rows_view(w->home, w->schema, rows);
    struct sr_map_keys k = world_keys(w, v, spaces);
    ck_assert_int_eq(w->state->calls->find_or_add(w->map, &k, slot, is_new), SR_OK);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_int_eq(is_new[i], !m->entry[key[i]].is_there);
        ck_assert_int_eq(sr_map_namespace(w->map, slot[i]), spaces[i]);
        int64_t *value = sr_map_at(w->map, slot[i], 2);
        if (is_new[i]) {
            ck_assert(sr_map_is_null(w->map, slot[i], 2) && sr_map_is_null(w->map, slot[i], 3));
            ck_assert_int_eq(*value, 0);
            m->entry[key[i]].is_there = true;
            m->entry[key[i]].value = 0;
            m->entry[key[i]].timer = SR_TIMER_NONE;
            m->entries++;
        } else {
            ck_assert_int_eq(*value, m->entry[key[i]].value);
        }
        *value = m->entry[key[i]].value += 1 + (int64_t)i;
        sr_map_set_null(w->map, slot[i], 2, false);
        char t[300];
        int n = snprintf(t, sizeof(t), "%lld%0*d", (long long)*value, (int)(*value % 250), 7);
        ck_assert_int_eq(w->state->calls->set_text(w->map, slot[i], 3, t, (uint32_t)n), SR_OK);
        if (kit_random(seed) % 3 == 0) {
            int64_t ms = (int64_t)(kit_random(seed) % 100);
            m->entry[key[i]].timer = ms;
            ck_assert_int_eq(w->state->calls->set_timer(w->map, slot[i], ms), SR_OK);
        }
    }
    ck_assert_uint_eq(w->map->entries, m->entries);
    view_release(v);
}

static uint32_t model_find(struct world *w, uint32_t key)
{
    char text[64], row[96];
    uint32_t slot;
    int64_t space = model_space(key);
    model_key(key, text);
    (void)snprintf(row, sizeof(row), "%s,0,NULL", text);
    struct sr_view *v = rows_view(w->home, w->schema, row);
    struct sr_map_keys k = world_keys(w, v, &space);
    ck_assert_int_eq(w->state->calls->find(w->map, &k, &slot), SR_OK);
    view_release(v);
    return slot;
}

static void model_remove(struct world *w, struct model *m, uint64_t *seed)
{
    uint32_t key = (uint32_t)(kit_random(seed) % MODEL_KEYS);
    uint32_t slot = model_find(w, key);
    ck_assert_int_eq(slot != SR_SLOT_NONE, m->entry[key].is_there);
    if (slot != SR_SLOT_NONE) {
        w->state->calls->remove(w->map, &slot, 1);
        m->entry[key].is_there = false;
        m->entries--;
    }
}

static void model_check(struct world *w, const struct model *m)
{
    for (uint32_t key = 0; key < MODEL_KEYS; key++) {
        uint32_t slot = model_find(w, key);
        ck_assert_int_eq(slot != SR_SLOT_NONE, m->entry[key].is_there);
        if (slot != SR_SLOT_NONE) {
            char t[300];
            uint32_t len;
            int64_t value = *(int64_t *)sr_map_at(w->map, slot, 2);
            ck_assert_int_eq(value, m->entry[key].value);
            int n = snprintf(t, sizeof(t), "%lld%0*d", (long long)value, (int)(value % 250), 7);
            const uint8_t *text = w->state->calls->text(w->map, slot, 3, &len);
            ck_assert(len == (uint32_t)n && memcmp(text, t, len) == 0);
        }
    }
    uint64_t cursor = 0;
    uint32_t slot[7], n;
    uint64_t seen = 0;
    while ((n = w->state->calls->each(w->map, &cursor, slot, 7)) > 0) {
        seen += n;
    }
    ck_assert_uint_eq(seen, m->entries);
}

/* Takes what is due at `until`, a few at a time; each must be what the model says. */
static void model_due(struct world *w, struct model *m, int64_t until)
{
    uint32_t slot[5], n;
    int64_t ms[5];
    int64_t before = INT64_MIN;
    for (;;) {
        ck_assert_int_eq(w->state->calls->due(w->map, until, 5, slot, ms, &n), SR_OK);
        if (n == 0) {
            break;
        }
        for (uint32_t i = 0; i < n; i++) {
            ck_assert_int_ge(ms[i], before);
            before = ms[i];
            uint32_t key = 0;
            while (key < MODEL_KEYS && !(m->entry[key].is_there && model_find(w, key) == slot[i])) {
                key++;
            }
            ck_assert_uint_lt(key, MODEL_KEYS);
            ck_assert_int_eq(m->entry[key].timer, ms[i]);
            m->entry[key].timer = SR_TIMER_NONE;
        }
    }
    for (uint32_t key = 0; key < MODEL_KEYS; key++) {
        ck_assert(!m->entry[key].is_there || m->entry[key].timer == SR_TIMER_NONE ||
                  m->entry[key].timer > until);
    }
}

START_TEST(a_value_map_is_a_table_whatever_is_done_to_it_and_survives_being_saved)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct world w = world_of(SR_MAP_VALUE, model_schema, 2, 0, 0, 1);
        struct model m = {.entries = 0};
        uint64_t random = seed * 7919;
        for (uint32_t step = 0; step < 300; step++) {
            switch (kit_random(&random) % 8) {
            case 0:
                model_due(&w, &m, (int64_t)(kit_random(&random) % 110));
                break;
            case 1:
                world_reborn(&w);
                break;
            case 2:
            case 3:
            case 4:
                for (int i = 0; i < 12; i++) {
                    model_remove(&w, &m, &random);
                }
                break;
            default:
                model_add(&w, &m, &random);
            }
        }
        model_check(&w, &m);
        model_due(&w, &m, INT64_MAX);
        world_done(&w);
    }
}
END_TEST

/* --- Multimaps -------------------------------------------------------------------------------- */

START_TEST(a_multimap_keeps_the_entries_of_a_key_in_the_order_of_arrival)
{
    struct world w = world_of(SR_MAP_MULTI, "k BIGINT, v STRING", 1, 0, 0, 1);
    world_add(&w, "1,a; 2,x; 1,b; 1,c; NULL,n; 1,a; 2,y", NULL);
    ck_assert_str_eq(world_walk(&w, "1,"), "+I 1,a; +I 1,b; +I 1,c; +I 1,a");
    ck_assert_str_eq(world_walk(&w, "2,"), "+I 2,x; +I 2,y");
    ck_assert_str_eq(world_walk(&w, "NULL,"), "+I NULL,n");
    ck_assert_str_eq(world_walk(&w, "3,"), "");
    world_reborn(&w);
    world_remove(&w, "1,"); /* the first */
    ck_assert_str_eq(world_walk(&w, "1,"), "+I 1,b; +I 1,c; +I 1,a");
    world_add(&w, "1,d", NULL);
    ck_assert_str_eq(world_walk(&w, "1,"), "+I 1,b; +I 1,c; +I 1,a; +I 1,d");
    world_reborn(&w);
    ck_assert_str_eq(world_walk(&w, "1,"), "+I 1,b; +I 1,c; +I 1,a; +I 1,d");
    ck_assert_uint_eq(w.map->entries, 7);
    world_done(&w);
}
END_TEST

START_TEST(entries_of_a_multimap_may_be_removed_anywhere)
{
    for (uint32_t skip = 0; skip < 4; skip++) {
        struct world w = world_of(SR_MAP_MULTI, "k BIGINT, v BIGINT", 1, 0, 0, 1);
        world_add(&w, "5,0; 5,1; 5,2; 5,3", NULL);
        struct sr_view *v = rows_view(w.home, w.schema, "5,0");
        struct sr_map_keys k = world_keys(&w, v, NULL);
        uint32_t slot;
        ck_assert_int_eq(w.state->calls->find(w.map, &k, &slot), SR_OK);
        for (uint32_t i = 0; i < skip; i++) {
            slot = w.state->calls->next(w.map, slot);
        }
        w.state->calls->remove(w.map, &slot, 1);
        world_add(&w, "5,9", NULL);
        const char *left[] = {"+I 5,1; +I 5,2; +I 5,3; +I 5,9", "+I 5,0; +I 5,2; +I 5,3; +I 5,9",
                              "+I 5,0; +I 5,1; +I 5,3; +I 5,9", "+I 5,0; +I 5,1; +I 5,2; +I 5,9"};
        ck_assert_str_eq(world_walk(&w, "5,0"), left[skip]);
        view_release(v);
        world_done(&w);
    }
}
END_TEST

/* --- Ordered maps ----------------------------------------------------------------------------- */

START_TEST(an_ordered_map_keeps_a_keys_entries_by_its_sort_columns)
{
    struct world w = world_of(SR_MAP_ORDERED, "k BIGINT, o INT, p STRING, v BIGINT", 1, 2, 0, 1);
    world_add(&w, "1,5,b,0; 1,3,z,1; 1,NULL,a,2; 2,4,q,3; 1,5,a,4; 1,5,b,5; 1,-7,NULL,6", NULL);
    const char *all = "+I 1,NULL,a,2; +I 1,-7,NULL,6; +I 1,3,z,1; +I 1,5,a,4; +I 1,5,b,5";
    ck_assert_str_eq(world_walk(&w, "1,0,x,0"), all);
    world_reborn(&w);
    ck_assert_str_eq(world_walk(&w, "1,0,x,0"), all);
    world_remove(&w, "1,3,z,0");
    world_remove(&w, "1,NULL,a,0");
    ck_assert_str_eq(world_walk(&w, "1,0,x,0"), "+I 1,-7,NULL,6; +I 1,5,a,4; +I 1,5,b,5");
    world_remove(&w, "2,4,q,0");
    ck_assert_str_eq(world_walk(&w, "2,0,x,0"), "");
    world_done(&w);
}
END_TEST

START_TEST(a_sort_column_may_descend)
{
    struct world w = world_of(SR_MAP_ORDERED, "k BIGINT, o INT, v BIGINT", 1, 1, 0, 1);
    bool is_descending = true;
    w.def.sort_is_descending = &is_descending;
    state_kit_backend.free(w.state);
    world_state(&w, 0, 1);
    world_add(&w, "1,5,0; 1,NULL,1; 1,9,2; 1,-3,3", NULL);
    ck_assert_str_eq(world_walk(&w, "1,0,0"), "+I 1,9,2; +I 1,5,0; +I 1,-3,3; +I 1,NULL,1");
    world_reborn(&w);
    ck_assert_str_eq(world_walk(&w, "1,0,0"), "+I 1,9,2; +I 1,5,0; +I 1,-3,3; +I 1,NULL,1");
    world_done(&w);
}
END_TEST

/* Against a table of 200 places under one key. */
START_TEST(seek_and_last_find_neighbours_in_any_order_of_arrival)
{
    struct world w = world_of(SR_MAP_ORDERED, "k STRING, o DOUBLE, v BIGINT", 1, 1, 0, 1);
    bool is_there[200] = {false};
    uint64_t seed = 99;
    for (uint32_t step = 0; step < 4000; step++) {
        uint32_t at = (uint32_t)(kit_random(&seed) % 200);
        char row[64];
        (void)snprintf(row, sizeof(row), "key,%u,%u", at, at);
        if (step % 3 != 0) {
            world_add(&w, row, NULL);
            is_there[at] = true;
        } else if (is_there[at]) {
            world_remove(&w, row);
            is_there[at] = false;
        }
        struct sr_view *v = rows_view(w.home, w.schema, row);
        struct sr_map_keys k = world_keys(&w, v, NULL);
        uint32_t slot;
        uint32_t expect = at;
        while (expect < 200 && !is_there[expect]) {
            expect++;
        }
        ck_assert_int_eq(w.state->calls->seek(w.map, &k, &slot), SR_OK);
        ck_assert_int_eq(slot != SR_SLOT_NONE, expect < 200);
        if (slot != SR_SLOT_NONE) {
            ck_assert_int_eq(*(int64_t *)sr_map_at(w.map, slot, 2), expect);
            uint32_t before = w.state->calls->prev(w.map, slot);
            int64_t b = before == SR_SLOT_NONE ? -1 : *(int64_t *)sr_map_at(w.map, before, 2);
            int64_t want = (int64_t)expect - 1;
            while (want >= 0 && !is_there[want]) {
                want--;
            }
            ck_assert_int_eq(b, want);
        }
        ck_assert_int_eq(w.state->calls->last(w.map, &k, &slot), SR_OK);
        int64_t last = 199;
        while (last >= 0 && !is_there[last]) {
            last--;
        }
        ck_assert_int_eq(slot == SR_SLOT_NONE ? -1 : *(int64_t *)sr_map_at(w.map, slot, 2), last);
        view_release(v);
    }
    world_reborn(&w);
    world_done(&w);
}
END_TEST

/* --- Timers ----------------------------------------------------------------------------------- */

/* Values of all entries that come due, as text. */
static const char *kit_due_order(struct world *w, uint32_t at_once)
{
    char *text = arena_get(w->arena, 1 << 16);
    uint32_t slot[SR_BATCH_ROWS], n;
    size_t len = 0;
    do {
        ck_assert_int_eq(w->state->calls->due(w->map, INT64_MAX, at_once, slot, NULL, &n), SR_OK);
        for (uint32_t i = 0; i < n; i++) {
            len += (size_t)sprintf(text + len, "%lld ",
                                   (long long)*(int64_t *)sr_map_at(w->map, slot[i], 1));
        }
    } while (n > 0);
    return text;
}

static void kit_timers(struct world *w, uint32_t from, int32_t step)
{
    for (uint32_t i = 0, n = from; i < 500; i++, n = (n + (uint32_t)step) % 500) {
        char row[64];
        (void)snprintf(row, sizeof(row), "%u,%u", n, n);
        struct sr_view *v = rows_view(w->home, w->schema, row);
        struct sr_map_keys k = world_keys(w, v, NULL);
        uint32_t slot;
        bool is_new;
        ck_assert_int_eq(w->state->calls->find_or_add(w->map, &k, &slot, &is_new), SR_OK);
        world_put_values(w, v, &slot);
        ck_assert_int_eq(w->state->calls->set_timer(w->map, slot, 1000 + n % 7), SR_OK);
        ck_assert_int_eq(w->state->calls->set_timer(w->map, slot, n % 3), SR_OK);
        view_release(v);
    }
}

START_TEST(due_entries_come_in_one_order_whatever_came_before)
{
    struct world w = world_of(SR_MAP_VALUE, "k BIGINT, v BIGINT", 1, 0, 0, 1);
    kit_timers(&w, 0, 1);
    const char *order = kit_due_order(&w, 1000);
    for (uint32_t round = 0; round < 4; round++) {
        struct world again = world_of(SR_MAP_VALUE, "k BIGINT, v BIGINT", 1, 0, 0, 1);
        kit_timers(&again, 77 * round, round % 2 == 0 ? 499 : 7);
        if (round > 1) {
            world_reborn(&again);
        }
        ck_assert_str_eq(kit_due_order(&again, 1 + 13 * round), order);
        ck_assert_uint_eq(again.map->entries, 500);
        world_done(&again);
    }
    world_done(&w);
}
END_TEST

START_TEST(a_timer_goes_with_its_entry_and_with_being_cleared)
{
    struct world w = world_of(SR_MAP_VALUE, "k BIGINT, v BIGINT", 1, 0, 0, 1);
    kit_timers(&w, 0, 1);
    for (uint32_t i = 0; i < 500; i++) {
        char row[64];
        (void)snprintf(row, sizeof(row), "%u,0", i);
        struct sr_view *v = rows_view(w.home, w.schema, row);
        struct sr_map_keys k = world_keys(&w, v, NULL);
        uint32_t slot;
        ck_assert_int_eq(w.state->calls->find(w.map, &k, &slot), SR_OK);
        if (i % 2 == 0) {
            w.state->calls->remove(w.map, &slot, 1);
        } else if (i != 499) {
            ck_assert_int_eq(w.state->calls->set_timer(w.map, slot, SR_TIMER_NONE), SR_OK);
        }
        view_release(v);
    }
    kit_timers(&w, 0, 250); /* sets those of 0 and 250, whose slots are used again */
    struct world other = world_of(SR_MAP_VALUE, "k BIGINT, v BIGINT", 1, 0, 0, 1);
    world_done(&other);
    uint32_t slot[4], n;
    ck_assert_int_eq(w.state->calls->due(w.map, INT64_MAX, 4, slot, NULL, &n), SR_OK);
    ck_assert_uint_eq(n, 3);
    world_done(&w);
}
END_TEST

/* --- Size ------------------------------------------------------------------------------------- */

/* So many keys that some share the 32 bits of hash that an index keeps. */
START_TEST(keys_with_the_same_hash_are_different_entries)
{
    struct world w = world_of(SR_MAP_VALUE, "k BIGINT, v BIGINT", 1, 0, 0, 1);
    struct sr_view *v = rows_empty(w.home, w.schema);
    uint32_t slot[SR_BATCH_ROWS];
    bool is_new[SR_BATCH_ROWS];
    v->rows = v->picked = v->col[0]->rows = v->col[1]->rows = SR_BATCH_ROWS;
    struct sr_map_keys k = world_keys(&w, v, NULL);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t first = 0; first < 400 * 1024; first += SR_BATCH_ROWS) {
            for (int64_t i = 0; i < SR_BATCH_ROWS; i++) {
                ((int64_t *)v->col[0]->values)[i] = (first + i) * 1000003;
            }
            ck_assert_int_eq(w.state->calls->find_or_add(w.map, &k, slot, is_new), SR_OK);
            for (int64_t i = 0; i < SR_BATCH_ROWS; i++) {
                int64_t *value = sr_map_at(w.map, slot[i], 1);
                if (is_new[i] != (pass == 0) || *value != (pass == 0 ? 0 : first + i)) {
                    ck_abort_msg("key %lld has entry %lld", (long long)(first + i),
                                 (long long)*value);
                }
                *value = first + i;
            }
            ck_assert_int_eq(w.state->calls->find(w.map, &k, slot), SR_OK);
            ck_assert_int_eq(*(int64_t *)sr_map_at(w.map, slot[7], 1), first + 7);
        }
    }
    ck_assert_uint_eq(w.map->entries, 400 * 1024);
    view_release(v);
    world_done(&w);
}
END_TEST

UNIT_MAIN("state kit", a_value_map_is_a_table_whatever_is_done_to_it_and_survives_being_saved,
          a_multimap_keeps_the_entries_of_a_key_in_the_order_of_arrival,
          entries_of_a_multimap_may_be_removed_anywhere,
          an_ordered_map_keeps_a_keys_entries_by_its_sort_columns, a_sort_column_may_descend,
          seek_and_last_find_neighbours_in_any_order_of_arrival,
          due_entries_come_in_one_order_whatever_came_before,
          a_timer_goes_with_its_entry_and_with_being_cleared,
          keys_with_the_same_hash_are_different_entries)
