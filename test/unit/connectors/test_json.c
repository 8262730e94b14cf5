#include <stdio.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/json/json.h"
#include "connectors/json/json_walk.h"
#include "engine/base/bytes.h"
#include "test/kit/format_kit.h"
#include "test/unit/unit.h"

extern const struct sr_plugin sr_plugin_json;

static struct format_kit k;
static struct json_conf *conf;
static struct sr_error err;

static void set_up(void) { conf = format_kit_conf(sr_plugin_json.formats[0]); }

static void open_kit(const char *columns)
{
    format_kit_open(&k, sr_plugin_json.formats[0], conf, columns);
    uint32_t flags = 0;
    sr_rc rc = k.type->check(conf, &k.schema, false, &flags, &err);
    ck_assert_msg(rc == SR_OK, "%s", err.words);
    ck_assert_uint_eq(flags, SR_FORMAT_LINES | SR_FORMAT_RESYNC);
}

static void close_kit(void)
{
    format_kit_close(&k);
    free(conf);
}

static void feeds(const char *text) { format_kit_check_feeds(&k, text, (uint32_t)strlen(text)); }

START_TEST(records_are_the_same_however_bytes_arrive)
{
    set_up();
    open_kit("id BIGINT, s STRING, d DOUBLE");
    k.room_min = 2;
    feeds("{\"id\":1,\"s\":\"a\",\"d\":0.5}\n{\"s\":\"x\\ny\",\"id\":2}\r\n \t\n\n"
          "{\"d\":1e3 , \"x\" : {\"id\":[7]}, \"id\" : 3}\n{\"id\":4}");
    feeds("{\"id\":1}\n{\"id\":\n2}\n{\"id\":3}\n");
    feeds("{\"id\":1}\n{\"s\":\"open}\n{\"id\":3}\n{\"id\":4,\"s\":\"\xff\"}\n{\"id\":5}\n");
    feeds("{\"s\":\"a\\n\"}\n{\"s\":\"open}\n{\"s\":\"\\u00e9\"}\n");
    feeds("[{\"id\":1},{\"id\":2}]\nnull\n[]\n{\"id\":3}\n");
    feeds("");
    feeds("\n\n");
    feeds("\xEF\xBB\xBF{\"id\":1}\n\xEF\xBB\xBF{\"id\":2}\n{\"id\":3}");
    feeds("\xEF\xBB\xBF");
    format_kit_check_values(&k, "\xEF\xBB\xBF\n{\"id\":1}", "1|NULL|NULL\n");
    close_kit();
}
END_TEST

START_TEST(values_are_exact_and_typed)
{
    static const char *const cases[][3] = {
        {"v BIGINT",
         "{\"v\":9223372036854775807}\n{\"v\":-9223372036854775808}\n{\"v\":9007199254740993}\n"
         "{\"v\":9.223372036854775807e18}\n{\"v\":922337203685477580.7e1}\n{\"v\":1e3}\n"
         "{\"v\":1.0}\n{\"v\":1E+2}\n{\"v\":0e5}\n{\"v\":\" 12 \"}\n{\"v\":null}\n{}\n",
         "9223372036854775807\n-9223372036854775808\n9007199254740993\n9223372036854775807\n"
         "9223372036854775807\n1000\n1\n100\n0\n12\nNULL\nNULL\n"},
        {"v DECIMAL(38, 2)", "{\"v\":0.1}\n{\"v\":1.005}\n{\"v\":\"2.5\"}\n{\"v\":-1e2}\n",
         "0:10\n0:101\n0:250\n-1:18446744073709541616\n"},
        {"v DOUBLE",
         "{\"v\":0.072}\n{\"v\":-0.0}\n{\"v\":5e-324}\n{\"v\":1.7976931348623157e308}\n"
         "{\"v\":\"NaN\"}\n{\"v\":3}\n{\"v\":2.225073858507201e-308}\n",
         "0.071999999999999995\n-0\n4.9406564584124654e-324\n1.7976931348623157e+308\nnan\n3\n"
         "2.2250738585072009e-308\n"},
        {"v STRING",
         "{\"v\":\"a\\\"b\\\\c\\/\\b\\f\\n\\r\\t\"}\n{\"v\":\"\\u00e9\\ud83d\\ude00\\u0000\"}\n"
         "{\"v\":12.50}\n{\"v\":true}\n{\"v\":{ \"a\" : [1, \"x \\\" y\"] }}\n{\"v\":[]}\n"
         "{\"v\":\"\"}\n{\"v\":null}\n",
         "'a\"b\\c/\\x08\\x0c\\x0a\\x0d\\x09'\n'\xC3\xA9\xF0\x9F\x98\x80\\x00'\n'12.50'\n'true'\n"
         "'{\"a\":[1,\"x \\\" y\"]}'\n'[]'\n''\nNULL\n"},
        {"v BOOLEAN", "{\"v\":true}\n{\"v\":false}\n{\"v\":\"TRUE\"}\n", "1\n0\n1\n"},
        {"v BYTES", "{\"v\":\"AQID\"}\n{\"v\":\"\"}\n", "'\\x01\\x02\\x03'\n''\n"},
        {"v TIMESTAMP(3), d DATE, t TIME(0)",
         "{\"v\":\"1970-01-01 00:00:00.5\",\"d\":\"1970-01-02\",\"t\":\"00:00:01\"}\n",
         "500000|1|1000\n"},
        {"v TIMESTAMP_LTZ(9)", "{\"v\":\"1970-01-01 00:00:00.000000001Z\"}\n", "0+1\n"},
        {"v INT, w INT", "{\"v\":1,\"w\":2,\"v\":3}\n{\"v\":null,\"v\":4}\n{\"\\u0076\":5}\n",
         "3|2\n4|NULL\n5|NULL\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set_up();
        open_kit(cases[i][0]);
        format_kit_check_values(&k, cases[i][1], cases[i][2]);
        feeds(cases[i][1]);
        close_kit();
    }
}
END_TEST

START_TEST(nested_values_go_to_nested_columns)
{
    static const char *const cases[][3] = {
        {"v ROW<a INT, b STRING, c ROW<d DOUBLE>>",
         "{\"v\":{\"b\":\"x\",\"z\":[{}],\"a\":1,\"c\":{\"d\":0.5}}}\n{\"v\":{}}\n{\"v\":null}\n{}"
         "\n"
         "{\"v\":{\"a\":1,\"a\":2,\"c\":{\"d\":1},\"c\":{}}}\n"
         "{\"v\":{\"a\":null},\"v\":{\"\\u0061\":3,\"c\":null}}\n"
         "{\"v\":{\"a\":9,\"b\":\"y\",\"c\":{\"d\":9}},\"v\":null}\n",
         "(1, 'x', (0.5))\n(NULL, NULL, NULL)\nNULL\nNULL\n(2, NULL, (NULL))\n(3, NULL, NULL)\n"
         "NULL\n"},
        {"v ARRAY<INT>, w ARRAY<ARRAY<STRING>>",
         "{\"v\":[1,2,null,4]}\n{\"v\":[],\"w\":[[\"a\\n\",\"b\"],[],null,[null,\"c\"]]}\n"
         "{\"w\":[[\"x\"]],\"v\":[7],\"w\":[[],[\"y\",\"z\"]]}\n{\"v\":[\"8\"]}\n",
         "[1, 2, NULL, 4]|NULL\n[]|[['a\\x0a', 'b'], [], NULL, [NULL, 'c']]\n"
         "[7]|[[], ['y', 'z']]\n[8]|NULL\n"},
        {"v MAP<STRING, BIGINT>, w MAP<STRING, ARRAY<ROW<k STRING>>>",
         "{\"v\":{\"a\":1,\"b\":null}}\n{\"v\":{}}\n{\"v\":{\"a\":1,\"b\":2,\"\\u0061\":3}}\n"
         "{\"v\":{\"a\":1,\"a\":null,\"b\":2},\"w\":{\"q\":[{\"k\":\"1\"},null],\"r\":null,\"q\":[]"
         "}}\n"
         "{\"w\":{\"p\":[{}]}}\n",
         "{'a': 1, 'b': NULL}|NULL\n{}|NULL\n{'b': 2, 'a': 3}|NULL\n"
         "{'a': NULL, 'b': 2}|{'r': NULL, 'q': []}\nNULL|{'p': [(NULL)]}\n"},
        {"v ARRAY<ROW<a STRING, b DECIMAL(30, 2)>>, t ROW<ts TIMESTAMP(3), raw STRING>",
         "{\"v\":[{\"b\":1.5,\"a\":\"\"},{}],\"t\":{\"ts\":\"1970-01-01 00:00:01\",\"raw\":{ \"x\" "
         ": 1 }}}\n",
         "[('', 0:150), (NULL, NULL)]|(1000000, '{\"x\":1}')\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set_up();
        open_kit(cases[i][0]);
        format_kit_check_values(&k, cases[i][1], cases[i][2]);
        feeds(cases[i][1]);
        format_kit_check_wanted(&k, cases[i][1], (uint32_t)strlen(cases[i][1]));
        close_kit();
    }
}
END_TEST

START_TEST(nested_values_are_written_as_they_were_read)
{
    static const char text[] = "{\"r\":{\"a\":1,\"b\":[\"x\",null,\"\\\"\"]},\"m\":{\"k\":{\"x\":1."
                               "5},\"l\":null},\"n\":[[],[0,-1],null]}\n"
                               "{\"r\":{\"a\":null,\"b\":null},\"m\":{},\"n\":[]}\n"
                               "{\"r\":null,\"m\":null,\"n\":null}\n";
    set_up();
    open_kit("r ROW<a INT, b ARRAY<STRING>>, m MAP<STRING, ROW<x DOUBLE>>, n ARRAY<ARRAY<INT>>");
    format_kit_check_encode(&k, text, text);
    close_kit();
    set_up();
    conf->drops_nulls = true;
    open_kit("r ROW<a INT, b ARRAY<STRING>>, m MAP<STRING, ROW<x DOUBLE>>, n ARRAY<ARRAY<INT>>");
    format_kit_check_encode(
        &k, text,
        "{\"r\":{\"a\":1,\"b\":[\"x\",null,\"\\\"\"]},\"m\":{\"k\":{\"x\":1.5},\"l\":null},"
        "\"n\":[[],[0,-1],null]}\n{\"r\":{},\"m\":{},\"n\":[]}\n{}\n");
    close_kit();
}
END_TEST

START_TEST(what_is_wrong_inside_has_its_path)
{
    set_up();
    open_kit("r ROW<a INT NOT NULL, b ARRAY<ROW<c DATE>>>, m MAP<STRING, INT>, x INT");
    k.room_min = 2;
    static const char *const cases[][2] = {
        {"{\"r\":{\"a\":\"x\"}}", "column 'r.a': 'x' is not a value of type INT"},
        {"{\"r\":{\"a\":null}}", "column 'r.a' is NOT NULL"},
        {"{\"r\":{}}", "column 'r.a' is NOT NULL"},
        {"{\"r\":{\"a\":1,\"b\":[null,{\"c\":\"2020\"}]}}", "column 'r.b[1].c': '2020' is not a"},
        {"{\"r\":{\"a\":1,\"b\":[7]}}", "column 'r.b[0]': '7' is not a value of type ROW"},
        {"{\"r\":[1]}", "column 'r': '[1]' is not a value of type ROW"},
        {"{\"r\":\"{}\"}", "column 'r': '{}' is not a value of type ROW"},
        {"{\"m\":{\"k\":1,\"l\":1.5}}", "column 'm[1]': '1.5' is not an integer"},
        {"{\"m\":{\"k\":1,}}", "a string is expected here"},
        {"{\"r\":{\"x\" 1}}", "':' is expected here"},
        {"{\"m\":{\"k\" 1}}", "':' is expected here"},
        {"{\"m\":{\"\\ud800\":1}}", "half a surrogate pair"},
        {"{\"m\":{\"k\":1 \"l\":2}}", "',' or '}' is expected here"},
        {"{\"r\":{\"a\":1,\"b\":[{} {}]}}", "',' or ']' is expected here"},
        {"{\"r\":{\"a\":1,\"b\":[{},]}}", "this is not a value"},
        {"{\"r\":{\"a\":1", "',' or '}' is expected here"},
        {"{\"r\":{\"a\":1,\"b\":[", "the text ends too early"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        format_kit_check_bad(&k, "{\"r\":{\"a\":1,\"b\":[{\"c\":\"2020-01-01\"}]},\"m\":{\"a\":1}}",
                             cases[i][0], cases[i][1]);
    }
    close_kit();
    set_up();
    conf->is_lenient = true;
    open_kit("r ROW<a INT, b ARRAY<ROW<c DATE>>>, m MAP<STRING, INT>");
    format_kit_check_values(&k,
                            "{\"r\":{\"a\":\"x\",\"b\":[{\"c\":\"?\"},1,[]]},\"m\":[1,[2],{}]}\n"
                            "{\"r\":1,\"m\":{\"k\":\"y\"}}\n",
                            "(NULL, [(NULL), NULL, NULL])|NULL\nNULL|{'k': NULL}\n");
    close_kit();
}
END_TEST

/* A MAP of many keys, of which many come again: the last ones count, in any number. */
START_TEST(keys_of_a_map_that_come_twice_are_one)
{
    set_up();
    open_kit("m MAP<STRING, ROW<n INT, a ARRAY<INT>>>");
    enum { KEYS = 3000 };
    char *text = malloc(KEYS * 64 + 100), *want = malloc(KEYS * 64 + 100);
    for (uint32_t count = 11; count <= KEYS; count = count * 16 - 1) {
        size_t n = (size_t)sprintf(text, "{\"m\":{");
        size_t m = (size_t)sprintf(want, "{");
        for (uint32_t i = 0; i < count; i++) {
            n += (size_t)sprintf(text + n, "%s\"k%u\":{\"n\":%u,\"a\":[%u]}", i ? "," : "",
                                 i % (count * 2 / 3), i, i);
            if (i + count * 2 / 3 >= count) {
                m += (size_t)sprintf(want + m, "%s'k%u': (%u, [%u])", m > 1 ? ", " : "",
                                     i % (count * 2 / 3), i, i);
            }
        }
        sprintf(text + n, "}}\n");
        sprintf(want + m, "}\n");
        format_kit_check_values(&k, text, want);
    }
    free(text);
    free(want);
    close_kit();
}
END_TEST

START_TEST(a_timestamp_standard_is_kept_to)
{
    set_up();
    open_kit("t TIMESTAMP(3)");
    format_kit_check_bad(&k, "{}", "{\"t\":\"2026-01-31T12:00:00\"}",
                         "(timestamp-format.standard: ISO-8601 takes a T)");
    close_kit();
    set_up();
    conf->stamp.index = JSON_STAMP_ISO;
    open_kit("t TIMESTAMP(3), z TIMESTAMP_LTZ(3)");
    const char *iso = "{\"t\":\"2026-01-31T12:00:00.123\",\"z\":\"2026-01-31T12:00:00Z\"}\n";
    format_kit_check_encode(&k, iso, iso);
    format_kit_check_bad(&k, "{}", "{\"t\":\"2026-01-31 12:00:00\"}",
                         "is not a value of type TIMESTAMP(3) (yyyy-MM-ddTHH:mm:ss[.fraction])");
    close_kit();
    set_up();
    conf->stamp.index = JSON_STAMP_ISO_OFFSET;
    open_kit("z TIMESTAMP_LTZ(3)");
    format_kit_check_values(
        &k, "{\"z\":\"1970-01-01T02:00:00+02:00\"}\n{\"z\":\"1970-01-01T00:00:00Z\"}\n", "0\n0\n");
    format_kit_check_encode(&k, "{\"z\":\"1970-01-01T00:00:00-00:30\"}\n",
                            "{\"z\":\"1970-01-01T00:30:00Z\"}\n");
    close_kit();
}
END_TEST

START_TEST(what_is_not_json_is_bad_and_eats_nobody)
{
    set_up();
    open_kit("v DOUBLE, n INT");
    k.room_min = 2;
    static const char *const cases[][2] = {
        {"{\"v\":-00.0}", "this is not a JSON number"},
        {"{\"v\":00e0}", "this is not a JSON number"},
        {"{\"v\":+1}", "this is not a value"},
        {"{\"v\":.5}", "this is not a value"},
        {"{\"v\":1.}", "this is not a JSON number"},
        {"{\"v\":0x1}", "this is not a JSON number"},
        {"{\"v\":1e}", "this is not a JSON number"},
        {"{\"v\":NaN}", "this is not a value"},
        {"{\"v\":-Infinity}", "this is not a JSON number"},
        {"{\"v\":tru}", "this is not a value"},
        {"{\"x\":tru}", "this is not a value"},
        {"{\"x\":[1,]}", "this is not a value"},
        {"{\"x\":[1 2]}", "',' or ']' is expected here"},
        {"{\"x\":{\"a\":1,}}", "a string is expected here"},
        {"{\"x\":{\"a\" 1}}", "':' is expected here"},
        {"{\"x\":\"\\07\"}", "this escape is not one of JSON's"},
        {"{\"x\":[\"\\uD800\"]}", "half a surrogate pair"},
        {"{\"\\udfff\":1}", "half a surrogate pair"},
        {"{\"v\":1,}", "a string is expected here"},
        {"{v:1}", "a string is expected here"},
        {"{'v':1}", "a string is expected here"},
        {"{\"v\" 1}", "':' is expected here"},
        {"{\"v\":1}x", "nothing may follow"},
        {"{\"v\":1}{\"v\":2}", "nothing may follow"},
        {"{\"v\":1", "',' or '}' is expected here"},
        {"{\"v\":", "the text ends too early"},
        {"{\"v\"", "':' is expected here"},
        {"{", "the text ends too early"},
        {"1", "a record must be a JSON object"},
        {"\"a\"", "a record must be a JSON object"},
        {"[1]", "a record must be a JSON object"},
        {"[{\"v\":1},{\"v\":x}]", "this is not a value"},
        {"// c", "a record must be a JSON object"},
        {"{\"x\":\"a\tb\"}", "a control character"},
        {"{\"x\":\"a}", "a string"},
        {"\xff\xfe{\"a\":1}", "not valid UTF-8"},
        {"{\"x\":\"\xED\xA0\x80\"}", "not valid UTF-8"},
        {"{\"n\":1.5}", "column 'n': '1.5' is not an integer, as INT needs"},
        {"{\"n\":2147483648}", "column 'n': '2147483648' is out of the range of INT"},
        {"{\"n\":123456789012345678901234567890}", "out of the range of INT"},
        {"{\"n\":true}", "column 'n': 'true' is not a value of type INT"},
        {"{\"n\":{}}", "column 'n': '{}' is not a value of type INT"},
        {"{\"n\":\"\"}", "column 'n': '' is not a value of type INT"},
        {"{\"v\":1e400}", "column 'v': '1e400' is out of the range of DOUBLE"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        format_kit_check_bad(&k, "{\"v\":1.5,\"n\":7}", cases[i][0], cases[i][1]);
    }
    close_kit();
}
END_TEST

START_TEST(nesting_has_a_limit_and_no_stack)
{
    set_up();
    open_kit("v INT");
    static char text[4000000];
    size_t n = (size_t)sprintf(text, "{\"x\":");
    memset(text + n, '[', 3000000);
    n += 3000000;
    n += (size_t)sprintf(text + n, "\n{\"v\":1}\n");
    struct format_feed whole = {0};
    char *told = format_kit_decode(&k, text, (uint32_t)n, &whole);
    ck_assert_ptr_nonnull(strstr(told, "values are nested too deeply"));
    ck_assert_ptr_nonnull(strstr(told, ": 1\n"));
    free(told);
    n = (size_t)sprintf(text, "{\"x\":");
    memset(text + n, '[', JSON_DEPTH_MAX);
    memset(text + n + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    n += 2 * JSON_DEPTH_MAX;
    n += (size_t)sprintf(text + n, ",\"v\":2}\n");
    text[n] = '\0';
    format_kit_check_values(&k, text, "2\n");
    close_kit();
}
END_TEST

START_TEST(an_array_is_a_row_each_or_none)
{
    set_up();
    open_kit("v INT");
    k.room_min = 3;
    format_kit_check_values(&k, "[{\"v\":1},{\"v\":2}]\n{\"v\":3}\n", "1\n2\n3\n");
    format_kit_check_bad(&k, "{\"v\":7}", "[{\"v\":1},{\"v\":null},{\"v\":\"x\"}]",
                         "column 'v': 'x' is not a value of type INT");
    static char text[40000];
    size_t n = (size_t)sprintf(text, "{\"v\":0}\n[");
    for (int i = 0; i < (int)SR_BATCH_ROWS; i++) {
        n += (size_t)sprintf(text + n, "%s{\"v\":1}", i ? "," : "");
    }
    n += (size_t)sprintf(text + n, "]\n");
    struct format_feed whole = {0};
    char *told = format_kit_decode(&k, text, (uint32_t)n, &whole);
    ck_assert_msg(strstr(told, "bad") == NULL, "%s", strstr(told, "bad"));
    char *rows = format_kit_rows(told);
    ck_assert_uint_eq(strlen(rows), 2 * (SR_BATCH_ROWS + 1));
    free(rows);
    free(told);
    sprintf(text + n - 2, ",{\"v\":2}]\n");
    told = format_kit_decode(&k, text, (uint32_t)strlen(text), &whole);
    ck_assert_ptr_nonnull(strstr(told, "an array has more rows than fit a batch"));
    free(told);
    close_kit();
}
END_TEST

START_TEST(missing_fields_are_null_or_bad)
{
    set_up();
    open_kit("a INT, b INT NOT NULL");
    format_kit_check_bad(&k, "{\"b\":1}", "{\"a\":1}", "column 'b' is NOT NULL");
    format_kit_check_bad(&k, "{\"b\":1}", "{\"b\":null}", "column 'b' is NOT NULL");
    close_kit();
    set_up();
    conf->is_missing_fatal = true;
    open_kit("a INT, b INT");
    format_kit_check_values(&k, "{\"a\":null,\"b\":1}\n", "NULL|1\n");
    format_kit_check_bad(&k, "{\"a\":1,\"b\":1}", "{\"a\":1}", "column 'b'");
    conf->is_lenient = true;
    uint32_t flags = 0;
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "cannot both be true"));
    close_kit();
}
END_TEST

START_TEST(ignoring_errors_makes_nulls_and_skips_records)
{
    set_up();
    conf->is_lenient = true;
    open_kit("a INT, b STRING");
    const char *text = "{\"a\":\"x\",\"b\":\"y\"}\n{\"a\":1\n{\"a\":2}\nhello\n{\"b\":\"\xff\"}\n";
    format_kit_check_values(&k, text, "NULL|'y'\n2|NULL\n");
    feeds(text);
    close_kit();
}
END_TEST

START_TEST(every_type_comes_back)
{
    for (int how = 0; how < 4; how++) {
        set_up();
        conf->is_decimal_plain = how == 1;
        conf->stamp.index = (uint32_t)(how == 2 ? JSON_STAMP_ISO : JSON_STAMP_SQL);
        conf->drops_nulls = how == 3;
        open_kit("a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, "
                 "h DECIMAL(10, 3), i DECIMAL(38, 12), j STRING, k CHAR(9), l BYTES, m DATE, "
                 "n TIME(0), o TIMESTAMP(3), p TIMESTAMP(9), q TIMESTAMP_LTZ(6), r TIMESTAMP(0), "
                 "s INTERVAL DAY, t INTERVAL YEAR");
        for (uint64_t seed = 0; seed < 100; seed++) {
            format_kit_check_round_trip(&k, seed);
        }
        close_kit();
    }
}
END_TEST

START_TEST(what_is_written_looks_as_flink_writes_it)
{
    set_up();
    open_kit("d DOUBLE, m DECIMAL(20, 9), t TIMESTAMP(6), z TIMESTAMP_LTZ(3), s STRING, b BOOLEAN");
    format_kit_check_encode(
        &k,
        "{\"d\":1e7,\"m\":0.000000027,\"t\":\"2026-01-31 00:00:00\",\"z\":\"2026-01-31 "
        "00:00:00.5Z\",\"s\":\"\\u0001\\u001f\\n\\\"\\\\/\xC3\xA9\",\"b\":true}\n"
        "{\"d\":\"Infinity\",\"m\":100000}\n",
        "{\"d\":1.0E7,\"m\":2.7E-8,\"t\":\"2026-01-31 00:00:00\",\"z\":\"2026-01-31 "
        "00:00:00.5Z\",\"s\":\"\\u0001\\u001F\\n\\\"\\\\/\xC3\xA9\",\"b\":true}\n"
        "{\"d\":\"Infinity\",\"m\":1E+5,\"t\":null,\"z\":null,\"s\":null,\"b\":null}\n");
    close_kit();
    set_up();
    conf->drops_nulls = true;
    conf->is_decimal_plain = true;
    open_kit("a INT, m DECIMAL(20, 9), q\" STRING");
    format_kit_check_encode(&k, "{}\n{\"m\":0.000000027,\"q\\\"\":\"x\"}\n{\"m\":1e5}\n",
                            "{}\n{\"m\":0.000000027,\"q\\\"\":\"x\"}\n{\"m\":100000}\n");
    close_kit();
}
END_TEST

/* Bytes that came from elsewhere need not be UTF-8: what is written must be. */
START_TEST(output_is_json_whatever_the_text)
{
    set_up();
    open_kit("s STRING");
    struct sr_view *v = view_new(k.home, 1);
    v->col[0] = column_new(k.home, &k.schema.field[0].type, SR_BATCH_ROWS);
    ck_assert(column_put_bytes(k.home, v->col[0], 0, "a\xff\"\xC3\xA9\xE2\x82z", 8));
    v->rows = v->picked = 1;
    struct sr_format_open o = {sizeof(o), &k.host, conf, &k.schema};
    struct json_encoder x = {0};
    struct sr_out out = bytes_out();
    struct sr_encode e = {.view = v, .count = 1, .out = &out};
    ck_assert_int_eq(k.type->encode_open(&x, &o, &err), SR_OK);
    ck_assert_int_eq(k.type->encode(&x, &e, &err), SR_OK);
    const char *want = "{\"s\":\"a\xEF\xBF\xBD\\\"\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBDz\"}\n";
    ck_assert_uint_eq(out.len, strlen(want));
    ck_assert_mem_eq(out.data, want, out.len);
    k.type->encode_close(&x);
    bytes_free(&out);
    view_release(v);
    close_kit();
}
END_TEST

START_TEST(columns_nobody_wants_change_nothing)
{
    set_up();
    open_kit("a INT, b STRING, c DOUBLE");
    const char *text =
        "{\"a\":1,\"b\":\"x\",\"c\":2}\n{\"c\":3,\"b\":\"\\n\"}\n{\"a\":1\n{\"a\":9}\n";
    format_kit_check_wanted(&k, text, (uint32_t)strlen(text));
    close_kit();
}
END_TEST

START_TEST(a_message_is_one_record)
{
    set_up();
    open_kit("a INT");
    struct format_feed f = {.is_framed = true};
    const char *text = "{\"a\":1}\n{\"a\":\nnull\n\n[{\"a\":2},{\"a\":3}]\n{\"a\":4}\n";
    char *told = format_kit_decode(&k, text, (uint32_t)strlen(text), &f);
    char *rows = format_kit_rows(told);
    ck_assert_str_eq(rows, "1\n2\n3\n4\n");
    ck_assert_ptr_nonnull(strstr(told, "bad 8+5: not JSON at byte 5 of the record"));
    free(rows);
    free(told);
    close_kit();
}
END_TEST

/* Lines over the borders of what is indexed at once, and a record larger than it. */
START_TEST(blocks_do_not_show)
{
    set_up();
    open_kit("a INT, s STRING");
    size_t size = 400000;
    char *text = malloc(size + 1000);
    size_t n = 0;
    int rows = 0;
    while (n < size) {
        int pad = rows == 100 ? 100000 : rows % 97;
        if (n + (size_t)pad > size) {
            break;
        }
        n += (size_t)sprintf(text + n, "{\"a\":%d,\"s\":\"%*s\"}\n", rows, pad, "");
        rows++;
    }
    struct format_feed f = {.has_buffer = true};
    char *told = format_kit_decode(&k, text, (uint32_t)n, &f);
    char *all = format_kit_rows(told);
    char *p = all;
    for (int i = 0; i < rows; i++) {
        char *end = NULL;
        ck_assert_int_eq(strtol(p, &end, 10), i);
        ck_assert_int_eq(strchr(end, '\n') - end, (i == 100 ? 100000 : i % 97) + 3);
        p = strchr(end, '\n') + 1;
    }
    ck_assert_int_eq(*p, '\0');
    free(all);
    free(told);
    free(text);
    close_kit();
}
END_TEST

UNIT_MAIN("json", records_are_the_same_however_bytes_arrive, values_are_exact_and_typed,
          nested_values_go_to_nested_columns, nested_values_are_written_as_they_were_read,
          what_is_wrong_inside_has_its_path, keys_of_a_map_that_come_twice_are_one,
          a_timestamp_standard_is_kept_to, what_is_not_json_is_bad_and_eats_nobody,
          nesting_has_a_limit_and_no_stack, an_array_is_a_row_each_or_none,
          missing_fields_are_null_or_bad, ignoring_errors_makes_nulls_and_skips_records,
          every_type_comes_back, what_is_written_looks_as_flink_writes_it,
          output_is_json_whatever_the_text, columns_nobody_wants_change_nothing,
          a_message_is_one_record, blocks_do_not_show)
