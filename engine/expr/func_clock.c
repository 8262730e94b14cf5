/* The time now, seconds since 1970 as text, and time zones as arguments. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/instant.h"
#include "engine/expr/promote.h"
#include "engine/expr/simple_date.h"
#include "engine/expr/zone_arg.h"

/* --- Now. ------------------------------------------------------------------------------------- */

static void clock_now(struct call *k)
{
    int64_t now = moment_cut(call_now_us(k), 3), *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = now; }
}
static const struct kernel clock_k_now = {.run = clock_now, .flags = KERNEL_OTHER};

static void clock_now_seconds(struct call *k)
{
    int64_t now = moment_floor_div(call_now_us(k), 1000000), *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = now; }
}
static const struct kernel clock_k_now_seconds = {.run = clock_now_seconds, .flags = KERNEL_OTHER};

/* `data` is the kind that the time is asked for as. */
static bool clock_bind_now(struct bind_call *b)
{
    struct sr_type now = type_nullable(type_with(SR_TIMESTAMP_LTZ, 3, 0), false);
    struct sr_type to = b->func->data == SR_DATE || b->func->data == SR_TIME
                            ? type_of((enum sr_kind)b->func->data)
                            : type_with((enum sr_kind)b->func->data, 3, 0);
    b->type = now;
    b->kernel = &clock_k_now;
    if (to.kind != SR_TIMESTAMP_LTZ) {
        const struct expr *e = expr_make(b->arena, b->func, b->kernel, now, NULL, 0);
        b->whole = expr_cast(b->arena, e, &to, false, b->err);
        b->is_said = !b->whole;
    }
    return !b->is_said;
}

/* --- Watermarks. ------------------------------------------------------------------------------ */

static void clock_watermark(struct call *k)
{
    int64_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        int64_t ms = call_watermark(k, r);
        if (ms == SR_WATERMARK_NONE) {
            call_null(k, r);
        } else {
            to[r] = (int64_t)((uint64_t)ms * 1000u);
        }
    }
}
static const struct kernel clock_k_watermark = {.run = clock_watermark,
                                                .flags = KERNEL_OTHER | KERNEL_NULLS};

/* Whether the column is the event time only who binds it to a step knows: bind/expression.c. */
static bool clock_bind_watermark(struct bind_call *b)
{
    b->type = type_with(b->arg[0]->type.kind, 3, 0);
    b->kernel = &clock_k_watermark;
    return sr_is_timestamp(b->arg[0]->type.kind);
}

/* A name for what a source says itself, which no connector here does. */
static bool clock_bind_source(struct bind_call *b)
{
    return bind_fails(b, "SOURCE_WATERMARK() stands for watermarks that a source makes itself, and "
                         "no connector does that: write one, such as ts - INTERVAL '5' SECOND");
}

/* --- Seconds since 1970. ---------------------------------------------------------------------- */

static const char clock_pattern[] = "yyyy-MM-dd HH:mm:ss";

/* The pattern of row r: argument 1, or the usual one. False: it is none, and the row fails. */
static bool clock_use(struct call *k, uint32_t r, struct simple_pattern *p)
{
    char letter;
    p->zone = call_zone(k);
    p->zone_name = p->zone ? "" : "UTC";
    if (k->args < 2) {
        p->text = clock_pattern;
        p->len = sizeof(clock_pattern) - 1;
        return true;
    }
    p->text = call_get(k, 1, r, &p->len);
    if (simple_is_good(p->text, p->len, &letter)) {
        return true;
    }
    call_fail(k, r, "'%.*s' is not a pattern like yyyy-MM-dd HH:mm:ss: %s%c",
              (int)(p->len < 60 ? p->len : 60), p->text,
              letter ? "there is no letter " : "a quote has no end", letter ? letter : ' ');
    return false;
}

static void clock_from_unix(struct call *k)
{
    const int64_t *a = k->arg[0]->values;
    char text[SIMPLE_TEXT_MAX];
    struct simple_pattern p;
    CALL_EACH_ROW(k, r)
    {
        if (clock_use(k, r, &p)) {
            call_text(k, r, text, simple_write(&p, (int64_t)((uint64_t)a[r] * 1000u), text));
        }
    }
}
static const struct kernel clock_k_from_unix = {.run = clock_from_unix,
                                                .flags = KERNEL_FAILS | KERNEL_ZONE};

static bool clock_bind_from_unix(struct bind_call *b)
{
    struct sr_type seconds = type_of(SR_BIGINT);
    if (!sr_is_integer(b->arg[0]->type.kind) || !bind_coerce(b, 0, &seconds) ||
        (b->args > 1 && !sr_is_text(b->arg[1]->type.kind))) {
        return false;
    }
    b->type = type_with(SR_VARCHAR, SR_LENGTH_MAX, 0);
    b->kernel = &clock_k_from_unix;
    return true;
}

/* Text that is no time is the smallest number, as in Flink. */
static void clock_to_unix(struct call *k)
{
    int64_t *to = k->out->values, ms;
    struct simple_pattern p;
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        const char *s = call_get(k, 0, r, &len);
        if (clock_use(k, r, &p)) {
            to[r] = simple_read(&p, s, len, &ms) ? moment_floor_div(ms, 1000) : INT64_MIN;
        }
    }
}
static const struct kernel clock_k_to_unix = {.run = clock_to_unix,
                                              .flags = KERNEL_FAILS | KERNEL_ZONE};

static bool clock_bind_to_unix(struct bind_call *b)
{
    for (uint32_t i = 0; i < b->args; i++) {
        if (!sr_is_text(b->arg[i]->type.kind)) {
            return false;
        }
    }
    b->type = type_nullable(type_of(SR_BIGINT), bind_any_nullable(b));
    b->kernel = b->args > 0 ? &clock_k_to_unix : &clock_k_now_seconds;
    return true;
}

/* --- Time zones as arguments. ----------------------------------------------------------------- */

struct clock_zones {
    struct zone_arg from, to;
};

static sr_rc clock_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    (void)e;
    *state = calloc(1, sizeof(struct clock_zones));
    return *state ? SR_OK : error_set(err, SR_ENOMEM, "out of memory");
}

static void clock_release(void *state)
{
    struct clock_zones *z = state;
    if (z) {
        zone_arg_done(&z->from);
        zone_arg_done(&z->to);
        free(z);
    }
}

/* The zone of argument i; one that there is none of is UTC, and so are offsets but GMT+8, as java's
 * TimeZone has it. */
static const struct zone *clock_zone(struct zone_arg *z, const struct call *k, uint32_t i,
                                     uint32_t r)
{
    bool is_good = zone_arg_use(z, k, i, r);
    bool is_offset = z->name[0] == '+' || z->name[0] == '-' || strncasecmp(z->name, "UT", 2) == 0;
    return is_good && !is_offset ? z->zone : NULL;
}

static void clock_convert(struct call *k)
{
    struct clock_zones *z = k->state;
    struct simple_pattern p = {.text = clock_pattern, .len = sizeof(clock_pattern) - 1};
    char text[SIMPLE_TEXT_MAX];
    CALL_EACH_ROW(k, r)
    {
        uint32_t len;
        int64_t ms;
        const char *s = call_get(k, 0, r, &len);
        p.zone = clock_zone(&z->from, k, 1, r);
        if (simple_read(&p, s, len, &ms)) {
            p.zone = clock_zone(&z->to, k, 2, r);
            call_text(k, r, text, simple_write(&p, ms, text));
        } else {
            call_null(k, r);
        }
    }
}
static const struct kernel clock_k_convert = {
    .run = clock_convert, .prepare = clock_prepare, .release = clock_release};

/* A TIMESTAMP_LTZ that was read as if in UTC, and the zone that it was meant in. */
static void clock_meant(struct call *k)
{
    struct clock_zones *z = k->state;
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v = instant_get(k->arg[0], r);
        if (zone_arg_use(&z->from, k, 1, r)) {
            v.ms = zone_utc_ms(z->from.zone, v.ms, false);
            instant_put(k->out, r, v);
        } else {
            call_null(k, r);
        }
    }
}
const struct kernel clock_k_meant = {
    .run = clock_meant, .prepare = clock_prepare, .release = clock_release};

/* --- The table. ------------------------------------------------------------------------------- */

#define CLOCK_NOW(title, kind, words)                                                            \
    {                                                                                            \
        .name = title, .family = "time", .bind = clock_bind_now, .data = (kind), .forms = title, \
        .doc = words                                                                             \
    }

static const struct func clock_funcs[] = {
    CLOCK_NOW("CURRENT_TIMESTAMP", SR_TIMESTAMP_LTZ,
              "The time now, TIMESTAMP_LTZ(3): one and the same for rows that are computed "
              "together."),
    CLOCK_NOW("NOW", SR_TIMESTAMP_LTZ, "NOW(): the same as CURRENT_TIMESTAMP."),
    CLOCK_NOW("CURRENT_ROW_TIMESTAMP", SR_TIMESTAMP_LTZ,
              "CURRENT_ROW_TIMESTAMP(): the same as CURRENT_TIMESTAMP."),
    CLOCK_NOW("PROCTIME", SR_TIMESTAMP_LTZ, "PROCTIME(): the time at which the row is computed."),
    CLOCK_NOW("CURRENT_DATE", SR_DATE, "The date now, in the time zone of the session."),
    CLOCK_NOW("CURRENT_TIME", SR_TIME, "The time of day now, in the time zone of the session."),
    CLOCK_NOW("LOCALTIME", SR_TIME, "The same as CURRENT_TIME."),
    CLOCK_NOW("LOCALTIMESTAMP", SR_TIMESTAMP,
              "The time now in the time zone of the session, as TIMESTAMP(3)."),
    {.name = "CURRENT_WATERMARK",
     .family = "time",
     .bind = clock_bind_watermark,
     .min = 1,
     .max = 1,
     .forms = "CURRENT_WATERMARK(event time)",
     .doc =
         "The watermark in force where the row is computed when it arrives, NULL before there is "
         "one; a row is late when its event time is not behind it. With several splits, tasks or "
         "inputs it is not the same in each run."},
    {.name = "SOURCE_WATERMARK",
     .family = "time",
     .bind = clock_bind_source,
     .forms = "watermark: ts AS SOURCE_WATERMARK()",
     .doc = "The watermark that a source makes itself: refused, because no connector does that."},
    {.name = "FROM_UNIXTIME",
     .family = "time",
     .bind = clock_bind_from_unix,
     .min = 1,
     .max = 2,
     .forms = "FROM_UNIXTIME(seconds BIGINT [, pattern STRING]) -> STRING",
     .doc = "The time so many seconds behind 1970 in the time zone of the session, by a pattern of "
            "Java's SimpleDateFormat, else yyyy-MM-dd HH:mm:ss."},
    {.name = "UNIX_TIMESTAMP",
     .family = "time",
     .bind = clock_bind_to_unix,
     .min = 0,
     .max = 2,
     .forms = "UNIX_TIMESTAMP() or UNIX_TIMESTAMP(text STRING [, pattern STRING]) -> BIGINT",
     .doc = "Seconds since 1970: now, or at the time that the text says in the time zone of the "
            "session. Text that says none gives -9223372036854775808."},
    {.name = "CONVERT_TZ",
     .family = "time",
     .bind = bind_simple,
     .min = 3,
     .max = 3,
     .args = "s",
     .result = RESULT_STRING,
     .is_nullable = true,
     .kernel = &clock_k_convert,
     .forms = "CONVERT_TZ(text STRING, from STRING, to STRING) -> STRING",
     .doc = "The time yyyy-MM-dd HH:mm:ss of one time zone as that of another; NULL when the text "
            "is none. A zone that is unknown is UTC."},
};

const struct func_family func_clock = {clock_funcs, sizeof(clock_funcs) / sizeof(clock_funcs[0])};
