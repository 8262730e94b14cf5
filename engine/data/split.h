/* Cuts a view into one view a receiver. */
#ifndef SR_DATA_SPLIT_H
#define SR_DATA_SPLIT_H

#include <streamrun/error.h>

#include "engine/data/pool.h"

/* By what, and into how many. */
struct split {
    const uint32_t *key; /* columns */
    uint32_t keys;
    uint32_t max_parallelism; /* key groups */
    uint32_t parts;           /* receivers; at most one a key group */
};

/* By key group of the key columns: out[p] holds the rows of receiver p, or NULL when it has none.
 * Takes v. All columns are shared; the watermark array too, so that a row keeps the watermark that
 * was in force when it arrived. */
sr_rc split_by_key(struct sr_home *h, struct sr_view *v, const struct split *s,
                   struct sr_view **out, struct sr_error *err);

#endif
