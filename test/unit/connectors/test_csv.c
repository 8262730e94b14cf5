#include <stdio.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/csv/csv_scan.h"
#include "engine/base/bytes.h"
#include "test/kit/format_kit.h"
#include "test/unit/unit.h"

extern const struct sr_plugin sr_plugin_csv;

static struct format_kit k;
static struct csv_conf *conf;
static struct sr_error err;

static void set_up(void) { conf = format_kit_conf(sr_plugin_csv.formats[0]); }

static void open_kit(const char *columns)
{
    format_kit_open(&k, sr_plugin_csv.formats[0], conf, columns);
    uint32_t flags = 0;
    sr_rc rc = k.type->check(conf, &k.schema, false, &flags, &err);
    ck_assert_msg(rc == SR_OK, "%s", err.words);
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
    feeds("1,a,0.5\n2,,\n3,\"x,y\",1e3\r\n4,\"two\nlines\",-0.0\n5,\"say \"\"hi\"\"\",7\n6,last,8");
    feeds("1,a,0.5\n\n\r\n2,b,1\n\n");
    feeds("1,\"a\"  ,2\n\"2\",b\"c,\"3\"\n");
    feeds("x,a,1\n1,a\n1,a,2,3\n1,\"a\"b,2\n2,ok,2\n");
    feeds("1,a,1\n2,\"never closed,1\n3,b,2\n4,c,\"3\n");
    feeds("");
    feeds("\n");
    feeds("1,\xC3\xA9,1\n2,\xFF,2\n3,\xE2\x82,3\n4,z,4\n");
    feeds("1,\"a\r\nb\",1\r\n2,c,2\r");
    feeds("1,a,1\r2,\"b\" \r\r3,\"x\ry\",3\r\n4,d,4\n\r5,e\r6,f,6\rx,g,7");
    feeds("1,\"a,1\r2,b,2\r");
    close_kit();
}
END_TEST

START_TEST(a_newline_pair_may_be_cut_anywhere)
{
    set_up();
    open_kit("id INT, s STRING");
    static char text[400];
    for (int pad = 0; pad < 140; pad++) { /* over the borders of the 64-byte blocks */
        int n = snprintf(text, sizeof(text), "1,\"%*sA\r\nB\"\r\n2,x\r\n", pad, "");
        char want[400];
        snprintf(want, sizeof(want), "1|'%*sA\\x0d\\x0aB'\n2|'x'\n", pad, "");
        format_kit_check_values(&k, text, want);
        ck_assert_int_gt(n, pad);
    }
    close_kit();
}
END_TEST

/* The answers are those of Flink 2.3. */
START_TEST(a_record_ends_in_each_of_the_three_ways)
{
    static const char *const escapes[] = {NULL, "\\"};
    for (int i = 0; i < 2; i++) {
        set_up();
        conf->escape = escapes[i];
        open_kit("a INT, b STRING");
        format_kit_check_values(&k, "1,a\r2,b\r\n3,c\n4,\"x\ry\"\r5,e",
                                "1|'a'\n2|'b'\n3|'c'\n4|'x\\x0dy'\n5|'e'\n");
        format_kit_check_encode(&k, "1,\"x\ry\"\n", "1,\"x\ry\"\n");
        close_kit();
    }
    set_up();
    conf->has_comments = true;
    open_kit("a INT, b STRING");
    format_kit_check_values(&k, "#x\r1,a\r#y\r\n2,b\n#z\n3,c\r#", "1|'a'\n2|'b'\n3|'c'\n");
    feeds("#x\r1,a\r#y\r\n2,b\n#z\n3,c\r#");
    close_kit();
}
END_TEST

START_TEST(values_are_what_flink_makes_of_them)
{
    static const char *const cases[][3] = {
        {"v BOOLEAN", "true\nTRUE\n false \nyes\n", "1\n1\n0\n0\n"},
        {"v TINYINT", "-128\n+127\n 7 \n", "-128\n127\n7\n"},
        {"v BIGINT", "9223372036854775807\n-9223372036854775808\n\"12\"\n",
         "9223372036854775807\n-9223372036854775808\n12\n"},
        {"v DOUBLE", "0.1\n1e308\n-0.0\n.5\n5.\n1d\n NaN \n-Infinity\n4.9e-324\n1e-400\n",
         "0.10000000000000001\n1e+308\n-0\n0.5\n5\n1\nnan\n-inf\n"
         "4.9406564584124654e-324\n0\n"},
        {"v FLOAT", "0.1\n3.4028235E38\n", "0.100000001\n3.40282347e+38\n"},
        {"v DECIMAL(10, 2)", "1.005\n-1.005\n1.004\n1E+3\n00012.5\n0.004\n12345678.99\n",
         "101\n-101\n100\n100000\n1250\n0\n1234567899\n"},
        {"v DECIMAL(38, 2)", "1e30\n-0.01\n",
         "5421010862427:9632337040368467968\n-1:18446744073709551615\n"},
        {"v DATE", "1970-01-02\n2024-2-29\n0001-01-01\n9999-12-31\n",
         "1\n19782\n-719162\n2932896\n"},
        {"v TIME(3)", "00:00:01\n23:59:59.9999\n12:30\n", "1000\n86399999\n45000000\n"},
        {"v TIMESTAMP(3)", "1970-01-01 00:00:01.1239\n1969-12-31T23:59:59.999\n",
         "1123000\n-1000\n"},
        {"v TIMESTAMP(9)", "1970-01-01 00:00:00.123456789\n1969-12-31 23:59:59.999999999\n",
         "123+456789\n-1+999999\n"},
        {"v TIMESTAMP_LTZ(3)", "1970-01-01 00:00:01Z\n", "1000000\n"},
        {"v BYTES", "AQID\n\"\"\nAQI=\nAQI\n",
         "'\\x01\\x02\\x03'\n''\n'\\x01\\x02'\n'\\x01\\x02'\n"},
        {"v STRING, n INT", ",\n\"\",\"\"\n x ,1\n", "''|NULL\n''|NULL\n' x '|1\n"},
        {"v INTERVAL DAY, w INTERVAL MONTH", "1500,3\n", "1500|3\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set_up();
        open_kit(cases[i][0]);
        format_kit_check_values(&k, cases[i][1], cases[i][2]);
        close_kit();
    }
}
END_TEST

START_TEST(bad_records_are_told_and_eat_nobody)
{
    set_up();
    open_kit("id INT, s STRING, t TIMESTAMP(3), m DECIMAL(4, 1), n INT NOT NULL");
    const char *good = "1,a,2026-01-31 12:00:00,1.5,7";
    static const char *const cases[][2] = {
        {"x,a,,,1", "column 'id': 'x' is not a value of type INT"},
        {"99999999999,a,,,1", "column 'id': '99999999999' is out of the range of INT"},
        {"99999999999999999999,a,,,1", "out of the range of INT"},
        {"1.0,a,,,1", "column 'id': '1.0' is not a value of type INT"},
        {"1,\xff,,,1", "column 's': the text is not valid UTF-8"},
        {"1,a,2026-02-30 12:00:00,,1", "is not a value of type TIMESTAMP(3) (yyyy-MM-dd HH:mm:ss"},
        {"1,a,2026-01-31 24:00:00,,1", "column 't'"},
        {"1,a,,12345,1", "column 'm': '12345' is out of the range of DECIMAL(4, 1)"},
        {"1,a,,999.95,1", "out of the range of DECIMAL(4, 1)"},
        {"1,a,,,", "column 'n' is NOT NULL"},
        {"1,a", "fields are missing: 2, and the schema has 5 columns"},
        {"1,a,,,1,", "there are too many fields: 6, and the schema has 5 columns"},
        {"1,\"a\"b,,,1", "text stands behind a closing quote"},
        {"1,\"a,,,1", "a quote is not closed"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        format_kit_check_bad(&k, good, cases[i][0], cases[i][1]);
    }
    close_kit();
}
END_TEST

START_TEST(more_bad_records_than_fit_are_told_in_the_next_call)
{
    set_up();
    open_kit("id INT");
    char text[1000];
    size_t n = 0;
    for (int i = 0; i < 200; i++) {
        n += (size_t)sprintf(text + n, "x\n");
    }
    struct format_feed whole = {0};
    char *told = format_kit_decode(&k, text, (uint32_t)n, &whole);
    int bads = 0;
    for (const char *p = told; (p = strstr(p, "bad ")); p++) {
        bads++;
    }
    ck_assert_int_eq(bads, 200);
    free(told);
    close_kit();
}
END_TEST

START_TEST(ignoring_errors_makes_nulls_and_skips_records)
{
    set_up();
    conf->is_lenient = true;
    open_kit("id INT, s STRING, n INT");
    format_kit_check_values(&k, "x,a,1\n2,b\n3,c,3,4\n5,\"e\"x,5\n6,f,6\n",
                            "NULL|'a'|1\n2|'b'|NULL\n6|'f'|6\n");
    feeds("x,a,1\n2,b\n3,c,3,4\n6,f,6\n");
    close_kit();
}
END_TEST

START_TEST(the_dialect_is_the_users)
{
    set_up();
    conf->delimiter = "\\t";
    conf->quote = "'";
    conf->escape = "\\";
    conf->null_literal = "NA";
    conf->has_comments = true;
    open_kit("id INT, s STRING");
    format_kit_check_values(&k,
                            "# a comment\t'\n1\tNA\n2\t'NA'\n3\t'it''s'\n4\ta\\\tb\n5\t'x\\'y'\n"
                            "NA\t\\n\n6\t'a\nb'\n",
                            "1|NULL\n2|'NA'\n3|'it's'\n4|'a\\x09b'\n5|'x'y'\nNULL|'\\x0a'\n"
                            "6|'a\\x0ab'\n");
    feeds("# a\n1\tNA\n#\n2\t'NA'\n3\t'it''s'\n4\ta\\\tb\n5\t'x\\'y'\n");
    format_kit_check_encode(&k, "1\tNA\n2\t'NA'\n3\t''\n4\t'a\\'b'\n5\t#\n",
                            "1\tNA\n2\t'NA'\n3\t''\n4\t'a''b'\n5\t'#'\n");
    close_kit();
    set_up();
    conf->is_quote_disabled = true;
    open_kit("s STRING, n INT");
    format_kit_check_values(&k, "\"a\",1\n", "'\"a\"'|1\n");
    uint32_t flags = 0;
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_OK);
    ck_assert_uint_eq(flags & SR_FORMAT_LINES, SR_FORMAT_LINES);
    close_kit();
}
END_TEST

START_TEST(a_header_is_skipped_or_matched_once)
{
    set_up();
    conf->header.index = CSV_HEADER_SKIP;
    open_kit("id INT, v STRING");
    format_kit_check_values(&k, "id,v\n1,x\n", "1|'x'\n");
    format_kit_check_values(&k, "\xEF\xBB\xBFid,\"v\nw\"\n1,x\n", "1|'x'\n");
    format_kit_check_values(&k, "", "");
    format_kit_check_values(&k, "id,v", "");
    feeds("\xEF\xBB\xBFid,v\r\n1,x\n2,y\n");
    feeds("\n\nid,v\n1,x\n");
    close_kit();
    set_up();
    conf->header.index = CSV_HEADER_MATCH;
    open_kit("id INT, v STRING");
    format_kit_check_values(&k, "id,\"v\"\n1,x\n", "1|'x'\n");
    feeds("id,v\n1,x\n2,y\n");
    static const char *const cases[][2] = {
        {"id,v,v\n", "the header has two columns 'v', fields 2 and 3"},
        {"id,id\n", "the header has two columns 'id', fields 1 and 2"},
        {"id,\n", "field 2 of the header has no name"},
        {"id,v,\n", "field 3 of the header has no name"},
        {"id,v,w\n", "the header has a field 'w' behind the schema's 2 columns"},
        {"v,id\n", "field 1 of the header is 'v', and the schema's column there is 'id'"},
        {"id\n", "the header ends before the schema's column 'v'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct csv_decoder *dec = aligned_alloc(16, (k.type->decoder_size + 15) & ~15u);
        memset(dec, 0, k.type->decoder_size);
        struct sr_format_open o = {sizeof(o), &k.host, conf, &k.schema};
        ck_assert_int_eq(k.type->decode_open(dec, &o, &err), SR_OK);
        struct sr_builder b;
        ck_assert_int_eq(builder_open(&b, k.home, &k.host, &k.schema, NULL, &err), SR_OK);
        struct sr_decode d = {.bytes = (const uint8_t *)cases[i][0],
                              .len = (uint32_t)strlen(cases[i][0]),
                              .at_start = true,
                              .at_end = true,
                              .out = &b};
        ck_assert_int_eq(k.type->decode(dec, &d, &err), SR_EDATA);
        ck_assert_msg(strstr(err.words, cases[i][1]) != NULL, "%s", err.words);
        builder_close(&b);
        k.type->decode_close(dec);
        free(dec);
    }
    close_kit();
}
END_TEST

START_TEST(a_byte_order_mark_is_no_part_of_the_first_field)
{
    set_up();
    open_kit("s STRING, n INT");
    format_kit_check_values(&k,
                            "\xEF\xBB\xBF"
                            "a,1\n",
                            "'a'|1\n");
    format_kit_check_values(&k,
                            "\"\xEF\xBB\xBF"
                            "a\",1\n",
                            "'\xEF\xBB\xBF"
                            "a'|1\n");
    feeds("\xEF\xBB\xBF"
          "a,1\nb,2\n");
    format_kit_check_encode(&k,
                            "\"\xEF\xBB\xBF"
                            "a\",1\n",
                            "\"\xEF\xBB\xBF"
                            "a\",1\n");
    close_kit();
}
END_TEST

START_TEST(every_type_comes_back)
{
    for (int how = 0; how < 3; how++) {
        set_up();
        conf->is_scientific = how != 1;
        conf->escape = how == 2 ? "\\" : NULL;
        open_kit("a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, "
                 "h DECIMAL(10, 3), i DECIMAL(38, 12), j STRING, k CHAR(9), l BYTES, m DATE, "
                 "n TIME(0), o TIMESTAMP(3), p TIMESTAMP(9), q TIMESTAMP_LTZ(6), r TIMESTAMP(0), "
                 "s INTERVAL DAY, t INTERVAL YEAR");
        for (uint64_t seed = 0; seed < 100; seed++) {
            format_kit_check_round_trip(&k, seed);
        }
        close_kit();
    }
    set_up();
    open_kit("only STRING");
    for (uint64_t seed = 0; seed < 50; seed++) {
        format_kit_check_round_trip(&k, seed);
    }
    close_kit();
}
END_TEST

START_TEST(what_is_written_looks_as_flink_writes_it)
{
    set_up();
    open_kit("d DOUBLE, m DECIMAL(10, 2), t TIMESTAMP(6), z TIMESTAMP_LTZ(3), s STRING");
    format_kit_check_encode(&k,
                            "1e7,100000,2026-01-31 00:00:00,2026-01-31 00:00:00.5Z,a b\n"
                            "0.072,1.10,1969-12-31 23:59:59.999999,,\"x,\"\"y\"\"\"\n"
                            "100,0,,,\n1e-3,-0.01,,,\"\n\"\n",
                            "1.0E7,1E+5,2026-01-31 00:00:00,2026-01-31 00:00:00.5Z,a b\n"
                            "0.072,1.1,1969-12-31 23:59:59.999999,,\"x,\"\"y\"\"\"\n"
                            "100.0,0,,,\"\"\n0.001,-0.01,,,\"\n\"\n");
    close_kit();
    set_up();
    conf->is_scientific = false;
    open_kit("m DECIMAL(10, 2)");
    format_kit_check_encode(&k, "100000\n1.1\n", "100000.00\n1.10\n");
    close_kit();
}
END_TEST

START_TEST(a_header_is_written_when_asked_for)
{
    set_up();
    conf->has_head = true;
    open_kit("id INT, a STRING");
    struct sr_format_open o = {sizeof(o), &k.host, conf, &k.schema};
    struct csv_encoder x = {0};
    struct sr_out out = bytes_out();
    ck_assert_int_eq(k.type->encode_open(&x, &o, &err), SR_OK);
    ck_assert_int_eq(k.type->encode_head(&x, &out, &err), SR_OK);
    ck_assert_uint_eq(out.len, 5);
    ck_assert_mem_eq(out.data, "id,a\n", 5);
    k.type->encode_close(&x);
    bytes_free(&out);
    close_kit();
}
END_TEST

START_TEST(what_cannot_be_written_is_refused_and_counted)
{
    set_up();
    conf->is_quote_disabled = true;
    open_kit("s STRING, n INT");
    struct sr_view *v = view_new(k.home, 2);
    v->col[0] = column_new(k.home, &k.schema.field[0].type, SR_BATCH_ROWS);
    v->col[1] = column_new(k.home, &k.schema.field[1].type, SR_BATCH_ROWS);
    ck_assert(column_put_bytes(k.home, v->col[0], 0, "good", 4));
    ck_assert(column_put_bytes(k.home, v->col[0], 1, "a,b", 3));
    v->rows = v->picked = 2;
    struct sr_format_open o = {sizeof(o), &k.host, conf, &k.schema};
    struct csv_encoder x = {0};
    struct sr_out out = bytes_out();
    struct sr_encode e = {.view = v, .count = 2, .out = &out, .done = 99};
    ck_assert_int_eq(k.type->encode_open(&x, &o, &err), SR_OK);
    ck_assert_int_eq(k.type->encode(&x, &e, &err), SR_EDATA);
    ck_assert_uint_eq(e.done, 1);
    ck_assert_uint_eq(out.len, strlen("good,0\n"));
    ck_assert_ptr_nonnull(strstr(err.words, "column 's'"));
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
    const char *text = "1,x,2\n,\"y,\"\"z\",3\n1,q\n3,z,4\n";
    format_kit_check_wanted(&k, text, (uint32_t)strlen(text));
    bool wanted[] = {false, true, true};
    struct format_feed f = {.wanted = wanted};
    char *told = format_kit_decode(&k, "x,a,1\n", 6, &f); /* nobody looks at the x */
    ck_assert_msg(strstr(told, "row 0: -|'a'|1\n") != NULL, "%s", told);
    free(told);
    close_kit();
}
END_TEST

START_TEST(a_message_is_one_record)
{
    set_up();
    open_kit("a INT, b STRING");
    struct format_feed f = {.is_framed = true};
    const char *text = "1,x\n2\n\n\"3\",\"y\"\n4,\"z\n";
    char *told = format_kit_decode(&k, text, (uint32_t)strlen(text), &f);
    char *rows = format_kit_rows(told);
    ck_assert_str_eq(rows, "1|'x'\n3|'y'\n");
    ck_assert_ptr_nonnull(strstr(told, "bad 4+1: fields are missing"));
    ck_assert_ptr_nonnull(strstr(told, "a quote is not closed"));
    free(rows);
    free(told);
    close_kit();
}
END_TEST

START_TEST(options_that_make_no_sense_are_refused)
{
    static const struct {
        const char *delimiter, *quote, *escape, *null_literal, *words;
    } cases[] = {
        {"", "\"", NULL, NULL, "csv.field-delimiter: '' is not a single ASCII character"},
        {"||", "\"", NULL, NULL, "is not a single ASCII character"},
        {"\xC3\xA9", "\"", NULL, NULL, "is not a single ASCII character"},
        {"\n", "\"", NULL, NULL, "cannot be a line end"},
        {"\"", "\"", NULL, NULL, "csv.quote-character: '\"' is the field delimiter too"},
        {",", "\"", ",", NULL, "csv.escape-character: ',' is the field delimiter too"},
        {",", "\"", NULL, "a,b", "csv.null-literal: 'a,b' holds a delimiter"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct csv_conf c = {.delimiter = cases[i].delimiter,
                             .quote = cases[i].quote,
                             .escape = cases[i].escape,
                             .null_literal = cases[i].null_literal};
        struct csv_dialect d;
        ck_assert_int_eq(csv_dialect_init(&d, &c, &err), SR_ECONFIG);
        ck_assert_msg(strstr(err.words, cases[i].words) != NULL, "%s", err.words);
    }
    static const char *const good[][2] = {
        {"\\t", "\t"}, {"U&'\\0001'", "\x01"}, {"\\u0001", "\x01"}, {"\\\\", "\\"}, {";", ";"}};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct csv_conf c = {.delimiter = good[i][0], .quote = "\""};
        struct csv_dialect d;
        ck_assert_int_eq(csv_dialect_init(&d, &c, &err), SR_OK);
        ck_assert_int_eq(d.delimiter, good[i][1][0]);
    }
    static const char *const types[][2] = {
        {"a MAP<STRING, INT>", "column 'a': type MAP is not supported"},
        {"n INT, a ARRAY<ARRAY<INT>>", "column 'a': type ARRAY is not supported"},
        {"a ROW<x INT, y ROW<z INT>>", "only ARRAY and ROW of simple types are"},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        set_up();
        format_kit_open(&k, sr_plugin_csv.formats[0], conf, types[i][0]);
        uint32_t flags = 0;
        ck_assert_int_eq(k.type->check(conf, &k.schema, true, &flags, &err), SR_ECONFIG);
        ck_assert_msg(strstr(err.words, types[i][1]) != NULL, "%s", err.words);
        close_kit();
    }
}
END_TEST

/* The first case, and how it is written, are Flink 2.3's. */
START_TEST(a_field_may_hold_an_array_or_a_row)
{
    set_up();
    open_kit("a INT, b ARRAY<INT>, c ARRAY<STRING>, d ROW<x INT, y STRING>, e ARRAY<DATE>");
    format_kit_check_values(
        &k,
        "1,1;2;3,x;y,7;row,1970-01-02;1970-01-03\n2,,,,\n"
        "3,\"4;5\",\"a;\"\"q\"\"\",8;,\n4,;6, b ;,;,\n",
        "1|[1, 2, 3]|['x', 'y']|(7, 'row')|[1, 2]\n2|[]|[]|NULL|[]\n"
        "3|[4, 5]|['a', '\"q\"']|(8, '')|[]\n4|[NULL, 6]|[' b ', '']|(NULL, '')|[]\n");
    const char *text =
        "1,1;2,x;y,7;row,1970-01-02\n2,,,,\n3,\"4;x\",\"a\",8;,\n4,5,\xff,,\n5,,,,\n";
    format_kit_check_feeds(&k, text, (uint32_t)strlen(text));
    format_kit_check_wanted(&k, text, 33); /* the good ones */
    const char *good = "1,2;3,x,4;y,";
    format_kit_check_bad(&k, good, "1,2;z;4,x,4;y,", "column 'b': 'z' is not a value of type INT");
    format_kit_check_bad(&k, good, "1,2,x,q;y,", "column 'd.x': 'q' is not a value of type INT");
    format_kit_check_bad(&k, good, "1,2,x,4,", "column 'd': the ROW has too few fields");
    format_kit_check_bad(&k, good, "1,2,x,4;y;z,", "column 'd': the ROW has too many fields");
    format_kit_check_bad(&k, good, "1,2,x,4;\xff,", "column 'd': the text is not valid UTF-8");
    format_kit_check_encode(&k, "1,;3,\"p;s,t;u\"\"v\",5;z,1970-01-02;\n2,,,;,\n",
                            "1,;3,\"p;s,t;u\"\"v\",5;z,1970-01-02;\n2,\"\",\"\",;,\"\"\n");
    close_kit();
    set_up();
    conf->array_delimiter = "||";
    conf->null_literal = "-";
    conf->is_lenient = true;
    open_kit("b ARRAY<DECIMAL(5, 2)>, d ROW<x STRING NOT NULL, y BYTES>");
    format_kit_check_values(&k, "1.5||-||2,a||AQ==\n-,-\n,\nx||1,b\n1,-||\n",
                            "[150, NULL, 200]|('a', '\\x01')\nNULL|NULL\n[]|NULL\nNULL|NULL\n"
                            "[100]|NULL\n");
    close_kit();
}
END_TEST

/* Read with other delimiters, so that there are values that these here cannot hold. */
START_TEST(what_could_not_be_read_again_is_not_written)
{
    static const struct {
        const char *columns, *text, *written; /* NULL: cannot be */
    } cases[] = {
        {"a ARRAY<STRING>", "x|y;z\n", NULL},      {"a ARRAY<STRING>", "\"\"\n", "\"\"\n"},
        {"a ARRAY<STRING>", "-|\n", "-;\n"},       {"a ARRAY<STRING>", "x|N\n", NULL},
        {"a ROW<x STRING NOT NULL>", "N\n", NULL}, {"a ARRAY<INT>", "-5|6\n", "-5;6\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set_up();
        conf->array_delimiter = "|";
        open_kit(cases[i].columns);
        struct csv_decoder dec = {0};
        struct sr_format_open o = {sizeof(o), &k.host, conf, &k.schema};
        struct sr_builder b;
        struct sr_view *v = NULL;
        uint32_t row_at[SR_BATCH_ROWS];
        struct sr_decode d = {.bytes = (const uint8_t *)cases[i].text,
                              .len = (uint32_t)strlen(cases[i].text),
                              .out = &b,
                              .row_at = row_at};
        ck_assert_int_eq(k.type->decode_open(&dec, &o, &err), SR_OK);
        ck_assert_int_eq(builder_open(&b, k.home, &k.host, &k.schema, NULL, &err), SR_OK);
        ck_assert_int_eq(k.type->decode(&dec, &d, &err), SR_OK);
        ck_assert_int_eq(builder_seal(&b, &v, &err), SR_OK);
        conf->array_delimiter = ";";
        conf->null_literal = "N";
        struct csv_encoder x = {0};
        struct sr_out out = bytes_out();
        struct sr_encode e = {.view = v, .count = 1, .out = &out};
        ck_assert_int_eq(k.type->encode_open(&x, &o, &err), SR_OK);
        sr_rc rc = k.type->encode(&x, &e, &err);
        if (cases[i].written) {
            ck_assert_msg(rc == SR_OK, "%s", err.words);
            ck_assert_mem_eq(out.data, cases[i].written, strlen(cases[i].written));
        } else {
            ck_assert_int_eq(rc, SR_EDATA);
            ck_assert_ptr_nonnull(strstr(err.words, "csv.array-element-delimiter"));
        }
        k.type->encode_close(&x);
        k.type->decode_close(&dec);
        bytes_free(&out);
        view_release(v);
        builder_close(&b);
        close_kit();
    }
}
END_TEST

/* Many fields and long ones: the index is filled several times within a record. */
START_TEST(records_may_be_longer_than_the_index)
{
    set_up();
    open_kit("a STRING, b INT");
    size_t size = 300000;
    char *text = malloc(size + 100);
    size_t n = 0;
    text[n++] = '"';
    while (n < size) {
        text[n] = n % 3 ? ',' : 'x';
        n++;
    }
    n += (size_t)sprintf(text + n, "\",5\nnext,6\n");
    struct format_feed f = {.has_buffer = true};
    char *told = format_kit_decode(&k, text, (uint32_t)n, &f);
    char *rows = format_kit_rows(told);
    ck_assert_uint_eq(strlen(rows), size - 1 + strlen("''|5\n'next'|6\n"));
    ck_assert_ptr_nonnull(strstr(rows, "'|5\n'next'|6\n"));
    free(rows);
    free(told);
    free(text);
    close_kit();
}
END_TEST

UNIT_MAIN("csv", records_are_the_same_however_bytes_arrive, a_newline_pair_may_be_cut_anywhere,
          a_record_ends_in_each_of_the_three_ways, values_are_what_flink_makes_of_them,
          bad_records_are_told_and_eat_nobody, more_bad_records_than_fit_are_told_in_the_next_call,
          ignoring_errors_makes_nulls_and_skips_records, the_dialect_is_the_users,
          a_header_is_skipped_or_matched_once, a_byte_order_mark_is_no_part_of_the_first_field,
          every_type_comes_back, what_is_written_looks_as_flink_writes_it,
          a_header_is_written_when_asked_for, what_cannot_be_written_is_refused_and_counted,
          columns_nobody_wants_change_nothing, a_message_is_one_record,
          options_that_make_no_sense_are_refused, a_field_may_hold_an_array_or_a_row,
          what_could_not_be_read_again_is_not_written, records_may_be_longer_than_the_index)
