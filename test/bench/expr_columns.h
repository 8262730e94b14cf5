/* Columns that expressions are timed over: the same ones each time, with NULLs or without. */
#ifndef TEST_BENCH_EXPR_COLUMNS_H
#define TEST_BENCH_EXPR_COLUMNS_H

#include "engine/base/arena.h"
#include "engine/data/pool.h"
#include "engine/expr/program.h"
#include "test/bench/by_hand.h"

#define COLUMNS_BATCHES 64u /* of SR_BATCH_ROWS: the columns of one expression fit the L2 cache */

struct columns_world {
    struct arena *arena;
    struct sr_home *home;
    struct sr_field field[HAND_COLS];
    struct sr_schema schema;
    struct sr_view *view[COLUMNS_BATCHES];
};

/* Ends the process when memory is short. */
void columns_open(struct columns_world *w, bool with_nulls);
void columns_close(struct columns_world *w);
/* SQL text over the columns i, j, ...; ends the process with the words of a fault. */
const struct expr *columns_expr(struct columns_world *w, const char *text);
/* The same, but NULL for text that does not fit. */
const struct expr *columns_try(struct columns_world *w, const char *text);
struct program *columns_program(struct columns_world *w, const struct expr *condition,
                                const struct expr *out);

#endif
