/* SUM(DECIMAL(20, 4)) into 201 groups against a loop by hand over an array of groups: sum_bench
 *
 * Lines as those of expr_bench. Both get the groups' places of each row and fold the same columns;
 * finding the places is not timed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/expr/decimal.h"
#include "engine/ops/agg.h"
#include "engine/state/backend.h"
#include "test/bench/expr_columns.h"

#define TURNS      11u
#define GROUPS_MAX 65536u /* slots of a new map are small numbers */

struct world {
    struct columns_world w;
    struct sr_state *state;
    struct sr_map *map;
    struct accumulator sum;
    uint32_t slot[COLUMNS_BATCHES][SR_BATCH_ROWS];
    uint16_t row[SR_BATCH_ROWS];
    struct hand_group *group;
};

static void need(bool is_good, const struct sr_error *err)
{
    if (!is_good) {
        (void)fprintf(stderr, "sum: %s\n", err->words);
        exit(1);
    }
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void declare(struct world *x)
{
    static struct sr_field field[4];
    struct sr_error err = {0};
    const struct expr *arg = columns_expr(&x->w, "x");
    struct agg agg;
    need(agg_bind("SUM", arg, &agg, &err) == SR_OK, &err);
    struct agg_fields f = {.arena = x->w.arena, .field = field};
    field[f.count++] = x->w.field[HAND_I];
    need(agg_declare(&f, &agg, 1, &x->sum, &err) == SR_OK, &err);
    struct state_conf conf = {.max_parallelism = 128, .parts = 1, .uid = "sum"};
    need(state_new(&x->state, &conf, &err) == SR_OK, &err);
    struct sr_map_def def = {.size = sizeof(def),
                             .name = "groups",
                             .kind = SR_MAP_VALUE,
                             .keys = 1,
                             .key = field,
                             .values = f.count - 1,
                             .value = field + 1};
    need(x->state->calls->map(x->state, &def, &x->map, &err) == SR_OK, &err);
}

static void find_groups(struct world *x)
{
    static const uint32_t key[] = {HAND_I};
    bool is_new[SR_BATCH_ROWS];
    struct sr_error err = {.words = "out of memory"};
    for (uint32_t b = 0; b < COLUMNS_BATCHES; b++) {
        struct sr_map_keys k = {.view = x->w.view[b], .key = key, .count = SR_BATCH_ROWS};
        need(x->state->calls->find_or_add(x->map, &k, x->slot[b], is_new) == SR_OK, &err);
        for (uint32_t r = 0; r < SR_BATCH_ROWS; r++) {
            need(x->slot[b][r] < GROUPS_MAX, &err);
            if (is_new[r]) {
                agg_clear(&x->sum, x->map, x->slot[b][r]);
            }
        }
    }
}

static double ours(struct world *x)
{
    double from = now();
    for (uint32_t b = 0; b < COLUMNS_BATCHES; b++) {
        struct agg_rows rows = {.slot = x->slot[b],
                                .row = x->row,
                                .count = SR_BATCH_ROWS,
                                .arg = x->w.view[b]->col[HAND_X]};
        (void)agg_fold(&x->sum, x->map, &rows); /* cannot fail: nothing is stored */
    }
    return now() - from;
}

static double theirs(struct world *x)
{
    double from = now();
    for (uint32_t b = 0; b < COLUMNS_BATCHES; b++) {
        hand_group_sum(x->w.view[b]->col[HAND_X], x->slot[b], x->group);
    }
    return now() - from;
}

static void compare(struct world *x)
{
    for (uint32_t i = 0; i < COLUMNS_BATCHES * SR_BATCH_ROWS; i++) {
        uint32_t slot = x->slot[i / SR_BATCH_ROWS][i % SR_BATCH_ROWS];
        bool is_null = sr_map_is_null(x->map, slot, x->sum.value);
        const struct sr_wide *sum = sr_map_at(x->map, slot, x->sum.value);
        if (is_null == x->group[slot].has_sum ||
            (!is_null && decimal_of_wide(*sum) != x->group[slot].sum)) {
            (void)fprintf(stderr, "sum: the answers differ\n");
            exit(1);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(bool with_nulls)
{
    static struct world x;
    double ratio[TURNS], mine[TURNS], other[TURNS];
    columns_open(&x.w, with_nulls);
    x.group = calloc(GROUPS_MAX, sizeof(*x.group));
    need(x.group != NULL, &(struct sr_error){.words = "out of memory"});
    for (uint32_t r = 0; r < SR_BATCH_ROWS; r++) {
        x.row[r] = (uint16_t)r;
    }
    declare(&x);
    find_groups(&x);
    for (uint32_t i = 0; i < TURNS; i++) {
        other[i] = mine[i] = 0;
        for (uint32_t n = 0; n < 20; n++) {
            other[i] += theirs(&x);
            mine[i] += ours(&x);
        }
        ratio[i] = other[i] / mine[i];
    }
    compare(&x);
    qsort(ratio, TURNS, sizeof(*ratio), by_value);
    qsort(mine, TURNS, sizeof(*mine), by_value);
    qsort(other, TURNS, sizeof(*other), by_value);
    double each = 1e9 / (20.0 * COLUMNS_BATCHES * SR_BATCH_ROWS);
    printf("decimal SUM%s\t40\t%.0f\t%.2f\t%.2f\tSUM(x) GROUP BY i\n", with_nulls ? ", NULLs" : "",
           ratio[TURNS / 2] * 100, mine[TURNS / 2] * each, other[TURNS / 2] * each);
    free(x.group);
    state_free(x.state);
    columns_close(&x.w);
}

int main(void)
{
    measure(false);
    measure(true);
    return 0;
}
