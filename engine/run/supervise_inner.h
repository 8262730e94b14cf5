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
 * Where a job has several regions (crew.h) and it runs on, a task's failure is its region's alone:
 * that one pauses and starts again, while the job stays RUNNING and the others notice nothing but
 * that the running checkpoint is dropped. None is taken until all regions run again.
 *
 *   region:  up --supervise_lay_down--> down until resume_us --supervise_raise--> up
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
#include "engine/run/decider.h"
#include "engine/run/poison.h"
#include "engine/run/restart.h"
#include "engine/run/sched.h"

enum phase { PHASE_STARTING, PHASE_RUNNING, PHASE_PAUSING, PHASE_ENDED };
enum goal { GOAL_RUN, GOAL_FINISH, GOAL_LEAVE, GOAL_SUSPEND, GOAL_STOP };

/* Failures in a row for a full disk or a locked target, which are waited out for a while without
 * being counted by the restart strategy. */
struct supervise_patience {
    int64_t since_us, delay_us; /* delay 0: none */
    uint64_t shown;             /* checkpoints, when it began: one more ends it */
};

/* What the supervisor knows of a region. */
struct supervise_region {
    struct run_region_status shown; /* looked at by other threads, under the lock */
    bool is_watched;                /* the same: its tasks are open */
    int64_t resume_us;              /* while it is down */
};

/* A checkpoint that is on the way. */
struct checkpoint_run {
    uint64_t checkpoint;
    int64_t started_wall_us, started_us;
    struct report *saved;        /* a list */
    struct run_request *request; /* the savepoint that it is for; NULL: none */
    bool is_hidden;              /* that is written, and gets its name once it is decided */
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
    int64_t looked_us;     /* when it was seen last whether sources work off a backlog */
    int64_t last_retry_us; /* when a last checkpoint may be asked for again */
    bool is_wanted;        /* a sink asked for one soon */
    bool has_lost_last;    /* the last checkpoint failed */
    uint64_t deciding;     /* published as pending: nothing else begins before it is decided; 0 */
    int64_t decide_us;     /* when to ask again */
};

/* From the opening of a decider to where the attempt may begin: deciding.c. */
enum deciding_step {
    DECIDING_CLOSED,
    DECIDING_RECOVER, /* older attempts are ended, the marker is read */
    DECIDING_LOOK,    /* the marker is gone: a row must tell what became of what is pending */
    DECIDING_BASE,    /* a marker is put where none is */
    DECIDING_SETTLED
};

struct deciding {
    struct decider decider; /* decider.node NULL: the job has none, and nothing else is used */
    uint32_t region;        /* of the sinks that share it */
    enum deciding_step step;
    uint64_t dropping, before_dropping; /* a drop that may be done, the one before it; 0: none */
    struct sr_marker marker;
    bool has_restore; /* what the attempt begins with: */
    const struct manifest *restore;
    struct decider_note note; /* of it */
    uint64_t decided;         /* the checkpoint that was decided last, or began the lineage */
    bool is_back;             /* what the caller gave is gone; `back` is what was before it */
    struct arena *back_arena;
    const struct manifest *back;
};

struct supervise {
    struct run_conf conf;
    const struct env *env;
    const struct plan *plan;
    struct sched *sched;
    struct sched *own_sched; /* of supervise_run */
    struct parker *parker;
    _Atomic bool ask_suspend, ask_cancel;
    bool has_let_go; /* of the state in conf.restore */

    enum phase phase;
    enum goal goal;
    enum run_end end;
    struct sr_error error; /* of the end */
    struct sr_error cause; /* the first one; rc SR_OK: none */
    struct restart restart;
    struct supervise_patience patience;
    uint32_t carried;       /* restarts before this process */
    int64_t resume_us;      /* PAUSING: until then */
    struct arena *restored; /* of the manifest that the attempt began with; NULL: conf.restore */
    struct manifest *restored_manifest;
    struct checkpointing ck;
    struct deciding deciding;
    bool is_renewed;                 /* the attempt that is being opened has its number */
    struct arena *names;             /* of regions */
    struct supervise_region *region; /* by number; there are plan_regions */
    uint32_t regions;
    uint32_t down;        /* regions that wait to be started again */
    struct poison poison; /* open if has_poison */
    bool has_poison;
    struct crew *crew;       /* of the attempt; NULL: none */
    uint32_t drained, ended; /* tasks that reported so, of regions that are up */
    bool has_run;            /* all tasks ran once */

    struct mutex *lock;           /* what follows is looked at by other threads */
    struct crew *watched;         /* the crew, when there is one; see is_watched of regions */
    struct counts *last_counts;   /* by node, as they were when its tasks went last */
    struct run_request *requests; /* not begun, oldest first */
    struct run_status shown;      /* its plain fields; nodes are filled in by status.c */
};

/* --- checkpointing.c -------------------------------------------------------------------------- */

void checkpointing_start(struct supervise *s, int64_t now_us);            /* for a new attempt */
void checkpointing_stop(struct supervise *s, const struct sr_error *why); /* the attempt is over */
/* A region is gone, or is there again: running checkpoints are dropped, which count as no failure;
 * or its sinks have committed what was shown. */
void checkpointing_lay_down(struct supervise *s, uint32_t region, const struct sr_error *why);
void checkpointing_raise(struct supervise *s, uint32_t region);
sr_rc checkpointing_saved(struct supervise *s, struct report *r,
                          struct sr_error *err); /* takes r */
void checkpointing_confirmed(struct supervise *s, const struct report *r);
/* Ticks, begins what was asked for. SR_OK, or the job fails. */
sr_rc checkpointing_step(struct supervise *s, int64_t now_us, struct sr_error *err);
int64_t checkpointing_due(const struct supervise *s);
/* The last checkpoint or the one of a stop was shown, and all sinks have committed. */
bool checkpointing_is_over(const struct supervise *s);

/* What is pending and was published is asked about again. SR_OK, or the job fails. */
sr_rc checkpointing_decide(struct supervise *s, int64_t now_us, struct sr_error *err);

/* --- deciding.c ------------------------------------------------------------------------------- */

sr_rc deciding_init(struct supervise *s, struct sr_error *err); /* behind regions_init */
void deciding_free(struct supervise *s);
/* Before a region, or CREW_ALL, is opened: what is pending becomes complete or goes. DECIDER_BUSY:
 * again at *until_us. */
enum decider_did deciding_settle(struct supervise *s, uint32_t region, int64_t *until_us,
                                 struct sr_error *err);
/* When an attempt looks for what it begins with; where nothing was dropped it does nothing. */
sr_rc deciding_fall_back(struct supervise *s, struct sr_error *err);
/* What it then begins with; NULL: at the beginning. */
sr_rc deciding_restore(struct supervise *s, uint32_t region, const struct manifest **out,
                       struct sr_error *err);
/* With the region's tasks, behind them. */
void deciding_close(struct supervise *s, uint32_t region);

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

/* --- regions.c -------------------------------------------------------------------------------- */

sr_rc regions_init(struct supervise *s, struct sr_error *err);
/* From now on status looks at the tasks of a region, or CREW_ALL; or at what they had counted. */
void regions_watch(struct supervise *s, uint32_t region, bool is_watched);
/* Notes the cause of a failure, if it is a region's first. */
void regions_note(struct supervise *s, uint32_t region, const struct sr_error *why);
/* Can the job run on without it for a while? CREW_ALL: no. */
bool regions_may_lay_down(const struct supervise *s, uint32_t region);
void regions_lay_down(struct supervise *s, uint32_t region, const struct sr_error *why,
                      int64_t resume_us);
/* Starts those again that are due. False: one could not be, and the attempt is over. */
bool regions_raise(struct supervise *s, int64_t now_us);
int64_t regions_due(const struct supervise *s); /* INT64_MAX: none is down */

/* --- supervise.c ------------------------------------------------------------------------------ */

void supervise_order(struct supervise *s); /* wakes the workers */
/* What is known of restarts goes to where the next process finds it. */
void supervise_carry(struct supervise *s);
/* The newest checkpoint that this process published or settled, else what the run began with. */
sr_rc supervise_find_restore(struct supervise *s, const struct manifest **out,
                             struct sr_error *err);
/* A checkpoint of this run is there to be gone on from: what it began with is not needed again. */
void supervise_let_go(struct supervise *s);
const struct manifest *supervise_begin_of(const struct supervise *s); /* NULL: nothing */
/* A new number for what comes, so that what an attempt left behind is told from it; once. */
sr_rc supervise_next_attempt(struct supervise *s, struct sr_error *err);
/* Opens the tasks of a region, or of CREW_ALL, from the newest checkpoint, once it is settled. */
sr_rc supervise_open(struct supervise *s, uint32_t region, struct sr_error *err);
/* Decides what becomes of the job, after a failure of a region or, with CREW_ALL, of none. */
void supervise_failed(struct supervise *s, uint32_t region, const struct sr_error *why,
                      enum blame blame);

/* --- request.c -------------------------------------------------------------------------------- */

void supervise_answer(struct run_request *r, sr_rc rc, const struct sr_error *why);
/* Nothing that was asked for, and not begun, will be done. */
void supervise_refuse(struct supervise *s, const char *why);

/* --- status.c --------------------------------------------------------------------------------- */

/* Sums over the tasks of regions that are watched; of the others, as they were last. */
void status_count(struct supervise *s, struct counts *by_node);

#endif
