/* Selections of a run: the rows that a step computes, as row numbers, as bits, or both.
 *
 * Conditions that run over all rows give bits, and those of AND meet as words; what picks rows one
 * by one needs row numbers, which are made of the bits when they are asked for. */
#ifndef SR_EXPR_SLOT_H
#define SR_EXPR_SLOT_H

#include <streamrun/batch.h>

#include "engine/expr/kernel.h"

struct slot {
    uint32_t parent; /* 0 for slot 0 */
    /* of the current run */
    uint32_t n;          /* rows in it */
    bool has_rows;       /* `sel` is made */
    bool has_bits;       /* `bits` are made */
    const uint16_t *sel; /* NULL: all stored rows */
    uint16_t space[SR_BATCH_ROWS];
    uint64_t bits[SR_BATCH_WORDS]; /* those behind the last row are clear */
};

enum pick_by { PICK_TRUE, PICK_NOT_FALSE, PICK_NOT_TRUE, PICK_VALID };

/* A cheap kernel runs over all stored rows unless fewer than one in this many are asked for: a
 * vectorised loop does about that many rows while one by selection does one. */
#define SLOT_DENSE_FACTOR 4u

static inline bool slot_is_dense(const struct slot *s, uint32_t rows)
{
    return s->n >= rows / SLOT_DENSE_FACTOR;
}

/* Live rows [from, picked) of v; good as long as v. */
void slot_base(struct slot *s, const struct sr_view *v, uint32_t from);
/* Row numbers of the slot, of so many stored rows; answers s. */
const struct slot *slot_open(struct slot *s, uint32_t rows);
/* Row number of the i-th row of an open slot. */
static inline uint32_t slot_row(const struct slot *s, uint32_t i) { return s->sel ? s->sel[i] : i; }

/* Rows of `from` for which a BOOLEAN column (or its validity) is as `by` says go to `to`, the
 * others to `rest`, which may be NULL. */
void slot_pick(struct slot *from, const struct sr_column *c, enum pick_by by, struct slot *to,
               struct slot *rest, uint32_t rows);
/* Rows of `from` whose bit is set; so many stored rows. */
void slot_meet(struct slot *from, const uint64_t *bits, struct slot *to, uint32_t rows);
/* Row numbers that were written to to->space; those that are not valid are dropped. */
void slot_take(struct slot *to, uint32_t n, const uint64_t *valid, uint32_t rows);

#endif
