/* Random typed trees of all types and functions give the same answer however the rows are cut into
 * batches and selections, with and without constants folded, and by a slow interpreter.
 *
 * PROPERTY_SEEDS="FROM COUNT" asks for others than the usual ones. */
#include <stdio.h>
#include <string.h>

#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/program.h"
#include "engine/expr/promote.h"
#include "test/unit/expr/slow/grow.h"
#include "test/unit/expr/slow/slow.h"
#include "test/unit/unit.h"

#define SEEDS    2500u
#define ROWS     40u
#define OUTS     2u
#define LITERALS 64u

struct world {
    uint64_t seed;
    struct arena *arena;
    struct sr_home *home;
    struct grow grow;
    const struct expr *condition, *out[OUTS];
    uint32_t rows;
    struct box *box; /* rows by columns */
    struct sr_view *view;
    const char *whole[ROWS]; /* what each row comes to */
    uint64_t own, foreign;
};

/* --- Batches. --------------------------------------------------------------------------------- */

/* Rows [from, from + rows) of the boxes as a view of their own. */
static struct sr_view *world_view(struct world *w, uint32_t from, uint32_t rows)
{
    uint32_t cols = w->grow.schema.fields;
    struct sr_view *v = view_new(w->home, cols);
    ck_assert_ptr_nonnull(v);
    v->rows = v->picked = rows;
    for (uint32_t c = 0; c < cols; c++) {
        v->col[c] = column_new(w->home, &w->grow.schema.field[c].type, SR_BATCH_ROWS);
        for (uint32_t r = 0; r < rows; r++) {
            box_put(w->home, v->col[c], r, &w->box[(size_t)(from + r) * cols + c]);
        }
        ck_assert(column_finish(w->home, v->col[c], rows));
    }
    return v;
}

static void world_open(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed, .arena = arena_new(), .home = home_new(), .rows = ROWS};
    grow_open(&w->grow, w->arena, seed, seed % 16 == 0);
    uint32_t cols = w->grow.schema.fields;
    w->box = arena_array(w->arena, (size_t)ROWS * cols, sizeof(*w->box));
    for (uint32_t i = 0; i < ROWS * cols; i++) {
        const struct sr_type *t = &w->grow.schema.field[i % cols].type;
        w->box[i] = box_random(w->arena, t, w->grow.broken, &w->grow.seed);
    }
    w->view = world_view(w, 0, ROWS);
    w->condition = seed % 3 != 0 ? NULL : grow_condition(&w->grow, 2);
    for (uint32_t i = 0; i < OUTS; i++) {
        w->out[i] = grow_any(&w->grow, i == 0 ? 3 : 2);
    }
}

static void world_close(struct world *w)
{
    view_release(w->view);
    home_close(w->home);
    arena_free(w->arena);
}

/* --- Running. --------------------------------------------------------------------------------- */

static const char *world_words(struct world *w, struct sr_column *const *col, uint32_t r)
{
    const char *s = "";
    for (uint32_t i = 0; i < OUTS; i++) {
        struct box b = box_get(w->arena, col[i], r);
        s = arena_printf(w->arena, "%s | %s", s, box_text(w->arena, &w->out[i]->type, &b));
    }
    return s;
}

static void world_run(struct world *w, struct program *p, const struct sr_view *v, const char **to)
{
    struct sr_error err = {0};
    struct sr_column *col[OUTS];
    struct sr_bad_row bad[SR_BAD_ROWS_MAX];
    for (uint32_t i = 0; i < v->picked; i++) {
        to[sr_row(v, i)] = "dropped";
    }
    for (uint32_t from = 0; from < v->picked;) {
        struct program_result r = {.col = col, .bad = bad};
        ck_assert_msg(program_run(p, w->home, v, from, &r, &err) == SR_OK, "seed %llu: %s",
                      (unsigned long long)w->seed, err.words);
        ck_assert_uint_gt(r.used, 0);
        ck_assert_uint_eq(r.used, r.picked + r.bads + r.filtered);
        for (uint32_t i = 0; i < r.picked; i++) {
            uint32_t row = r.sel ? r.sel[i] : i;
            to[row] = world_words(w, col, row);
        }
        for (uint32_t i = 0; i < r.bads; i++) {
            ck_assert(bad[i].words[0] != '\0');
            to[bad[i].row] = arena_printf(w->arena, "fails: %s", bad[i].words);
        }
        for (uint32_t i = 0; i < OUTS; i++) {
            column_release(col[i]);
        }
        from += r.used;
    }
}

static struct program *world_program(struct world *w, const struct sr_schema *in,
                                     const struct expr *condition, const struct expr *const *out)
{
    struct sr_error err = {0};
    struct program *p = NULL;
    struct program_conf conf = {
        .in = in, .condition = condition, .out = out, .outs = OUTS, .time_zone = "UTC"};
    ck_assert_msg(program_new(&p, &conf, &err) == SR_OK, "seed %llu: %s",
                  (unsigned long long)w->seed, err.words);
    return p;
}

static void world_differ(struct world *w, uint32_t r, const char *how, const char *other)
{
    const struct sr_schema *s = &w->grow.schema;
    printf("seed %llu, row %u\n", (unsigned long long)w->seed, r);
    if (w->condition) {
        printf("  WHERE %s\n", expr_text(w->arena, w->condition, s));
    }
    for (uint32_t i = 0; i < OUTS; i++) {
        printf("  SELECT %s\n", expr_text(w->arena, w->out[i], s));
    }
    for (uint32_t c = 0; c < s->fields; c++) {
        bool used[128] = {false};
        for (uint32_t i = 0; i < OUTS; i++) {
            expr_columns(w->out[i], used);
        }
        if (w->condition) {
            expr_columns(w->condition, used);
        }
        if (used[c]) {
            printf("  %s %s = %s\n", s->field[c].name, type_text(w->arena, &s->field[c].type),
                   box_text(w->arena, &s->field[c].type, &w->box[(size_t)r * s->fields + c]));
        }
    }
    (void)fflush(stdout);
    ck_abort_msg("seed %llu, row %u: whole gives %s, %s gives %s", (unsigned long long)w->seed, r,
                 w->whole[r], how, other);
}

static void world_compare(struct world *w, const char *const *other, const char *how)
{
    for (uint32_t r = 0; r < ROWS; r++) {
        if (other[r] && strcmp(w->whole[r], other[r]) != 0) {
            world_differ(w, r, how, other[r]);
        }
    }
}

/* --- The ways. -------------------------------------------------------------------------------- */

static void check_selection(struct world *w, struct program *p)
{
    const char *other[ROWS] = {NULL};
    struct sr_view *some = view_share(w->home, w->view);
    some->picked = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        if (box_random_number(&w->grow.seed) % 3 == 0) {
            some->sel_space[some->picked++] = (uint16_t)r;
        }
    }
    some->sel = some->sel_space;
    world_run(w, p, some, other);
    world_compare(w, other, "a selection");
    view_release(some);
}

static void check_one_row(struct world *w, struct program *p)
{
    const char *other[ROWS] = {NULL};
    for (uint32_t r = (uint32_t)(w->seed % 4); r < ROWS; r += 4) {
        struct sr_view *one = world_view(w, r, 1);
        world_run(w, p, one, other + r);
        view_release(one);
    }
    world_compare(w, other, "a batch of one row");
}

/* Literals become columns that hold them. */
static void check_unfolded(struct world *w)
{
    const struct expr *literal[LITERALS], *out[OUTS], *condition = NULL;
    uint32_t n = 0, cols = w->grow.schema.fields;
    if (w->condition) {
        condition = grow_unfold(&w->grow, w->condition, literal, &n, LITERALS);
    }
    for (uint32_t i = 0; i < OUTS; i++) {
        out[i] = grow_unfold(&w->grow, w->out[i], literal, &n, LITERALS);
    }
    struct sr_field *field = arena_array(w->arena, cols + n + 1u, sizeof(*field));
    memcpy(field, w->grow.schema.field, cols * sizeof(*field));
    struct sr_view *v = view_new(w->home, cols + n);
    v->rows = v->picked = ROWS;
    for (uint32_t c = 0; c < cols; c++) {
        v->col[c] = column_hold(w->view->col[c]);
    }
    struct slow s = {.arena = w->arena};
    for (uint32_t c = cols; c < cols + n; c++) {
        struct box b = slow_value(&s, literal[c - cols]);
        field[c] = (struct sr_field){.name = "x", .type = literal[c - cols]->type};
        v->col[c] = column_new(w->home, &field[c].type, SR_BATCH_ROWS);
        for (uint32_t r = 0; r < ROWS; r++) {
            box_put(w->home, v->col[c], r, &b);
        }
        ck_assert(column_finish(w->home, v->col[c], ROWS));
    }
    struct sr_schema in = {.fields = cols + n, .field = field, .rowtime = -1};
    const char *other[ROWS] = {NULL};
    struct program *p = world_program(w, &in, condition, out);
    world_run(w, p, v, other);
    world_compare(w, other, "the same with columns for constants");
    program_free(p);
    view_release(v);
}

static void check_slow(struct world *w)
{
    struct slow s = {.arena = w->arena, .home = w->home};
    for (uint32_t r = 0; r < ROWS; r++) {
        s.row = &w->box[(size_t)r * w->grow.schema.fields];
        s.has_failed = s.is_far = false;
        bool passes = !w->condition || slow_passes(&s, w->condition);
        const char *words = "";
        for (uint32_t i = 0; passes && i < OUTS && !s.has_failed; i++) {
            struct box b = slow_value(&s, w->out[i]);
            words = s.has_failed ? ""
                                 : arena_printf(w->arena, "%s | %s", words,
                                                box_text(w->arena, &w->out[i]->type, &b));
        }
        words = s.has_failed ? "fails" : !passes ? "dropped" : words;
        size_t len = s.has_failed ? 5 : strlen(words) + 1; /* a failure of any words */
        if (!s.is_far && strncmp(w->whole[r], words, len) != 0) {
            world_differ(w, r, "the slow interpreter", words);
        }
    }
    w->own += s.own;
    w->foreign += s.foreign;
    slow_done(&s);
}

struct tally {
    uint64_t own, foreign, failed, dropped, rows;
};

static void check_tree(uint64_t seed, struct tally *t)
{
    static struct world w; /* some hundred pointers: not on the stack of a test */
    world_open(&w, seed);
    struct program *p = world_program(&w, &w.grow.schema, w.condition, w.out);
    world_run(&w, p, w.view, w.whole);
    check_selection(&w, p);
    check_one_row(&w, p);
    program_free(p);
    check_unfolded(&w);
    if (!w.grow.broken) { /* what is no UTF-8 means nothing: it only must be the same everywhere */
        check_slow(&w);
    }
    for (uint32_t r = 0; r < ROWS; r++) {
        t->failed += strncmp(w.whole[r], "fails", 5) == 0;
        t->dropped += strcmp(w.whole[r], "dropped") == 0;
    }
    t->rows += ROWS;
    t->own += w.own;
    t->foreign += w.foreign;
    world_close(&w);
}

START_TEST(answers_are_the_same_in_every_way)
{
    unsigned long long from = 1, count = SEEDS;
    const char *asked = getenv("PROPERTY_SEEDS");
    struct tally t = {0};
    if (asked) {
        ck_assert_int_eq(sscanf(asked, "%llu %llu", &from, &count), 2);
    }
    for (uint64_t seed = from; seed < from + count; seed++) {
        check_tree(seed, &t);
    }
    printf("%llu trees from seed %llu: %llu rows, of which %llu dropped and %llu failed; %llu "
           "calls by the slow "
           "interpreter alone, %llu by the engine for it\n",
           count, from, (unsigned long long)t.rows, (unsigned long long)t.dropped,
           (unsigned long long)t.failed, (unsigned long long)t.own, (unsigned long long)t.foreign);
    ck_assert_uint_gt(t.own, t.foreign);
}
END_TEST

UNIT_MAIN("property", answers_are_the_same_in_every_way)
