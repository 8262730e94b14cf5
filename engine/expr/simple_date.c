#include "engine/expr/simple_date.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/calendar.h"
#include "engine/expr/moment.h"

static const char *const simple_months[] = {"January",   "February", "March",    "April",
                                            "May",       "June",     "July",     "August",
                                            "September", "October",  "November", "December"};
static const char *const simple_days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                          "Thursday", "Friday", "Saturday"};

/* --- A pattern, part by part. ----------------------------------------------------------------- */

struct simple_part {
    char letter; /* 0: text */
    uint32_t count;
    const char *text;
    uint32_t len;
};

/* The part at *p, which moves behind it; false: a quote without an end. Text in quotes comes in
 * pieces, '' is a quote. */
static bool simple_next(const char **p, const char *end, bool *is_quoted, struct simple_part *part)
{
    const char *s = *p;
    *part = (struct simple_part){.text = s, .len = 1};
    if (*s == '\'') {
        if (s + 1 < end && s[1] == '\'') {
            *p = s + 2;
            return true;
        }
        *is_quoted = !*is_quoted;
        part->len = 0;
        *p = s + 1;
        return *p < end || !*is_quoted;
    }
    if (!*is_quoted && isalpha((unsigned char)*s)) {
        part->letter = *s;
        while (s + part->count < end && s[part->count] == *s) {
            part->count++;
        }
        *p = s + part->count;
        return true;
    }
    *p = s + 1;
    return *p < end || !*is_quoted;
}

bool simple_is_good(const char *text, uint32_t len, char *letter)
{
    const char *p = text, *end = text + len;
    struct simple_part part;
    bool is_quoted = false;
    *letter = '\0';
    while (p < end) {
        if (!simple_next(&p, end, &is_quoted, &part)) {
            return false;
        }
        if (part.letter && !strchr("GyYMLwWDdFEuaHkKhmsSzZX", part.letter)) {
            *letter = part.letter;
            return false;
        }
    }
    return true;
}

/* --- Writing. --------------------------------------------------------------------------------- */

struct simple_out {
    char *to;
    uint32_t len;
};

static void simple_put(struct simple_out *o, const char *s, size_t len)
{
    size_t room = SIMPLE_TEXT_MAX - o->len;
    len = len < room ? len : room;
    memcpy(o->to + o->len, s, len);
    o->len += (uint32_t)len;
}

/* At least `width` digits, the sign among them; 20 at most are asked for. */
static void simple_number(struct simple_out *o, int64_t v, uint32_t width)
{
    char digits[32];
    uint32_t at = sizeof(digits), sign = v < 0 ? 1 : 0;
    uint64_t left = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
    width = width < 20 ? width : 20;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0 || sizeof(digits) - at + sign < width);
    if (sign) {
        digits[--at] = '-';
    }
    simple_put(o, digits + at, sizeof(digits) - at);
}

static void simple_word(struct simple_out *o, uint32_t count, const char *word)
{
    simple_put(o, word, count >= 4 ? strlen(word) : 3);
}

struct simple_time {
    struct civil c;
    int32_t offset_s, weekday, year_day; /* 0 is Sunday; from 1 */
};

/* Weeks begin on Sunday, and the first has at least one day, as in the locale en_US. */
static int32_t simple_week(int32_t day, int32_t weekday)
{
    return (day - 1 + (weekday - (day - 1) % 7 + 7) % 7) / 7 + 1;
}

static bool simple_is_next_year(const struct simple_time *t)
{
    return t->c.month == 12 && t->c.day + (6 - t->weekday) > 31;
}

static void simple_zone(struct simple_out *o, const struct simple_part *part,
                        const struct simple_pattern *p, int32_t offset)
{
    int32_t size = offset < 0 ? -offset : offset;
    char text[16];
    if (part->letter == 'z') {
        simple_put(o, p->zone_name, strlen(p->zone_name));
    } else if (part->letter == 'X' && offset == 0) {
        simple_put(o, "Z", 1);
    } else {
        bool is_short = part->letter == 'X' && part->count == 1;
        bool has_colon = part->letter == 'X' && part->count >= 3;
        int n = is_short
                    ? snprintf(text, sizeof(text), "%c%02d", offset < 0 ? '-' : '+', size / 3600)
                    : snprintf(text, sizeof(text), "%c%02d%s%02d", offset < 0 ? '-' : '+',
                               size / 3600, has_colon ? ":" : "", size / 60 % 60);
        simple_put(o, text, n > 0 ? (size_t)n : 0);
    }
}

static void simple_year(struct simple_out *o, uint32_t count, int32_t year)
{
    year = year <= 0 ? 1 - year : year;
    simple_number(o, count == 2 ? year % 100 : year, count);
}

static void simple_put_day(struct simple_out *o, const struct simple_part *part,
                           const struct simple_time *t)
{
    switch (part->letter) {
    case 'G':
        simple_put(o, t->c.year > 0 ? "AD" : "BC", 2);
        break;
    case 'y':
        simple_year(o, part->count, t->c.year);
        break;
    case 'Y':
        simple_year(o, part->count, t->c.year + (simple_is_next_year(t) ? 1 : 0));
        break;
    case 'M':
    case 'L':
        if (part->count >= 3) {
            simple_word(o, part->count, simple_months[t->c.month - 1]);
        } else {
            simple_number(o, t->c.month, part->count);
        }
        break;
    case 'w':
        simple_number(o, simple_is_next_year(t) ? 1 : simple_week(t->year_day, t->weekday),
                      part->count);
        break;
    case 'W':
        simple_number(o, simple_week(t->c.day, t->weekday), part->count);
        break;
    case 'D':
        simple_number(o, t->year_day, part->count);
        break;
    case 'd':
        simple_number(o, t->c.day, part->count);
        break;
    case 'F':
        simple_number(o, (t->c.day - 1) / 7 + 1, part->count);
        break;
    case 'E':
        simple_word(o, part->count, simple_days[t->weekday]);
        break;
    default: /* u */
        simple_number(o, t->weekday == 0 ? 7 : t->weekday, part->count);
        break;
    }
}

static void simple_put_clock(struct simple_out *o, const struct simple_part *part,
                             const struct civil *c)
{
    switch (part->letter) {
    case 'a':
        simple_put(o, c->hour < 12 ? "AM" : "PM", 2);
        break;
    case 'H':
        simple_number(o, c->hour, part->count);
        break;
    case 'k':
        simple_number(o, c->hour == 0 ? 24 : c->hour, part->count);
        break;
    case 'K':
        simple_number(o, c->hour % 12, part->count);
        break;
    case 'h':
        simple_number(o, (c->hour + 11) % 12 + 1, part->count);
        break;
    case 'm':
        simple_number(o, c->minute, part->count);
        break;
    case 's':
        simple_number(o, c->second, part->count);
        break;
    default: /* S */
        simple_number(o, c->nano / 1000000, part->count);
        break;
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through o */
uint32_t simple_write(const struct simple_pattern *p, int64_t utc_ms, char *to)
{
    int64_t local = zone_local_ms(p->zone, utc_ms);
    struct simple_time t = {.c = civil_from_us(local * 1000)};
    int64_t days = civil_days(t.c.year, t.c.month, t.c.day);
    t.offset_s = (int32_t)((local - utc_ms) / 1000);
    t.weekday = (int32_t)(((days + 4) % 7 + 7) % 7);
    t.year_day = (int32_t)(days - civil_days(t.c.year, 1, 1)) + 1;
    struct simple_out o = {.to = to};
    const char *s = p->text, *end = s + p->len;
    struct simple_part part;
    bool is_quoted = false;
    while (s < end && simple_next(&s, end, &is_quoted, &part)) {
        if (!part.letter) {
            simple_put(&o, part.text, part.len);
        } else if (strchr("zZX", part.letter)) {
            simple_zone(&o, &part, p, t.offset_s);
        } else if (strchr("GyYMLwWDdFEu", part.letter)) {
            simple_put_day(&o, &part, &t);
        } else {
            simple_put_clock(&o, &part, &t.c);
        }
    }
    return o.len;
}

/* --- Reading. --------------------------------------------------------------------------------- */

struct simple_in {
    const char *at, *end;
};

struct simple_fields {
    int64_t year, month, day, hour, minute, second, ms;
    int64_t half, year_day; /* -1: not there */
    bool is_before;         /* BC */
    bool has_offset;
    int32_t offset_s;
};

/* Digits, with a sign perhaps; `max` 0: as many as there are. */
static bool simple_get_number(struct simple_in *in, uint32_t max, int64_t *out)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t')) {
        in->at++;
    }
    bool is_negative = in->at < in->end && *in->at == '-';
    in->at += is_negative ? 1 : 0;
    uint32_t n = 0;
    int64_t v = 0;
    for (; in->at < in->end && isdigit((unsigned char)*in->at) && (max == 0 || n < max); n++) {
        if (v > 100000000) {
            return false;
        }
        v = v * 10 + (*in->at++ - '0');
    }
    *out = is_negative ? -v : v;
    return n > 0;
}

/* A word or the first three letters of it, any case. */
static bool simple_get_word(struct simple_in *in, const char *const *words, int count, int64_t *out)
{
    for (int whole = 1; whole >= 0; whole--) {
        for (int i = 0; i < count; i++) {
            size_t len = whole ? strlen(words[i]) : 3;
            if ((size_t)(in->end - in->at) >= len && strncasecmp(in->at, words[i], len) == 0) {
                in->at += len;
                *out = i;
                return true;
            }
        }
    }
    return false;
}

/* Z, +hh, +hhmm, +hh:mm, or UTC and GMT. */
static bool simple_get_offset(struct simple_in *in, struct simple_fields *f)
{
    f->has_offset = true;
    f->offset_s = 0;
    if ((size_t)(in->end - in->at) >= 3 &&
        (strncasecmp(in->at, "UTC", 3) == 0 || strncasecmp(in->at, "GMT", 3) == 0)) {
        in->at += 3;
        return true;
    }
    if (in->at < in->end && *in->at == 'Z') {
        in->at++;
        return true;
    }
    bool is_negative = in->at < in->end && *in->at == '-';
    if (!is_negative && (in->at >= in->end || *in->at != '+')) {
        return false;
    }
    in->at++;
    int64_t h, m = 0;
    if (!simple_get_number(in, 2, &h)) {
        return false;
    }
    in->at += in->at < in->end && *in->at == ':' ? 1 : 0;
    if (in->at < in->end && isdigit((unsigned char)*in->at) && !simple_get_number(in, 2, &m)) {
        return false;
    }
    f->offset_s = (int32_t)(h * 3600 + m * 60) * (is_negative ? -1 : 1);
    return true;
}

/* Two digits are the years 1947 to 2046. Java takes those from 80 years before this one on, so that
 * the same job means another year one day; here it does not. */
#define SIMPLE_PIVOT 47

static bool simple_get_year(struct simple_in *in, uint32_t count, uint32_t max, int64_t *year)
{
    const char *from = in->at;
    if (!simple_get_number(in, max, year)) {
        return false;
    }
    if (count <= 2 && in->at - from == 2 && isdigit((unsigned char)from[0])) {
        *year += *year < SIMPLE_PIVOT ? 2000 : 1900;
    }
    return true;
}

/* NOLINTNEXTLINE(readability-function-cognitive-complexity): one branch a letter */
static bool simple_get(struct simple_in *in, const struct simple_part *part, uint32_t max,
                       struct simple_fields *f)
{
    static const char *const halves[] = {"AM", "PM"}, *const eras[] = {"BC", "AD"};
    int64_t unused;
    switch (part->letter) {
    case 'y':
    case 'Y':
        return simple_get_year(in, part->count, max, &f->year);
    case 'M':
    case 'L':
        if (part->count >= 3) {
            bool is_good = simple_get_word(in, simple_months, 12, &f->month);
            f->month++;
            return is_good;
        }
        return simple_get_number(in, max, &f->month);
    case 'd':
        return simple_get_number(in, max, &f->day);
    case 'D':
        return simple_get_number(in, max, &f->year_day);
    case 'E':
        return simple_get_word(in, simple_days, 7, &unused);
    case 'a':
    case 'G':
        for (int i = 0; i < 2; i++) {
            const char *word = part->letter == 'a' ? halves[i] : eras[i];
            if (in->end - in->at >= 2 && strncasecmp(in->at, word, 2) == 0) {
                in->at += 2;
                f->half = part->letter == 'a' ? i : f->half;
                f->is_before = part->letter == 'G' && i == 0;
                return true;
            }
        }
        return false;
    case 'H':
    case 'K':
        return simple_get_number(in, max, &f->hour);
    case 'k':
    case 'h':
        if (!simple_get_number(in, max, &f->hour)) {
            return false;
        }
        f->hour = f->hour == (part->letter == 'k' ? 24 : 12) ? 0 : f->hour;
        return true;
    case 'm':
        return simple_get_number(in, max, &f->minute);
    case 's':
        return simple_get_number(in, max, &f->second);
    case 'S':
        return simple_get_number(in, max, &f->ms);
    case 'z':
    case 'Z':
    case 'X':
        return simple_get_offset(in, f);
    default: /* weeks: read, and of no use without the rest of a week date */
        return simple_get_number(in, max, &unused);
    }
}

static bool simple_get_all(const struct simple_pattern *p, struct simple_in *in,
                           struct simple_fields *f)
{
    const char *s = p->text, *end = s + p->len;
    struct simple_part part;
    bool is_quoted = false;
    while (s < end && simple_next(&s, end, &is_quoted, &part)) {
        if (!part.letter) {
            if (part.len > 0 && (in->at >= in->end || *in->at != *part.text)) {
                return false;
            }
            in->at += part.len;
            continue;
        }
        bool is_adjacent = s < end && isalpha((unsigned char)*s); /* digits of the next follow */
        if (!simple_get(in, &part, is_adjacent ? part.count : 0, f)) {
            return false;
        }
    }
    return true;
}

bool simple_read(const struct simple_pattern *p, const char *s, uint32_t len, int64_t *utc_ms)
{
    struct simple_in in = {s, s + len};
    struct simple_fields f = {.year = 1970, .month = 1, .day = 1, .half = -1, .year_day = -1};
    if (!simple_get_all(p, &in, &f)) {
        return false;
    }
    f.year = f.is_before ? 1 - f.year : f.year;
    int64_t months = f.year * 12 + f.month - 1, year = moment_floor_div(months, 12);
    int64_t days =
        f.year_day >= 0
            ? civil_days((int32_t)f.year, 1, 1) + f.year_day - 1
            : civil_days((int32_t)year, (int32_t)(months - year * 12) + 1, 1) + f.day - 1;
    int64_t hour = f.half >= 0 ? f.hour % 12 + 12 * f.half : f.hour;
    int64_t local = days * MOMENT_DAY_MS + ((hour * 60 + f.minute) * 60 + f.second) * 1000 + f.ms;
    *utc_ms = f.has_offset ? local - f.offset_s * INT64_C(1000) : zone_utc_ms(p->zone, local, true);
    return true;
}
