#include <stdio.h>
#include <string.h>

#include "engine/data/builder.h"
#include "engine/data/host.h"
#include "engine/data/schema.h"
#include "test/unit/unit.h"

static struct sr_error err;
static struct env env;
static struct sr_home *home;
static struct host_ctx ctx;
static struct sr_host host;
static struct sr_builder b;
static struct sr_field fields[3];
static const struct sr_schema schema = {.fields = 3, .field = fields, .rowtime = -1};

static void set_up(const bool *wanted)
{
    fields[0] = (struct sr_field){"n", type_of(SR_BIGINT)};
    fields[1] = (struct sr_field){"s", type_of(SR_VARCHAR)};
    fields[2] = (struct sr_field){"f", type_of(SR_DOUBLE)};
    env = env_posix(SR_LOG_ERROR);
    home = home_new();
    host_init(&host, &ctx, &env, home, "test");
    ck_assert_int_eq(builder_open(&b, home, &host, &schema, wanted, &err), SR_OK);
}

static void tear_down(void)
{
    builder_close(&b);
    builder_close(&b);
    builder_close(NULL);
    home_close(home);
}

static struct sr_view *seal(void)
{
    struct sr_view *v = NULL;
    ck_assert_int_eq(builder_seal(&b, &v, &err), SR_OK);
    return v;
}

static void put(int64_t n, const char *s)
{
    sr_put_i64(&b, 0, n);
    if (s) {
        sr_put_bytes(&b, 1, s, (uint32_t)strlen(s));
    } else {
        sr_put_null(&b, 1);
    }
    sr_put_f64(&b, 2, (double)n / 2);
    sr_row_done(&b);
}

static void expect_text(const struct sr_view *v, uint32_t col, uint32_t r, const char *want)
{
    uint32_t len = 0;
    const char *s = sr_text(v->col[col], r, &len);
    ck_assert_uint_eq(len, strlen(want));
    ck_assert_mem_eq(s, want, len);
}

START_TEST(rows_come_out_as_they_were_put)
{
    set_up(NULL);
    ck_assert_ptr_null(seal());
    for (int round = 0; round < 3; round++) {
        put(1, "one");
        put(2, NULL);
        put(3, "");
        struct sr_view *v = seal();
        ck_assert_uint_eq(v->rows, 3);
        ck_assert_uint_eq(v->picked, 3);
        ck_assert_uint_eq(v->col[1]->rows, 3);
        expect_text(v, 1, 0, "one");
        expect_text(v, 1, 2, "");
        ck_assert(!sr_is_valid(v->col[1], 1) && sr_is_valid(v->col[1], 2));
        ck_assert_ptr_null(v->col[0]->valid);
        ck_assert_double_eq(((double *)v->col[2]->values)[2], 1.5);
        view_release(v);
    }
    tear_down();
}
END_TEST

START_TEST(a_column_without_text_still_has_bytes_to_point_to)
{
    set_up(NULL);
    put(1, NULL);
    struct sr_view *v = seal();
    ck_assert_ptr_nonnull(v->col[1]->bytes);
    expect_text(v, 1, 0, "");
    view_release(v);
    tear_down();
}
END_TEST

START_TEST(columns_that_nobody_wants_are_null_and_shared)
{
    const bool wanted[] = {true, false, false};
    set_up(wanted);
    struct sr_column *shared = NULL;
    for (int round = 0; round < 3; round++) {
        uint32_t rows = round < 2 ? SR_BATCH_ROWS : 5;
        for (uint32_t r = 0; r < rows; r++) {
            put(r, "ignored");
        }
        ck_assert(rows < SR_BATCH_ROWS || sr_builder_is_full(&b));
        struct sr_view *v = seal();
        ck_assert_int_eq(((int64_t *)v->col[0]->values)[4], 4);
        for (uint32_t r = 0; r < rows; r++) {
            ck_assert(!sr_is_valid(v->col[1], r) && !sr_is_valid(v->col[2], r));
            expect_text(v, 1, r, "");
        }
        ck_assert_uint_eq(v->col[1]->rows, rows);
        shared = shared ? shared : v->col[2];
        ck_assert(round != 1 || v->col[2] == shared);
        view_release(v);
    }
    tear_down();
}
END_TEST

START_TEST(a_dropped_row_leaves_no_null_behind)
{
    set_up(NULL);
    put(1, "a");
    sr_put_null(&b, 0);
    sr_put_null(&b, 1);
    sr_row_drop(&b);
    put(2, "b");
    struct sr_view *v = seal();
    ck_assert(sr_is_valid(v->col[0], 1) && sr_is_valid(v->col[1], 1));
    expect_text(v, 1, 1, "b");
    view_release(v);
    tear_down();
}
END_TEST

START_TEST(changes_are_inserts_until_one_is_not)
{
    set_up(NULL);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 6; i++) {
            sr_put_change(&b, i < 2 || round == 0 ? SR_INSERT : (enum sr_change)(i - 2));
            put(i, "x");
        }
        ck_assert((b.change != NULL) == (round == 1));
        struct sr_view *v = seal();
        for (uint32_t r = 0; r < 6; r++) {
            enum sr_change want = r < 2 || round == 0 ? SR_INSERT : (enum sr_change)(r - 2);
            ck_assert_int_eq(sr_change_of(v, r), want);
        }
        view_release(v);
    }
    ck_assert_ptr_null(b.change);
    sr_put_change(&b, SR_DELETE);
    put(1, "not sealed");
    tear_down();
}
END_TEST

START_TEST(a_record_of_several_rows_goes_alone_when_it_must)
{
    set_up(NULL);
    b.rows_max = 3;
    ck_assert(!sr_builder_has_room(&b, SR_BATCH_ROWS + 1) && !sr_builder_is_full(&b));
    ck_assert(sr_builder_has_room(&b, 4));
    put(1, "a");
    ck_assert(sr_builder_has_room(&b, 2) && !sr_builder_is_full(&b));
    ck_assert(!sr_builder_has_room(&b, 3) && sr_builder_is_full(&b));
    view_release(seal());
    ck_assert(!sr_builder_is_full(&b) && sr_builder_has_room(&b, 5));
    for (int i = 0; i < 5; i++) {
        put(i, "a");
    }
    ck_assert(!sr_builder_has_room(&b, 1));
    view_release(seal());
    tear_down();
}
END_TEST

START_TEST(text_may_refer_to_foreign_bytes_until_one_value_is_not_there)
{
    set_up(NULL);
    struct sr_buffer *input = buffer_new(home, 100);
    memcpy(input->data, "alpha,beta,gamma", 16);
    host.builder_use(&b, 1, input);
    const struct sr_span at[] = {{0, 5}, {6, 4}};
    for (int r = 0; r < 2; r++) {
        sr_put_i64(&b, 0, r);
        sr_put_span(&b, 1, at[r].at, at[r].len);
        sr_put_f64(&b, 2, 0);
        sr_row_done(&b);
    }
    ck_assert_ptr_eq(b.col[1]->bytes, input);
    put(3, "of its own");
    ck_assert_ptr_ne(b.col[1]->bytes, input);
    for (int r = 4; r < 900; r++) {
        put(r, "more and more and more text");
    }
    struct sr_view *v = seal();
    memset(input->data, 'x', 100);
    buffer_release(input);
    expect_text(v, 1, 0, "alpha");
    expect_text(v, 1, 1, "beta");
    expect_text(v, 1, 2, "of its own");
    expect_text(v, 1, 898, "more and more and more text");
    view_release(v);
    tear_down();
}
END_TEST

START_TEST(a_view_keeps_foreign_bytes_alive)
{
    set_up(NULL);
    struct sr_buffer *input = buffer_new(home, 100);
    memcpy(input->data, "alpha", 5);
    builder_use(&b, 1, input);
    sr_put_i64(&b, 0, 1);
    sr_put_span(&b, 1, 0, 5);
    sr_put_f64(&b, 2, 0);
    sr_row_done(&b);
    buffer_release(input);
    struct sr_view *v = seal();
    ck_assert_ptr_null(b.col[1]->bytes);
    expect_text(v, 1, 0, "alpha");
    view_release(v);
    tear_down();
}
END_TEST

START_TEST(counters_are_made_at_first_use_and_never_lost)
{
    set_up(NULL);
    host.count(&host, "rows", 2);
    host.count(&host, "rows", 3);
    char name[80];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "counter-%d", i);
        host.count(&host, name, 1);
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < ctx.counters; i++) {
        sum += ctx.counter[i].value;
    }
    ck_assert_str_eq(ctx.counter[0].name, "rows");
    ck_assert_int_eq(ctx.counter[0].value, 5);
    ck_assert_int_eq(sum, 55);
    tear_down();
}
END_TEST

UNIT_MAIN("builder", rows_come_out_as_they_were_put,
          a_column_without_text_still_has_bytes_to_point_to,
          columns_that_nobody_wants_are_null_and_shared, a_dropped_row_leaves_no_null_behind,
          changes_are_inserts_until_one_is_not, a_record_of_several_rows_goes_alone_when_it_must,
          text_may_refer_to_foreign_bytes_until_one_value_is_not_there,
          a_view_keeps_foreign_bytes_alive, counters_are_made_at_first_use_and_never_lost)
