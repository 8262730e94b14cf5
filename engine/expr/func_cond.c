/* AND, OR, NOT, IS ..., CASE and its relatives. */
#include <string.h>

#include "engine/data/schema.h"
#include "engine/expr/cond.h"
#include "engine/expr/family.h"
#include "engine/expr/promote.h"

/* --- Typing. ---------------------------------------------------------------------------------- */

/* Pairs neighbours until one is left: as deep as the logarithm, in the order as written. */
static bool cond_bind_logic(struct bind_call *b)
{
    for (uint32_t i = 0; i < b->args; i++) {
        if (b->arg[i]->type.kind != SR_BOOLEAN) {
            return false;
        }
    }
    uint32_t n = b->args;
    while (n > 1) {
        uint32_t to = 0;
        for (uint32_t i = 0; i < n; i += 2, to++) {
            if (i + 1 == n) {
                b->arg[to] = b->arg[i];
                continue;
            }
            const struct expr *pair[2] = {b->arg[i], b->arg[i + 1]};
            struct sr_type t = type_nullable(type_of(SR_BOOLEAN), pair[0]->type.is_nullable ||
                                                                      pair[1]->type.is_nullable);
            b->arg[to] = expr_make(b->arena, b->func, NULL, t, pair, 2);
            if (!b->arg[to]) {
                return bind_fails(b, "out of memory");
            }
        }
        n = to;
    }
    b->whole = b->arg[0];
    return true;
}

static bool cond_bind_not(struct bind_call *b)
{
    b->type = b->arg[0]->type;
    b->kernel = &cond_not;
    return b->type.kind == SR_BOOLEAN;
}

/* data: 0 IS NULL, 1 IS NOT NULL */
static bool cond_bind_null(struct bind_call *b)
{
    if (!b->arg[0]->type.is_nullable || expr_is_trusted(b->arg[0])) {
        b->whole = expr_bool(b->arena, b->func->data == 1);
        return b->whole != NULL;
    }
    b->type = type_nullable(type_of(SR_BOOLEAN), false);
    b->kernel = b->func->data ? &cond_not_null : &cond_null;
    return true;
}

static bool cond_bind_test(struct bind_call *b)
{
    b->type = type_nullable(type_of(SR_BOOLEAN), false);
    b->kernel = &cond_tests[b->func->data];
    return b->arg[0]->type.kind == SR_BOOLEAN;
}

/* The arguments first, first + step ... become of one type, which is b->type. */
static bool cond_unify(struct bind_call *b, uint32_t first, uint32_t step)
{
    b->type = b->arg[first]->type;
    for (uint32_t i = first + step; i < b->args; i += step) {
        if (!promote_branch(&b->type, &b->arg[i]->type, &b->type)) {
            return false;
        }
    }
    if (b->type.kind == SR_NULL) {
        return bind_fails(b, "%s needs at least one value with a type beside NULL", b->func->name);
    }
    for (uint32_t i = first; i < b->args; i += step) {
        struct sr_type t = type_nullable(b->type, b->arg[i]->type.is_nullable);
        b->arg[i] = expr_cast(b->arena, b->arg[i], &t, false, b->err);
        if (!b->arg[i]) {
            b->is_said = true;
            return false;
        }
    }
    return true;
}

/* when, then, ..., else: an else of NULL is added, so that the number is always odd. */
static bool cond_bind_case(struct bind_call *b)
{
    uint32_t n = b->args % 2 == 0 ? b->args + 1 : b->args;
    /* Branches in front, so that they can be made one type; then the conditions. */
    uint32_t branches = n / 2 + 1;
    const struct expr **arg = expr_array(b->arena, n);
    if (!arg) {
        return bind_fails(b, "out of memory");
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        const struct expr *when = b->arg[(size_t)2 * i];
        if (when->type.kind == SR_NULL) {
            struct sr_type t = type_of(SR_BOOLEAN);
            when = expr_cast(b->arena, when, &t, false, b->err);
        }
        if (!when || when->type.kind != SR_BOOLEAN) {
            return bind_fails(b, "WHEN needs a BOOLEAN, not %s",
                              type_text(b->arena, &b->arg[(size_t)2 * i]->type));
        }
        arg[branches + i] = when;
        arg[i] = b->arg[(size_t)2 * i + 1];
    }
    arg[branches - 1] = n == b->args ? b->arg[n - 1] : expr_null(b->arena);
    b->arg = arg;
    b->args = branches;
    if (!arg[branches - 1] || !cond_unify(b, 0, 1)) {
        return false;
    }
    b->args = n;
    return true;
}

static bool cond_bind_if(struct bind_call *b)
{
    const struct expr *part[3] = {b->arg[0], b->arg[1], b->arg[2]};
    if (part[0]->type.kind != SR_BOOLEAN) {
        return false;
    }
    b->whole = bind_sub(b, "CASE", part, 3);
    if (b->whole && part[0]->type.is_nullable && !b->whole->type.is_nullable) {
        /* Flink: the result may be NULL when the condition may. */
        b->whole = expr_make(b->arena, b->whole->func, NULL, type_nullable(b->whole->type, true),
                             b->whole->arg, b->whole->args);
    }
    return b->whole != NULL;
}

/* Of DATE and TIMESTAMP the common type is DATE, in any order: each becomes one. */
static bool cond_cut_stamps(struct bind_call *b)
{
    struct sr_type date = type_of(SR_DATE);
    bool has_date = false, has_stamp = false, has_other = false;
    for (uint32_t i = 0; i < b->args; i++) {
        enum sr_kind kind = b->arg[i]->type.kind;
        has_date = has_date || kind == SR_DATE;
        has_stamp = has_stamp || kind == SR_TIMESTAMP;
        has_other = has_other || (kind != SR_DATE && kind != SR_TIMESTAMP);
    }
    for (uint32_t i = 0; has_date && has_stamp && !has_other && i < b->args; i++) {
        b->arg[i] = expr_cast(b->arena, b->arg[i], &date, false, b->err);
        if (!b->arg[i]) {
            b->is_said = true;
            return false;
        }
    }
    return true;
}

static bool cond_bind_coalesce(struct bind_call *b)
{
    bool may_be_null = true;
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->args; i++) { /* a bare NULL adds nothing */
        if (b->arg[i]->type.kind != SR_NULL) {
            b->arg[n++] = b->arg[i];
            may_be_null = may_be_null && b->arg[i]->type.is_nullable;
        }
    }
    b->args = n;
    if (n == 0) {
        return bind_fails(b, "%s needs at least one value with a type beside NULL", b->func->name);
    }
    if (!cond_cut_stamps(b) || !cond_unify(b, 0, 1)) {
        return false;
    }
    b->type.is_nullable = may_be_null;
    if (n == 1) {
        b->whole = b->arg[0];
    }
    return true;
}

/* Text that is never NULL is the answer, in its own type. */
static bool cond_bind_ifnull(struct bind_call *b)
{
    const struct sr_type *x = &b->arg[0]->type;
    if (sr_is_text(x->kind) && !x->is_nullable && sr_is_text(b->arg[1]->type.kind)) {
        b->whole = b->arg[0];
        return true;
    }
    return cond_bind_coalesce(b);
}

/* CASE WHEN a = b THEN NULL ELSE a END */
static bool cond_bind_nullif(struct bind_call *b)
{
    const struct expr *part[3] = {bind_sub(b, "=", b->arg, 2), expr_null(b->arena), b->arg[0]};
    b->whole = part[0] && part[1] ? bind_sub(b, "CASE", part, 3) : NULL;
    return b->whole != NULL;
}

enum cond cond_of(const struct expr *e)
{
    return e->kind == EXPR_CALL && !e->kernel ? (enum cond)e->func->data : COND_NONE;
}

#define COND_TEST(words, number, meaning)                                             \
    {                                                                                 \
        .name = words, .family = "logic", .bind = cond_bind_test, .min = 1, .max = 1, \
        .data = number, .forms = "condition " words, .doc = meaning                   \
    }
#define COND_NULL(words, number, meaning)                                             \
    {                                                                                 \
        .name = words, .family = "logic", .bind = cond_bind_null, .min = 1, .max = 1, \
        .data = number, .forms = "value " words, .doc = meaning                       \
    }

static const struct func cond_funcs[] = {
    {.name = "AND",
     .family = "logic",
     .bind = cond_bind_logic,
     .min = 1,
     .max = FUNC_ARGS_MAX,
     .data = COND_AND,
     .forms = "condition AND condition",
     .doc =
         "TRUE when both are, FALSE when either is, else NULL. Behind FALSE nothing is computed, "
         "so nothing can fail."},
    {.name = "OR",
     .family = "logic",
     .bind = cond_bind_logic,
     .min = 1,
     .max = FUNC_ARGS_MAX,
     .data = COND_OR,
     .forms = "condition OR condition",
     .doc = "TRUE when either is, FALSE when both are, else NULL. Behind TRUE nothing is computed, "
            "so nothing can fail."},
    {.name = "NOT",
     .family = "logic",
     .bind = cond_bind_not,
     .min = 1,
     .max = 1,
     .forms = "NOT condition",
     .doc = "FALSE for TRUE, TRUE for FALSE, NULL for NULL."},
    COND_NULL("IS NULL", 0, "Whether the value is NULL."),
    COND_NULL("IS NOT NULL", 1, "Whether the value is not NULL."),
    COND_NULL("IS UNKNOWN", 0, "Whether the condition is NULL."),
    COND_NULL("IS NOT UNKNOWN", 1, "Whether the condition is not NULL."),
    COND_TEST("IS TRUE", 0, "Whether the condition is TRUE; never NULL."),
    COND_TEST("IS NOT TRUE", 1, "Whether the condition is FALSE or NULL; never NULL."),
    COND_TEST("IS FALSE", 2, "Whether the condition is FALSE; never NULL."),
    COND_TEST("IS NOT FALSE", 3, "Whether the condition is TRUE or NULL; never NULL."),
    {.name = "CASE",
     .family = "conditional",
     .bind = cond_bind_case,
     .min = 2,
     .max = FUNC_ARGS_MAX,
     .data = COND_CASE,
     .forms = "CASE WHEN condition THEN value [WHEN ...] [ELSE value] END",
     .doc = "The value behind the first condition that is TRUE, else the last one, else NULL. Only "
            "the value that is taken is computed."},
    {.name = "IF",
     .family = "conditional",
     .bind = cond_bind_if,
     .min = 3,
     .max = 3,
     .forms = "IF(condition BOOLEAN, then, else)",
     .doc = "`then` where the condition is TRUE, `else` where it is FALSE or NULL."},
    {.name = "COALESCE",
     .family = "conditional",
     .bind = cond_bind_coalesce,
     .min = 1,
     .max = FUNC_ARGS_MAX,
     .data = COND_COALESCE,
     .forms = "COALESCE(value, ...)",
     .doc = "The first value that is not NULL. Those behind it are not computed."},
    {.name = "IFNULL",
     .family = "conditional",
     .bind = cond_bind_ifnull,
     .min = 2,
     .max = 2,
     .data = COND_COALESCE,
     .forms = "IFNULL(value, instead)",
     .doc = "The value, or `instead` where it is NULL."},
    {.name = "NULLIF",
     .family = "conditional",
     .bind = cond_bind_nullif,
     .min = 2,
     .max = 2,
     .forms = "NULLIF(a, b)",
     .doc = "NULL where a = b, else a."},
};

const struct func_family func_cond = {cond_funcs, sizeof(cond_funcs) / sizeof(cond_funcs[0])};
