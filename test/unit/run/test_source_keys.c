/* Records with keys: what a value and a key become together, and what becomes of those that cannot
 * be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

#include "test/unit/run/world.h"

#include "engine/run/source_task.h"

/* --- Records, each a key and a value ---------------------------------------------------------- */

#define RECORDS_MAX 64u

struct record {
    const char *key, *value; /* NULL: it has none */
};

struct reader {
    const struct record *record;
    uint32_t at, shown, count, per_poll;
    char bytes[4096];
    struct sr_span value[RECORDS_MAX], key[RECORDS_MAX];
    bool absent[RECORDS_MAX], keyless[RECORDS_MAX];
};

struct records {
    const struct record *record;
    uint32_t count, per_poll;
};

static sr_rc reader_discover_open(void *d, const struct sr_source_open *o, struct sr_error *err)
{
    (void)d, (void)o, (void)err;
    return SR_OK;
}

static enum sr_discovered reader_discover(void *d, struct sr_splits *out, struct sr_wait *wait,
                                          struct sr_error *err)
{
    (void)d, (void)wait, (void)err;
    struct sr_split split = {.id = "records", .note = {"", 0}};
    return out->add(out, &split) == SR_OK ? SR_DISCOVERED_ALL : SR_DISCOVER_FAILED;
}

static void reader_discover_close(void *d) { (void)d; }

static sr_rc reader_open(void *p, const struct sr_source_open *o, struct sr_error *err)
{
    (void)err;
    struct reader *r = p;
    const struct records *all = o->conf;
    ck_assert(o->wants_keys);
    r->record = all->record;
    r->count = all->count;
    r->per_poll = all->per_poll;
    return SR_OK;
}

static sr_rc reader_add(void *p, uint32_t number, const struct sr_split *split,
                        struct sr_error *err)
{
    (void)p, (void)number, (void)split, (void)err;
    return SR_OK;
}

static uint32_t reader_put(struct reader *r, const char *text, uint32_t *at, struct sr_span *span)
{
    uint32_t len = text ? (uint32_t)strlen(text) : 0;
    *span = (struct sr_span){*at, len};
    if (text) memcpy(r->bytes + *at, text, len);
    *at += len + 1;
    return len;
}

static enum sr_polled reader_poll(void *p, struct sr_poll *poll, struct sr_error *err)
{
    (void)err;
    struct reader *r = p;
    uint32_t at = 0;
    poll->split = 0;
    if (r->at == r->count) return SR_POLL_SPLIT_END;
    r->shown = r->count - r->at < r->per_poll ? r->count - r->at : r->per_poll;
    for (uint32_t i = 0; i < r->shown; i++) {
        const struct record *record = &r->record[r->at + i];
        (void)reader_put(r, record->key, &at, &r->key[i]);
        (void)reader_put(r, record->value, &at, &r->value[i]);
        r->absent[i] = !record->value;
        r->keyless[i] = !record->key;
    }
    poll->bytes = (const uint8_t *)r->bytes;
    poll->len = at;
    poll->record = r->value;
    poll->records = r->shown;
    poll->absent = r->absent;
    poll->key = r->key;
    poll->keyless = r->keyless;
    return SR_POLL_DATA;
}

static void reader_consume(void *p, uint32_t number, uint32_t used)
{
    (void)number;
    struct reader *r = p;
    ck_assert_uint_le(used, r->shown);
    r->at += used;
    r->shown -= used;
}

static sr_rc reader_position(void *p, uint32_t number, struct sr_out *note, struct sr_error *err)
{
    (void)p, (void)number, (void)note, (void)err;
    return SR_OK;
}

static void reader_close(void *p) { (void)p; }

static const struct sr_source_type reader_type = {.size = sizeof(reader_type),
                                                  .name = "records",
                                                  .discoverer_size = 1,
                                                  .reader_size = sizeof(struct reader),
                                                  .discover_open = reader_discover_open,
                                                  .discover = reader_discover,
                                                  .discover_close = reader_discover_close,
                                                  .open = reader_open,
                                                  .add = reader_add,
                                                  .poll = reader_poll,
                                                  .consume = reader_consume,
                                                  .position = reader_position,
                                                  .close = reader_close,
                                                  .has_keys = true};

/* --- A format: "5" is a row, "5+6" are two, "-" is none, anything else is bad ----------------- */

static sr_rc sums_open(void *dec, const struct sr_format_open *o, struct sr_error *err)
{
    (void)dec, (void)o, (void)err;
    return SR_OK;
}

static void sums_row(struct sr_decode *d, uint32_t record, long long number)
{
    d->row_at[d->out->rows] = record;
    sr_put_i64(d->out, 0, number);
    sr_row_done(d->out);
}

static sr_rc sums_decode(void *dec, struct sr_decode *d, struct sr_error *err)
{
    (void)dec, (void)err;
    for (; d->used < d->records && d->out->rows + 2 <= d->out->rows_max; d->used++) {
        char text[32], *end = NULL;
        const struct sr_span *span = &d->record[d->used];
        (void)snprintf(text, sizeof(text), "%.*s", (int)span->len,
                       (const char *)d->bytes + span->at);
        long long first = strtoll(text, &end, 10);
        if (strcmp(text, "-") == 0) {
            d->left_out++;
        } else if (end == text || (*end && *end != '+')) {
            if (d->bads == SR_BAD_MAX) return SR_OK;
            struct sr_bad *bad = &d->bad[d->bads++];
            *bad = (struct sr_bad){.at = span->at, .len = span->len, .row = d->out->rows};
            (void)snprintf(bad->words, sizeof(bad->words), "'%.20s' is no number", text);
        } else {
            sums_row(d, span->at, first);
            if (*end) sums_row(d, span->at, strtoll(end, NULL, 10));
        }
    }
    return SR_OK;
}

static void sums_close(void *dec) { (void)dec; }

static const struct sr_format_type sums_type = {.size = sizeof(sums_type),
                                                .name = "sums",
                                                .decode_open = sums_open,
                                                .decode = sums_decode,
                                                .decode_close = sums_close};

/* --- The source ------------------------------------------------------------------------------- */

/* Rows are (value, key). */
static const struct sr_field keyed_fields[] = {
    {.name = "v", .type = {.kind = SR_BIGINT, .is_nullable = true}},
    {.name = "k", .type = {.kind = SR_BIGINT, .is_nullable = true}}};
static const struct sr_schema keyed_rows = {.fields = 2, .field = keyed_fields, .rowtime = -1};
static const struct sr_schema keyed_value = {.fields = 1, .field = keyed_fields, .rowtime = -1};
static const uint32_t keyed_column[] = {1};

struct keyed {
    struct world w;
    struct records records;
    struct plan_keyed how;
    struct plan_node node;
    struct splits *pool;
    struct source source;
    struct sr_home *home;
    struct sr_error err;
    char got[2000]; /* "value/key " by row, with a minus before the value of -D */
};

static void keyed_number(const struct sr_column *c, uint32_t r, char *out, size_t room)
{
    long long number = ((const int64_t *)c->values)[r];
    (void)snprintf(out, room, sr_is_valid(c, r) ? "%lld" : "NULL", number);
}

static void keyed_keep(struct keyed *k, struct sr_view *v)
{
    SR_EACH_ROW(v, r) {
        char value[24], key[24];
        size_t at = strlen(k->got);
        keyed_number(v->col[0], r, value, sizeof(value));
        keyed_number(v->col[1], r, key, sizeof(key));
        (void)snprintf(k->got + at, sizeof(k->got) - at, "%s%s/%s ",
                       sr_change_of(v, r) == SR_DELETE ? "-" : "", value, key);
    }
    view_release(v);
}

/* All rows of the records, `per_poll` of them at a time; how it ended. */
static enum source_got keyed_run(struct keyed *k, const struct record *record, uint32_t count,
                                 uint32_t per_poll, bool is_upsert)
{
    enum job_on_error on_error = k->node.on_error;
    enum source_got got = SOURCE_DID;
    world_init(&k->w, 1);
    (void)world_plan(&k->w);
    k->got[0] = '\0';
    k->records = (struct records){record, count, per_poll};
    k->how = (struct plan_keyed){.how = {.key_format = &sums_type,
                                         .key = &keyed_value,
                                         .key_column = keyed_column,
                                         .value = &keyed_value},
                                 .key = keyed_value,
                                 .is_apart = true};
    k->node = (struct plan_node){.kind = PLAN_SOURCE,
                                 .uid = "in",
                                 .name = "in",
                                 .step = "in",
                                 .on_error = on_error,
                                 .source = &reader_type,
                                 .conf = &k->records,
                                 .source_caps = {.is_bounded = true, .upserts = is_upsert},
                                 .read = &keyed_rows,
                                 .brought = &keyed_rows,
                                 .valued = &keyed_value,
                                 .keyed = &k->how,
                                 .out = &keyed_rows,
                                 .format = &sums_type,
                                 .stamp = -1};
    k->home = home_new();
    ck_assert_int_eq(splits_new(&k->pool, &k->w.plan, &k->node, 1, &k->w.env, &k->err), SR_OK);
    struct source_conf conf = {.plan = &k->w.plan,
                               .node = &k->node,
                               .env = &k->w.env,
                               .home = k->home,
                               .pool = k->pool,
                               .parts = 1};
    ck_assert_int_eq(source_open(&k->source, &conf, &k->err), SR_OK);
    ck_assert_int_eq(splits_open(k->pool, &k->err), SR_OK);
    while (got != SOURCE_END && got != SOURCE_FAILED) {
        struct msg m;
        struct sr_wait wait;
        got = source_next(&k->source, 0, &m, &wait, &k->err);
        if (got == SOURCE_MSG && m.kind == MSG_VIEW) keyed_keep(k, m.view);
        ck_assert_int_ne(got, SOURCE_WAIT);
    }
    return got;
}

static void keyed_end(struct keyed *k)
{
    source_close(&k->source);
    splits_free(k->pool);
    home_close(k->home);
    world_done(&k->w);
}

/* Whatever a poll brings at once, these rows come, and so many are skipped. */
static void keyed_is(const struct record *record, uint32_t count, bool is_upsert, const char *rows,
                     int64_t skipped)
{
    for (uint32_t per_poll = 1; per_poll <= count; per_poll++) {
        static struct keyed k;
        k.node.on_error = JOB_SKIP;
        ck_assert_msg(keyed_run(&k, record, count, per_poll, is_upsert) == SOURCE_END, "%s",
                      k.err.words);
        struct counts n;
        counters_get(&k.source.count, &n);
        ck_assert_str_eq(k.got, rows);
        ck_assert_int_eq(n.value[COUNTER_skipped], skipped);
        keyed_end(&k);
    }
}

START_TEST(a_row_has_the_key_of_its_record)
{
    static const struct record records[] = {{"1", "10"}, {"2", "20"}, {NULL, "30"}, {NULL, "40"},
                                            {"5", "50"}, {"-", "60"}, {"7", "70"}};
    keyed_is(records, 7, false, "10/1 20/2 30/NULL 40/NULL 50/5 60/NULL 70/7 ", 0);
}
END_TEST

START_TEST(a_record_may_be_several_rows_or_none_and_each_has_its_key)
{
    static const struct record records[] = {
        {"1", "10+11"}, {"2", "-"}, {"3", "30+31"}, {NULL, "40+41"}, {"5", "50"}};
    keyed_is(records, 5, false, "10/1 11/1 30/3 31/3 40/NULL 41/NULL 50/5 ", 0);
}
END_TEST

START_TEST(a_key_that_cannot_be_read_is_a_bad_record_alone)
{
    static const struct record records[] = {{"x", "10"},   {"2", "20"},    {"3", "30"},
                                            {"y", "40"},   {"z", "50+51"}, {"6", "?"},
                                            {"1+2", "70"}, {"8", "80"},    {"x", "?"}};
    keyed_is(records, 9, false, "20/2 30/3 80/8 ", 6);
}
END_TEST

START_TEST(a_record_without_a_value_deletes_where_records_are_upserts)
{
    static const struct record records[] = {{"1", "10"}, {"1", NULL},  {"2", NULL}, {"2", "20"},
                                            {"x", NULL}, {NULL, "30"}, {"3", "-"},  {NULL, NULL}};
    keyed_is(records, 8, true, "10/1 -NULL/1 -NULL/2 20/2 ", 3);
    keyed_is(records, 6, false, "10/1 20/2 30/NULL ", 0); /* else it is no row, whatever its key */
}
END_TEST

START_TEST(the_first_bad_key_is_told_with_its_place)
{
    static const struct record records[] = {{"1", "10"}, {"2", "20"}, {"no", "30"}};
    static struct keyed k;
    k.node.on_error = JOB_FAIL;
    ck_assert_int_eq(keyed_run(&k, records, 3, 3, false), SOURCE_FAILED);
    ck_assert_int_eq(k.err.rc, SR_EDATA);
    ck_assert_msg(strstr(k.err.words, "key: 'no' is no number") != NULL, "%s", k.err.words);
    ck_assert_msg(strstr(k.err.words, "records") != NULL, "%s", k.err.words);
    keyed_end(&k);
}
END_TEST

UNIT_MAIN("source keys", a_row_has_the_key_of_its_record,
          a_record_may_be_several_rows_or_none_and_each_has_its_key,
          a_key_that_cannot_be_read_is_a_bad_record_alone,
          a_record_without_a_value_deletes_where_records_are_upserts,
          the_first_bad_key_is_told_with_its_place)
