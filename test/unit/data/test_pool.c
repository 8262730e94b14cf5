#include <stdio.h>
#include <string.h>

#include "engine/base/thread.h"
#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "test/unit/unit.h"

static struct sr_error err;

static struct sr_column *ints(struct sr_home *h, uint32_t rows)
{
    struct sr_type t = type_of(SR_BIGINT);
    struct sr_column *c = column_new(h, &t, SR_BATCH_ROWS);
    for (uint32_t r = 0; r < rows; r++) {
        ((int64_t *)c->values)[r] = r;
    }
    c->rows = rows;
    return c;
}

static struct sr_view *view_of(struct sr_home *h, uint32_t rows)
{
    struct sr_view *v = view_new(h, 1);
    v->col[0] = ints(h, rows);
    v->rows = v->picked = rows;
    return v;
}

START_TEST(a_steady_stream_allocates_nothing)
{
    struct sr_home *h = home_new();
    struct sr_type text = type_of(SR_VARCHAR);
    uint64_t held = 0;
    for (int i = 0; i < 100; i++) {
        struct sr_view *v = view_new(h, 2);
        v->col[0] = ints(h, 10);
        v->col[1] = column_new(h, &text, SR_BATCH_ROWS);
        ck_assert(column_put_bytes(h, v->col[1], 0, "hello", 5));
        v->change = buffer_new(h, 10);
        if (i == 0) {
            held = home_bytes(h);
        }
        ck_assert_uint_eq(home_bytes(h), held);
        view_release(v);
    }
    home_close(h);
}
END_TEST

START_TEST(a_home_outlives_its_owner_until_the_last_piece_is_back)
{
    struct sr_home *h = home_new();
    struct sr_view *v = view_of(h, 3);
    struct sr_view *w = view_share(h, v);
    view_release(v);
    home_close(h);
    ck_assert_int_eq(((int64_t *)w->col[0]->values)[2], 2);
    view_release(w); /* the sanitizer's leak check sees the rest */
    view_release(NULL);
    column_release(NULL);
    buffer_release(NULL);
    home_close(NULL);
}
END_TEST

START_TEST(text_grows_and_earlier_spans_stay_good)
{
    struct sr_home *h = home_new();
    struct sr_type text = type_of(SR_VARCHAR);
    struct sr_column *c = column_new(h, &text, SR_BATCH_ROWS);
    char line[128];
    for (uint32_t r = 0; r < SR_BATCH_ROWS; r++) {
        int n = snprintf(line, sizeof(line), "%*u", (int)(r % 100), r);
        ck_assert(column_put_bytes(h, c, r, line, (uint32_t)n));
    }
    for (uint32_t r = 0; r < SR_BATCH_ROWS; r++) {
        uint32_t len = 0;
        int n = snprintf(line, sizeof(line), "%*u", (int)(r % 100), r);
        const char *s = sr_text(c, r, &len);
        ck_assert_uint_eq(len, (uint32_t)n);
        ck_assert_mem_eq(s, line, len);
    }
    column_release(c);
    home_close(h);
}
END_TEST

START_TEST(a_null_is_one_row_and_new_columns_have_none)
{
    struct sr_home *h = home_new();
    struct sr_column *c = ints(h, 200);
    column_set_null(c, 64);
    for (uint32_t r = 0; r < 200; r++) {
        ck_assert_int_eq(sr_is_valid(c, r), r != 64);
    }
    column_release(c);
    c = ints(h, 200);
    ck_assert(sr_is_valid(c, 64));
    column_release(c);
    home_close(h);
}
END_TEST

START_TEST(a_slice_has_its_rows_its_changes_and_the_end_only_if_it_has_it)
{
    struct sr_home *h = home_new();
    struct sr_view *v = view_of(h, 10);
    v->change = buffer_new(h, 10);
    memset(v->change->data, SR_DELETE, 10);
    v->watermark_end = 77;
    struct sr_view *s = view_slice(h, v, 2, 3);
    ck_assert_uint_eq(s->picked, 3);
    uint32_t want = 2;
    SR_EACH_ROW(s, r) {
        ck_assert_uint_eq(r, want++);
        ck_assert_int_eq(sr_change_of(s, r), SR_DELETE);
    }
    ck_assert_int_eq(s->watermark_end, SR_WATERMARK_NONE);
    struct sr_view *t = view_slice(h, s, 1, 2); /* a slice of a slice */
    ck_assert_uint_eq(sr_row(t, 1), 4);
    struct sr_view *all = view_share(h, v);
    ck_assert_ptr_null(all->sel);
    ck_assert_int_eq(all->watermark_end, 77);
    struct sr_view *none = view_slice(h, v, 5, 0);
    ck_assert_uint_eq(none->picked, 0);
    view_release(none);
    view_release(all);
    view_release(t);
    view_release(v);
    view_release(s);
    home_close(h);
}
END_TEST

START_TEST(nested_columns_have_children_and_come_back_whole)
{
    struct arena *a = arena_new();
    struct sr_home *h = home_new();
    struct sr_type t;
    const char *text = "ROW<a ARRAY<MAP<STRING, INT>>, b ROW<c STRING, d DECIMAL(38, 2)>>";
    ck_assert_int_eq(type_parse(a, text, &t, NULL, &err), SR_OK);
    uint64_t held = 0;
    for (int i = 0; i < 3; i++) {
        struct sr_column *c = column_new(h, &t, SR_BATCH_ROWS);
        ck_assert_uint_eq(c->children, 2);
        ck_assert_int_eq(c->child[0]->child[0]->child[1]->type.kind, SR_INT);
        ck_assert(column_put_bytes(h, c->child[1]->child[0], 0, "x", 1));
        held = held ? held : home_bytes(h);
        ck_assert_uint_eq(home_bytes(h), held);
        column_release(c);
    }
    home_close(h);
    arena_free(a);
}
END_TEST

START_TEST(a_child_grows_beyond_a_batch_and_keeps_its_values)
{
    struct sr_home *h = home_new();
    struct sr_column *c = ints(h, SR_BATCH_ROWS);
    column_set_null(c, 1000);
    c = column_grow_rows(h, c, SR_BATCH_ROWS + 1);
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_ge(c->capacity, SR_BATCH_ROWS + 1);
    ck_assert(!sr_is_valid(c, 1000) && sr_is_valid(c, 999) && sr_is_valid(c, SR_BATCH_ROWS));
    ck_assert_int_eq(((int64_t *)c->values)[999], 999);
    column_release(c);
    home_close(h);
}
END_TEST

START_TEST(a_size_beyond_the_span_is_refused)
{
    struct sr_home *h = home_new();
    struct sr_type text = type_of(SR_VARCHAR);
    struct sr_column *c = column_new(h, &text, SR_BATCH_ROWS);
    ck_assert(!column_grow_bytes(h, c, COLUMN_BYTES_MAX + 1));
    column_release(c);
    struct sr_buffer *b = buffer_new(h, 5 << 20); /* larger than what is pooled */
    memset(b->data, 1, b->capacity);
    buffer_release(b);
    ck_assert_uint_lt(home_bytes(h), 1 << 20);
    home_close(h);
}
END_TEST

#define SHARED_ROUNDS 3000

struct shared {
    struct sr_view *slot; /* by __atomic: NULL when taken */
    struct parker *full, *empty;
    int64_t now;
};

static void release_all(void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < SHARED_ROUNDS; i++) {
        struct sr_view *v = NULL;
        while (!(v = __atomic_exchange_n(&s->slot, NULL, __ATOMIC_ACQ_REL))) {
            parker_wait(s->full, NULL, 0, 0, INT64_MAX);
        }
        ck_assert_int_eq(((int64_t *)v->col[0]->values)[3], 3);
        view_release(v);
        parker_wake(s->empty);
    }
}

START_TEST(another_thread_may_let_go)
{
    struct sr_home *h = home_new();
    struct shared s = {0};
    struct thread *t = NULL;
    ck_assert_int_eq(parker_new(&s.full, &err), SR_OK);
    ck_assert_int_eq(parker_new(&s.empty, &err), SR_OK);
    ck_assert_int_eq(thread_start(&t, "release", release_all, &s, &err), SR_OK);
    for (int i = 0; i < SHARED_ROUNDS; i++) {
        struct sr_view *v = view_of(h, 4);
        struct sr_view *w = view_share(h, v);
        while (__atomic_load_n(&s.slot, __ATOMIC_ACQUIRE)) {
            parker_wait(s.empty, NULL, 0, 0, INT64_MAX);
        }
        __atomic_store_n(&s.slot, w, __ATOMIC_RELEASE);
        parker_wake(s.full);
        view_release(v);
    }
    ck_assert_uint_lt(home_bytes(h), 1 << 20);
    home_close(h);
    thread_join(t);
    parker_free(s.full);
    parker_free(s.empty);
}
END_TEST

UNIT_MAIN("pool", a_steady_stream_allocates_nothing,
          a_home_outlives_its_owner_until_the_last_piece_is_back,
          text_grows_and_earlier_spans_stay_good, a_null_is_one_row_and_new_columns_have_none,
          a_slice_has_its_rows_its_changes_and_the_end_only_if_it_has_it,
          nested_columns_have_children_and_come_back_whole,
          a_child_grows_beyond_a_batch_and_keeps_its_values, a_size_beyond_the_span_is_refused,
          another_thread_may_let_go)
