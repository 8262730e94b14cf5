/* Values in boxes: one value of any type on its own, for tests that compute slowly and in another
 * way than the engine. They live in an arena. */
#ifndef TEST_UNIT_EXPR_SLOW_BOX_H
#define TEST_UNIT_EXPR_SLOW_BOX_H

#include <streamrun/batch.h>

#include "engine/base/arena.h"

struct box {
    bool is_null;
    int32_t ns;       /* TIMESTAMP, TIMESTAMP_LTZ: within the millisecond */
    int64_t i;        /* BOOLEAN to BIGINT, DATE, TIME, intervals; TIMESTAMP, TIMESTAMP_LTZ: ms */
    double d;         /* FLOAT, DOUBLE */
    __int128 n;       /* DECIMAL, unscaled */
    const char *text; /* CHAR to VARBINARY */
    uint32_t len;
    uint32_t items; /* ARRAY, MULTISET: elements; ROW: fields; MAP: key, value, key, value ... */
    struct box *item;
};

uint64_t box_random_number(uint64_t *seed);
/* A value of the type, often one at an edge, NULL now and then where the type lets it. With
 * `broken`, text may be no UTF-8. */
struct box box_random(struct arena *a, const struct sr_type *t, bool broken, uint64_t *seed);

struct box box_get(struct arena *a, const struct sr_column *c, uint32_t r);
/* Row r of a column, which nothing was put to yet; rows are put in order. */
void box_put(struct sr_home *home, struct sr_column *c, uint32_t r, const struct box *b);
/* A literal of the value, as the engine has it; NULL: of that type there is none. */
const struct expr *box_literal(struct arena *a, const struct sr_type *t, const struct box *b);

/* Tells any two values apart but for NaNs; lives in the arena. */
const char *box_text(struct arena *a, const struct sr_type *t, const struct box *b);

#endif
