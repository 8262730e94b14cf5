#include "engine/base/zone.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/calendar.h"
#include "engine/base/error.h"

#define ZONE_DAY    86400
#define ZONE_HEADER 44u
#define ZONE_SHOWN  60 /* bytes of a name that a failure shows */

/* A day of each year and the local time when the clock moves: ",M3.5.0/2" or ",J60" or ",59". */
struct zone_turn {
    char kind; /* M, J, or 0 for a day from 0 */
    int32_t month, week, day;
    int32_t time_s;
};

struct zone {
    uint32_t count;  /* of transitions */
    int64_t *at;     /* seconds since the epoch, ascending */
    int32_t *offset; /* seconds ahead of UTC from there on */
    int32_t first;   /* before the first transition */
    bool has_rule;   /* behind the last one; else its offset stays */
    bool has_summer; /* the rule has two offsets */
    int32_t winter_s, summer_s;
    struct zone_turn to_summer, to_winter;
};

/* --- The rule at the end of a file: "CET-1CEST,M3.5.0,M10.5.0/3". ----------------------------- */

static bool zone_take(const char **p, char c)
{
    bool is_there = **p == c;
    *p += is_there ? 1 : 0;
    return is_there;
}

static bool zone_number(const char **p, int32_t max, int32_t *out)
{
    int32_t v = 0;
    if (!isdigit((unsigned char)**p)) {
        return false;
    }
    for (; isdigit((unsigned char)**p) && v <= max; (*p)++) {
        v = v * 10 + (**p - '0');
    }
    *out = v;
    return v <= max;
}

/* [+-]h[h][:mm[:ss]] in seconds. */
static bool zone_span(const char **p, int32_t *out)
{
    int32_t h, m = 0, s = 0;
    bool is_negative = zone_take(p, '-');
    if (!is_negative) {
        (void)zone_take(p, '+');
    }
    if (!zone_number(p, 167, &h) ||
        (zone_take(p, ':') &&
         (!zone_number(p, 59, &m) || (zone_take(p, ':') && !zone_number(p, 59, &s))))) {
        return false;
    }
    *out = (h * 60 + m) * 60 + s;
    *out = is_negative ? -*out : *out;
    return true;
}

static bool zone_skip_name(const char **p)
{
    const char *from = *p;
    if (zone_take(p, '<')) {
        while (**p && **p != '>') {
            (*p)++;
        }
        return zone_take(p, '>');
    }
    while ((**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z')) {
        (*p)++;
    }
    return *p > from;
}

static bool zone_turn(const char **p, struct zone_turn *t)
{
    *t = (struct zone_turn){.time_s = 7200};
    if (zone_take(p, 'M')) {
        t->kind = 'M';
        if (!zone_number(p, 12, &t->month) || !zone_take(p, '.') || !zone_number(p, 5, &t->week) ||
            !zone_take(p, '.') || !zone_number(p, 6, &t->day) || t->month < 1 || t->week < 1) {
            return false;
        }
    } else {
        t->kind = zone_take(p, 'J') ? 'J' : '\0';
        if (!zone_number(p, 365, &t->day)) {
            return false;
        }
    }
    return !zone_take(p, '/') || zone_span(p, &t->time_s);
}

/* Offsets of such a rule are behind UTC, ours ahead of it. */
static bool zone_rule(struct zone *z, const char *p)
{
    if (!zone_skip_name(&p) || !zone_span(&p, &z->winter_s)) {
        return false;
    }
    z->winter_s = -z->winter_s;
    z->has_rule = true;
    z->has_summer = *p != '\0';
    if (!z->has_summer) {
        return true;
    }
    if (!zone_skip_name(&p)) {
        return false;
    }
    z->summer_s = z->winter_s + 3600;
    if (*p != ',') {
        if (!zone_span(&p, &z->summer_s)) {
            return false;
        }
        z->summer_s = -z->summer_s;
    }
    return zone_take(&p, ',') && zone_turn(&p, &z->to_summer) && zone_take(&p, ',') &&
           zone_turn(&p, &z->to_winter) && *p == '\0';
}

/* --- The file. -------------------------------------------------------------------------------- */

struct zone_file {
    uint8_t *bytes;
    size_t len;
};

static int64_t zone_big(const uint8_t *p, unsigned size)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++) {
        v = v << 8 | p[i];
    }
    return size == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
}

/* Counts of a block's header: isut, isstd, leap, time, type, char. */
static bool zone_counts(const struct zone_file *f, size_t at, uint32_t count[6])
{
    if (f->len < at + ZONE_HEADER || memcmp(f->bytes + at, "TZif", 4) != 0) {
        return false;
    }
    for (unsigned i = 0; i < 6; i++) {
        count[i] = (uint32_t)zone_big(f->bytes + at + 20 + (size_t)i * 4, 4);
        if (count[i] > ZONE_BYTES_MAX) {
            return false;
        }
    }
    return true;
}

static size_t zone_block_size(const uint32_t c[6], unsigned time_size)
{
    return (size_t)c[3] * (time_size + 1) + (size_t)c[4] * 6 + c[5] +
           (size_t)c[2] * (time_size + 4) + c[1] + c[0];
}

/* Transitions from the block of 64-bit times at `at`. */
static bool zone_transitions(struct zone *z, const struct zone_file *f, size_t at,
                             const uint32_t c[6])
{
    const uint8_t *times = f->bytes + at, *types = times + (size_t)c[3] * 8, *infos = types + c[3];
    z->count = c[3];
    z->at = calloc(z->count + 1u, sizeof(*z->at));
    z->offset = calloc(z->count + 1u, sizeof(*z->offset));
    if (!z->at || !z->offset || c[4] == 0) {
        return false;
    }
    z->first = (int32_t)zone_big(infos, 4);
    for (uint32_t i = 0; i < z->count; i++) {
        if (types[i] >= c[4]) {
            return false;
        }
        z->at[i] = zone_big(times + (size_t)i * 8, 8);
        z->offset[i] = (int32_t)zone_big(infos + (size_t)types[i] * 6, 4);
    }
    return true;
}

static bool zone_read(struct zone *z, const struct zone_file *f)
{
    uint32_t c[6];
    if (!zone_counts(f, 0, c) || f->bytes[4] < '2') {
        return false; /* version 1 has 32-bit times only, and no rule */
    }
    size_t at = ZONE_HEADER + zone_block_size(c, 4);
    if (!zone_counts(f, at, c)) {
        return false;
    }
    at += ZONE_HEADER;
    size_t end = at + zone_block_size(c, 8);
    if (end + 2 > f->len || !zone_transitions(z, f, at, c) || f->bytes[end] != '\n') {
        return false;
    }
    char rule[128];
    size_t n = 0;
    for (end++; end < f->len && f->bytes[end] != '\n' && n + 1 < sizeof(rule); end++) {
        rule[n++] = (char)f->bytes[end];
    }
    rule[n] = '\0';
    return n == 0 || zone_rule(z, rule);
}

static bool zone_open_file(const char *name, struct zone_file *f)
{
    char path[512];
    const char *root = getenv("TZDIR"); /* NOLINT(concurrency-mt-unsafe): nothing sets it here */
    int n = snprintf(path, sizeof(path), "%s/%s", root ? root : "/usr/share/zoneinfo", name);
    FILE *file = n > 0 && (size_t)n < sizeof(path) ? fopen(path, "re") : NULL;
    uint8_t *bytes = file ? malloc(ZONE_BYTES_MAX) : NULL;
    f->len = bytes ? fread(bytes, 1, ZONE_BYTES_MAX, file) : 0;
    f->bytes = bytes;
    if (file) {
        (void)fclose(file); /* read-only */
    }
    return bytes && f->len > ZONE_HEADER;
}

/* --- Names. ----------------------------------------------------------------------------------- */

/* A fixed offset: UTC, GMT+8, UTC-03:30, +02:00, Z. */
static bool zone_fixed(const char *name, int32_t *offset)
{
    static const char *const words[] = {"UTC", "GMT", "UT", "Z", ""};
    *offset = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        if (strncasecmp(name, words[i], len) != 0) {
            continue;
        }
        const char *p = name + len;
        if (*p == '\0') {
            return len > 0;
        }
        bool is_span = (*p == '+' || *p == '-') && zone_span(&p, offset) && *p == '\0';
        return is_span && *offset >= -18 * 3600 && *offset <= 18 * 3600;
    }
    return false;
}

/* Names go into a path, so they hold nothing that leads out of the database. */
static bool zone_is_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)name[i]) && !strchr("_-+/", name[i])) {
            return false;
        }
    }
    return len > 0 && len <= ZONE_NAME_MAX && isalpha((unsigned char)name[0]);
}

sr_rc zone_load(const char *name, struct zone **out, struct sr_error *err)
{
    int32_t offset;
    bool is_fixed = zone_fixed(name, &offset) || strcasecmp(name, "Etc/UTC") == 0 ||
                    strcasecmp(name, "Etc/GMT") == 0;
    if (is_fixed && offset == 0) {
        *out = NULL;
        return SR_OK;
    }
    struct zone *z = calloc(1, sizeof(*z));
    if (!z) {
        return error_set(err, SR_ENOMEM, "out of memory");
    }
    z->first = offset;
    struct zone_file f = {0};
    bool is_good = is_fixed || (zone_is_name(name) && zone_open_file(name, &f) && zone_read(z, &f));
    free(f.bytes);
    if (!is_good) {
        zone_free(z);
        return error_set(err, SR_ECONFIG,
                         "there is no time zone '%.*s'; names are those of the system's database "
                         "(package tzdata), such as Europe/Berlin, or offsets such as GMT+08:00",
                         ZONE_SHOWN, name);
    }
    *out = z;
    return SR_OK;
}

void zone_free(struct zone *z)
{
    if (z) {
        free(z->at);
        free(z->offset);
        free(z);
    }
}

/* --- Looking up. ------------------------------------------------------------------------------ */

/* Seconds from the epoch, on the local clock, at which the turn of a year comes. */
static int64_t zone_turn_at(const struct zone_turn *t, int32_t year)
{
    int64_t day;
    if (t->kind == 'M') {
        int64_t first = civil_days(year, t->month, 1);
        int64_t next =
            t->month == 12 ? civil_days(year + 1, 1, 1) : civil_days(year, t->month + 1, 1);
        int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 0 is Sunday; day 0 was a Thursday */
        day = first + (t->day - weekday + 7) % 7 + (int64_t)(t->week - 1) * 7;
        day = day >= next ? day - 7 : day;
    } else {
        bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        bool is_behind = t->kind == 'J' && !(is_leap && t->day >= 60);
        day = civil_days(year, 1, 1) + t->day - (is_behind ? 1 : 0);
    }
    return day * ZONE_DAY + t->time_s;
}

static int32_t zone_rule_offset(const struct zone *z, int64_t utc_s)
{
    if (!z->has_summer) {
        return z->winter_s;
    }
    int32_t year, month, day;
    int64_t local = utc_s + z->winter_s, days = local / ZONE_DAY;
    civil_from_days(local % ZONE_DAY < 0 ? days - 1 : days, &year, &month, &day);
    int64_t summer = zone_turn_at(&z->to_summer, year) - z->winter_s;
    int64_t winter = zone_turn_at(&z->to_winter, year) - z->summer_s;
    bool is_summer = summer < winter ? utc_s >= summer && utc_s < winter
                                     : utc_s >= summer || utc_s < winter; /* the south */
    return is_summer ? z->summer_s : z->winter_s;
}

static int32_t zone_offset(const struct zone *z, int64_t utc_s)
{
    if (z->count == 0 || utc_s < z->at[0]) {
        return z->count == 0 && z->has_rule ? zone_rule_offset(z, utc_s) : z->first;
    }
    uint32_t low = 0, high = z->count; /* at[low] <= utc_s < at[high] */
    if (z->has_rule && utc_s >= z->at[high - 1]) {
        return zone_rule_offset(z, utc_s);
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        low = z->at[middle] <= utc_s ? middle : low;
        high = z->at[middle] <= utc_s ? high : middle;
    }
    return z->offset[low];
}

static int64_t zone_floor_s(int64_t ms) { return ms % 1000 < 0 ? ms / 1000 - 1 : ms / 1000; }

int64_t zone_local_ms(const struct zone *z, int64_t utc_ms)
{
    return z ? utc_ms + (int64_t)zone_offset(z, zone_floor_s(utc_ms)) * 1000 : utc_ms;
}

int64_t zone_utc_ms(const struct zone *z, int64_t local_ms, bool is_later)
{
    if (!z) {
        return local_ms;
    }
    /* The offsets in force a day before and after: no zone turns its clock twice in two days. */
    int64_t s = zone_floor_s(local_ms);
    int32_t before = zone_offset(z, s - ZONE_DAY), after = zone_offset(z, s + ZONE_DAY);
    bool is_before = zone_offset(z, s - before) == before;
    bool is_after = zone_offset(z, s - after) == after;
    int32_t offset = is_after && (!is_before || is_later) ? after : before;
    return local_ms - (int64_t)offset * 1000;
}
