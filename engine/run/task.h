/* One subtask of a vertex: a gate or a source, the chain, an outlet or a sink. Stepped, never
 * waits.
 *
 *        orders (atomics)                                     reports (a queue)
 *            |                                                      ^
 *   rings -> gate  ->                                               |
 *                      chain [op > op] -> outlet -> rings    saved, drained, ended, failed
 *   world -> source ->                 -> sink   -> world
 *
 * One call of task_step does a bounded piece of work: a message, a batch, a barrier. What cannot go
 * on (a full ring, a busy sink) is left standing and taken up by the next call. At a barrier the
 * chain is empty: everything before it is through, nothing behind it has begun.
 *
 *   barrier n:  sink and dead letters prepare -> parts are saved and reported -> barrier goes on
 *
 * The supervisor gives orders by atomics that only grow, so that none is lost or comes twice:
 *
 *   inject    checkpoint << BARRIER_FLAGS | flags: sources send these barriers, in order. Each has
 *             the place of its number modulo TASK_INJECTS: less than that many are on the way
 *   shown     sinks commit up to it, sources acknowledge; the task then reports `confirmed`
 *   dropped   it will not be: gates flow again, held sources read on
 *   finish    a source sends the end
 *
 * A task belongs to one thread from its first step on; open, load, save of an idle one and close
 * are the supervisor's, while no thread steps it.
 */
#ifndef SR_RUN_TASK_H
#define SR_RUN_TASK_H

#include "engine/ckpt/manifest.h"
#include "engine/run/chain.h"
#include "engine/run/crumbs.h"
#include "engine/run/gate.h"
#include "engine/run/letters.h"
#include "engine/run/outlet.h"
#include "engine/run/pressure.h"
#include "engine/run/report.h"
#include "engine/run/sink_task.h"
#include "engine/run/source_task.h"

#define TASK_WAITS_MAX 4u

enum task_did {
    TASK_DID,     /* something: call again */
    TASK_NOTHING, /* see waits; or a ring, or an order, will wake it */
    TASK_ENDED,
    TASK_FAILED /* was reported */
};

struct task_waits {
    uint32_t count;
    struct sr_wait wait[TASK_WAITS_MAX];
};

#define TASK_INJECTS 8u

struct task_orders {
    _Atomic uint64_t inject[TASK_INJECTS], injected; /* acquire and release; the newest number */
    _Atomic uint64_t shown, dropped;
    _Atomic bool finish;
};

struct task {
    const struct plan *plan;
    const struct plan_vertex *vertex;
    uint32_t index, vertex_index; /* among all tasks, among the plan's vertices */
    uint32_t part, parts;
    uint32_t life; /* of its region */
    const struct env *env;
    struct sr_home *home;
    struct task_orders orders;
    struct reports *reports;
    struct waker *waker; /* of its worker; NULL: stepped by someone who looks at all */

    bool has_source, has_sink;
    struct source source;
    struct gate gate; /* unless has_source */
    struct chain chain;
    struct sink sink;
    struct letters letters; /* open if has_letters */
    struct crumb *crumb;    /* NULL: none */
    bool has_letters;       /* some of its rows may be set aside */
    struct outlet outlet;   /* unless has_sink */

    struct msg barrier;       /* being carried out; MSG_NONE: none */
    bool barrier_is_prepared; /* by the sink; dead letters come next */
    bool barrier_is_saved;    /* only its way on is left */
    int64_t aligning_us;      /* since when the gate aligns; 0: it does not */
    int64_t align_us;         /* how long it did for the newest barrier */
    bool is_held;             /* the source reads nothing until shown or dropped */
    uint64_t stopped_at; /* barrier behind which nothing follows, unless it is dropped; 0: none */
    uint64_t injected;   /* newest barrier that the source sent */
    uint64_t shown, dropped, confirmed; /* newest that were carried out */
    bool has_asked;                     /* for a checkpoint soon, since the last barrier */
    bool goes_on;                       /* behind the end, in a later run: nothing drains there */
    bool is_draining;                   /* watermark +infinity was sent */
    bool has_told_drained, has_told_ended;
    bool is_ended, is_failed;
    bool is_pressed;          /* its last step could not hand on what it has */
    struct pressure pressure; /* kept by its worker */
};

/* --- The supervisor's: task_save.c has save and load ------------------------------------------ */

struct task_conf {
    const struct plan *plan;
    const struct plan_vertex *vertex;
    const struct env *env;
    struct splits *pool; /* of the source in front; NULL: none */
    struct reports *reports;
    const struct sr_sink_open *sink_open; /* what sinks are to know of the job */
    uint32_t index, part, life;
    struct letters_ledger *ledger;
    const struct poison *poison;          /* NULL: none */
    struct crumb *crumb;                  /* NULL: it leaves none */
    uint64_t attempt;                     /* as people count */
    uint32_t letters_part, letters_parts; /* among tasks that have dead letters */
};

sr_rc task_open(struct task *t, const struct task_conf *conf, struct sr_error *err);
void task_close(struct task *t); /* half-open ones too */

/* Everything that this task has to save for `checkpoint`, as a report, keyed state frozen: only
 * while the chain is empty. The report says so itself when memory is too short for that. NULL: the
 * task has failed, see err. */
struct report *task_save(struct task *t, uint64_t checkpoint, struct sr_error *err);
/* Takes out of a checkpoint what is this task's: keyed state and watermarks. Splits and notes are
 * handed out over all subtasks: restore.h. */
sr_rc task_load(struct task *t, const struct manifest *m, struct sr_error *err);

/* The plan's nodes that run in this task, and their counters; room for vertex->nodes. */
struct task_node {
    uint32_t node;
    struct counters *count;
    const struct host_ctx *host; /* of its connector or operator, with counters of its own */
};
/* Does it have something to commit? */
static inline bool task_commits(const struct task *t) { return t->has_sink || t->has_letters; }
uint32_t task_nodes(struct task *t, struct task_node *out);

/* --- The worker's ----------------------------------------------------------------------------- */

enum task_did task_step(struct task *t, int64_t now_us, struct task_waits *waits);

/* --- Orders, by any thread; the caller wakes the worker afterwards ---------------------------- */

void task_inject(struct task *t, uint64_t checkpoint, uint32_t flags);
void task_show(struct task *t, uint64_t checkpoint);
void task_drop(struct task *t, uint64_t checkpoint);
void task_finish(struct task *t);

#endif
