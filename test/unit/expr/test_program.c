/* Programs over batches: selections, guards, failures, what is shared and what is not. */
#include "engine/expr/program.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/expr/batch.h"
#include "test/unit/unit.h"

#define OUTS_MAX 4

struct answer {
    struct program *program;
    struct program_result r;
    struct sr_column *col[OUTS_MAX];
    struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    uint32_t outs;
};

static void run(struct batch *b, struct answer *a, const struct expr *condition,
                const struct expr *const *out, uint32_t outs, uint32_t from)
{
    struct sr_error err = {0};
    struct program_conf conf = {
        .in = &b->schema, .condition = condition, .out = out, .outs = outs, .time_zone = "UTC"};
    *a = (struct answer){.outs = outs};
    a->r.col = a->col;
    a->r.bad = a->bad;
    ck_assert_msg(program_new(&a->program, &conf, &err) == SR_OK, "%s", err.words);
    ck_assert_msg(program_run(a->program, b->home, b->view, from, &a->r, &err) == SR_OK, "%s",
                  err.words);
}

static void done(struct answer *a)
{
    for (uint32_t i = 0; i < a->outs; i++) {
        column_release(a->col[i]);
    }
    program_free(a->program);
}

static uint32_t picked_row(const struct answer *a, uint32_t i)
{
    return a->r.sel ? a->r.sel[i] : i;
}

/* A column that is only passed on is the same column, and a filter copies nothing. */
START_TEST(passing_columns_are_shared)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 100, 1, true);
    const struct expr *out[] = {batch_col(&b, 's')};
    run(&b, &a, batch_call(&b, "IS NOT NULL", batch_col(&b, 'i'), NULL, NULL), out, 1, 0);
    ck_assert_ptr_eq(a.col[0], b.view->col[BATCH_S]);
    ck_assert_uint_gt(a.r.filtered, 0);
    ck_assert_uint_eq(a.r.used, a.r.picked + a.r.filtered);
    done(&a);
    batch_close(&b);
}
END_TEST

/* Text that is cut refers to the bytes of its argument. */
START_TEST(cut_text_is_not_copied)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 64, 2, false);
    const struct expr *s = batch_col(&b, 's'), *one = batch_num(&b, "1");
    const struct expr *out[] = {
        batch_call(&b, "SUBSTRING", s, one, batch_num(&b, "2")),
        batch_call(&b, "LTRIM", s, NULL, NULL),
        batch_call(&b, "SPLIT_INDEX", s, batch_str(&b, ","), one),
        batch_call(&b, "REGEXP_EXTRACT", s, batch_str(&b, "[a-z]+"), batch_num(&b, "0"))};
    run(&b, &a, NULL, out, 4, 0);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_ptr_eq(a.col[i]->bytes, b.view->col[BATCH_S]->bytes);
    }
    done(&a);
    batch_close(&b);
}
END_TEST

/* A division by zero fails its row and no other; the row is left out and told. */
START_TEST(a_failed_row_is_left_out)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 200, 3, true);
    const struct expr *i = batch_col(&b, 'i');
    const struct expr *out[] = {batch_call(&b, "/", batch_num(&b, "100"), i, NULL)};
    run(&b, &a, NULL, out, 1, 0);
    const struct sr_column *c = b.view->col[BATCH_I];
    uint32_t zeros = 0;
    for (uint32_t r = 0; r < 200; r++) {
        zeros += sr_is_valid(c, r) && ((const int32_t *)c->values)[r] == 0;
    }
    ck_assert_uint_gt(zeros, 0);
    ck_assert_uint_eq(a.r.bads, zeros);
    ck_assert_uint_eq(a.r.picked, 200 - zeros);
    ck_assert_str_eq(a.bad[0].words, "division by zero");
    for (uint32_t k = 0; k < a.r.picked; k++) {
        uint32_t r = picked_row(&a, k);
        ck_assert(!sr_is_valid(c, r) || ((const int32_t *)c->values)[r] != 0);
    }
    done(&a);
    batch_close(&b);
}
END_TEST

/* More failed rows than there is room for: rows behind the last told one are not taken, and a
 * second run goes on there, so that every row is told once. */
START_TEST(failures_beyond_the_room_wait)
{
    struct batch b;
    batch_open(&b, 1000, 4, true);
    const struct expr *out[] = {batch_cast(&b, batch_col(&b, 's'), "INT")};
    uint32_t from = 0, runs = 0, bads = 0, picked = 0, last = 0;
    while (from < 1000) {
        struct answer a;
        run(&b, &a, NULL, out, 1, from);
        ck_assert_uint_gt(a.r.used, 0);
        ck_assert_uint_eq(a.r.used, a.r.picked + a.r.bads);
        for (uint32_t i = 0; i < a.r.bads; i++) {
            ck_assert(bads + i == 0 || a.bad[i].row > last);
            last = a.bad[i].row;
        }
        bads += a.r.bads;
        picked += a.r.picked;
        from += a.r.used;
        runs++;
        done(&a);
    }
    ck_assert_uint_eq(bads + picked, 1000);
    ck_assert_uint_gt(runs, 3);
    batch_close(&b);
}
END_TEST

/* A branch that a row does not take cannot fail it: CASE, IF, COALESCE, AND, OR. */
START_TEST(branches_not_taken_do_not_fail)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 300, 5, true);
    const struct expr *i = batch_col(&b, 'i'), *zero = batch_num(&b, "0"),
                      *one = batch_num(&b, "1");
    const struct expr *over = batch_call(&b, "/", one, i, NULL);
    const struct expr *is_zero = batch_call(&b, "=", i, zero, NULL);
    const struct expr *pair[2] = {batch_call(&b, "<>", i, zero, NULL),
                                  batch_call(&b, "=", over, one, NULL)};
    const struct expr *out[] = {batch_call(&b, "IF", is_zero, zero, over),
                                batch_call(&b, "COALESCE",
                                           batch_call(&b, "NULLIF", one, is_zero ? one : one, NULL),
                                           batch_num(&b, "7"), NULL),
                                batch_call(&b, "AND", pair[0], pair[1], NULL),
                                batch_call(&b, "OR", is_zero, pair[1], NULL)};
    run(&b, &a, NULL, out, 4, 0);
    ck_assert_uint_eq(a.r.bads, 0);
    ck_assert_uint_eq(a.r.picked, 300);
    const int32_t *v = b.view->col[BATCH_I]->values;
    for (uint32_t r = 0; r < 300; r++) {
        if (sr_is_valid(b.view->col[BATCH_I], r)) {
            ck_assert_int_eq(((int32_t *)a.col[0]->values)[r], v[r] == 0 ? 0 : 1 / v[r]);
            ck_assert_int_eq(((uint8_t *)a.col[2]->values)[r], v[r] == 1);
        }
        ck_assert_int_eq(((int32_t *)a.col[1]->values)[r], 7);
    }
    done(&a);
    batch_close(&b);
}
END_TEST

/* A condition keeps the rows for which it is TRUE, not those for which it is NULL; what it leaves
 * out is counted; AND narrows so that the right side is safe. */
START_TEST(a_condition_keeps_true_rows)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 500, 6, true);
    const struct expr *i = batch_col(&b, 'i'), *zero = batch_num(&b, "0");
    const struct expr *safe = batch_call(&b, "<>", i, zero, NULL);
    const struct expr *over =
        batch_call(&b, ">", batch_call(&b, "/", batch_num(&b, "10"), i, NULL), zero, NULL);
    const struct expr *out[] = {i};
    run(&b, &a, batch_call(&b, "AND", safe, over, NULL), out, 1, 0);
    ck_assert_uint_eq(a.r.bads, 0);
    uint32_t want = 0;
    const struct sr_column *c = b.view->col[BATCH_I];
    for (uint32_t r = 0; r < 500; r++) {
        bool is_in = sr_is_valid(c, r) && ((const int32_t *)c->values)[r] > 0;
        if (is_in) {
            ck_assert_uint_eq(picked_row(&a, want), r);
        }
        want += is_in;
    }
    ck_assert_uint_eq(a.r.picked, want);
    ck_assert_uint_eq(a.r.filtered, 500 - want);
    done(&a);
    batch_close(&b);
}
END_TEST

/* A constant output is a column of its own, as long as the view; a constant that cannot be computed
 * fails each row, and only those that need it. */
START_TEST(constants_fill_their_column)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 10, 7, false);
    const struct expr *bad = batch_call(&b, "/", batch_num(&b, "1"), batch_num(&b, "0"), NULL);
    const struct expr *out[] = {
        batch_str(&b, "hello"),
        batch_call(&b, "IF", expr_bool(b.arena, false), bad, batch_num(&b, "5"))};
    run(&b, &a, NULL, out, 2, 0);
    char text[100];
    ck_assert_uint_eq(a.r.picked, 10);
    ck_assert_uint_eq(a.col[0]->rows, 10);
    ck_assert_str_eq(batch_value(a.col[0], 9, text, sizeof(text)), "hello");
    ck_assert_str_eq(batch_value(a.col[1], 9, text, sizeof(text)), "5");
    done(&a);
    run(&b, &a, NULL, &bad, 1, 0);
    ck_assert_uint_eq(a.r.bads, 10);
    ck_assert_uint_eq(a.r.picked, 0);
    done(&a);
    batch_close(&b);
}
END_TEST

/* CASE over texts from several buffers gives each row its own text. */
START_TEST(case_gathers_texts)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 256, 8, true);
    const struct expr *s = batch_col(&b, 's');
    const struct expr *out[] = {batch_call(&b, "IF", batch_col(&b, 'b'), s,
                                           batch_call(&b, "CONCAT", s, batch_str(&b, "!"), NULL))};
    run(&b, &a, NULL, out, 1, 0);
    char have[200], want[200];
    for (uint32_t r = 0; r < 256; r++) {
        const struct sr_column *flag = b.view->col[BATCH_B];
        bool is_first = sr_is_valid(flag, r) && ((uint8_t *)flag->values)[r];
        const char *plain = batch_value(b.view->col[BATCH_S], r, have, sizeof(have));
        bool is_null = !sr_is_valid(b.view->col[BATCH_S], r);
        (void)snprintf(want, sizeof(want), "%s%s", plain, is_first || is_null ? "" : "!");
        ck_assert_str_eq(batch_value(a.col[0], r, have, sizeof(have)), want);
    }
    done(&a);
    batch_close(&b);
}
END_TEST

/* The value of a constant tree, as text. */
static const char *constant(struct batch *b, const struct expr *e)
{
    struct sr_error err = {0};
    struct program_text v;
    ck_assert_msg(program_constant(b->arena, e, "UTC", NULL, &v, &err) == SR_OK, "%s", err.words);
    return v.text ? v.text : "NULL";
}

/* In a regular expression \r ends a line as \n does: a dot matches neither, and $ stands in front
 * of either. */
START_TEST(lines_end_as_in_java)
{
    struct batch b;
    batch_open(&b, 1, 1, false);
    static const char *const cases[][3] = {{"a\nb", "a.b", "FALSE"},
                                           {"a\rb", "a.b", "FALSE"},
                                           {"a\tb", "a.b", "TRUE"},
                                           {"ab\r\n", "b$", "TRUE"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct expr *e =
            batch_call(&b, "REGEXP", batch_str(&b, cases[i][0]), batch_str(&b, cases[i][1]), NULL);
        ck_assert_str_eq(constant(&b, e), cases[i][2]);
    }
    batch_close(&b);
}
END_TEST

/* Bytes cast to CHAR are filled up with blanks, however many; bytes that are no text count as one
 * character each. */
START_TEST(bytes_fill_a_char)
{
    struct batch b;
    struct sr_error err = {0};
    batch_open(&b, 1, 1, false);
    const struct expr *bytes = expr_binary(b.arena, "41ff", 4, &err);
    ck_assert_str_eq(constant(&b, batch_cast(&b, bytes, "CHAR(4)")), "A\xEF\xBF\xBD  ");
    ck_assert_str_eq(constant(&b, batch_cast(&b, bytes, "CHAR(1)")), "A");
    ck_assert_uint_eq(strlen(constant(&b, batch_cast(&b, bytes, "CHAR(100000)"))), 100002);
    batch_close(&b);
}
END_TEST

/* A moment beyond 64 bits wraps as in Java, and is no undefined behaviour. */
START_TEST(moments_wrap)
{
    struct batch b;
    struct sr_error err = {0};
    batch_open(&b, 1, 1, false);
    const struct expr *far = expr_interval(b.arena, "999999999", 9, false, "MONTH", NULL, &err);
    const struct expr *stamp = batch_cast(&b, batch_str(&b, "2020-01-01 00:00:00"), "TIMESTAMP(3)");
    const struct expr *date = batch_cast(&b, batch_str(&b, "2020-01-01"), "DATE");
    ck_assert_ptr_nonnull(constant(&b, batch_call(&b, "+", stamp, far, NULL)));
    const struct expr *late = batch_call(&b, "+", date, far, NULL);
    ck_assert_ptr_nonnull(constant(&b, batch_cast(&b, late, "TIMESTAMP(3)")));
    batch_close(&b);
}
END_TEST

/* A regular expression that backtracks without end fails its row and does not hang. */
START_TEST(a_catastrophic_pattern_stops)
{
    struct batch b;
    struct answer a;
    batch_open(&b, 1, 9, false);
    const struct expr *text =
        batch_call(&b, "CONCAT", batch_col(&b, 's'),
                   batch_call(&b, "REPEAT", batch_str(&b, "a"), batch_num(&b, "5000"), NULL),
                   batch_str(&b, "!"));
    const struct expr *out[] = {batch_call(&b, "REGEXP_EXTRACT", text,
                                           batch_str(&b, "(?:a+)+(?:a+)+$"), batch_num(&b, "0"))};
    run(&b, &a, NULL, out, 1, 0);
    ck_assert_uint_eq(a.r.bads, 1);
    ck_assert_ptr_nonnull(strstr(a.bad[0].words, "too many steps"));
    done(&a);
    batch_close(&b);
}
END_TEST

/* A long list of literals is looked up, with the same answers as one comparison each; NULLs and
 * what is not constant in the list keep their meaning. */
START_TEST(in_lists_are_looked_up)
{
    enum { ITEMS = 5000 };
    static const struct expr *arg[ITEMS + 3];
    struct batch b;
    struct answer a;
    char text[16];
    struct sr_error err = {0};
    batch_open(&b, 400, 11, true);
    arg[0] = batch_col(&b, 'l');
    for (uint32_t i = 0; i < ITEMS; i++) {
        (void)snprintf(text, sizeof(text), "%d", (int)i * 2 - ITEMS);
        arg[i + 1] = batch_num(&b, text);
    }
    arg[ITEMS + 1] = expr_null(b.arena);
    arg[ITEMS + 2] = batch_cast(&b, batch_col(&b, 'i'), "BIGINT");
    const struct expr *out[] = {expr_call(b.arena, "IN", arg, ITEMS + 1, &err),
                                expr_call(b.arena, "IN", arg, ITEMS + 3, &err)};
    run(&b, &a, NULL, out, 2, 0);
    for (uint32_t r = 0; r < 400; r++) {
        const struct sr_column *l = b.view->col[BATCH_L], *i = b.view->col[BATCH_I];
        ck_assert_int_eq(sr_is_valid(a.col[0], r), sr_is_valid(l, r));
        if (!sr_is_valid(l, r)) {
            continue;
        }
        int64_t v = ((int64_t *)l->values)[r];
        bool is_in = v % 2 == 0 && v >= -ITEMS && v < ITEMS;
        bool is_same = sr_is_valid(i, r) && v == ((int32_t *)i->values)[r];
        ck_assert_int_eq(((uint8_t *)a.col[0]->values)[r], is_in);
        ck_assert_int_eq(sr_is_valid(a.col[1], r), is_in || is_same); /* else NULL */
    }
    done(&a);
    run(&b, &a, out[0], NULL, 0, 0);
    for (uint32_t k = 0; k < a.r.picked; k++) {
        ck_assert_int_eq(((int64_t *)b.view->col[BATCH_L]->values)[picked_row(&a, k)] % 2, 0);
    }
    ck_assert_uint_gt(a.r.picked, 0);
    done(&a);
    batch_close(&b);
}
END_TEST

/* Behind TRUE OR and FALSE AND nothing is computed, and still the result is a BOOLEAN, TRUE or
 * FALSE, whatever lay in the memory that the second column took. */
START_TEST(what_is_not_computed_does_not_show)
{
    struct batch b;
    struct answer a;
    for (uint32_t with_nulls = 0; with_nulls < 2; with_nulls++) {
        batch_open(&b, 500, 12, with_nulls != 0);
        struct sr_column *stale[4];
        for (uint32_t i = 0; i < 4; i++) {
            struct sr_type type = type_of(SR_BOOLEAN);
            stale[i] = column_new(b.home, &type, SR_BATCH_ROWS);
            memset(stale[i]->values, 0xAA + (int)i, SR_BATCH_ROWS);
        }
        for (uint32_t i = 0; i < 4; i++) {
            column_release(stale[i]);
        }
        const struct expr *known = batch_col(&b, 'b');
        const struct expr *like =
            batch_call(&b, "LIKE", batch_col(&b, 's'), batch_str(&b, "%a%"), NULL);
        const struct expr *out[] = {batch_call(&b, "OR", known, like, NULL),
                                    batch_call(&b, "AND", known, like, NULL), known, like};
        run(&b, &a, NULL, out, 4, 0);
        for (uint32_t r = 0; r < 500; r++) {
            const struct sr_column *x = a.col[2], *y = a.col[3];
            const uint8_t *xv = x->values, *yv = y->values;
            for (uint8_t decides = 0; decides < 2; decides++) {
                const struct sr_column *got = a.col[1 - decides];
                bool decided = (sr_is_valid(x, r) && xv[r] == decides) ||
                               (sr_is_valid(y, r) && yv[r] == decides);
                bool is_known = decided || (sr_is_valid(x, r) && sr_is_valid(y, r));
                ck_assert_int_eq(sr_is_valid(got, r), is_known);
                ck_assert(!is_known ||
                          ((uint8_t *)got->values)[r] == (decided ? decides : !decides));
            }
        }
        done(&a);
        batch_close(&b);
    }
}
END_TEST

/* CASE and COALESCE of numbers of any width give each row its value, NULLs among them, over all
 * rows and over picked ones. */
START_TEST(choices_of_numbers)
{
    static const char *const types[] = {"TINYINT", "SMALLINT",       "INT",    "BIGINT", "DOUBLE",
                                        "FLOAT",   "DECIMAL(30, 2)", "BOOLEAN"};
    for (uint32_t t = 0; t < 16; t++) {
        struct batch b;
        struct answer a;
        batch_open(&b, 700, 13 + t, t % 2 == 0);
        const struct expr *b_col = batch_col(&b, 'b');
        const struct expr *x =
            batch_cast(&b, t / 2 == 7 ? b_col : batch_col(&b, 'i'), types[t / 2]);
        const struct expr *y = batch_cast(&b, t / 2 == 7 ? x : batch_num(&b, "7"), types[t / 2]);
        const struct expr *few = batch_call(&b, "=", batch_col(&b, 'i'), batch_num(&b, "3"), NULL);
        const struct expr *out[] = {batch_call(&b, "CASE", b_col, x, y),
                                    batch_call(&b, "COALESCE", x, y, NULL), x, y};
        for (uint32_t picked = 0; picked < 2; picked++) {
            run(&b, &a, picked ? few : NULL, out, 4, 0);
            ck_assert_uint_gt(a.r.picked, 0);
            for (uint32_t k = 0; k < a.r.picked; k++) {
                char got[128], wanted[128];
                uint32_t r = picked_row(&a, k);
                const struct sr_column *when = b.view->col[BATCH_B];
                bool is_x = sr_is_valid(when, r) && ((uint8_t *)when->values)[r];
                ck_assert_str_eq(batch_value(a.col[0], r, got, sizeof(got)),
                                 batch_value(a.col[is_x ? 2 : 3], r, wanted, sizeof(wanted)));
                ck_assert_str_eq(batch_value(a.col[1], r, got, sizeof(got)),
                                 batch_value(a.col[sr_is_valid(a.col[2], r) ? 2 : 3], r, wanted,
                                             sizeof(wanted)));
            }
            done(&a);
        }
        batch_close(&b);
    }
}
END_TEST

/* Conditions joined by AND meet as bits and as row numbers: the rows are those of each one. */
START_TEST(conditions_meet)
{
    static const char *const low[] = {"-11", "-5", "0", "8", "10"};
    for (uint32_t t = 0; t < 10; t++) {
        struct batch b;
        struct answer a;
        batch_open(&b, 1 + t * 113, 30 + t, t % 2 == 0);
        const struct expr *i = batch_col(&b, 'i'), *d = batch_col(&b, 'd'), *s = batch_col(&b, 's');
        const struct expr *part[] = {batch_call(&b, ">", i, batch_num(&b, low[t / 2]), NULL),
                                     batch_call(&b, "<", d, batch_num(&b, "100"), NULL),
                                     batch_call(&b, "IS NOT NULL", batch_col(&b, 'l'), NULL, NULL),
                                     batch_call(&b, "<>", s, batch_str(&b, "abc"), NULL)};
        const struct expr *whole = part[0];
        for (uint32_t p = 1; p < 4; p++) {
            whole = batch_call(&b, "AND", whole, part[p], NULL);
        }
        struct answer each;
        run(&b, &each, NULL, part, 4, 0);
        run(&b, &a, whole, NULL, 0, 0);
        uint32_t k = 0;
        for (uint32_t r = 0; r < b.view->rows; r++) {
            bool is_in = true;
            for (uint32_t p = 0; p < 4; p++) {
                is_in = is_in && sr_is_valid(each.col[p], r) && ((uint8_t *)each.col[p]->values)[r];
            }
            ck_assert(!is_in || (k < a.r.picked && picked_row(&a, k) == r));
            k += is_in;
        }
        ck_assert_uint_eq(k, a.r.picked);
        done(&each);
        done(&a);
        batch_close(&b);
    }
}
END_TEST

/* A time zone that there is none of is refused with words. */
START_TEST(unknown_zones_are_refused)
{
    struct batch b;
    batch_open(&b, 1, 10, false);
    struct sr_error err = {0};
    struct program *p = NULL;
    struct program_conf conf = {.in = &b.schema, .time_zone = "Asia/Nowhere"};
    ck_assert_int_eq(program_new(&p, &conf, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "Asia/Nowhere"));
    batch_close(&b);
}
END_TEST

UNIT_MAIN("program", passing_columns_are_shared, cut_text_is_not_copied, a_failed_row_is_left_out,
          failures_beyond_the_room_wait, branches_not_taken_do_not_fail,
          a_condition_keeps_true_rows, constants_fill_their_column, in_lists_are_looked_up,
          case_gathers_texts, a_catastrophic_pattern_stops, lines_end_as_in_java, bytes_fill_a_char,
          moments_wrap, what_is_not_computed_does_not_show, choices_of_numbers, conditions_meet,
          unknown_zones_are_refused)
