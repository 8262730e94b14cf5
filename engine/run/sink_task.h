/* The tail of a task that ends in a sink: writes views, prepares at barriers, commits when shown.
 *
 *   sink_put -> { sink_write }* DONE      a view, perhaps in pieces while the target is busy
 *   sink_flush                            no row is waiting: hand on what is buffered
 *   sink_prepare(n) -> sink_save          at barrier n; the notes of n join those not committed yet
 *   sink_commit(n)                        checkpoint n was shown: all notes up to n, in order
 *
 * A sink that learns late whether its target takes a row (refuses_late) has the views
 * of such rows kept here, kept.h, so that one can still become a dead letter.
 *
 * A target that is locked or gone, and a full disk, are waited out (sr_sink_type.can_retry), with
 * growing delays, as long as the job's sink.retry.timeout says.
 *
 * The list of all notes that are not committed is part of every checkpoint, so a later one carries
 * what a dropped one prepared. Notes that a call of prepare adds count only if it answers SR_OK; a
 * sink that was busy adds them again. SR_NOTE_STATE notes live until the next prepare.
 */
#ifndef SR_RUN_SINK_TASK_H
#define SR_RUN_SINK_TASK_H

#include "engine/base/bytes.h"
#include "engine/base/thread.h"
#include "engine/data/host.h"
#include "engine/run/metrics.h"

struct letters; /* letters.h */
struct kept;    /* kept.h */

struct sink_note {
    uint64_t checkpoint; /* that it was prepared for */
    enum sr_note_kind kind;
    uint32_t len;
    uint8_t *bytes; /* owned */
};

struct sink_notes {
    uint32_t count, capacity;
    struct sink_note *item; /* commits in order of checkpoints */
};

sr_rc sink_notes_add(struct sink_notes *l, uint64_t checkpoint, enum sr_note_kind kind,
                     struct sr_bytes note); /* copies */
void sink_notes_done(struct sink_notes *l);
/* Adds the notes of a part of a checkpoint. SR_ECORRUPT, SR_ENOMEM. */
sr_rc sink_notes_load(struct sink_notes *l, const void *bytes, size_t len);

/* A fault of the target that is waited out. The task's own, but for what is under the lock. */
struct sink_patience {
    bool is_on, is_said;        /* said: in the log, that it waits */
    int64_t since_us, retry_us; /* monotonic */
    int64_t delay_us;           /* before the next try */
};

#define SINK_WORDS_MAX 256u

/* What a sink waits for, for people. */
struct sink_waiting {
    struct mutex *lock;
    int64_t since_us; /* wall clock; 0: it does not wait */
    char words[SINK_WORDS_MAX];
};

struct sink {
    const struct plan *plan;
    const struct plan_node *node;
    struct sr_host host;
    struct host_ctx ctx;
    void *instance;
    bool is_open;
    struct sr_sink_open open;
    struct sink_notes notes; /* not committed */
    struct sr_view *view;    /* being written; NULL: none */
    uint32_t from;           /* its live rows before it are done */
    bool is_dirty;           /* rows were written since the last flush */
    struct sink_patience writing, committing;
    struct sink_waiting waiting; /* under its lock */
    struct kept *kept;           /* rows that may be refused later; NULL: none are */
    struct letters *letters;     /* of the task, during a call of the sink; NULL: it has none */
    bool wants_letters;          /* dead letters are to be written before it can go on */
    bool has_failed;             /* a row that was refused late fails the job */
    bool has_said_skipped;
    struct counters count;
    void (*ask)(void *ctx); /* a checkpoint is wanted soon */
    void *ask_ctx;
};

enum sink_did {
    SINK_DONE,
    SINK_BUSY,
    SINK_FULL, /* write, flush, prepare: dead letters are to be written first */
    SINK_FAILED
};

struct sink_conf {
    const struct plan *plan;
    const struct plan_node *node;
    const struct env *env;
    struct sr_home *home;
    const struct sr_sink_open *open; /* what it is to know of the job; the rest is filled in */
};

sr_rc sink_open(struct sink *s, const struct sink_conf *conf, struct sr_error *err);
void sink_close(struct sink *s);

/* What it waits for, and since when of the wall clock; 0: it does not. Any thread, while it is
 * open. */
int64_t sink_waits(const struct sink *s, char words[SINK_WORDS_MAX]);

/* No row that comes is older; between views. */
void sink_watermark(struct sink *s, int64_t watermark);
void sink_put(struct sink *s, struct sr_view *v); /* takes v; only when none is being written */
/* `letters`: of the task, for rows that the target refuses; NULL: it has none. */
enum sink_did sink_write(struct sink *s, struct letters *letters, int64_t now_us,
                         struct sr_wait *wait, struct sr_error *err);
enum sink_did sink_flush(struct sink *s, struct letters *letters, int64_t now_us,
                         struct sr_wait *wait, struct sr_error *err);
struct sink_barrier {
    uint64_t checkpoint;
    bool is_last;
};
enum sink_did sink_prepare(struct sink *s, const struct sink_barrier *b, struct letters *letters,
                           int64_t now_us, struct sr_wait *wait, struct sr_error *err);
bool sink_save(const struct sink *s, struct sr_out *out); /* false: out of memory */
/* SINK_BUSY: some note could not be committed yet; the next call goes on with it. */
enum sink_did sink_commit(struct sink *s, uint64_t checkpoint, int64_t now_us, struct sr_wait *wait,
                          struct sr_error *err);

#endif
