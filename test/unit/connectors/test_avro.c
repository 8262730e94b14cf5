#include <stdio.h>
#include <string.h>

#include "connectors/avro/avro_read.h"
#include "connectors/avro/avro_write.h"
#include "connectors/text/json_put.h"
#include "engine/base/bytes.h"
#include "test/kit/format_kit.h"
#include "test/unit/unit.h"

/* Columns, a schema, and the plans between them. */
struct avro_kit {
    struct format_kit columns;
    struct avro_schema schema;
    struct avro_plan *reads, *writes; /* NULL: `why` says why not */
    struct sr_builder rows;
};

static char why[160];
static struct sr_error err;

/* `schema` NULL: that of the columns, which is checked against `expected` unless NULL. */
static void kit_open(struct avro_kit *k, const char *columns, const char *schema)
{
    *k = (struct avro_kit){.reads = NULL};
    format_kit_open(&k->columns, NULL, NULL, columns);
    char *text = schema ? strdup(schema) : avro_schema_of(&k->columns.schema, true, why);
    ck_assert_msg(text && avro_schema_read(&k->schema, text, why), "%s", why);
    free(text);
    k->writes = avro_plan_new(&k->schema, &k->columns.schema, true, why);
    k->reads = avro_plan_new(&k->schema, &k->columns.schema, false, why);
    ck_assert_int_eq(
        builder_open(&k->rows, k->columns.home, &k->columns.host, &k->columns.schema, NULL, &err),
        SR_OK);
}

static void kit_close(struct avro_kit *k)
{
    builder_close(&k->rows);
    avro_plan_free(k->reads);
    avro_plan_free(k->writes);
    avro_schema_done(&k->schema);
    format_kit_close(&k->columns);
}

/* The bytes as a row, that row as JSON, and as Avro again: the same bytes when `is_same`. */
static void kit_check(struct avro_kit *k, const void *bytes, uint32_t len, const char *json,
                      bool is_same)
{
    static const struct json_put how = {.null_key = JSON_PUT_KEY_FAIL};
    struct avro_fault fault;
    struct sr_view *v = NULL;
    struct sr_out text = bytes_out(), again = bytes_out();
    uint32_t nodes = 0;
    struct node *node = node_new(&k->columns.schema, MOMENT_SPACE, MOMENT_SPACE, &nodes);
    ck_assert_msg(avro_read_row(k->reads, &k->rows, bytes, len, &fault), "%s at %u", fault.why,
                  fault.mark);
    sr_row_done(&k->rows);
    ck_assert_int_eq(builder_seal(&k->rows, &v, &err), SR_OK);
    for (uint32_t c = 0; c < v->cols; c++) {
        ck_assert(bytes_put(&text, " ", c > 0 ? 1 : 0));
        ck_assert_int_eq(json_put_any(&how, &node[c], v->col[c], 0, &text), JSON_PUT_OK);
    }
    ck_assert(bytes_put(&text, "", 1));
    ck_assert_str_eq((const char *)text.data, json);
    if (is_same) {
        ck_assert_msg(avro_write_row(k->writes, v->col, 0, &again, why), "%s", why);
        ck_assert_uint_eq(again.len, len);
        ck_assert_mem_eq(again.data, bytes, len);
    }
    bytes_free(&text);
    bytes_free(&again);
    free(node);
    view_release(v);
}

static const char flink_columns[] =
    "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i INT NOT NULL, l BIGINT, f FLOAT, d DOUBLE, "
    "de DECIMAL(10, 2), c CHAR(3), v VARCHAR(5), s STRING NOT NULL, by2 BYTES, da DATE, "
    "ti TIME(3), ts TIMESTAMP(3), a ARRAY<INT>, m MAP<STRING, BIGINT>, "
    "r ROW<x INT, y ROW<z STRING NOT NULL>>, ar ARRAY<ROW<q INT>> NOT NULL";

/* What Flink 2.3 wrote of a row. */
static const uint8_t flink_bytes[] = {
    0x02, 0x01, 0x02, 0x01, 0x02, 0xd8, 0x04, 0xe0, 0xc5, 0x08, 0x02, 0xff, 0xc7, 0xaf, 0xa0, 0x25,
    0x02, 0x00, 0x00, 0xc0, 0x3f, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x40, 0x02, 0x04,
    0xcf, 0xc7, 0x02, 0x06, 0x61, 0x62, 0x63, 0x02, 0x04, 0x64, 0x65, 0x06, 0x73, 0x74, 0x72, 0x02,
    0x04, 0x00, 0xff, 0x02, 0xa2, 0x9e, 0x02, 0x02, 0xaa, 0xb2, 0x99, 0x2b, 0x02, 0xf6, 0xa1, 0xb7,
    0xe6, 0xeb, 0x5b, 0x02, 0x06, 0x02, 0x02, 0x00, 0x02, 0x06, 0x00, 0x02, 0x02, 0x02, 0x6b, 0x02,
    0x0e, 0x00, 0x02, 0x02, 0x02, 0x02, 0x04, 0x7a, 0x7a, 0x02, 0x02, 0x02, 0x08, 0x00};

START_TEST(rows_of_flink_are_read_and_written)
{
    struct avro_kit k;
    kit_open(&k, flink_columns, NULL);
    kit_check(&k, flink_bytes, sizeof(flink_bytes),
              "true -1 300 70000 -5000000000 1.5 2.5 -123.45 \"abc\" \"de\" \"str\" \"AP8=\" "
              "\"2020-02-29\" \"12:34:56.789\" \"2020-01-01 00:00:00.123\" [1,null,3] {\"k\":7} "
              "{\"x\":1,\"y\":{\"z\":\"zz\"}} [{\"q\":4}]",
              true);
    kit_close(&k);
}
END_TEST

START_TEST(the_schema_of_columns_is_flinks)
{
    struct avro_kit k;
    kit_open(&k, "i INT NOT NULL, de DECIMAL(10, 2), ts TIMESTAMP(3), r ROW<y ROW<z STRING>>",
             NULL);
    char *text = avro_schema_of(&k.columns.schema, true, why);
    ck_assert_str_eq(
        text,
        "{\"type\":\"record\",\"name\":\"record\",\"fields\":[{\"name\":\"i\",\"type\":\"int\"},"
        "{\"name\":\"de\",\"type\":[\"null\",{\"type\":\"bytes\",\"logicalType\":\"decimal\","
        "\"precision\":10,\"scale\":2}],\"default\":null},{\"name\":\"ts\",\"type\":[\"null\","
        "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}],\"default\":null},"
        "{\"name\":\"r\",\"type\":[\"null\",{\"type\":\"record\",\"name\":\"record_r\",\"fields\":"
        "[{\"name\":\"y\",\"type\":[\"null\",{\"type\":\"record\",\"name\":\"record_r_y\","
        "\"fields\":[{\"name\":\"z\",\"type\":[\"null\",\"string\"],\"default\":null}]}],"
        "\"default\":null}]}],\"default\":null}],\"namespace\":\"org.apache.flink.avro."
        "generated\"}");
    free(text);
    kit_close(&k);
    static const char *const none[][2] = {{"t TIMESTAMP(6)", "with timestamp_mapping.legacy"},
                                          {"t TIMESTAMP_LTZ(3)", "with timestamp_mapping.legacy"},
                                          {"t TIME(6)", "column 't'"},
                                          {"m MAP<INT, INT>", "column 'm'"},
                                          {"m MULTISET<STRING>", "column 'm'"},
                                          {"v VARIANT", "column 'v'"}};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct format_kit f;
        format_kit_open(&f, NULL, NULL, none[i][0]);
        ck_assert_ptr_null(avro_schema_of(&f.schema, true, why));
        ck_assert_msg(strstr(why, none[i][1]), "%s: %s", none[i][0], why);
        format_kit_close(&f);
    }
}
END_TEST

START_TEST(what_is_cut_or_changed_is_refused_or_another_row)
{
    struct avro_kit k;
    struct avro_fault fault;
    uint8_t bytes[sizeof(flink_bytes)];
    kit_open(&k, flink_columns, NULL);
    for (uint32_t cut = 0; cut < sizeof(flink_bytes); cut++) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, flink_bytes, cut);
        ck_assert(!avro_read_row(k.reads, &k.rows, exact, cut, &fault));
        ck_assert(fault.why[0] != '\0' && fault.mark <= cut);
        sr_row_drop(&k.rows);
        free(exact);
    }
    for (uint32_t at = 0; at < sizeof(flink_bytes) * 8; at++) {
        memcpy(bytes, flink_bytes, sizeof(bytes));
        bytes[at / 8] ^= (uint8_t)(1u << at % 8);
        bool is_row = avro_read_row(k.reads, &k.rows, bytes, sizeof(bytes), &fault);
        ck_assert(is_row == (fault.why[0] == '\0'));
        sr_row_drop(&k.rows);
    }
    kit_close(&k);
}
END_TEST

START_TEST(a_schema_of_another_is_resolved_by_names)
{
    struct avro_kit k;
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"a.b.R\",\"fields\":["
        "{\"name\":\"list\",\"type\":[\"null\",\"R\"]},"
        "{\"name\":\"gone\",\"type\":{\"type\":\"array\",\"items\":\"double\"}},"
        "{\"name\":\"d\",\"type\":\"int\"},{\"name\":\"u\",\"type\":[\"long\",\"null\",\"string\"]}"
        ","
        "{\"name\":\"f\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":3}},"
        "{\"name\":\"g\",\"type\":\"F\"},"
        "{\"name\":\"ts\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}}]}";
    kit_open(&k, "u BIGINT, d DOUBLE, none STRING, f BYTES, ts TIMESTAMP(9)", schema);
    ck_assert_ptr_nonnull(k.reads);
    ck_assert_ptr_null(k.writes); /* no field takes `none` */
    static const char row[] =
        "\x02\x00\x00\x02\x02xyz123\x00"               /* another R inside, passed over */
        "\x01\x10\x00\x00\x00\x00\x00\x00\xf0\x3f\x00" /* a block with its size */
        "\x06\x00\x05"
        "abc123\x01";
    kit_check(&k, row, sizeof(row) - 1, "-3 3.0 null \"YWJj\" \"1969-12-31 23:59:59.999999\"",
              false);
    kit_close(&k);
    kit_open(&k, "u BIGINT",
             "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"u\","
             "\"type\":[\"string\",\"null\",\"long\"]}]}");
    kit_check(&k, "\x04\x05", 2, "-3", true);
    kit_check(&k, "\x02", 1, "null", true);
    struct avro_fault fault;
    ck_assert(!avro_read_row(k.reads, &k.rows, (const uint8_t *)"\x00\x02x", 3, &fault));
    ck_assert_str_eq(fault.why, "column 'u': a branch of the union does not fit the column");
    kit_close(&k);
    /* An INT fits a long too, but is not read from one. */
    kit_open(&k, "i INT",
             "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"i\","
             "\"type\":[\"long\",\"null\",\"int\"]}]}");
    kit_check(&k, "\x04\x05", 2, "-3", true);
    kit_close(&k);
}
END_TEST

/* Values that no column holds, at the ends of their ranges. */
START_TEST(what_is_out_of_range_is_a_bad_row)
{
    static const struct {
        const char *columns, *type, *row;
        uint32_t len;
        const char *want; /* NULL: refused */
    } cases[] = {
        {"d DECIMAL(38, 0)", "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":50}",
         "\x22\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 18, NULL},
        {"d DECIMAL(38, 0)", "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":50}",
         "\x22\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 18, NULL},
        {"d DECIMAL(38, 0)", "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":50}",
         "\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 18, "-2"},
        {"t TIMESTAMP(3)", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
         "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, NULL},
        {"t TIMESTAMP(9)", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
         "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct avro_kit k;
        struct avro_fault fault;
        char schema[200];
        (void)snprintf(
            schema, sizeof(schema),
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"%c\",\"type\":%s}]}",
            cases[i].columns[0], cases[i].type);
        kit_open(&k, cases[i].columns, schema);
        if (cases[i].want) {
            kit_check(&k, cases[i].row, cases[i].len, cases[i].want, false);
        } else {
            ck_assert(!avro_read_row(k.reads, &k.rows, (const uint8_t *)cases[i].row, cases[i].len,
                                     &fault));
            ck_assert_msg(strstr(fault.why, "too large") || strstr(fault.why, "out of range"), "%s",
                          fault.why);
        }
        kit_close(&k);
    }
}
END_TEST

START_TEST(schemas_that_are_none_are_told)
{
    static const char *const cases[][2] = {
        {"{", "it is no JSON"},
        {"\"strange\"", "there is no type of this name: strange"},
        {"[]", "a union has no branch"},
        {"{\"type\":\"record\",\"fields\":[]}", "has no name"},
        {"{\"type\":\"record\",\"name\":\"R\"}", "no fields or symbols"},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"type\":\"int\"}]}",
         "a field has no name"},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":-1}", "a fixed has no size"},
        {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[1]}", "a symbol of an enum is no text"},
        {"{\"type\":\"array\"}", "a type is missing"},
        {"5", "a type is missing"},
    };
    struct avro_schema s;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert(!avro_schema_read(&s, cases[i][0], why));
        ck_assert_msg(strstr(why, cases[i][1]), "%s: %s", cases[i][0], why);
        avro_schema_done(&s);
    }
    struct sr_out deep = bytes_out();
    for (int i = 0; i < 101; i++) {
        const char *part = i < 50 ? "{\"type\":" : i > 50 ? "}" : "\"int\"";
        ck_assert(bytes_put(&deep, part, strlen(part)));
    }
    ck_assert(bytes_put(&deep, "", 1));
    ck_assert(!avro_schema_read(&s, (const char *)deep.data, why));
    ck_assert_str_eq(why, "types are nested too deeply");
    avro_schema_done(&s);
    bytes_free(&deep);
}
END_TEST

UNIT_MAIN("avro", rows_of_flink_are_read_and_written, the_schema_of_columns_is_flinks,
          what_is_cut_or_changed_is_refused_or_another_row,
          a_schema_of_another_is_resolved_by_names, what_is_out_of_range_is_a_bad_row,
          schemas_that_are_none_are_told)
