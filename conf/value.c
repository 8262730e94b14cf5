#include "conf/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/assert.h"

struct value_unit {
    const char *name;
    int64_t by;
};

#define VALUE_DURATION_HINT "units: d, h, min, s, ms, µs, ns; without a unit it is milliseconds"
#define VALUE_SIZE_HINT     "units: b, kb, mb, gb, tb, powers of 1024; without a unit it is bytes"

/* In nanoseconds; the first name of a unit is the one that is shown. */
static const struct value_unit value_durations[] = {
    {"d", INT64_C(86400000000000)},
    {"day", INT64_C(86400000000000)},
    {"days", INT64_C(86400000000000)},
    {"h", INT64_C(3600000000000)},
    {"hour", INT64_C(3600000000000)},
    {"hours", INT64_C(3600000000000)},
    {"min", INT64_C(60000000000)},
    {"m", INT64_C(60000000000)},
    {"minute", INT64_C(60000000000)},
    {"minutes", INT64_C(60000000000)},
    {"s", INT64_C(1000000000)},
    {"sec", INT64_C(1000000000)},
    {"secs", INT64_C(1000000000)},
    {"second", INT64_C(1000000000)},
    {"seconds", INT64_C(1000000000)},
    {"ms", INT64_C(1000000)},
    {"milli", INT64_C(1000000)},
    {"millis", INT64_C(1000000)},
    {"millisecond", INT64_C(1000000)},
    {"milliseconds", INT64_C(1000000)},
    {"µs", INT64_C(1000)},
    {"us", INT64_C(1000)},
    {"micro", INT64_C(1000)},
    {"micros", INT64_C(1000)},
    {"microsecond", INT64_C(1000)},
    {"microseconds", INT64_C(1000)},
    {"ns", 1},
    {"nano", 1},
    {"nanos", 1},
    {"nanosecond", 1},
    {"nanoseconds", 1},
    {NULL, 0},
};

static const struct value_unit value_sizes[] = {
    {"b", 1},
    {"bytes", 1},
    {"k", INT64_C(1) << 10},
    {"kb", INT64_C(1) << 10},
    {"kibibytes", INT64_C(1) << 10},
    {"m", INT64_C(1) << 20},
    {"mb", INT64_C(1) << 20},
    {"mebibytes", INT64_C(1) << 20},
    {"g", INT64_C(1) << 30},
    {"gb", INT64_C(1) << 30},
    {"gibibytes", INT64_C(1) << 30},
    {"t", INT64_C(1) << 40},
    {"tb", INT64_C(1) << 40},
    {"tebibytes", INT64_C(1) << 40},
    {NULL, 0},
};

#define VALUE_FAIL(f, its_hint, ...) \
    ((void)snprintf((f)->words, sizeof((f)->words), __VA_ARGS__), (f)->hint = (its_hint), false)

static bool value_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads the digits at *s and moves it on; false: the number does not fit. */
static bool value_digits(const char **s, int64_t *out)
{
    bool fits = true;
    int64_t n = 0;
    for (; value_is_digit(**s); (*s)++) {
        fits =
            fits && !__builtin_mul_overflow(n, 10, &n) && !__builtin_add_overflow(n, **s - '0', &n);
    }
    *out = n;
    return fits;
}

/* `<integer>[ ]<unit>`; *by is the unit's factor, 0 without a unit. */
static bool value_amount(const char *text, const char *shown, const struct value_unit *units,
                         int64_t out[2], struct value_fault *f)
{
    const char *hint = units == value_sizes ? VALUE_SIZE_HINT : VALUE_DURATION_HINT;
    const char *what = units == value_sizes ? "size" : "duration";
    const char *s = text + strspn(text, " ");

    if (*s == '-') {
        return VALUE_FAIL(f, NULL, "'%s': a %s cannot be negative", shown, what);
    }
    if (!value_is_digit(*s)) {
        return VALUE_FAIL(f, hint, "'%s' is not a %s: a number and a unit", shown, what);
    }
    if (!value_digits(&s, &out[0])) {
        return VALUE_FAIL(f, NULL, "'%s' is too large for a %s", shown, what);
    }
    if (*s == '.' || *s == ',') {
        return VALUE_FAIL(f, "take a smaller unit", "'%s': a %s is a whole number and a unit",
                          shown, what);
    }
    s += strspn(s, " \t");
    size_t len = strlen(s);
    while (len > 0 && s[len - 1] == ' ') {
        len--;
    }
    out[1] = 0;
    for (const struct value_unit *u = units; len > 0 && u->name; u++) {
        if (strlen(u->name) == len && strncasecmp(u->name, s, len) == 0) {
            out[1] = u->by;
        }
    }
    if (len > 0 && out[1] == 0) {
        return VALUE_FAIL(f, hint, "'%s' is not a %s: no such unit", shown, what);
    }
    return true;
}

static bool value_duration(const char *text, const char *shown, sr_duration *out,
                           struct value_fault *f)
{
    int64_t part[2];
    int64_t us;

    if (!value_amount(text, shown, value_durations, part, f)) {
        return false;
    }
    int64_t unit_ns = part[1] ? part[1] : 1000000;
    if (unit_ns < 1000 && part[0] % 1000 != 0) {
        return VALUE_FAIL(f, NULL, "'%s' is finer than a microsecond", shown);
    }
    us = unit_ns < 1000 ? part[0] / 1000 : part[0];
    if (unit_ns >= 1000 && __builtin_mul_overflow(us, unit_ns / 1000, &us)) {
        return VALUE_FAIL(f, NULL, "'%s' is too large for a duration", shown);
    }
    out->us = us;
    return true;
}

static bool value_size(const char *text, const char *shown, sr_size *out, struct value_fault *f)
{
    int64_t part[2];
    int64_t bytes;

    if (!value_amount(text, shown, value_sizes, part, f)) {
        return false;
    }
    if (__builtin_mul_overflow(part[0], part[1] ? part[1] : 1, &bytes)) {
        return VALUE_FAIL(f, NULL, "'%s' is too large for a size", shown);
    }
    out->bytes = (uint64_t)bytes;
    return true;
}

static bool value_bool(const char *text, const char *shown, bool *out, struct value_fault *f)
{
    if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0) {
        *out = strcasecmp(text, "true") == 0;
        return true;
    }
    return VALUE_FAIL(f, "write true or false", "'%s' is neither true nor false", shown);
}

/* 0x1f and 0o644, the other forms of YAML 1.2's core schema. */
static bool value_int_of_base(const char *digits, int base, const char *shown, int64_t *out,
                              struct value_fault *f)
{
    char *end = NULL;
    const char *allowed = base == 16 ? "0123456789abcdefABCDEF" : "01234567";

    if (!*digits || digits[strspn(digits, allowed)]) {
        return VALUE_FAIL(f, NULL, "'%s' is not a whole number", shown);
    }
    errno = 0;
    long long n = strtoll(digits, &end, base);
    if (errno != 0) {
        return VALUE_FAIL(f, NULL, "'%s' is too large: at most %" PRId64, shown, INT64_MAX);
    }
    *out = n;
    return true;
}

static bool value_int(const char *text, const char *shown, int64_t *out, struct value_fault *f)
{
    const char *s = text;
    bool is_negative = *s == '-';
    int64_t n;

    if (strncmp(s, "0x", 2) == 0 || strncmp(s, "0o", 2) == 0) {
        return value_int_of_base(s + 2, s[1] == 'x' ? 16 : 8, shown, out, f);
    }
    s += *s == '-' || *s == '+' ? 1 : 0;
    const char *digits = s;
    bool fits = value_digits(&s, &n);
    if (s == digits || *s) {
        return VALUE_FAIL(f, NULL, "'%s' is not a whole number", shown);
    }
    if (digits[0] == '0' && digits[1]) {
        return VALUE_FAIL(f, "write it without leading zeros, or as 0o644 if it is octal",
                          "'%s' could be read as decimal or as octal", shown);
    }
    if (!fits) {
        return VALUE_FAIL(f, NULL, "'%s' is out of range: %" PRId64 " to %" PRId64, shown,
                          -INT64_MAX, INT64_MAX);
    }
    *out = is_negative ? -n : n;
    return true;
}

static bool value_float(const char *text, const char *shown, double *out, struct value_fault *f)
{
    char *end = NULL;
    const char *s = text + (*text == '-' || *text == '+' ? 1 : 0);

    /* Only plain decimal forms: strtod would take `inf`, `nan` and hexadecimal ones too. */
    if (!*text || text[strspn(text, "+-.0123456789eE")] || !(value_is_digit(*s) || *s == '.')) {
        return VALUE_FAIL(f, NULL, "'%s' is not a number", shown);
    }
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end) {
        return VALUE_FAIL(f, NULL, "'%s' is not a number", shown);
    }
    if (errno == ERANGE) {
        return VALUE_FAIL(f, NULL, "'%s' is out of range", shown);
    }
    *out = v;
    return true;
}

static char value_plain(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    return c;
}

static bool value_is_word(const char *word, size_t len, const char *text)
{
    size_t i = 0;
    for (;;) {
        while (i < len && (word[i] == '-' || word[i] == '_')) {
            i++;
        }
        while (*text == '-' || *text == '_') {
            text++;
        }
        if (i == len || !*text) {
            return i == len && !*text;
        }
        if (value_plain(word[i++]) != value_plain(*text++)) {
            return false;
        }
    }
}

bool value_is_choice(const char *choice, const char *text)
{
    while (*choice) {
        size_t len = strcspn(choice, "|");
        if (value_is_word(choice, len, text)) {
            return true;
        }
        choice += len + (choice[len] == '|' ? 1 : 0);
    }
    return false;
}

static bool value_choice(const struct sr_opt *o, const char *text, const char *shown,
                         sr_choice *out, struct value_fault *f)
{
    char list[200] = "";
    size_t len = 0;

    sr_assert(o->choices);
    for (uint32_t i = 0; o->choices[i]; i++) {
        if (value_is_choice(o->choices[i], text)) {
            out->index = i;
            return true;
        }
        if (o->choices[i][0] && len < sizeof(list)) {
            int put = snprintf(list + len, sizeof(list) - len, "%s%.*s", len ? ", " : "",
                               (int)strcspn(o->choices[i], "|"), o->choices[i]);
            len += put > 0 ? (size_t)put : 0;
        }
    }
    return VALUE_FAIL(f, NULL, "'%s' is not one of: %s", shown, list);
}

/* A bound as the user would write it. */
static void value_bound(const struct sr_opt *o, int64_t bound, char out[40])
{
    bool is_ms = o->kind == SR_OPT_DURATION && bound % 1000000 != 0;
    if (o->kind == SR_OPT_DURATION) {
        (void)snprintf(out, 40, "%" PRId64 " %s", bound / (is_ms ? 1000 : 1000000),
                       is_ms ? "ms" : "s");
    } else {
        (void)snprintf(out, 40, "%" PRId64 "%s", bound, o->kind == SR_OPT_SIZE ? " bytes" : "");
    }
}

static bool value_in_range(const struct sr_opt *o, const char *shown, bool is_below, bool is_above,
                           struct value_fault *f)
{
    char min[40];
    char max[40];

    if ((o->min == 0 && o->max == 0) || (!is_below && !is_above)) {
        return true;
    }
    value_bound(o, o->min, min);
    value_bound(o, o->max, max);
    if (o->max == INT64_MAX || o->max == INT32_MAX) {
        return VALUE_FAIL(f, NULL, "'%s' is out of range: at least %s", shown, min);
    }
    return VALUE_FAIL(f, NULL, "'%s' is out of range: %s to %s", shown, min, max);
}

bool value_parse(const struct sr_opt *o, const char *text, const char *shown, void *field,
                 struct value_fault *f)
{
    sr_assert(o && text && shown && field && f);
    switch (o->kind) {
    case SR_OPT_BOOL:
        return value_bool(text, shown, field, f);
    case SR_OPT_TEXT:
        *(const char **)field = text;
        return true;
    case SR_OPT_CHOICE:
        return value_choice(o, text, shown, field, f);
    case SR_OPT_INT: {
        int64_t v;
        if (!value_int(text, shown, &v, f) ||
            !value_in_range(o, shown, (v < o->min), (v > o->max), f)) {
            return false;
        }
        *(int64_t *)field = v;
        return true;
    }
    case SR_OPT_FLOAT: {
        double v;
        if (!value_float(text, shown, &v, f) ||
            !value_in_range(o, shown, (v < (double)o->min), (v > (double)o->max), f)) {
            return false;
        }
        *(double *)field = v;
        return true;
    }
    case SR_OPT_DURATION: {
        sr_duration v;
        if (!value_duration(text, shown, &v, f) ||
            !value_in_range(o, shown, (v.us < o->min), (v.us > o->max), f)) {
            return false;
        }
        *(sr_duration *)field = v;
        return true;
    }
    case SR_OPT_SIZE: {
        sr_size v;
        if (!value_size(text, shown, &v, f) ||
            !value_in_range(o, shown, (v.bytes < (uint64_t)o->min), (v.bytes > (uint64_t)o->max),
                            f)) {
            return false;
        }
        *(sr_size *)field = v;
        return true;
    }
    case SR_OPT_LIST:
    case SR_OPT_PAIRS:
        break;
    }
    return VALUE_FAIL(f, NULL, "'%s': the option takes several values", shown);
}
