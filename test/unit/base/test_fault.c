#include <string.h>

#include "engine/base/fault.h"
#include "test/unit/unit.h"

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

UNIT_MAIN("fault", faults_are_kept_once_in_the_order_of_places, more_faults_than_fit_are_counted)
