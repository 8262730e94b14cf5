/* Random typed trees give the same answer however the rows are cut into batches and selections. */
#include <stdio.h>
#include <string.h>

#include "test/unit/expr/batch.h"
#include "test/unit/unit.h"

#define TREES     1500
#define ROWS      96
#define TEXT_ROOM 4096

static const struct expr *tree(struct batch *b, char type, int depth, uint64_t *seed);

static const struct expr *leaf(struct batch *b, char type, uint64_t *seed)
{
    static const char *const numbers[] = {"0", "1", "-3", "7", "100"};
    static const char *const texts[] = {"", "a", "abc", "%a%", ",", "12"};
    if (batch_random(seed) % 3 > 0) {
        return batch_col(b, type);
    }
    uint64_t n = batch_random(seed);
    switch (type) {
    case 'i':
        return batch_num(b, numbers[n % 5]);
    case 'l':
        return batch_cast(b, batch_num(b, numbers[n % 5]), "BIGINT");
    case 'd':
        return batch_cast(b, batch_num(b, numbers[n % 5]), "DOUBLE");
    case 'n':
        return batch_cast(b, batch_num(b, "12.50"), "DECIMAL(10, 2)");
    case 's':
        return batch_cast(b, batch_str(b, texts[n % 6]), "STRING");
    case 'b':
        return n % 4 == 0 ? batch_cast(b, expr_null(b->arena), "BOOLEAN")
                          : expr_bool(b->arena, n & 1);
    default:
        return batch_col(b, type);
    }
}

static const struct expr *tree_number(struct batch *b, char type, int depth, uint64_t *seed)
{
    static const char *const ops[] = {"+", "-", "*", "/"};
    static const char *const names[] = {"INT", "BIGINT", "DOUBLE", "DECIMAL(10, 2)"};
    const char *name = names[strchr("ildn", type) - "ildn"];
    const struct expr *e;
    switch (batch_random(seed) % 7) {
    case 0:
        e = batch_call(b, "CHAR_LENGTH", tree(b, 's', depth, seed), NULL, NULL);
        break;
    case 1:
        e = tree(b, "sildn"[batch_random(seed) % 5], depth, seed); /* a CAST that may fail */
        break;
    case 2:
        e = batch_call(b, "ABS", tree(b, type, depth, seed), NULL, NULL);
        break;
    default:
        e = batch_call(b, ops[batch_random(seed) % 4], tree(b, type, depth, seed),
                       tree(b, type, depth, seed), NULL);
        break;
    }
    return batch_cast(b, e, name);
}

static const struct expr *tree_time(struct batch *b, char type, int depth, uint64_t *seed)
{
    const struct expr *at = tree(b, batch_random(seed) % 2 ? 't' : 'o', depth, seed), *e;
    struct sr_error err = {0};
    bool is_minus = batch_random(seed) % 2 != 0;
    switch (batch_random(seed) % 4) {
    case 0:
        e = expr_interval(b->arena, "13", 2, is_minus, "MONTH", NULL, &err);
        e = batch_call(b, "+", at, e, NULL);
        break;
    case 1:
        e = expr_interval(b->arena, "1.5", 3, is_minus, "SECOND", NULL, &err);
        e = batch_call(b, "-", at, e, NULL);
        break;
    case 2:
        e = batch_call(b, is_minus ? "FLOOR" : "CEIL", at, batch_str(b, "DAY"), NULL);
        break;
    default:
        e = batch_call(b, is_minus ? "GREATEST" : "LEAST", at, tree(b, type, depth, seed), NULL);
        break;
    }
    return batch_cast(b, e, type == 't' ? "TIMESTAMP(3)" : "TIMESTAMP(9)");
}

static const struct expr *tree_text(struct batch *b, int depth, uint64_t *seed)
{
    static const char *const ones[] = {
        "UPPER", "LOWER",      "TRIM",    "REVERSE",   "LTRIM", "JSON_STRING", "JSON_QUOTE",  "MD5",
        "HEX",   "URL_ENCODE", "INITCAP", "TO_BASE64", "BTRIM", "SHA256",      "JSON_UNQUOTE"};
    const struct expr *s = tree(b, 's', depth, seed), *e;
    switch (batch_random(seed) % 9) {
    case 7:
        e = batch_call(b, "JSON_ARRAY", batch_str(b, "NULL"), s,
                       tree(b, "ildnbto"[batch_random(seed) % 7], depth, seed));
        break;
    case 8:
        e = batch_call(b, "TRANSLATE", s, batch_str(b, "abc"), tree(b, 's', depth, seed));
        break;
    case 0:
        e = batch_call(b, "SUBSTRING", s, tree(b, 'i', depth, seed), NULL);
        break;
    case 1:
        e = batch_call(b, "CONCAT", s, tree(b, 's', depth, seed), NULL);
        break;
    case 2:
        e = tree(b, "ildnbto"[batch_random(seed) % 7], depth, seed);
        break;
    case 3:
        e = batch_call(b, "SPLIT_INDEX", s, batch_str(b, ","), tree(b, 'i', depth, seed));
        break;
    case 4:
        e = batch_call(b, "REGEXP_EXTRACT", s, batch_str(b, "[a-z0-9]+"), batch_num(b, "0"));
        break;
    case 5:
        e = batch_call(b, "REPLACE", s, batch_str(b, "a"), tree(b, 's', depth, seed));
        break;
    default:
        e = batch_call(b, ones[batch_random(seed) % (sizeof(ones) / sizeof(ones[0]))], s, NULL,
                       NULL);
        break;
    }
    return batch_cast(b, e, "STRING");
}

static const struct expr *tree_bool(struct batch *b, int depth, uint64_t *seed)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    static const char *const tests[] = {"NOT", "IS NULL", "IS TRUE", "IS NOT FALSE"};
    char type = "ildnstbo"[batch_random(seed) % 8];
    switch (batch_random(seed) % 6) {
    case 0:
        return batch_call(b, "AND", tree(b, 'b', depth, seed), tree(b, 'b', depth, seed), NULL);
    case 1:
        return batch_call(b, "OR", tree(b, 'b', depth, seed), tree(b, 'b', depth, seed), NULL);
    case 2:
        return batch_call(b, tests[batch_random(seed) % 4], tree(b, 'b', depth, seed), NULL, NULL);
    case 3:
        return batch_call(b, "LIKE", tree(b, 's', depth, seed), tree(b, 's', depth, seed), NULL);
    default:
        return batch_call(b, ops[batch_random(seed) % 6], tree(b, type, depth, seed),
                          tree(b, type, depth, seed), NULL);
    }
}

static const struct expr *tree(struct batch *b, char type, int depth, uint64_t *seed)
{
    if (depth == 0) {
        return leaf(b, type, seed);
    }
    depth--;
    switch (batch_random(seed) % 5) {
    case 0:
        return batch_call(b, "IF", tree(b, 'b', depth, seed), tree(b, type, depth, seed),
                          tree(b, type, depth, seed));
    case 1:
        return batch_call(b, "COALESCE", tree(b, type, depth, seed), tree(b, type, depth, seed),
                          NULL);
    default:
        return type == 's'                  ? tree_text(b, depth, seed)
               : type == 't' || type == 'o' ? tree_time(b, type, depth, seed)
               : type == 'b'                ? tree_bool(b, depth, seed)
                                            : tree_number(b, type, depth, seed);
    }
}

/* What a row comes to: a value, NULL, a failure, or that the condition dropped it. */
struct outcome {
    char text[TEXT_ROOM];
};

static void run(struct batch *b, struct program *p, const struct sr_view *v, struct outcome *to,
                const uint32_t *name)
{
    struct sr_error err = {0};
    struct sr_column *col[2];
    struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    for (uint32_t i = 0; i < v->picked; i++) {
        (void)snprintf(to[name ? name[0] : sr_row(v, i)].text, TEXT_ROOM, "dropped");
    }
    for (uint32_t from = 0; from < v->picked;) {
        struct program_result r = {.col = col, .bad = bad};
        ck_assert_msg(program_run(p, b->home, v, from, &r, &err) == SR_OK, "%s", err.words);
        ck_assert_uint_gt(r.used, 0);
        ck_assert_uint_eq(r.used, r.picked + r.bads + r.filtered);
        for (uint32_t i = 0; i < r.picked; i++) {
            uint32_t row = r.sel ? r.sel[i] : i;
            char x[TEXT_ROOM / 2 - 8], y[TEXT_ROOM / 2 - 8];
            (void)snprintf(to[name ? name[0] : row].text, TEXT_ROOM, "%s | %s",
                           batch_value(col[0], row, x, sizeof(x)),
                           batch_value(col[1], row, y, sizeof(y)));
        }
        for (uint32_t i = 0; i < r.bads; i++) {
            (void)snprintf(to[name ? name[0] : bad[i].row].text, TEXT_ROOM, "fails: %s",
                           bad[i].words);
        }
        column_release(col[0]);
        column_release(col[1]);
        from += r.used;
    }
}

/* Row r as a batch of one stored row. */
static struct sr_view *alone(struct batch *b, uint32_t r)
{
    struct sr_view *v = view_new(b->home, BATCH_COLS);
    v->rows = v->picked = 1;
    for (uint32_t c = 0; c < BATCH_COLS; c++) {
        const struct sr_column *from = b->view->col[c];
        v->col[c] = column_new(b->home, &from->type, SR_BATCH_ROWS);
        uint32_t size = sr_value_size(&from->type), len;
        v->col[c]->rows = 1;
        memcpy(v->col[c]->values, (const uint8_t *)from->values + (size_t)r * size, size);
        if (!sr_is_valid(from, r)) {
            column_set_null(v->col[c], 0);
        } else if (c == BATCH_S) {
            const char *s = sr_text(from, r, &len);
            ck_assert(column_put_bytes(b->home, v->col[c], 0, s, len));
        }
        if (c == BATCH_S && !sr_is_valid(from, r)) {
            memset(v->col[c]->values, 0, size);
        }
    }
    return v;
}

static struct outcome whole[ROWS], other[ROWS];

static void compare(uint64_t seed, const char *how)
{
    for (uint32_t r = 0; r < ROWS; r++) {
        if (other[r].text[0] != '\0') {
            ck_assert_msg(strcmp(whole[r].text, other[r].text) == 0,
                          "seed %llu, row %u: whole gives '%s', %s gives '%s'",
                          (unsigned long long)seed, r, whole[r].text, how, other[r].text);
        }
    }
}

static void check_tree(uint64_t seed)
{
    struct batch b;
    struct sr_error err = {0};
    uint64_t random = seed;
    batch_open(&b, ROWS, seed, seed % 4 != 0);
    const struct expr *condition = seed % 3 == 0 ? NULL : tree(&b, 'b', 2, &random);
    const struct expr *out[2] = {tree(&b, "ildsbnto"[batch_random(&random) % 8], 4, &random),
                                 tree(&b, "ildsbnto"[batch_random(&random) % 8], 3, &random)};
    struct program_conf conf = {
        .in = &b.schema, .condition = condition, .out = out, .outs = 2, .time_zone = "UTC"};
    struct program *p = NULL;
    ck_assert_msg(program_new(&p, &conf, &err) == SR_OK, "%s", err.words);
    memset(whole, 0, sizeof(whole));
    run(&b, p, b.view, whole, NULL);

    memset(other, 0, sizeof(other));
    struct sr_view *some = view_share(b.home, b.view);
    some->picked = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        if (batch_random(&random) % 3 == 0) {
            some->sel_space[some->picked++] = (uint16_t)r;
        }
    }
    some->sel = some->sel_space;
    run(&b, p, some, other, NULL);
    compare(seed, "a selection");
    view_release(some);

    memset(other, 0, sizeof(other));
    for (uint32_t r = 0; r < ROWS; r += 5) {
        struct sr_view *one = alone(&b, r);
        run(&b, p, one, other, &r);
        view_release(one);
    }
    compare(seed, "a batch of one row");
    program_free(p);
    batch_close(&b);
}

/* The same rows give the same values, failures and drops in one batch, under a selection, and
 * one by one. */
START_TEST(answers_do_not_depend_on_the_batch)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        check_tree(seed);
    }
}
END_TEST

UNIT_MAIN("property", answers_do_not_depend_on_the_batch)
