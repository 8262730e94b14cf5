#include <time.h>

#include "engine/base/calendar.h"
#include "test/unit/unit.h"

START_TEST(days_go_forth_and_back_over_a_long_time)
{
    int32_t y, m, d;
    for (int64_t days = -800000; days < 3000000; days += 17) {
        civil_from_days(days, &y, &m, &d);
        ck_assert_int_eq(civil_days(y, m, d), days);
        ck_assert(civil_is_valid(&(struct civil){.year = y, .month = m, .day = d}));
    }
    ck_assert_int_eq(civil_days(1970, 1, 1), 0);
    ck_assert_int_eq(civil_days(2000, 3, 1), 11017);
    ck_assert_int_eq(civil_days(1, 1, 1), -719162);
}
END_TEST

START_TEST(fields_agree_with_the_c_library)
{
    for (int64_t s = -5000000000; s < 9000000000; s += 98765431) {
        struct civil c = civil_from_us(s * 1000000 + 123456);
        time_t t = (time_t)s;
        struct tm tm;
        gmtime_r(&t, &tm);
        ck_assert_int_eq(c.year, tm.tm_year + 1900);
        ck_assert_int_eq(c.month, tm.tm_mon + 1);
        ck_assert_int_eq(c.day, tm.tm_mday);
        ck_assert_int_eq(c.hour, tm.tm_hour);
        ck_assert_int_eq(c.minute, tm.tm_min);
        ck_assert_int_eq(c.second, tm.tm_sec);
        ck_assert_int_eq(c.nano, 123456000);
        ck_assert_int_eq(civil_to_us(&c), s * 1000000 + 123456);
    }
}
END_TEST

START_TEST(impossible_dates_are_not_valid)
{
    ck_assert(civil_is_valid(&(struct civil){2024, 2, 29, 23, 59, 59, 0}));
    ck_assert(!civil_is_valid(&(struct civil){2023, 2, 29, 0, 0, 0, 0}));
    ck_assert(!civil_is_valid(&(struct civil){1900, 2, 29, 0, 0, 0, 0}));
    ck_assert(!civil_is_valid(&(struct civil){2024, 0, 1, 0, 0, 0, 0}));
    ck_assert(!civil_is_valid(&(struct civil){2024, 13, 1, 0, 0, 0, 0}));
    ck_assert(!civil_is_valid(&(struct civil){2024, 4, 31, 0, 0, 0, 0}));
    ck_assert(!civil_is_valid(&(struct civil){2024, 4, 30, 24, 0, 0, 0}));
    ck_assert(!civil_is_valid(&(struct civil){2024, 4, 30, 0, 0, 60, 0}));
}
END_TEST

START_TEST(iso_text_has_milliseconds_and_a_fixed_length)
{
    char out[25];
    civil_iso_ms(-1, out);
    ck_assert_str_eq(out, "1969-12-31T23:59:59.999Z");
    civil_iso_ms(INT64_MAX, out);
    ck_assert_str_eq(out, "9999-12-31T23:59:59.999Z");
    civil_iso_ms(INT64_MIN, out);
    ck_assert_str_eq(out, "0000-01-01T00:00:00.000Z");
}
END_TEST

UNIT_MAIN("calendar", days_go_forth_and_back_over_a_long_time, fields_agree_with_the_c_library,
          impossible_dates_are_not_valid, iso_text_has_milliseconds_and_a_fixed_length)
