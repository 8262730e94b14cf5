/* One record that could not be read, computed or written: where it is from, its bytes, and why.
 *
 * Plain data, borrowed for a call: of it the message of a job that fails is made, or a dead letter
 * (letters.h).
 */
#ifndef SR_RUN_LETTER_H
#define SR_RUN_LETTER_H

#include "engine/data/origin.h"
#include "engine/plan/plan.h"

/* How words begin that say more than what failed: a replay knows by them what `raw` of a row is.
 * Late for its window: as the aggregate takes it. Of a record that failed the job too often: as the
 * source made it, whatever step could not take it; and no other step has seen it. */
#define LETTER_LATE_WORDS   "too late: the watermark had passed the end of its window"
#define LETTER_POISON_WORDS "failed the job too often: "

struct letter {
    const struct plan_node *node; /* whose decode, expression or write it was */
    const char *step;             /* node's, unless told otherwise */
    const struct plan_node *source;
    const char *split; /* NULL: not known where it is from; so is all up to `raw` */
    enum origin_kind kind;
    int64_t offset;     /* in the split: bytes, records or rows, by kind */
    int64_t line;       /* 0: not known */
    const uint8_t *raw; /* NULL: not kept */
    uint32_t raw_len;
    uint32_t mark; /* 1 + byte of raw where the value at fault begins; 0: not known */
    const char *words;
    int words_len;
    /* The row of the step's input, where the record was read already. */
    const struct sr_view *view; /* NULL: none */
    const struct sr_schema *schema;
    uint32_t row;
    int64_t number; /* of the row among all that the step took, from 1; 0: not known */
};

/* Of row `row` of a view that `node` takes; `words` of at most `words_max` bytes. */
struct letter letter_of_row(const struct plan *p, const struct plan_node *node,
                            const struct sr_view *v, uint32_t row, const char *words,
                            size_t words_max);
/* "/data/in.csv:3 (byte 57)", cut to fit. */
void letter_place(const struct letter *l, char *out, size_t size);
/* Fills err: the step, the place, why; on further lines an excerpt of the record, and a caret below
 * the value at fault where it is known. Answers SR_EDATA. */
sr_rc letter_fail(const struct letter *l, struct sr_error *err);

#endif
