/* Patterns of Java's SimpleDateFormat, which FROM_UNIXTIME, UNIX_TIMESTAMP and CONVERT_TZ use:
 * lenient where DateTimeFormatter (time_format.h) is strict, and with other letters. English. */
#ifndef SR_EXPR_SIMPLE_DATE_H
#define SR_EXPR_SIMPLE_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/zone.h"

#define SIMPLE_TEXT_MAX 512u /* bytes that writing makes at most; longer texts are cut */

struct simple_pattern {
    const char *text;
    uint32_t len;
    const struct zone *zone;
    const char *zone_name; /* that `z` writes */
};

/* Whether it is a pattern; else *letter has no meaning, or is 0: a quote has no end. */
bool simple_is_good(const char *text, uint32_t len, char *letter);
/* Answers the length. */
uint32_t simple_write(const struct simple_pattern *p, int64_t utc_ms, char *to);
/* Fields beyond their range go over into the next larger one, text behind the date is left. */
bool simple_read(const struct simple_pattern *p, const char *s, uint32_t len, int64_t *utc_ms);

#endif
