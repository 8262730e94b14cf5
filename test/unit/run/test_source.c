/* A source of bytes with a format behind it: one split of text, given out a few bytes at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

#include "test/unit/run/world.h"

#include "engine/run/source_task.h"

/* --- A text that is read `chunk` bytes at a time, and an integer a line ----------------------- */

struct text {
    const char *bytes;
    uint32_t chunk;       /* bytes more a poll */
    bool has_buffer;      /* lie in a buffer that columns may refer to */
    bool is_locked;       /* cannot be opened, which shows when half of it is done */
    uint32_t *closes;     /* counted there; NULL: nowhere */
    struct sr_out *acked; /* uint32_t positions that were acknowledged; NULL: nobody asks */
};

struct text_reader {
    const struct text *t;
    const struct sr_host *host;
    uint32_t at, shown;    /* consumed; bytes that were shown behind it */
    bool is_open, is_over; /* its end was answered, and will not be again */
    struct sr_buffer *buffer;
};

#define TEXT_OVER UINT32_MAX

static sr_rc text_discover_open(void *d, const struct sr_source_open *o, struct sr_error *err)
{
    (void)d;
    (void)o;
    (void)err;
    return SR_OK;
}

static void text_known(void *d, const struct sr_split *split)
{
    (void)split;
    *(bool *)d = true;
}

static enum sr_discovered text_discover(void *d, struct sr_splits *out, struct sr_wait *wait,
                                        struct sr_error *err)
{
    (void)wait;
    (void)err;
    uint32_t zero = 0;
    if (*(bool *)d) return SR_DISCOVERED_ALL;
    struct sr_split split = {.id = "text", .note = {&zero, sizeof(zero)}};
    return out->add(out, &split) == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}

static sr_rc text_open(void *p, const struct sr_source_open *o, struct sr_error *err)
{
    struct text_reader *r = p;
    *r = (struct text_reader){.t = o->conf, .host = o->host};
    if (r->t->is_locked) {
        r->buffer = o->host->buffer_new(o->host, 1);
        return o->host->fail(o->host, err, SR_EBUSY, "the text is locked");
    }
    return SR_OK;
}

static sr_rc text_add(void *p, uint32_t number, const struct sr_split *split, struct sr_error *err)
{
    (void)err;
    struct text_reader *r = p;
    ck_assert_uint_eq(number, 0);
    memcpy(&r->at, split->note.data, sizeof(r->at));
    ck_assert_msg(r->at != TEXT_OVER, "a split that was over is given out again");
    r->is_open = true;
    return SR_OK;
}

static enum sr_polled text_poll(void *p, struct sr_poll *poll, struct sr_error *err)
{
    (void)err;
    struct text_reader *r = p;
    uint32_t all = (uint32_t)strlen(r->t->bytes);
    poll->split = 0;
    if (r->at == all) {
        r->is_over = true;
        return SR_POLL_SPLIT_END;
    }
    r->shown += r->t->chunk;
    if (r->shown > all - r->at) r->shown = all - r->at;
    poll->bytes = (const uint8_t *)r->t->bytes + r->at;
    poll->len = r->shown;
    poll->at_start = r->at == 0;
    poll->at_end = r->at + r->shown == all;
    if (r->t->has_buffer) {
        r->host->buffer_release(r->buffer);
        r->buffer = r->host->buffer_new(r->host, poll->len);
        memcpy(r->buffer->data, poll->bytes, poll->len);
        poll->bytes = r->buffer->data;
        poll->buffer = r->buffer;
    }
    return SR_POLL_DATA;
}

static void text_consume(void *p, uint32_t number, uint32_t used)
{
    struct text_reader *r = p;
    ck_assert_uint_eq(number, 0);
    ck_assert_uint_le(used, r->shown);
    r->at += used;
    r->shown -= used;
}

static sr_rc text_position(void *p, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    (void)number;
    (void)err;
    const struct text_reader *r = p;
    uint32_t at = r->is_over ? TEXT_OVER : r->at;
    memcpy(sr_out_room(note, sizeof(at)), &at, sizeof(at));
    note->len += sizeof(at);
    return SR_OK;
}

static void text_acknowledge(void *p, uint32_t number, struct sr_bytes note)
{
    const struct text_reader *r = p;
    uint32_t at = 0;
    ck_assert_uint_eq(number, 0);
    ck_assert_uint_eq(note.len, sizeof(at));
    memcpy(&at, note.data, sizeof(at));
    if (r->t->acked) ck_assert(bytes_put_u32(r->t->acked, at));
}

static void text_close(void *p)
{
    struct text_reader *r = p;
    r->host->buffer_release(r->buffer);
    if (r->t->closes) ++*r->t->closes;
}

static void text_discover_close(void *d) { (void)d; }

static const struct sr_source_type text_type = {.size = sizeof(text_type),
                                                .name = "text",
                                                .discoverer_size = sizeof(bool),
                                                .reader_size = sizeof(struct text_reader),
                                                .known = text_known,
                                                .discover_open = text_discover_open,
                                                .discover = text_discover,
                                                .discover_close = text_discover_close,
                                                .open = text_open,
                                                .add = text_add,
                                                .poll = text_poll,
                                                .consume = text_consume,
                                                .position = text_position,
                                                .acknowledge = text_acknowledge,
                                                .close = text_close};

static sr_rc lines_open(void *dec, const struct sr_format_open *o, struct sr_error *err)
{
    (void)dec;
    (void)o;
    (void)err;
    return SR_OK;
}

static sr_rc lines_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    (void)dec;
    (void)err;
    while (!sr_builder_is_full(d->out) && d->used < d->len) {
        const uint8_t *line = d->bytes + d->used;
        const uint8_t *newline = memchr(line, '\n', d->len - d->used);
        if (!newline && !d->at_end) return SR_OK;
        uint32_t len = newline ? (uint32_t)(newline - line) : d->len - d->used;
        char text[32], *end;
        snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)line);
        long long value = strtoll(text, &end, 10);
        if (*end != '\0') {
            if (d->bads == SR_BAD_MAX) return SR_OK;
            struct sr_bad *b = &d->bad[d->bads++];
            *b = (struct sr_bad){.at = d->used, .len = len, .row = d->out->rows};
            snprintf(b->words, sizeof(b->words), "'%s' is no number", text);
        } else {
            d->row_at[d->out->rows] = d->used;
            sr_put_i64(d->out, 0, value);
            sr_put_null(d->out, 1);
            sr_row_done(d->out);
        }
        d->used += newline ? len + 1 : len;
    }
    return SR_OK;
}

static void lines_close(void *dec) { (void)dec; }

static const struct sr_format_type lines_type = {.size = sizeof(lines_type),
                                                 .name = "lines",
                                                 .decode_open = lines_open,
                                                 .decode = lines_decode,
                                                 .decode_close = lines_close};

/* --- The source ------------------------------------------------------------------------------- */

struct fixture {
    struct world w;
    struct text text;
    struct plan_node node;
    struct splits *pool;
    struct source source;
    struct sr_home *home;
    struct sr_error err;
    char got[4000]; /* "1 2 3 | " views end with a bar */
};

static void begin(struct fixture *f, const char *bytes, uint32_t chunk, enum job_on_error on_error)
{
    world_init(&f->w, 1);
    (void)world_plan(&f->w);
    f->text = (struct text){.bytes = bytes, .chunk = chunk, .has_buffer = chunk % 2 == 0};
    f->node = (struct plan_node){.kind = PLAN_SOURCE,
                                 .uid = "in",
                                 .name = "in",
                                 .step = "in",
                                 .on_error = on_error,
                                 .source = &text_type,
                                 .conf = &f->text,
                                 .source_caps = {.is_bounded = true},
                                 .read = &world_schema,
                                 .brought = &world_schema,
                                 .valued = &world_schema,
                                 .out = &world_schema,
                                 .format = &lines_type,
                                 .stamp = -1};
    f->home = home_new();
    ck_assert_int_eq(splits_new(&f->pool, &f->w.plan, &f->node, 1, &f->w.env, &f->err), SR_OK);
}

static sr_rc try_open(struct fixture *f)
{
    struct source_conf conf = {.plan = &f->w.plan,
                               .node = &f->node,
                               .env = &f->w.env,
                               .home = f->home,
                               .pool = f->pool,
                               .parts = 1};
    return source_open(&f->source, &conf, &f->err);
}

static void open(struct fixture *f)
{
    ck_assert_int_eq(try_open(f), SR_OK);
    ck_assert_int_eq(splits_open(f->pool, &f->err), SR_OK);
}

static void end(struct fixture *f)
{
    source_close(&f->source);
    splits_free(f->pool);
    home_close(f->home);
    world_done(&f->w);
}

static uint32_t keep(struct fixture *f, struct sr_view *v)
{
    uint32_t rows = v->picked;
    SR_EACH_ROW(v, r) {
        size_t at = strlen(f->got);
        snprintf(f->got + at, sizeof(f->got) - at, "%lld ",
                 (long long)((const int64_t *)v->col[0]->values)[r]);
    }
    view_release(v);
    return rows;
}

/* Reads until `rows` came or the end; answers what source_next answered last. */
static enum source_got read_rows(struct fixture *f, uint32_t rows)
{
    enum source_got got = SOURCE_DID;
    for (uint32_t have = 0; have < rows;) {
        struct msg m;
        struct sr_wait wait;
        got = source_next(&f->source, 0, &m, &wait, &f->err);
        if (got == SOURCE_MSG && m.kind == MSG_VIEW) have += keep(f, m.view);
        if (got == SOURCE_END || got == SOURCE_FAILED) return got;
        ck_assert_int_ne(got, SOURCE_WAIT);
    }
    return got;
}

static const char numbers[] = "1\n22\n333\n4\n\n55555\n6\n7";
static const char all_of_them[] = "1 22 333 4 0 55555 6 7 ";

/* However few bytes a poll brings, the rows are the same; the last line needs no newline. */
START_TEST(test_any_cut)
{
    for (uint32_t chunk = 1; chunk <= sizeof(numbers); chunk++) {
        struct fixture f = {.got = ""};
        begin(&f, numbers, chunk, JOB_FAIL);
        open(&f);
        ck_assert_int_eq(read_rows(&f, UINT32_MAX), SOURCE_END);
        ck_assert_str_eq(f.got, all_of_them);
        struct counts n;
        counters_get(&f.source.count, &n);
        ck_assert_int_eq(n.value[COUNTER_in], 8);
        ck_assert_int_eq(n.value[COUNTER_out], 8);
        ck_assert_int_eq(n.value[COUNTER_bytes_in], sizeof(numbers) - 1);
        end(&f);
    }
}
END_TEST

/* What an open had taken when it failed is given back: the reader is closed all the same. */
START_TEST(test_half_open)
{
    struct fixture f = {.got = ""};
    uint32_t closes = 0;
    begin(&f, numbers, 1, JOB_FAIL);
    f.text.is_locked = true;
    f.text.closes = &closes;
    ck_assert_int_eq(try_open(&f), SR_EBUSY);
    ck_assert_str_eq(f.err.words, "source 'in': the text is locked");
    end(&f);
    ck_assert_uint_eq(closes, 1);
}
END_TEST

/* A barrier comes: rows in hand go first, then the positions are saved. */
static void save(struct fixture *f, struct sr_out *splits, struct sr_out *waiting)
{
    struct msg m;
    ck_assert_int_eq(source_seal(&f->source, &m, &f->err), SR_OK);
    if (m.kind == MSG_VIEW) (void)keep(f, m.view);
    ck_assert_int_eq(source_save(&f->source, 5, splits, waiting, &f->err), SR_OK);
}

static void acknowledged(struct fixture *f, uint64_t n, uint32_t count, uint32_t last)
{
    f->text.acked->len = 0;
    source_acknowledge(&f->source, n);
    struct bytes_in in = bytes_in(f->text.acked->data, f->text.acked->len);
    uint32_t got = 0, at = 0;
    for (; in.at < in.end; got++) {
        at = bytes_get_u32(&in);
    }
    ck_assert_uint_eq(got, count);
    ck_assert(count == 0 || at == last);
}

/* Positions are acknowledged with their own checkpoint, the end of a split with the first that has
 * it and is shown. */
START_TEST(test_acknowledge)
{
    for (int is_first_lost = 0; is_first_lost < 2; is_first_lost++) {
        struct fixture f = {.got = ""};
        struct sr_out out = bytes_out(), acked = bytes_out();
        struct msg m;
        begin(&f, numbers, 4, JOB_FAIL);
        f.text.acked = &acked;
        open(&f);
        f.source.rows.rows_max = 1;
        (void)read_rows(&f, 2);
        ck_assert_int_eq(source_seal(&f.source, &m, &f.err), SR_OK);
        ck_assert_int_eq(source_save(&f.source, 3, &out, &out, &f.err), SR_OK);
        (void)read_rows(&f, 1);
        ck_assert_int_eq(source_save(&f.source, 4, &out, &out, &f.err), SR_OK);
        acknowledged(&f, 3, 1, 5);
        acknowledged(&f, 3, 0, 0);
        ck_assert_int_eq(read_rows(&f, UINT32_MAX), SOURCE_END);
        acknowledged(&f, 4, 0, 0); /* nobody's any more */
        ck_assert_int_eq(source_save(&f.source, 5, &out, &out, &f.err), SR_OK);
        ck_assert_int_eq(source_save(&f.source, 6, &out, &out, &f.err), SR_OK);
        acknowledged(&f, is_first_lost ? 6 : 5, 1, TEXT_OVER);
        acknowledged(&f, 6, 0, 0);
        bytes_free(&out);
        bytes_free(&acked);
        end(&f);
    }
}
END_TEST

/* Saved between any two steps and restored, the source goes on with exactly the next row. */
START_TEST(test_save_and_go_on)
{
    for (uint32_t chunk = 1; chunk <= sizeof(numbers); chunk += 3) {
        bool is_over = false;
        for (uint32_t steps = 1; !is_over; steps++) {
            struct fixture f = {.got = ""};
            struct sr_out splits = bytes_out(), waiting = bytes_out();
            begin(&f, numbers, chunk, JOB_FAIL);
            open(&f);
            f.source.rows.rows_max = steps % 2 == 0 ? 1 : 3;
            for (uint32_t i = 0; i < steps && !is_over; i++) {
                struct msg m;
                struct sr_wait wait;
                enum source_got got = source_next(&f.source, 0, &m, &wait, &f.err);
                if (got == SOURCE_MSG && m.kind == MSG_VIEW) (void)keep(&f, m.view);
                is_over = got == SOURCE_END;
            }
            save(&f, &splits, &waiting);
            char got[8000];
            strcpy(got, f.got);
            end(&f);
            f.got[0] = '\0';
            begin(&f, numbers, chunk, JOB_FAIL);
            int64_t ms;
            struct manifest_part saved = {
                .name = "splits", .bytes = splits.data, .len = splits.len};
            struct manifest_part pool = {
                .name = "waiting", .bytes = waiting.data, .len = waiting.len};
            ck_assert_int_eq(splits_restore(f.pool, &saved, &ms), SR_OK);
            ck_assert_int_eq(splits_restore(f.pool, &pool, &ms), SR_OK);
            open(&f);
            ck_assert_int_eq(read_rows(&f, UINT32_MAX), SOURCE_END);
            strcat(got, f.got);
            ck_assert_str_eq(got, all_of_them);
            bytes_free(&splits);
            bytes_free(&waiting);
            end(&f);
        }
    }
}
END_TEST

/* A record that does not decode fails the job with its place, or is counted; its neighbours
 * live. */
START_TEST(test_bad_records)
{
    static const char bad[] = "1\n2\nthree\n4\nfive\n";
    for (uint32_t chunk = 1; chunk <= sizeof(bad); chunk++) {
        struct fixture f = {.got = ""};
        begin(&f, bad, chunk, JOB_SKIP);
        open(&f);
        ck_assert_int_eq(read_rows(&f, UINT32_MAX), SOURCE_END);
        ck_assert_str_eq(f.got, "1 2 4 ");
        struct counts n;
        counters_get(&f.source.count, &n);
        ck_assert_int_eq(n.value[COUNTER_in], 5);
        ck_assert_int_eq(n.value[COUNTER_skipped], 2);
        end(&f);
        begin(&f, bad, chunk, JOB_FAIL);
        open(&f);
        ck_assert_int_eq(read_rows(&f, UINT32_MAX), SOURCE_FAILED);
        ck_assert_int_eq(f.err.rc, SR_EDATA);
        ck_assert_str_eq(f.err.words, "source 'in': text (byte 4): 'three' is no number\n  three");
        end(&f);
    }
}
END_TEST

/* More records than a batch holds, and more bad ones than a decoder may report at once. */
START_TEST(test_long_input)
{
    const uint32_t lines = 5000;
    char *text = malloc(lines * 6 + 1);
    uint32_t len = 0;
    for (uint32_t i = 0; i < lines; i++) {
        len += (uint32_t)sprintf(text + len, "%s\n", i % 3 == 0 ? "x" : "7");
    }
    struct fixture f = {.got = ""};
    begin(&f, text, 100000, JOB_SKIP);
    open(&f);
    uint32_t rows = 0;
    enum source_got got = SOURCE_DID;
    while (got != SOURCE_END) {
        struct msg m;
        struct sr_wait wait;
        got = source_next(&f.source, 0, &m, &wait, &f.err);
        ck_assert_int_ne(got, SOURCE_FAILED);
        if (got != SOURCE_MSG) continue;
        ck_assert_uint_le(m.view->picked, SR_BATCH_ROWS);
        rows += m.view->picked;
        view_release(m.view);
    }
    struct counts n;
    counters_get(&f.source.count, &n);
    ck_assert_uint_eq(rows, lines - (lines + 2) / 3);
    ck_assert_int_eq(n.value[COUNTER_skipped], (lines + 2) / 3);
    ck_assert_int_eq(n.value[COUNTER_in], lines);
    end(&f);
    free(text);
}
END_TEST

UNIT_MAIN("run: source", test_any_cut, test_half_open, test_save_and_go_on, test_acknowledge,
          test_bad_records, test_long_input)
