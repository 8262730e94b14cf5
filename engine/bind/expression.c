#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/assert.h"
#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/bind/aggregate.h"
#include "engine/data/schema.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"

/* Adds the fault of a failed call of engine/expr, unless an argument had failed before. */
static const struct expr *bind_refused(struct scope *s, const struct ast *n,
                                       const struct sr_error *err)
{
    bind_fault(s->binder, s->text, n->at, NULL, "SR0702: %s",
               err->words[0] != '\0' ? err->words : "this expression has no meaning");
    return NULL;
}

/* e with the place that it came from, so that a fault at run time can show it. */
static const struct expr *bind_placed(struct scope *s, const struct ast *n, const struct expr *e)
{
    if (e->kind != EXPR_CALL) {
        return e;
    }
    struct expr *placed = arena_copy(s->binder->arena, e, sizeof(*e));
    if (placed) {
        placed->offset = n->at;
    }
    return placed;
}

static const char *bind_near_column(struct scope *s, const char *name)
{
    const char **names = arena_array(s->binder->arena, (size_t)s->in->fields + 1, sizeof(*names));
    for (uint32_t c = 0; names && c < s->in->fields; c++) {
        names[c] = s->in->field[c].name;
    }
    const char *near = names ? nearest_word(name, names) : NULL;
    return near ? arena_printf(s->binder->arena, "did you mean '%s'?", near) : NULL;
}

/* "a, b, c": what there is to choose from. */
static const char *bind_all_columns(struct scope *s)
{
    const char *text = "";
    for (uint32_t c = 0; c < s->in->fields && c < 12 && text; c++) {
        text =
            arena_printf(s->binder->arena, "%s%s%s", text, c > 0 ? ", " : "", s->in->field[c].name);
    }
    return arena_printf(s->binder->arena, "columns here: %s%s", text ? text : "",
                        s->in->fields > 12 ? " ..." : "");
}

bool bind_is_table(const struct scope *s, const char *name)
{
    return (s->table && strcmp(name, s->table) == 0) || (s->alias && strcmp(name, s->alias) == 0);
}

/* The column that a name begins with; *parts says how many of its parts that takes. */
static int32_t bind_first(struct scope *s, const struct ast *name, uint32_t *parts)
{
    sr_assert(name->kind == AST_NAME && name->count > 0);
    const char *first = name->item[0]->name;
    if (!s->in) {
        bind_fault(s->binder, s->text, name->at, NULL, "SR0601: '%s': there are no columns here",
                   first);
        return -1;
    }
    bool is_qualified = name->count > 1 && bind_is_table(s, first);
    uint32_t part = is_qualified && schema_find(s->in, first) < 0 ? 1 : 0;
    const char *column = name->item[part]->name;
    int32_t found = schema_find(s->in, column);
    if (found < 0) {
        const char *hint = bind_near_column(s, column);
        bind_fault(s->binder, s->text, name->item[part]->at, hint ? hint : bind_all_columns(s),
                   "SR0601: there is no column '%s'", column);
        return -1;
    }
    *parts = part + 1;
    return found;
}

int32_t bind_column(struct scope *s, const struct ast *name)
{
    uint32_t parts;
    int32_t found = bind_first(s, name, &parts);
    if (found >= 0 && parts < name->count) {
        bool is_row = s->in->field[found].type.kind == SR_ROW;
        bind_fault(s->binder, s->text, name->item[parts]->at,
                   is_row ? "give the field a name in a step before: select: [a.b AS c]" : NULL,
                   is_row ? "SR0601: a column is needed here, not a field of one (%s.%s)"
                          : "SR0601: '%s' has no field '%s'",
                   name->item[parts - 1]->name, name->item[parts]->name);
        return -1;
    }
    return found;
}

/* A column, or a field of a row in it: a.b.c. */
static const struct expr *bind_name(struct scope *s, const struct ast *n)
{
    struct arena *a = s->binder->arena;
    uint32_t parts;
    if (n->count == 1 && strcasecmp(n->item[0]->name, "PI") == 0 &&
        (!s->in || schema_find(s->in, n->item[0]->name) < 0)) {
        struct sr_error none = {0};
        return expr_call(a, "PI", NULL, 0, &none);
    }
    int32_t c = bind_first(s, n, &parts);
    const struct expr *e = c < 0 ? NULL : expr_column(a, s->in, (uint32_t)c);
    for (; e && parts < n->count; parts++) {
        const struct ast *field = n->item[parts];
        struct sr_error err = {0};
        const struct expr *pair[2] = {e, expr_string(a, field->name, field->len)};
        if (e->type.kind != SR_ROW) {
            bind_fault(s->binder, s->text, field->at, NULL, "SR0601: '%s' has no field '%s'",
                       n->item[parts - 1]->name, field->name);
            return NULL;
        }
        e = pair[1] ? expr_call(a, ".", pair, 2, &err) : NULL;
        if (!e) {
            return bind_refused(s, field, &err);
        }
    }
    return e;
}

/* Whether the first field of an INTERVAL is as short as its unit says: '100' is no YEAR(2). */
static bool bind_interval_fits(const struct ast *n, struct sr_error *err)
{
    const char *s = n->name + strspn(n->name, " +-");
    s += strspn(s, "0");
    size_t digits = strspn(s, "0123456789");
    if (digits > n->digits) {
        (void)error_set(err, SR_ECONFIG, "INTERVAL '%s' has more than %u digits: write %s(%zu)",
                        n->name, n->digits, n->unit, digits);
        return false;
    }
    return true;
}

static const struct expr *bind_literal(struct scope *s, const struct ast *n, struct sr_error *err)
{
    struct arena *a = s->binder->arena;
    switch (n->kind) {
    case AST_NULL:
        if (n->unit) { /* UNKNOWN */
            struct sr_type boolean = type_of(SR_BOOLEAN);
            return expr_cast(a, expr_null(a), &boolean, false, err);
        }
        return expr_null(a);
    case AST_BOOL:
        return expr_bool(a, n->name[0] == 'T');
    case AST_NUMBER:
        return expr_number(a, n->is_negative ? arena_printf(a, "-%s", n->name) : n->name, err);
    case AST_STRING:
        return expr_string(a, n->name, n->len);
    case AST_BINARY:
        return expr_binary(a, n->name, n->len, err);
    case AST_INTERVAL:
        return bind_interval_fits(n, err)
                   ? expr_interval(a, n->name, n->len, n->is_negative, n->unit, n->unit_to, err)
                   : NULL;
    case AST_MOMENT:
        return expr_moment(a,
                           n->unit[0] == 'D'   ? SR_DATE
                           : n->unit[4] == 'S' ? SR_TIMESTAMP
                                               : SR_TIME,
                           n->name, n->len, err);
    case AST_NAME:
    case AST_WORD:
    case AST_STAR:
    case AST_CALL:
    case AST_CAST:
    case AST_TYPE:
    case AST_ITEM:
    case AST_LIST:
    case AST_COLUMN:
    case AST_COMPUTED:
    case AST_WATERMARK:
    case AST_KEY:
    case AST_QUERY:
    case AST_TABLE:
    case AST_WINDOW:
        break;
    }
    (void)error_set(err, SR_ECONFIG, "no expression stands here");
    return NULL;
}

/* TIMESTAMPADD(QUARTER, 1, t): units that are no reserved words look like column names. */
static bool bind_takes_unit(const char *function)
{
    return strcmp(function, "TIMESTAMPADD") == 0 || strcmp(function, "TIMESTAMPDIFF") == 0;
}

/* x = ANY (a, b), of any comparison: a call of ANY, SOME or ALL on the right. */
static bool bind_is_any(const struct ast *n)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    const struct ast *list = n->count == 2 ? n->item[1] : NULL;
    bool is_any = list && list->kind == AST_CALL && list->count > 0 &&
                  (strcmp(list->name, "ANY") == 0 || strcmp(list->name, "SOME") == 0 ||
                   strcmp(list->name, "ALL") == 0);
    for (size_t i = 0; is_any && i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (strcmp(n->name, ops[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): see bind_expr */
static const struct expr *bind_any(struct scope *s, const struct ast *n)
{
    const struct ast *list = n->item[1];
    struct arena *a = s->binder->arena;
    const struct expr **test = arena_array(a, list->count, sizeof(struct expr *));
    const struct expr *pair[2] = {bind_expr(s, n->item[0]), NULL};
    struct sr_error err = {0};
    for (uint32_t i = 0; test && pair[0] && i < list->count; i++) {
        pair[1] = bind_expr(s, list->item[i]);
        test[i] = pair[1] ? expr_call(a, n->name, pair, 2, &err) : NULL;
        if (!test[i]) {
            return pair[1] ? bind_refused(s, n, &err) : NULL;
        }
    }
    if (!test || !pair[0]) {
        return NULL;
    }
    const char *join = strcmp(list->name, "ALL") == 0 ? "AND" : "OR";
    const struct expr *e = list->count == 1 ? test[0] : expr_call(a, join, test, list->count, &err);
    return e ? e : bind_refused(s, n, &err);
}

/* Whether argument i of a call may be JSON(...): a value of JSON_OBJECT or JSON_ARRAY, whose
 * argument 0 says what NULL is. */
static bool bind_takes_json(const char *function, uint32_t i)
{
    return i > 0 && ((strcmp(function, "JSON_OBJECT") == 0 && i % 2 == 0) ||
                     strcmp(function, "JSON_ARRAY") == 0);
}

/* Whether e, of a call, is the event time of the step; a fault if not. */
static bool bind_is_event_time(struct scope *s, const struct ast *n, const struct expr *e)
{
    const struct sr_schema *in = s->agg ? &s->agg->out : s->in;
    int32_t is = in ? in->rowtime : -1;
    if (is >= 0 && e->kind == EXPR_COLUMN && e->column == (uint32_t)is) {
        return true;
    }
    bind_fault(s->binder, s->text, n->at,
               is >= 0 ? arena_printf(s->binder->arena, "here it is '%s'", in->field[is].name)
                       : "give the source a `watermark:`, and pass that column on",
               "SR0702: %s takes the event time of the rows, as it is", n->name);
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): see bind_expr */
static const struct expr *bind_call(struct scope *s, const struct ast *n)
{
    if (bind_is_any(n)) {
        return bind_any(s, n);
    }
    struct arena *a = s->binder->arena;
    const struct expr **arg = arena_array(a, (size_t)n->count + 1, sizeof(struct expr *));
    bool has_failed = arg == NULL;
    for (uint32_t i = 0; arg && i < n->count; i++) {
        const struct ast *item = n->item[i];
        if (i == 0 && item->kind == AST_NAME && item->count == 1 && bind_takes_unit(n->name)) {
            arg[i] = expr_string(a, item->item[0]->name, item->item[0]->len);
        } else if (item->kind == AST_STAR) {
            bind_fault(s->binder, s->text, item->at, NULL, "SR0702: %s does not take *", n->name);
        } else {
            s->takes_json = bind_takes_json(n->name, i);
            arg[i] = bind_expr(s, item);
        }
        has_failed = has_failed || !arg[i];
    }
    if (has_failed) {
        return NULL;
    }
    if (n->count == 1 && strcmp(n->name, "CURRENT_WATERMARK") == 0 &&
        !bind_is_event_time(s, n, arg[0])) {
        return NULL;
    }
    struct sr_error err = {0};
    const struct expr *e = NULL;
    if (strcmp(n->name, "BETWEEN SYMMETRIC") == 0) {
        const struct expr *turned[3] = {arg[0], arg[2], arg[1]};
        const struct expr *either[2] = {expr_call(a, "BETWEEN", arg, 3, &err),
                                        expr_call(a, "BETWEEN", turned, 3, &err)};
        e = either[0] && either[1] ? expr_call(a, "OR", either, 2, &err) : NULL;
    } else {
        e = expr_call(a, n->name, arg, n->count, &err);
    }
    return e ? e : bind_refused(s, n, &err);
}

/* The unit of "INTERVAL DAY(2)" as an interval of one; NULL: it has not one unit. */
static const struct expr *bind_one_unit(struct arena *a, const char *type, struct sr_error *err)
{
    char unit[16] = "";
    int end = 0, behind = 0, digits = 0;
    const char *at = type + strlen("INTERVAL");
    if (sscanf(at, " %15[A-Za-z] %n", unit, &end) != 1) { // NOLINT(cert-err34-c)
        return NULL;
    }
    at += end;
    if (sscanf(at, "( %d ) %n", &digits, &behind) == 1) { // NOLINT(cert-err34-c)
        at += behind;
    }
    return *at == '\0' ? expr_interval(a, "1", 1, false, unit, NULL, err) : NULL;
}

/* A number as it is written, with its signs; its value in millionths. False: it is none. */
static bool bind_millionths(const struct expr *e, int64_t *out)
{
    bool is_negative = false;
    for (; expr_is_call_of(e, "-") && e->args == 1; e = e->arg[0]) {
        is_negative = !is_negative;
    }
    const struct sr_type *t = &e->type;
    bool is_small = (t->kind >= SR_TINYINT && t->kind <= SR_BIGINT) ||
                    (t->kind == SR_DECIMAL && t->length <= SR_DECIMAL_SMALL);
    if (e->kind != EXPR_LITERAL || e->is_null || !is_small) {
        return false;
    }
    __int128 v = (__int128)e->value.i * 1000000;
    for (int32_t i = 0; t->kind == SR_DECIMAL && i < t->scale; i++) {
        v /= 10;
    }
    v = is_negative ? -v : v;
    *out = (int64_t)v;
    return *out == v;
}

/* CAST(1.5 AS INTERVAL DAY): a number as it is written is so many of the unit, as in Flink, where
 * any other integer is milliseconds or months, whatever the unit. NULL: see err. */
static const struct expr *bind_cast_units(struct scope *s, const char *type, const struct expr *n,
                                          struct sr_error *err)
{
    struct arena *a = s->binder->arena;
    const struct expr *one = bind_one_unit(a, type, err);
    int64_t millionths = 0;
    if (!one) {
        (void)error_set(err, SR_ECONFIG,
                        "a number is cast to an INTERVAL of one unit, such as DAY");
        return NULL;
    }
    if (!bind_millionths(n, &millionths)) {
        return expr_cast(a, n, &one->type, false, err);
    }
    struct expr *copy = arena_copy(a, one, sizeof(*one));
    if (copy) {
        copy->value.i = (int64_t)((__int128)one->value.i * millionths / 1000000);
        bool is_months = one->type.kind == SR_INTERVAL_MONTH;
        copy->value.i = is_months ? (int32_t)copy->value.i : copy->value.i;
    }
    return copy;
}

/* NOLINTNEXTLINE(misc-no-recursion): see bind_expr */
static const struct expr *bind_cast(struct scope *s, const struct ast *n)
{
    struct arena *a = s->binder->arena;
    const struct expr *e = bind_expr(s, n->item[0]);
    const struct ast *t = n->item[1];
    struct sr_type type;
    struct sr_error err = {0};
    uint32_t at = 0;
    if (type_parse(a, t->name, &type, &at, &err) != SR_OK) {
        bind_fault(s->binder, s->text, t->at + at, NULL, "SR0603: %s",
                   at > 0 ? arena_printf(a, "in type %s: %s", t->name, err.words) : err.words);
        return NULL;
    }
    if (!e) {
        return NULL;
    }
    if (strcasecmp(t->name, "VARCHAR") == 0) { /* of any length in a CAST, as in Flink */
        type.length = SR_LENGTH_MAX;
    }
    if (!type.is_nullable) {
        bind_fault(s->binder, s->text, t->at, "leave NOT NULL away: it follows from the value",
                   "SR0603: a CAST has no NOT NULL, as in Flink");
        return NULL;
    }
    bool is_count = e->type.kind <= SR_DECIMAL && e->type.kind >= SR_TINYINT &&
                    e->type.kind != SR_FLOAT && e->type.kind != SR_DOUBLE;
    const struct expr *cast = is_count && sr_is_interval(type.kind)
                                  ? bind_cast_units(s, t->name, e, &err)
                                  : expr_cast(a, e, &type, n->is_try, &err);
    return cast ? cast : bind_refused(s, n, &err);
}

/* NOLINTNEXTLINE(misc-no-recursion): a syntax tree is at most AST_DEPTH_MAX deep */
const struct expr *bind_expr(struct scope *s, const struct ast *n)
{
    struct sr_error err = {0};
    const struct expr *e = NULL;
    bool is_settled = false, takes_json = s->takes_json;
    s->takes_json = false;
    if (n->kind == AST_CALL && strcmp(n->name, "JSON") == 0 && !takes_json) {
        bind_fault(s->binder, s->text, n->at, "such as JSON_OBJECT('key' VALUE JSON(text))",
                   "SR0702: JSON(...) is only for values of JSON_OBJECT and JSON_ARRAY");
        return NULL;
    }
    if (s->agg) {
        e = agg_scope_bind(s, n, &is_settled);
    } else if (n->kind == AST_CALL && func_is_aggregate(n->name)) {
        bind_fault(s->binder, s->text, n->at, NULL, "SR0702: aggregate %s has no place here",
                   n->name);
        return NULL;
    }
    if (is_settled) {
        return e;
    }
    if (n->filter || n->is_distinct) {
        bind_fault(s->binder, s->text, n->at, NULL, "SR0702: %s is no aggregate: it takes no %s",
                   n->name, n->is_distinct ? "DISTINCT" : "FILTER");
        return NULL;
    }
    if (n->kind == AST_NAME) {
        e = bind_name(s, n);
    } else if (n->kind == AST_CALL) {
        e = bind_call(s, n);
    } else if (n->kind == AST_CAST) {
        e = bind_cast(s, n);
    } else {
        e = bind_literal(s, n, &err);
        if (!e) {
            return bind_refused(s, n, &err);
        }
    }
    return e ? bind_placed(s, n, e) : NULL;
}

const struct expr *bind_condition(struct scope *s, const struct ast *n, const char *what)
{
    const struct expr *e = bind_expr(s, n);
    if (e && e->type.kind == SR_NULL) {
        struct sr_type boolean = type_of(SR_BOOLEAN);
        struct sr_error err = {0};
        e = expr_cast(s->binder->arena, e, &boolean, false, &err);
    }
    if (e && e->type.kind != SR_BOOLEAN) {
        bind_fault(s->binder, s->text, n->at, NULL, "SR0702: %s takes a BOOLEAN, this is %s", what,
                   type_text(s->binder->arena, &e->type));
        return NULL;
    }
    return e;
}

bool bind_interval_ms(struct scope *s, const struct ast *n, int64_t *ms)
{
    const struct expr *e = bind_expr(s, n);
    if (!e) {
        return false;
    }
    const char *zone = s->binder->job ? s->binder->job->settings.time_zone : "UTC";
    e = program_fold(s->binder->arena, e, zone);
    if (e->kind != EXPR_LITERAL || e->is_null || e->type.kind != SR_INTERVAL_SECOND) {
        bind_fault(s->binder, s->text, n->at, "such as INTERVAL '1' MINUTE",
                   "SR0702: a constant interval of days, hours, minutes or seconds is needed here");
        return false;
    }
    *ms = e->value.i;
    return true;
}
