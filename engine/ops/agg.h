/* Aggregate functions over accumulators that lie in the records of a map.
 *
 * An accumulator is one or two value columns of the map: what is kept (a count, a sum, the least
 * value), and for SUM and AVG how many values went in. Which kernel folds and which gives the
 * result follows from function and argument type once, at open, from a table; a call is one loop
 * over rows.
 *
 * Results are Flink's: COUNT is BIGINT; SUM has its argument's type and wraps (DECIMAL: 38 digits;
 * what does not fit is NULL, and the next value begins anew); AVG has its argument's type, integers
 * are cut towards zero; all but COUNT are NULL when no value went in. DISTINCT is not computed
 * here.
 */
#ifndef SR_OPS_AGG_H
#define SR_OPS_AGG_H

#include <streamrun/state.h>

#include "engine/base/arena.h"
#include "engine/data/pool.h"
#include "engine/expr/func.h"

/* Rows of one call. */
struct agg_rows {
    const uint32_t *slot; /* entry by row; the same one may come several times */
    const uint16_t *row;  /* row number in `arg` */
    const int8_t *sign;   /* 1 adds, -1 takes back, 0 leaves alone; NULL: all add */
    uint32_t count;
    const struct sr_column *arg; /* NULL: COUNT(*) */
};

struct agg_kernel;

struct accumulator {
    const struct agg_kernel *kernel;
    struct sr_type arg; /* SR_NULL: none */
    struct sr_type result;
    uint32_t value, count; /* columns of the map; `count` is 0 when there is none */
};

/* Columns of a map, as they are being declared. */
struct agg_fields {
    struct arena *arena;    /* of the names */
    struct sr_field *field; /* room for two an accumulator */
    uint32_t count;
};

/* Where results go. */
struct agg_places {
    const uint32_t *slot; /* entry by result */
    const uint16_t *at;   /* row of `to`; NULL: the results are its rows from 0 on */
    uint32_t count;
    struct sr_home *home;
    struct sr_column *to; /* its `rows` are the caller's to set */
};

/* Appends the value columns that an accumulator needs: "sum_1", "sum_1_count". `number` counts from
 * 1. SR_ECONFIG for what has no kernel. */
sr_rc agg_declare(struct agg_fields *f, const struct agg *agg, uint32_t number,
                  struct accumulator *out, struct sr_error *err);
/* Can values be taken back? */
bool agg_can_retract(const struct accumulator *c);
/* A record that was just added: counts are 0, the rest is NULL already. */
void agg_clear(const struct accumulator *c, struct sr_map *m, uint32_t slot);
/* The same for entries that were saved without it: sets those of its columns, counted behind keys,
 * that begin at 0. */
void agg_mark_zero(const struct accumulator *c, uint32_t keys, bool *is_zero);
/* Folds what entries of one map hold into entries of another (or the same) that was declared alike.
 * from_slot[i] SR_SLOT_NONE: nothing. An entry of `to` may come several times. */
sr_rc agg_merge(const struct accumulator *c, struct sr_map *to, const uint32_t *to_slot,
                const struct sr_map *from, const uint32_t *from_slot, uint32_t count);
sr_rc agg_fold(const struct accumulator *c, struct sr_map *m, const struct agg_rows *rows);
sr_rc agg_result(const struct accumulator *c, const struct sr_map *m, const struct agg_places *p);

#endif
