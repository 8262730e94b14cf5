#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/infer_read.h"
#include "test/unit/unit.h"

static struct arena *arena;
static struct infer *infer;
static struct sr_error err;

static void start(void)
{
    arena = arena_new();
    infer = malloc(sizeof(*infer));
    ck_assert(arena && infer);
    infer_init(infer, arena);
    memset(&err, 0, sizeof(err));
}

static void end(void)
{
    free(infer);
    arena_free(arena);
}

/* The type of a column all of whose values are these. */
static const char *of_values(bool with_numbers, const char *const *text)
{
    const char *note = NULL;
    infer_init(infer, arena);
    uint32_t node = infer_child(infer, 0, "c");
    for (; *text; text++) {
        uint32_t digits = 0, kinds = infer_kinds(*text, with_numbers, &digits);
        infer_value(infer, node, kinds, digits);
    }
    infer_settle(infer);
    return infer_type(infer, node, &note);
}

#define OF(...)   of_values(true, (const char *const[]){__VA_ARGS__, NULL})
#define TEXT(...) of_values(false, (const char *const[]){__VA_ARGS__, NULL})

/* The narrowest type that fits every value. */
START_TEST(narrowest)
{
    start();
    ck_assert_str_eq(OF("1", "-2"), "BIGINT");
    ck_assert_str_eq(OF("999999999999999999"), "BIGINT");
    ck_assert_str_eq(OF("1", "9999999999999999999"), "DECIMAL(38, 0)");
    ck_assert_str_eq(OF("1", "2.5", "-1e3"), "DOUBLE");
    ck_assert_str_eq(OF("123456789012345678901234567890123456789"), "DOUBLE");
    ck_assert_str_eq(OF("true", "FALSE"), "BOOLEAN");
    ck_assert_str_eq(OF("true", "1"), "STRING");
    ck_assert_str_eq(OF("1", "x"), "STRING");
    ck_assert_str_eq(TEXT("1", "2"), "STRING");
    ck_assert_str_eq(OF("12:30:00"), "TIME");
    ck_assert_str_eq(OF("2024-02-29", "2026-12-31"), "DATE");
    ck_assert_str_eq(OF("2026-01-01 00:00:00"), "TIMESTAMP(3)");
    ck_assert_str_eq(OF("2026-01-01 00:00:00", "2026-01-01 00:00:00.1234"), "TIMESTAMP(6)");
    ck_assert_str_eq(OF("2026-01-01 00:00:00.123456789"), "TIMESTAMP(9)");
    ck_assert_str_eq(OF("2026-01-01 00:00:00Z"), "TIMESTAMP_LTZ(3)");
    ck_assert_str_eq(OF("2026-01-01T00:00:00Z"), "TIMESTAMP_LTZ(3)");
    ck_assert(infer_is_iso(infer));
    end();
}
END_TEST

/* What only looks like a number or a moment is a text. */
START_TEST(texts)
{
    static const char *const one[] = {"007",
                                      "1.2.3",
                                      "0x10",
                                      "1e",
                                      "--1",
                                      "-",
                                      ".",
                                      "nan",
                                      "inf",
                                      "2023-02-29",
                                      "1900-02-29",
                                      "2026-13-01",
                                      "2026-00-10",
                                      "2026-01-32",
                                      "24:00:00",
                                      "12:60:00",
                                      "12:30",
                                      "12:30:00.5",
                                      "2026-1-1",
                                      "0000-01-01",
                                      "2026-01-01 1",
                                      "2026-01-01 00:00:00.",
                                      "2026-01-01x00:00:00",
                                      "2026-01-01 00:00:00.1234567890",
                                      "2026-01-01 00:00:00+01:00",
                                      " 1",
                                      ""};
    start();
    for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
        const char *type = OF(one[i]);
        if (strcmp(type, "STRING") != 0) ck_abort_msg("'%s' is taken for %s", one[i], type);
    }
    end();
}
END_TEST

/* A format reads moments in one way: those of ISO 8601 beside others are texts. */
START_TEST(one_way_of_moments)
{
    start();
    uint32_t digits = 0;
    const char *note = NULL;
    uint32_t a = infer_child(infer, 0, "a"), b = infer_child(infer, 0, "b");
    infer_value(infer, a, infer_kinds("2026-01-01 00:00:00", true, &digits), 0);
    infer_value(infer, b, infer_kinds("2026-01-01T00:00:00", true, &digits), 0);
    infer_settle(infer);
    ck_assert_str_eq(infer_type(infer, a, &note), "TIMESTAMP(3)");
    ck_assert_str_eq(infer_type(infer, b, &note), "STRING");
    ck_assert(!infer_is_iso(infer));
    end();
}
END_TEST

/* A column is found again by its name; too many and too deep ones are none. */
START_TEST(children_have_bounds)
{
    start();
    char name[16];
    uint32_t first = infer_child(infer, 0, "c1");
    ck_assert_uint_ne(first, 0);
    ck_assert_uint_eq(infer_child(infer, 0, "c1"), first);
    uint32_t deep = first;
    for (uint32_t i = 1; i < INFER_DEPTH_MAX; i++) {
        deep = infer_child(infer, deep, "x");
        ck_assert_uint_ne(deep, 0);
    }
    ck_assert_uint_eq(infer_child(infer, deep, "x"), 0);
    while (infer->nodes < INFER_NODES_MAX) {
        (void)snprintf(name, sizeof(name), "n%u", infer->nodes);
        ck_assert_uint_ne(infer_child(infer, 0, name), 0);
    }
    ck_assert_uint_eq(infer_child(infer, 0, "one more"), 0);
    ck_assert_uint_eq(infer_child(infer, 0, "c1"), first);
    end();
}
END_TEST

static sr_rc read_text(sr_rc (*read)(struct infer *, struct infer_file *, struct sr_error *),
                       const char *text, struct infer_file *file)
{
    infer_init(infer, arena);
    memset(&err, 0, sizeof(err));
    file->in = fmemopen(arena_text(arena, text), strlen(text), "r");
    file->name = "f";
    ck_assert_ptr_nonnull(file->in);
    sr_rc rc = read(infer, file, &err);
    (void)fclose(file->in);
    return rc;
}

static const char *type_of(const char *column)
{
    const char *note = NULL;
    uint32_t nodes = infer->nodes, node = infer_child(infer, 0, column);
    ck_assert_uint_eq(infer->nodes, nodes); /* it was there */
    return infer_type(infer, node, &note);
}

/* A header is known by what stands below it; quoted fields may hold marks and line ends. */
START_TEST(csv)
{
    start();
    struct infer_file file = {.header = INFER_HEADER_GUESS};
    ck_assert_int_eq(read_text(infer_csv, "id,name\n1,\"a, \"\"b\"\"\nc\"\n\n2,\n", &file), SR_OK);
    ck_assert_int_eq(file.header, INFER_HEADER_YES);
    ck_assert_int_eq(file.delimiter, ',');
    ck_assert_uint_eq(infer->records, 2);
    ck_assert_str_eq(type_of("id"), "BIGINT");
    ck_assert_str_eq(type_of("name"), "STRING");

    file = (struct infer_file){.header = INFER_HEADER_GUESS};
    ck_assert_int_eq(read_text(infer_csv, "1;2.5\r\n2;3\r\n", &file), SR_OK);
    ck_assert_int_eq(file.header, INFER_HEADER_NO);
    ck_assert_int_eq(file.delimiter, ';');
    ck_assert_uint_eq(infer->records, 2);

    file = (struct infer_file){.header = INFER_HEADER_YES, .records_max = 2};
    ck_assert_int_eq(read_text(infer_csv, "a\n1\n2\nx\n", &file), SR_OK);
    ck_assert(file.is_cut);
    ck_assert_str_eq(type_of("a"), "BIGINT");
    end();
}
END_TEST

/* Objects are rows, arrays have one type of elements; null says nothing of the type. */
START_TEST(json)
{
    start();
    struct infer_file file = {0};
    ck_assert_int_eq(read_text(infer_json,
                               "{\"n\": 1, \"r\": {\"x\": true}, \"a\": [1, 2.5], \"z\": null}\n"
                               "{\"n\": null, \"r\": {\"y\": \"s\"}, \"a\": [], \"s\": \"1\"}\n",
                               &file),
                     SR_OK);
    ck_assert_uint_eq(infer->records, 2);
    ck_assert_str_eq(type_of("n"), "BIGINT");
    ck_assert_str_eq(type_of("r"), "ROW<`x` BOOLEAN, `y` STRING>");
    ck_assert_str_eq(type_of("a"), "ARRAY<DOUBLE>");
    ck_assert_str_eq(type_of("z"), "STRING");
    ck_assert_str_eq(type_of("s"), "STRING");
    ck_assert_int_eq(read_text(infer_json, "{\"t\": \"2026-01-01 00:00:00.1234\"}\n", &file),
                     SR_OK);
    ck_assert_str_eq(type_of("t"), "TIMESTAMP(6)");
    ck_assert_int_eq(read_text(infer_json, "no json\n", &file), SR_EDATA);
    end();
}
END_TEST

UNIT_MAIN("infer", narrowest, texts, one_way_of_moments, children_have_bounds, csv, json)
