/* Inside of the supervisor: what supervise.c, checkpointing.c, request.c and status.c share. Nobody
 * else's.
 *
 *             start_attempt           a task failed, or the store gave up
 *   STARTING ---------------> RUNNING ----------------------------------> PAUSING --delay over--.
 *      ^  '--- could not ------------------------------------------------>   |                  |
 *      |                         |                                  gave up  |                  |
 *      '-------------------------+-------------------------------------------+------------------'
 *                                v                                           v
 *                              ENDED <---------------------------------------'
 *
 * What a RUNNING job is heading for is its goal: RUN on; FINISH (every source is read to its end: a
 * last checkpoint, then END through all tasks); LEAVE (the same, but a later run will go on: sinks
 * show everything, operators keep what they hold, and nothing is sent through); SUSPEND (a last
 * checkpoint, then stop); STOP (a savepoint was shown, then stop).
 */
#ifndef SR_RUN_SUPERVISE_INNER_H
#define SR_RUN_SUPERVISE_INNER_H

#include "engine/ckpt/coord.h"
#include "engine/run/carry.h"
#include "engine/run/poison.h"
#include "engine/run/restart.h"
#include "engine/run/sched.h"

enum phase { PHASE_STARTING, PHASE_RUNNING, PHASE_PAUSING, PHASE_ENDED };
enum goal { GOAL_RUN, GOAL_FINISH, GOAL_LEAVE, GOAL_SUSPEND, GOAL_STOP };

/* A checkpoint that is on the way. */
struct checkpoint_run {
    uint64_t checkpoint;
    int64_t started_wall_us, started_us;
    struct report *saved;        /* a list */
    struct run_request *request; /* the savepoint that it is for; NULL: none */
};

/* Checkpoints that are on the way, and the one that is being shown. */
struct checkpointing {
    struct coord coord;
    uint64_t newest;    /* highest number ever used, over attempts */
    uint64_t published; /* newest in the store, of this process; 0: none */
    struct checkpoint_run run[COORD_PENDING_MAX]; /* ascending: those that are pending in coord */
    uint32_t runs;
    struct run_request *stop; /* of a stop that is on the way, or was shown; NULL: none */
    uint64_t showing;         /* sinks are committing it; 0: none */
    enum coord_kind showing_kind;
    int64_t showing_us;    /* since when */
    uint32_t confirmed;    /* sinks that have */
    int64_t last_retry_us; /* when a last checkpoint may be asked for again */
    bool is_wanted;        /* a sink asked for one soon */
    bool has_lost_last;    /* the last checkpoint failed */
};

struct supervise {
    struct run_conf conf;
    const struct env *env;
    const struct plan *plan;
    struct sched *sched;
    struct sched *own_sched; /* of supervise_run */
    struct parker *parker;
    _Atomic bool ask_suspend, ask_cancel;

    enum phase phase;
    enum goal goal;
    enum run_end end;
    struct sr_error error; /* of the end */
    struct sr_error cause; /* the first one; rc SR_OK: none */
    struct restart restart;
    uint32_t carried;       /* restarts before this process */
    int64_t resume_us;      /* PAUSING: until then */
    struct arena *restored; /* of the manifest that the attempt began with; NULL: conf.restore */
    struct checkpointing ck;
    struct poison poison; /* open if has_poison */
    bool has_poison;
    struct crew *crew;       /* of the attempt; NULL: none */
    uint32_t drained, ended; /* tasks that reported so */
    bool has_run;            /* all tasks ran once */

    struct mutex *lock;           /* what follows is looked at by other threads */
    struct crew *watched;         /* the crew, when its tasks are open; else NULL */
    struct counts *last_counts;   /* by node, as they were when the last crew went */
    struct run_request *requests; /* not begun, oldest first */
    struct run_status shown;      /* its plain fields; nodes are filled in by status.c */
};

/* --- checkpointing.c -------------------------------------------------------------------------- */

void checkpointing_start(struct supervise *s, int64_t now_us);            /* for a new attempt */
void checkpointing_stop(struct supervise *s, const struct sr_error *why); /* the attempt is over */
sr_rc checkpointing_saved(struct supervise *s, struct report *r,
                          struct sr_error *err); /* takes r */
void checkpointing_confirmed(struct supervise *s, const struct report *r);
/* Ticks, begins what was asked for. SR_OK, or the job fails. */
sr_rc checkpointing_step(struct supervise *s, int64_t now_us, struct sr_error *err);
int64_t checkpointing_due(const struct supervise *s);
/* The last checkpoint or the one of a stop was shown, and all sinks have committed. */
bool checkpointing_is_over(const struct supervise *s);

/* --- supervise.c ------------------------------------------------------------------------------ */

void supervise_order(struct supervise *s); /* wakes the workers */

/* --- blame.c ---------------------------------------------------------------------------------- */

enum blame {
    BLAME_NOBODY,    /* the restart strategy decides */
    BLAME_SET_ASIDE, /* a record that the next attempt leaves out: the job goes on */
    BLAME_FINAL      /* a restart would be of no use */
};

/* Before the first attempt: what is known of records that failed the job before. */
sr_rc blame_open(struct supervise *s, struct sr_error *err);
void blame_close(struct supervise *s); /* the job has ended */
/* err: the words for people. */
enum blame blame_failure(struct supervise *s, const struct report *r, struct sr_error *err);

/* --- request.c -------------------------------------------------------------------------------- */

void supervise_answer(struct run_request *r, sr_rc rc, const struct sr_error *why);
/* Nothing that was asked for, and not begun, will be done. */
void supervise_refuse(struct supervise *s, const char *why);

/* --- status.c --------------------------------------------------------------------------------- */

void status_count(struct crew *c, struct counts *by_node); /* adds up over tasks */

#endif
