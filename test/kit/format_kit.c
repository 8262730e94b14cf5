#include "test/kit/format_kit.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/text/nest.h"
#include "engine/base/bytes.h"
#include "engine/data/schema.h"

static struct sr_error kit_err;

/* --- Set-up ---------------------------------------------------------------------------------- */

static void kit_default(const struct sr_opt *o, void *conf)
{
    void *field = (char *)conf + o->offset;
    if (!o->def) {
        return;
    }
    if (o->kind == SR_OPT_BOOL) {
        *(bool *)field = strcmp(o->def, "true") == 0;
    } else if (o->kind == SR_OPT_TEXT) {
        *(const char **)field = o->def;
    } else if (o->kind == SR_OPT_CHOICE) {
        for (uint32_t i = 0; o->choices[i]; i++) {
            if (strcmp(o->choices[i], o->def) == 0) {
                ((sr_choice *)field)->index = i;
                return;
            }
        }
        ck_abort_msg("the default of '%s' is no choice", o->key);
    } else {
        ck_abort_msg("the kit knows no option of the kind of '%s'", o->key);
    }
}

void *format_kit_conf(const struct sr_format_type *type)
{
    void *conf = calloc(1, type->conf_size);
    for (const struct sr_opt *o = type->opts; o->key; o++) {
        kit_default(o, conf);
    }
    return conf;
}

/* Splits at commas outside brackets. */
static void kit_columns(struct format_kit *k, const char *columns)
{
    struct sr_field *field = arena_array(k->arena, 64, sizeof(*field));
    uint32_t n = 0;
    const char *p = columns;
    while (*p) {
        p += strspn(p, " ");
        const char *name_end = strchr(p, ' ');
        const char *end = name_end;
        for (int depth = 0; *end && (*end != ',' || depth > 0); end++) {
            depth += *end == '(' || *end == '<' ? 1 : 0;
            depth -= *end == ')' || *end == '>' ? 1 : 0;
        }
        const char *type = arena_text_n(k->arena, name_end, (size_t)(end - name_end));
        field[n].name = arena_text_n(k->arena, p, (size_t)(name_end - p));
        sr_rc rc = type_parse(k->arena, type, &field[n].type, NULL, &kit_err);
        ck_assert_msg(rc == SR_OK, "%s: %s", type, kit_err.words);
        n++;
        p = *end ? end + 1 : end;
    }
    k->schema = (struct sr_schema){.fields = n, .field = field, .rowtime = -1};
}

void format_kit_open(struct format_kit *k, const struct sr_format_type *type, const void *conf,
                     const char *columns)
{
    *k = (struct format_kit){.type = type, .conf = conf, .arena = arena_new()};
    kit_columns(k, columns);
    k->env = env_posix(SR_LOG_ERROR);
    k->home = home_new();
    host_init(&k->host, &k->ctx, &k->env, k->home, "kit");
}

void format_kit_close(struct format_kit *k)
{
    home_close(k->home);
    arena_free(k->arena);
}

static struct sr_format_open kit_open_args(const struct format_kit *k)
{
    return (struct sr_format_open){.size = sizeof(struct sr_format_open),
                                   .host = &k->host,
                                   .conf = k->conf,
                                   .schema = &k->schema};
}

static void *kit_instance(uint32_t size)
{
    void *p = aligned_alloc(16, (size + 15) & ~15u);
    memset(p, 0, size);
    return p;
}

/* --- Decoding -------------------------------------------------------------------------------- */

struct kit_run {
    struct format_kit *k;
    const struct format_feed *feed;
    void *decoder;
    struct sr_builder rows;
    FILE *out;
    struct sr_bad bad[SR_BAD_MAX];
    uint32_t row_at[SR_BATCH_ROWS];
    uint32_t skipped, made; /* rows before the builder's */
};

static void kit_show_leaf(FILE *out, const struct sr_column *c, uint32_t r)
{
    if (!sr_is_valid(c, r)) {
        fprintf(out, "NULL");
        return;
    }
    if (sr_has_bytes(c->type.kind)) {
        uint32_t len = 0;
        const char *s = sr_text(c, r, &len);
        fputc('\'', out);
        for (uint32_t i = 0; i < len; i++) {
            fprintf(out, (unsigned char)s[i] < 0x20 ? "\\x%02x" : "%c", (unsigned char)s[i]);
        }
        fputc('\'', out);
        return;
    }
    const void *v = c->values;
    switch (sr_value_size(&c->type)) {
    case 1:
        fprintf(out, "%d", ((const int8_t *)v)[r]);
        break;
    case 2:
        fprintf(out, "%d", ((const int16_t *)v)[r]);
        break;
    case 4:
        if (c->type.kind == SR_FLOAT) {
            fprintf(out, "%.9g", (double)((const float *)v)[r]);
        } else {
            fprintf(out, "%d", ((const int32_t *)v)[r]);
        }
        break;
    case 8:
        if (c->type.kind == SR_DOUBLE) {
            fprintf(out, "%.17g", ((const double *)v)[r]);
        } else {
            fprintf(out, "%lld", (long long)((const int64_t *)v)[r]);
        }
        break;
    default:
        if (c->type.kind == SR_DECIMAL) {
            struct sr_wide w = ((const struct sr_wide *)v)[r];
            fprintf(out, "%lld:%llu", (long long)w.high, (unsigned long long)w.low);
        } else {
            struct sr_instant t = ((const struct sr_instant *)v)[r];
            fprintf(out, "%lld+%d", (long long)t.ms, t.ns);
        }
    }
}

/* ROW (1, 'a'), ARRAY [1, NULL], MAP {'k': 1} */
static void kit_show_value(FILE *out, const struct sr_column *c, uint32_t r)
{
    struct nest n;
    nest_begin(&n, c, r);
    for (enum nest_event e = nest_next(&n); e != NEST_DONE; e = nest_next(&n)) {
        enum sr_kind kind = n.c->type.kind;
        if (e == NEST_CLOSE) {
            fputc(kind == SR_ROW ? ')' : kind == SR_MAP ? '}' : ']', out);
            continue;
        }
        if (n.depth > 0 && n.nth > 0) {
            bool is_map = n.level[n.depth - 1].c->type.kind == SR_MAP;
            fputs(is_map && n.child == 1 ? ": " : ", ", out);
        }
        if (e == NEST_VALUE) {
            kit_show_leaf(out, n.c, n.r);
        } else {
            fputc(kind == SR_ROW ? '(' : kind == SR_MAP ? '{' : '[', out);
        }
    }
}

/* Shows the builder's rows and empties it; `origin` is where d->bytes lie in the input. */
static void kit_seal(struct kit_run *x)
{
    struct sr_view *v = NULL;
    uint32_t rows = x->rows.rows;
    sr_rc rc = builder_seal(&x->rows, &v, &kit_err);
    ck_assert_msg(rc == SR_OK, "%s", kit_err.words);
    for (uint32_t r = 0; r < rows; r++) {
        static const char *const kinds[] = {"", "|-U", "|+U", "|-D"};
        fprintf(x->out, "row %u: ", x->row_at[r]);
        for (uint32_t c = 0; c < v->cols; c++) {
            bool is_wanted = !x->feed->wanted || x->feed->wanted[c];
            fputs(c > 0 ? "|" : "", x->out);
            if (is_wanted) {
                kit_show_value(x->out, v->col[c], r);
            } else {
                ck_assert_msg(!sr_is_valid(v->col[c], r), "an unwanted column is NULL");
                fprintf(x->out, "-");
            }
        }
        fprintf(x->out, "%s\n", kinds[sr_change_of(v, r)]);
    }
    view_release(v);
    x->made += rows;
}

static void kit_show_bads(struct kit_run *x, const struct sr_decode *d, uint32_t origin,
                          uint32_t before)
{
    for (uint32_t i = 0; i < d->bads; i++) {
        const struct sr_bad *b = &x->bad[i];
        ck_assert_uint_le(b->row, x->rows.rows);
        ck_assert_uint_ge(b->row, before);
        ck_assert_uint_lt(strlen(b->words), sizeof(b->words));
        ck_assert_uint_gt(strlen(b->words), 0);
        fprintf(x->out, "bad %u+%u: %s\n", origin + b->at, b->len, b->words);
    }
}

/* What the decoder says of line ends agrees with the bytes; a carriage return alone may end a line
 * too. */
static void kit_check_lines(const struct sr_decode *d)
{
    uint32_t lines = 0;
    if (d->record || d->lines == UINT32_MAX) {
        return;
    }
    for (uint32_t i = 0; i < d->used; i++) {
        if (d->bytes[i] == '\r') {
            return;
        }
        lines += d->bytes[i] == '\n' ? 1 : 0;
    }
    ck_assert_uint_eq(d->lines, lines);
}

/* One call on bytes [from, to) of the input. Answers the bytes (or messages) it used. */
static uint32_t kit_call(struct kit_run *x, struct sr_decode *d, uint32_t origin)
{
    uint32_t before = x->rows.rows;
    uint32_t row_at[SR_BATCH_ROWS];
    d->out = &x->rows;
    d->row_at = row_at;
    d->bad = x->bad;
    d->lines = UINT32_MAX;
    sr_rc rc = x->k->type->decode(x->decoder, d, &kit_err);
    ck_assert_msg(rc == SR_OK, "decode: %s", kit_err.words);
    ck_assert_uint_le(d->used, d->record ? d->records : d->len);
    ck_assert_uint_le(d->bads, SR_BAD_MAX);
    kit_check_lines(d);
    for (uint32_t r = before; r < x->rows.rows; r++) {
        x->row_at[r] = origin + row_at[r];
    }
    /* Bad records are shown before the rows of the same call: one call a record keeps the order. */
    kit_show_bads(x, d, origin, before);
    x->skipped += d->skipped + d->ignored + d->left_out;
    return d->used;
}

static struct sr_buffer *kit_buffer(struct kit_run *x, const uint8_t *bytes, uint32_t len)
{
    struct sr_buffer *b = buffer_new(x->k->home, len + 7);
    memcpy(b->data + 7, bytes, len); /* not at its begin: spans count from the buffer's */
    return b;
}

/* A copy that ends where it ends, so that a sanitizer sees a step over. */
static uint8_t *kit_exact(const uint8_t *bytes, uint32_t len)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);
    memcpy(copy, bytes, len);
    return copy;
}

static void kit_stream(struct kit_run *x, const uint8_t *bytes, uint32_t len)
{
    const struct format_feed *f = x->feed;
    uint32_t from = 0;
    uint32_t to = f->cut > 0 && f->cut < len ? f->cut : len;
    to = f->step > 0 && f->step < to ? f->step : to;
    for (;;) {
        struct sr_decode d = {
            .len = to - from, .at_start = from == 0, .at_end = to == len && !f->is_open};
        struct sr_buffer *b = f->has_buffer ? kit_buffer(x, bytes + from, d.len) : NULL;
        uint8_t *copy = b ? NULL : kit_exact(bytes + from, d.len);
        d.buffer = b;
        d.bytes = b ? b->data + 7 : copy;
        uint32_t used = kit_call(x, &d, from);
        from += used;
        kit_seal(x);
        buffer_release(b);
        free(copy);
        if (from == len || (used == 0 && to == len)) {
            break;
        }
        if (used == 0) {
            to = f->step > 0 && to + f->step < len ? to + f->step : len;
        }
    }
    ck_assert_msg(f->is_open || from == len, "all bytes are used: %u of %u", from, len);
    fprintf(x->out, "used %u skipped %u\n", from, x->skipped);
}

static void kit_messages(struct kit_run *x, const uint8_t *bytes, uint32_t len)
{
    static struct sr_span record[4096];
    uint32_t records = 0;
    for (uint32_t at = 0; at < len;) {
        const uint8_t *newline = memchr(bytes + at, '\n', len - at);
        uint32_t n = newline ? (uint32_t)(newline - (bytes + at)) : len - at;
        record[records++] = (struct sr_span){at, n};
        at += n + 1;
    }
    uint8_t *copy = kit_exact(bytes, len);
    for (uint32_t done = 0; done < records;) {
        struct sr_decode d = {
            .bytes = copy, .len = len, .record = record + done, .records = records - done};
        uint32_t used = kit_call(x, &d, 0);
        ck_assert_uint_gt(used, 0);
        kit_seal(x);
        done += used;
    }
    free(copy);
}

char *format_kit_decode(struct format_kit *k, const void *bytes, uint32_t len,
                        const struct format_feed *feed)
{
    static struct kit_run x;
    memset(&x, 0, sizeof(x));
    x.k = k;
    x.feed = feed;
    char *text = NULL;
    size_t size = 0;
    x.out = open_memstream(&text, &size);
    struct sr_format_open o = kit_open_args(k);
    x.decoder = kit_instance(k->type->decoder_size);
    sr_rc rc = k->type->decode_open(x.decoder, &o, &kit_err);
    ck_assert_msg(rc == SR_OK, "decode_open: %s", kit_err.words);
    rc = builder_open(&x.rows, k->home, &k->host, &k->schema, feed->wanted, &kit_err);
    ck_assert_int_eq(rc, SR_OK);
    if (feed->rows_max > 0) {
        x.rows.rows_max = feed->rows_max;
    }
    if (feed->is_framed) {
        kit_messages(&x, bytes, len);
    } else {
        kit_stream(&x, bytes, len);
    }
    builder_close(&x.rows);
    k->type->decode_close(x.decoder);
    free(x.decoder);
    fclose(x.out);
    return text;
}

/* Lines that begin with `word`, in their order, without what stands before ": ". */
static char *kit_lines(const char *told, const char *word, bool with_place)
{
    char *out = calloc(1, strlen(told) + 1);
    size_t n = 0;
    for (const char *line = told; *line;) {
        const char *end = strchr(line, '\n');
        const char *begin = with_place ? line : strstr(line, ": ") + 2;
        if (strncmp(line, word, strlen(word)) == 0) {
            memcpy(out + n, begin, (size_t)(end + 1 - begin));
            n += (size_t)(end + 1 - begin);
        }
        line = end + 1;
    }
    return out;
}

char *format_kit_rows(const char *told) { return kit_lines(told, "row ", false); }

/* --- Checks ---------------------------------------------------------------------------------- */

/* Rows, bads and the rest each in their order: calls differ in how they mix. */
static void kit_compare(const char *want, const char *told, const char *how)
{
    static const char *const words[] = {"row ", "bad ", "used "};
    for (int i = 0; i < 3; i++) {
        char *a = kit_lines(want, words[i], true);
        char *b = kit_lines(told, words[i], true);
        ck_assert_msg(strcmp(a, b) == 0, "%s:\n--- want\n%s--- got\n%s", how, a, b);
        free(a);
        free(b);
    }
}

static void kit_check_feed(struct format_kit *k, const void *bytes, uint32_t len, const char *want,
                           struct format_feed feed)
{
    char how[120];
    snprintf(how, sizeof(how), "cut %u step %u rows_max %u buffer %d", feed.cut, feed.step,
             feed.rows_max, feed.has_buffer);
    char *told = format_kit_decode(k, bytes, len, &feed);
    kit_compare(want, told, how);
    free(told);
}

void format_kit_check_feeds(struct format_kit *k, const void *bytes, uint32_t len)
{
    struct format_feed whole = {0};
    char *want = format_kit_decode(k, bytes, len, &whole);
    for (int has_buffer = 0; has_buffer < 2; has_buffer++) {
        struct format_feed f = {.has_buffer = has_buffer};
        kit_check_feed(k, bytes, len, want, f);
        f.rows_max = k->room_min > 0 ? k->room_min : 1;
        kit_check_feed(k, bytes, len, want, f);
        f.step = 1;
        kit_check_feed(k, bytes, len, want, f);
        f.rows_max = 0;
        kit_check_feed(k, bytes, len, want, f);
        f.step = 0;
        for (f.cut = 1; f.cut < len; f.cut++) {
            kit_check_feed(k, bytes, len, want, f);
        }
    }
    free(want);
}

void format_kit_check_wanted(struct format_kit *k, const void *bytes, uint32_t len)
{
    bool wanted[64];
    struct format_feed all = {0};
    char *want = format_kit_decode(k, bytes, len, &all);
    for (uint32_t c = 0; c < k->schema.fields; c++) {
        memset(wanted, true, sizeof(wanted));
        wanted[c] = false;
        struct format_feed f = {.wanted = wanted, .has_buffer = c % 2 == 0};
        char *told = format_kit_decode(k, bytes, len, &f);
        /* The same text but for a dash in that column. */
        const char *a = want;
        const char *b = told;
        for (; *a && *b; a = strchr(a, '\n') + 1, b = strchr(b, '\n') + 1) {
            ck_assert_msg(strncmp(a, "row ", 4) == strncmp(b, "row ", 4), "%s\n%s", want, told);
            uint32_t col = 0;
            while (*a != '\n' && *b != '\n') {
                if (col == c && strncmp(a, "row ", 4) != 0 && *b == '-') {
                    a += strcspn(a, "|\n");
                    b++;
                }
                if (*a == '\n' || *b == '\n') {
                    break;
                }
                col += *a == '|' ? 1 : 0;
                ck_assert_msg(*a == *b, "column %u unwanted:\n%s\n%s", c, want, told);
                a++;
                b++;
            }
        }
        ck_assert(*a == *b);
        free(told);
    }
    free(want);
}

void format_kit_check_bad(struct format_kit *k, const char *good, const char *bad,
                          const char *words)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "%s\n%s\n%s\n", good, bad, good);
    fclose(f);
    struct format_feed whole = {0};
    char *told = format_kit_decode(k, text, (uint32_t)size, &whole);
    char *rows = format_kit_rows(told);
    char *one = strndup(rows, strchr(rows, '\n') - rows);
    ck_assert_msg(strlen(rows) == 2 * (strlen(one) + 1), "%s: both neighbours:\n%s", bad, told);
    char want[64];
    snprintf(want, sizeof(want), "bad %zu+%zu: ", strlen(good) + 1, strlen(bad));
    char *place = strstr(told, want);
    ck_assert_msg(place != NULL, "%s: told at its place:\n%s", bad, told);
    ck_assert_msg(strstr(place, words) != NULL, "%s: not told '%s':\n%s", bad, words, told);
    format_kit_check_feeds(k, text, (uint32_t)size);
    free(one);
    free(rows);
    free(told);
    free(text);
}

void format_kit_check_values(struct format_kit *k, const char *bytes, const char *values)
{
    struct format_feed whole = {.has_buffer = true};
    char *told = format_kit_decode(k, bytes, (uint32_t)strlen(bytes), &whole);
    char *rows = format_kit_rows(told);
    ck_assert_msg(strcmp(rows, values) == 0, "%s\n--- want\n%s--- got\n%s(%s)", bytes, values, rows,
                  told);
    free(rows);
    free(told);
}

/* --- Encoding -------------------------------------------------------------------------------- */

/* The rows of a view as bytes, with the end of each. */
static struct sr_out kit_encode(struct format_kit *k, const struct sr_view *v, size_t *end)
{
    struct sr_format_open o = kit_open_args(k);
    void *enc = kit_instance(k->type->encoder_size);
    sr_rc rc = k->type->encode_open(enc, &o, &kit_err);
    ck_assert_msg(rc == SR_OK, "encode_open: %s", kit_err.words);
    struct sr_out out = bytes_out();
    /* In two calls, so that `from` counts. */
    uint32_t half = v->picked / 2;
    struct sr_encode e = {.view = v, .count = half, .out = &out, .end = end};
    rc = k->type->encode(enc, &e, &kit_err);
    ck_assert_msg(rc == SR_OK && e.done == half, "encode: %s", kit_err.words);
    e.from = half;
    e.count = v->picked - half;
    e.end = end + half;
    rc = k->type->encode(enc, &e, &kit_err);
    ck_assert_msg(rc == SR_OK && e.done == e.count, "encode: %s", kit_err.words);
    k->type->encode_close(enc);
    free(enc);
    return out;
}

static struct sr_view *kit_view(struct format_kit *k, const void *bytes, uint32_t len)
{
    void *dec = kit_instance(k->type->decoder_size);
    struct sr_format_open o = kit_open_args(k);
    struct sr_builder b;
    static struct sr_bad bad[SR_BAD_MAX];
    static uint32_t row_at[SR_BATCH_ROWS];
    ck_assert_int_eq(k->type->decode_open(dec, &o, &kit_err), SR_OK);
    ck_assert_int_eq(builder_open(&b, k->home, &k->host, &k->schema, NULL, &kit_err), SR_OK);
    struct sr_decode d = {.bytes = bytes, .len = len, .at_start = true, .at_end = true};
    d.out = &b;
    d.bad = bad;
    d.row_at = row_at;
    ck_assert_int_eq(k->type->decode(dec, &d, &kit_err), SR_OK);
    ck_assert_msg(d.bads == 0, "%s", bad[0].words);
    struct sr_view *v = NULL;
    ck_assert_int_eq(builder_seal(&b, &v, &kit_err), SR_OK);
    builder_close(&b);
    k->type->decode_close(dec);
    free(dec);
    return v;
}

void format_kit_check_encode(struct format_kit *k, const char *bytes, const char *text)
{
    struct sr_view *v = kit_view(k, bytes, (uint32_t)strlen(bytes));
    ck_assert_ptr_nonnull(v);
    size_t end[SR_BATCH_ROWS];
    struct sr_out out = kit_encode(k, v, end);
    ck_assert_msg(out.len == strlen(text) && memcmp(out.data, text, out.len) == 0,
                  "--- want\n%s--- got\n%.*s", text, (int)out.len, (const char *)out.data);
    bytes_free(&out);
    view_release(v);
}

static uint64_t kit_random(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Pieces that formats must quote, escape or leave alone. */
static void kit_random_text(struct format_kit *k, struct sr_column *c, uint32_t r, uint64_t *seed)
{
    static const char *const pieces[] = {"a",
                                         "\"",
                                         ",",
                                         "\n",
                                         "\r\n",
                                         " ",
                                         "\\",
                                         "\t",
                                         "NULL",
                                         "\xEF\xBB\xBF",
                                         "\xC3\xA9",
                                         "\xF0\x9F\x98\x80",
                                         "#",
                                         "'",
                                         "\x01",
                                         "{",
                                         "}",
                                         ";",
                                         "long text without anything odd"};
    char text[256];
    size_t n = 0;
    for (uint64_t i = kit_random(seed) % 6; i > 0; i--) {
        const char *p = pieces[kit_random(seed) % (sizeof(pieces) / sizeof(pieces[0]))];
        memcpy(text + n, p, strlen(p));
        n += strlen(p);
    }
    ck_assert(column_put_bytes(k->home, c, r, text, (uint32_t)n));
}

static int64_t kit_random_size(uint64_t *seed)
{
    uint64_t x = kit_random(seed);
    int64_t v = (int64_t)(x >> (x % 63));
    return kit_random(seed) % 2 ? v : -v;
}

static void kit_random_instant(struct sr_column *c, uint32_t r, uint64_t *seed)
{
    int64_t second = (int64_t)(kit_random(seed) % 253402300800u);
    int32_t unit = 1;
    for (int32_t i = c->type.length; i < 9; i++) {
        unit *= 10;
    }
    int32_t nano = (int32_t)(kit_random(seed) % 1000000000);
    nano -= nano % unit;
    if (sr_value_size(&c->type) == 16) {
        ((struct sr_instant *)c->values)[r] =
            (struct sr_instant){.ms = second * 1000 + nano / 1000000, .ns = nano % 1000000};
    } else {
        ((int64_t *)c->values)[r] = second * 1000000 + nano / 1000;
    }
}

static void kit_random_decimal(struct sr_column *c, uint32_t r, uint64_t *seed)
{
    __int128 limit = 1;
    for (int32_t i = 0; i < c->type.length; i++) {
        limit *= 10;
    }
    unsigned __int128 x = (unsigned __int128)kit_random(seed) << 64 | kit_random(seed);
    x >>= kit_random(seed) % 127;
    __int128 v = (__int128)(x % (unsigned __int128)limit);
    v = kit_random(seed) % 2 ? v : -v;
    if (c->type.length <= SR_DECIMAL_SMALL) {
        ((int64_t *)c->values)[r] = (int64_t)v;
    } else {
        ((struct sr_wide *)c->values)[r] =
            (struct sr_wide){.low = (uint64_t)v, .high = (int64_t)(v >> 64)};
    }
}

static void kit_random_value(struct format_kit *k, struct sr_column *c, uint32_t r, uint64_t *seed)
{
    void *v = c->values;
    double real = 0;
    uint64_t bits = kit_random(seed);
    switch (c->type.kind) {
    case SR_BOOLEAN:
        ((uint8_t *)v)[r] = bits & 1;
        break;
    case SR_TINYINT:
        ((int8_t *)v)[r] = (int8_t)bits;
        break;
    case SR_SMALLINT:
        ((int16_t *)v)[r] = (int16_t)bits;
        break;
    case SR_INT:
    case SR_INTERVAL_MONTH:
        ((int32_t *)v)[r] = (int32_t)bits;
        break;
    case SR_BIGINT:
    case SR_INTERVAL_SECOND:
        ((int64_t *)v)[r] = kit_random_size(seed);
        break;
    case SR_FLOAT:
        memcpy(&((float *)v)[r], &bits, 4);
        if (((float *)v)[r] != ((float *)v)[r]) {
            ((float *)v)[r] = -0.0f;
        }
        break;
    case SR_DOUBLE:
        memcpy(&real, &bits, 8);
        ((double *)v)[r] = real == real ? real : (double)kit_random_size(seed) / 100;
        break;
    case SR_DECIMAL:
        kit_random_decimal(c, r, seed);
        break;
    case SR_CHAR:
    case SR_VARCHAR:
        kit_random_text(k, c, r, seed);
        break;
    case SR_BINARY:
    case SR_VARBINARY:
        ck_assert(column_put_bytes(k->home, c, r, &bits, (uint32_t)(kit_random(seed) % 9)));
        break;
    case SR_DATE:
        ((int32_t *)v)[r] = (int32_t)(bits % 2932897);
        break;
    case SR_TIME:
        ((int32_t *)v)[r] = (int32_t)(bits % 86400) * 1000;
        break;
    case SR_TIMESTAMP:
    case SR_TIMESTAMP_LTZ:
        kit_random_instant(c, r, seed);
        break;
    case SR_ARRAY:
    case SR_MAP:
    case SR_MULTISET:
    case SR_ROW:
    case SR_NULL:
    case SR_VARIANT:
    case SR_KIND_COUNT:
        ck_abort_msg("the kit makes no such values");
    }
}

static struct sr_view *kit_random_view(struct format_kit *k, uint64_t seed)
{
    struct sr_view *v = view_new(k->home, k->schema.fields);
    v->rows = v->picked = 1 + (uint32_t)(kit_random(&seed) % 40);
    for (uint32_t c = 0; c < v->cols; c++) {
        const struct sr_type *t = &k->schema.field[c].type;
        v->col[c] = column_new(k->home, t, SR_BATCH_ROWS);
        v->col[c]->rows = v->rows;
        for (uint32_t r = 0; r < v->rows; r++) {
            /* NULL of a text column may read back as '' (csv): that is each format's own test. */
            bool may_be_null = t->is_nullable && !sr_is_text(t->kind);
            if (may_be_null && kit_random(&seed) % 6 == 0) {
                column_set_null(v->col[c], r);
            } else {
                kit_random_value(k, v->col[c], r, &seed);
            }
        }
    }
    return v;
}

void format_kit_check_round_trip(struct format_kit *k, uint64_t seed)
{
    struct sr_view *v = kit_random_view(k, seed);
    size_t end[SR_BATCH_ROWS];
    struct sr_out out = kit_encode(k, v, end);
    ck_assert_uint_eq(end[v->picked - 1], out.len);
    struct sr_view *w = kit_view(k, out.data, (uint32_t)out.len);
    ck_assert_uint_eq(w->rows, v->rows);
    for (uint32_t r = 0; r < v->rows; r++) {
        for (uint32_t c = 0; c < v->cols; c++) {
            char *text[2];
            size_t size[2];
            for (int i = 0; i < 2; i++) {
                FILE *f = open_memstream(&text[i], &size[i]);
                kit_show_value(f, i == 0 ? v->col[c] : w->col[c], r);
                fclose(f);
            }
            ck_assert_msg(size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0,
                          "seed %llu, row %u, column %s: %s became %s in\n%.*s",
                          (unsigned long long)seed, r, k->schema.field[c].name, text[0], text[1],
                          (int)out.len, (const char *)out.data);
            free(text[0]);
            free(text[1]);
        }
    }
    /* Each end is one: what stands before it is that many rows. */
    for (uint32_t r = 0; r < v->rows; r += 7) {
        struct sr_view *part = kit_view(k, out.data, (uint32_t)end[r]);
        ck_assert_uint_eq(part->rows, r + 1);
        view_release(part);
    }
    bytes_free(&out);
    view_release(v);
    view_release(w);
}
