/* The checkpoint coordinator: a state machine that knows no thread, clock or disk.
 *
 * Events go in; each answers at most one command, which the caller carries out before the next
 * event. At most COORD_PENDING_MAX checkpoints run at once (1 unless max-concurrent says more).
 *
 *   (none) --coord_tick, coord_request--> RUNNING(n) --coord_saved by all--> STORING(n)
 *              command INJECT(n)              |          command STORE(n)        |
 *                                             |                   coord_stored --+--> SHOW(n), gone
 *  coord_tick, coord_declined, coord_abandon --'--> DROP(n), gone                |
 *                                                            coord_stored failed '--> DROP(n), gone
 *
 * Rules that hold at every step:
 *   (1) ids only grow, and are never used twice;
 *   (2) `shown` never goes back, and a checkpoint is shown only after it was stored;
 *   (3) a report for a checkpoint that is not pending is ignored;
 *   (4) checkpoints are shown in ascending order; one that is shown takes older ones with it;
 *   (5) failures beyond `tolerable` answer COORD_FAIL: the job fails. Counted as Flink counts: late
 *       ones and those that could not be stored, consecutive, reset by a shown one (savepoints
 *       too); that of a savepoint never counts;
 *   (6) the pause is counted from the end of the last one that was shown, as Flink counts it;
 *   (7) behind a COORD_STOP or COORD_LAST that is on the way nothing starts: sources hold there;
 *   (8) ids of pending ones are less than COORD_PENDING_MAX apart.
 */
#ifndef SR_CKPT_COORD_H
#define SR_CKPT_COORD_H

#include <stdbool.h>
#include <stdint.h>

#define COORD_PENDING_MAX 8u

enum coord_state { COORD_FREE, COORD_RUNNING, COORD_STORING };
enum coord_do { COORD_NOTHING, COORD_INJECT, COORD_STORE, COORD_SHOW, COORD_DROP, COORD_FAIL };

enum coord_kind {
    COORD_CHECKPOINT,
    COORD_SAVEPOINT,
    COORD_STOP, /* a savepoint at which the job is to stop */
    COORD_LAST  /* at the end or a suspension */
};

struct coord_cmd {
    enum coord_do what;
    uint64_t checkpoint;
    enum coord_kind kind;
};

struct coord_pending {
    enum coord_state state;
    enum coord_kind kind;
    uint64_t checkpoint;
    uint32_t saved; /* tasks that reported */
    int64_t started_us;
};

struct coord_conf {
    uint32_t tasks;      /* that take part: each reports once a checkpoint */
    uint64_t newest;     /* highest id ever used; numbers go on above it */
    int64_t interval_us; /* between starts; 0: only on request */
    int64_t backlog_us;  /* the same while sources work off a backlog; negative: no other one */
    int64_t timeout_us;
    int64_t min_pause_us;    /* from the end of a shown one to the start of the next periodic one */
    uint32_t concurrent_max; /* 1 to COORD_PENDING_MAX */
    int64_t tolerable;       /* consecutive failures that are borne */
};

struct coord {
    struct coord_conf conf;
    struct coord_pending pending[COORD_PENDING_MAX]; /* ascending; FREE ones last */
    uint32_t pendings;
    uint64_t newest;  /* highest id used */
    uint64_t shown;   /* newest that was shown; 0: none */
    int64_t next_us;  /* when the next periodic one is due */
    int64_t failures; /* consecutive */
    bool is_backlog;  /* sources work off one */
    bool is_stopped;  /* no further periodic ones */
};

void coord_init(struct coord *c, const struct coord_conf *conf, int64_t now_us);
/* Time has passed: INJECT a periodic one, DROP one that is too old, FAIL, or NOTHING. Call again
 * until NOTHING. */
struct coord_cmd coord_tick(struct coord *c, int64_t now_us);
/* Someone asks for one now (a savepoint, a last checkpoint): INJECT, or NOTHING while there is no
 * room; the caller asks again. */
struct coord_cmd coord_request(struct coord *c, enum coord_kind kind, int64_t now_us);
/* A task has saved its part: STORE when it was the last one. */
struct coord_cmd coord_saved(struct coord *c, uint64_t checkpoint);
/* A task could not save its part: DROP, or FAIL, or NOTHING if it is gone already. */
struct coord_cmd coord_declined(struct coord *c, uint64_t checkpoint);
/* The store has answered: SHOW, or DROP, or FAIL. */
struct coord_cmd coord_stored(struct coord *c, uint64_t checkpoint, bool is_ok, int64_t now_us);
/* A task of the oldest one that runs is gone: DROP, which counts as no failure; NOTHING: none runs.
 * Call again until NOTHING. */
struct coord_cmd coord_abandon(struct coord *c);
/* Sources have begun to work off a backlog, or have ended: the interval is another one. As in
 * Flink the next periodic checkpoint comes sooner then, but not later. */
void coord_backlog(struct coord *c, bool is_backlog, int64_t now_us);
void coord_stop(struct coord *c); /* no further periodic checkpoints */
/* When tick should be called at the latest; INT64_MAX: nothing is due. */
int64_t coord_due_us(const struct coord *c);

#endif
