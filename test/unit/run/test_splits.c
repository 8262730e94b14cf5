#include <stdio.h>
#include <string.h>

#include "test/unit/unit.h"

#include "test/unit/run/world.h"

#include "engine/run/splits.h"

struct fixture {
    struct world w;
    struct splits *pool;
    struct sr_error err;
};

static void begin(struct fixture *f, bool is_bounded, uint32_t parts)
{
    world_init(&f->w, 1);
    f->w.splits = 5;
    f->w.is_bounded = is_bounded;
    const struct plan *p = world_plan(&f->w);
    ck_assert_int_eq(splits_new(&f->pool, p, &p->node[0], parts, &f->w.env, &f->err), SR_OK);
}

static void end(struct fixture *f)
{
    splits_free(f->pool);
    world_done(&f->w);
}

static const char *take(struct fixture *f, uint32_t held)
{
    static char id[32];
    struct split k;
    struct sr_wait wait;
    switch (splits_take(f->pool, held, f->w.now_us, &k, &wait, &f->err)) {
    case SPLITS_ONE:
        snprintf(id, sizeof(id), "%s", k.id);
        split_done(&k);
        return id;
    case SPLITS_LATER:
        return "later";
    case SPLITS_ALL:
        return "all";
    case SPLITS_FAILED:
        break;
    }
    return "failed";
}

static void restore(struct fixture *f, const char *id, enum split_state state, int64_t done)
{
    struct split k = {.id = strdup(id), .note = calloc(1, 8), .note_len = 8, .state = state};
    k.done = done;
    k.order = 9;
    k.watermark = SR_WATERMARK_NONE;
    ck_assert_int_eq(split_list_add(&f->pool->waiting, &k), SR_OK);
}

/* Oldest first, then by id (the world's order is number / 2), one a reader at a time. */
START_TEST(test_order)
{
    static const char *const ids[] = {"s0", "s1", "s2", "s3", "s4"};
    struct fixture f;
    begin(&f, true, 2);
    ck_assert_int_eq(splits_open(f.pool, &f.err), SR_OK);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_str_eq(take(&f, 1), "later");
        ck_assert(atomic_load(&f.pool->has_more));
        ck_assert_str_eq(take(&f, 0), ids[i]);
    }
    ck_assert(!atomic_load(&f.pool->has_more));
    ck_assert_str_eq(take(&f, 0), "all");
    end(&f);
}
END_TEST

/* Splits of an unbounded source are spread evenly over the readers at once. */
START_TEST(test_spread)
{
    struct fixture f;
    begin(&f, false, 2);
    ck_assert_int_eq(splits_open(f.pool, &f.err), SR_OK);
    for (uint32_t held = 0; held < 3; held++) {
        ck_assert_str_ne(take(&f, held), "later");
    }
    ck_assert_str_eq(take(&f, 3), "later"); /* 3 of 5 are this reader's share */
    ck_assert_str_ne(take(&f, 0), "later");
    ck_assert_str_ne(take(&f, 1), "later");
    ck_assert_str_eq(take(&f, 2), "later");
    end(&f);
}
END_TEST

/* Of what several subtasks saved of one split, the one that got furthest is right: finished beats
 * reading beats waiting; finished ones are not named or read again. */
START_TEST(test_restore)
{
    struct fixture f;
    begin(&f, true, 1);
    restore(&f, "s1", SPLIT_WAITING, 0);
    restore(&f, "s1", SPLIT_READING, 7);
    restore(&f, "s1", SPLIT_READING, 30);
    restore(&f, "s2", SPLIT_READING, 12);
    restore(&f, "s2", SPLIT_FINISHED, 40);
    ck_assert_int_eq(splits_open(f.pool, &f.err), SR_OK);
    ck_assert_uint_eq(f.pool->waiting.count, 1);
    ck_assert_int_eq(f.pool->waiting.item[0].done, 30);
    ck_assert_uint_eq(f.pool->finished.count, 1);
    static const char *const ids[] = {"s0", "s3", "s4", "s1"}; /* s1 was restored with order 9 */
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_str_eq(take(&f, 0), ids[i]);
    }
    ck_assert_str_eq(take(&f, 0), "all");
    end(&f);
}
END_TEST

/* What waits is saved by the first subtask that a barrier reaches, and by no other. */
START_TEST(test_saved_once)
{
    struct fixture f;
    begin(&f, true, 2);
    ck_assert_int_eq(splits_open(f.pool, &f.err), SR_OK);
    ck_assert_str_eq(take(&f, 0), "s0");
    struct sr_out first = bytes_out(), second = bytes_out();
    ck_assert_int_eq(splits_save(f.pool, 3, &first), SR_OK);
    ck_assert_str_eq(take(&f, 0), "s1");
    ck_assert_int_eq(splits_save(f.pool, 3, &second), SR_OK);
    ck_assert_uint_eq(second.len, 0);
    struct bytes_in in = bytes_in(first.data, first.len);
    ck_assert_uint_eq(bytes_get_u32(&in), 4);
    for (uint32_t i = 0; i < 4; i++) {
        struct split k;
        ck_assert_int_eq(split_get(&in, &k), SR_OK);
        ck_assert_int_eq(k.state, SPLIT_WAITING);
        split_done(&k);
    }
    ck_assert(in.at == in.end);
    bytes_free(&first);
    ck_assert_int_eq(splits_save(f.pool, 4, &second), SR_OK);
    ck_assert_uint_gt(second.len, 0);
    bytes_free(&second);
    end(&f);
}
END_TEST

/* Bytes that are cut anywhere, or changed, are refused or read as something else, and never
 * crash. */
START_TEST(test_damaged_bytes)
{
    struct split k = {.id = strdup("a/b"), .note = calloc(1, 5), .note_len = 5, .order = -4};
    struct sr_out out = bytes_out();
    ck_assert(split_put(&out, &k));
    split_done(&k);
    for (size_t len = 0; len < out.len; len++) {
        struct bytes_in in = bytes_in(out.data, len);
        ck_assert_int_eq(split_get(&in, &k), SR_ECORRUPT);
    }
    for (size_t i = 0; i < out.len; i++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            out.data[i] ^= (uint8_t)(1u << bit);
            struct bytes_in in = bytes_in(out.data, out.len);
            if (split_get(&in, &k) == SR_OK) split_done(&k);
            out.data[i] ^= (uint8_t)(1u << bit);
        }
    }
    bytes_free(&out);
}
END_TEST

UNIT_MAIN("run: splits", test_order, test_spread, test_restore, test_saved_once, test_damaged_bytes)
