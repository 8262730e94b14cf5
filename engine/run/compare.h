/* Two checkpoints, side by side: what state came, went and changed, and how far sources got.
 */
#ifndef SR_RUN_COMPARE_H
#define SR_RUN_COMPARE_H

#include "engine/base/arena.h"
#include "engine/ckpt/manifest.h"

struct compare_amount {
    uint64_t entries, bytes;
};

/* One map of an operator. */
struct compare_state {
    const char *uid, *name;
    const char *before, *after;                    /* columns with types; NULL: it is not there */
    struct compare_amount old, new;                /* all of it */
    struct compare_amount added, removed, changed; /* changed: bytes of the newer entries */
};

/* One split of a source. */
struct compare_split {
    const char *uid, *id;
    bool was_there, is_there, is_moved, is_finished;
    int64_t before, after; /* bytes or records that were read; 0 where it is not there */
};

/* Anything else that was saved: notes of sinks, watermarks of inputs. */
struct compare_part {
    const char *uid, *name;
    uint64_t before, after; /* bytes, over all subtasks */
    bool is_same;
};

struct compare {
    uint32_t states, splits, parts;
    struct compare_state *state;
    struct compare_split *split;
    struct compare_part *part;
};

/* Both are loaded with all bytes. Everything lies in `a`. */
sr_rc compare_checkpoints(struct arena *a, const struct manifest *old, const struct manifest *new,
                          struct compare *out, struct sr_error *err);

#endif
