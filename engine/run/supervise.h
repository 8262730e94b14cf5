/* Runs a plan: starts its tasks, ticks the coordinator, carries out its commands, restarts by the
 * job's strategy, and tells how it went.
 *
 * supervise_run blocks until the job has ended. Other threads and signal handlers talk to it by the
 * calls below; supervise_ask is safe in a signal handler.
 */
#ifndef SR_RUN_SUPERVISE_H
#define SR_RUN_SUPERVISE_H

#include "engine/base/env.h"
#include "engine/ckpt/store.h"
#include "engine/plan/plan.h"

struct supervise;
struct crumbs; /* crumbs.h */
struct carry;  /* carry.h */

enum run_end {
    RUN_FINISHED, /* every source was read to its end */
    RUN_STOPPED,  /* stop with savepoint */
    RUN_CANCELED,
    RUN_SUSPENDED, /* by a signal, with a last checkpoint */
    RUN_UNSAVED,   /* by a signal; the last checkpoint could not be taken */
    RUN_FAILED,
    RUN_CLOSED /* stdout was closed: end quietly */
};

enum run_state { RUN_STARTING, RUN_RUNNING, RUN_RESTARTING, RUN_ENDING, RUN_ENDED };

struct run_conf {
    const struct env *env;
    const struct plan *plan;
    struct store *store;            /* borrowed; open for running */
    const struct manifest *restore; /* NULL: fresh */
    uint64_t lineage;               /* a new one for a fresh run or a forked one */
    bool may_drop_state;            /* state that no operator claims is not a fault */
    uint32_t workers;               /* threads; 0: the cores */
    bool goes_on; /* at the end of bounded input nothing drains: a later run goes on behind it */
    const char *poison_path; /* where records that failed the job are noted; NULL: in memory only */
    struct crumbs *crumbs;   /* shared memory that outlives the process; NULL: none */
    struct carry *carry;     /* the same; NULL: none */
    void (*on_running)(void *ctx); /* once, when all tasks run; may be NULL */
    /* `restore` is the newest checkpoint of `store` and `lineage`: that has it again. */
    bool is_newest;
    /* Once: no attempt looks at keyed state (MANIFEST_STATE) of `restore` again. May be NULL. */
    void (*on_loaded)(void *ctx);
    void *ctx;
};

sr_rc supervise_new(struct supervise **out, const struct run_conf *conf, struct sr_error *err);
void supervise_free(struct supervise *s);
/* Blocks. `err` says the first cause when the answer is RUN_FAILED or RUN_UNSAVED. SR_EMISFIT in
 * err->rc: the state does not fit the job. */
enum run_end supervise_run(struct supervise *s, struct sr_error *err);

/* --- From other threads ----------------------------------------------------------------------- */

enum run_ask { RUN_ASK_SUSPEND, RUN_ASK_CANCEL };
void supervise_ask(struct supervise *s, enum run_ask what); /* async-signal-safe */
/* What the job does behind a savepoint. */
enum run_then { RUN_THEN_GO_ON, RUN_THEN_STOP, RUN_THEN_CANCEL };

/* A savepoint into `dir`; blocks until it is published. With `drain` a job that then ends first
 * sends watermark +infinity. */
sr_rc supervise_savepoint(struct supervise *s, const char *dir, enum run_then then, bool drain,
                          char path[4096], struct sr_error *err);

/* One node: its counters, summed up over subtasks. */
/* What a connector, format or operator counts by itself. */
struct run_own_count {
    const char *name;
    int64_t value; /* since its task was opened */
};

/* Where a reader is in a split. */
struct run_split_status {
    const char *id;
    int64_t position, end; /* as its source counts */
};

/* What the time of subtasks goes into: pressure.h. */
struct run_times {
    int64_t busy_us, idle_us, pressed_us; /* since they began */
    int32_t busy_ms, idle_ms, pressed_ms; /* of a second, the last one or two */
};

struct run_node_status {
    const char *uid, *name;
    enum plan_node_kind kind;
    uint32_t parallelism;
    int64_t in, out, filtered, late, absorbed, skipped, dead; /* rows */
    int64_t bytes_in, bytes_out, bytes_total; /* sources: of known splits; -1: not known */
    int64_t watermark_ms;                     /* SR_WATERMARK_NONE: none */
    bool is_caught_up;      /* sources: the last look of each subtask found nothing to read */
    int64_t waits_since_us; /* wall clock: its target, or that of its dead letters, is waited for;
                               0: it is not */
    char waits_for[256];    /* why */
    uint32_t looked_at;     /* subtasks of its vertex whose times follow; 0: they are not known */
    struct run_times times; /* of all these together */
    int32_t pressed_most;   /* ms of a second under back-pressure, of the subtask that is most */
    uint32_t owns;
    struct run_own_count *own; /* sums over the subtasks, by name */
    uint32_t splits, splits_space;
    struct run_split_status *split; /* of all subtasks, in no order */
};

/* How long the parts of a checkpoint took; of tasks the slowest. */
struct run_phases {
    int64_t alignment_us; /* from the first barrier at a task to the last */
    int64_t sync_us;      /* while a task stood still: state frozen, small parts written */
    int64_t async_us;     /* while frozen state was made bytes, beside the task */
    int64_t store_us;     /* until it was published */
    int64_t show_us;      /* until all sinks had committed; 0: not yet */
};

/* What fails and restarts together. */
struct run_region_status {
    const char *name; /* its vertices: "events -> pages -> table" */
    bool is_down;     /* it failed, and will be started again */
    uint32_t restarts;
    char first_cause[508]; /* "": it never failed */
};

struct run_status {
    enum run_state state;
    int64_t started_us, now_us; /* wall clock */
    uint64_t attempt, lineage;
    uint32_t restarts;
    char first_cause[508];      /* "": none */
    uint64_t checkpoint_newest; /* that was begun */
    uint64_t checkpoint_shown, checkpoints_shown, checkpoints_failed;
    uint64_t checkpoint_pending; /* its target has not decided about it yet; 0: none */
    int64_t pending_since_us;    /* wall clock */
    int64_t checkpoint_last_us;  /* duration of the last one */
    uint64_t checkpoint_last_bytes;
    struct run_phases phases;     /* of that one */
    char checkpoint_failure[508]; /* of the last failed one; "": none */
    uint64_t restored_from;       /* 0: fresh */
    uint32_t nodes;
    const struct run_node_status *node; /* in the arena given */
    uint32_t regions;
    const struct run_region_status *region; /* in the arena given */
    bool is_backlog; /* sources work off one, and checkpoints have another interval meanwhile */
};

/* A consistent enough picture, at any time. */
void supervise_status(struct supervise *s, struct arena *a, struct run_status *out);

#endif
