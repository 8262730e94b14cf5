#include "test/kit/state_kit.h"

#include <stdio.h>
#include <string.h>

#include "engine/data/rowhash.h"
#include "test/kit/state_world.h"
#include "test/unit/unit.h"

/* --- Saving and loading ----------------------------------------------------------------------- */

/* Rows n: key n, text, namespace n % 5, timer n for every third. */
static void kit_fill(struct world *w, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        char row[64];
        (void)snprintf(row, sizeof(row), "%u,s%u,%u,t%u", n, n % 9, n * 3, n % 11);
        struct sr_view *v = rows_view(w->home, w->schema, row);
        uint64_t hash;
        rowhash(v, world_columns, 2, 0, 1, &hash);
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

static const char *saved_schema = "k BIGINT, s STRING, v BIGINT, t STRING";

static struct world kit_world(uint32_t part, uint32_t parts)
{
    return world_of(SR_MAP_VALUE, saved_schema, 2, 0, part, parts);
}

/* Saved by `from` subtasks, loaded by `to`, saved again, loaded by one: as if never moved. */
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

/* Enough for memory that is had at once, and made ready while it is filled. */
START_TEST(a_large_state_comes_back)
{
    struct world w = kit_world(0, 1);
    struct sr_view *v = rows_view(w.home, w.schema,
                                  "1,a text that takes more room in the heap than its entry takes "
                                  "in a record of the map,2,t");
    static uint16_t row[SR_BATCH_ROWS];
    static int64_t space[SR_BATCH_ROWS];
    static uint32_t slot[SR_BATCH_ROWS];
    static bool is_new[SR_BATCH_ROWS];
    for (int64_t n = 0; n < 640000; n += SR_BATCH_ROWS) {
        for (uint32_t i = 0; i < SR_BATCH_ROWS; i++) {
            space[i] = n + i;
        }
        struct sr_map_keys k = world_keys(&w, v, space);
        k.row = row;
        k.count = SR_BATCH_ROWS;
        ck_assert_int_eq(w.state->calls->find_or_add(w.map, &k, slot, is_new), SR_OK);
    }
    view_release(v);
    uint64_t entries = w.map->entries;
    world_reborn(&w);
    ck_assert_uint_eq(w.map->entries, entries);
    world_add(&w, "7,b,8,c", NULL);
    ck_assert_uint_eq(w.map->entries, entries + 1);
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
    struct world w = world_of(SR_MAP_VALUE, saved_schema, 2, 0, 0, 1);
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
        for (uint32_t bit = 0; bit < 8; bit += 5) {
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

UNIT_MAIN("saved state kit",
          state_moves_between_parallelisms_and_the_same_state_gives_the_same_bytes,
          a_large_state_comes_back, the_watermark_after_a_restore_is_the_lowest_of_the_subtasks,
          an_entry_moves_to_another_namespace_with_its_timer,
          columns_of_every_type_come_back_as_they_were_put,
          state_of_other_columns_is_a_misfit_that_names_both_sides,
          a_column_that_may_be_null_now_fits_one_that_may_not, another_max_parallelism_is_a_misfit,
          cut_or_changed_bytes_never_do_more_than_fail)
