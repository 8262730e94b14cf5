#include <math.h>

#include "engine/data/rowhash.h"
#include "engine/data/split.h"
#include "rows.h"
#include "test/unit/unit.h"

static struct sr_error err;

static uint64_t hash_one(struct sr_column *c, uint32_t r)
{
    struct sr_view v = {.rows = r + 1, .picked = r + 1, .cols = 1, .col = &c};
    uint64_t hash = 0;
    rowhash(&v, &(uint32_t){0}, 1, r, 1, &hash);
    return hash;
}

/* Values written down once: key groups of saved state depend on them for ever. */
START_TEST(hashes_never_change)
{
    struct sr_home *h = home_new();
    struct sr_type t = type_of(SR_BIGINT);
    struct sr_column *n = column_new(h, &t, SR_BATCH_ROWS);
    ((int64_t *)n->values)[0] = 1;
    ((int64_t *)n->values)[1] = -1;
    column_set_null(n, 2);
    t = type_of(SR_VARCHAR);
    struct sr_column *s = column_new(h, &t, SR_BATCH_ROWS);
    ck_assert(column_put_bytes(h, s, 0, "hello", 5) && column_put_bytes(h, s, 1, "", 0));
    ck_assert_uint_eq(hash_one(n, 0), UINT64_C(0x545484445A1924FD));
    ck_assert_uint_eq(hash_one(n, 1), UINT64_C(0x9C0F4BCCC770CAEC));
    ck_assert_uint_eq(hash_one(n, 2), UINT64_C(0x7E10B1F2567CE3C6));
    ck_assert_uint_eq(hash_one(s, 0), UINT64_C(0x20AEF20D8B98D7E9));
    ck_assert_uint_eq(hash_one(s, 1), UINT64_C(0x6CB8046A3F50A792));
    column_release(n);
    column_release(s);
    home_close(h);
}
END_TEST

START_TEST(the_same_key_has_the_same_hash_wherever_it_lies)
{
    struct arena *a = arena_new();
    struct sr_home *h = home_new();
    struct sr_schema s = rows_schema(a);
    struct sr_view *v = rows_view(h, &s, 1000, 3);
    uint32_t cols[32];
    for (uint32_t i = 0; i < s.fields; i++) {
        cols[i] = i;
    }
    uint64_t all[1000];
    rowhash(v, cols, s.fields, 0, 1000, all);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t one = 0;
        rowhash(v, cols, s.fields, i, 1, &one);
        ck_assert_uint_eq(one, all[i]);
    }
    struct sr_view *odd = view_share(h, v);
    odd->picked = 0;
    for (uint16_t r = 1; r < 1000; r += 2) {
        odd->sel_space[odd->picked++] = r;
    }
    odd->sel = odd->sel_space;
    uint64_t some[500];
    rowhash(odd, cols, s.fields, 0, 500, some);
    for (uint32_t i = 0; i < 500; i++) {
        ck_assert_uint_eq(some[i], all[2 * i + 1]);
    }
    view_release(odd);
    view_release(v);
    home_close(h);
    arena_free(a);
}
END_TEST

START_TEST(equal_values_are_one_key_and_order_counts)
{
    struct sr_home *h = home_new();
    struct sr_type t = type_of(SR_DOUBLE);
    struct sr_column *d = column_new(h, &t, SR_BATCH_ROWS);
    ((double *)d->values)[0] = NAN;
    ((double *)d->values)[1] = -NAN;
    ck_assert_uint_eq(hash_one(d, 0), hash_one(d, 1));
    t = type_with(SR_CHAR, 3, 0);
    struct sr_column *c = column_new(h, &t, SR_BATCH_ROWS);
    t = type_of(SR_VARCHAR);
    struct sr_column *s = column_new(h, &t, SR_BATCH_ROWS);
    ck_assert(column_put_bytes(h, c, 0, "abc", 3) && column_put_bytes(h, s, 0, "abc", 3));
    ck_assert_uint_eq(hash_one(c, 0), hash_one(s, 0));
    ck_assert(column_put_bytes(h, c, 0, "ab", 2) && column_put_bytes(h, s, 0, "c", 1));
    struct sr_column *two[] = {c, s};
    struct sr_view v = {.rows = 1, .picked = 1, .cols = 2, .col = two};
    uint64_t x = 0, y = 0;
    rowhash(&v, (uint32_t[]){0, 1}, 2, 0, 1, &x);
    rowhash(&v, (uint32_t[]){1, 0}, 2, 0, 1, &y);
    ck_assert(x != y);
    column_release(d);
    column_release(c);
    column_release(s);
    home_close(h);
}
END_TEST

START_TEST(every_subtask_owns_its_groups_and_no_other)
{
    for (uint32_t parts = 1; parts <= 128; parts++) {
        uint32_t seen = 0;
        for (uint32_t p = 0; p < parts; p++) {
            uint32_t end = p + 1 < parts ? key_group_first(p + 1, 128, parts) : 128;
            for (uint32_t g = key_group_first(p, 128, parts); g < end; g++) {
                ck_assert_uint_eq(key_group_part(g, 128, parts), p);
                seen++;
            }
        }
        ck_assert_uint_eq(seen, 128);
    }
}
END_TEST

START_TEST(a_split_loses_nothing_and_sends_a_key_to_one_place)
{
    struct sr_home *h = home_new();
    struct sr_type t = type_of(SR_BIGINT);
    struct sr_view *v = view_new(h, 1);
    v->col[0] = column_new(h, &t, SR_BATCH_ROWS);
    v->rows = v->picked = v->col[0]->rows = 1000;
    for (uint32_t r = 0; r < 1000; r++) {
        ((int64_t *)v->col[0]->values)[r] = r % 50;
    }
    v->watermark = buffer_new(h, 8000);
    v->watermark_end = 99;
    struct sr_view *part[4];
    struct split s = {.key = (uint32_t[]){0}, .keys = 1, .max_parallelism = 128, .parts = 4};
    ck_assert_int_eq(split_by_key(h, v, &s, part, &err), SR_OK);
    uint32_t rows = 0, used = 0;
    int place[50];
    memset(place, -1, sizeof(place));
    for (int p = 0; p < 4; p++) {
        if (!part[p]) {
            continue;
        }
        used++;
        rows += part[p]->picked;
        ck_assert_int_eq(part[p]->watermark_end, 99);
        ck_assert_ptr_nonnull(part[p]->watermark);
        uint32_t last = 0;
        SR_EACH_ROW(part[p], r) {
            ck_assert(r >= last);
            last = r;
            int64_t key = ((int64_t *)part[p]->col[0]->values)[r];
            ck_assert(place[key] == -1 || place[key] == p);
            place[key] = p;
        }
        view_release(part[p]);
    }
    ck_assert_uint_eq(rows, 1000);
    ck_assert_uint_eq(used, 4);
    home_close(h);
}
END_TEST

UNIT_MAIN("rowhash", hashes_never_change, the_same_key_has_the_same_hash_wherever_it_lies,
          equal_values_are_one_key_and_order_counts, every_subtask_owns_its_groups_and_no_other,
          a_split_loses_nothing_and_sends_a_key_to_one_place)
