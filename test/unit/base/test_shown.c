#include <string.h>

#include "engine/base/shown.h"
#include "test/unit/unit.h"

START_TEST(characters_are_told_from_bytes_that_are_none)
{
    static const struct {
        const char *text;
        uint32_t size;
    } all[] = {{"a", 1},
               {"\x1b", 0},
               {"\x7f", 0},
               {"\xc2\x9b", 0},
               {"\xc2\xa0", 2},
               {"\xc0\x80", 0},
               {"\xe2\x82\xac", 3},
               {"\xed\xa0\x80", 0},
               {"\xe2\x82", 0},
               {"\xe0\x80\x80", 0},
               {"\xff", 0},
               {"\xf0\x9f\x98\x80", 4},
               {"\x80", 0},
               {"\xf4\x90\x80\x80", 0}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const uint8_t *s = (const uint8_t *)all[i].text;
        ck_assert_uint_eq(shown_character(s, strlen(all[i].text)), all[i].size);
    }
}
END_TEST

START_TEST(text_that_grows_is_cut_between_what_is_shown)
{
    for (size_t size = 5; size <= 40; size++) {
        char text[40];
        memset(text, 0xff, sizeof(text));
        text[size - 1] = '\0';
        shown_make(text, size);
        ck_assert_uint_eq(strlen(text), (size - 1) / 4 * 4);
        ck_assert_uint_eq(strspn(text, "\\xf"), strlen(text));
    }
    char plain[16] = "a\tb\n\xc3\xa4";
    shown_make(plain, sizeof(plain));
    ck_assert_str_eq(plain, "a\tb\n\xc3\xa4");
}
END_TEST

START_TEST(utf8_may_hold_control_characters)
{
    ck_assert(shown_is_utf8("") && shown_is_utf8("a\x1b\xc2\x9b\xe2\x82\xac"));
    ck_assert(!shown_is_utf8("a\xff") && !shown_is_utf8("\xc2") && !shown_is_utf8("\xe2\x82"));
}
END_TEST

UNIT_MAIN("shown", characters_are_told_from_bytes_that_are_none,
          text_that_grows_is_cut_between_what_is_shown, utf8_may_hold_control_characters)
