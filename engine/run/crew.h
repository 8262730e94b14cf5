/* All tasks of one attempt, wired by rings. Made at every start, freed before the next.
 *
 *   crew_new -> crew_open -> (a scheduler steps the tasks) -> crew_free
 *
 * crew_open does, in this order: pools of splits, tasks with sources, operators and sinks opened;
 * what a checkpoint holds handed out (restore.h); commits of its notes done again and leftovers
 * discarded, before any row is written.
 */
#ifndef SR_RUN_CREW_H
#define SR_RUN_CREW_H

#include "engine/run/saver.h"
#include "engine/run/task.h"

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
    struct letters_ledger ledger;
};

struct crew_conf {
    const struct plan *plan;
    const struct env *env;
    struct sr_sink_open sink_open;  /* job_id, lineage, attempt, checkpoint, redo_dir, is_bounded */
    uint64_t attempt;               /* of the job, as people count: 1 is its first run */
    const struct manifest *restore; /* NULL: begin at the beginning */
    const struct poison *poison;    /* records to be set aside; NULL: none */
    struct crumbs *crumbs;          /* NULL: none */
    bool may_drop_state;
    bool is_at_least_once; /* gates count barriers, and read on */
    bool goes_on;          /* bounded sources: behind their end, in a later run */
};

/* Makes tasks and rings. Nothing is opened. */
sr_rc crew_new(struct crew **out, const struct crew_conf *conf, struct sr_error *err);
sr_rc crew_open(struct crew *c, const struct crew_conf *conf, struct sr_error *err);
void crew_free(struct crew *c); /* closes everything; NULL allowed; no thread may step any more */

/* Orders to all tasks whom they concern. The caller wakes the workers. */
void crew_inject(struct crew *c, uint64_t checkpoint, uint32_t flags);
void crew_show(struct crew *c, uint64_t checkpoint);
void crew_drop(struct crew *c, uint64_t checkpoint);
void crew_finish(struct crew *c);

#endif
