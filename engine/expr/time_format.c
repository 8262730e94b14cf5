#include "engine/expr/time_format.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/calendar.h"
#include "engine/base/error.h"
#include "engine/expr/instant.h"

#define TIME_FORMAT_PARTS  64u
#define TIME_FORMAT_SOURCE 200u /* bytes of a pattern, at most */

/* A letter so many times, or text as it stands (letter 0). */
struct time_part {
    char letter;
    uint8_t count;
    uint16_t at, len; /* of text, in `text` */
};

struct time_format {
    bool is_set, is_good;
    uint32_t parts;
    struct time_part part[TIME_FORMAT_PARTS];
    char text[TIME_FORMAT_SOURCE];
    char source[TIME_FORMAT_SOURCE + 1];
    uint32_t source_len;
};

static const char *const time_months[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
static const char *const time_days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday"};

/* --- Reading a pattern. ----------------------------------------------------------------------- */

static bool format_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/* What can be written; z, X and the like are known, but a TIMESTAMP has no zone to write. */
static bool format_is_known(char c)
{
    return strchr("GuyYDMLdQqEeawWHhKkmsSAnNBFzZXxVO", c) != NULL;
}

static bool format_add(struct time_format *f, char letter, uint32_t count, uint32_t at,
                       uint32_t len)
{
    if (f->parts == TIME_FORMAT_PARTS) {
        return false;
    }
    f->part[f->parts++] = (struct time_part){letter, (uint8_t)count, (uint16_t)at, (uint16_t)len};
    return true;
}

/* Text in quotes from s[i]; '' is a quote. Answers the bytes read, 0 when it has no end. */
static uint32_t format_quoted(struct time_format *f, const char *s, uint32_t len, uint32_t i,
                              uint32_t *used)
{
    uint32_t from = i, at = *used;
    if (i + 1 < len && s[i + 1] == '\'') {
        f->text[(*used)++] = '\'';
        return format_add(f, 0, 0, at, 1) ? 2 : 0;
    }
    for (i++; i < len; i++) {
        if (s[i] == '\'') {
            if (i + 1 >= len || s[i + 1] != '\'') {
                return format_add(f, 0, 0, at, *used - at) ? i + 1 - from : 0;
            }
            i++;
        }
        f->text[(*used)++] = s[i];
    }
    return 0;
}

static bool format_read(struct time_format *f, const char *s, uint32_t len)
{
    uint32_t used = 0;
    f->parts = 0;
    for (uint32_t i = 0; i < len;) {
        if (s[i] == '\'') {
            uint32_t n = format_quoted(f, s, len, i, &used);
            if (n == 0) {
                return false;
            }
            i += n;
        } else if (format_letter(s[i])) {
            uint32_t n = 1;
            while (i + n < len && s[i + n] == s[i]) {
                n++;
            }
            if (!format_is_known(s[i]) || n > 19 || !format_add(f, s[i], n, 0, 0)) {
                return false;
            }
            i += n;
        } else if (strchr("{}#[]", s[i])) {
            return false; /* optional parts are not read */
        } else {
            f->text[used] = s[i++];
            if (!format_add(f, 0, 0, used++, 1)) {
                return false;
            }
        }
    }
    return true;
}

static void format_set(struct time_format *f, const char *s, uint32_t len)
{
    uint32_t kept = len < TIME_FORMAT_SOURCE ? len : TIME_FORMAT_SOURCE;
    f->is_set = true;
    memcpy(f->source, s, kept);
    f->source[kept] = '\0';
    f->source_len = len;
    f->is_good = len <= TIME_FORMAT_SOURCE && format_read(f, s, len);
}

sr_rc time_format_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    struct time_format *f = calloc(1, sizeof(*f));
    if (!f) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    if (e->arg[1]->kind == EXPR_LITERAL && !e->arg[1]->is_null) {
        format_set(f, e->arg[1]->text, e->arg[1]->text_len);
    }
    *state = f;
    return SR_OK;
}

void time_format_release(void *state) { free(state); }

bool time_format_use(struct call *k, uint32_t i, uint32_t r)
{
    struct time_format *f = k->state;
    uint32_t len;
    const char *s = call_get(k, i, r, &len);
    bool is_same = f->is_set && f->source_len == len && len <= TIME_FORMAT_SOURCE &&
                   memcmp(f->source, s, len) == 0;
    if (!is_same) {
        format_set(f, s, len);
    }
    return f->is_good;
}

const char *time_format_source(const struct time_format *f) { return f->source; }

/* --- Writing. --------------------------------------------------------------------------------- */

struct format_out {
    char *to;
    uint32_t len;
};

static void format_put(struct format_out *o, const char *s, uint32_t len)
{
    if (len > TIME_FORMAT_MAX - o->len) {
        len = TIME_FORMAT_MAX - o->len;
    }
    memcpy(o->to + o->len, s, len);
    o->len += len;
}

static void format_number(struct format_out *o, int64_t v, uint32_t width)
{
    char digits[24];
    uint32_t n = sizeof(digits);
    uint64_t u = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
    do {
        digits[--n] = (char)('0' + u % 10);
        u /= 10;
    } while (u > 0 || (sizeof(digits) - n < width && n > 1));
    if (v < 0) {
        format_put(o, "-", 1);
    }
    format_put(o, digits + n, (uint32_t)sizeof(digits) - n);
}

/* 1 to 2: a number; 3: short; 4: the whole word; 5: its first letter. */
static void format_word(struct format_out *o, uint32_t count, const char *word)
{
    size_t len = strlen(word);
    format_put(o, word, (uint32_t)(count == 3 ? 3 : count == 4 ? len : 1));
}

struct format_time {
    struct civil c;
    int64_t days;
    int32_t year_day; /* from 1 */
    int32_t weekday;  /* 0 is Monday */
};

static struct format_time format_time_of(struct sr_instant v)
{
    struct format_time t = {.c = civil_from_us(instant_us(v))};
    t.c.nano += v.ns % 1000;
    t.days = moment_floor_div(v.ms, MOMENT_DAY_MS);
    t.year_day = (int32_t)(t.days - civil_days(t.c.year, 1, 1)) + 1;
    int64_t d = (t.days + 3) % 7;
    t.weekday = (int32_t)(d < 0 ? d + 7 : d);
    return t;
}

/* Weeks of en_US: they begin on Sunday, and the first has at least one day. */
static int32_t format_week(int32_t day, int32_t weekday)
{
    int32_t from_sunday = (weekday + 1) % 7;
    int32_t first = (from_sunday - (day - 1) % 7 + 7) % 7; /* weekday of day 1 */
    return (day - 1 + first) / 7 + 1;
}

/* The year whose week the day is in: the last days of December may be in the next year's first. */
static int32_t format_week_year(const struct format_time *t)
{
    int64_t next = civil_days(t->c.year + 1, 1, 1), sunday = next - ((next + 3) % 7 + 8) % 7;
    return t->days >= sunday ? t->c.year + 1 : t->c.year;
}

static void format_era(struct format_out *o, uint32_t n, bool is_after)
{
    const char *words = n == 4     ? (is_after ? "Anno Domini" : "Before Christ")
                        : is_after ? "AD"
                                   : "BC";
    format_put(o, words, n == 5 ? 1 : (uint32_t)strlen(words));
}

/* y u Y: two letters are two digits. */
static void format_year(struct format_out *o, uint32_t n, int32_t year)
{
    format_number(o, n == 2 ? (year % 100 + 100) % 100 : year, n);
}

static void format_week_part(struct format_out *o, const struct time_part *p,
                             const struct format_time *t)
{
    int32_t week_year = format_week_year(t);
    if (p->letter == 'Y') {
        format_year(o, p->count, week_year);
    } else if (p->letter == 'W') {
        format_number(o, format_week(t->c.day, t->weekday), p->count);
    } else if (p->letter == 'F') {
        format_number(o, (t->c.day - 1) % 7 + 1, p->count);
    } else {
        int32_t week = week_year > t->c.year ? 1 : format_week(t->year_day, t->weekday);
        format_number(o, week, p->count);
    }
}

static void format_date(struct format_out *o, const struct time_part *p,
                        const struct format_time *t)
{
    uint32_t n = p->count;
    int32_t year = t->c.year, quarter = (t->c.month + 2) / 3;
    switch (p->letter) {
    case 'G':
        format_era(o, n, year > 0);
        break;
    case 'y':
        format_year(o, n, year <= 0 ? 1 - year : year);
        break;
    case 'u':
        format_year(o, n, year);
        break;
    case 'D':
        format_number(o, t->year_day, n);
        break;
    case 'd':
        format_number(o, t->c.day, n);
        break;
    case 'Q':
    case 'q':
        format_put(o, "Q", n == 3 ? 1 : 0);
        format_number(o, quarter, n == 3 ? 1 : n);
        break;
    case 'E':
        format_word(o, n < 4 ? 3 : n, time_days[t->weekday]);
        break;
    case 'e':
        format_number(o, (t->weekday + 1) % 7 + 1, n);
        break;
    default: /* M L */
        if (n >= 3) {
            format_word(o, n, time_months[t->c.month - 1]);
        } else {
            format_number(o, t->c.month, n);
        }
        break;
    }
}

static const char *format_part_of_day(int32_t hour)
{
    return hour < 6    ? "at night"
           : hour < 12 ? "in the morning"
           : hour < 18 ? "in the afternoon"
           : hour < 21 ? "in the evening"
                       : "at night";
}

static void format_clock(struct format_out *o, const struct time_part *p, const struct civil *c)
{
    char fraction[10] = "000000000";
    int64_t second = c->hour * 3600 + c->minute * 60 + c->second;
    const char *words;
    switch (p->letter) {
    case 'a':
        format_put(o, c->hour < 12 ? "AM" : "PM", 2);
        break;
    case 'B':
        words = format_part_of_day(c->hour);
        format_put(o, words, (uint32_t)strlen(words));
        break;
    case 'H':
        format_number(o, c->hour, p->count);
        break;
    case 'k':
        format_number(o, c->hour == 0 ? 24 : c->hour, p->count);
        break;
    case 'h':
        format_number(o, (c->hour + 11) % 12 + 1, p->count);
        break;
    case 'K':
        format_number(o, c->hour % 12, p->count);
        break;
    case 'm':
        format_number(o, c->minute, p->count);
        break;
    case 's':
        format_number(o, c->second, p->count);
        break;
    case 'S':
        for (int i = 8, v = c->nano; i >= 0; i--, v /= 10) {
            fraction[i] = (char)('0' + v % 10);
        }
        format_put(o, fraction, p->count < 9 ? p->count : 9);
        break;
    case 'A':
        format_number(o, second * 1000 + c->nano / 1000000, p->count);
        break;
    case 'N':
        format_number(o, second * 1000000000 + c->nano, p->count);
        break;
    default: /* n */
        format_number(o, c->nano, p->count);
        break;
    }
}

bool time_format_write(const struct time_format *f, struct sr_instant v, char *to, uint32_t *len,
                       const char **why)
{
    struct format_out o = {.len = 0};
    o.to = to;
    struct format_time t = format_time_of(v);
    for (uint32_t i = 0; i < f->parts; i++) {
        const struct time_part *p = &f->part[i];
        if (p->letter == 0) {
            format_put(&o, f->text + p->at, p->len);
        } else if (strchr("zZXxVO", p->letter)) {
            *why = "a TIMESTAMP has no time zone";
            return false;
        } else if (strchr("YwWF", p->letter)) {
            format_week_part(&o, p, &t);
        } else if (strchr("GyuDMLdQqEe", p->letter)) {
            format_date(&o, p, &t);
        } else {
            format_clock(&o, p, &t.c);
        }
    }
    *len = o.len;
    return true;
}

/* --- Reading a time by a pattern. ------------------------------------------------------------- */

struct format_in {
    const char *at, *end;
};

/* The number of digits that a numeric part may have: those behind it that follow at once have a
 * fixed width, so that "yyyyMMdd" can be read. */
static bool format_digits(struct format_in *in, uint32_t min, uint32_t max, int64_t *out)
{
    uint32_t n = 0;
    int64_t v = 0;
    while (n < max && in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        v = v * 10 + (*in->at++ - '0');
        n++;
    }
    *out = v;
    return n >= min;
}

static bool format_name(struct format_in *in, uint32_t count, const char *const *names, int n,
                        int64_t *out)
{
    for (int i = 0; i < n; i++) {
        size_t len = count == 3 ? 3 : strlen(names[i]);
        if ((size_t)(in->end - in->at) >= len && memcmp(in->at, names[i], len) == 0) {
            in->at += len;
            *out = i;
            return true;
        }
    }
    return false;
}

struct format_fields {
    int64_t year, month, day, hour, minute, second, nano;
    int64_t half_hour, half; /* h and a; -1: not there */
};

static bool format_is_digits(const struct time_part *p)
{
    return p->letter && strchr("yuDdHhKkmsSAnN", p->letter) != NULL;
}

static bool format_read_fraction(struct format_in *in, uint32_t count, int64_t *nano)
{
    if (!format_digits(in, count, count, nano)) {
        return false;
    }
    for (uint32_t i = count; i < 9; i++) {
        *nano *= 10;
    }
    return count <= 9;
}

static bool format_read_year(struct format_in *in, const struct time_part *p, bool is_adjacent,
                             int64_t *year)
{
    if (p->count == 2) {
        bool is_good = format_digits(in, 2, 2, year);
        *year += 2000;
        return is_good;
    }
    uint32_t max = is_adjacent || p->count == 4 ? p->count : 10;
    return format_digits(in, p->count, max > 10 ? 10 : max, year);
}

/* One or two digits for one letter, as many as letters for more. */
static bool format_read_field(struct format_in *in, uint32_t count, int64_t min, int64_t max,
                              int64_t *out)
{
    return format_digits(in, count, count == 1 ? 2 : count, out) && *out >= min && *out <= max;
}

static bool format_read_part(struct format_in *in, const struct time_part *p, bool is_adjacent,
                             struct format_fields *f)
{
    int64_t unused;
    switch (p->letter) {
    case 'y':
    case 'u':
        return format_read_year(in, p, is_adjacent, &f->year);
    case 'M':
    case 'L':
        if (p->count >= 3) {
            bool is_good = format_name(in, p->count, time_months, 12, &f->month);
            f->month += 1;
            return is_good;
        }
        return format_read_field(in, p->count, 1, 12, &f->month);
    case 'd':
        return format_read_field(in, p->count, 1, 31, &f->day);
    case 'E':
        return format_name(in, p->count < 4 ? 3 : 4, time_days, 7, &unused);
    case 'H':
        return format_read_field(in, p->count, 0, 24, &f->hour);
    case 'k':
        return format_read_field(in, p->count, 1, 24, &f->hour) && ((f->hour %= 24), true);
    case 'h':
        return format_read_field(in, p->count, 1, 12, &f->half_hour) &&
               ((f->half_hour %= 12), true);
    case 'K':
        return format_read_field(in, p->count, 0, 11, &f->half_hour);
    case 'a':
        f->half = in->end - in->at >= 2 && memcmp(in->at, "PM", 2) == 0;
        unused = f->half || (in->end - in->at >= 2 && memcmp(in->at, "AM", 2) == 0);
        in->at += unused ? 2 : 0;
        return unused != 0;
    case 'm':
        return format_read_field(in, p->count, 0, 59, &f->minute);
    case 's':
        return format_read_field(in, p->count, 0, 59, &f->second);
    case 'S':
        return format_read_fraction(in, p->count, &f->nano);
    default:
        return false;
    }
}

static bool format_parse_parts(const struct time_format *f, const char *s, uint32_t len,
                               struct format_fields *x)
{
    struct format_in in = {s, s + len};
    for (uint32_t i = 0; i < f->parts; i++) {
        const struct time_part *p = &f->part[i];
        if (p->letter == 0) {
            if ((size_t)(in.end - in.at) < p->len || memcmp(in.at, f->text + p->at, p->len) != 0) {
                return false;
            }
            in.at += p->len;
            continue;
        }
        bool is_adjacent =
            i + 1 < f->parts && (format_is_digits(&f->part[i + 1]) ||
                                 (f->part[i + 1].letter == 'M' && f->part[i + 1].count < 3));
        if (!format_read_part(&in, p, is_adjacent, x)) {
            return false;
        }
    }
    return in.at == in.end;
}

/* java.sql.Timestamp.valueOf and Date.valueOf, which Flink tries when the pattern does not fit. */
static bool format_parse_plain(const char *s, uint32_t len, struct sr_instant *out)
{
    int32_t digits;
    while (len > 0 && *s == ' ') {
        s++;
        len--;
    }
    while (len > 0 && s[len - 1] == ' ') {
        len--;
    }
    return moment_parse_stamp(s, len, true, out, &digits);
}

bool time_format_parse(const struct time_format *f, const char *s, uint32_t len,
                       struct sr_instant *out)
{
    struct format_fields x = {.year = 1970, .month = 1, .day = 1, .half_hour = -1, .half = -1};
    if (!format_parse_parts(f, s, len, &x)) {
        return format_parse_plain(s, len, out);
    }
    if (x.year > 9999) {
        return false;
    }
    if (x.half_hour >= 0 && x.half >= 0) {
        x.hour = x.half_hour + 12 * x.half;
    }
    if (x.hour == 24 && (x.minute != 0 || x.second != 0 || x.nano != 0)) {
        return false; /* 24:00 is the end of the day */
    }
    int32_t last = moment_month_days(x.year, (int32_t)x.month);
    int32_t day = x.day < last ? (int32_t)x.day : last;
    int64_t days = civil_days((int32_t)x.year, (int32_t)x.month, day);
    int64_t seconds = (x.hour * 60 + x.minute) * 60 + x.second;
    *out = (struct sr_instant){.ms = days * MOMENT_DAY_MS + seconds * 1000 + x.nano / 1000000,
                               .ns = (int32_t)(x.nano % 1000000)};
    return true;
}
