/* How much work a program does: calls, rows and memory are counted, not read out of the code. */
#include <string.h>

#include "engine/expr/kernel.h"
#include "engine/expr/program.h"
#include "test/unit/expr/batch.h"
#include "test/unit/unit.h"

#define ROWS 1000u

struct counted {
    unsigned calls, rows;
};

/* l > 0, told where it is counted by its state, which a test's own call brings along. */
static void counted_run(struct call *k)
{
    struct counted *c = k->state;
    const int64_t *l = k->arg[0]->values;
    uint8_t *to = k->out->values;
    c->calls++;
    c->rows += k->n;
    CALL_EACH_ROW(k, r) { to[r] = l[r] > 0; }
}

static sr_rc counted_prepare(const struct expr *e, void **state, struct sr_error *err)
{
    (void)err;
    memcpy(state, &e->text, sizeof(*state));
    return SR_OK;
}

static const struct kernel counted_picky = {.run = counted_run, .prepare = counted_prepare};
static const struct kernel counted_dense = {
    .run = counted_run, .prepare = counted_prepare, .flags = KERNEL_DENSE};

static const struct expr *counted_of(struct batch *b, const struct kernel *kernel,
                                     struct counted *c, const struct expr *of)
{
    const struct expr **arg = arena_get(b->arena, sizeof(const struct expr *));
    struct expr *e = arena_get(b->arena, sizeof(*e));
    ck_assert(arg && e);
    arg[0] = of;
    *e = (struct expr){.kind = EXPR_CALL,
                       .type = type_of(SR_BOOLEAN),
                       .kernel = kernel,
                       .depth = 1,
                       .size = 1,
                       .args = 1,
                       .arg = arg};
    memcpy(&e->text, &c, sizeof(c)); /* a call has no text */
    return e;
}

static const struct expr *counted_call(struct batch *b, const struct kernel *kernel,
                                       struct counted *c)
{
    return counted_of(b, kernel, c, batch_col(b, 'l'));
}

static struct program *work_new(struct batch *b, const struct expr *condition,
                                const struct expr *const *out, uint32_t outs)
{
    struct sr_error err = {0};
    struct program *p = NULL;
    struct program_conf conf = {
        .in = &b->schema, .condition = condition, .out = out, .outs = outs, .time_zone = "UTC"};
    ck_assert_msg(program_new(&p, &conf, &err) == SR_OK, "%s", err.words);
    return p;
}

static uint32_t work_run(struct batch *b, struct program *p, uint32_t outs)
{
    static struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    struct sr_column *col[4];
    struct program_result r = {.col = col, .bad = bad};
    struct sr_error err = {0};
    ck_assert_msg(program_run(p, b->home, b->view, 0, &r, &err) == SR_OK, "%s", err.words);
    for (uint32_t i = 0; i < outs; i++) {
        column_release(col[i]);
    }
    return r.picked;
}

static uint32_t rows_where(struct batch *b, const struct expr *condition)
{
    struct program *p = work_new(b, condition, NULL, 0);
    uint32_t n = work_run(b, p, 0);
    program_free(p);
    return n;
}

/* What stands in a condition and twice in outputs is computed once a batch. */
START_TEST(common_parts_are_computed_once)
{
    struct batch b;
    struct counted c = {0};
    batch_open(&b, ROWS, 1, false);
    const struct expr *f = counted_call(&b, &counted_picky, &c);
    const struct expr *g = counted_call(&b, &counted_picky, &c);
    const struct expr *out[] = {batch_call(&b, "NOT", f, NULL, NULL), g,
                                batch_call(&b, "IS TRUE", g, NULL, NULL)};
    struct program *p = work_new(&b, batch_call(&b, "OR", f, batch_col(&b, 'b'), NULL), out, 3);
    (void)work_run(&b, p, 3);
    ck_assert_uint_eq(c.calls, 1);
    ck_assert_uint_eq(c.rows, ROWS);
    (void)work_run(&b, p, 3);
    ck_assert_uint_eq(c.calls, 2);
    program_free(p);
    batch_close(&b);
}
END_TEST

/* A call of constants is computed when the program is made, and never again. */
START_TEST(constants_are_computed_once_a_program)
{
    struct batch b;
    struct counted c = {0};
    batch_open(&b, ROWS, 2, false);
    const struct expr *out[] = {counted_of(&b, &counted_picky, &c, batch_num(&b, "3000000000"))};
    struct program *p = work_new(&b, NULL, out, 1);
    for (uint32_t n = 0; n < 3; n++) {
        (void)work_run(&b, p, 1);
    }
    ck_assert_uint_eq(c.calls, 1);
    ck_assert_uint_eq(c.rows, 1);
    program_free(p);
    batch_close(&b);
}
END_TEST

/* AND, OR, CASE and COALESCE show a call only the rows that need it: here those with i > 0. */
START_TEST(rows_that_are_decided_are_not_computed)
{
    struct batch b;
    batch_open(&b, ROWS, 3, false);
    const struct expr *over = batch_call(&b, ">", batch_col(&b, 'i'), batch_num(&b, "0"), NULL);
    const struct expr *under = batch_call(&b, "NOT", over, NULL, NULL);
    uint32_t wanted = rows_where(&b, over);
    ck_assert(wanted > 0 && wanted < ROWS);
    for (uint32_t way = 0; way < 5; way++) {
        struct counted c = {0};
        const struct expr *f = counted_call(&b, &counted_picky, &c), *whole[1];
        const struct expr *no = expr_bool(b.arena, false);
        whole[0] = way == 0   ? batch_call(&b, "AND", over, f, NULL)
                   : way == 1 ? batch_call(&b, "OR", under, f, NULL)
                   : way == 2 ? batch_call(&b, "CASE", over, f, no)
                   : way == 3 ? batch_call(&b, "CASE", under, no, f)
                              : f;
        bool is_filter = way == 4; /* WHERE i > 0, then f */
        struct program *p = work_new(&b, is_filter ? over : NULL, whole, 1);
        (void)work_run(&b, p, 1);
        ck_assert_msg(c.calls == 1 && c.rows == wanted, "way %u: %u rows in %u calls, not %u", way,
                      c.rows, c.calls, wanted);
        program_free(p);
    }
    batch_close(&b);
}
END_TEST

/* What is cheap and cannot fail is computed for all rows: that is quicker than picking some. */
START_TEST(cheap_parts_are_computed_for_all_rows)
{
    struct batch b;
    struct counted c = {0};
    batch_open(&b, ROWS, 4, true);
    const struct expr *over = batch_call(&b, ">", batch_col(&b, 'i'), batch_num(&b, "0"), NULL);
    const struct expr *out[] = {batch_call(&b, "CASE", over, counted_call(&b, &counted_dense, &c),
                                           expr_bool(b.arena, false))};
    struct program *p = work_new(&b, NULL, out, 1);
    (void)work_run(&b, p, 1);
    ck_assert_uint_eq(c.calls, 1);
    ck_assert_uint_eq(c.rows, ROWS);
    program_free(p);
    batch_close(&b);
}
END_TEST

/* A few rows of many are computed on their own even by a cheap call. */
START_TEST(few_rows_are_picked)
{
    struct batch b;
    struct counted c = {0};
    batch_open(&b, ROWS, 5, false);
    const struct expr *nine = batch_call(&b, "=", batch_col(&b, 'i'), batch_num(&b, "9"), NULL);
    const struct expr *out[] = {counted_call(&b, &counted_dense, &c)};
    uint32_t wanted = rows_where(&b, nine);
    ck_assert(wanted > 0 && wanted < ROWS / 4);
    struct program *p = work_new(&b, nine, out, 1);
    (void)work_run(&b, p, 1);
    ck_assert_uint_eq(c.rows, wanted);
    program_free(p);
    batch_close(&b);
}
END_TEST

/* Rows that are NULL already are not shown to a call. */
START_TEST(null_rows_are_not_computed)
{
    struct batch b;
    struct counted c = {0};
    batch_open(&b, ROWS, 6, true);
    const struct expr *out[] = {counted_call(&b, &counted_picky, &c)};
    uint32_t wanted = rows_where(&b, batch_call(&b, "IS NOT NULL", batch_col(&b, 'l'), NULL, NULL));
    ck_assert(wanted > 0 && wanted < ROWS);
    struct program *p = work_new(&b, NULL, out, 1);
    (void)work_run(&b, p, 1);
    ck_assert_uint_eq(c.rows, wanted);
    program_free(p);
    batch_close(&b);
}
END_TEST

/* After the first batch no memory is taken any more, whatever the expression makes: texts, choices,
 * numbers. */
START_TEST(later_batches_take_no_memory)
{
    struct batch b;
    batch_open(&b, ROWS, 7, true);
    const struct expr *i = batch_col(&b, 'i'), *s = batch_col(&b, 's');
    const struct expr *over = batch_call(&b, ">", i, batch_num(&b, "0"), NULL);
    const struct expr *out[] = {
        batch_call(&b, "CASE", over, batch_call(&b, "UPPER", s, NULL, NULL), batch_str(&b, "no")),
        batch_call(&b, "CONCAT", s, batch_str(&b, "-"), s),
        batch_call(&b, "COALESCE", batch_call(&b, "*", i, i, NULL), batch_num(&b, "0"), NULL),
        batch_call(&b, "REGEXP_EXTRACT", s, batch_str(&b, "[a-z]+"), batch_num(&b, "0"))};
    struct program *p = work_new(&b, NULL, out, 4);
    (void)work_run(&b, p, 4);
    uint64_t held = home_bytes(b.home);
    for (uint32_t n = 0; n < 20; n++) {
        (void)work_run(&b, p, 4);
        ck_assert_uint_eq(home_bytes(b.home), held);
    }
    program_free(p);
    batch_close(&b);
}
END_TEST

UNIT_MAIN("work", common_parts_are_computed_once, constants_are_computed_once_a_program,
          rows_that_are_decided_are_not_computed, cheap_parts_are_computed_for_all_rows,
          few_rows_are_picked, null_rows_are_not_computed, later_batches_take_no_memory)
