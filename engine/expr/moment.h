/* Dates and times as SQL text: reading, writing, and shifting by months. */
#ifndef SR_EXPR_MOMENT_H
#define SR_EXPR_MOMENT_H

#include <streamrun/batch.h>

#define MOMENT_DAY_MS   INT64_C(86400000)
#define MOMENT_DAY_US   INT64_C(86400000000)
#define MOMENT_TEXT_MAX 40 /* room that each of the writers needs */

/* Readers answer false when the text is not one. None skips blanks around it. */

/* "y-M-d" with a real day, year to 9999: a DATE literal. */
bool moment_parse_date(const char *s, uint32_t len, int32_t *days);
/* CAST(text AS DATE): "y", "y-M" or "y-M-d", and anything behind a blank. */
bool moment_cast_date(const char *s, uint32_t len, int32_t *days);
/* "H:m:s[.fraction]"; digits is the length of the fraction. `is_short`: "H" and "H:m" as well. */
bool moment_parse_time(const char *s, uint32_t len, bool is_short, int32_t *ms, int32_t *digits);
/* "yyyy-M-d[ H:m:s[.fraction]]"; when `is_smart`, a day behind the end of its month becomes its
 * last one, and 24:00:00 the next day. */
bool moment_parse_stamp(const char *s, uint32_t len, bool is_smart, struct sr_instant *out,
                        int32_t *digits);

/* Writers answer the length. Years are four digits, of larger ones the last four, as in Flink. */
uint32_t moment_date_text(int64_t days, char *to);
uint32_t moment_time_text(int32_t ms, int32_t precision, char *to);
uint32_t moment_stamp_text(struct sr_instant v, int32_t precision, char *to);
uint32_t moment_months_text(int32_t months, char *to); /* "+1-02" */
uint32_t moment_span_text(int64_t ms, char *to);       /* "+1 02:03:04.567" */

/* The same day `months` later, or the last of that month. */
int64_t moment_add_months(int64_t days, int64_t months);
int32_t moment_month_days(int64_t year, int32_t month);
int64_t moment_cut(int64_t us, int32_t precision); /* to that many digits, towards the past */
int64_t moment_floor_div(int64_t a, int64_t b);

/* The first microsecond of a day. Days that 64 bits do not hold wrap, as in Java. */
static inline int64_t moment_of_day(int64_t days)
{
    return (int64_t)((uint64_t)days * (uint64_t)MOMENT_DAY_US);
}

#endif
