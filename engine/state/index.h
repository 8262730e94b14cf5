/* From a 32-bit hash to a slot: open addressing, linear probing, no tombstones.
 *
 * Several slots may have one hash; whoever looks up compares keys and walks on. Walking is inline,
 * because it is the inner loop of every keyed operator:
 *
 *   for (uint32_t p = index_home(x, hash); x->entry[p].slot != INDEX_NONE; p = index_next(x, p))
 */
#ifndef SR_STATE_INDEX_H
#define SR_STATE_INDEX_H

#include <streamrun/error.h>

#define INDEX_NONE UINT32_MAX

struct index_entry {
    uint32_t hash;
    uint32_t slot; /* INDEX_NONE: empty */
};

struct index {
    struct index_entry *entry; /* mask + 1 of them, at least one empty */
    uint32_t mask;
    uint32_t count;
};

sr_rc index_init(struct index *x);
void index_done(struct index *x);
/* Makes room for `more` entries; positions change. */
sr_rc index_reserve(struct index *x, uint32_t more);
/* Room must have been reserved. */
void index_add(struct index *x, uint32_t hash, uint32_t slot);
void index_remove(struct index *x, uint32_t hash, uint32_t slot); /* must be there */
void index_replace(struct index *x, uint32_t hash, uint32_t slot, uint32_t by);

static inline uint32_t index_home(const struct index *x, uint32_t hash) { return hash & x->mask; }

static inline uint32_t index_next(const struct index *x, uint32_t position)
{
    return (position + 1) & x->mask;
}

#endif
