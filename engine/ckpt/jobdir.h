/* What lies in a job's directory DIR/JOB-ID: its checkpoints, looked at without changing
 * anything. */
#ifndef SR_CKPT_JOBDIR_H
#define SR_CKPT_JOBDIR_H

#include "engine/ckpt/counters.h"
#include "engine/ckpt/store_type.h"

struct jobdir_checkpoint {
    uint64_t number;
    uint64_t lineage, attempt; /* 0 when damaged */
    bool is_damaged;           /* its manifest cannot be read */
    bool is_late;              /* published by an attempt that had been taken over (counters.h) */
    bool is_retired;           /* nothing goes on from it by itself (counters.h) */
};

struct jobdir {
    struct counters counters;
    uint32_t count;
    struct jobdir_checkpoint *checkpoint; /* by number, ascending */
    uint64_t attempt_max;                 /* of .ep-E, of counters and of manifests */
};

/* Reads names and manifests; everything lies in `a`. */
sr_rc jobdir_scan(const struct env *env, const char *dir, struct arena *a, struct jobdir *out,
                  struct sr_error *err);
/* Index of the newest checkpoint to go on from, damaged or not. -1: there is none. */
int64_t jobdir_newest(const struct jobdir *j);

/* "DIR/chk-N", "DIR/ended-N"; NULL: out of memory. */
const char *jobdir_path(struct arena *a, const char *dir, uint64_t number);
const char *jobdir_end_path(struct arena *a, const char *dir, uint64_t number);

/* How the run behind a checkpoint ended. The mark holds the digest of the `_metadata` that it is
 * for, so that one that was left behind by hand says nothing about another checkpoint. */
sr_rc jobdir_read_end(const struct env *env, const char *end_path, struct digest metadata,
                      enum manifest_end *end, struct sr_error *err);
/* By way of `tmp`, as counters_write. */
sr_rc jobdir_write_end(const struct env *env, const char *tmp, const char *end_path,
                       const struct digest *metadata, enum manifest_end end, struct sr_error *err);

#endif
