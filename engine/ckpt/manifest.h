/* What a checkpoint consists of, apart from the bytes of its parts. Plain data; written last.
 *
 * A part is one run of bytes with a digest: what one subtask of one operator saved. What the bytes
 * mean is the business of run; here they have only names. In the data file the parts lie one behind
 * another in the order of the manifest, with nothing between, before or after.
 *
 * Encoded, all numbers little-endian, texts as u32 length and bytes:
 *
 *   "SRCHKPT\n"  u32 version
 *   u8 kind  u8 end  u64 checkpoint lineage attempt parent  i64 started_us ended_us
 *   u32 max_parallelism  texts job_id job_name description made_by
 *   u32 parts     { texts uid name  u32 part parts  u64 len  u64 digest.low digest.high }*
 *   u32 counters  { text name  i64 value }*
 *   u64 length of all before this field  u64 low high: digest of all before these two
 *
 * Head, version and tail keep their places in every version.
 */
#ifndef SR_CKPT_MANIFEST_H
#define SR_CKPT_MANIFEST_H

#include <streamrun/connector.h>

#include "engine/base/arena.h"
#include "engine/base/hash.h"

#define MANIFEST_VERSION         1u
#define MANIFEST_BYTES_MAX       (1u << 28) /* of an encoded manifest */
#define MANIFEST_NAME_MAX        4096u      /* bytes of a uid, a part's, counter's or job's name */
#define MANIFEST_DESCRIPTION_MAX (1u << 24) /* bytes of the job description */
#define MANIFEST_PARTS_MAX       (1u << 20)
#define MANIFEST_COUNTERS_MAX    (1u << 20)
#define MANIFEST_STATE           "state" /* name of parts that are keyed state: most of the bytes */
#define MANIFEST_SUBTASKS_MAX    32768u  /* Flink's bound of parallelism */

enum manifest_kind { MANIFEST_CHECKPOINT, MANIFEST_SAVEPOINT };

/* How the run that wrote it ended, as far as this checkpoint knows. */
enum manifest_end {
    MANIFEST_RUNNING,   /* it went on */
    MANIFEST_SUSPENDED, /* the last one before an exit by a signal */
    MANIFEST_STOPPED,   /* stop with savepoint */
    MANIFEST_CANCELED,  /* cancel: ended by its user, nothing is waiting */
    MANIFEST_FINISHED,  /* every source was read to its end */
    MANIFEST_PENDING    /* a decider (streamrun/decider.h) has not decided about it yet, or nobody
                           knows how: in the encoded manifest of each that one decides about */
};
#define MANIFEST_ENDS (MANIFEST_PENDING + 1u)

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

const char *manifest_end_name(enum manifest_end end); /* "running", "suspended" ... */
bool manifest_is_over(enum manifest_end end);         /* nothing is waiting to be gone on with */
bool manifest_end_of(const char *name, enum manifest_end *end); /* and back; false: no such word */

/* Puts the parts in the manifest's order: by uid, name, part. */
void manifest_order(struct manifest *m);
uint64_t manifest_bytes(const struct manifest *m); /* of all parts together */
/* Frees large bytes of parts with this name, which lie in `a`; they are NULL then. */
void manifest_let_go(struct manifest *m, struct arena *a, const char *name);

/* Whether it can be written: texts within bounds and UTF-8, parts ordered and none twice. Else
 * SR_ELIMIT, with words that name the part. */
sr_rc manifest_check(const struct manifest *m, struct sr_error *err);
/* Bytes of the manifest (parts as listed: names, lengths, digests), closed by a digest of its own;
 * false: out of memory. Only what manifest_check has passed. */
bool manifest_encode(const struct manifest *m, struct sr_out *out);
/* And back. SR_ECORRUPT, with what is wrong, for anything that manifest_encode cannot have written;
 * SR_EMISFIT for an intact one of a newer version. Texts and arrays lie in `a`. */
sr_rc manifest_decode(struct arena *a, const void *bytes, size_t len, struct manifest **out,
                      struct sr_error *err);
/* One JSON object, indented, for people and scripts. NULL: out of memory. */
const char *manifest_json(struct arena *a, const struct manifest *m);

#endif
