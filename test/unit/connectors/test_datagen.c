/* datagen: the same rows however they are read, and options that are looked at before anything
 * runs. */
#include "test/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <streamrun/plugin.h>

#include "connectors/datagen/datagen_value.h"
#include "engine/data/builder.h"
#include "test/kit/source_kit.h"

extern const struct sr_plugin sr_plugin_datagen;

static const struct sr_source_type *type_of(void) { return sr_plugin_datagen.sources[0]; }

/* Options in pairs: key, value, ..., NULL. */
static struct datagen_conf conf_of(const char *const *pairs)
{
    static const char *key[16], *value[16];
    uint32_t n = 0;
    for (; pairs[2 * n]; n++) {
        key[n] = pairs[2 * n];
        value[n] = pairs[2 * n + 1];
    }
    return (struct datagen_conf){.rows_per_second = 1000000000,
                                 .fields = {.count = n, .key = key, .value = value}};
}

START_TEST(datagen_keeps_the_promises_of_sources)
{
    static const char *const sequence[] = {"line.kind", "sequence", "line.start", "-3",
                                           "line.end",  "40",       NULL};
    static const char *const random[] = {
        "line.length", "12", "line.null-rate", "0.0", "line.var-len", "true", NULL};
    struct stage s;
    stage_open(&s);
    struct datagen_conf conf = conf_of(sequence);
    struct source_kit k = {
        .stage = &s, .type = type_of(), .conf = &conf, .makes_rows = true, .splits_vary = true};
    source_kit_check(&k);
    char want[1024] = "";
    for (int i = -3; i <= 40; i++) {
        snprintf(want + strlen(want), sizeof(want) - strlen(want), "rows-00000\t%d\n", i);
    }
    ck_assert_str_eq(source_kit_read(&k, 1, 10), want);
    conf = conf_of(random);
    conf.rows = 37;
    source_kit_check(&k);
    const char *one = source_kit_read(&k, 1, 10);
    conf.seed = 1;
    ck_assert_str_ne(source_kit_read(&k, 1, 10), one);
    stage_close(&s);
}
END_TEST

/* One column of a type, filled with `rows` rows; the view is the caller's. */
static struct sr_view *column_of(struct stage *s, struct sr_type type, const char *const *pairs,
                                 uint32_t rows)
{
    struct sr_error err;
    type.is_nullable = true;
    struct sr_field f = {"c", type};
    struct sr_schema schema = {.fields = 1, .field = &f, .rowtime = -1};
    struct datagen_conf conf = conf_of(pairs);
    struct datagen_field *field = NULL;
    int64_t all = 0;
    sr_rc rc = datagen_fields(&conf, &schema, &field, &all, &err);
    ck_assert_msg(rc == SR_OK, "%s", err.words);
    struct sr_builder b = {0};
    ck_assert_int_eq(builder_open(&b, s->home, &s->host, &schema, NULL, &err), SR_OK);
    for (uint32_t i = 0; i < rows; i++) {
        (void)datagen_put(field, &b, 0, i, INT64_C(1700000000123456));
        sr_row_done(&b);
    }
    struct sr_view *v = NULL;
    ck_assert_int_eq(builder_seal(&b, &v, &err), SR_OK);
    builder_close(&b);
    free(field);
    return v;
}

START_TEST(values_lie_in_their_ranges)
{
    struct stage s;
    stage_open(&s);
    static const char *const small[] = {"c.min", "-5", "c.max", "5", "c.null-rate", "0.25", NULL};
    struct sr_view *v = column_of(&s, (struct sr_type){.kind = SR_INT}, small, 1000);
    uint32_t seen[11] = {0}, nulls = 0;
    for (uint32_t r = 0; r < 1000; r++) {
        if (!sr_is_valid(v->col[0], r)) {
            nulls++;
            continue;
        }
        int32_t x = ((int32_t *)v->col[0]->values)[r];
        ck_assert(x >= -5 && x <= 5);
        seen[x + 5]++;
    }
    ck_assert(nulls > 180 && nulls < 320);
    for (uint32_t i = 0; i < 11; i++) {
        ck_assert(seen[i] > 30 && seen[i] < 110);
    }
    view_release(v);
    static const char *const none[] = {NULL};
    v = column_of(&s, (struct sr_type){.kind = SR_TINYINT}, none, 1000);
    bool has_min = false, has_max = false;
    for (uint32_t r = 0; r < 1000; r++) {
        has_min = has_min || ((int8_t *)v->col[0]->values)[r] < -100;
        has_max = has_max || ((int8_t *)v->col[0]->values)[r] > 100;
    }
    ck_assert(has_min && has_max);
    view_release(v);
    static const char *const money[] = {"c.min", "-10", "c.max", "1E40", NULL};
    v = column_of(&s, (struct sr_type){.kind = SR_DECIMAL, .length = 6, .scale = 2}, money, 1000);
    for (uint32_t r = 0; r < 1000; r++) {
        int64_t x = ((int64_t *)v->col[0]->values)[r];
        ck_assert(x >= -1000 && x <= 999999);
    }
    view_release(v);
    static const char *const past[] = {"c.max-past", "1 s", NULL};
    v = column_of(&s, (struct sr_type){.kind = SR_TIMESTAMP, .length = 3}, past, 1000);
    for (uint32_t r = 0; r < 1000; r++) {
        int64_t x = ((int64_t *)v->col[0]->values)[r];
        ck_assert(x <= INT64_C(1700000000123000) && x >= INT64_C(1699999999123000));
    }
    view_release(v);
    stage_close(&s);
}
END_TEST

static const char *fault_of(struct sr_type type, const char *key, const char *value)
{
    static struct sr_error err;
    const char *pairs[] = {key, value, NULL};
    struct sr_field f = {"a.b", type};
    struct sr_schema schema = {.fields = 1, .field = &f, .rowtime = -1};
    struct datagen_conf conf = conf_of(pairs);
    struct sr_source_caps caps;
    err.words[0] = 0;
    sr_rc rc = type_of()->check(&conf, &schema, &caps, &err);
    ck_assert_int_eq(rc, err.words[0] ? SR_ECONFIG : SR_OK);
    return err.words;
}

START_TEST(options_that_do_not_fit_are_said)
{
    const struct sr_type number = {.kind = SR_TINYINT, .is_nullable = true};
    const struct sr_type text = {.kind = SR_VARCHAR, .is_nullable = true, .length = 20};
    const struct sr_type date = {.kind = SR_DATE};
    ck_assert_str_eq(fault_of(number, "a.b.min", "-128"), "");
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.b.min", "-129"), "out of range"));
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.b.min", "x"), "no whole number"));
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.c.min", "1"), "no column"));
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.b.mni", "1"), "no option"));
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.b.length", "1"), "not for random"));
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.b.kind", "sequence"), "start and end"));
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.b.kind", "s"), "neither"));
    ck_assert_ptr_nonnull(strstr(fault_of(number, "a.b.null-rate", "1.5"), "share"));
    ck_assert_str_eq(fault_of(text, "a.b.length", "20"), "");
    ck_assert_ptr_nonnull(strstr(fault_of(text, "a.b.length", "21"), "out of range"));
    ck_assert_ptr_nonnull(strstr(fault_of(text, "a.b.end", "2"), "not for random"));
    ck_assert_ptr_nonnull(strstr(fault_of(date, "a.b.kind", "sequence"), "not for this type"));
    ck_assert_ptr_nonnull(strstr(fault_of(date, "a.b.null-rate", "0.5"), "NOT NULL"));
}
END_TEST

/* What is inside a column is made too, each at its own place: fields.f.element.min and so on. */
START_TEST(nested_values_are_made_of_their_parts)
{
    struct stage s;
    stage_open(&s);
    const struct sr_field digit[] = {{"", {.kind = SR_INT, .is_nullable = true}}};
    const struct sr_type array = {.kind = SR_ARRAY, .children = 1, .child = digit};
    static const char *const few[] = {"c.length",
                                      "4",
                                      "c.element.min",
                                      "7",
                                      "c.element.max",
                                      "9",
                                      "c.null-rate",
                                      "0.2",
                                      "c.element.null-rate",
                                      "0.2",
                                      NULL};
    struct sr_view *v = column_of(&s, array, few, 500);
    const struct sr_column *in = v->col[0]->child[0];
    uint32_t nulls = 0, at = 0, inner_nulls = 0;
    for (uint32_t r = 0; r < 500; r++) {
        struct sr_span span = ((const struct sr_span *)v->col[0]->values)[r];
        nulls += !sr_is_valid(v->col[0], r);
        ck_assert(!sr_is_valid(v->col[0], r) || (span.at == at && span.len == 4));
        at += sr_is_valid(v->col[0], r) ? 4 : 0;
    }
    for (uint32_t e = 0; e < at; e++) {
        int32_t x = ((const int32_t *)in->values)[e];
        inner_nulls += !sr_is_valid(in, e);
        ck_assert(!sr_is_valid(in, e) || (x >= 7 && x <= 9));
    }
    ck_assert(nulls > 60 && nulls < 140 && inner_nulls > at / 8 && inner_nulls < at / 3);
    view_release(v);
    const struct sr_field pair[] = {{"", {.kind = SR_TINYINT, .is_nullable = true}},
                                    {"", {.kind = SR_BOOLEAN, .is_nullable = true}}};
    const struct sr_type map = {.kind = SR_MAP, .children = 2, .child = pair};
    static const char *const keys[] = {"c.length", "5", "c.key.min", "1", "c.key.max", "3", NULL};
    v = column_of(&s, map, keys, 500);
    for (uint32_t r = 0; r < 500; r++) { /* of a key that is drawn again there is one */
        struct sr_span span = ((const struct sr_span *)v->col[0]->values)[r];
        uint32_t seen = 0;
        for (uint32_t e = span.at; e < span.at + span.len; e++) {
            uint32_t bit = 1u << ((const int8_t *)v->col[0]->child[0]->values)[e];
            ck_assert(!(seen & bit));
            seen |= bit;
        }
        ck_assert(span.len >= 1 && span.len <= 3 && (seen & ~14u) == 0);
    }
    view_release(v);
    stage_close(&s);
}
END_TEST

/* Of each element that a MULTISET has there are 1 to 10. */
START_TEST(multisets_have_some_of_each)
{
    struct stage s;
    stage_open(&s);
    const struct sr_field word[] = {{"", {.kind = SR_VARCHAR, .is_nullable = true, .length = 3}}};
    const struct sr_type bag = {.kind = SR_MULTISET, .children = 1, .child = word};
    static const char *const none[] = {NULL};
    struct sr_view *v = column_of(&s, bag, none, 300);
    const struct sr_column *in = v->col[0]->child[0];
    for (uint32_t r = 0; r < 300; r++) {
        struct sr_span span = ((const struct sr_span *)v->col[0]->values)[r];
        ck_assert_uint_le(span.len, 30);
        uint32_t times = 0, different = 0;
        for (uint32_t e = span.at; e < span.at + span.len; e++) {
            const struct sr_span *text = in->values;
            bool is_same = e > span.at && memcmp(in->bytes->data + text[e].at,
                                                 in->bytes->data + text[e - 1].at, 3) == 0;
            times = is_same ? times + 1 : 1;
            different += !is_same;
            ck_assert(text[e].len == 3 && times <= 10);
        }
        ck_assert_uint_le(different, 3);
    }
    view_release(v);
    stage_close(&s);
}
END_TEST

START_TEST(options_of_what_is_inside_are_looked_at)
{
    const struct sr_field inside[] = {
        {"length", {.kind = SR_INT, .is_nullable = true}},
        {"t", {.kind = SR_VARCHAR, .is_nullable = true, .length = SR_LENGTH_MAX}}};
    const struct sr_field row[] = {{"", {.kind = SR_ROW, .children = 2, .child = inside}}};
    const struct sr_type rows = {.kind = SR_ARRAY, .children = 1, .child = row};
    const struct sr_field pair[] = {{"", {.kind = SR_INT, .is_nullable = true}}, row[0]};
    const struct sr_type map = {.kind = SR_MAP, .children = 2, .child = pair};
    ck_assert_str_eq(fault_of(rows, "a.b.length", "0"), "");
    ck_assert_str_eq(fault_of(rows, "a.b.element.length.max", "5"), "");
    ck_assert_str_eq(fault_of(rows, "a.b.element.t.length", "5"), "");
    ck_assert_str_eq(fault_of(map, "a.b.value.length.min", "5"), "");
    ck_assert_ptr_nonnull(strstr(fault_of(rows, "a.b.min", "1"), "not for random"));
    ck_assert_ptr_nonnull(strstr(fault_of(rows, "a.b.kind", "sequence"), "not for this type"));
    ck_assert_ptr_nonnull(strstr(fault_of(rows, "a.b.elements.t", "5"), "no option"));
    ck_assert_ptr_nonnull(strstr(fault_of(rows, "a.b.element.length", "5"), "not for random"));
    ck_assert_ptr_nonnull(strstr(fault_of(map, "a.b.key.kind", "random"), "is random"));
    ck_assert_ptr_nonnull(strstr(fault_of(map, "a.b.key.null-rate", "0.1"), "keys of a MAP"));
    ck_assert_str_eq(fault_of(map, "a.b.key.max", "-2147483648"), "");
    ck_assert_str_eq(fault_of(rows, "a.b.element.length.min", "2147483647"), "");
    const char *words = fault_of(rows, "a.b.length", "1048576");
    ck_assert_ptr_nonnull(strstr(words, "fields.a.b.element.t: "));
    ck_assert_ptr_nonnull(strstr(words, "more than 64 MiB"));
}
END_TEST

UNIT_MAIN("datagen", datagen_keeps_the_promises_of_sources, values_lie_in_their_ranges,
          options_that_do_not_fit_are_said, nested_values_are_made_of_their_parts,
          multisets_have_some_of_each, options_of_what_is_inside_are_looked_at)
