/* Dates and times, by counting years and months. */
#include <string.h>

#include "engine/expr/promote.h"
#include "test/unit/expr/slow/slow.h"

#define TIME_DAY_MS  INT64_C(86400000)
#define TIME_ERA     146097 /* days of 400 years */
#define TIME_FAR_DAY 40000000

static bool time_is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int64_t time_month_days(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && time_is_leap(year) ? 1 : 0);
}

static int64_t time_floor(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t slow_days(int64_t year, int64_t month, int64_t day)
{
    int64_t eras = time_floor(year - 1970, 400), days = eras * TIME_ERA;
    for (int64_t y = 1970 + eras * 400; y < year; y++) {
        days += time_is_leap(y) ? 366 : 365;
    }
    for (int64_t m = 1; m < month; m++) {
        days += time_month_days(year, m);
    }
    return days + day - 1;
}

void slow_civil(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    int64_t eras = time_floor(days, TIME_ERA), y = 1970 + eras * 400, m = 1;
    days -= eras * TIME_ERA;
    for (; days >= (time_is_leap(y) ? 366 : 365); y++) {
        days -= time_is_leap(y) ? 366 : 365;
    }
    for (; days >= time_month_days(y, m); m++) {
        days -= time_month_days(y, m);
    }
    *year = y;
    *month = m;
    *day = days + 1;
}

static int64_t time_add_months(int64_t days, int64_t months)
{
    int64_t year, month, day;
    slow_civil(days, &year, &month, &day);
    int64_t all = year * 12 + month - 1 + months;
    year = time_floor(all, 12);
    month = all - year * 12 + 1;
    int64_t last = time_month_days(year, month);
    return slow_days(year, month, day < last ? day : last);
}

/* A time and an interval. False: too far away to count there. */
static bool time_shift(struct slow_call *c, int sign)
{
    const struct box *a = &c->arg[0];
    enum sr_kind kind = c->e->type.kind;
    bool is_months = c->e->arg[1]->type.kind == SR_INTERVAL_MONTH;
    int64_t by = c->arg[1].i * sign;
    int64_t days = kind == SR_DATE ? a->i : time_floor(a->i, TIME_DAY_MS);
    if (by > INT64_C(1000000000000000) || by < -INT64_C(1000000000000000) || days > TIME_FAR_DAY ||
        days < -TIME_FAR_DAY || (is_months && (by > 1000000 || by < -1000000))) {
        c->s->is_far = true;
        return false;
    }
    *c->out = *a;
    if (kind == SR_TIME) {
        int64_t sum = is_months ? a->i : (a->i + by) % TIME_DAY_MS;
        c->out->i = sum < 0 ? sum + TIME_DAY_MS : sum;
    } else if (kind == SR_DATE) {
        c->out->i = is_months ? time_add_months(days, by) : days + by / TIME_DAY_MS;
    } else if (is_months) {
        c->out->i = time_add_months(days, by) * TIME_DAY_MS + (a->i - days * TIME_DAY_MS);
    } else {
        int64_t unit = c->e->type.length == 0   ? 1000
                       : c->e->type.length == 1 ? 100
                       : c->e->type.length == 2 ? 10
                                                : 1;
        if ((a->i + by) % unit != 0) {
            return false; /* more digits than the type has */
        }
        c->out->i = a->i + by;
    }
    return true;
}

/* EXTRACT of what all know; days of a TIMESTAMP before 1970 count towards it, in Flink. */
static bool time_extract(struct slow_call *c)
{
    const struct sr_type *t = &c->e->arg[1]->type;
    const char *unit = c->arg[0].text;
    bool is_stamp = sr_is_timestamp(t->kind);
    int64_t v = c->arg[1].i, year, month, day;
    if (t->kind != SR_DATE && !is_stamp && t->kind != SR_TIME) {
        return false;
    }
    if (strcmp(unit, "HOUR") == 0 || strcmp(unit, "MINUTE") == 0 || strcmp(unit, "SECOND") == 0) {
        c->out->i = unit[0] == 'H'   ? v % TIME_DAY_MS / 3600000
                    : unit[0] == 'M' ? v % 3600000 / 60000
                                     : v % 60000 / 1000;
        return t->kind != SR_DATE;
    }
    if (t->kind == SR_TIME) {
        return false;
    }
    int64_t days = is_stamp ? v / TIME_DAY_MS : v;
    slow_civil(days, &year, &month, &day);
    if (strcmp(unit, "YEAR") == 0) {
        c->out->i = year;
    } else if (strcmp(unit, "QUARTER") == 0) {
        c->out->i = (month - 1) / 3 + 1;
    } else if (strcmp(unit, "MONTH") == 0) {
        c->out->i = month;
    } else if (strcmp(unit, "DAY") == 0) {
        c->out->i = day;
    } else if (strcmp(unit, "DOY") == 0) {
        c->out->i = days - slow_days(year, 1, 1) + 1;
    } else if (strcmp(unit, "DOW") == 0) {
        c->out->i = ((days % 7 + 7 + 4) % 7) + 1;
    } else {
        return false;
    }
    return true;
}

/* FLOOR and CEIL to a unit of the clock, or a day. */
static bool time_round(struct slow_call *c)
{
    const char *unit = c->arg[1].text;
    enum sr_kind kind = c->e->type.kind;
    int64_t size = strcmp(unit, "DAY") == 0      ? TIME_DAY_MS
                   : strcmp(unit, "HOUR") == 0   ? 3600000
                   : strcmp(unit, "MINUTE") == 0 ? 60000
                   : strcmp(unit, "SECOND") == 0 ? 1000
                                                 : 0;
    if (size == 0 || (kind != SR_TIMESTAMP && kind != SR_TIME)) {
        return false;
    }
    int64_t low = time_floor(c->arg[0].i, size) * size;
    c->out->i = c->name[0] == 'C' && low != c->arg[0].i ? low + size : low;
    return true;
}

bool slow_time(struct slow_call *c)
{
    const char *name = c->name;
    bool is_shift = c->e->args == 2 && (strcmp(name, "+") == 0 || strcmp(name, "-") == 0) &&
                    sr_is_interval(c->e->arg[1]->type.kind);
    if (is_shift) {
        return time_shift(c, name[0] == '-' ? -1 : 1);
    }
    if (strcmp(name, "EXTRACT") == 0) {
        return time_extract(c);
    }
    return c->e->args == 2 && (strcmp(name, "FLOOR") == 0 || strcmp(name, "CEIL") == 0) &&
           time_round(c);
}
