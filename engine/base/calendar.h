/* Days and wall-clock fields: proleptic Gregorian, no time zone; and texts of times. */
#ifndef SR_BASE_CALENDAR_H
#define SR_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

struct civil {
    int32_t year;
    int32_t month, day;           /* 1-12, 1-31 */
    int32_t hour, minute, second; /* 0-23, 0-59, 0-59 */
    int32_t nano;                 /* 0-999,999,999 */
};

int64_t civil_days(int32_t year, int32_t month, int32_t day); /* since 1970-01-01 */
void civil_from_days(int64_t days, int32_t *year, int32_t *month, int32_t *day);
struct civil civil_from_us(int64_t us); /* since the epoch, floor for negative ones */
bool civil_is_valid(const struct civil *c);
int64_t civil_to_us(const struct civil *c);  /* nano is cut to us */
void civil_iso_ms(int64_t us, char out[25]); /* "2026-01-31T12:00:00.000Z" */

#endif
