/* What every unit test file includes: libcheck, and one main. */
#ifndef TEST_UNIT_UNIT_H
#define TEST_UNIT_UNIT_H

#include <check.h>
#include <stdlib.h>

#undef fail /* libcheck's old name for ck_abort_msg: struct sr_host has a member of that name */

/* Runs the named test cases (each an array of TTest, ended by NULL) and ends the program. */
#define UNIT_MAIN(name, ...)                                                      \
    int main(void)                                                                \
    {                                                                             \
        const TTest *const unit_tests[] = {__VA_ARGS__};                          \
        Suite *s = suite_create(name);                                            \
        TCase *t = tcase_create(name);                                            \
        tcase_set_timeout(t, 60);                                                 \
        for (size_t i = 0; i < sizeof(unit_tests) / sizeof(unit_tests[0]); i++) { \
            tcase_add_test(t, unit_tests[i]);                                     \
        }                                                                         \
        suite_add_tcase(s, t);                                                    \
        SRunner *r = srunner_create(s);                                           \
        srunner_run_all(r, CK_NORMAL);                                            \
        int failed = srunner_ntests_failed(r);                                    \
        srunner_free(r);                                                          \
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                         \
    }

#endif
