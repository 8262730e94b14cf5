#include <string.h>

#include "engine/data/schema.h"
#include "test/unit/unit.h"

static struct sr_error err;

/* A type as it is written, and as it comes out; NULL: it is none. */
static const char *const schema_texts[][2] = {
    {"int", "INT"},
    {"INTEGER NOT NULL", "INT NOT NULL"},
    {"string", "STRING"},
    {"varchar", "VARCHAR(1)"},
    {"VARCHAR ( 20 ) null", "VARCHAR(20)"},
    {"VARCHAR(2147483647)", "STRING"},
    {"char", "CHAR(1)"},
    {"character_", NULL},
    {"bytes", "BYTES"},
    {"binary(3)", "BINARY(3)"},
    {"decimal", "DECIMAL(10, 0)"},
    {"Numeric(38,38)", "DECIMAL(38, 38)"},
    {"dec(5)", "DECIMAL(5, 0)"},
    {"double precision", "DOUBLE"},
    {"timestamp", "TIMESTAMP(6)"},
    {"TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"},
    {"TIMESTAMP(9) WITH LOCAL TIME ZONE NOT NULL", "TIMESTAMP_LTZ(9) NOT NULL"},
    {"timestamp_ltz", "TIMESTAMP_LTZ(6)"},
    {"time", "TIME(0)"},
    {"time(3) without time zone", "TIME(3)"},
    {"interval year to month", "INTERVAL MONTH"},
    {"INTERVAL DAY(3) TO SECOND(6)", "INTERVAL SECOND(3)"},
    {"ARRAY<INT NOT NULL>", "ARRAY<INT NOT NULL>"},
    {"map<string , array<bigint>> not null", "MAP<STRING, ARRAY<BIGINT>> NOT NULL"},
    {"MULTISET<DATE>", "MULTISET<DATE>"},
    {"ROW(a INT, `b ``c` STRING NOT NULL)", "ROW<`a` INT, `b ``c` STRING NOT NULL>"},
    {"ROW<x ROW<y BOOLEAN>>", "ROW<`x` ROW<`y` BOOLEAN>>"},
    {"ROW<>", "ROW<>"},
    {"ROW<a INT 'it''s', b STRING NOT NULL '<'>", "ROW<`a` INT, `b` STRING NOT NULL>"},
    {"int not null array not null", "ARRAY<INT NOT NULL> NOT NULL"},
    {"double precision array multiset", "MULTISET<ARRAY<DOUBLE>>"},
    {"variant", "VARIANT"},
    {"ARRAY<VARIANT NOT NULL>", "ARRAY<VARIANT NOT NULL>"},
    {"structured<'a.b.C$1', x INT, `y z` STRING NOT NULL> not null",
     "STRUCTURED<'a.b.C$1', `x` INT, `y z` STRING NOT NULL> NOT NULL"},
    {"STRUCTURED<'U'>", "STRUCTURED<'U', >"},
    {"STRUCTURED<'U', >", "STRUCTURED<'U', >"},
    {"STRUCTURED<'U', a STRUCTURED<'V', b INT>>", "STRUCTURED<'U', `a` STRUCTURED<'V', `b` INT>>"},
    {"STRUCTURED<U, a INT>", NULL},
    {"STRUCTURED<'U', a INT", NULL},
    {"STRUCTURED<'U' a INT>", NULL},
    {"STRUCTURED<'U", NULL},
    {"STRUCTURED<'1U', a INT>", NULL},
    {"STRUCTURED<'a..b', a INT>", NULL},
    {"STRUCTURED<'a.class', a INT>", NULL},
    {"STRUCTURED", NULL},
    {"ROW<a INT, a INT>", NULL},
    {"ROW<a INT 'open>", NULL},
    {"INT ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY "
     "ARRAY ARRAY ARRAY",
     NULL},
};

START_TEST(texts_come_out_as_flink_prints_them)
{
    struct arena *a = arena_new();
    for (size_t i = 0; i < sizeof(schema_texts) / sizeof(schema_texts[0]); i++) {
        struct sr_type t;
        sr_rc rc = type_parse(a, schema_texts[i][0], &t, NULL, &err);
        ck_assert_msg((rc == SR_OK) == (schema_texts[i][1] != NULL), "%s", schema_texts[i][0]);
        if (rc != SR_OK) {
            continue;
        }
        const char *text = type_text(a, &t);
        ck_assert_str_eq(text, schema_texts[i][1]);
        struct sr_type again;
        ck_assert_int_eq(type_parse(a, text, &again, NULL, &err), SR_OK);
        ck_assert(type_equal(&t, &again, true));
        struct sr_type copy = type_copy(a, &t);
        ck_assert(type_equal(&t, &copy, true));
    }
    arena_free(a);
}
END_TEST

START_TEST(what_is_wrong_is_said_with_its_place)
{
    static const struct {
        const char *text;
        uint32_t at;
        const char *words;
    } cases[] = {
        {"INTT", 0, "did you mean INT?"},
        {"TEXT", 0, "did you mean STRING?"},
        {"qqqqqqqq", 0, "unknown type 'qqqqqqqq'"},
        {"", 0, "a type is expected here"},
        {"INT NOT", 7, "'NULL' is expected here"},
        {"INT x", 4, "nothing is expected behind the type"},
        {"DECIMAL(39)", 8, "between 1 and 38"},
        {"DECIMAL(5, 6)", 11, "between 0 and 5"},
        {"TIMESTAMP(10)", 10, "between 0 and 9"},
        {"TIMESTAMP(3) WITH TIME ZONE", 18, "TIMESTAMP_LTZ"},
        {"CHAR(99999999999999999999)", 5, "between 1 and 2147483647"},
        {"VARCHAR(", 8, "a number is expected here"},
        {"MAP<INT>", 7, "',' is expected here"},
        {"ARRAY INT", 6, "'<' is expected here"},
        {"ROW<`a INT>", 4, "this backtick is not closed"},
        {"INTERVAL DAY TO MONTH", 21, "these units do not make an interval"},
    };
    struct arena *a = arena_new();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sr_type t;
        uint32_t at = 999;
        ck_assert_int_eq(type_parse(a, cases[i].text, &t, &at, &err), SR_ECONFIG);
        ck_assert_msg(at == cases[i].at, "%s: at %u", cases[i].text, at);
        ck_assert_msg(strstr(err.words, cases[i].words) != NULL, "%s: %s", cases[i].text,
                      err.words);
    }
    arena_free(a);
}
END_TEST

START_TEST(nesting_has_a_limit)
{
    struct arena *a = arena_new();
    char text[4000];
    for (uint32_t depth = TYPE_DEPTH_MAX; depth <= 200; depth += 1) {
        size_t n = 0;
        for (uint32_t i = 0; i < depth; i++) {
            memcpy(text + n, "ARRAY<", 6);
            n += 6;
        }
        memcpy(text + n, "INT", 3);
        memset(text + n + 3, '>', depth);
        text[n + 3 + depth] = '\0';
        struct sr_type t;
        sr_rc rc = type_parse(a, text, &t, NULL, &err);
        ck_assert_int_eq(rc, depth <= TYPE_DEPTH_MAX ? SR_OK : SR_ECONFIG);
        if (rc == SR_OK) {
            ck_assert_str_eq(type_text(a, &t), text);
        }
    }
    arena_free(a);
}
END_TEST

START_TEST(schemas_are_found_copied_and_compared)
{
    struct arena *a = arena_new();
    struct sr_field f[] = {{"id", type_nullable(type_of(SR_BIGINT), false)},
                           {"ID", type_of(SR_VARCHAR)}};
    uint32_t key[] = {0};
    struct sr_schema s = {.fields = 2, .field = f, .rowtime = -1, .keys = 1, .key = key};
    ck_assert_int_eq(schema_find(&s, "ID"), 1);
    ck_assert_int_eq(schema_find(&s, "Id"), -1);
    struct sr_schema *copy = schema_copy(a, &s);
    ck_assert(schema_equal(&s, copy));
    f[0].type.is_nullable = true;
    ck_assert(!schema_equal(&s, copy));
    ck_assert(type_equal(&s.field[0].type, &copy->field[0].type, false));
    arena_free(a);
}
END_TEST

UNIT_MAIN("schema", texts_come_out_as_flink_prints_them, what_is_wrong_is_said_with_its_place,
          nesting_has_a_limit, schemas_are_found_copied_and_compared)
