/* A target whose own transaction decides about a checkpoint: exactly once, whatever times out.
 *
 * The sinks of a job that name the same `decider` in their caps share one transaction of their
 * target, and one instance of this type, which the engine makes before them and closes after them.
 * A transaction holds the rows of one checkpoint and, put last, the checkpoint's marker; it is
 * committed as a whole or not at all, so the marker tells what became of the rows.
 *
 *   open -> recover -> { look } -> { base } -> rounds -> close
 *
 *   a round n:    sinks write into the open transaction, each up to its prepare(n)
 *                 evidence(n)                     the checkpoint is published as PENDING
 *                 decide(n): marker, commit       the checkpoint is COMPLETE; others may commit
 *                 renew                           the used instance is replaced beside the work
 *   or else:      drop(n)                         before evidence(n), or when publishing failed
 *
 * From its prepare(n) on a sink of it takes no row (write answers SR_EBUSY) until drop(n), which
 * lets it write on in the same transaction, or the first call of decide(n), from which on rows
 * belong to the next transaction: that of another instance, so that an answer that comes late can
 * never commit rows of a later checkpoint.
 *
 * What fails ends the attempt: everything is closed, opened again, and recover says whether the
 * transaction was committed. No call waits: one that would have to answers SR_EBUSY and is made
 * again at wait->until_us (a descriptor is not looked at), or earlier after `wake`. All calls come
 * from one thread; sinks run in others meanwhile, so what they share is the connector's to guard.
 */
#ifndef STREAMRUN_DECIDER_H
#define STREAMRUN_DECIDER_H

#include <streamrun/connector.h>

struct sr_marker {
    uint64_t lineage; /* of the checkpoints; 0: there is no marker */
    uint64_t checkpoint;
};

/* A sink that shares the decider. */
struct sr_decider_sink {
    const struct sr_sink_type *type;
    const char *uid;
    const void *conf;
    const struct sr_schema *schema;
};

struct sr_decider_open {
    uint32_t size;
    const struct sr_host *host;
    const char *key; /* as the caps of its sinks name it */
    const char *job_id;
    uint64_t lineage, attempt; /* as in sr_sink_open */
    uint32_t sinks;
    const struct sr_decider_sink *sink;
    int64_t interval_us, timeout_us; /* of checkpoints; interval 0: none before the end */
    /* What the last call that answered SR_EBUSY waits for is there. From any thread, until close
     * returns. */
    void (*wake)(const struct sr_decider_open *o);
    void *engine;
};

enum sr_evidence {
    SR_EVIDENCE_SHOWN,   /* the row can be read: its transaction was committed */
    SR_EVIDENCE_ABORTED, /* something later can, the row cannot: it was aborted */
    SR_EVIDENCE_GONE     /* nobody can tell */
};

struct sr_decider_type {
    uint32_t size;
    uint32_t decider_size;
    sr_rc (*open)(void *d, const struct sr_decider_open *o, struct sr_error *err);
    /* Ends what earlier attempts, of any process, have left open, so that nothing of theirs can be
     * committed any more; then reads the marker. Only what was committed counts. */
    sr_rc (*recover)(void *d, struct sr_marker *out, struct sr_wait *wait, struct sr_error *err);
    /* After recover, when the marker is gone: what became of the transaction that this evidence is
     * of? Never called for an empty one. */
    sr_rc (*look)(void *d, struct sr_bytes evidence, enum sr_evidence *out, struct sr_wait *wait,
                  struct sr_error *err);
    /* Commits a marker alone, ahead of the first row of a lineage, or in place of one that is gone:
     * no marker then always means that it was lost. */
    sr_rc (*base)(void *d, const struct sr_marker *m, struct sr_wait *wait, struct sr_error *err);
    /* All sinks have prepared: a note of one row of the open transaction, for `look`. Nothing is
     * added only if the transaction holds no row. */
    sr_rc (*evidence)(void *d, uint64_t checkpoint, struct sr_out *note, struct sr_error *err);
    /* Puts the marker into the transaction and commits it. SR_OK: it is committed. Any other answer
     * than SR_EBUSY: nobody knows yet. */
    sr_rc (*decide)(void *d, const struct sr_marker *m, struct sr_wait *wait, struct sr_error *err);
    /* The checkpoint will not be: the transaction stays open, and its rows go with the next. */
    void (*drop)(void *d, uint64_t checkpoint);
    /* What was decided is COMPLETE, and this run is still the job's: the used instance may be
     * replaced. Begins it, and does not wait for it. */
    sr_rc (*renew)(void *d, struct sr_error *err);
    void (*close)(void *d); /* after every open, one that failed too; may abort what is open */
};

#endif
