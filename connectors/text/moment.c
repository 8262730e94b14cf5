#include "connectors/text/moment.h"

#define SECONDS_PER_DAY INT64_C(86400)

/* Days since 1970-01-01, proleptic Gregorian: years begin in March, a leap day is a year's last. */
static int64_t moment_days(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2 ? 1 : 0);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static void moment_civil(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t march = (5 * doy + 2) / 153;
    *day = (int)(doy - (153 * march + 2) / 5 + 1);
    *month = (int)(march < 10 ? march + 3 : march - 9);
    *year = yoe + era * 400 + (*month <= 2 ? 1 : 0);
}

static int moment_month_days(int64_t year, int month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

/* A reader over the text; every take answers false at what it does not expect. */
struct moment_reader {
    const char *at, *end;
};

static bool moment_take(struct moment_reader *p, char c)
{
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return true;
    }
    return false;
}

/* `min` to `max` digits. */
static bool moment_number(struct moment_reader *p, int min, int max, int *out)
{
    int v = 0;
    int n = 0;
    while (n < max && p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        v = v * 10 + (*p->at++ - '0');
        n++;
    }
    *out = v;
    return n >= min;
}

static bool moment_read_date(struct moment_reader *p, int digits_min, int64_t *days)
{
    bool is_before = moment_take(p, '-');
    bool is_signed = is_before || moment_take(p, '+');
    int year = 0;
    int month = 0;
    int day = 0;
    if (!moment_number(p, 4, is_signed ? 6 : 4, &year) || !moment_take(p, '-') ||
        !moment_number(p, digits_min, 2, &month) || !moment_take(p, '-') ||
        !moment_number(p, digits_min, 2, &day)) {
        return false;
    }
    year = is_before ? -year : year;
    if (month < 1 || month > 12 || day < 1 || day > moment_month_days(year, month)) {
        return false;
    }
    *days = moment_days(year, month, day);
    return true;
}

/* [.fraction] of up to 9 digits. */
static bool moment_read_fraction(struct moment_reader *p, int32_t *nano)
{
    *nano = 0;
    if (!moment_take(p, '.')) {
        return true;
    }
    const char *begin = p->at;
    int v = 0;
    if (!moment_number(p, 1, 9, &v)) {
        return false;
    }
    for (long n = p->at - begin; n < 9; n++) {
        v *= 10;
    }
    *nano = v;
    return true;
}

static bool moment_read_time(struct moment_reader *p, bool needs_seconds, int32_t *seconds,
                             int32_t *nano)
{
    int hour = 0;
    int minute = 0;
    int second = 0;
    *nano = 0;
    if (!moment_number(p, 2, 2, &hour) || !moment_take(p, ':') ||
        !moment_number(p, 2, 2, &minute)) {
        return false;
    }
    if (moment_take(p, ':')) {
        if (!moment_number(p, 2, 2, &second) || !moment_read_fraction(p, nano)) {
            return false;
        }
    } else if (needs_seconds) {
        return false;
    }
    *seconds = hour * 3600 + minute * 60 + second;
    return hour <= 23 && minute <= 59 && second <= 59;
}

/* Z, or +hh:mm, +hhmm, +hh: how far local time is ahead of UTC. */
static bool moment_read_offset(struct moment_reader *p, int32_t *ahead)
{
    *ahead = 0;
    if (moment_take(p, 'Z')) {
        return true;
    }
    bool is_behind = moment_take(p, '-');
    int hours = 0;
    int minutes = 0;
    if ((!is_behind && !moment_take(p, '+')) || !moment_number(p, 2, 2, &hours)) {
        return false;
    }
    bool has_colon = moment_take(p, ':');
    if ((has_colon || p->at < p->end) && !moment_number(p, 2, 2, &minutes)) {
        return false;
    }
    *ahead = (hours * 3600 + minutes * 60) * (is_behind ? -1 : 1);
    return hours <= 18 && minutes <= 59;
}

bool moment_get_date(const char *s, uint32_t len, int32_t *days)
{
    struct moment_reader p = {.at = s, .end = s + len};
    int64_t d = 0;
    if (!moment_read_date(&p, 1, &d) || p.at != p.end) {
        return false;
    }
    *days = (int32_t)d;
    return true;
}

bool moment_get_time(const char *s, uint32_t len, int32_t *ms)
{
    struct moment_reader p = {.at = s, .end = s + len};
    int32_t seconds = 0;
    int32_t nano = 0;
    if (!moment_read_time(&p, false, &seconds, &nano) || p.at != p.end) {
        return false;
    }
    *ms = seconds * 1000 + nano / 1000000;
    return true;
}

bool moment_get(const char *s, uint32_t len, unsigned how, struct moment *out)
{
    struct moment_reader p = {.at = s, .end = s + len};
    int64_t days = 0;
    int32_t seconds = 0;
    int32_t nano = 0;
    int32_t ahead = 0;
    if (!moment_read_date(&p, 2, &days)) {
        return false;
    }
    bool is_split = ((how & MOMENT_SPACE) != 0 && moment_take(&p, ' ')) ||
                    ((how & MOMENT_T) != 0 && moment_take(&p, 'T'));
    if (!is_split || !moment_read_time(&p, true, &seconds, &nano)) {
        return false;
    }
    if ((how & MOMENT_OFFSET) != 0) {
        if (!moment_read_offset(&p, &ahead)) {
            return false;
        }
    } else if ((how & MOMENT_ZULU) != 0 && !moment_take(&p, 'Z')) {
        return false;
    }
    if (p.at != p.end) {
        return false;
    }
    *out = (struct moment){.seconds = days * SECONDS_PER_DAY + seconds - ahead, .nano = nano};
    return true;
}

static char *moment_digits(char *to, int64_t v, int width)
{
    for (int i = width; i > 0; i--) {
        to[i - 1] = (char)('0' + v % 10);
        v /= 10;
    }
    return to + width;
}

static char *moment_write_date(char *to, int64_t days)
{
    int64_t year = 0;
    int month = 0;
    int day = 0;
    moment_civil(days, &year, &month, &day);
    /* Beyond four digits ISO 8601 wants a sign. */
    if (year < 0 || year > 9999) {
        *to++ = year < 0 ? '-' : '+';
        year = year < 0 ? -year : year;
    }
    int width = 4;
    for (int64_t limit = 10000; year >= limit && width < 12; limit *= 10) {
        width++;
    }
    to = moment_digits(to, year, width);
    *to++ = '-';
    to = moment_digits(to, month, 2);
    *to++ = '-';
    return moment_digits(to, day, 2);
}

static char *moment_write_time(char *to, int64_t seconds, int32_t nano)
{
    to = moment_digits(to, seconds / 3600, 2);
    *to++ = ':';
    to = moment_digits(to, seconds / 60 % 60, 2);
    *to++ = ':';
    to = moment_digits(to, seconds % 60, 2);
    if (nano == 0) {
        return to;
    }
    *to++ = '.';
    to = moment_digits(to, nano, 9);
    while (to[-1] == '0') {
        to--;
    }
    return to;
}

uint32_t moment_put_date(char *to, int32_t days)
{
    return (uint32_t)(moment_write_date(to, days) - to);
}

uint32_t moment_put_time(char *to, int32_t ms)
{
    return (uint32_t)(moment_write_time(to, ms / 1000, ms % 1000 * 1000000) - to);
}

uint32_t moment_put(char *to, struct moment m, unsigned how)
{
    int64_t days = m.seconds / SECONDS_PER_DAY;
    int64_t rest = m.seconds % SECONDS_PER_DAY;
    if (rest < 0) {
        rest += SECONDS_PER_DAY;
        days--;
    }
    char *end = moment_write_date(to, days);
    *end++ = (how & MOMENT_T) != 0 ? 'T' : ' ';
    end = moment_write_time(end, rest, m.nano);
    if ((how & MOMENT_ZULU) != 0) {
        *end++ = 'Z';
    }
    return (uint32_t)(end - to);
}
