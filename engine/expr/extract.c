#include "engine/expr/extract.h"

#include <string.h>
#include <strings.h>

#include "engine/base/calendar.h"
#include "engine/data/schema.h"
#include "engine/expr/moment.h"
#include "engine/expr/promote.h"

/* Flink cuts towards 1970 and not towards the past, so the last millisecond of 1969 has the year
 * 1970. Answers are the same here. */

/* --- Parts of a day number. ------------------------------------------------------------------- */

static int64_t extract_year_day(int64_t days, int32_t *year)
{
    int32_t month, day;
    civil_from_days(days, year, &month, &day);
    return days - civil_days(*year, 1, 1); /* from 0 */
}

/* 0 is Monday; day 0, 1970-01-01, was a Thursday. */
static int64_t extract_weekday(int64_t days)
{
    int64_t d = (days + 3) % 7;
    return d < 0 ? d + 7 : d;
}

/* ISO 8601: the week belongs to the year of its Thursday. */
static int64_t extract_iso(int64_t days, bool is_year)
{
    int32_t year;
    int64_t thursday = days - extract_weekday(days) + 3;
    int64_t day = extract_year_day(thursday, &year);
    return is_year ? year : day / 7 + 1;
}

enum extract_unit {
    EXTRACT_YEAR,
    EXTRACT_QUARTER,
    EXTRACT_MONTH,
    EXTRACT_WEEK,
    EXTRACT_DAY,
    EXTRACT_DOY,
    EXTRACT_DOW,
    EXTRACT_ISODOW,
    EXTRACT_ISOYEAR,
    EXTRACT_DECADE,
    EXTRACT_CENTURY,
    EXTRACT_MILLENNIUM,
    EXTRACT_EPOCH, /* from here on: of a number of ms */
    EXTRACT_HOUR,
    EXTRACT_MINUTE,
    EXTRACT_SECOND,
    EXTRACT_MILLISECOND, /* from here on: of a number of us */
    EXTRACT_MICROSECOND,
    EXTRACT_NANOSECOND,
    EXTRACT_UNITS
};

static int64_t extract_of_day(enum extract_unit unit, int64_t days)
{
    int32_t year, month, day;
    civil_from_days(days, &year, &month, &day);
    switch ((int)unit) {
    case EXTRACT_YEAR:
        return year;
    case EXTRACT_QUARTER:
        return (month + 2) / 3;
    case EXTRACT_MONTH:
        return month;
    case EXTRACT_WEEK:
        return extract_iso(days, false);
    case EXTRACT_DAY:
        return day;
    case EXTRACT_DOY:
        return extract_year_day(days, &year) + 1;
    case EXTRACT_DOW:
        return (extract_weekday(days) + 1) % 7 + 1;
    case EXTRACT_ISODOW:
        return extract_weekday(days) + 1;
    case EXTRACT_ISOYEAR:
        return extract_iso(days, true);
    case EXTRACT_DECADE:
        return year / 10;
    case EXTRACT_CENTURY:
        return year > 0 ? (year + 99) / 100 : (year - 99) / 100;
    default:
        return year > 0 ? (year + 999) / 1000 : (year - 999) / 1000;
    }
}

static int64_t extract_of_ms(enum extract_unit unit, int64_t ms)
{
    switch ((int)unit) {
    case EXTRACT_EPOCH:
        return ms / 1000;
    case EXTRACT_HOUR:
        return ms % MOMENT_DAY_MS / 3600000;
    case EXTRACT_MINUTE:
        return ms % 3600000 / 60000;
    default:
        return ms % 60000 / 1000;
    }
}

static int64_t extract_of_stamp(enum extract_unit unit, int64_t us)
{
    if (unit < EXTRACT_EPOCH) {
        return extract_of_day(unit, moment_floor_div(us, 1000) / MOMENT_DAY_MS);
    }
    if (unit < EXTRACT_MILLISECOND) {
        return extract_of_ms(unit, moment_floor_div(us, 1000));
    }
    int64_t rest = us - moment_floor_div(us, 1000000) * 1000000;
    return unit == EXTRACT_MILLISECOND   ? rest / 1000
           : unit == EXTRACT_MICROSECOND ? rest
                                         : rest * 1000;
}

/* A DATE has hours, minutes and seconds too, in Flink: those of its number of days taken as ms. */
static int64_t extract_of_date(enum extract_unit unit, int32_t days)
{
    return unit < EXTRACT_EPOCH    ? extract_of_day(unit, days)
           : unit == EXTRACT_EPOCH ? days * INT64_C(86400)
                                   : extract_of_ms(unit, days);
}

static int64_t extract_of_months(enum extract_unit unit, int32_t months)
{
    return unit == EXTRACT_YEAR      ? months / 12
           : unit == EXTRACT_QUARTER ? months % 12 / 3 + 1
                                     : months % 12;
}

static int64_t extract_of_span(enum extract_unit unit, int64_t ms)
{
    return unit == EXTRACT_DAY ? ms / MOMENT_DAY_MS : extract_of_ms(unit, ms);
}

static int64_t extract_of_time(enum extract_unit unit, int32_t ms)
{
    return unit == EXTRACT_MILLISECOND ? ms % 1000 : extract_of_ms(unit, ms);
}

/* A kernel a type of argument and unit: the unit is known where the loop is. */
#define EXTRACT_LOOP(from, T, unit)                                              \
    static void extract_##from##_##unit(struct call *k)                          \
    {                                                                            \
        const T *a = k->arg[1]->values;                                          \
        int64_t *to = k->out->values;                                            \
        CALL_EACH_ROW(k, r) { to[r] = extract_of_##from(EXTRACT_##unit, a[r]); } \
    }

/* clang-format off */
#define EXTRACT_DAYS(X, from, T)                                                              \
    X(from, T, YEAR)                                                                          \
    X(from, T, QUARTER)                                                                       \
    X(from, T, MONTH)                                                                         \
    X(from, T, WEEK)                                                                          \
    X(from, T, DAY)                                                                           \
    X(from, T, DOY) X(from, T, DOW) X(from, T, ISODOW) X(from, T, ISOYEAR) X(from, T, DECADE) \
        X(from, T, CENTURY) X(from, T, MILLENNIUM)
#define EXTRACT_CLOCK(X, from, T) X(from, T, HOUR) X(from, T, MINUTE) X(from, T, SECOND)

EXTRACT_DAYS(EXTRACT_LOOP, stamp, int64_t)
EXTRACT_CLOCK(EXTRACT_LOOP, stamp, int64_t)
EXTRACT_LOOP(stamp, int64_t, EPOCH)
EXTRACT_LOOP(stamp, int64_t, MILLISECOND)
EXTRACT_LOOP(stamp, int64_t, MICROSECOND)
EXTRACT_LOOP(stamp, int64_t, NANOSECOND)
EXTRACT_DAYS(EXTRACT_LOOP, date, int32_t)
EXTRACT_CLOCK(EXTRACT_LOOP, date, int32_t)
EXTRACT_LOOP(date, int32_t, EPOCH)
EXTRACT_CLOCK(EXTRACT_LOOP, time, int32_t)
EXTRACT_LOOP(time, int32_t, MILLISECOND)
EXTRACT_LOOP(months, int32_t, YEAR)
EXTRACT_LOOP(months, int32_t, QUARTER)
EXTRACT_LOOP(months, int32_t, MONTH)
EXTRACT_LOOP(span, int64_t, DAY)
EXTRACT_CLOCK(EXTRACT_LOOP, span, int64_t)

/* Of more than 6 digits: the other units do not see them. */
static void extract_nanos(struct call *k)
{
    const struct sr_instant *a = k->arg[1]->values;
    int64_t *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = (a[r].ms % 1000 + 1000) % 1000 * 1000000 + a[r].ns; }
}
static const struct kernel extract_k_nanos = {.run = extract_nanos};

#define EXTRACT_ENTRY(from, T, unit) [EXTRACT_##unit] = {.run = extract_##from##_##unit},

static const struct kernel extract_k_stamp[EXTRACT_UNITS] = {
    EXTRACT_DAYS(EXTRACT_ENTRY, stamp, ) EXTRACT_CLOCK(EXTRACT_ENTRY, stamp, )
    EXTRACT_ENTRY(stamp, , EPOCH) EXTRACT_ENTRY(stamp, , MILLISECOND)
    EXTRACT_ENTRY(stamp, , MICROSECOND) EXTRACT_ENTRY(stamp, , NANOSECOND)};
static const struct kernel extract_k_date[EXTRACT_UNITS] = {
    EXTRACT_DAYS(EXTRACT_ENTRY, date, ) EXTRACT_CLOCK(EXTRACT_ENTRY, date, )
    EXTRACT_ENTRY(date, , EPOCH)};
static const struct kernel extract_k_time[EXTRACT_UNITS] = {
    EXTRACT_CLOCK(EXTRACT_ENTRY, time, ) EXTRACT_ENTRY(time, , MILLISECOND)};
static const struct kernel extract_k_months[EXTRACT_UNITS] = {
    EXTRACT_ENTRY(months, , YEAR) EXTRACT_ENTRY(months, , QUARTER) EXTRACT_ENTRY(months, , MONTH)};
static const struct kernel extract_k_span[EXTRACT_UNITS] = {
    EXTRACT_ENTRY(span, , DAY) EXTRACT_CLOCK(EXTRACT_ENTRY, span, )};
/* clang-format on */

static const char *const extract_names[EXTRACT_UNITS] = {
    "YEAR",   "QUARTER", "MONTH",       "WEEK",        "DAY",        "DOY",   "DOW",
    "ISODOW", "ISOYEAR", "DECADE",      "CENTURY",     "MILLENNIUM", "EPOCH", "HOUR",
    "MINUTE", "SECOND",  "MILLISECOND", "MICROSECOND", "NANOSECOND"};

static const struct kernel *extract_kernels(const struct sr_type *t)
{
    if (sr_is_timestamp(t->kind)) {
        return extract_k_stamp;
    }
    return t->kind == SR_DATE              ? extract_k_date
           : t->kind == SR_TIME            ? extract_k_time
           : t->kind == SR_INTERVAL_MONTH  ? extract_k_months
           : t->kind == SR_INTERVAL_SECOND ? extract_k_span
                                           : NULL;
}

static bool extract_bind_unit(struct bind_call *b, const struct kernel *kernels, int unit)
{
    const struct sr_type *t = &b->arg[1]->type;
    if (!kernels[unit].run) {
        return bind_fails(b, "%s has no %s", type_text(b->arena, t), extract_names[unit]);
    }
    bool is_long = sr_is_timestamp(t->kind) && t->length > 6;
    if (is_long && unit != EXTRACT_NANOSECOND) {
        struct sr_type micros = type_with(t->kind, 6, 0);
        b->arg[1] = expr_cast(b->arena, b->arg[1], &micros, false, b->err);
        if (!b->arg[1]) {
            b->is_said = true;
            return false;
        }
    }
    b->kernel = is_long && unit == EXTRACT_NANOSECOND ? &extract_k_nanos : &kernels[unit];
    b->type = type_nullable(type_of(SR_BIGINT), b->arg[1]->type.is_nullable);
    return true;
}

bool extract_bind(struct bind_call *b)
{
    const struct expr *unit = b->arg[0];
    if (!bind_local(b, 1)) {
        return false;
    }
    const struct kernel *kernels = extract_kernels(&b->arg[1]->type);
    if (unit->kind != EXPR_LITERAL || unit->is_null || !sr_is_text(unit->type.kind) || !kernels) {
        return false;
    }
    for (int i = 0; i < EXTRACT_UNITS; i++) {
        if (strlen(extract_names[i]) == unit->text_len &&
            strncasecmp(extract_names[i], unit->text, unit->text_len) == 0) {
            return extract_bind_unit(b, kernels, i);
        }
    }
    return bind_fails(b, "there is no unit %.*s of time", (int)unit->text_len, unit->text);
}
