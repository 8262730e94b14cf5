/* What a program keeps while it runs over one view. */
#ifndef SR_EXPR_RUN_H
#define SR_EXPR_RUN_H

#include <streamrun/op.h>

#include "engine/base/zone.h"
#include "engine/data/pool.h"

typedef char run_words[sizeof(((struct sr_bad_row *)0)->words)];

struct run {
    struct sr_home *home;
    struct sr_buffer *empty;         /* bytes of text columns that need none */
    uint32_t rows;                   /* stored in the view */
    sr_rc rc;                        /* of the run as a whole */
    uint32_t failures;               /* rows that cannot be computed */
    uint64_t failed[SR_BATCH_WORDS]; /* their bits; all clear while failures is 0 */
    const char *time_zone;           /* its name */
    const struct zone *zone;         /* of the session; NULL: UTC */
    const struct sr_host *host;      /* clock and random numbers; NULL: none are asked for */
    int64_t now_us;                  /* of this run, once asked for; INT64_MIN before */
    int64_t watermark;               /* in front of the rows; SR_WATERMARK_NONE: none is known */
    const int64_t *row_watermark;    /* by row: in force when it arrived; NULL: as in front */
    run_words *words;                /* by row, made when the first one fails; kept between runs */
};

static inline bool run_has_failed(const struct run *run, uint32_t r)
{
    return (run->failed[r >> 6] >> (r & 63) & 1) != 0;
}

#endif
