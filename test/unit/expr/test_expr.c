/* Trees: how they are typed, refused, compared and rewritten. */
#include "engine/expr/expr.h"

#include <stdio.h>
#include <string.h>

#include "engine/expr/func.h"
#include "engine/expr/kernel.h"
#include "test/unit/expr/batch.h"
#include "test/unit/unit.h"

/* Calls with the same function and arguments are equal, others are not; a literal's type counts. */
START_TEST(equal_trees_are_known)
{
    struct batch b;
    batch_open(&b, 1, 1, true);
    const struct expr *i = batch_col(&b, 'i'), *one = batch_num(&b, "1");
    ck_assert(expr_equal(batch_call(&b, "+", i, one, NULL),
                         batch_call(&b, "+", batch_col(&b, 'i'), batch_num(&b, "1"), NULL)));
    ck_assert(!expr_equal(batch_call(&b, "+", i, one, NULL), batch_call(&b, "-", i, one, NULL)));
    ck_assert(!expr_equal(batch_num(&b, "1.0"), batch_num(&b, "1.00")));
    ck_assert(!expr_equal(batch_cast(&b, i, "STRING"), batch_cast(&b, i, "CHAR(3)")));
    ck_assert(!expr_is_constant(batch_call(&b, "+", i, one, NULL)));
    ck_assert(expr_is_constant(batch_call(&b, "+", one, one, NULL)));
    batch_close(&b);
}
END_TEST

/* The columns of a tree are found, and replaced by other trees. */
START_TEST(columns_are_replaced)
{
    struct batch b;
    bool used[BATCH_COLS] = {false};
    batch_open(&b, 1, 1, true);
    const struct expr *e =
        batch_call(&b, "IF", batch_col(&b, 'b'), batch_col(&b, 'i'), batch_num(&b, "3"));
    expr_columns(e, used);
    ck_assert(used[BATCH_B] && used[BATCH_I] && !used[BATCH_L] && !used[BATCH_S]);
    const struct expr *by[BATCH_COLS];
    for (uint32_t c = 0; c < BATCH_COLS; c++) {
        by[c] = expr_column(b.arena, &b.schema, c);
    }
    by[BATCH_I] = batch_call(&b, "+", by[BATCH_I], batch_num(&b, "1"), NULL);
    const struct expr *want =
        batch_call(&b, "IF", batch_col(&b, 'b'), by[BATCH_I], batch_num(&b, "3"));
    ck_assert(expr_equal(expr_replace(b.arena, e, by), want));
    batch_close(&b);
}
END_TEST

static void refused(struct batch *b, const char *name, const struct expr *x, const struct expr *y,
                    const char *words)
{
    struct sr_error err = {0};
    const struct expr *arg[2] = {x, y};
    ck_assert_ptr_null(expr_call(b->arena, name, arg, y ? 2 : 1, &err));
    ck_assert_int_eq(err.rc, SR_ECONFIG);
    ck_assert_msg(strstr(err.words, words) != NULL, "'%s' lacks '%s'", err.words, words);
}

/* What does not fit is refused with what was given, what is wanted, or the nearest name. */
START_TEST(misfits_are_refused_with_words)
{
    struct batch b;
    batch_open(&b, 1, 1, true);
    const struct expr *s = batch_col(&b, 's'), *i = batch_col(&b, 'i');
    refused(&b, "UPER", s, NULL, "did you mean UPPER?");
    refused(&b, "UPPER", i, NULL, "UPPER cannot be applied to (INT)");
    refused(&b, "+", s, i, "(STRING, INT)");
    refused(&b, "AND", batch_col(&b, 'b'), i, "(BOOLEAN, INT)");
    refused(&b, "CHAR_LENGTH", i, i, "the form is CHAR_LENGTH(text STRING)");
    refused(&b, "LIKE", s, i, "LIKE cannot be applied");
    refused(&b, "CASE", i, i, "WHEN needs a BOOLEAN, not INT");
    refused(&b, "=", s, i, "cannot be applied to (STRING, INT)");
    batch_close(&b);
}
END_TEST

/* Of too many arguments a few are shown, so that the form still fits behind them. */
START_TEST(many_arguments_leave_room_for_the_form)
{
    struct batch b;
    struct sr_error err = {0};
    const struct expr *arg[CALL_ARGS_MAX + 1];
    batch_open(&b, 1, 1, true);
    for (uint32_t i = 0; i <= CALL_ARGS_MAX; i++) {
        arg[i] = batch_col(&b, 's');
    }
    ck_assert_ptr_nonnull(expr_call(b.arena, "CONCAT", arg, CALL_ARGS_MAX, &err));
    ck_assert_ptr_null(expr_call(b.arena, "CONCAT", arg, CALL_ARGS_MAX + 1, &err));
    ck_assert_ptr_nonnull(strstr(err.words, "STRING and 243 more); the form is CONCAT("));
    batch_close(&b);
}
END_TEST

/* An argument that failed already makes the call NULL and says nothing more. */
START_TEST(a_failure_is_told_once)
{
    struct batch b;
    struct sr_error err = {0};
    batch_open(&b, 1, 1, true);
    const struct expr *arg[2] = {NULL, batch_num(&b, "1")};
    ck_assert_ptr_null(expr_call(b.arena, "+", arg, 2, &err));
    ck_assert_str_eq(err.words, "");
    ck_assert_ptr_null(expr_cast(b.arena, NULL, &b.field[0].type, false, &err));
    ck_assert_str_eq(err.words, "");
    batch_close(&b);
}
END_TEST

/* Nesting has an end, and is refused before it could exhaust the stack. */
START_TEST(deep_trees_are_refused)
{
    struct batch b;
    struct sr_error err = {0};
    batch_open(&b, 1, 1, true);
    const struct expr *e = batch_col(&b, 'i');
    uint32_t depth = 0;
    for (const struct expr *next = e; next; depth++) {
        e = next;
        next = expr_call(b.arena, "-", &e, 1, &err);
    }
    ck_assert_uint_eq(depth, EXPR_DEPTH_MAX + 1);
    ck_assert_int_eq(err.rc, SR_ELIMIT);
    batch_close(&b);
}
END_TEST

/* What doubles with each call (NULLIF needs its first argument twice) is refused before walking it
 * would take long. */
START_TEST(trees_that_double_are_refused)
{
    struct batch b;
    struct sr_error err = {0};
    batch_open(&b, 1, 1, true);
    const struct expr *arg[2] = {batch_col(&b, 'i'), batch_num(&b, "1")};
    uint32_t calls = 0;
    for (const struct expr *e = arg[0]; e; calls++) {
        arg[0] = e;
        e = expr_call(b.arena, "NULLIF", arg, 2, &err);
    }
    ck_assert_uint_lt(calls, 20);
    ck_assert_int_eq(err.rc, SR_ELIMIT);
    batch_close(&b);
}
END_TEST

/* Implicit coercion widens, and never loses. */
START_TEST(coercion_only_widens)
{
    struct batch b;
    struct sr_error err = {0};
    struct sr_type big = type_of(SR_BIGINT), small = type_of(SR_INT);
    batch_open(&b, 1, 1, true);
    ck_assert_ptr_nonnull(expr_coerce(b.arena, batch_col(&b, 'i'), &big, &err));
    ck_assert_ptr_null(expr_coerce(b.arena, batch_col(&b, 'l'), &small, &err));
    ck_assert_ptr_nonnull(strstr(err.words, "BIGINT does not fit INT without a CAST"));
    batch_close(&b);
}
END_TEST

/* A tree is written as the SQL that it stands for; of long lists only the beginning. */
START_TEST(trees_are_written_as_sql)
{
    struct batch b;
    struct sr_error err = {0};
    batch_open(&b, 1, 1, true);
    for (uint32_t c = 0; c < BATCH_COLS; c++) {
        b.field[c].name = (const char *const[]){"i", "l", "d", "s", "b", "n", "t", "o"}[c];
    }
    const struct expr *i = batch_col(&b, 'i'), *one = batch_num(&b, "1"), *part[5];
    part[0] = batch_col(&b, 'b');
    part[1] = i;
    part[2] = batch_call(&b, ">", i, one, NULL);
    part[3] = one;
    const struct expr *e = expr_call(b.arena, "CASE", part, 4, &err);
    ck_assert_str_eq(expr_text(b.arena, e, &b.schema),
                     "CASE WHEN b THEN i WHEN i > 1 THEN 1 ELSE NULL END");
    e = batch_call(&b, "*", batch_call(&b, "+", i, one, NULL), i, NULL);
    ck_assert_str_eq(expr_text(b.arena, e, &b.schema), "(i + 1) * i");
    const struct expr *arg[200] = {i};
    for (int k = 1; k < 200; k++) {
        char text[8];
        (void)snprintf(text, sizeof(text), "%d", k);
        arg[k] = batch_num(&b, text);
    }
    const char *text = expr_text(b.arena, expr_call(b.arena, "IN", arg, 200, &err), &b.schema);
    ck_assert_ptr_nonnull(strstr(text, "i IN (1, 2, 3"));
    ck_assert_ptr_nonnull(strstr(text, "and 149 more)"));
    batch_close(&b);
}
END_TEST

/* Aggregates have Flink's types: those of the argument, but COUNT and DECIMAL. */
START_TEST(aggregates_are_typed_as_in_flink)
{
    static const struct {
        const char *name;
        char column;
        const char *type;
    } want[] = {{"SUM", 'i', "INT"},
                {"AVG", 'i', "INT"},
                {"SUM", 'n', "DECIMAL(38, 2)"},
                {"AVG", 'n', "DECIMAL(38, 6)"},
                {"MIN", 's', "STRING"},
                {"MAX", 't', "TIMESTAMP(3)"},
                {"COUNT", 's', "BIGINT NOT NULL"}};
    struct batch b;
    struct agg g;
    struct sr_error err = {0};
    batch_open(&b, 1, 1, true);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        ck_assert_int_eq(agg_bind(want[i].name, batch_col(&b, want[i].column), &g, &err), SR_OK);
        ck_assert_str_eq(type_text(b.arena, &g.type), want[i].type);
    }
    ck_assert_int_eq(agg_bind("SUM", batch_col(&b, 's'), &g, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "SUM cannot be applied to (STRING)"));
    ck_assert_int_eq(agg_bind("MAX", NULL, &g, &err), SR_ECONFIG);
    ck_assert(func_is_aggregate("count") && !func_is_aggregate("UPPER"));
    batch_close(&b);
}
END_TEST

/* Every function has words and a form, and they come in the order of their names. */
START_TEST(functions_are_documented)
{
    struct func_doc last = {.name = ""}, d;
    for (uint32_t i = 0; i < func_count(); i++) {
        d = func_doc(i);
        ck_assert_ptr_nonnull(d.name);
        ck_assert_msg(strcmp(last.name, d.name) < 0, "%s stands behind %s", d.name, last.name);
        ck_assert_msg(d.forms &&
                          strstr(d.forms, d.name[0] >= 'A' && d.name[0] <= 'Z' ? "" : d.name),
                      "%s", d.name);
        ck_assert_msg(d.doc && d.doc[strlen(d.doc) - 1] == '.', "%s has no sentence", d.name);
        ck_assert_ptr_nonnull(func_find(d.name, &last));
        last = d;
    }
    ck_assert_ptr_null(func_find("NO_SUCH", &d));
    ck_assert_str_eq(func_nearest("regexp_extrct"), "REGEXP_EXTRACT");
    ck_assert_ptr_null(func_nearest("wholly_different_word"));
}
END_TEST

UNIT_MAIN("expr", equal_trees_are_known, columns_are_replaced, misfits_are_refused_with_words,
          many_arguments_leave_room_for_the_form, a_failure_is_told_once, deep_trees_are_refused,
          trees_that_double_are_refused, coercion_only_widens, trees_are_written_as_sql,
          aggregates_are_typed_as_in_flink, functions_are_documented)
