#include <stdio.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/json/cdc.h"
#include "engine/base/bytes.h"
#include "test/kit/format_kit.h"
#include "test/unit/unit.h"

extern const struct sr_plugin sr_plugin_json;

static struct format_kit k;
static struct cdc_conf *conf;
static struct sr_error err;
static const struct sr_format_type *type;

static void set_up(const char *name)
{
    type = NULL;
    for (const struct sr_format_type *const *f = sr_plugin_json.formats; *f; f++) {
        type = strcmp((*f)->name, name) == 0 ? *f : type;
    }
    ck_assert_ptr_nonnull(type);
    conf = format_kit_conf(type);
}

static void open_kit(const char *columns)
{
    format_kit_open(&k, type, conf, columns);
    uint32_t flags = 0;
    sr_rc rc = type->check(conf, &k.schema, false, &flags, &err);
    ck_assert_msg(rc == SR_OK, "%s", err.words);
    ck_assert_uint_eq(flags, SR_FORMAT_LINES | SR_FORMAT_RESYNC | SR_FORMAT_CHANGES);
}

static void close_kit(void)
{
    format_kit_close(&k);
    free(conf);
}

static void expect(const char *text, const char *rows)
{
    format_kit_check_values(&k, text, rows);
    format_kit_check_feeds(&k, text, (uint32_t)strlen(text));
    format_kit_check_wanted(&k, text, (uint32_t)strlen(text));
}

START_TEST(debezium_and_ogg_bring_both_rows_of_an_update)
{
    set_up("debezium-json");
    open_kit("id INT, s STRING, a ARRAY<INT>");
    expect(
        "{\"before\":null,\"after\":{\"id\":1,\"s\":\"x\",\"a\":[1]},\"op\":\"c\"}\n"
        "{\"op\":\"r\",\"source\":{\"before\":1,\"op\":\"d\"},\"after\":{\"a\":[],\"id\":2}}\n"
        "null\n\n"
        "{\"op\":\"u\",\"after\":{\"id\":1,\"s\":\"\\n\"},\"before\":{\"id\":1,\"s\":\"x\",\"a\":["
        "1,2]}}\n"
        "{\"\\u006fp\":\"\\u0064\",\"before\":{\"s\":\"y\",\"id\":2},\"after\":null,\"ts_ms\":5}\n"
        "{\"op\":\"c\",\"op\":\"u\",\"before\":{\"id\":1},\"after\":{},\"before\":{\"id\":7}}",
        "1|'x'|[1]\n2|NULL|[]\n1|'x'|[1, 2]|-U\n1|'\\x0a'|NULL|+U\n2|'y'|NULL|-D\n"
        "7|NULL|NULL|-U\nNULL|NULL|NULL|+U\n");
    close_kit();
    set_up("ogg-json");
    open_kit("id INT");
    expect("{\"op_type\":\"I\",\"after\":{\"id\":1}}\n"
           "{\"op_type\":\"U\",\"after\":{\"id\":2},\"before\":{\"id\":1}}\n"
           "{\"op_type\":\"D\",\"before\":{\"id\":2}}\n",
           "1\n1|-U\n2|+U\n2|-D\n");
    close_kit();
}
END_TEST

START_TEST(a_payload_may_stand_beside_its_schema)
{
    set_up("debezium-json");
    conf->has_schema = true;
    open_kit("id INT");
    expect(
        "{\"schema\":{\"op\":\"x\"},\"payload\":{\"op\":\"c\",\"after\":{\"id\":1}}}\n"
        "{\"payload\":{\"op\":\"u\",\"before\":{\"id\":1},\"after\":{\"id\":2}},\"schema\":null}\n"
        "{\"schema\":{},\"payload\":null}\n",
        "1\n1|-U\n2|+U\n");
    uint32_t flags = 0;
    ck_assert_int_eq(type->check(conf, &k.schema, true, &flags, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "schema-include is for reading"));
    close_kit();
}
END_TEST

START_TEST(maxwell_and_canal_bring_only_old_values_of_what_changed)
{
    set_up("maxwell-json");
    open_kit("id INT, s STRING, n INT");
    expect("{\"database\":\"d\",\"type\":\"insert\",\"data\":{\"id\":1,\"s\":\"a\",\"n\":5}}\n"
           "{\"type\":\"update\",\"data\":{\"id\":1,\"s\":\"b\",\"n\":null},\"old\":{\"s\":\"a\","
           "\"n\":5}}\n"
           "{\"old\":{\"n\":null},\"type\":\"update\",\"data\":{\"id\":1,\"s\":\"b\",\"n\":9}}\n"
           "{\"type\":\"update\",\"data\":{\"id\":1,\"s\":\"b\",\"n\":9},\"old\":{}}\n"
           "{\"type\":\"delete\",\"data\":{\"id\":1,\"s\":\"b\",\"n\":9}}\n",
           "1|'a'|5\n1|'a'|5|-U\n1|'b'|NULL|+U\n1|'b'|NULL|-U\n1|'b'|9|+U\n1|'b'|9|-U\n1|'b'|9|+U\n"
           "1|'b'|9|-D\n");
    close_kit();
    set_up("canal-json");
    open_kit("id INT, s STRING");
    expect("{\"type\":\"INSERT\",\"data\":[{\"id\":\"1\",\"s\":\"a\"},{\"id\":\"2\",\"s\":\"b\"}],"
           "\"old\":null}\n"
           "{\"type\":\"UPDATE\",\"data\":[{\"id\":1,\"s\":\"A\"},{\"id\":2,\"s\":\"B\"}],"
           "\"old\":[{\"s\":\"a\"},{\"s\":\"b\"}]}\n"
           "{\"type\":\"CREATE\",\"isDdl\":true,\"data\":null,\"sql\":\"CREATE TABLE t\"}\n"
           "{\"type\":\"ALTER\",\"isDdl\":true,\"data\":null}\n"
           "{\"type\":\"DELETE\",\"data\":[{\"id\":2,\"s\":\"B\"}]}\n"
           "{\"type\":\"INSERT\",\"data\":[]}\n",
           "1|'a'\n2|'b'\n1|'a'|-U\n1|'A'|+U\n2|'b'|-U\n2|'B'|+U\n2|'B'|-D\n");
    close_kit();
}
END_TEST

START_TEST(canal_can_leave_tables_out)
{
    set_up("canal-json");
    conf->database = "shop_.*";
    conf->table = "orders|items";
    open_kit("id INT");
    expect(
        "{\"database\":\"shop_1\",\"table\":\"orders\",\"type\":\"INSERT\",\"data\":[{\"id\":1}]}\n"
        "{\"database\":\"shop_2\",\"table\":\"order\",\"type\":\"INSERT\",\"data\":[{\"id\":2}]}\n"
        "{\"database\":\"my_shop_1\",\"table\":\"items\",\"type\":\"INSERT\",\"data\":[{\"id\":3}]}"
        "\n"
        "{\"type\":\"DELETE\",\"data\":[{\"id\":4}],\"table\":\"it\\u0065ms\",\"database\":\"shop_"
        "\"}\n",
        "1\n4|-D\n");
    format_kit_check_bad(
        &k,
        "{\"database\":\"shop_1\",\"table\":\"orders\",\"type\":\"INSERT\",\"data\":[{\"id\":1}]}",
        "{\"table\":\"orders\",\"type\":\"INSERT\",\"data\":[{\"id\":1}]}",
        "no 'database', which database.include needs");
    conf->table = "items(";
    uint32_t flags = 0;
    ck_assert_int_eq(type->check(conf, &k.schema, false, &flags, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "'items(' is no regular expression"));
    close_kit();
}
END_TEST

START_TEST(what_is_no_change_of_a_row_is_bad)
{
    static const char *const cases[][4] = {
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}",
         "{\"op\":\"x\",\"after\":{\"id\":1}}", "'op' is 'x', and not c, r, u or d"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}", "{\"after\":{\"id\":1}}",
         "the record has no 'op' that is text"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}",
         "{\"op\":\"u\",\"before\":null,\"after\":{\"id\":1}}",
         "an update has no 'before': REPLICA IDENTITY FULL makes PostgreSQL send it"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}", "{\"op\":\"d\"}",
         "a delete has no 'before'"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}", "{\"op\":\"c\",\"after\":[1]}",
         "an insert has no 'after' of the right type"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}",
         "{\"op\":\"u\",\"before\":{\"id\":1},\"after\":{\"id\":\"x\"}}",
         "column 'id': 'x' is not a value of type INT"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}",
         "{\"op\":\"c\",\"after\":{\"id\":1}}x", "nothing may follow"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}",
         "{\"op\":\"c\",\"after\":{\"id\":1},}", "a string is expected here"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}",
         "{\"op\":\"c\" \"after\":{\"id\":1}}", "',' or '}' is expected here"},
        {"debezium-json", "{\"op\":\"c\",\"after\":{\"id\":1}}",
         "[{\"op\":\"c\",\"after\":{\"id\":1}}]", "a record must be a JSON object"},
        {"maxwell-json", "{\"type\":\"insert\",\"data\":{\"id\":1}}",
         "{\"type\":\"update\",\"data\":{\"id\":1}}", "an update has no 'old'"},
        {"maxwell-json", "{\"type\":\"insert\",\"data\":{\"id\":1}}",
         "{\"type\":\"update\",\"data\":{\"id\":1},\"old\":{\"id\":1.5}}",
         "column 'id': '1.5' is not an integer"},
        {"maxwell-json", "{\"type\":\"insert\",\"data\":{\"id\":1}}",
         "{\"type\":\"bootstrap-start\",\"data\":{}}",
         "'type' is 'bootstrap-start', and not insert"},
        {"canal-json", "{\"type\":\"INSERT\",\"data\":[{\"id\":1}]}",
         "{\"type\":\"INSERT\",\"data\":{\"id\":1}}", "an insert has no 'data' of the right type"},
        {"canal-json", "{\"type\":\"INSERT\",\"data\":[{\"id\":1}]}",
         "{\"type\":\"INSERT\",\"data\":[{\"id\":1},2]}",
         "'data', or 'old', holds something that is not an object"},
        {"canal-json", "{\"type\":\"INSERT\",\"data\":[{\"id\":1}]}",
         "{\"type\":\"UPDATE\",\"data\":[{\"id\":1},{\"id\":2}],\"old\":[{}]}",
         "'old' has not as many rows as 'data'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set_up(cases[i][0]);
        open_kit("id INT");
        format_kit_check_bad(&k, cases[i][1], cases[i][2], cases[i][3]);
        conf->json.is_lenient = true;
        char text[1000];
        snprintf(text, sizeof(text), "%s\n%s\n%s\n", cases[i][1], cases[i][2], cases[i][1]);
        char *told = format_kit_decode(&k, text, (uint32_t)strlen(text), &(struct format_feed){0});
        ck_assert_ptr_null(strstr(told, "bad "));
        free(told);
        close_kit();
    }
}
END_TEST

START_TEST(an_update_is_written_as_a_delete_and_an_insert)
{
    static const char text[] =
        "{\"op\":\"c\",\"after\":{\"id\":1,\"s\":\"a\"}}\n"
        "{\"op\":\"u\",\"before\":{\"id\":1,\"s\":\"a\"},\"after\":{\"id\":1}}\n"
        "{\"op\":\"d\",\"before\":{\"id\":1}}\n";
    static const char want[] = "{\"before\":null,\"after\":{\"id\":1,\"s\":\"a\"},\"op\":\"c\"}\n"
                               "{\"before\":{\"id\":1,\"s\":\"a\"},\"after\":null,\"op\":\"d\"}\n"
                               "{\"before\":null,\"after\":{\"id\":1,\"s\":null},\"op\":\"c\"}\n"
                               "{\"before\":{\"id\":1,\"s\":null},\"after\":null,\"op\":\"d\"}\n";
    set_up("debezium-json");
    open_kit("id INT, s STRING");
    format_kit_check_encode(&k, text, want);
    format_kit_check_encode(&k, want, want);
    close_kit();
    set_up("debezium-json");
    conf->json.drops_nulls = true;
    open_kit("id INT, s STRING");
    format_kit_check_encode(
        &k, text,
        "{\"after\":{\"id\":1,\"s\":\"a\"},\"op\":\"c\"}\n"
        "{\"before\":{\"id\":1,\"s\":\"a\"},\"op\":\"d\"}\n"
        "{\"after\":{\"id\":1},\"op\":\"c\"}\n{\"before\":{\"id\":1},\"op\":\"d\"}\n");
    close_kit();
    static const char *const others[][2] = {
        {"maxwell-json",
         "{\"data\":{\"id\":1},\"type\":\"insert\"}\n{\"data\":{\"id\":1},\"type\":\"delete\"}\n"},
        {"canal-json", "{\"data\":[{\"id\":1}],\"type\":\"INSERT\"}\n{\"data\":[{\"id\":1}],"
                       "\"type\":\"DELETE\"}\n"},
        {"ogg-json", "{\"before\":null,\"after\":{\"id\":1},\"op_type\":\"I\"}\n"
                     "{\"before\":{\"id\":1},\"after\":null,\"op_type\":\"D\"}\n"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        set_up(others[i][0]);
        open_kit("id INT");
        format_kit_check_encode(&k, others[i][1], others[i][1]);
        close_kit();
    }
}
END_TEST

START_TEST(a_record_of_many_rows_goes_alone_or_is_refused)
{
    set_up("canal-json");
    open_kit("id INT");
    char *text = malloc(100000);
    for (uint32_t rows = SR_BATCH_ROWS / 2; rows <= SR_BATCH_ROWS / 2 + 1; rows++) {
        size_t n = (size_t)sprintf(text, "{\"type\":\"INSERT\",\"data\":[{\"id\":7}]}\n"
                                         "{\"type\":\"UPDATE\",\"data\":[");
        for (uint32_t i = 0; i < rows; i++) {
            n += (size_t)sprintf(text + n, "%s{\"id\":%u}", i ? "," : "", i);
        }
        n += (size_t)sprintf(text + n, "],\"old\":[");
        for (uint32_t i = 0; i < rows; i++) {
            n += (size_t)sprintf(text + n, "%s{}", i ? "," : "");
        }
        n += (size_t)sprintf(text + n, "]}\n");
        char *told = format_kit_decode(&k, text, (uint32_t)n, &(struct format_feed){0});
        bool fits = rows * 2 <= SR_BATCH_ROWS;
        ck_assert((strstr(told, "more rows than fit a batch") == NULL) == fits);
        ck_assert((strstr(told, "511|+U\n") != NULL) == fits);
        free(told);
    }
    free(text);
    close_kit();
}
END_TEST

UNIT_MAIN("cdc", debezium_and_ogg_bring_both_rows_of_an_update,
          a_payload_may_stand_beside_its_schema,
          maxwell_and_canal_bring_only_old_values_of_what_changed, canal_can_leave_tables_out,
          what_is_no_change_of_a_row_is_bad, an_update_is_written_as_a_delete_and_an_insert,
          a_record_of_many_rows_goes_alone_or_is_refused)
