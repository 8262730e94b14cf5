#include "engine/base/calendar.h"

#include <stdbool.h>

#include "engine/base/assert.h"

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY    (INT64_C(86400) * US_PER_SECOND)
#define DAYS_PER_ERA  INT64_C(146097) /* 400 years */

/* Howard Hinnant's days_from_civil: years begin in March, so that a leap day is a year's last. */
int64_t civil_days(int32_t year, int32_t month, int32_t day)
{
    int64_t y = (int64_t)year - (month <= 2 ? 1 : 0);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - 719468;
}

void civil_from_days(int64_t days, int32_t *year, int32_t *month, int32_t *day)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
    int64_t doe = z - era * DAYS_PER_ERA;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t march = (5 * doy + 2) / 153; /* months since March */
    *day = (int32_t)(doy - (153 * march + 2) / 5 + 1);
    *month = (int32_t)(march < 10 ? march + 3 : march - 9);
    *year = (int32_t)(yoe + era * 400 + (*month <= 2 ? 1 : 0));
}

struct civil civil_from_us(int64_t us)
{
    int64_t days = us / US_PER_DAY;
    int64_t rest = us % US_PER_DAY;
    if (rest < 0) {
        rest += US_PER_DAY;
        days--;
    }
    struct civil c = {.nano = (int32_t)(rest % US_PER_SECOND * 1000)};
    civil_from_days(days, &c.year, &c.month, &c.day);
    int32_t seconds = (int32_t)(rest / US_PER_SECOND);
    c.hour = seconds / 3600;
    c.minute = seconds / 60 % 60;
    c.second = seconds % 60;
    return c;
}

static int32_t civil_month_days(int32_t year, int32_t month)
{
    static const int32_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

bool civil_is_valid(const struct civil *c)
{
    return c->month >= 1 && c->month <= 12 && c->day >= 1 &&
           c->day <= civil_month_days(c->year, c->month) && c->hour >= 0 && c->hour <= 23 &&
           c->minute >= 0 && c->minute <= 59 && c->second >= 0 && c->second <= 59 && c->nano >= 0 &&
           c->nano <= 999999999;
}

int64_t civil_to_us(const struct civil *c)
{
    int64_t seconds = (int64_t)c->hour * 3600 + (int64_t)c->minute * 60 + c->second;
    return civil_days(c->year, c->month, c->day) * US_PER_DAY + seconds * US_PER_SECOND +
           c->nano / 1000;
}

static char *civil_digits(char *to, int32_t value, unsigned width)
{
    for (unsigned i = width; i > 0; i--) {
        to[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
    return to + width;
}

/* Years outside 0000-9999 do not fit the 24 places and are shown as the nearest that does. */
void civil_iso_ms(int64_t us, char out[25])
{
    struct civil c = civil_from_us(us);
    if (c.year < 0) {
        c = (struct civil){.year = 0, .month = 1, .day = 1};
    } else if (c.year > 9999) {
        c = (struct civil){9999, 12, 31, 23, 59, 59, 999000000};
    }
    char *p = civil_digits(out, c.year, 4);
    *p++ = '-';
    p = civil_digits(p, c.month, 2);
    *p++ = '-';
    p = civil_digits(p, c.day, 2);
    *p++ = 'T';
    p = civil_digits(p, c.hour, 2);
    *p++ = ':';
    p = civil_digits(p, c.minute, 2);
    *p++ = ':';
    p = civil_digits(p, c.second, 2);
    *p++ = '.';
    p = civil_digits(p, c.nano / 1000000, 3);
    *p++ = 'Z';
    *p = '\0';
    sr_assert(p == out + 24);
}
