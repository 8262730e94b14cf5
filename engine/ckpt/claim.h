/* What a job has claimed: the checkpoint or savepoint that it was restored from, which is its own
 * from then on (Flink's claim mode CLAIM).
 *
 *   store_claim --> claimed --store_retain, once `retained` newer ones are shown--> deleted,
 *                           --store_delete of the lineage-------------------------> forgotten
 *
 * Kept in a small file beside the store, so that a later run deletes what an earlier one claimed:
 *
 *   streamrun claim 1
 *   lineage 17               whose checkpoints take its place
 *   owner job                or user: then nothing is deleted, and the file says only what to go on
 *                            from as long as the lineage has no checkpoint of its own
 *   path /there/chk-5        as store_find names it
 *   digest 0123...           of all lines before; a damaged claim is none: nothing is deleted by it
 */
#ifndef SR_CKPT_CLAIM_H
#define SR_CKPT_CLAIM_H

#include "engine/ckpt/store_type.h"

struct claim {
    uint64_t lineage;
    bool is_owned; /* else it is only what the lineage began with, and is left alone */
    const char *path;
};

/* When a store was opened: what is claimed or begun with; nothing is in most. */
sr_rc claim_load(struct store *s, struct sr_error *err);
/* Takes the place of an older claim, which is then nobody's. */
sr_rc claim_save(struct store *s, const char *entry_path, uint64_t lineage, bool is_owned,
                 struct sr_error *err);
sr_rc claim_forget(struct store *s, struct sr_error *err);
/* Deletes what is claimed, and forgets it. What is gone already is fine; what is held by a running
 * job stays claimed (SR_EBUSY). */
sr_rc claim_release(struct store *s, struct sr_error *err);

#endif
