/* What a checkpoint consists of, apart from the bytes of its parts. Plain data; written last.
 *
 * A part is one run of bytes with a digest: what one subtask of one operator saved. What the bytes
 * mean is the business of run; here they have only names.
 */
#ifndef SR_CKPT_MANIFEST_H
#define SR_CKPT_MANIFEST_H

#include <streamrun/connector.h>

#include "engine/base/arena.h"
#include "engine/base/hash.h"

#define MANIFEST_VERSION 1u

enum manifest_kind { MANIFEST_CHECKPOINT, MANIFEST_SAVEPOINT };

/* How the run that wrote it ended, as far as this checkpoint knows. */
enum manifest_end {
    MANIFEST_RUNNING,   /* it went on */
    MANIFEST_SUSPENDED, /* the last one before an exit by a signal */
    MANIFEST_STOPPED,   /* stop with savepoint */
    MANIFEST_CANCELED,  /* cancel: ended by its user, nothing is waiting */
    MANIFEST_FINISHED   /* every source was read to its end */
};

struct manifest_part {
    const char *uid;      /* of the operator */
    const char *name;     /* "state", "splits", "notes", "gate" ... */
    uint32_t part, parts; /* subtask that saved it, of how many */
    const uint8_t *bytes; /* NULL when only listed */
    uint64_t len;
    struct digest digest;
};

struct manifest_counter {
    const char *name; /* "table.written" */
    int64_t value;
};

struct manifest {
    uint32_t version;
    enum manifest_kind kind;
    enum manifest_end end;
    uint64_t checkpoint;
    uint64_t lineage, attempt;
    uint64_t parent;              /* checkpoint that this run was restored from; 0: none */
    int64_t started_us, ended_us; /* wall clock */
    const char *job_id, *job_name;
    const char *description; /* the job: struct job.description */
    const char *made_by;     /* "streamrun 0.1.0" */
    uint32_t max_parallelism;
    uint32_t parts;
    struct manifest_part *part; /* ordered by uid, name, part */
    uint32_t counters;
    struct manifest_counter *counter;
};

/* Bytes of the manifest (parts as listed: names, lengths, digests), closed by a digest of its own;
 * and back: SR_ECORRUPT, with what is wrong, for anything that is not exactly that. */
bool manifest_encode(const struct manifest *m, struct sr_out *out);
sr_rc manifest_decode(struct arena *a, const void *bytes, size_t len, struct manifest **out,
                      struct sr_error *err);
const char *manifest_json(struct arena *a, const struct manifest *m); /* for people and scripts */

#endif
