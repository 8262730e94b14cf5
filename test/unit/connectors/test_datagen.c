/* datagen: the same rows however they are read, and options that are looked at before anything
 * runs. */
#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include <streamrun/plugin.h>

#include "connectors/datagen/datagen_field.h"
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
    struct datagen_field field;
    int64_t all = 0;
    sr_rc rc = datagen_fields(&conf, &schema, &field, &all, &err);
    ck_assert_msg(rc == SR_OK, "%s", err.words);
    struct sr_builder b = {0};
    ck_assert_int_eq(builder_open(&b, s->home, &s->host, &schema, NULL, &err), SR_OK);
    for (uint32_t i = 0; i < rows; i++) {
        (void)datagen_put(&field, &b, 0, i, INT64_C(1700000000123456));
        sr_row_done(&b);
    }
    struct sr_view *v = NULL;
    ck_assert_int_eq(builder_seal(&b, &v, &err), SR_OK);
    builder_close(&b);
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
    ck_assert_ptr_nonnull(
        strstr(fault_of((struct sr_type){.kind = SR_ARRAY}, "a.b.min", "1"), "does not make"));
}
END_TEST

UNIT_MAIN("datagen", datagen_keeps_the_promises_of_sources, values_lie_in_their_ranges,
          options_that_do_not_fit_are_said)
