/* A view of a state as it was at one moment, being saved while the state goes on.
 *
 *   state_freeze -> frozen_save until it is done -> frozen_free          (backend.h)
 *
 * The maps of a view are shallow copies: their own lists of pages and of heap chunks, the same
 * bytes. Entries are found by passing over all records, so the index need not stand still.
 */
#ifndef SR_STATE_FROZEN_H
#define SR_STATE_FROZEN_H

#include "engine/state/backend.h"
#include "engine/state/map.h"

enum save_phase { SAVE_HEAD, SAVE_MAP, SAVE_COUNT, SAVE_FILL, SAVE_GROUP, SAVE_ENTRIES, SAVE_DONE };

/* How far saving has come. Leaders, one a key: those of group g are leader[start[g]] to
 * leader[start[g + 1] - 1], each hash << 32 | slot. */
struct save {
    enum save_phase phase;
    uint32_t map, group; /* group: from 0 on, the state's first one */
    uint32_t slot;       /* of COUNT and FILL: the next one */
    uint64_t *leader;
    uint32_t *start;
    const uint64_t *next, *end; /* leaders of the group that are still to come */
    uint32_t at;                /* next entry under the same key; SR_SLOT_NONE: the next leader */
    uint32_t entries;           /* of the group, so far */
    size_t group_at;            /* where the group's bytes begin in the output */
    size_t room;                /* that the map's entries take at most */
};

struct frozen {
    struct freezer_view view; /* first: whoever frees that frees all */
    struct state *origin;     /* holds a reference */
    struct sr_state head;     /* as the origin's was */
    uint32_t group_first, groups;
    uint32_t maps;
    struct map map[SR_MAPS_MAX];
    struct save save;
};

/* --- save.c ----------------------------------------------------------------------------------- */

/* Some of it: SAVE_DONE is reached at the end. Under the freezer's lock. */
sr_rc save_step(struct frozen *f, struct sr_out *out);
void save_done(struct save *s);

#endif
