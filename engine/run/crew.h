/* All tasks of a job, wired by rings, by region: what fails and restarts together (plan_regions).
 *
 *   crew_new -> { crew_open -> (a scheduler steps the region's tasks) -> crew_close }* -> crew_free
 *
 * crew_open does, in this order, for the tasks of one region or of all: they are wired; pools of
 * splits, tasks with sources, operators and sinks are opened; what a checkpoint holds is handed out
 * (restore.h); commits of its notes are done again and leftovers discarded, before any row is
 * written. A region that is opened again is as new; the others do not notice.
 */
#ifndef SR_RUN_CREW_H
#define SR_RUN_CREW_H

#include "engine/run/saver.h"
#include "engine/run/task.h"

#define CREW_ALL UINT32_MAX /* in place of a region's number */

struct crew_region {
    bool is_open;         /* its tasks are, or half so */
    uint32_t tasks;       /* of it */
    uint32_t life;        /* how often it was opened: reports of an earlier one are nobody's */
    struct poison poison; /* a copy of its own: the job's may change while it is read */
    struct letters_ledger ledger; /* only one region has dead letters */
};

/* What the supervisor was told by a task since it was opened. */
struct crew_told {
    bool has_drained, has_ended;
    uint64_t confirmed; /* newest checkpoint that it has committed */
};

struct crew {
    const struct plan *plan;
    const struct env *env;
    uint32_t tasks;
    struct task *task; /* by vertex, then part */
    uint32_t *first;   /* by vertex: its first task */
    struct ring *ring;
    uint32_t rings;
    struct splits **pool; /* by node; NULL but for sources */
    struct reports reports;
    struct saver saver;
    uint32_t sinks;   /* tasks that commit: they end in one, or have dead letters */
    uint32_t sources; /* tasks that begin with one */
    uint32_t regions;
    struct crew_region *region;
    uint32_t *region_of;    /* by vertex */
    struct crew_told *told; /* by task; the supervisor's */
};

struct crew_conf {
    struct sr_sink_open sink_open;  /* job_id, lineage, attempt, checkpoint, redo_dir, is_bounded */
    uint64_t attempt;               /* of the job, as people count: 1 is its first run */
    const struct manifest *restore; /* NULL: begin at the beginning */
    const struct poison *poison;    /* records to be set aside, copied; NULL: none */
    struct crumbs *crumbs;          /* NULL: none */
    uint32_t loaders;               /* threads that load keyed state at once: loaders.h */
    bool may_drop_state;
    bool is_at_least_once; /* gates count barriers, and read on */
    bool goes_on;          /* bounded sources: behind their end, in a later run */
};

/* Makes room for tasks and rings. Nothing is wired or opened. */
sr_rc crew_new(struct crew **out, const struct plan *plan, const struct env *env,
               struct sr_error *err);
/* Opens a region, or CREW_ALL; one that failed to open is to be closed too. */
sr_rc crew_open(struct crew *c, uint32_t region, const struct crew_conf *conf,
                struct sr_error *err);
void crew_close(struct crew *c, uint32_t region); /* no thread may step it any more */
void crew_free(struct crew *c);                   /* closes everything; NULL allowed */

/* Is task i of this region? */
bool crew_is_of(const struct crew *c, uint32_t task, uint32_t region);

/* Orders to all tasks whom they concern. The caller wakes the workers. */
void crew_inject(struct crew *c, uint64_t checkpoint, uint32_t flags);
void crew_show(struct crew *c, uint64_t checkpoint);
void crew_drop(struct crew *c, uint64_t checkpoint);
void crew_finish(struct crew *c);

#endif
