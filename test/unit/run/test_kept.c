#include "test/unit/unit.h"

#include "engine/data/pool.h"
#include "engine/run/kept.h"

struct fixture {
    struct sr_home *home;
    struct kept *kept;
};

static struct fixture begin(void)
{
    struct fixture f = {.home = home_new()};
    f.kept = kept_new(f.home);
    ck_assert_ptr_nonnull(f.kept);
    return f;
}

static void end(struct fixture *f)
{
    kept_free(f->kept);
    home_close(f->home);
}

/* Rows 0, 2, 4 ... are alive. */
static struct sr_view *view(struct fixture *f, uint16_t picked)
{
    struct sr_view *v = view_new(f->home, 0);
    v->rows = 2u * picked;
    v->picked = picked;
    for (uint16_t i = 0; i < picked; i++) {
        v->sel_space[i] = (uint16_t)(2 * i);
    }
    v->sel = v->sel_space;
    return v;
}

static void take(struct fixture *f, const struct sr_view *v, uint32_t from, uint32_t rows)
{
    ck_assert_int_eq(kept_put(f->kept, v, from), SR_OK);
    kept_taken(f->kept, rows);
}

START_TEST(a_row_is_found_by_its_number_until_it_is_dropped)
{
    struct fixture f = begin();
    struct sr_view *a = view(&f, 5), *b = view(&f, 3);
    uint32_t row = 99;
    take(&f, a, 0, 2);
    take(&f, a, 2, 3);
    take(&f, b, 0, 3);
    view_release(a);
    view_release(b);
    ck_assert_ptr_nonnull(kept_find(f.kept, 0, &row));
    ck_assert_uint_eq(row, 0);
    ck_assert_ptr_nonnull(kept_find(f.kept, 3, &row));
    ck_assert_uint_eq(row, 6);
    ck_assert_ptr_nonnull(kept_find(f.kept, 7, &row));
    ck_assert_uint_eq(row, 4);
    ck_assert_ptr_null(kept_find(f.kept, 8, &row));
    kept_drop(f.kept, 4); /* in the middle of the second piece, which stays */
    ck_assert_ptr_null(kept_find(f.kept, 1, &row));
    ck_assert_ptr_nonnull(kept_find(f.kept, 2, &row));
    kept_drop(f.kept, 8);
    ck_assert_ptr_null(kept_find(f.kept, 7, &row));
    end(&f);
}
END_TEST

START_TEST(what_was_offered_and_not_taken_is_not_kept)
{
    struct fixture f = begin();
    struct sr_view *a = view(&f, 4);
    uint32_t row = 0;
    ck_assert_int_eq(kept_put(f.kept, a, 0), SR_OK);
    ck_assert_ptr_nonnull(kept_find(f.kept, 3, &row)); /* while it is offered, it is there */
    kept_drop(f.kept, 4);                              /* and not let go of */
    ck_assert_ptr_nonnull(kept_find(f.kept, 3, &row));
    kept_taken(f.kept, 1);
    ck_assert_ptr_null(kept_find(f.kept, 1, &row));
    take(&f, a, 1, 0);
    ck_assert_ptr_null(kept_find(f.kept, 1, &row));
    take(&f, a, 1, 3);
    ck_assert_ptr_nonnull(kept_find(f.kept, 1, &row));
    ck_assert_uint_eq(row, 2);
    view_release(a);
    kept_drop(f.kept, UINT64_MAX);
    ck_assert_ptr_null(kept_find(f.kept, 1, &row));
    end(&f);
}
END_TEST

START_TEST(many_views_come_and_go)
{
    struct fixture f = begin();
    uint32_t row = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        struct sr_view *v = view(&f, 3);
        take(&f, v, 0, 3);
        view_release(v);
        if (i >= 10) kept_drop(f.kept, 3 * (i - 9));
        ck_assert_ptr_nonnull(kept_find(f.kept, 3 * i + 2, &row));
        ck_assert_uint_eq(row, 4);
    }
    ck_assert_ptr_null(kept_find(f.kept, 5, &row));
    end(&f);
}
END_TEST

UNIT_MAIN("run: kept", a_row_is_found_by_its_number_until_it_is_dropped,
          what_was_offered_and_not_taken_is_not_kept, many_views_come_and_go)
