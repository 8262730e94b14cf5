#include "engine/expr/moment.h"

#include "engine/base/calendar.h"

int64_t moment_floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}

int32_t moment_month_days(int64_t year, int32_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

int64_t moment_add_months(int64_t days, int64_t months)
{
    int32_t year, month, day;
    civil_from_days(days, &year, &month, &day);
    int64_t all = (int64_t)year * 12 + month - 1 + months;
    int64_t y = moment_floor_div(all, 12);
    int32_t m = (int32_t)(all - y * 12) + 1, last = moment_month_days(y, m);
    return civil_days((int32_t)y, m, day < last ? day : last);
}

int64_t moment_cut(int64_t us, int32_t precision)
{
    static const int64_t unit[] = {1000000, 100000, 10000, 1000, 100, 10};
    if (precision >= 6) {
        return us;
    }
    int64_t rest = us % unit[precision];
    return rest < 0 ? (int64_t)((uint64_t)us - (uint64_t)(rest + unit[precision])) : us - rest;
}

/* --- Reading. --------------------------------------------------------------------------------- */

struct moment_in {
    const char *at, *end;
};

/* min to max digits, as many as there are. */
static bool moment_digits(struct moment_in *in, int min, int max, int32_t *out)
{
    int n = 0;
    int32_t v = 0;
    while (n < max && in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        v = v * 10 + (*in->at++ - '0');
        n++;
    }
    *out = v;
    return n >= min;
}

static bool moment_char(struct moment_in *in, char c)
{
    if (in->at < in->end && *in->at == c) {
        in->at++;
        return true;
    }
    return false;
}

/* A fraction behind the point: nine digits at most, as ns. */
static bool moment_fraction(struct moment_in *in, int32_t *ns, int32_t *digits)
{
    const char *from = in->at;
    if (!moment_digits(in, 1, 9, ns)) {
        return false;
    }
    *digits = (int32_t)(in->at - from);
    for (int32_t i = *digits; i < 9; i++) {
        *ns *= 10;
    }
    return true;
}

static bool moment_day(struct moment_in *in, int year_digits, bool is_smart, int32_t *days)
{
    int32_t y, m, d;
    if (!moment_digits(in, year_digits, 4, &y) || !moment_char(in, '-') ||
        !moment_digits(in, 1, 2, &m) || !moment_char(in, '-') || !moment_digits(in, 1, 2, &d) ||
        m < 1 || m > 12 || d < 1 || d > 31) {
        return false;
    }
    int32_t last = moment_month_days(y, m);
    if (d > last && !is_smart) {
        return false;
    }
    *days = (int32_t)civil_days(y, m, d > last ? last : d);
    return true;
}

/* 24:00:00 is the end of a day. */
static bool moment_clock(struct moment_in *in, bool is_short, int64_t *ns, int32_t *digits)
{
    int32_t h, m = 0, s = 0, fraction = 0;
    *digits = 0;
    if (!moment_digits(in, 1, 2, &h)) {
        return false;
    }
    bool has_minute = moment_char(in, ':');
    if ((has_minute && !moment_digits(in, 1, 2, &m)) || (!has_minute && !is_short)) {
        return false;
    }
    bool has_second = has_minute && moment_char(in, ':');
    if ((has_second && !moment_digits(in, 1, 2, &s)) || (!has_second && !is_short)) {
        return false;
    }
    if (has_second && moment_char(in, '.') && !moment_fraction(in, &fraction, digits)) {
        return false;
    }
    *ns = ((int64_t)h * 3600 + (int64_t)m * 60 + s) * INT64_C(1000000000) + fraction;
    return m < 60 && s < 60 && *ns <= MOMENT_DAY_MS * 1000000;
}

bool moment_parse_date(const char *s, uint32_t len, int32_t *days)
{
    struct moment_in in = {s, s + len};
    return moment_day(&in, 1, false, days) && in.at == in.end;
}

bool moment_cast_date(const char *s, uint32_t len, int32_t *days)
{
    struct moment_in in = {s, s + len};
    int32_t y, m = 1, d = 1;
    if (!moment_digits(&in, 1, 4, &y)) {
        return false;
    }
    if (moment_char(&in, '-')) {
        if (!moment_digits(&in, 1, 2, &m)) {
            return false;
        }
        if (moment_char(&in, '-') && !moment_digits(&in, 1, 2, &d)) {
            return false;
        }
    }
    if ((in.at < in.end && *in.at != ' ') || m < 1 || m > 12 || d < 1 ||
        d > moment_month_days(y, m)) {
        return false;
    }
    *days = (int32_t)civil_days(y, m, d);
    return true;
}

bool moment_parse_time(const char *s, uint32_t len, bool is_short, int32_t *ms, int32_t *digits)
{
    struct moment_in in = {s, s + len};
    int64_t ns;
    if (!moment_clock(&in, is_short, &ns, digits) || in.at != in.end ||
        ns == MOMENT_DAY_MS * 1000000) {
        return false;
    }
    *ms = (int32_t)(ns / 1000000);
    return true;
}

bool moment_parse_stamp(const char *s, uint32_t len, bool is_smart, struct sr_instant *out,
                        int32_t *digits)
{
    struct moment_in in = {s, s + len};
    int32_t days;
    int64_t ns = 0;
    *digits = 0;
    if (!moment_day(&in, 4, is_smart, &days)) {
        return false;
    }
    if (in.at < in.end && (!moment_char(&in, ' ') || !moment_clock(&in, false, &ns, digits))) {
        return false;
    }
    if (ns == MOMENT_DAY_MS * 1000000 && !is_smart) {
        return false;
    }
    *out = (struct sr_instant){.ms = days * MOMENT_DAY_MS + ns / 1000000,
                               .ns = (int32_t)(ns % 1000000)};
    return in.at == in.end;
}

/* --- Writing. --------------------------------------------------------------------------------- */

static char *moment_put(char *to, int32_t v, int digits)
{
    for (int i = digits - 1; i >= 0; i--) {
        to[i] = (char)('0' + v % 10);
        v /= 10;
    }
    return to + digits;
}

uint32_t moment_date_text(int64_t days, char *to)
{
    int32_t y, m, d;
    civil_from_days(days, &y, &m, &d);
    char *at = moment_put(to, y < 0 ? -y : y, 4);
    *at++ = '-';
    at = moment_put(at, m, 2);
    *at++ = '-';
    return (uint32_t)(moment_put(at, d, 2) - to);
}

/* `ns` is below the second. */
static char *moment_put_clock(char *at, int64_t seconds, int32_t ns, int32_t precision)
{
    at = moment_put(at, (int32_t)(seconds / 3600), 2);
    *at++ = ':';
    at = moment_put(at, (int32_t)(seconds / 60 % 60), 2);
    *at++ = ':';
    at = moment_put(at, (int32_t)(seconds % 60), 2);
    if (precision > 0) {
        *at++ = '.';
        (void)moment_put(at, ns, 9);
        at += precision;
    }
    return at;
}

uint32_t moment_time_text(int32_t ms, int32_t precision, char *to)
{
    uint32_t len = (uint32_t)(moment_put_clock(to, ms / 1000, ms % 1000 * 1000000, precision) - to);
    while (precision > 1 && to[len - 1] == '0') { /* one digit stays, in Flink */
        len--;
        precision--;
    }
    return len;
}

uint32_t moment_stamp_text(struct sr_instant v, int32_t precision, char *to)
{
    int64_t days = moment_floor_div(v.ms, MOMENT_DAY_MS), rest = v.ms - days * MOMENT_DAY_MS;
    char *at = to + moment_date_text(days, to);
    *at++ = ' ';
    int32_t ns = (int32_t)(rest % 1000) * 1000000 + v.ns;
    return (uint32_t)(moment_put_clock(at, rest / 1000, ns, precision) - to);
}

static char *moment_put_plain(char *at, int64_t v)
{
    char digits[24];
    int n = 0;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    while (n > 0) {
        *at++ = digits[--n];
    }
    return at;
}

uint32_t moment_months_text(int32_t months, char *to)
{
    int64_t m = months < 0 ? -(int64_t)months : months;
    to[0] = months < 0 ? '-' : '+';
    char *at = moment_put_plain(to + 1, m / 12);
    *at++ = '-';
    return (uint32_t)(moment_put(at, (int32_t)(m % 12), 2) - to);
}

uint32_t moment_span_text(int64_t ms, char *to)
{
    to[0] = ms < 0 ? '-' : '+';
    int64_t v = ms == INT64_MIN ? INT64_MAX : ms < 0 ? -ms : ms;
    char *at = moment_put_plain(to + 1, v / MOMENT_DAY_MS);
    *at++ = ' ';
    int64_t rest = v % MOMENT_DAY_MS;
    return (uint32_t)(moment_put_clock(at, rest / 1000, (int32_t)(rest % 1000) * 1000000, 3) - to);
}
