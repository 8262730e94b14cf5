/* Casts among DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ: loops of their own where both sides are
 * numbers of us, else through struct sr_instant. In the time zone UTC a TIMESTAMP_LTZ has the same
 * number as the TIMESTAMP that shows it. */
#include "engine/base/zone.h"
#include "engine/expr/cast.h"
#include "engine/expr/instant.h"
#include "engine/expr/moment.h"
#include "engine/expr/promote.h"

static void cast_date_stamp(struct call *k)
{
    const int32_t *a = k->arg[0]->values;
    int64_t *to = k->out->values;
    CALL_LOOP(k, to[r] = moment_of_day(a[r]));
}
static const struct kernel cast_k_date_stamp = {.run = cast_date_stamp, .flags = KERNEL_DENSE};

static void cast_time_stamp(struct call *k)
{
    const int32_t *a = k->arg[0]->values;
    int64_t *to = k->out->values;
    CALL_LOOP(k, to[r] = a[r] * INT64_C(1000));
}
static const struct kernel cast_k_time_stamp = {.run = cast_time_stamp, .flags = KERNEL_DENSE};

/* Of whole milliseconds, towards 1970 and not towards the past: so Flink does it. */
static void cast_stamp_date(struct call *k)
{
    const int64_t *a = k->arg[0]->values;
    int32_t *to = k->out->values;
    CALL_LOOP(k, to[r] = (int32_t)(moment_floor_div(a[r], 1000) / MOMENT_DAY_MS));
}
static const struct kernel cast_k_stamp_date = {.run = cast_stamp_date, .flags = KERNEL_DENSE};

static void cast_stamp_time(struct call *k)
{
    const int64_t *a = k->arg[0]->values;
    int32_t *to = k->out->values;
    CALL_LOOP(k, int64_t rest = a[r] % MOMENT_DAY_US;
              to[r] = (int32_t)((rest < 0 ? rest + MOMENT_DAY_US : rest) / 1000));
}
static const struct kernel cast_k_stamp_time = {.run = cast_stamp_time, .flags = KERNEL_DENSE};

static void cast_stamp_cut(struct call *k)
{
    const int64_t *a = k->arg[0]->values;
    int64_t *to = k->out->values;
    int32_t precision = k->out->type.length;
    CALL_LOOP(k, to[r] = moment_cut(a[r], precision));
}
static const struct kernel cast_k_stamp_cut = {.run = cast_stamp_cut, .flags = KERNEL_DENSE};

/* The same number under another type: precision and kind say how it is written. */
static void cast_stamp_same(struct call *k)
{
    const int64_t *a = k->arg[0]->values;
    int64_t *to = k->out->values;
    CALL_LOOP(k, to[r] = a[r]);
}
static const struct kernel cast_k_stamp_same = {.run = cast_stamp_same, .flags = KERNEL_DENSE};

/* --- More than 6 digits behind the second on either side. ------------------------------------- */

static void cast_date_instant(struct call *k)
{
    const int32_t *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v = {.ms = a[r] * MOMENT_DAY_MS};
        instant_put(k->out, r, v);
    }
}
static const struct kernel cast_k_date_instant = {.run = cast_date_instant, .flags = KERNEL_DENSE};

static void cast_time_instant(struct call *k)
{
    const int32_t *a = k->arg[0]->values;
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v = {.ms = a[r]};
        instant_put(k->out, r, v);
    }
}
static const struct kernel cast_k_time_instant = {.run = cast_time_instant, .flags = KERNEL_DENSE};

static void cast_instant_date(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r) { to[r] = (int32_t)(instant_get(k->arg[0], r).ms / MOMENT_DAY_MS); }
}
static const struct kernel cast_k_instant_date = {.run = cast_instant_date, .flags = KERNEL_DENSE};

static void cast_instant_time(struct call *k)
{
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        int64_t rest = instant_get(k->arg[0], r).ms % MOMENT_DAY_MS;
        to[r] = (int32_t)(rest < 0 ? rest + MOMENT_DAY_MS : rest);
    }
}
static const struct kernel cast_k_instant_time = {.run = cast_instant_time, .flags = KERNEL_DENSE};

static void cast_instant_stamp(struct call *k)
{
    CALL_EACH_ROW(k, r) { instant_put(k->out, r, instant_get(k->arg[0], r)); }
}
static const struct kernel cast_k_instant_stamp = {.run = cast_instant_stamp,
                                                   .flags = KERNEL_DENSE};

static const struct kernel *cast_instant(const struct sr_type *from, const struct sr_type *to)
{
    if (sr_is_timestamp(to->kind)) {
        return sr_is_timestamp(from->kind) ? &cast_k_instant_stamp
               : from->kind == SR_DATE     ? &cast_k_date_instant
                                           : &cast_k_time_instant;
    }
    return to->kind == SR_DATE ? &cast_k_instant_date : &cast_k_instant_time;
}

static bool cast_is_long(const struct sr_type *t)
{
    return sr_is_timestamp(t->kind) && t->length > INSTANT_DIGITS_SMALL;
}

/* --- Which one. ------------------------------------------------------------------------------- */

static void cast_time_cut(struct call *k)
{
    static const int32_t unit[] = {1000, 100, 10, 1};
    const int32_t *a = k->arg[0]->values;
    int32_t *to = k->out->values, by = unit[k->out->type.length < 3 ? k->out->type.length : 3];
    CALL_EACH_ROW(k, r) { to[r] = a[r] / by * by; }
}
static const struct kernel cast_k_time_cut = {.run = cast_time_cut, .flags = KERNEL_DENSE};

static const struct kernel *cast_plain_stamp(const struct sr_type *from, const struct sr_type *to)
{
    if (sr_is_timestamp(from->kind)) {
        return from->length <= to->length ? &cast_k_stamp_same : &cast_k_stamp_cut;
    }
    return from->kind == SR_DATE   ? &cast_k_date_stamp
           : from->kind == SR_TIME ? &cast_k_time_stamp
                                   : NULL;
}

/* As if the time zone were UTC. */
static const struct kernel *cast_plain(const struct sr_type *from, const struct sr_type *to)
{
    if (cast_is_long(from) || cast_is_long(to)) {
        return cast_instant(from, to);
    }
    if (sr_is_timestamp(to->kind)) {
        return cast_plain_stamp(from, to);
    }
    if (from->kind == to->kind) {
        return from->kind == SR_TIME && from->length != to->length ? &cast_k_time_cut : &cast_alias;
    }
    if (!sr_is_timestamp(from->kind)) {
        return NULL;
    }
    return to->kind == SR_DATE   ? &cast_k_stamp_date
           : to->kind == SR_TIME ? &cast_k_stamp_time
                                 : NULL;
}

/* --- The time zone of the session between TIMESTAMP_LTZ and the others. ----------------------- */

/* What the value is on the clock that it stands for. */
static struct sr_instant cast_clock(const struct sr_column *c, uint32_t r)
{
    if (sr_is_timestamp(c->type.kind)) {
        return instant_get(c, r);
    }
    int64_t v = ((const int32_t *)c->values)[r];
    return (struct sr_instant){.ms = c->type.kind == SR_DATE ? v * MOMENT_DAY_MS : v};
}

static void cast_to_zone(struct call *k)
{
    const struct zone *zone = call_zone(k);
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v = cast_clock(k->arg[0], r);
        v.ms = zone_utc_ms(zone, v.ms, false);
        instant_put(k->out, r, v);
    }
}

static void cast_of_zone(struct call *k)
{
    const struct zone *zone = call_zone(k);
    bool is_date = k->out->type.kind == SR_DATE;
    int32_t *to = k->out->values;
    CALL_EACH_ROW(k, r)
    {
        struct sr_instant v = instant_get(k->arg[0], r);
        v.ms = zone_local_ms(zone, v.ms);
        if (k->out->type.kind == SR_TIMESTAMP) {
            instant_put(k->out, r, v);
        } else {
            int64_t days = moment_floor_div(v.ms, MOMENT_DAY_MS);
            to[r] = (int32_t)(is_date ? days : v.ms - days * MOMENT_DAY_MS);
        }
    }
}

static void cast_zoned(struct call *k)
{
    if (!call_zone(k) && k->out->type.kind != SR_DATE) { /* a DATE is cut towards the past here */
        cast_plain(&k->arg[0]->type, &k->out->type)->run(k);
    } else if (k->out->type.kind == SR_TIMESTAMP_LTZ) {
        cast_to_zone(k);
    } else {
        cast_of_zone(k);
    }
}
static const struct kernel cast_k_zoned = {.run = cast_zoned, .flags = KERNEL_DENSE | KERNEL_ZONE};

const struct kernel *cast_time(const struct sr_type *from, const struct sr_type *to)
{
    const struct kernel *plain = cast_plain(from, to);
    bool is_local = (from->kind == SR_TIMESTAMP_LTZ) != (to->kind == SR_TIMESTAMP_LTZ);
    return plain && is_local ? &cast_k_zoned : plain;
}
