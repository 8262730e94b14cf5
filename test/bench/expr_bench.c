/* Expressions against the loop that a hand would write: expr_bench [NAME...]
 *
 * A line a row: name, bar in percent, ratio in percent, nanoseconds a row of ours and of the loop,
 * the expression; between tabs. Both run in turn over the same columns, and their answers are
 * compared first; another answer ends the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/data/schema.h"
#include "engine/expr/promote.h"
#include "test/bench/expr_columns.h"

#define TURNS 11u

struct row {
    const char *name;
    unsigned bar; /* percent of the loop's speed */
    const char *where, *select;
    hand_fn *by_hand;
    bool has_regex;
};

/* clang-format off */
static const struct row rows[] = {
    {"int a+b",        70, NULL, "i + j", hand_int_sum, false},
    {"int a*b+c",      70, NULL, "i * j + k", hand_int_mul_add, false},
    {"int a<b",        70, NULL, "i < j", hand_int_compare, false},
    {"int filter",     70, "i > 10 AND j < k", NULL, hand_int_filter, false},
    {"int CASE",       70, NULL, "CASE WHEN i > 10 THEN j ELSE k END", hand_int_case, false},
    {"int AND OR",     70, NULL, "i > 0 AND j > 0 OR k > 0", hand_and_value, false},
    {"bigint a+b",     70, NULL, "l + m", hand_big_sum, false},
    {"bigint a*b+c",   70, NULL, "l * m + n", hand_big_mul_add, false},
    {"bigint a<b",     70, NULL, "l < m", hand_big_compare, false},
    {"bigint filter",  70, "l > 10 AND m < n", NULL, hand_big_filter, false},
    {"bigint CASE",    70, NULL, "CASE WHEN l > 10 THEN m ELSE n END", hand_big_case, false},
    {"bigint COALESCE",70, NULL, "COALESCE(l, m, 0)", hand_coalesce, false},
    {"bigint calc",    70, "l > 10", "m * n", hand_calc, false},
    {"double a+b",     70, NULL, "d + e", hand_double_sum, false},
    {"double a*b+c",   70, NULL, "d * e + f", hand_double_mul_add, false},
    {"double a<b",     70, NULL, "d < e", hand_double_compare, false},
    {"double filter",  70, "d > 10 AND e < f", NULL, hand_double_filter, false},
    {"double CASE",    70, NULL, "CASE WHEN d > 10 THEN e ELSE f END", hand_double_case, false},
    {"decimal a+b",    40, NULL, "x + y", hand_decimal_sum, false},
    {"decimal a<b",    40, NULL, "x < y", hand_decimal_compare, false},
    {"LIKE 'a%'",      50, NULL, "s LIKE 'https://shop.%'", hand_like_prefix, false},
    {"LIKE '%a%'",     50, NULL, "s LIKE '%/item/4%'", hand_like_inside, false},
    {"LIKE '%a'",      50, NULL, "s LIKE '%.html'", hand_like_suffix, false},
    {"LIKE '%a_b%'",   50, NULL, "s LIKE '%item_4%'", hand_like_one, false},
    {"LIKE filter",    50, "s LIKE '%/item/4%'", NULL, hand_like_filter, false},
    {"SUBSTRING",      50, NULL, "SUBSTRING(s, 9, 12)", hand_substring, false},
    {"SUBSTRING rest", 50, NULL, "SUBSTRING(s, 9)", hand_substring_rest, false},
    {"REGEXP_EXTRACT", 83, NULL, "REGEXP_EXTRACT(s, '" HAND_REGEX "', 1)", hand_regex, true},
    {"CAST INT",       60, NULL, "CAST(u AS INT)", hand_cast_int, false},
    {"CAST BIGINT",    60, NULL, "CAST(v AS BIGINT)", hand_cast_bigint, false},
    {"CAST DOUBLE",    60, NULL, "CAST(w AS DOUBLE)", hand_cast_double, false},
};
/* clang-format on */

struct pair {
    struct columns_world *w;
    const struct row *row;
    struct program *program;
    struct hand hand;
};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void ours(struct pair *p, const struct sr_view *v, struct program_result *r)
{
    struct sr_error err = {0};
    if (program_run(p->program, p->w->home, v, 0, r, &err) != SR_OK || r->bads > 0) {
        (void)fprintf(stderr, "%s: %s\n", p->row->name, r->bads > 0 ? r->bad[0].words : err.words);
        exit(1);
    }
}

static void theirs(struct pair *p, const struct sr_view *v)
{
    p->hand.col = v->col;
    p->hand.rows = v->rows;
    p->row->by_hand(&p->hand);
}

static bool is_same_value(const struct pair *p, const struct sr_column *c, uint32_t r)
{
    bool has = !p->hand.has_nulls || (p->hand.valid[r >> 6] >> (r & 63) & 1) != 0;
    if (has != sr_is_valid(c, r) || !has) {
        return has == sr_is_valid(c, r);
    }
    uint32_t size = sr_value_size(&c->type), len;
    const uint8_t *to = p->hand.to;
    if (!sr_has_bytes(c->type.kind)) {
        return memcmp(to + (size_t)r * size, (const uint8_t *)c->values + (size_t)r * size, size) ==
               0;
    }
    const char *text = sr_text(c, r, &len);
    const struct sr_column *from = p->hand.col[HAND_S];
    struct sr_span s = ((const struct sr_span *)p->hand.to)[r];
    return s.len == len && memcmp((const char *)from->bytes->data + s.at, text, len) == 0;
}

static void compare(struct pair *p, struct program_result *r)
{
    bool is_same = true;
    for (uint32_t b = 0; b < COLUMNS_BATCHES && is_same; b++) {
        ours(p, p->w->view[b], r);
        theirs(p, p->w->view[b]);
        uint32_t n = p->row->where ? r->picked : SR_BATCH_ROWS;
        is_same = !p->row->where || p->hand.picked == r->picked;
        for (uint32_t i = 0; i < n && is_same; i++) {
            uint32_t row = p->row->where && r->sel ? r->sel[i] : i;
            is_same = (!p->row->where || p->hand.sel[i] == row) &&
                      (!p->row->select || is_same_value(p, r->col[0], row));
        }
        if (p->row->select) {
            column_release(r->col[0]);
        }
    }
    if (!is_same) {
        (void)fprintf(stderr, "%s: the answers differ\n", p->row->name);
        exit(1);
    }
}

static double time_ours(struct pair *p, struct program_result *r, uint32_t times)
{
    double from = now();
    for (uint32_t i = 0; i < times; i++) {
        for (uint32_t b = 0; b < COLUMNS_BATCHES; b++) {
            ours(p, p->w->view[b], r);
            if (p->row->select) {
                column_release(r->col[0]);
            }
        }
    }
    return now() - from;
}

static double time_theirs(struct pair *p, uint32_t times)
{
    double from = now();
    for (uint32_t i = 0; i < times; i++) {
        for (uint32_t b = 0; b < COLUMNS_BATCHES; b++) {
            theirs(p, p->w->view[b]);
        }
    }
    return now() - from;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, TURNS, sizeof(*v), by_value);
    return v[TURNS / 2];
}

static void measure(struct columns_world *w, const struct row *row, const char *kind)
{
    static struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    static uint64_t valid[SR_BATCH_WORDS], to[SR_BATCH_ROWS * 2];
    static uint16_t sel[SR_BATCH_ROWS];
    struct sr_column *col = NULL;
    struct program_result r = {.col = &col, .bad = bad};
    struct pair p = {.w = w, .row = row, .hand = {.to = to, .valid = valid, .sel = sel}};
    p.hand.state = row->has_regex ? hand_regex_new() : NULL;
    p.program = columns_program(w, row->where ? columns_expr(w, row->where) : NULL,
                                row->select ? columns_expr(w, row->select) : NULL);
    compare(&p, &r);
    uint32_t times = 1;
    while (time_theirs(&p, times) < 0.01) {
        times *= 2;
    }
    double ratio[TURNS], mine[TURNS], other[TURNS];
    for (uint32_t i = 0; i < TURNS; i++) {
        other[i] = time_theirs(&p, times);
        mine[i] = time_ours(&p, &r, times);
        ratio[i] = other[i] / mine[i];
    }
    double each = 1e9 / ((double)times * COLUMNS_BATCHES * SR_BATCH_ROWS);
    printf("%s%s\t%u\t%.0f\t%.2f\t%.2f\t%s%s%s\n", row->name, kind, row->bar, median(ratio) * 100,
           median(mine) * each, median(other) * each, row->select ? row->select : "",
           row->where ? " WHERE " : "", row->where ? row->where : "");
    (void)fflush(stdout);
    program_free(p.program);
    if (row->has_regex) {
        hand_regex_free(p.hand.state);
    }
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i])) {
            return true;
        }
    }
    return argc == 1;
}

int main(int argc, char **argv)
{
    struct columns_world w[2];
    columns_open(&w[0], false);
    columns_open(&w[1], true);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (uint32_t k = 0; k < 2 && is_wanted(rows[i].name, argc, argv); k++) {
            measure(&w[k], &rows[i], k ? ", NULLs" : "");
        }
    }
    columns_close(&w[0]);
    columns_close(&w[1]);
    return 0;
}
