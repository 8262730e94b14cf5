#include <stdio.h>
#include <string.h>

#include "engine/data/builder.h"
#include "engine/data/codec.h"
#include "engine/data/host.h"
#include "engine/data/rowhash.h"
#include "engine/data/schema.h"
#include "test/unit/unit.h"

/* Columns: n BIGINT; p ROW<x INT, q ROW<s STRING, t ARRAY<STRING>>>; a ARRAY<ROW<k STRING, v
 * ARRAY<INT>>>; m MAP<STRING, BIGINT>. */
enum { N, P, A, M, COLUMNS };

static struct sr_error err;
static struct env env;
static struct sr_home *home;
static struct host_ctx ctx;
static struct sr_host host;
static struct sr_builder b;
static struct arena *arena;
static struct sr_field fields[COLUMNS];
static const struct sr_schema schema = {.fields = COLUMNS, .field = fields, .rowtime = -1};

static void set_up(const bool *wanted)
{
    static const char *const types[] = {"BIGINT", "ROW<x INT, q ROW<s STRING, t ARRAY<STRING>>>",
                                        "ARRAY<ROW<k STRING, v ARRAY<INT>>>",
                                        "MAP<STRING, BIGINT>"};
    static const char *const names[] = {"n", "p", "a", "m"};
    arena = arena_new();
    for (uint32_t i = 0; i < COLUMNS; i++) {
        fields[i].name = names[i];
        ck_assert_int_eq(type_parse(arena, types[i], &fields[i].type, NULL, &err), SR_OK);
    }
    env = env_posix(SR_LOG_ERROR);
    home = home_new();
    host_init(&host, &ctx, &env, home, "test");
    ck_assert_int_eq(builder_open(&b, home, &host, &schema, wanted, &err), SR_OK);
}

static void tear_down(void)
{
    builder_close(&b);
    builder_close(&b);
    home_close(home);
    arena_free(arena);
}

static void put_text(struct sr_builder *to, uint32_t c, const char *text)
{
    sr_put_bytes(to, c, text, (uint32_t)strlen(text));
}

/* {x: i, q: {s: "s<i>", t: ["t0", ..., i % 3 of them]}}, NULL for every fifth, q for every
 * seventh */
static void put_row(int i)
{
    char text[32];
    if (i % 5 == 0) {
        sr_put_null(&b, P);
        return;
    }
    struct sr_builder *f = sr_put_row(&b, P);
    sr_put_i32(f, 0, i);
    if (i % 7 == 0) {
        sr_put_null(f, 1);
        return;
    }
    struct sr_builder *q = sr_put_row(f, 1);
    snprintf(text, sizeof(text), "s%d", i);
    put_text(q, 0, text);
    struct sr_builder *t = sr_put_begin(q, 1);
    for (int k = 0; k < i % 3; k++) {
        ck_assert(sr_put_room(t));
        snprintf(text, sizeof(text), "t%d", k);
        put_text(t, 0, text);
        sr_row_done(t);
    }
    sr_put_end(q, 1);
}

/* [{k: "k0", v: []}, {k: NULL, v: [0]}, NULL, {k: "k3", v: [0, 1, 2]}, ...], i % 11 of them */
static void put_array(int i)
{
    struct sr_builder *e = sr_put_begin(&b, A);
    for (int k = 0; k < i % 11; k++) {
        ck_assert(sr_put_room(e));
        if (k == 2) {
            sr_put_null(e, 0);
            sr_row_done(e);
            continue;
        }
        struct sr_builder *f = sr_put_row(e, 0);
        char text[32];
        snprintf(text, sizeof(text), "k%d", k);
        if (k == 1) {
            sr_put_null(f, 0);
        } else {
            put_text(f, 0, text);
        }
        struct sr_builder *v = sr_put_begin(f, 1);
        for (int j = 0; j < k; j++) {
            ck_assert(sr_put_room(v));
            sr_put_i32(v, 0, j);
            sr_row_done(v);
        }
        sr_put_end(f, 1);
        sr_row_done(e);
    }
    sr_put_end(&b, A);
}

static void put_map(int i)
{
    struct sr_builder *e = sr_put_begin(&b, M);
    for (int k = 0; k < i % 4; k++) {
        ck_assert(sr_put_room(e));
        char text[32];
        snprintf(text, sizeof(text), "key%d", k);
        put_text(e, 0, text);
        sr_put_i64(e, 1, i * 10 + k);
        sr_row_done(e);
    }
    sr_put_end(&b, M);
}

static void put(int i)
{
    sr_put_i64(&b, N, i);
    put_row(i);
    put_array(i);
    put_map(i);
}

static struct sr_view *seal(void)
{
    struct sr_view *v = NULL;
    ck_assert_int_eq(builder_seal(&b, &v, &err), SR_OK);
    return v;
}

static void expect_text(const struct sr_column *c, uint32_t r, const char *want)
{
    uint32_t len = 0;
    const char *s = sr_text(c, r, &len);
    ck_assert_uint_eq(len, strlen(want));
    ck_assert_mem_eq(s, want, len);
}

static struct sr_span span(const struct sr_column *c, uint32_t r)
{
    return ((const struct sr_span *)c->values)[r];
}

static void expect_row(const struct sr_column *p, uint32_t r, int i)
{
    char want[32];
    const struct sr_column *q = p->child[1];
    const struct sr_column *t = q->child[1];
    ck_assert(sr_is_valid(p, r) == (i % 5 != 0));
    ck_assert(sr_is_valid(p->child[0], r) == (i % 5 != 0));
    ck_assert(sr_is_valid(q, r) == (i % 5 != 0 && i % 7 != 0));
    ck_assert(sr_is_valid(q->child[0], r) == sr_is_valid(q, r));
    ck_assert(sr_is_valid(t, r) == sr_is_valid(q, r));
    if (!sr_is_valid(q, r)) {
        expect_text(q->child[0], r, "");
        return;
    }
    ck_assert_int_eq(((int32_t *)p->child[0]->values)[r], i);
    snprintf(want, sizeof(want), "s%d", i);
    expect_text(q->child[0], r, want);
    ck_assert_uint_eq(span(t, r).len, i % 3);
    for (uint32_t k = 0; k < span(t, r).len; k++) {
        snprintf(want, sizeof(want), "t%u", k);
        expect_text(t->child[0], span(t, r).at + k, want);
    }
}

static void expect_array(const struct sr_column *a, uint32_t r, int i)
{
    const struct sr_column *e = a->child[0];
    ck_assert_uint_eq(span(a, r).len, i % 11);
    for (uint32_t k = 0; k < span(a, r).len; k++) {
        uint32_t at = span(a, r).at + k;
        const struct sr_column *v = e->child[1];
        ck_assert(at < e->rows && at < v->rows);
        ck_assert(sr_is_valid(e, at) == (k != 2));
        ck_assert(sr_is_valid(e->child[0], at) == (k != 2 && k != 1));
        if (k == 2) {
            continue;
        }
        ck_assert_uint_eq(span(v, at).len, k);
        for (uint32_t j = 0; j < k; j++) {
            ck_assert_int_eq(((int32_t *)v->child[0]->values)[span(v, at).at + j], (int)j);
        }
    }
}

static void expect(const struct sr_view *v, uint32_t r, int i)
{
    ck_assert_int_eq(((int64_t *)v->col[N]->values)[r], i);
    expect_row(v->col[P], r, i);
    expect_array(v->col[A], r, i);
    const struct sr_column *m = v->col[M];
    ck_assert_uint_eq(span(m, r).len, i % 4);
    for (uint32_t k = 0; k < span(m, r).len; k++) {
        ck_assert_int_eq(((int64_t *)m->child[1]->values)[span(m, r).at + k], i * 10 + k);
    }
}

START_TEST(what_was_put_inside_comes_out_batch_after_batch)
{
    set_up(NULL);
    for (int batch = 0; batch < 4; batch++) {
        for (int i = 0; i < 1000; i++) {
            put(i);
            sr_row_done(&b);
        }
        struct sr_view *v = seal();
        ck_assert_uint_eq(v->col[P]->child[1]->child[0]->rows, 1000);
        for (int i = 0; i < 1000; i++) {
            expect(v, (uint32_t)i, i);
        }
        view_release(v);
    }
    tear_down();
}
END_TEST

START_TEST(rows_that_are_dropped_leave_nothing_inside)
{
    set_up(NULL);
    uint32_t most = 0;
    for (int i = 0; i < 5000; i++) {
        put(i); /* never done: the elements must not pile up */
        sr_row_drop(&b);
        most = b.inner[A]->rows > most ? b.inner[A]->rows : most;
    }
    ck_assert_uint_eq(most, 0);
    for (int i = 0; i < 1000; i++) {
        put(i + 3);
        sr_row_drop(&b);
        put(i);
        sr_row_done(&b);
        put_array(i + 1);
        put_row(i * 5);
        sr_row_drop(&b);
    }
    struct sr_view *v = seal();
    uint32_t elements = 0;
    for (int i = 0; i < 1000; i++) {
        expect(v, (uint32_t)i, i);
        elements += (uint32_t)i % 11;
    }
    ck_assert_uint_eq(v->col[A]->child[0]->rows, elements);
    view_release(v);
    tear_down();
}
END_TEST

START_TEST(a_column_may_be_put_again)
{
    set_up(NULL);
    for (int i = 0; i < 200; i++) {
        put(i + 1);
        for (uint32_t c = 0; c < COLUMNS; c++) {
            sr_put_forget(&b, c);
        }
        put(i);
        sr_row_done(&b);
    }
    struct sr_view *v = seal();
    for (int i = 0; i < 200; i++) {
        expect(v, (uint32_t)i, i);
    }
    view_release(v);
    tear_down();
}
END_TEST

START_TEST(nested_columns_that_nobody_wants_are_null_at_every_depth)
{
    const bool wanted[] = {true, false, false, true};
    set_up(wanted);
    for (int batch = 0; batch < 2; batch++) {
        for (int i = 1; i < 100; i++) {
            put(i);
            sr_row_done(&b);
        }
        struct sr_view *v = seal();
        const struct sr_column *q = v->col[P]->child[1];
        for (uint32_t r = 0; r < v->rows; r++) {
            ck_assert(!sr_is_valid(v->col[P], r) && !sr_is_valid(q, r) &&
                      !sr_is_valid(q->child[0], r) && !sr_is_valid(v->col[A], r));
            expect_text(q->child[0], r, "");
        }
        ck_assert_uint_eq(q->child[0]->rows, v->rows);
        view_release(v);
    }
    tear_down();
}
END_TEST

START_TEST(text_inside_may_refer_to_foreign_bytes)
{
    set_up(NULL);
    struct sr_buffer *input = buffer_new(home, 100);
    memcpy(input->data, "alpha,beta", 11);
    struct sr_builder *q = b.inner[P]->inner[1];
    builder_use(q, 0, input);
    builder_use(q->inner[1], 0, input);
    for (int r = 0; r < 2; r++) {
        sr_put_i64(&b, N, r);
        struct sr_builder *f = sr_put_row(&b, P);
        sr_put_i32(f, 0, r);
        ck_assert_ptr_eq(sr_put_row(f, 1), q);
        sr_put_span(q, 0, 6, 4);
        struct sr_builder *t = sr_put_begin(q, 1);
        ck_assert(sr_put_room(t));
        sr_put_span(t, 0, 0, 5);
        sr_row_done(t);
        ck_assert(sr_put_room(t));
        if (r == 0) {
            sr_put_span(t, 0, 6, 4);
        } else {
            put_text(t, 0, "own");
        }
        sr_row_done(t);
        sr_put_end(q, 1);
        sr_put_null(&b, A);
        sr_put_null(&b, M);
        sr_row_done(&b);
    }
    struct sr_view *v = seal();
    buffer_release(input);
    const struct sr_column *s = v->col[P]->child[1]->child[0];
    const struct sr_column *t = v->col[P]->child[1]->child[1]->child[0];
    ck_assert_ptr_eq(s->bytes, input);
    expect_text(s, 1, "beta");
    expect_text(t, 0, "alpha");
    expect_text(t, 1, "beta");
    expect_text(t, 3, "own");
    view_release(v);
    tear_down();
}
END_TEST

START_TEST(nested_rows_come_back_from_their_bytes_with_the_same_hash)
{
    set_up(NULL);
    for (int i = 0; i < 1000; i++) {
        put(i);
        sr_row_done(&b);
    }
    struct sr_view *v = seal();
    struct sr_view *back = NULL;
    struct sr_out out = bytes_out();
    ck_assert(codec_put_view(&out, v, 0, v->picked));
    struct bytes_in in = bytes_in(out.data, out.len);
    ck_assert_int_eq(codec_get_view(&in, home, &schema, &back, &err), SR_OK);
    const uint32_t all[] = {N, P, A, M};
    uint64_t before[1000], after[1000];
    rowhash(v, all, COLUMNS, 0, 1000, before);
    rowhash(back, all, COLUMNS, 0, 1000, after);
    ck_assert_mem_eq(before, after, sizeof(before));
    for (int i = 0; i < 1000; i++) {
        expect(back, (uint32_t)i, i);
    }
    bytes_free(&out);
    view_release(v);
    view_release(back);
    tear_down();
}
END_TEST

START_TEST(elements_have_a_limit)
{
    set_up(NULL);
    struct sr_builder *e = sr_put_begin(&b, A);
    e = sr_put_begin(&b, M);
    uint32_t n = 0;
    while (sr_put_room(e)) {
        sr_put_null(e, 0);
        sr_put_null(e, 1);
        sr_row_done(e);
        n++;
    }
    ck_assert_uint_eq(n, SR_ELEMENTS_MAX);
    ck_assert(!b.is_broken);
    sr_row_drop(&b);
    ck_assert(sr_put_room(e));
    tear_down();
}
END_TEST

UNIT_MAIN("inner", what_was_put_inside_comes_out_batch_after_batch,
          rows_that_are_dropped_leave_nothing_inside, a_column_may_be_put_again,
          nested_columns_that_nobody_wants_are_null_at_every_depth,
          text_inside_may_refer_to_foreign_bytes,
          nested_rows_come_back_from_their_bytes_with_the_same_hash, elements_have_a_limit)
