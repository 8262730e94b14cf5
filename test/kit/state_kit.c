#include "test/kit/state_kit.h"

#include <stdio.h>
#include <string.h>

#include "engine/data/rowhash.h"
#include "test/kit/rows.h"
#include "test/unit/unit.h"

/* --- A world: a state, one map in it, and what its rows look like -------------------------------- */

struct world {
    struct arena *arena;
    struct sr_home *home;
    struct sr_state *state;
    struct sr_map *map;
    const struct sr_schema *schema; /* keys, sorts, values: the columns of the map */
    struct sr_map_def def;
};

static const uint32_t kit_columns[] = {0, 1, 2, 3, 4, 5, 6, 7};

static uint64_t kit_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void world_state(struct world *w, uint32_t part, uint32_t parts)
{
    struct sr_error err = {0};
    struct state_conf conf = {
        .max_parallelism = 128, .part = part, .parts = parts, .uid = "totals"};
    ck_assert_int_eq(state_kit_backend.make(&w->state, &conf, &err), SR_OK);
    ck_assert_msg(w->state->calls->map(w->state, &w->def, &w->map, &err) == SR_OK, "%s", err.words);
}

static struct world world_of(enum sr_map_kind kind, const char *schema, uint32_t keys,
                             uint32_t sorts, uint32_t part, uint32_t parts)
{
    struct world w = {.arena = arena_new(), .home = home_new()};
    w.schema = rows_schema(w.arena, schema);
    w.def = (struct sr_map_def){.size = sizeof(w.def),
                                .name = "groups",
                                .kind = kind,
                                .keys = keys,
                                .key = w.schema->field,
                                .sorts = sorts,
                                .sort = w.schema->field + keys,
                                .values = w.schema->fields - keys - sorts,
                                .value = w.schema->field + keys + sorts};
    world_state(&w, part, parts);
    return w;
}

static void world_done(struct world *w)
{
    state_kit_backend.free(w->state);
    home_close(w->home);
    arena_free(w->arena);
}

static struct sr_map_keys world_keys(const struct world *w, const struct sr_view *v,
                                     const int64_t *spaces)
{
    return (struct sr_map_keys){.view = v,
                                .key = kit_columns,
                                .sort = w->def.sorts > 0 ? kit_columns + w->def.keys : NULL,
                                .count = v->rows,
                                .namespaces = spaces};
}

/* Puts the rows' values into their entries. */
static void world_put_values(struct world *w, const struct sr_view *v, const uint32_t *slot)
{
    for (uint32_t c = w->def.keys + w->def.sorts; c < w->schema->fields; c++) {
        ck_assert_int_eq(w->state->calls->put(w->map, slot, v->rows, c, v->col[c], NULL), SR_OK);
    }
}

/* Adds rows "key,...,value..." by the call that the kind of map takes. */
static void world_add(struct world *w, const char *rows, const int64_t *spaces)
{
    struct sr_view *v = rows_view(w->home, w->schema, rows);
    struct sr_map_keys k = world_keys(w, v, spaces);
    uint32_t slot[SR_BATCH_ROWS];
    bool is_new[SR_BATCH_ROWS];
    sr_rc rc = w->def.kind == SR_MAP_MULTI ? w->state->calls->add(w->map, &k, slot)
                                           : w->state->calls->find_or_add(w->map, &k, slot, is_new);
    ck_assert_int_eq(rc, SR_OK);
    world_put_values(w, v, slot);
    view_release(v);
}

/* Entries as rows of all columns. */
static const char *world_text(struct world *w, const uint32_t *slot, uint32_t count)
{
    struct sr_view *v = rows_empty(w->home, w->schema);
    v->rows = v->picked = count;
    for (uint32_t c = 0; c < w->schema->fields; c++) {
        v->col[c]->rows = count;
        ck_assert_int_eq(w->state->calls->get(w->map, slot, count, c, w->home, v->col[c], 0),
                         SR_OK);
    }
    const char *text = rows_text(w->arena, v);
    view_release(v);
    return text;
}

/* All entries of the key of the first of `rows`, from `find` on by `next`. */
static const char *world_walk(struct world *w, const char *rows)
{
    struct sr_view *v = rows_view(w->home, w->schema, rows);
    struct sr_map_keys k = world_keys(w, v, NULL);
    k.sort = NULL;
    uint32_t slot[SR_BATCH_ROWS], first[SR_BATCH_ROWS];
    uint32_t n = 0;
    ck_assert_int_eq(w->state->calls->find(w->map, &k, first), SR_OK);
    uint32_t before = SR_SLOT_NONE;
    for (uint32_t s = first[0]; s != SR_SLOT_NONE; s = w->state->calls->next(w->map, s)) {
        ck_assert_uint_eq(w->state->calls->prev(w->map, s), before);
        before = slot[n++] = s;
    }
    view_release(v);
    return world_text(w, slot, n);
}

static void world_remove(struct world *w, const char *rows)
{
    struct sr_view *v = rows_view(w->home, w->schema, rows);
    struct sr_map_keys k = world_keys(w, v, NULL);
    uint32_t slot[SR_BATCH_ROWS];
    ck_assert_int_eq(w->state->calls->find(w->map, &k, slot), SR_OK);
    ck_assert_uint_ne(slot[0], SR_SLOT_NONE);
    w->state->calls->remove(w->map, slot, 1);
    view_release(v);
}

static struct sr_out world_saved(const struct world *w)
{
    struct sr_out out = bytes_out();
    struct sr_error err = {0};
    ck_assert_int_eq(state_kit_backend.save(w->state, &out, &err), SR_OK);
    return out;
}

static void assert_same_bytes(const struct sr_out *a, const struct sr_out *b)
{
    ck_assert_uint_eq(a->len, b->len);
    ck_assert_int_eq(memcmp(a->data, b->data, a->len), 0);
}

/* Saves, loads into a new state of one subtask, and goes on with that. */
static void world_reborn(struct world *w)
{
    struct sr_out out = world_saved(w);
    struct sr_error err = {0};
    state_kit_backend.free(w->state);
    world_state(w, 0, 1);
    ck_assert_msg(state_kit_backend.load(w->state, out.data, out.len, &err) == SR_OK, "%s",
                  err.words);
    struct sr_out again = world_saved(w);
    assert_same_bytes(&out, &again);
    bytes_free(&again);
    bytes_free(&out);
}

/* --- Value maps: against a table of 256 keys, half of them NULL in one column ---------------------- */

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

/* --- Multimaps -------------------------------------------------------------------------------------- */

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

/* --- Ordered maps ------------------------------------------------------------------------------------ */

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

/* --- Timers ------------------------------------------------------------------------------------------ */

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

/* --- Saving and loading ------------------------------------------------------------------------------ */

/* Rows n: key n, text, namespace n % 5, timer n for every third. */
static void kit_fill(struct world *w, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        char row[64];
        (void)snprintf(row, sizeof(row), "%u,s%u,%u,t%u", n, n % 9, n * 3, n % 11);
        struct sr_view *v = rows_view(w->home, w->schema, row);
        uint64_t hash;
        rowhash(v, kit_columns, 2, 0, 1, &hash);
        if (key_group_part(key_group(hash, 128), 128, w->state->parts) == w->state->part) {
            int64_t space = n % 5;
            struct sr_map_keys k = world_keys(w, v, &space);
            uint32_t slot;
            bool is_new;
            ck_assert_int_eq(w->state->calls->find_or_add(w->map, &k, &slot, &is_new), SR_OK);
            world_put_values(w, v, &slot);
            if (n % 3 == 0) {
                ck_assert_int_eq(w->state->calls->set_timer(w->map, slot, n), SR_OK);
            }
        }
        view_release(v);
    }
}

static struct world kit_world(uint32_t part, uint32_t parts)
{
    return world_of(SR_MAP_VALUE, model_schema, 2, 0, part, parts);
}

/* Saved by `from` subtasks, loaded by `to`, saved again, loaded by one: as if it had never moved. */
static void kit_move(uint32_t from, uint32_t to, const struct sr_out *expect)
{
    struct sr_out *saved = calloc(from, sizeof(*saved)), *moved = calloc(to, sizeof(*moved));
    struct sr_error err = {0};
    uint64_t entries = 0;
    for (uint32_t p = 0; p < from; p++) {
        struct world w = kit_world(p, from);
        kit_fill(&w, 600);
        saved[p] = world_saved(&w);
        world_done(&w);
    }
    for (uint32_t p = 0; p < to; p++) {
        struct world w = kit_world(p, to);
        for (uint32_t i = 0; i < from; i++) {
            ck_assert_msg(state_kit_backend.load(w.state, saved[i].data, saved[i].len, &err) ==
                              SR_OK,
                          "%s", err.words);
        }
        entries += w.map->entries;
        moved[p] = world_saved(&w);
        world_done(&w);
    }
    ck_assert_uint_eq(entries, 600);
    struct world one = kit_world(0, 1);
    for (uint32_t p = 0; p < to; p++) {
        ck_assert_int_eq(state_kit_backend.load(one.state, moved[p].data, moved[p].len, &err),
                         SR_OK);
        bytes_free(&moved[p]);
    }
    struct sr_out again = world_saved(&one);
    assert_same_bytes(&again, expect);
    bytes_free(&again);
    world_done(&one);
    for (uint32_t i = 0; i < from; i++) {
        bytes_free(&saved[i]);
    }
    free(saved);
    free(moved);
}

START_TEST(state_moves_between_parallelisms_and_the_same_state_gives_the_same_bytes)
{
    const uint32_t parts[] = {1, 2, 3, 128};
    struct world w = kit_world(0, 1);
    kit_fill(&w, 600);
    struct sr_out expect = world_saved(&w);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < 4; j++) {
            kit_move(parts[i], parts[j], &expect);
        }
    }
    bytes_free(&expect);
    world_done(&w);
}
END_TEST

START_TEST(the_watermark_after_a_restore_is_the_lowest_of_the_subtasks)
{
    struct world a = kit_world(0, 2), b = kit_world(1, 2), c = kit_world(0, 1);
    struct sr_error err = {0};
    ck_assert_int_eq(c.state->watermark, SR_WATERMARK_NONE);
    a.state->watermark = 900;
    b.state->watermark = 700;
    struct sr_out x = world_saved(&a), y = world_saved(&b);
    ck_assert_int_eq(state_kit_backend.load(c.state, x.data, x.len, &err), SR_OK);
    ck_assert_int_eq(c.state->watermark, 900);
    ck_assert_int_eq(state_kit_backend.load(c.state, y.data, y.len, &err), SR_OK);
    ck_assert_int_eq(c.state->watermark, 700);
    bytes_free(&x);
    bytes_free(&y);
    world_done(&a);
    world_done(&b);
    world_done(&c);
}
END_TEST

START_TEST(an_entry_moves_to_another_namespace_with_its_timer)
{
    struct world w = world_of(SR_MAP_VALUE, model_schema, 2, 0, 0, 1);
    int64_t spaces[] = {10, 20};
    world_add(&w, "1,a,5,x; 1,a,6,y", spaces);
    struct sr_view *v = rows_view(w.home, w.schema, "1,a,0,NULL; 1,a,0,NULL; 1,a,0,NULL");
    int64_t find[] = {10, 20, 30};
    struct sr_map_keys k = world_keys(&w, v, find);
    uint32_t slot[3], n;
    int64_t ms;
    ck_assert_int_eq(w.state->calls->find(w.map, &k, slot), SR_OK);
    ck_assert_uint_eq(slot[2], SR_SLOT_NONE);
    ck_assert_int_eq(w.state->calls->set_timer(w.map, slot[0], 9), SR_OK);
    ck_assert_int_eq(w.state->calls->rekey(w.map, slot[0], 20), SR_EEXISTS);
    ck_assert_int_eq(w.state->calls->rekey(w.map, slot[0], 30), SR_OK);
    ck_assert_int_eq(w.state->calls->rekey(w.map, slot[0], 30), SR_OK);
    world_reborn(&w);
    ck_assert_int_eq(w.state->calls->find(w.map, &k, slot), SR_OK);
    ck_assert_uint_eq(slot[0], SR_SLOT_NONE);
    ck_assert_str_eq(world_text(&w, &slot[1], 2), "+I 1,a,6,y; +I 1,a,5,x");
    ck_assert_int_eq(w.state->calls->due(w.map, 9, 1, &n, &ms, &slot[0]), SR_OK);
    ck_assert_uint_eq(slot[0], 1);
    ck_assert_uint_eq(n, slot[2]);
    view_release(v);
    world_done(&w);
}
END_TEST

START_TEST(columns_of_every_type_come_back_as_they_were_put)
{
    struct world w = world_of(
        SR_MAP_VALUE,
        "k DECIMAL(30, 2), b BOOLEAN, t TINYINT, s SMALLINT, i INT, d DATE, f FLOAT, g DOUBLE, "
        "m TIMESTAMP(3), c DECIMAL(10, 2), e DECIMAL(38, 4), x STRING, y BYTES, n BIGINT",
        8, 0, 0, 1);
    const char *rows = "-1,1,-2,300,-70000,19000,1.5,-0.25,1700000000123,12345,-9,text,bytes,NULL; "
                       "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,8";
    world_add(&w, rows, NULL);
    world_reborn(&w);
    struct sr_view *v = rows_view(w.home, w.schema, rows);
    const char *expect = rows_text(w.arena, v);
    struct sr_map_keys k = world_keys(&w, v, NULL);
    uint32_t slot[2];
    ck_assert_int_eq(w.state->calls->find(w.map, &k, slot), SR_OK);
    ck_assert_str_eq(world_text(&w, slot, 2), expect);
    /* and a value over the size of a chunk, then NULL, then short again */
    char *large = malloc(3 << 20);
    memset(large, 'z', 3 << 20);
    ck_assert_int_eq(w.state->calls->set_text(w.map, slot[0], 11, large, 3 << 20), SR_OK);
    world_reborn(&w);
    ck_assert_int_eq(w.state->calls->find(w.map, &k, slot), SR_OK);
    uint32_t len;
    ck_assert_int_eq(memcmp(w.state->calls->text(w.map, slot[0], 11, &len), large, 3 << 20), 0);
    ck_assert_uint_eq(len, 3 << 20);
    world_put_values(&w, v, slot);
    ck_assert_str_eq(world_text(&w, slot, 2), expect);
    free(large);
    view_release(v);
    world_done(&w);
}
END_TEST

START_TEST(state_of_other_columns_is_a_misfit_that_names_both_sides)
{
    struct world a = world_of(SR_MAP_VALUE, "page STRING, hits BIGINT", 1, 0, 0, 1);
    struct world b = world_of(SR_MAP_VALUE, "page STRING, hits INT", 1, 0, 0, 1);
    world_add(&a, "x,1", NULL);
    struct sr_out out = world_saved(&a);
    struct sr_error err = {0};
    ck_assert_int_eq(state_kit_backend.load(b.state, out.data, out.len, &err), SR_EMISFIT);
    ck_assert_ptr_nonnull(strstr(err.words, "totals"));
    ck_assert_ptr_nonnull(strstr(err.words, "hits BIGINT"));
    ck_assert_ptr_nonnull(strstr(err.words, "hits INT"));
    bytes_free(&out);
    world_done(&a);
    world_done(&b);
}
END_TEST

START_TEST(a_column_that_may_be_null_now_fits_one_that_may_not)
{
    struct world a = world_of(SR_MAP_VALUE, "page STRING NOT NULL, hits BIGINT", 1, 0, 0, 1);
    struct world b = world_of(SR_MAP_VALUE, "page STRING, hits BIGINT", 1, 0, 0, 1);
    world_add(&a, "x,1", NULL);
    struct sr_out out = world_saved(&a);
    struct sr_error err = {0};
    ck_assert_int_eq(state_kit_backend.load(b.state, out.data, out.len, &err), SR_OK);
    ck_assert_uint_eq(b.map->entries, 1);
    bytes_free(&out);
    world_done(&a);
    world_done(&b);
}
END_TEST

START_TEST(another_max_parallelism_is_a_misfit)
{
    struct world a = kit_world(0, 1);
    struct sr_out out = world_saved(&a);
    struct sr_error err = {0};
    struct state_conf conf = {.max_parallelism = 64, .part = 0, .parts = 1, .uid = "totals"};
    struct sr_state *s = NULL;
    ck_assert_int_eq(state_kit_backend.make(&s, &conf, &err), SR_OK);
    ck_assert_int_eq(state_kit_backend.load(s, out.data, out.len, &err), SR_EMISFIT);
    ck_assert_ptr_nonnull(strstr(err.words, "128"));
    ck_assert_ptr_nonnull(strstr(err.words, "64"));
    state_kit_backend.free(s);
    bytes_free(&out);
    world_done(&a);
}
END_TEST

static sr_rc kit_load_bytes(const uint8_t *bytes, size_t len)
{
    struct world w = kit_world(0, 1);
    struct sr_error err = {0};
    uint8_t *copy = malloc(len > 0 ? len : 1); /* of exactly that size, so that a step over shows */
    memcpy(copy, bytes, len);
    sr_rc rc = state_kit_backend.load(w.state, copy, len, &err);
    ck_assert_int_eq(rc != SR_OK, err.rc != SR_OK);
    free(copy);
    world_done(&w);
    return rc;
}

/* The store has a digest over these bytes; but whoever made them may be hostile. */
START_TEST(cut_or_changed_bytes_never_do_more_than_fail)
{
    struct world w = kit_world(0, 1);
    kit_fill(&w, 12);
    struct sr_out out = world_saved(&w);
    for (size_t len = 0; len < out.len; len++) {
        ck_assert_int_eq(kit_load_bytes(out.data, len), SR_ECORRUPT);
    }
    for (size_t at = 0; at < out.len; at++) {
        for (uint32_t bit = 0; bit < 8; bit += 3) {
            out.data[at] ^= (uint8_t)(1u << bit);
            sr_rc rc = kit_load_bytes(out.data, out.len);
            ck_assert(rc == SR_OK || rc == SR_ECORRUPT || rc == SR_EMISFIT || rc == SR_ENOMEM);
            out.data[at] ^= (uint8_t)(1u << bit);
        }
    }
    ck_assert_int_eq(kit_load_bytes(out.data, out.len), SR_OK);
    bytes_free(&out);
    world_done(&w);
}
END_TEST

/* --- Size -------------------------------------------------------------------------------------------- */

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
          state_moves_between_parallelisms_and_the_same_state_gives_the_same_bytes,
          the_watermark_after_a_restore_is_the_lowest_of_the_subtasks,
          an_entry_moves_to_another_namespace_with_its_timer,
          columns_of_every_type_come_back_as_they_were_put,
          state_of_other_columns_is_a_misfit_that_names_both_sides,
          a_column_that_may_be_null_now_fits_one_that_may_not, another_max_parallelism_is_a_misfit,
          cut_or_changed_bytes_never_do_more_than_fail,
          keys_with_the_same_hash_are_different_entries)
