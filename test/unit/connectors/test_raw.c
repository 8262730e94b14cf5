#include <streamrun/plugin.h>
#include <string.h>

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
        {"a INT", "the column must be STRING or BYTES, not 'INT'"},
    };
    uint32_t flags = 0;
    for (int i = 0; i < 2; i++) {
        open_kit(cases[i][0]);
        ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_ECONFIG);
        ck_assert_msg(strstr(err.words, cases[i][1]) != NULL, "%s", err.words);
        close_kit();
    }
    open_kit("a STRING");
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_OK);
    ck_assert_uint_eq(flags, SR_FORMAT_LINES | SR_FORMAT_RESYNC);
    *(const char **)conf = "UTF-16";
    ck_assert_int_eq(k.type->check(conf, &k.schema, false, &flags, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "raw.charset: must be UTF-8, not 'UTF-16'"));
    close_kit();
}
END_TEST

UNIT_MAIN("raw", a_line_is_a_value_whatever_is_in_it, a_message_is_a_value,
          other_schemas_and_charsets_are_refused)
