/* Batches for tests of expressions: a view of columns i INT, l BIGINT, d DOUBLE, s STRING, b
 * BOOLEAN, n DECIMAL(10, 2), t TIMESTAMP(3), o TIMESTAMP(9), with NULLs, of a seed. */
#ifndef TEST_UNIT_EXPR_BATCH_H
#define TEST_UNIT_EXPR_BATCH_H

#include "engine/base/arena.h"
#include "engine/data/pool.h"
#include "engine/data/schema.h"
#include "engine/expr/program.h"

enum { BATCH_I, BATCH_L, BATCH_D, BATCH_S, BATCH_B, BATCH_N, BATCH_T, BATCH_O, BATCH_COLS };

struct batch {
    struct sr_home *home;
    struct arena *arena;
    struct sr_field field[BATCH_COLS];
    struct sr_schema schema;
    struct sr_view *view;
};

void batch_open(struct batch *b, uint32_t rows, uint64_t seed, bool with_nulls);
void batch_close(struct batch *b);
uint64_t batch_random(uint64_t *state);
/* A column of the batch by its letter, and calls with one to three arguments. */
const struct expr *batch_col(struct batch *b, char letter);
const struct expr *batch_num(struct batch *b, const char *text);
const struct expr *batch_str(struct batch *b, const char *text);
const struct expr *batch_call(struct batch *b, const char *name, const struct expr *x,
                              const struct expr *y, const struct expr *z);
const struct expr *batch_cast(struct batch *b, const struct expr *e, const char *type);
/* The value of row r as text; "NULL" for one. Good until the next call with the same buffer. */
const char *batch_value(const struct sr_column *c, uint32_t r, char *buffer, size_t room);

#endif
