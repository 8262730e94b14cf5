#include "engine/expr/time_round.h"

#include <string.h>
#include <strings.h>

#include "engine/base/calendar.h"
#include "engine/data/schema.h"
#include "engine/expr/instant.h"
#include "engine/expr/promote.h"

/* As Flink does it: units from a week up look at the day only, which of a time before 1970 is the
 * one towards 1970; and CEIL of a DATE to DAY is the next day. */

enum round_unit {
    ROUND_MILLENNIUM,
    ROUND_CENTURY,
    ROUND_DECADE,
    ROUND_YEAR,
    ROUND_QUARTER,
    ROUND_MONTH,
    ROUND_WEEK,
    ROUND_DAY, /* from here on: of a number of ms */
    ROUND_HOUR,
    ROUND_MINUTE,
    ROUND_SECOND,
    ROUND_MILLISECOND,
    ROUND_UNITS
};

static const char *const round_names[ROUND_UNITS] = {
    "MILLENNIUM", "CENTURY", "DECADE", "YEAR",   "QUARTER", "MONTH",
    "WEEK",       "DAY",     "HOUR",   "MINUTE", "SECOND",  "MILLISECOND"};

/* The first day of so many years, years counted from 1 (`from` 1) or 0. */
static int64_t round_years(int32_t year, bool is_first_day, int32_t size, int32_t from,
                           bool is_ceil)
{
    int32_t first = (int32_t)moment_floor_div(year - from, size) * size + from;
    bool is_exact = from == 0 && first == year && is_first_day;
    return civil_days(is_ceil && !is_exact ? first + size : first, 1, 1);
}

static int64_t round_day(enum round_unit unit, int64_t days, bool is_ceil)
{
    int32_t year, month, day;
    civil_from_days(days, &year, &month, &day);
    int64_t sunday = ((days + 4) % 7 + 7) % 7; /* days since; day 0 was a Thursday */
    int32_t months = unit == ROUND_QUARTER ? 3 : 1;
    int32_t first = (month - 1) / months * months + 1;
    bool is_new_year = month == 1 && day == 1;
    switch ((int)unit) {
    case ROUND_MILLENNIUM:
        return round_years(year, is_new_year, 1000, 1, is_ceil);
    case ROUND_CENTURY:
        return round_years(year, is_new_year, 100, 1, is_ceil);
    case ROUND_DECADE:
        return round_years(year, is_new_year, 10, 0, is_ceil);
    case ROUND_YEAR:
        return round_years(year, is_new_year, 1, 0, is_ceil);
    case ROUND_WEEK:
        return is_ceil && sunday > 0 ? days + 7 - sunday : days - sunday;
    case ROUND_DAY:
        return is_ceil ? days + 1 : days;
    default: /* QUARTER, MONTH */
        if (is_ceil && (month != first || day != 1)) {
            return moment_add_months(civil_days(year, first, 1), months);
        }
        return civil_days(year, first, 1);
    }
}

static int64_t round_ms(enum round_unit unit, int64_t ms, bool is_ceil)
{
    int64_t size = unit == ROUND_DAY      ? MOMENT_DAY_MS
                   : unit == ROUND_HOUR   ? 3600000
                   : unit == ROUND_MINUTE ? 60000
                   : unit == ROUND_SECOND ? 1000
                                          : 1;
    int64_t low = moment_floor_div(ms, size) * size;
    return is_ceil && low != ms ? low + size : low;
}

/* What is below a millisecond counts for CEIL to MILLISECOND only. */
static struct sr_instant round_instant(enum round_unit unit, struct sr_instant v, bool is_ceil)
{
    int64_t ms = unit < ROUND_DAY ? round_day(unit, v.ms / MOMENT_DAY_MS, is_ceil) * MOMENT_DAY_MS
                                  : round_ms(unit, v.ms, is_ceil);
    bool is_up = unit == ROUND_MILLISECOND && is_ceil && v.ns > 0;
    return (struct sr_instant){.ms = is_up ? ms + 1 : ms};
}

static int64_t round_stamp(enum round_unit unit, int64_t us, bool is_ceil)
{
    return instant_us(round_instant(unit, instant_of_us(us), is_ceil));
}

static int32_t round_date(enum round_unit unit, int32_t days, bool is_ceil)
{
    return unit <= ROUND_DAY ? (int32_t)round_day(unit, days, is_ceil) : days;
}

static int32_t round_time(enum round_unit unit, int32_t ms, bool is_ceil)
{
    return (int32_t)round_ms(unit, ms, is_ceil);
}

/* A kernel a type, unit and direction: all but the row is known where the loop is. */
#define ROUND_LOOP(from, T, unit, way, is_ceil)                                    \
    static void round_##from##_##unit##_##way(struct call *k)                      \
    {                                                                              \
        const T *a = k->arg[0]->values;                                            \
        T *to = k->out->values;                                                    \
        CALL_EACH_ROW(k, r) { to[r] = round_##from(ROUND_##unit, a[r], is_ceil); } \
    }
#define ROUND_BOTH(from, T, unit)           \
    ROUND_LOOP(from, T, unit, floor, false) \
    ROUND_LOOP(from, T, unit, ceil, true)
#define ROUND_ENTRY(from, T, unit) \
    [ROUND_##                      \
        unit] = {{.run = round_##from##_##unit##_floor}, {.run = round_##from##_##unit##_ceil}},

/* clang-format off */
#define ROUND_DAYS(X, from, T)                                                           \
    X(from, T, MILLENNIUM) X(from, T, CENTURY) X(from, T, DECADE) X(from, T, YEAR)       \
    X(from, T, QUARTER) X(from, T, MONTH) X(from, T, WEEK) X(from, T, DAY)
#define ROUND_CLOCK(X, from, T)                                                          \
    X(from, T, HOUR) X(from, T, MINUTE) X(from, T, SECOND) X(from, T, MILLISECOND)

ROUND_DAYS(ROUND_BOTH, stamp, int64_t)
ROUND_CLOCK(ROUND_BOTH, stamp, int64_t)
ROUND_DAYS(ROUND_BOTH, instant, struct sr_instant)
ROUND_CLOCK(ROUND_BOTH, instant, struct sr_instant)
ROUND_DAYS(ROUND_BOTH, date, int32_t)
ROUND_CLOCK(ROUND_BOTH, time, int32_t)

static const struct kernel round_k_stamp[ROUND_UNITS][2] = {
    ROUND_DAYS(ROUND_ENTRY, stamp, ) ROUND_CLOCK(ROUND_ENTRY, stamp, )};
static const struct kernel round_k_instant[ROUND_UNITS][2] = {
    ROUND_DAYS(ROUND_ENTRY, instant, ) ROUND_CLOCK(ROUND_ENTRY, instant, )};
static const struct kernel round_k_date[ROUND_UNITS][2] = {ROUND_DAYS(ROUND_ENTRY, date, )};
static const struct kernel round_k_time[ROUND_UNITS][2] = {ROUND_CLOCK(ROUND_ENTRY, time, )};
/* clang-format on */

/* Of a TIMESTAMP_LTZ: on the clock of the session, and back. */
static bool round_bind_local(struct bind_call *b)
{
    struct sr_type type = b->arg[0]->type;
    b->whole = bind_local(b, 0) ? bind_sub(b, b->func->name, b->arg, b->args) : NULL;
    b->whole = b->whole ? expr_cast(b->arena, b->whole, &type, false, b->err) : NULL;
    b->is_said = !b->whole;
    return !b->is_said;
}

bool time_round_bind(struct bind_call *b, bool is_ceil)
{
    if (b->arg[0]->type.kind == SR_TIMESTAMP_LTZ) {
        return round_bind_local(b);
    }
    const struct sr_type *t = &b->arg[0]->type;
    const struct expr *unit = b->arg[1];
    bool is_stamp = sr_is_timestamp(t->kind),
         is_long = is_stamp && t->length > INSTANT_DIGITS_SMALL;
    if (unit->kind != EXPR_LITERAL || unit->is_null || !sr_is_text(unit->type.kind) ||
        (!is_stamp && t->kind != SR_DATE && t->kind != SR_TIME)) {
        return false;
    }
    for (int i = 0; i < ROUND_UNITS; i++) {
        if (strlen(round_names[i]) != unit->text_len ||
            strncasecmp(round_names[i], unit->text, unit->text_len) != 0) {
            continue;
        }
        b->kernel = is_long              ? &round_k_instant[i][is_ceil]
                    : is_stamp           ? &round_k_stamp[i][is_ceil]
                    : t->kind == SR_DATE ? &round_k_date[i][is_ceil]
                                         : &round_k_time[i][is_ceil];
        b->type = *t;
        return b->kernel->run ||
               bind_fails(b, "%s cannot be rounded to %s", type_text(b->arena, t), round_names[i]);
    }
    return bind_fails(b, "there is no unit %.*s of time", (int)unit->text_len, unit->text);
}
