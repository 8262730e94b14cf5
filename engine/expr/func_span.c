/* Spans between times: TIMESTAMPADD, TIMESTAMPDIFF, (a - b) DAY, OVERLAPS. */
#include <string.h>
#include <strings.h>

#include "engine/base/calendar.h"
#include "engine/data/schema.h"
#include "engine/expr/family.h"
#include "engine/expr/instant.h"
#include "engine/expr/promote.h"

struct span_unit {
    const char *name;
    int64_t size; /* months or ms */
    bool is_months;
    int64_t times;  /* a difference in whole seconds is taken so many times; else 1 */
    int64_t divide; /* of a difference; 0: by size */
};

static const struct span_unit span_units[] = {
    {"NANOSECOND", 1, false, 1000000000, 1000},
    {"MICROSECOND", 1, false, 1000000, 1000},
    {"MILLISECOND", 1, false, 1000, 1000},
    {"SECOND", 1000, false, 1, 0},
    {"MINUTE", 60000, false, 1, 0},
    {"HOUR", 3600000, false, 1, 0},
    {"DAY", MOMENT_DAY_MS, false, 1, 0},
    {"WEEK", 7 * MOMENT_DAY_MS, false, 1, 0},
    {"MONTH", 1, true, 1, 0},
    {"QUARTER", 3, true, 1, 0},
    {"YEAR", 12, true, 1, 0},
    {"DECADE", 120, true, 1, 12}, /* Flink counts years there */
    {"CENTURY", 1200, true, 1, 0},
    {"MILLENNIUM", 12000, true, 1, 0},
};

static const struct span_unit *span_find(struct bind_call *b, const struct expr *unit)
{
    static const char odbc[] = "SQL_TSI_";
    if (unit->kind != EXPR_LITERAL || unit->is_null || !sr_is_text(unit->type.kind)) {
        return NULL;
    }
    const char *name = unit->text;
    uint32_t len = unit->text_len, prefix = sizeof(odbc) - 1;
    if (len > prefix && strncasecmp(name, odbc, prefix) == 0) {
        name += prefix;
        len -= prefix;
    }
    for (size_t i = 0; i < sizeof(span_units) / sizeof(span_units[0]); i++) {
        if (strlen(span_units[i].name) == len && strncasecmp(span_units[i].name, name, len) == 0) {
            return &span_units[i];
        }
    }
    (void)bind_fails(b, "there is no unit %.*s of time", (int)unit->text_len, unit->text);
    return NULL;
}

static bool span_is_moment(enum sr_kind k)
{
    return k == SR_DATE || k == SR_TIME || sr_is_timestamp(k);
}

/* --- TIMESTAMPADD(unit, n, time): time + n * INTERVAL '1' unit. ------------------------------- */

static const struct expr *span_literal(struct arena *a, const struct span_unit *u)
{
    struct sr_error err;
    const struct expr *e =
        expr_interval(a, "1", 1, false, u->is_months ? "MONTH" : "SECOND", NULL, &err);
    struct expr *copy = e ? arena_copy(a, e, sizeof(*e)) : NULL;
    if (copy) {
        copy->value.i = u->size;
    }
    return copy;
}

static bool span_bind_add(struct bind_call *b)
{
    const struct span_unit *u = span_find(b, b->arg[0]);
    const struct sr_type *t = &b->arg[2]->type;
    if (!u || !sr_is_integer(b->arg[1]->type.kind) || !span_is_moment(t->kind)) {
        return false;
    }
    if (u->times > 1000) {
        return bind_fails(b, "TIMESTAMPADD of %s: Flink has no such interval", u->name);
    }
    /* What is shorter than a day makes a TIMESTAMP of a DATE, milliseconds need their digits. */
    struct sr_type to = *t;
    if (t->kind == SR_DATE && u->size < MOMENT_DAY_MS && !u->is_months) {
        to = type_with(SR_TIMESTAMP, 6, 0);
    } else if (sr_is_timestamp(t->kind) && u->size == 1 && !u->is_months && t->length < 3) {
        to = type_with(t->kind, 3, 0);
    }
    const struct expr *times[2] = {span_literal(b->arena, u), b->arg[1]}, *sum[2];
    sum[0] = expr_cast(b->arena, b->arg[2], &to, false, b->err);
    sum[1] = times[0] && sum[0] ? bind_sub(b, "*", times, 2) : NULL;
    b->whole = sum[1] ? bind_sub(b, "+", sum, 2) : NULL;
    b->is_said = !b->whole;
    return !b->is_said;
}

/* --- TIMESTAMPDIFF(unit, from, to). ----------------------------------------------------------- */

/* Milliseconds on the clock; a TIME is one of 1970-01-01. */
static int64_t span_ms(const struct sr_column *c, uint32_t r)
{
    if (sr_is_timestamp(c->type.kind)) {
        return instant_get(c, r).ms;
    }
    int64_t v = ((const int32_t *)c->values)[r];
    return c->type.kind == SR_DATE ? v * MOMENT_DAY_MS : v;
}

/* Whole months from one day to a later one: the last day of a month stands for those it lacks. */
static int64_t span_day_months(int64_t from, int64_t to)
{
    struct civil x, y;
    civil_from_days(from, &x.year, &x.month, &x.day);
    civil_from_days(to, &y.year, &y.month, &y.day);
    int64_t months = ((int64_t)y.year - x.year) * 12 + y.month - x.month;
    return moment_add_months(from, months) > to ? months - 1 : months;
}

/* The time of day counts only where the days are whole months apart, and towards less, as Flink has
 * it. */
static int64_t span_months(int64_t from, int64_t to)
{
    int64_t a = moment_floor_div(from, MOMENT_DAY_MS), b = moment_floor_div(to, MOMENT_DAY_MS);
    int64_t months = a <= b ? span_day_months(a, b) : -span_day_months(b, a);
    bool is_whole = moment_add_months(a, months) == b;
    bool is_short = to - b * MOMENT_DAY_MS < from - a * MOMENT_DAY_MS;
    return is_whole && is_short ? months - 1 : months;
}

/* Argument 2 is the divisor, argument 3 the factor: literals. */
static void span_diff(struct call *k, bool is_months)
{
    const int64_t *divide = k->arg[2]->values, *times = k->arg[3]->values;
    bool is_long = k->out->type.kind == SR_BIGINT || k->out->type.kind == SR_INTERVAL_SECOND;
    CALL_EACH_ROW(k, r)
    {
        int64_t from = span_ms(k->arg[0], r), to = span_ms(k->arg[1], r);
        int64_t v = is_months ? span_months(from, to) : (int64_t)((uint64_t)to - (uint64_t)from);
        v = (int64_t)((uint64_t)(v / divide[r]) * (uint64_t)times[r]);
        if (is_long) {
            ((int64_t *)k->out->values)[r] = v;
        } else {
            ((int32_t *)k->out->values)[r] = (int32_t)v;
        }
    }
}
static void span_diff_months(struct call *k) { span_diff(k, true); }
static void span_diff_ms(struct call *k) { span_diff(k, false); }
static const struct kernel span_k_diff[2] = {{.run = span_diff_ms}, {.run = span_diff_months}};

static const struct expr *span_number(struct arena *a, int64_t v)
{
    struct sr_error err;
    struct sr_type t = type_nullable(type_of(SR_BIGINT), false);
    const struct expr *e = expr_cast(a, expr_number(a, "0", &err), &t, false, &err);
    struct expr *literal = e ? arena_get(a, sizeof(*literal)) : NULL;
    if (literal) {
        literal->kind = EXPR_LITERAL;
        literal->type = t;
        literal->offset = UINT32_MAX;
        literal->value.i = v;
    }
    return literal;
}

/* A call of the loop above. */
static bool span_bind_between(struct bind_call *b, const struct expr *from, const struct expr *to,
                              const struct span_unit *u, struct sr_type type)
{
    const struct expr *arg[4] = {from, to, span_number(b->arena, u->divide ? u->divide : u->size),
                                 span_number(b->arena, u->times)};
    type.is_nullable = from->type.is_nullable || to->type.is_nullable;
    b->whole = arg[2] && arg[3]
                   ? expr_make(b->arena, b->func, &span_k_diff[u->is_months], type, arg, 4)
                   : NULL;
    return b->whole || bind_fails(b, "out of memory");
}

/* Both sides on the same clock. */
static bool span_is_pair(const struct sr_type *a, const struct sr_type *b)
{
    bool is_zoned = a->kind == SR_TIMESTAMP_LTZ || b->kind == SR_TIMESTAMP_LTZ;
    bool is_time = a->kind == SR_TIME || b->kind == SR_TIME;
    return span_is_moment(a->kind) && span_is_moment(b->kind) &&
           ((!is_zoned && !is_time) || a->kind == b->kind);
}

static bool span_bind_diff(struct bind_call *b)
{
    const struct span_unit *u = span_find(b, b->arg[0]);
    if (!u || !span_is_pair(&b->arg[1]->type, &b->arg[2]->type)) {
        return false;
    }
    struct sr_type type = type_of(u->times > 1000000 ? SR_BIGINT : SR_INT);
    return span_bind_between(b, b->arg[1], b->arg[2], u, type);
}

/* (a - b) DAY TO SECOND: an interval of months or of ms. */
static bool span_bind_minus(struct bind_call *b)
{
    const struct span_unit *u = span_find(b, b->arg[2]);
    const struct sr_type *x = &b->arg[0]->type, *y = &b->arg[1]->type;
    if (!u || !span_is_pair(x, y) || x->kind != y->kind) {
        return false;
    }
    static const struct span_unit whole[2] = {{"SECOND", 1, false, 1, 0}, {"MONTH", 1, true, 1, 0}};
    struct sr_type type = type_of(u->is_months ? SR_INTERVAL_MONTH : SR_INTERVAL_SECOND);
    return span_bind_between(b, b->arg[1], b->arg[0], &whole[u->is_months], type);
}

/* --- (a, b) OVERLAPS (c, d). ------------------------------------------------------------------ */

/* The later or earlier end of a period, whose second part may be an interval. */
static const struct expr *span_end(struct bind_call *b, uint32_t i, bool is_later)
{
    const struct expr *pair[2] = {b->arg[i], b->arg[i + 1]}, *branch[3];
    if (sr_is_interval(pair[1]->type.kind)) {
        pair[1] = bind_sub(b, "+", pair, 2);
    }
    branch[0] = pair[1] ? bind_sub(b, "<=", pair, 2) : NULL;
    branch[1] = pair[is_later ? 1 : 0];
    branch[2] = pair[is_later ? 0 : 1];
    return branch[0] ? bind_sub(b, "CASE", branch, 3) : NULL;
}

static bool span_bind_overlaps(struct bind_call *b)
{
    const struct expr *left[2] = {span_end(b, 0, true), span_end(b, 2, false)};
    const struct expr *right[2] = {span_end(b, 2, true), span_end(b, 0, false)}, *both[2];
    if (!left[0] || !left[1] || !right[0] || !right[1]) {
        return false;
    }
    both[0] = bind_sub(b, ">=", left, 2);
    both[1] = both[0] ? bind_sub(b, ">=", right, 2) : NULL;
    b->whole = both[1] ? bind_sub(b, "AND", both, 2) : NULL;
    return b->whole != NULL;
}

static const struct func span_funcs[] = {
    {.name = "TIMESTAMPADD",
     .family = "time",
     .bind = span_bind_add,
     .min = 3,
     .max = 3,
     .forms = "TIMESTAMPADD(unit, count INT, time)",
     .doc = "The time so many units later. Units are MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH "
            "QUARTER YEAR DECADE CENTURY MILLENNIUM."},
    {.name = "TIMESTAMPDIFF",
     .family = "time",
     .bind = span_bind_diff,
     .min = 3,
     .max = 3,
     .forms = "TIMESTAMPDIFF(unit, from, to) -> INT",
     .doc = "How many whole units lie between two times; negative when the second comes first. It "
            "sees no more than milliseconds, and wraps around where INT does."},
    {.name = "INTERVAL BETWEEN",
     .family = "time",
     .bind = span_bind_minus,
     .min = 3,
     .max = 3,
     .forms = "(time - time) unit [TO unit] -> INTERVAL",
     .doc = "The interval between two times: whole months for YEAR and MONTH, else milliseconds."},
    {.name = "OVERLAPS",
     .family = "time",
     .bind = span_bind_overlaps,
     .min = 4,
     .max = 4,
     .forms = "(from, to) OVERLAPS (from, to) -> BOOLEAN",
     .doc = "Whether two periods share a moment; an end may be an interval, and may come first."},
};

const struct func_family func_span = {span_funcs, sizeof(span_funcs) / sizeof(span_funcs[0])};
