#include "engine/expr/expr.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/data/schema.h"
#include "engine/expr/cast.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"

/* Recursion in this file goes down a tree, whose depth expr_make keeps under EXPR_DEPTH_MAX. */

static struct expr *expr_new(struct arena *a, enum expr_kind kind, struct sr_type type)
{
    struct expr *e = arena_get(a, sizeof(*e));
    if (e) {
        e->kind = kind;
        e->type = type;
        e->offset = UINT32_MAX;
    }
    return e;
}

const struct expr *expr_column(struct arena *a, const struct sr_schema *s, uint32_t column)
{
    struct expr *e = expr_new(a, EXPR_COLUMN, s->field[column].type);
    if (e) {
        e->column = column;
    }
    return e;
}

const struct expr *expr_null(struct arena *a)
{
    struct sr_type t = {.kind = SR_NULL, .is_nullable = true};
    struct expr *e = expr_new(a, EXPR_LITERAL, t);
    if (e) {
        e->is_null = true;
    }
    return e;
}

const struct expr *expr_bool(struct arena *a, bool v)
{
    struct sr_type t = {.kind = SR_BOOLEAN};
    struct expr *e = expr_new(a, EXPR_LITERAL, t);
    if (e) {
        e->value.i = v;
    }
    return e;
}

/* A NULL of a type. */
static const struct expr *expr_null_of(struct arena *a, const struct sr_type *t)
{
    struct expr *e = expr_new(a, EXPR_LITERAL, *t);
    if (e) {
        e->is_null = true;
        e->type.is_nullable = true;
    }
    return e;
}

/* Literals that no walk looks at are not counted. */
static void expr_measure(struct expr *e, const struct expr *const *arg, uint32_t args)
{
    e->depth = 0;
    e->size = args;
    for (uint32_t i = 0; i < args; i++) {
        e->depth = arg[i]->depth >= e->depth ? arg[i]->depth + 1 : e->depth;
        e->size = arg[i]->size > EXPR_SIZE_MAX ? EXPR_SIZE_MAX + 1 : e->size + arg[i]->size;
        e->size = e->size > EXPR_SIZE_MAX ? EXPR_SIZE_MAX + 1 : e->size;
    }
}

static bool expr_is_too_large(const struct expr *e, struct sr_error *err)
{
    if (e->depth > EXPR_DEPTH_MAX) {
        (void)error_set(err, SR_ELIMIT, "the expression is nested more than %u calls deep",
                        EXPR_DEPTH_MAX);
    } else if (e->size > EXPR_SIZE_MAX) {
        (void)error_set(err, SR_ELIMIT, "the expression has more than %u parts", EXPR_SIZE_MAX);
    }
    return e->depth > EXPR_DEPTH_MAX || e->size > EXPR_SIZE_MAX;
}

const struct expr **expr_array(struct arena *a, uint32_t n)
{
    return arena_array(a, n > 0 ? n : 1, sizeof(void *));
}

static struct expr *expr_build(struct arena *a, const struct func *f, const struct kernel *kernel,
                               struct sr_type type, const struct expr *const *arg, uint32_t args)
{
    struct expr *e = expr_new(a, EXPR_CALL, type);
    const struct expr **copy = expr_array(a, args);
    if (!e || !copy) {
        return NULL;
    }
    for (uint32_t i = 0; i < args; i++) {
        copy[i] = arg[i];
    }
    expr_measure(e, copy, kernel && (kernel->flags & KERNEL_FIRST) ? 1 : args);
    e->func = f;
    e->kernel = kernel;
    e->args = args;
    e->arg = copy;
    return e;
}

const struct expr *expr_make(struct arena *a, const struct func *f, const struct kernel *kernel,
                             struct sr_type type, const struct expr *const *arg, uint32_t args)
{
    return expr_build(a, f, kernel, type, arg, args);
}

#define EXPR_TYPES_SHOWN 8u /* of the arguments of a call that is refused */

/* The types of the arguments, as an error shows them: "INT, STRING". */
static const char *expr_types(struct arena *a, const struct expr *const *arg, uint32_t n)
{
    const char *s = "";
    uint32_t shown = n < EXPR_TYPES_SHOWN ? n : EXPR_TYPES_SHOWN;
    for (uint32_t i = 0; i < shown && s; i++) {
        s = arena_printf(a, "%s%s%s", s, i > 0 ? ", " : "", type_text(a, &arg[i]->type));
    }
    if (s && shown < n) {
        s = arena_printf(a, "%s and %u more", s, n - shown);
    }
    return s ? s : "";
}

static const struct expr *expr_bound(struct bind_call *b)
{
    const struct expr *e = b->whole;
    if (!e) {
        e = expr_make(b->arena, b->func, b->kernel, b->type, b->arg, b->args);
    }
    if (!e) {
        (void)error_set(b->err, SR_ENOMEM, "out of memory");
        return NULL;
    }
    return expr_is_too_large(e, b->err) ? NULL : e;
}

/* Functions of Flink that are in no table of ours yet. */
static bool expr_is_for_later(const char *name)
{
    static const char *const names[] = {
        "ARRAY_AGG",     "COLLECT",        "CUME_DIST",   "DENSE_RANK",   "FIRST_VALUE",
        "JSON_ARRAYAGG", "JSON_OBJECTAGG", "LAG",         "LAST_VALUE",   "LEAD",
        "LISTAGG",       "NTILE",          "PERCENTILE",  "PERCENT_RANK", "RANK",
        "ROW_NUMBER",    "STDDEV_POP",     "STDDEV_SAMP", "UNNEST",       "VARIANCE",
        "VAR_POP",       "VAR_SAMP",       NULL};
    uint32_t i = 0;
    while (names[i] && strcasecmp(names[i], name) != 0) {
        i++;
    }
    return names[i] != NULL;
}

static const struct expr *expr_unknown(const char *name, struct sr_error *err)
{
    const char *near = func_nearest(name);
    if (expr_is_for_later(name)) {
        (void)error_set(err, SR_ECONFIG, "there is no function %s: Flink has it, streamrun not yet",
                        name);
    } else if (near) {
        (void)error_set(err, SR_ECONFIG, "there is no function %s; did you mean %s?", name, near);
    } else {
        (void)error_set(err, SR_ECONFIG, "there is no function %s", name);
    }
    return NULL;
}

const struct expr *expr_call(struct arena *a, const char *name, const struct expr *const *args,
                             uint32_t n, struct sr_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!args[i]) {
            return NULL;
        }
    }
    const struct func *f = func_row(name);
    if (!f) {
        return expr_unknown(name, err);
    }
    const struct expr **copy = expr_array(a, n);
    if (!copy) {
        (void)error_set(err, SR_ENOMEM, "out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = args[i];
    }
    struct bind_call b = {.arena = a, .func = f, .arg = copy, .args = n, .err = err};
    bool is_count_good = n >= f->min && n <= f->max;
    if (is_count_good && f->bind(&b)) {
        return expr_bound(&b);
    }
    if (!b.is_said) {
        (void)error_set(err, SR_ECONFIG, "%s cannot be applied to (%s); the form is %s", f->name,
                        expr_types(a, args, n), f->forms);
    }
    return NULL;
}

bool bind_fails(struct bind_call *b, const char *fmt, ...)
{
    char words[400];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    (void)error_set(b->err, SR_ECONFIG, "%s", words);
    b->is_said = true;
    return false;
}

bool bind_local(struct bind_call *b, uint32_t i)
{
    if (b->arg[i]->type.kind == SR_TIMESTAMP_LTZ) {
        struct sr_type local = type_with(SR_TIMESTAMP, b->arg[i]->type.length, 0);
        b->arg[i] = expr_cast(b->arena, b->arg[i], &local, false, b->err);
        b->is_said = !b->arg[i];
    }
    return !b->is_said;
}

bool bind_any_nullable(const struct bind_call *b)
{
    for (uint32_t i = 0; i < b->args; i++) {
        if (b->arg[i]->type.is_nullable) {
            return true;
        }
    }
    return false;
}

bool bind_coerce(struct bind_call *b, uint32_t i, const struct sr_type *to)
{
    if (!promote_implicit(&b->arg[i]->type, to)) {
        return false;
    }
    const struct expr *e = expr_cast(b->arena, b->arg[i], to, false, b->err);
    if (!e) {
        b->is_said = true;
        return false;
    }
    b->arg[i] = e;
    return true;
}

const struct expr *bind_sub(struct bind_call *b, const char *name, const struct expr *const *arg,
                            uint32_t args)
{
    const struct expr *e = expr_call(b->arena, name, arg, args, b->err);
    if (!e) {
        b->is_said = true;
    }
    return e;
}

/* The type with TIMESTAMP for TIMESTAMP_LTZ wherever it is inside. False: out of memory. */
/* NOLINTNEXTLINE(misc-no-recursion): down a type: TYPE_DEPTH_MAX */
static bool expr_local_type(struct arena *a, struct sr_type *t)
{
    t->kind = t->kind == SR_TIMESTAMP_LTZ ? SR_TIMESTAMP : t->kind;
    struct sr_field *child = arena_array(a, t->children + 1, sizeof(*child));
    bool is_good = child != NULL;
    for (uint32_t i = 0; i < t->children && is_good; i++) {
        child[i] = t->child[i];
        is_good = expr_local_type(a, &child[i].type);
    }
    t->child = t->children > 0 ? child : NULL;
    return is_good;
}

/* Between text and TIMESTAMP_LTZ stands the TIMESTAMP that the clock of the session shows; between
 * text and what holds one, the same with TIMESTAMP. */
/* NOLINTNEXTLINE(misc-no-recursion): once */
static const struct expr *expr_through_local(struct arena *a, const struct expr *e,
                                             const struct sr_type *to, bool is_try,
                                             struct sr_error *err)
{
    bool is_written = e->type.kind == SR_TIMESTAMP_LTZ && sr_is_text(to->kind);
    bool is_read = to->kind == SR_TIMESTAMP_LTZ && sr_is_text(e->type.kind);
    struct sr_type inner = e->type;
    if (sr_is_nested(inner.kind) && sr_is_text(to->kind) && !inner.class_name) {
        if (!expr_local_type(a, &inner)) {
            (void)error_set(err, SR_ENOMEM, "out of memory");
            return NULL;
        }
        return expr_cast(a, e, &inner, false, err);
    }
    if (!is_written && !is_read) {
        return e;
    }
    struct sr_type local = type_with(SR_TIMESTAMP, is_written ? e->type.length : to->length, 0);
    return expr_cast(a, e, &local, is_try, err);
}

/* A literal that was made a FLOAT goes to DOUBLE with all its digits, as Flink folds it. */
static const struct expr *expr_unrounded(const struct expr *e, enum sr_kind to)
{
    bool is_float = to == SR_DOUBLE && e->type.kind == SR_FLOAT && e->kind == EXPR_CALL &&
                    e->func == cast_func(false);
    bool is_literal =
        is_float && e->arg[0]->kind == EXPR_LITERAL && sr_is_number(e->arg[0]->type.kind);
    return is_literal ? e->arg[0] : e;
}

/* NOLINTNEXTLINE(misc-no-recursion): through expr_through_local, once */
const struct expr *expr_cast(struct arena *a, const struct expr *e, const struct sr_type *to,
                             bool is_try, struct sr_error *err)
{
    if (!e) {
        return NULL;
    }
    struct sr_type type = *to;
    type.is_nullable = e->type.is_nullable || is_try;
    if (e->type.kind == SR_NULL || (e->kind == EXPR_LITERAL && e->is_null)) {
        return expr_null_of(a, &type);
    }
    if (type_equal(&e->type, &type, true)) {
        return e;
    }
    e = expr_through_local(a, expr_unrounded(e, type.kind), &type, is_try, err);
    if (!e || type_equal(&e->type, &type, true)) {
        return e;
    }
    const char *why = NULL;
    const struct kernel *kernel = cast_kernel(&e->type, &type, &why);
    if (!kernel) {
        (void)error_set(err, SR_ECONFIG, "%s cannot be cast to %s%s%s", type_text(a, &e->type),
                        type_text(a, to), why ? ": " : "", why ? why : "");
        return NULL;
    }
    struct expr *call = expr_build(a, cast_func(is_try), kernel, type, &e, 1);
    if (!call) {
        (void)error_set(err, SR_ENOMEM, "out of memory");
        return NULL;
    }
    if (expr_is_too_large(call, err)) {
        return NULL;
    }
    call->is_try = is_try;
    return call;
}

const struct expr *expr_coerce(struct arena *a, const struct expr *e, const struct sr_type *to,
                               struct sr_error *err)
{
    if (!e) {
        return NULL;
    }
    if (!promote_implicit(&e->type, to)) {
        (void)error_set(err, SR_ECONFIG, "%s does not fit %s without a CAST",
                        type_text(a, &e->type), type_text(a, to));
        return NULL;
    }
    return expr_cast(a, e, to, false, err);
}

bool expr_is_constant(const struct expr *e) /* NOLINT(misc-no-recursion): EXPR_DEPTH_MAX */
{
    if (e->kind == EXPR_COLUMN || (e->kernel && (e->kernel->flags & KERNEL_OTHER))) {
        return false;
    }
    for (uint32_t i = 0; i < e->args; i++) {
        if (!expr_is_constant(e->arg[i])) {
            return false;
        }
    }
    return true;
}

bool expr_has_no_column(const struct expr *e) /* NOLINT(misc-no-recursion): EXPR_DEPTH_MAX */
{
    for (uint32_t i = 0; i < e->args; i++) {
        if (!expr_has_no_column(e->arg[i])) {
            return false;
        }
    }
    return e->kind != EXPR_COLUMN;
}

bool expr_needs_zone(const struct expr *e) /* NOLINT(misc-no-recursion): EXPR_DEPTH_MAX */
{
    for (uint32_t i = 0; i < e->args; i++) {
        if (expr_needs_zone(e->arg[i])) {
            return true;
        }
    }
    return e->kernel && (e->kernel->flags & KERNEL_ZONE);
}

static bool expr_equal_literal(const struct expr *a, const struct expr *b)
{
    if (a->is_null || b->is_null) {
        return a->is_null == b->is_null;
    }
    if (sr_has_bytes(a->type.kind)) {
        return a->text_len == b->text_len &&
               (a->text_len == 0 || memcmp(a->text, b->text, a->text_len) == 0);
    }
    /* As bits: NaN equals itself and 0.0 is not -0.0. Unused bytes are zero. */
    return a->value.wide.low == b->value.wide.low && a->value.wide.high == b->value.wide.high;
}

bool expr_is_call_of(const struct expr *e, const char *name)
{
    return e->kind == EXPR_CALL && e->func && strcmp(e->func->name, name) == 0;
}

bool expr_equal(const struct expr *a, const struct expr *b) /* NOLINT(misc-no-recursion) */
{
    if (a == b) {
        return true;
    }
    if (a->kind != b->kind || !type_equal(&a->type, &b->type, true)) {
        return false;
    }
    switch (a->kind) {
    case EXPR_LITERAL:
        return expr_equal_literal(a, b);
    case EXPR_COLUMN:
        return a->column == b->column;
    case EXPR_CALL:
        break;
    }
    if (a->func != b->func || a->kernel != b->kernel || a->args != b->args ||
        a->is_try != b->is_try || (a->kernel && (a->kernel->flags & KERNEL_OTHER))) {
        return false;
    }
    for (uint32_t i = 0; i < a->args; i++) {
        if (!expr_equal(a->arg[i], b->arg[i])) {
            return false;
        }
    }
    return true;
}

void expr_columns(const struct expr *e, bool *used) /* NOLINT(misc-no-recursion) */
{
    if (e->kind == EXPR_COLUMN) {
        used[e->column] = true;
    }
    for (uint32_t i = 0; i < e->args; i++) {
        expr_columns(e->arg[i], used);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
const struct expr *expr_replace(struct arena *a, const struct expr *e, const struct expr *const *by)
{
    if (e->kind == EXPR_COLUMN) {
        return by[e->column];
    }
    if (e->args == 0) {
        return e;
    }
    const struct expr **arg = expr_array(a, e->args);
    struct expr *copy = arena_copy(a, e, sizeof(*e));
    if (!arg || !copy) {
        return NULL;
    }
    for (uint32_t i = 0; i < e->args; i++) {
        arg[i] = expr_replace(a, e->arg[i], by);
        if (!arg[i]) {
            return NULL;
        }
    }
    copy->arg = arg;
    expr_measure(copy, arg, e->kernel && (e->kernel->flags & KERNEL_FIRST) ? 1 : e->args);
    return expr_is_too_large(copy, NULL) ? NULL : copy;
}
