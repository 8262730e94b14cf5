/* A slow interpreter of typed expressions: row by row, over boxes, written from what Flink says
 * and sharing no kernel with the engine. Calls that it does not know it computes by the engine, on
 * one row, and counts.
 */
#ifndef TEST_UNIT_EXPR_SLOW_SLOW_H
#define TEST_UNIT_EXPR_SLOW_SLOW_H

#include "engine/expr/expr.h"
#include "test/unit/expr/slow/box.h"

struct slow_engine; /* programs of the calls that are not known here */

struct slow {
    struct arena *arena;   /* values live here */
    struct sr_home *home;  /* of one-row batches for the engine */
    const struct box *row; /* the columns of the row */
    struct slow_engine *engine;
    uint64_t own, foreign; /* calls computed here, and by the engine */
    bool has_failed;       /* the row cannot be computed */
    bool is_far;           /* a TIMESTAMP lies where 64 bits of us end: it means nothing any more */
};

/* The value; when has_failed is set it means nothing. */
struct box slow_value(struct slow *s, const struct expr *e);
/* Whether a row passes the condition. What stands behind a condition that is not TRUE is not
 * computed. */
bool slow_passes(struct slow *s, const struct expr *e);
void slow_done(struct slow *s); /* frees what the engine needed */

/* --- Families. False: not known here. The arguments are computed, and none of them is NULL, unless
 * said otherwise. --- */

struct slow_call {
    struct slow *s;
    const struct expr *e;
    const char *name;
    const struct box *arg;
    struct box *out; /* not NULL, zeros */
};

bool slow_number(struct slow_call *c);  /* arithmetic */
bool slow_compare(struct slow_call *c); /* = <> < and what is made of it */
bool slow_text(struct slow_call *c);
bool slow_time(struct slow_call *c);
bool slow_cast(struct slow_call *c);
bool slow_nest(struct slow_call *c); /* arguments may be NULL */

/* As = has it, but NULL is the same as NULL; and to the last bit. */
bool slow_is_same(const struct sr_type *t, const struct box *a, const struct box *b);
bool slow_is_identical(const struct sr_type *t, const struct box *a, const struct box *b);
/* Below, at or above zero; not for nested types. */
int slow_order(const struct sr_type *t, const struct box *a, const struct box *b);
void slow_fail(struct slow *s);

/* Years, months and days since 1970-01-01, by counting. */
int64_t slow_days(int64_t year, int64_t month, int64_t day);
void slow_civil(int64_t days, int64_t *year, int64_t *month, int64_t *day);

#endif
