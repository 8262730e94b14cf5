#include <string.h>

#include "engine/base/fault.h"
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

START_TEST(faults_are_kept_once_in_the_order_of_places)
{
    struct arena *a = arena_new();
    struct faults *f = calloc(1, sizeof(*f));
    faults_init(f, a);
    fault_add(f, FAULT_ERROR, (struct place){"b.yaml", 1, 1}, NULL, "fourth");
    fault_add(f, FAULT_ERROR, (struct place){"a.yaml", 9, 2}, NULL, "second");
    fault_add(f, FAULT_WARNING, (struct place){"a.yaml", 9, 2}, NULL, "third");
    fault_add(f, FAULT_ERROR, (struct place){"a.yaml", 2, 7}, "hint", "first");
    fault_add(f, FAULT_ERROR, (struct place){"a.yaml", 2, 7}, "hint", "first");
    faults_sort(f);
    const char *order[] = {"first", "second", "third", "fourth"};
    ck_assert_uint_eq(f->count, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(f->fault[i].words, order[i]);
    }
    ck_assert_str_eq(f->fault[0].hint, "hint");
    ck_assert_uint_eq(f->errors, 3);
    ck_assert_uint_eq(f->warnings, 1);
    free(f);
    arena_free(a);
}
END_TEST

START_TEST(more_faults_than_fit_are_counted)
{
    struct arena *a = arena_new();
    struct faults *f = calloc(1, sizeof(*f));
    faults_init(f, a);
    for (unsigned i = 0; i < FAULTS_MAX + 5; i++) {
        fault_add(f, FAULT_ERROR, (struct place){"a", i + 1, 0}, NULL, "x");
    }
    ck_assert_uint_eq(f->count, FAULTS_MAX);
    ck_assert_uint_eq(f->dropped, 5);
    ck_assert_uint_eq(f->errors, FAULTS_MAX + 5);
    free(f);
    arena_free(a);
}
END_TEST

UNIT_MAIN("fault", edits_are_counted_and_a_swap_is_one, only_a_near_word_is_offered,
          faults_are_kept_once_in_the_order_of_places, more_faults_than_fit_are_counted)
