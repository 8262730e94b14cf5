#include "engine/base/nearest.h"

#include "test/unit/unit.h"

START_TEST(edits_are_counted_and_a_swap_is_one)
{
    ck_assert_uint_eq(word_distance("interval", "interval"), 0);
    ck_assert_uint_eq(word_distance("intervall", "interval"), 1);
    ck_assert_uint_eq(word_distance("paht", "path"), 1);
    ck_assert_uint_eq(word_distance("", "abc"), 3);
    ck_assert_uint_eq(word_distance("kitten", "sitting"), 3);
}
END_TEST

START_TEST(only_a_near_word_is_offered)
{
    const char *const words[] = {"path", "format", "source.monitor-interval", NULL};
    ck_assert_str_eq(nearest_word("paht", words), "path");
    ck_assert_str_eq(nearest_word("source.monitor-intervall", words), "source.monitor-interval");
    ck_assert_ptr_null(nearest_word("zzzz", words));
    ck_assert_ptr_null(nearest_word("", words));
}
END_TEST

UNIT_MAIN("nearest", edits_are_counted_and_a_swap_is_one, only_a_near_word_is_offered)
