/* What the fuzz targets of formats share: bytes are decoded in several ways, which must agree, and
 * what was decoded must come back when it is written and read again.
 */
#ifndef TEST_FUZZ_FUZZ_FORMAT_H
#define TEST_FUZZ_FUZZ_FORMAT_H

#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/data/builder.h"
#include "engine/data/codec.h"
#include "engine/data/host.h"
#include "engine/data/schema.h"

struct fuzz_format {
    const struct sr_format_type *type;
    const void *conf;
    struct sr_schema schema;
    const uint32_t *metadata; /* the last columns of the schema are these of the format's */
    uint32_t metadatas;
    bool may_refuse; /* to write some of what it can read */
    struct sr_home *home;
    struct sr_host host;
    struct host_ctx ctx;
    struct env env;
};

#define FUZZ_CHECK(e) ((e) ? (void)0 : fuzz_failed(#e, __LINE__))

static inline void fuzz_failed(const char *what, int line)
{
    fprintf(stderr, "fuzz_format.h:%d: %s\n", line, what);
    abort();
}

static inline void fuzz_field(struct arena *a, struct sr_field *f, const char *name,
                              const char *type)
{
    f->name = name;
    FUZZ_CHECK(type_parse(a, type, &f->type, NULL, NULL) == SR_OK);
}

static inline void *fuzz_instance(uint32_t size)
{
    void *p = aligned_alloc(16, (size + 15) & ~15u);
    memset(p, 0, size);
    return p;
}

struct fuzz_told {
    struct sr_out rows; /* encoded by the codec, row by row */
    uint64_t places;    /* of rows and bad records */
    uint32_t count, bads;
    bool is_limit; /* the decoder refused to go on */
};

static inline void fuzz_take(struct sr_builder *b, struct fuzz_told *t, const uint32_t *row_at,
                             uint32_t origin)
{
    struct sr_view *v = NULL;
    struct sr_error err;
    FUZZ_CHECK(builder_seal(b, &v, &err) == SR_OK);
    for (uint32_t r = 0; v && r < v->rows; r++) {
        uint64_t place[2] = {t->places, origin + row_at[r]};
        t->places = hash64(place, sizeof(place), 1);
        struct sr_buffer *change = v->change; /* there or not by the other rows of the batch */
        v->change = sr_change_of(v, r) == SR_INSERT ? NULL : change;
        FUZZ_CHECK(codec_put_view(&t->rows, v, r, 1));
        v->change = change;
        t->count++;
    }
    view_release(v);
}

/* `step`: bytes more that each call sees; 0: all. */
static inline struct fuzz_told fuzz_decode(struct fuzz_format *f, const uint8_t *bytes,
                                           uint32_t len, uint32_t step, uint32_t rows_max,
                                           bool has_buffer)
{
    struct fuzz_told t = {.rows = bytes_out()};
    struct sr_error err;
    static struct sr_bad bad[SR_BAD_MAX];
    static uint32_t row_at[SR_BATCH_ROWS];
    uint64_t bad_places = 0;
    struct sr_builder b;
    struct sr_format_open o = {sizeof(o), &f->host, f->conf, &f->schema, f->metadata, f->metadatas};
    void *dec = fuzz_instance(f->type->decoder_size);
    FUZZ_CHECK(f->type->decode_open(dec, &o, &err) == SR_OK);
    FUZZ_CHECK(builder_open(&b, f->home, &f->host, &f->schema, NULL, &err) == SR_OK);
    b.rows_max = rows_max;
    uint32_t from = 0;
    uint32_t to = step > 0 && step < len ? step : len;
    for (;;) {
        struct sr_decode d = {.len = to - from, .at_start = from == 0, .at_end = to == len};
        struct sr_buffer *buffer = has_buffer ? buffer_new(f->home, d.len) : NULL;
        uint8_t *copy = has_buffer ? buffer->data : malloc(d.len + 1);
        if (d.len > 0) {
            memcpy(copy, bytes + from, d.len);
        }
        d.bytes = copy;
        d.buffer = buffer;
        d.out = &b;
        d.bad = bad;
        d.row_at = row_at;
        t.is_limit = f->type->decode(dec, &d, &err) != SR_OK;
        FUZZ_CHECK(t.is_limit || (d.used <= d.len && d.bads <= SR_BAD_MAX));
        for (uint32_t i = 0; !t.is_limit && i < d.bads; i++) {
            FUZZ_CHECK(bad[i].at <= d.len && bad[i].len <= d.len - bad[i].at);
            uint64_t place[3] = {bad_places, from + bad[i].at, bad[i].len};
            bad_places = hash64(place, sizeof(place), 2);
            t.bads++;
        }
        fuzz_take(&b, &t, row_at, from);
        if (has_buffer) {
            buffer_release(buffer);
        } else {
            free(copy);
        }
        from += t.is_limit ? 0 : d.used;
        if (t.is_limit || from == len || (d.used == 0 && to == len)) {
            break;
        }
        if (d.used == 0) {
            to = step > 0 && to + step < len ? to + step : len;
        }
    }
    FUZZ_CHECK(t.is_limit || from == len);
    t.places ^= bad_places;
    builder_close(&b);
    f->type->decode_close(dec);
    free(dec);
    return t;
}

static inline void fuzz_same(const struct fuzz_told *a, const struct fuzz_told *b)
{
    FUZZ_CHECK(a->is_limit == b->is_limit);
    FUZZ_CHECK(a->count == b->count && a->bads == b->bads && a->places == b->places);
    FUZZ_CHECK(a->rows.len == b->rows.len);
    FUZZ_CHECK(a->rows.len == 0 || memcmp(a->rows.data, b->rows.data, a->rows.len) == 0);
}

/* The rows as the format writes them. *is_refused: one of them cannot be. */
static inline struct sr_out fuzz_encode(struct fuzz_format *f, const struct fuzz_told *t,
                                        bool *is_refused)
{
    struct sr_error err;
    struct sr_out out = bytes_out();
    struct sr_format_open o = {sizeof(o), &f->host, f->conf, &f->schema, NULL, 0};
    void *enc = fuzz_instance(f->type->encoder_size);
    FUZZ_CHECK(f->type->encode_open(enc, &o, &err) == SR_OK);
    struct bytes_in in = bytes_in(t->rows.data, t->rows.len);
    while (in.at < in.end) {
        struct sr_view *v = NULL;
        FUZZ_CHECK(codec_get_view(&in, f->home, &f->schema, &v, &err) == SR_OK);
        struct sr_encode e = {.view = v, .count = 1, .out = &out};
        sr_rc rc = f->type->encode(enc, &e, &err);
        *is_refused = *is_refused || (f->may_refuse && rc == SR_EDATA);
        FUZZ_CHECK(*is_refused || (rc == SR_OK && e.done == 1));
        view_release(v);
    }
    f->type->encode_close(enc);
    free(enc);
    return out;
}

/* What was written is read without a fault; once written and read, it no longer changes (before, a
 * NULL of csv may become ''). */
static inline void fuzz_round_trip(struct fuzz_format *f, const struct fuzz_told *t)
{
    struct sr_out text[3];
    struct fuzz_told told[2];
    bool is_refused = false;
    text[0] = fuzz_encode(f, t, &is_refused);
    if (is_refused) {
        bytes_free(&text[0]);
        return;
    }
    for (int i = 0; i < 2; i++) {
        told[i] = fuzz_decode(f, text[i].data, (uint32_t)text[i].len, 0, SR_BATCH_ROWS, true);
        FUZZ_CHECK(told[i].bads == 0 && told[i].count == t->count);
        text[i + 1] = fuzz_encode(f, &told[i], &is_refused);
        FUZZ_CHECK(!is_refused);
    }
    FUZZ_CHECK(text[1].len == text[2].len);
    FUZZ_CHECK(text[1].len == 0 || memcmp(text[1].data, text[2].data, text[1].len) == 0);
    for (int i = 0; i < 3; i++) {
        bytes_free(&text[i]);
    }
    bytes_free(&told[0].rows);
    bytes_free(&told[1].rows);
}

static inline void fuzz_format(struct fuzz_format *f, const uint8_t *bytes, uint32_t len,
                               uint32_t rows_max, bool has_header)
{
    f->env = env_posix(SR_LOG_ERROR);
    f->home = home_new();
    host_init(&f->host, &f->ctx, &f->env, f->home, "fuzz");
    struct fuzz_told whole = fuzz_decode(f, bytes, len, 0, SR_BATCH_ROWS, false);
    struct fuzz_told buffered = fuzz_decode(f, bytes, len, 0, SR_BATCH_ROWS, true);
    struct fuzz_told stepped = fuzz_decode(f, bytes, len, len < 300 ? 1 : 97, rows_max, true);
    fuzz_same(&whole, &buffered);
    fuzz_same(&whole, &stepped);
    if (!has_header) {
        fuzz_round_trip(f, &whole);
    }
    bytes_free(&whole.rows);
    bytes_free(&buffered.rows);
    bytes_free(&stepped.rows);
    home_close(f->home);
}

#endif
