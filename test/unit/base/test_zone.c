/* Time zones: names, offsets by database and rule, times that are skipped or come twice. */
#include "engine/base/calendar.h"
#include "engine/base/zone.h"
#include "test/unit/unit.h"

static struct zone *zone(const char *name)
{
    struct zone *z = NULL;
    struct sr_error err = {0};
    ck_assert_msg(zone_load(name, &z, &err) == SR_OK, "%s: %s", name, err.words);
    return z;
}

/* Minutes since the epoch. */
static int64_t at(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute)
{
    return (civil_days(year, month, day) * 24 + hour) * 60 + minute;
}

static int64_t utc(const struct zone *z, int64_t minute, bool is_later)
{
    return zone_utc_ms(z, minute * 60000, is_later) / 60000;
}

static int64_t local(const struct zone *z, int64_t minute)
{
    return zone_local_ms(z, minute * 60000) / 60000;
}

/* UTC by any name is none; offsets are taken as they are written; what is no name is refused. */
START_TEST(names_are_known_or_refused)
{
    static const char *const same[] = {"UTC", "Z", "GMT", "Etc/UTC", "+00:00", "GMT+0", "utc"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        ck_assert_ptr_null(zone(same[i]));
    }
    struct zone *east = zone("GMT+8"), *west = zone("-03:30");
    ck_assert_int_eq(local(east, 0), 480);
    ck_assert_int_eq(local(west, 0), -210);
    zone_free(east);
    zone_free(west);
    static const char *const bad[] = {
        "",    "Europe/Nowhere", "../../etc/passwd", "GMT+99",
        "+8:", "Europe",         "/etc/localtime",   "Europe/Berlin\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct zone *z = NULL;
        struct sr_error err = {0};
        ck_assert_msg(zone_load(bad[i], &z, &err) == SR_ECONFIG, "%s is taken", bad[i]);
        ck_assert_ptr_nonnull(strstr(err.words, "no time zone"));
    }
}
END_TEST

/* Summer and winter, north and south, before the first transition and far behind the last. */
START_TEST(offsets_are_those_of_the_database)
{
    struct zone *z = zone("Europe/Berlin");
    ck_assert_int_eq(local(z, at(2020, 7, 1, 12, 0)), at(2020, 7, 1, 14, 0));
    ck_assert_int_eq(local(z, at(2020, 1, 1, 12, 0)), at(2020, 1, 1, 13, 0));
    ck_assert_int_eq(local(z, at(2099, 7, 1, 12, 0)), at(2099, 7, 1, 14, 0));
    ck_assert_int_eq(local(z, at(2099, 1, 1, 12, 0)), at(2099, 1, 1, 13, 0));
    ck_assert_int_eq(zone_local_ms(z, at(1800, 1, 1, 0, 0) * 60000),
                     at(1800, 1, 1, 0, 0) * 60000 + 3208000);
    zone_free(z);
    z = zone("Australia/Sydney");
    ck_assert_int_eq(local(z, at(2020, 7, 1, 0, 0)), at(2020, 7, 1, 10, 0));
    ck_assert_int_eq(local(z, at(2020, 1, 1, 0, 0)), at(2020, 1, 1, 11, 0));
    ck_assert_int_eq(local(z, at(2099, 1, 1, 0, 0)), at(2099, 1, 1, 11, 0));
    zone_free(z);
}
END_TEST

/* A skipped time moves on by what was skipped; one that comes twice is the first or the second. */
START_TEST(turning_clocks)
{
    struct zone *z = zone("America/New_York");
    ck_assert_int_eq(utc(z, at(2020, 3, 8, 2, 30), false), at(2020, 3, 8, 7, 30));
    ck_assert_int_eq(utc(z, at(2020, 3, 8, 2, 30), true), at(2020, 3, 8, 7, 30));
    ck_assert_int_eq(utc(z, at(2020, 11, 1, 1, 30), false), at(2020, 11, 1, 5, 30));
    ck_assert_int_eq(utc(z, at(2020, 11, 1, 1, 30), true), at(2020, 11, 1, 6, 30));
    ck_assert_int_eq(utc(z, at(2090, 3, 12, 3, 0), false), at(2090, 3, 12, 7, 0));
    for (int64_t m = at(2020, 1, 1, 0, 0); m < at(2021, 1, 1, 0, 0); m += 17) {
        ck_assert(utc(z, local(z, m), false) == m || utc(z, local(z, m), true) == m);
    }
    zone_free(z);
}
END_TEST

UNIT_MAIN("zone", names_are_known_or_refused, offsets_are_those_of_the_database, turning_clocks)
