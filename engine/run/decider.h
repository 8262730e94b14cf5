/* The one instance whose target's transaction decides about checkpoints (streamrun/decider.h): its
 * life, and what its marker says of what the store holds.
 *
 *   decider_open -> decider_recover -> { decider_look } -> { decider_base }
 *                -> { decider_evidence -> decider_decide -> decider_renew | decider_drop }*
 *                -> decider_close
 *
 * Calls are made again until they are not DECIDER_BUSY any more; *until_us says when.
 */
#ifndef SR_RUN_DECIDER_H
#define SR_RUN_DECIDER_H

#include <streamrun/decider.h>

#include "engine/ckpt/manifest.h"
#include "engine/data/host.h"
#include "engine/plan/plan.h"

#define DECIDER_PART "decider" /* uid and name of its part of a checkpoint */

enum decider_did { DECIDER_DONE, DECIDER_BUSY, DECIDER_FAILED };

struct decider {
    const struct plan *plan;
    const struct plan_node *node; /* the first sink that shares it; NULL: the job has none */
    const struct sr_decider_type *type;
    const struct env *env;
    struct sr_decider_sink *sink;
    uint32_t sinks;
    void *instance; /* NULL: closed */
    struct sr_home *home;
    struct sr_host host;
    struct host_ctx ctx;
    struct sr_decider_open open;
    void (*wake)(void *ctx); /* any thread */
    void *wake_ctx;
};

/* Finds out whether the plan has one: d->node. */
sr_rc decider_init(struct decider *d, const struct plan *plan, const struct env *env,
                   struct sr_error *err);
void decider_done(struct decider *d);

sr_rc decider_open(struct decider *d, uint64_t lineage, uint64_t attempt, struct sr_error *err);
void decider_close(struct decider *d); /* a closed one too */

enum decider_did decider_recover(struct decider *d, struct sr_marker *out, int64_t *until_us,
                                 struct sr_error *err);
enum decider_did decider_look(struct decider *d, struct sr_bytes evidence, enum sr_evidence *out,
                              int64_t *until_us, struct sr_error *err);
enum decider_did decider_base(struct decider *d, uint64_t checkpoint, int64_t *until_us,
                              struct sr_error *err);
enum decider_did decider_decide(struct decider *d, uint64_t checkpoint, int64_t *until_us,
                                struct sr_error *err);

void decider_drop(struct decider *d, uint64_t checkpoint); /* nothing, when it is closed */
sr_rc decider_renew(struct decider *d, struct sr_error *err);

/* --- What a checkpoint knows of it ------------------------------------------------------------ */

/* In the part DECIDER_PART: u8 1, u64 the checkpoint that was decided before, blob evidence. */
struct decider_note {
    bool is_there; /* the checkpoint was one that a decider decides about */
    uint64_t previous;
    struct sr_bytes evidence;
};

sr_rc decider_note_save(struct decider *d, uint64_t checkpoint, uint64_t previous,
                        struct sr_out *out, struct sr_error *err);
sr_rc decider_note_load(const struct manifest *m, struct decider_note *out, struct sr_error *err);

/* --- What the marker says --------------------------------------------------------------------- */

enum decider_verdict {
    VERDICT_GO_ON,   /* the newest checkpoint is the one that was decided last */
    VERDICT_BASE,    /* no row of the lineage was ever committed, or the marker is gone while
                        nothing is pending: a base marker is due */
    VERDICT_PROMOTE, /* the pending one is complete */
    VERDICT_DROP,    /* the pending one never was */
    VERDICT_LOOK,    /* the marker is gone: its evidence must tell */
    VERDICT_STOP     /* the target and the store do not belong together */
};

/* Of the newest checkpoint m (NULL: none) and its note, for a run of `lineage`. */
enum decider_verdict decider_judge(const struct sr_marker *marker, uint64_t lineage,
                                   const struct manifest *m, const struct decider_note *note);

#endif
