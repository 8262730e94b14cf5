#include <streamrun/plugin.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "test/kit/format_kit.h"
#include "test/unit/unit.h"

extern const struct sr_plugin sr_plugin_raw;

static struct format_kit k;
static void *conf;
static struct sr_error err;

static void open_kit(const char *columns)
{
    conf = format_kit_conf(sr_plugin_raw.formats[0]);
    format_kit_open(&k, sr_plugin_raw.formats[0], conf, columns);
}

static void close_kit(void)
{
    format_kit_close(&k);
    free(conf);
}

START_TEST(a_line_is_a_value_whatever_is_in_it)
{
    open_kit("line STRING");
    const char *text = "a,\"b\n\n {\"x\":1} \r\nlast";
    format_kit_check_values(&k, text, "'a,\"b'\n''\n' {\"x\":1} '\n'last'\n");
    format_kit_check_feeds(&k, text, (uint32_t)strlen(text));
    format_kit_check_wanted(&k, text, (uint32_t)strlen(text));
    format_kit_check_feeds(&k, "", 0);
    format_kit_check_bad(&k, "good",
                         "b\xff"
                         "d",
                         "the text is not valid UTF-8");
    format_kit_check_encode(&k, "a\n\nb\n", "a\n\nb\n");
    close_kit();
    open_kit("line BYTES");
    format_kit_check_values(&k,
                            "b\xff"
                            "d\n",
                            "'b\xff"
                            "d'\n");
    close_kit();
}
END_TEST

START_TEST(a_message_is_a_value)
{
    open_kit("v STRING");
    struct format_feed f = {.is_framed = true};
    char *told = format_kit_decode(&k, "a\n\nb", 4, &f);
    char *rows = format_kit_rows(told);
    ck_assert_str_eq(rows, "'a'\n''\n'b'\n");
    free(rows);
    free(told);
    close_kit();
}
END_TEST

START_TEST(other_schemas_and_charsets_are_refused)
{
    static const char *const cases[][2] = {
        {"a STRING, b STRING", "the schema must have exactly one column, not '2 columns'"},
        {"a DATE", "an integer, FLOAT or DOUBLE, not 'DATE'"},
        {"a ARRAY<INT>", "an integer, FLOAT or DOUBLE, not 'ARRAY'"},
    };
    uint32_t flags = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_kit(cases[i][0]);
        ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_ECONFIG);
        ck_assert_msg(strstr(err.words, cases[i][1]) != NULL, "%s", err.words);
        close_kit();
    }
    open_kit("a STRING");
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_OK);
    ck_assert_uint_eq(flags, SR_FORMAT_ABSENT | SR_FORMAT_LINES | SR_FORMAT_RESYNC);
    static const char *const unknown[] = {"UTF-17", "", "UTF-8//IGNORE", "x"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        *(const char **)conf = unknown[i];
        ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_ECONFIG);
        ck_assert_ptr_nonnull(strstr(err.words, "this machine's iconv knows, not"));
    }
    *(const char **)conf = "UTF-16LE";
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_OK);
    ck_assert_uint_eq(flags, 0); /* its newlines are no single bytes */
    *(const char **)conf = "ISO8859_1";
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_OK);
    ck_assert_uint_eq(flags, SR_FORMAT_ABSENT | SR_FORMAT_LINES | SR_FORMAT_RESYNC);
    close_kit();
}
END_TEST

struct bytes {
    const char *data;
    uint32_t len;
};
#define BYTES(s) ((struct bytes){(s), sizeof(s) - 1})

/* What bytes of a file are as rows, however they arrive; and, written, they are `again`. */
static void check_file(struct bytes file, const char *rows, struct bytes again)
{
    struct format_feed f = {0};
    char *told = format_kit_decode(&k, file.data, file.len, &f);
    char *got = format_kit_rows(told);
    ck_assert_str_eq(got, rows);
    free(got);
    free(told);
    format_kit_check_feeds(&k, file.data, file.len);
    struct sr_builder b;
    struct sr_view *v = NULL;
    uint32_t row_at[SR_BATCH_ROWS];
    static struct sr_bad bad[SR_BAD_MAX];
    void *dec = calloc(1, k.type->decoder_size), *enc = calloc(1, k.type->encoder_size);
    struct sr_format_open o = {sizeof(o), &k.host, conf, &k.schema};
    struct sr_decode d = {.bytes = (const uint8_t *)file.data,
                          .len = file.len,
                          .at_start = true,
                          .at_end = true,
                          .out = &b,
                          .row_at = row_at,
                          .bad = bad};
    ck_assert_int_eq(k.type->decode_open(dec, &o, &err), SR_OK);
    ck_assert_int_eq(builder_open(&b, k.home, &k.host, &k.schema, NULL, &err), SR_OK);
    ck_assert_int_eq(k.type->decode(dec, &d, &err), SR_OK);
    ck_assert_int_eq(builder_seal(&b, &v, &err), SR_OK);
    struct sr_out out = bytes_out();
    struct sr_encode e = {.view = v, .count = v ? v->picked : 0, .out = &out};
    ck_assert_int_eq(k.type->encode_open(enc, &o, &err), SR_OK);
    ck_assert_int_eq(k.type->encode_head(enc, &out, &err), SR_OK);
    ck_assert_int_eq(k.type->encode(enc, &e, &err), SR_OK);
    ck_assert_uint_eq(out.len, again.len);
    ck_assert_mem_eq(out.data, again.data, again.len);
    k.type->decode_close(dec);
    k.type->encode_close(enc);
    view_release(v);
    builder_close(&b);
    bytes_free(&out);
    free(dec);
    free(enc);
}

static void set_charset(const char *name) { *(const char **)conf = name; }

START_TEST(text_may_have_any_charset)
{
    open_kit("v STRING");
    set_charset("ISO-8859-1");
    check_file(BYTES("a\xe9\r\n\n\xff"), "'a\xC3\xA9'\n''\n'\xC3\xBF'\n", BYTES("a\xe9\n\n\xff\n"));
    set_charset("windows-1252");
    check_file(BYTES("\x80\n\x81\n"), "'\xE2\x82\xAC'\n", BYTES("\x80\n"));
    set_charset("US-ASCII");
    check_file(BYTES("a\n\x80\nb\n"), "'a'\n'b'\n", BYTES("a\nb\n"));
    set_charset("Shift_JIS");
    check_file(BYTES("\x83\x5c\n"), "'\xE3\x82\xBD'\n", BYTES("\x83\x5c\n"));
    set_charset("UTF-16LE");
    check_file(BYTES("a\0\r\0\n\0\n\0\n\1\0\n\n\0b\0"), "'a'\n''\n'\xC4\x8A\xE0\xA8\x80'\n'b'\n",
               BYTES("a\0\n\0\n\0\n\1\0\n\n\0b\0\n\0"));
    set_charset("UTF-16");
    check_file(BYTES("\xfe\xff\0a\0\n\xd8\x3d\xde\x00"), "'a'\n'\xF0\x9F\x98\x80'\n",
               BYTES("\xfe\xff\0a\0\n\xd8\x3d\xde\x00\0\n"));
    check_file(BYTES("\0a\0\n\xd8\x3d\0\n\0b"), "'a'\n'b'\n", BYTES("\xfe\xff\0a\0\n\0b\0\n"));
    check_file(BYTES("\xfe\xff"), "", BYTES("\xfe\xff"));
    set_charset("UTF-32");
    check_file(BYTES("\0\0\xfe\xff\0\0\0a\0\0\0\n"), "'a'\n", BYTES("\0\0\xfe\xff\0\0\0a\0\0\0\n"));
    close_kit();
}
END_TEST

START_TEST(numbers_have_their_size_whatever_their_bytes)
{
    open_kit("v INT");
    check_file(BYTES("\0\0\0\n\n\xff\xff\xff\xfe\r\n\r\n\r\n\n\0\0\1\0"),
               "10\n-2\n218762506\n256\n",
               BYTES("\0\0\0\n\n\xff\xff\xff\xfe\n\r\n\r\n\n\0\0\1\0\n"));
    check_file(BYTES("\0\0\n\0\0\0\7\n\0\0\0\0\0\n\n\0\0\0\1\n\0"), "7\n1\n",
               BYTES("\0\0\0\7\n\0\0\0\1\n"));
    format_kit_check_bad(&k, "\1\2\3\4", "\1\2\3\4\5",
                         "5 bytes are not a value of type INT, which has 4");
    close_kit();
    open_kit("v BIGINT");
    ((sr_choice *)(void *)((char *)conf + sizeof(const char *)))->index = 1;
    check_file(BYTES("\1\0\0\0\0\0\0\x80\n"), "-9223372036854775807\n",
               BYTES("\1\0\0\0\0\0\0\x80\n"));
    close_kit();
    open_kit("v DOUBLE");
    check_file(BYTES("\x3f\xf8\0\0\0\0\0\0\n"), "1.5\n", BYTES("\x3f\xf8\0\0\0\0\0\0\n"));
    close_kit();
    open_kit("v FLOAT");
    check_file(BYTES("\x3f\xc0\0\0\n"), "1.5\n", BYTES("\x3f\xc0\0\0\n"));
    close_kit();
    open_kit("v SMALLINT");
    check_file(BYTES("\n\n\n"), "2570\n", BYTES("\n\n\n"));
    close_kit();
    open_kit("v BOOLEAN");
    check_file(BYTES("\0\n\1\n\x7f\n"), "0\n1\n1\n", BYTES("\0\n\1\n\1\n"));
    close_kit();
    open_kit("v TINYINT");
    uint32_t flags = 0;
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_OK);
    ck_assert_uint_eq(flags, SR_FORMAT_ABSENT |
                                 SR_FORMAT_RESYNC); /* no split may begin behind just any newline */
    close_kit();
}
END_TEST

UNIT_MAIN("raw", text_may_have_any_charset, numbers_have_their_size_whatever_their_bytes,
          a_line_is_a_value_whatever_is_in_it, a_message_is_a_value,
          other_schemas_and_charsets_are_refused)
