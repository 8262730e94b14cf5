#include <errno.h>
#include <string.h>

#include "engine/base/error.h"
#include "test/unit/unit.h"

START_TEST(every_code_has_a_name_words_and_a_fate)
{
    ck_assert_str_eq(rc_name(SR_EIO), "SR_EIO");
    ck_assert_str_eq(rc_words(SR_ENOSPC), "no space is left");
    ck_assert_int_eq(rc_fate(SR_EDATA), SR_FATE_ROW);
    for (int rc = 0; rc < SR_RC_COUNT; rc++) {
        ck_assert(rc_words((sr_rc)rc)[0] != '\0');
    }
    ck_assert_str_eq(rc_name((sr_rc)9999), "SR_?");
}
END_TEST

START_TEST(wrapping_puts_the_context_in_front)
{
    struct sr_error e;
    ck_assert_int_eq(error_set(&e, SR_EIO, "read %s", "/a"), SR_EIO);
    ck_assert_int_eq(error_wrap(&e, "checkpoint %d", 7), SR_EIO);
    ck_assert_str_eq(e.words, "checkpoint 7: read /a");
    ck_assert_int_eq(error_set(&e, SR_EDATA, "again: %s", e.words), SR_EDATA);
    ck_assert_str_eq(e.words, "again: checkpoint 7: read /a");
    ck_assert_int_eq(error_set(NULL, SR_ENOMEM, "nobody reads"), SR_ENOMEM);
}
END_TEST

START_TEST(long_words_are_cut_between_characters)
{
    struct sr_error e;
    char text[1200];
    for (size_t offset = 0; offset < 3; offset++) {
        memset(text, 'x', offset);
        for (size_t i = offset; i + 3 < sizeof(text); i += 3) {
            memcpy(text + i, "\xe2\x82\xac", 4); /* the euro sign */
        }
        (void)error_set(&e, SR_EIO, "%s", text);
        size_t len = strlen(e.words);
        ck_assert_uint_gt(len, sizeof(e.words) - 5);
        ck_assert_uint_eq((len - offset) % 3, 0);
        (void)error_wrap(&e, "more");
        ck_assert_uint_eq((strlen(e.words) - offset - strlen("more: ")) % 3, 0);
    }
}
END_TEST

START_TEST(errno_gives_the_code_and_the_path)
{
    struct sr_error e;
    ck_assert_int_eq(error_errno(&e, ENOENT, "open", "/a/b"), SR_EABSENT);
    ck_assert_str_eq(e.words, "open /a/b: No such file or directory");
    ck_assert_int_eq(error_errno(&e, ENOSPC, "write", "/a"), SR_ENOSPC);
    ck_assert_int_eq(error_errno(&e, EACCES, "open", "/a"), SR_EACCESS);
    ck_assert_int_eq(error_errno(&e, EEXIST, "open", "/a"), SR_EEXISTS);
    ck_assert_int_eq(error_errno(&e, EINVAL, "open", NULL), SR_EIO);
    ck_assert_str_eq(e.words, "open: Invalid argument");
}
END_TEST

START_TEST(words_from_outside_are_made_fit_to_be_shown)
{
    struct sr_error e;
    (void)error_set(&e, SR_EIO, "it said %s", "\xff\x1b[31m \xc2\x9b\n\xe2\x82\xac");
    ck_assert_str_eq(e.words, "it said \\xff\\x1b[31m \\xc2\\x9b\n\xe2\x82\xac");
    (void)error_wrap(&e, "open %s", "/\xc3\x28");
    ck_assert_ptr_nonnull(strstr(e.words, "open /\\xc3(: it said \\xff"));
}
END_TEST

UNIT_MAIN("error", every_code_has_a_name_words_and_a_fate, wrapping_puts_the_context_in_front,
          long_words_are_cut_between_characters, words_from_outside_are_made_fit_to_be_shown,
          errno_gives_the_code_and_the_path)
