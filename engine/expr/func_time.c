/* Functions of dates, times and intervals. */
#include "engine/expr/func_time.h"

#include <string.h>
#include <strings.h>

#include "engine/data/schema.h"
#include "engine/expr/extract.h"
#include "engine/expr/instant.h"
#include "engine/expr/moment.h"
#include "engine/expr/promote.h"
#include "engine/expr/time_format.h"

/* --- Arithmetic: a moment and an interval, whose sign is turned for minus. -------------------- */

#define TIME_SHIFT(name, T, I, value)                                        \
    static void time_add_##name(struct call *k)                              \
    {                                                                        \
        const T *a = k->arg[0]->values;                                      \
        const I *b = k->arg[1]->values;                                      \
        T *to = k->out->values;                                              \
        const int64_t sign = 1;                                              \
        CALL_EACH_ROW(k, r) { to[r] = (T)(value); }                          \
    }                                                                        \
    static void time_sub_##name(struct call *k)                              \
    {                                                                        \
        const T *a = k->arg[0]->values;                                      \
        const I *b = k->arg[1]->values;                                      \
        T *to = k->out->values;                                              \
        const int64_t sign = -1;                                             \
        CALL_EACH_ROW(k, r) { to[r] = (T)(value); }                          \
    }                                                                        \
    static const struct kernel time_k_##name[2] = {{.run = time_add_##name}, \
                                                   {.run = time_sub_##name}};

static int64_t time_stamp_months(int64_t us, int64_t months)
{
    int64_t days = moment_floor_div(us, MOMENT_DAY_US);
    uint64_t clock = (uint64_t)us - (uint64_t)moment_of_day(days);
    return (int64_t)((uint64_t)moment_of_day(moment_add_months(days, months)) + clock);
}

static int64_t time_turn(int64_t ms, int64_t by)
{
    int64_t sum = (ms + by % MOMENT_DAY_MS) % MOMENT_DAY_MS;
    return sum < 0 ? sum + MOMENT_DAY_MS : sum;
}

/* Wraps as Java does, where the sum leaves 64 bits. */
static int64_t time_stamp_ms(int64_t us, int64_t ms)
{
    return (int64_t)((uint64_t)us + (uint64_t)ms * 1000u);
}

TIME_SHIFT(date_months, int32_t, int32_t, moment_add_months(a[r], sign *b[r]))
TIME_SHIFT(date_ms, int32_t, int64_t, a[r] + sign * (b[r] / MOMENT_DAY_MS))
TIME_SHIFT(time_ms, int32_t, int64_t, time_turn(a[r], sign *(b[r] % MOMENT_DAY_MS)))
TIME_SHIFT(time_months, int32_t, int32_t, a[r] + 0 * sign * b[r])
TIME_SHIFT(stamp_months, int64_t, int32_t, time_stamp_months(a[r], sign *b[r]))
TIME_SHIFT(stamp_ms, int64_t, int64_t,
           time_stamp_ms(a[r], (int64_t)((uint64_t)sign *(uint64_t)b[r])))
TIME_SHIFT(months, int32_t, int32_t, (uint32_t)a[r] + (uint32_t)((uint64_t)sign * (uint64_t)b[r]))
TIME_SHIFT(ms, int64_t, int64_t, (uint64_t)a[r] + (uint64_t)sign * (uint64_t)b[r])

/* More than 6 digits behind the second: intervals are whole ms, what is below them stays. */
static void time_instant_months(struct call *k, int64_t sign)
{
    const int32_t *b = k->arg[1]->values;
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v = instant_get(k->arg[0], r);
        int64_t days = moment_floor_div(v.ms, MOMENT_DAY_MS);
        v.ms += (moment_add_months(days, sign * b[r]) - days) * MOMENT_DAY_MS;
        instant_put(k->out, r, v);
    }
}

static void time_instant_ms(struct call *k, uint64_t sign)
{
    const int64_t *b = k->arg[1]->values;
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v = instant_get(k->arg[0], r);
        v.ms = (int64_t)((uint64_t)v.ms + sign * (uint64_t)b[r]);
        instant_put(k->out, r, v);
    }
}

static void time_add_instant_months(struct call *k) { time_instant_months(k, 1); }
static void time_sub_instant_months(struct call *k) { time_instant_months(k, -1); }
static void time_add_instant_ms(struct call *k) { time_instant_ms(k, 1); }
static void time_sub_instant_ms(struct call *k) { time_instant_ms(k, UINT64_MAX); }
static const struct kernel time_k_instant_months[2] = {{.run = time_add_instant_months},
                                                       {.run = time_sub_instant_months}};
static const struct kernel time_k_instant_ms[2] = {{.run = time_add_instant_ms},
                                                   {.run = time_sub_instant_ms}};

static void time_times_months(struct call *k)
{
    const int32_t *a = k->arg[0]->values;
    const int64_t *b = k->arg[1]->values;
    int32_t *to = k->out->values;
    CALL_LOOP(k, to[r] = (int32_t)((uint64_t)(int64_t)a[r] * (uint64_t)b[r]));
}
static void time_times_ms(struct call *k)
{
    const int64_t *a = k->arg[0]->values, *b = k->arg[1]->values;
    int64_t *to = k->out->values;
    CALL_LOOP(k, to[r] = (int64_t)((uint64_t)a[r] * (uint64_t)b[r]));
}
static const struct kernel time_k_times_months = {.run = time_times_months, .flags = KERNEL_DENSE};
static const struct kernel time_k_times_ms = {.run = time_times_ms, .flags = KERNEL_DENSE};

static const struct kernel *time_shift(const struct sr_type *t, bool is_months, bool is_minus)
{
    const struct kernel *pair = NULL;
    if (t->kind == SR_DATE) {
        pair = is_months ? time_k_date_months : time_k_date_ms;
    } else if (t->kind == SR_TIME) {
        pair = is_months ? time_k_time_months : time_k_time_ms;
    } else if (sr_is_timestamp(t->kind) && t->length > INSTANT_DIGITS_SMALL) {
        pair = is_months ? time_k_instant_months : time_k_instant_ms;
    } else if (sr_is_timestamp(t->kind)) {
        pair = is_months ? time_k_stamp_months : time_k_stamp_ms;
    }
    return pair ? &pair[is_minus] : NULL;
}

static bool time_bind_times(struct bind_call *b)
{
    struct sr_type t = type_of(SR_BIGINT);
    if (sr_is_interval(b->arg[1]->type.kind)) {
        const struct expr *swap = b->arg[0];
        b->arg[0] = b->arg[1];
        b->arg[1] = swap;
    }
    bool is_months = b->arg[0]->type.kind == SR_INTERVAL_MONTH;
    if (!sr_is_interval(b->arg[0]->type.kind) || !sr_is_integer(b->arg[1]->type.kind) ||
        !bind_coerce(b, 1, &t)) {
        return false;
    }
    b->kernel = is_months ? &time_k_times_months : &time_k_times_ms;
    b->type = type_nullable(b->arg[0]->type, bind_any_nullable(b));
    return true;
}

bool func_time_arith(struct bind_call *b, char op)
{
    if (op == '*') {
        return time_bind_times(b);
    }
    if (op != '+' && op != '-') {
        return false;
    }
    if (op == '+' && sr_is_interval(b->arg[0]->type.kind) &&
        !sr_is_interval(b->arg[1]->type.kind)) {
        const struct expr *swap = b->arg[0];
        b->arg[0] = b->arg[1];
        b->arg[1] = swap;
    }
    enum sr_kind x = b->arg[0]->type.kind, y = b->arg[1]->type.kind;
    if (!sr_is_interval(y)) {
        return false;
    }
    if (x == y) {
        b->kernel = x == SR_INTERVAL_MONTH ? &time_k_months[op == '-'] : &time_k_ms[op == '-'];
    } else {
        b->kernel = time_shift(&b->arg[0]->type, y == SR_INTERVAL_MONTH, op == '-');
    }
    b->type = type_nullable(b->arg[0]->type, bind_any_nullable(b));
    return b->kernel != NULL;
}

/* --- Making moments of text and numbers. ------------------------------------------------------ */

/* TO_DATE(text [, pattern]) */
static void time_to_date(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        if (!moment_cast_date(s, len, &to[r])) {
            call_null(k, r);
        }
    }
}
static const struct kernel time_k_to_date = {.run = time_to_date};

static void time_to_date_by(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        struct sr_instant v;
        if (time_format_use(k, 1, r) && time_format_parse(k->state, s, len, &v)) {
            to[r] = (int32_t)moment_floor_div(v.ms, MOMENT_DAY_MS);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel time_k_to_date_by = {
    .run = time_to_date_by, .prepare = time_format_prepare, .release = time_format_release};

static void time_to_stamp(struct call *k)
{
    int32_t digits;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        struct sr_instant v;
        if (moment_parse_stamp(s, len, true, &v, &digits)) {
            instant_put(k->out, r, v);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel time_k_to_stamp = {.run = time_to_stamp};

static void time_to_stamp_by(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        struct sr_instant v;
        if (time_format_use(k, 1, r) && time_format_parse(k->state, s, len, &v)) {
            instant_put(k->out, r, v);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel time_k_to_stamp_by = {
    .run = time_to_stamp_by, .prepare = time_format_prepare, .release = time_format_release};

/* TO_TIMESTAMP_LTZ(number, precision): 10^-precision seconds. Digits below the millisecond count
 * where the type has them: not when the precision is known only at run time. */
static bool time_scale(int64_t v, int32_t p, struct sr_instant *out)
{
    static const int64_t unit[] = {1000, 100, 10, 1, 10, 100, 1000, 10000, 100000, 1000000};
    if (p < 0 || p > 9) {
        return false;
    }
    if (p <= 3) {
        *out = (struct sr_instant){0};
        return !__builtin_mul_overflow(v, unit[p], &out->ms);
    }
    int64_t ms = moment_floor_div(v, unit[p]);
    *out = (struct sr_instant){.ms = ms, .ns = (int32_t)((v - ms * unit[p]) * (1000000 / unit[p]))};
    return true;
}

/* Years 0 to 9999, as in Flink. */
static bool time_is_known(struct sr_instant v)
{
    return v.ms >= INT64_C(-62167219200000) && v.ms <= INT64_C(253402300799999);
}

static void time_of_number(struct call *k)
{
    const int64_t *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v;
        bool is_good = time_scale(a[r], k->args > 1 ? call_int(k, 1, r) : 3, &v);
        if (is_good && time_is_known(v)) {
            instant_put(k->out, r, v);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel time_k_of_number = {.run = time_of_number};

/* Of a DOUBLE, parts of a second count down to the millisecond; NaN is 0. */
static void time_of_real(struct call *k)
{
    static const double unit[] = {1000, 100, 10};
    const double *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r)
    {
        int32_t p = k->args > 1 ? call_int(k, 1, r) : 3;
        double v = a[r] * (p >= 0 && p < 3 ? unit[p] : 1);
        struct sr_instant at = {0};
        bool is_good = !(v >= 9e15 || v <= -9e15);
        is_good = is_good && time_scale(v == v ? (int64_t)v : 0, p >= 0 && p < 3 ? 3 : p, &at);
        if (is_good && time_is_known(at)) {
            instant_put(k->out, r, at);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel time_k_of_real = {.run = time_of_real};

static bool time_bind_of_number(struct bind_call *b)
{
    bool is_real = sr_is_approx(b->arg[0]->type.kind);
    struct sr_type number = type_of(is_real ? SR_DOUBLE : SR_BIGINT), digits = type_of(SR_INT);
    if (b->args > 2 || (b->args > 1 && !bind_coerce(b, 1, &digits))) {
        return false;
    }
    b->arg[0] = expr_cast(b->arena, b->arg[0], &number, false, b->err);
    if (!b->arg[0]) {
        b->is_said = true;
        return false;
    }
    const struct expr *p = b->args > 1 ? b->arg[1] : NULL;
    bool is_known = p && p->kind == EXPR_LITERAL && !p->is_null;
    if (is_known && (p->value.i < 0 || p->value.i > 9)) {
        return bind_fails(b, "TO_TIMESTAMP_LTZ takes a precision from 0 to 9");
    }
    int32_t length = is_known && p->value.i > 3 ? (int32_t)p->value.i : 3;
    b->type = type_nullable(type_with(SR_TIMESTAMP_LTZ, length, 0), true);
    b->kernel = is_real ? &time_k_of_real : &time_k_of_number;
    return true;
}

/* data: 0 TO_DATE, 1 TO_TIMESTAMP, 2 TO_TIMESTAMP_LTZ */
static bool time_bind_parse(struct bind_call *b)
{
    if (b->func->data == 2 && sr_is_number(b->arg[0]->type.kind)) {
        return time_bind_of_number(b);
    }
    for (uint32_t i = 0; i < b->args; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
    }
    if (b->args > 2) {
        struct sr_type type = type_with(SR_TIMESTAMP_LTZ, 3, 0);
        const struct expr *meant[2] = {bind_sub(b, "TO_TIMESTAMP_LTZ", b->arg, 2), b->arg[2]};
        b->whole = meant[0] ? expr_make(b->arena, b->func, &clock_k_meant, type, meant, 2) : NULL;
        return b->whole != NULL;
    }
    bool has_pattern = b->args > 1;
    if (b->func->data == 0) {
        b->type = type_of(SR_DATE);
        b->kernel = has_pattern ? &time_k_to_date_by : &time_k_to_date;
    } else {
        b->type = type_with(b->func->data == 1 ? SR_TIMESTAMP : SR_TIMESTAMP_LTZ, 3, 0);
        b->kernel = has_pattern ? &time_k_to_stamp_by : &time_k_to_stamp;
    }
    b->type.is_nullable = true;
    return true;
}

/* --- DATE_FORMAT. ----------------------------------------------------------------------------- */

static void time_write(struct call *k, uint32_t r, struct sr_instant v)
{
    char text[TIME_FORMAT_MAX];
    uint32_t len;
    const char *why = NULL;
    if (!time_format_use(k, 1, r)) {
        call_fail(k, r, "'%.60s' is not a pattern of DATE_FORMAT", time_format_source(k->state));
    } else if (time_format_write(k->state, v, text, &len, &why)) {
        call_text(k, r, text, len);
    } else {
        call_fail(k, r, "DATE_FORMAT cannot write '%.60s': %s", time_format_source(k->state), why);
    }
}

static void time_format_stamp(struct call *k)
{
    CALL_EACH_ROW(k, r) { time_write(k, r, instant_get(k->arg[0], r)); }
}
static const struct kernel time_k_format_stamp = {.run = time_format_stamp,
                                                  .flags = KERNEL_FAILS,
                                                  .prepare = time_format_prepare,
                                                  .release = time_format_release};

/* Of text: "yyyy-MM-dd HH:mm:ss", else NULL. */
static void time_format_text(struct call *k)
{
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        struct sr_instant v;
        int32_t digits;
        if (memchr(s, ' ', len) && moment_parse_stamp(s, len, true, &v, &digits)) {
            time_write(k, r, v);
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel time_k_format_text = {.run = time_format_text,
                                                 .flags = KERNEL_FAILS,
                                                 .prepare = time_format_prepare,
                                                 .release = time_format_release};

static bool time_bind_format(struct bind_call *b)
{
    enum sr_kind kind = b->arg[0]->type.kind;
    if (!sr_is_text(b->arg[1]->type.kind) || (!sr_is_text(kind) && !sr_is_timestamp(kind))) {
        return false;
    }
    if (!bind_local(b, 0)) {
        return false;
    }
    b->type = type_nullable(type_with(SR_VARCHAR, SR_LENGTH_MAX, 0), true);
    b->kernel = sr_is_text(kind) ? &time_k_format_text : &time_k_format_stamp;
    return true;
}

/* YEAR(x) and the like: EXTRACT with the unit of that name. */
static bool time_bind_unit(struct bind_call *b)
{
    const char *unit = strcmp(b->func->name, "DAYOFMONTH") == 0  ? "DAY"
                       : strcmp(b->func->name, "DAYOFYEAR") == 0 ? "DOY"
                       : strcmp(b->func->name, "DAYOFWEEK") == 0 ? "DOW"
                                                                 : b->func->name;
    const struct expr *part[2] = {expr_string(b->arena, unit, (uint32_t)strlen(unit)), b->arg[0]};
    b->whole = part[0] ? bind_sub(b, "EXTRACT", part, 2) : NULL;
    return b->whole != NULL;
}

#define TIME_UNIT(title, words)                                                      \
    {                                                                                \
        .name = title, .family = "time", .bind = time_bind_unit, .min = 1, .max = 1, \
        .forms = title "(time) -> BIGINT", .doc = words                              \
    }

static const struct func time_funcs[] = {
    {.name = "EXTRACT",
     .family = "time",
     .bind = extract_bind,
     .min = 2,
     .max = 2,
     .forms = "EXTRACT(unit FROM time) -> BIGINT",
     .doc = "One part of a date, time or interval: YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND "
            "MILLISECOND MICROSECOND NANOSECOND DOY DOW ISODOW ISOYEAR EPOCH DECADE CENTURY "
            "MILLENNIUM."},
    TIME_UNIT("YEAR", "The year."),
    TIME_UNIT("QUARTER", "The quarter of the year, 1 to 4."),
    TIME_UNIT("MONTH", "The month, 1 to 12."),
    TIME_UNIT("WEEK", "The week of the year by ISO 8601, 1 to 53."),
    TIME_UNIT("DAYOFYEAR", "The day of the year, 1 to 366."),
    TIME_UNIT("DAYOFMONTH", "The day of the month, 1 to 31."),
    TIME_UNIT("DAYOFWEEK", "The day of the week, 1 (Sunday) to 7."),
    TIME_UNIT("HOUR", "The hour, 0 to 23."),
    TIME_UNIT("MINUTE", "The minute, 0 to 59."),
    TIME_UNIT("SECOND", "The second, 0 to 59."),
    {.name = "TO_DATE",
     .family = "time",
     .bind = time_bind_parse,
     .min = 1,
     .max = 2,
     .data = 0,
     .forms = "TO_DATE(text STRING [, pattern STRING]) -> DATE",
     .doc = "The date that the text says, by default as yyyy-MM-dd; NULL when it says none."},
    {.name = "TO_TIMESTAMP",
     .family = "time",
     .bind = time_bind_parse,
     .min = 1,
     .max = 2,
     .data = 1,
     .forms = "TO_TIMESTAMP(text STRING [, pattern STRING]) -> TIMESTAMP(3)",
     .doc = "The time that the text says, by default as yyyy-MM-dd HH:mm:ss; NULL when it says "
            "none."},
    {.name = "TO_TIMESTAMP_LTZ",
     .family = "time",
     .bind = time_bind_parse,
     .min = 1,
     .max = 3,
     .data = 2,
     .forms = "TO_TIMESTAMP_LTZ(number [, precision INT]) or TO_TIMESTAMP_LTZ(text STRING [, "
              "pattern STRING [, zone STRING]]) -> TIMESTAMP_LTZ",
     .doc = "The instant that many seconds (precision 0), milliseconds (3, the default) or "
            "microseconds (6) behind 1970, or that the text says; NULL when it says none."},
    {.name = "DATE_FORMAT",
     .family = "time",
     .bind = time_bind_format,
     .min = 2,
     .max = 2,
     .forms = "DATE_FORMAT(time TIMESTAMP, pattern STRING) -> STRING",
     .doc = "The time written by a pattern of Java's DateTimeFormatter: yyyy MM dd HH mm ss SSS."},
};

const struct func_family func_time = {time_funcs, sizeof(time_funcs) / sizeof(time_funcs[0])};
