#include "engine/base/code.h"

#include <string.h>

#include "test/unit/unit.h"

static void expect(const char *given, const char *words, const char *code)
{
    char space[128], got[CODE_LEN + 1];
    strcpy(space, given);
    code_take(space, got);
    ck_assert_str_eq(space, words);
    ck_assert_str_eq(got, code);
}

START_TEST(a_code_is_taken_out_of_its_words_wherever_it_stands)
{
    expect("SR0412: there is none", "there is none", "SR0412");
    expect("sink 'o': SR0412: full", "sink 'o': full", "SR0412");
    expect("a: SR0001: b: SR0002: c", "a: b: c", "SR0001");
    expect("SR0412: ", "", "SR0412");
}
END_TEST

START_TEST(what_only_looks_like_a_code_stays)
{
    expect("", "", "");
    expect("SR", "SR", "");
    expect("SR041: x", "SR041: x", "");
    expect("XSR0412: x", "XSR0412: x", "");
    expect("see SR0412", "see SR0412", "");
    expect("SR0412:x", "SR0412:x", "");
}
END_TEST

UNIT_MAIN("code", a_code_is_taken_out_of_its_words_wherever_it_stands,
          what_only_looks_like_a_code_stays)
