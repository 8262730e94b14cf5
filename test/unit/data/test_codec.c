#include "engine/data/codec.h"
#include "engine/data/host.h"
#include "engine/data/rowhash.h"
#include "rows.h"
#include "test/unit/unit.h"

static struct sr_error err;

START_TEST(views_of_every_type_come_back)
{
    struct arena *a = arena_new();
    struct sr_home *h = home_new();
    struct sr_schema s = rows_schema(a);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sr_view *v = rows_view(h, &s, (uint32_t)(seed * 53 % 1024) + 1, seed);
        v->change = buffer_new(h, v->rows);
        for (uint32_t r = 0; r < v->rows; r++) {
            v->change->data[r] = r % 4;
        }
        uint32_t from = seed % 2 ? v->picked / 3 : 0;
        uint32_t count = v->picked - from;
        struct sr_out o = bytes_out();
        ck_assert(codec_put_view(&o, v, from, count));
        struct bytes_in in = bytes_in(o.data, o.len);
        struct sr_view *w = NULL;
        ck_assert_int_eq(codec_get_view(&in, h, &s, &w, &err), SR_OK);
        ck_assert(in.at == in.end);
        ck_assert_uint_eq(w->picked, count);
        for (uint32_t r = 0; r < count; r++) {
            ck_assert_int_eq(sr_change_of(w, r), sr_change_of(v, from + r));
            for (uint32_t c = 0; c < s.fields; c++) {
                ck_assert(rows_same(v->col[c], from + r, w->col[c], r));
            }
        }
        view_release(v);
        view_release(w);
        bytes_free(&o);
    }
    home_close(h);
    arena_free(a);
}
END_TEST

START_TEST(damage_is_found_and_never_read_past)
{
    struct arena *a = arena_new();
    struct sr_home *h = home_new();
    struct sr_schema s = rows_schema(a);
    struct sr_view *v = rows_view(h, &s, 3, 7);
    struct sr_out o = bytes_out();
    ck_assert(codec_put_view(&o, v, 0, 3));
    for (size_t len = 0; len < o.len; len++) {
        uint8_t *cut = malloc(len ? len : 1); /* exactly as long, so that ASan sees a step over */
        memcpy(cut, o.data, len);
        struct bytes_in in = bytes_in(cut, len);
        struct sr_view *w = NULL;
        ck_assert_int_eq(codec_get_view(&in, h, &s, &w, &err), SR_ECORRUPT);
        ck_assert_ptr_null(w);
        free(cut);
    }
    for (size_t at = 0; at < o.len; at++) {
        o.data[at] ^= 0xFF;
        struct bytes_in in = bytes_in(o.data, o.len);
        struct sr_view *w = NULL;
        sr_rc rc = codec_get_view(&in, h, &s, &w, &err); /* a value may change; nothing else */
        ck_assert((rc == SR_OK) == (w != NULL));
        view_release(w);
        o.data[at] ^= 0xFF;
    }
    struct sr_schema fewer = {.fields = 2, .field = s.field, .rowtime = -1};
    struct bytes_in in = bytes_in(o.data, o.len);
    struct sr_view *w = NULL;
    ck_assert_int_eq(codec_get_view(&in, h, &fewer, &w, &err), SR_EMISFIT);
    view_release(v);
    bytes_free(&o);
    home_close(h);
    arena_free(a);
}
END_TEST

/* [{"a": ["x", NULL], "b": NULL}, NULL] in rows 0 and 1, and a row after them. */
START_TEST(nested_values_come_back)
{
    struct arena *a = arena_new();
    struct sr_home *h = home_new();
    struct sr_type t;
    const char *text = "ARRAY<ROW<a ARRAY<STRING>, b MAP<INT, STRING>>>";
    ck_assert_int_eq(type_parse(a, text, &t, NULL, &err), SR_OK);
    struct sr_column *c = column_new(h, &t, SR_BATCH_ROWS);
    struct sr_column *row = c->child[0];
    ((struct sr_span *)c->values)[0] = (struct sr_span){0, 2};
    ((struct sr_span *)c->values)[1] = (struct sr_span){2, 0};
    column_set_null(row, 1);
    struct sr_column *list = row->child[0];
    ((struct sr_span *)list->values)[0] = (struct sr_span){0, 2};
    ck_assert(column_put_bytes(h, list->child[0], 0, "x", 1));
    column_set_null(list->child[0], 1);
    column_set_null(row->child[1], 0);
    struct sr_out o = bytes_out();
    ck_assert(codec_put(&o, c, 0) && codec_put(&o, c, 1));
    struct sr_column *d = column_new(h, &t, SR_BATCH_ROWS);
    for (int round = 0; round < 700; round++) { /* children outgrow a batch */
        struct bytes_in in = bytes_in(o.data, o.len);
        ck_assert_int_eq(codec_get(&in, h, d, 0), SR_OK);
        ck_assert_int_eq(codec_get(&in, h, d, 1), SR_OK);
        ck_assert(in.at == in.end);
    }
    struct sr_out again = bytes_out();
    ck_assert(codec_put(&again, d, 0) && codec_put(&again, d, 1));
    ck_assert_uint_eq(again.len, o.len);
    ck_assert_mem_eq(again.data, o.data, o.len);
    struct sr_view v = {.rows = 2, .picked = 2, .cols = 1, .col = &c};
    struct sr_view w = {.rows = 2, .picked = 2, .cols = 1, .col = &d};
    uint64_t x[2], y[2];
    rowhash(&v, &(uint32_t){0}, 1, 0, 2, x);
    rowhash(&w, &(uint32_t){0}, 1, 0, 2, y);
    ck_assert(x[0] == y[0] && x[1] == y[1] && x[0] != x[1]);
    for (size_t len = 0; len + 10 < o.len; len++) {
        struct bytes_in in = bytes_in(o.data, len);
        (void)!codec_get(&in, h, d, 0);
    }
    bytes_free(&o);
    bytes_free(&again);
    column_release(c);
    column_release(d);
    home_close(h);
    arena_free(a);
}
END_TEST

START_TEST(a_host_encodes_and_decodes)
{
    struct arena *a = arena_new();
    struct env env = env_posix(SR_LOG_ERROR);
    struct sr_home *home = home_new();
    struct host_ctx ctx;
    struct sr_host h;
    host_init(&h, &ctx, &env, home, "step");
    struct sr_schema s = rows_schema(a);
    struct sr_view *v = rows_view(home, &s, 5, 1);
    struct sr_out o = bytes_out();
    ck_assert_int_eq(h.rows_encode(&h, v, 0, 2, &o, &err), SR_OK);
    size_t first = o.len;
    ck_assert_int_eq(h.rows_encode(&h, v, 2, 3, &o, &err), SR_OK);
    size_t used = 0;
    struct sr_view *w = NULL;
    ck_assert_int_eq(h.rows_decode(&h, &s, o.data, o.len, &used, &w, &err), SR_OK);
    ck_assert_uint_eq(used, first);
    ck_assert_uint_eq(w->rows, 2);
    h.view_release(w);
    ck_assert_int_eq(h.rows_decode(&h, &s, o.data + used, o.len - used, &used, &w, &err), SR_OK);
    ck_assert_uint_eq(w->rows, 3);
    ck_assert_uint_eq(used + first, o.len);
    h.view_release(w);
    ck_assert_int_eq(h.rows_decode(&h, &s, o.data, 3, &used, &w, &err), SR_ECORRUPT);
    ck_assert_int_eq(h.fail(&h, &err, SR_EIO, "no %s", "luck"), SR_EIO);
    ck_assert_str_eq(err.words, "no luck");
    view_release(v);
    bytes_free(&o);
    home_close(home);
    arena_free(a);
}
END_TEST

UNIT_MAIN("codec", views_of_every_type_come_back, damage_is_found_and_never_read_past,
          nested_values_come_back, a_host_encodes_and_decodes)
