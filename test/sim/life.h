/* One life of the process: from reading the job and opening the store to death or the end.
 */
#ifndef TEST_SIM_LIFE_H
#define TEST_SIM_LIFE_H

#include "test/sim/world.h"

#define LIFE_PATH_MAX 256u
#define LIFE_KEPT_MAX 16u /* of the savepoints */

enum life_end {
    LIFE_GOES_ON,
    LIFE_DIED,      /* a crash */
    LIFE_SUSPENDED, /* with a last checkpoint */
    LIFE_STOPPED,   /* with a savepoint: the next life begins from it */
    LIFE_ROTTEN,    /* refused what is stored as damaged, which it is: rot was injected */
    LIFE_INCURABLE, /* the same, and the rot could not be taken back exactly */
    LIFE_GAVE_UP,   /* ended by an error that a new process may get over */
    LIFE_FINISHED,
    LIFE_BROKEN /* world_fail was called */
};

/* What must outlive a process in the simulator's own memory. */
struct history {
    char savepoint[LIFE_PATH_MAX]; /* of the last stop, to begin from; "": go on from the store */
    char kept[LIFE_KEPT_MAX][LIFE_PATH_MAX]; /* savepoints that nobody may delete */
    uint32_t kepts;
    int64_t late; /* rows, as the last life knew */
    uint32_t deaths, suspensions, stops, restores, rots;
    uint32_t claims, seizures;
};

struct life;

/* Reads the job, opens the store, begins. Never NULL. */
struct life *life_begin(struct world *w, uint32_t parallelism, struct history *h);
/* Steps it for at most `steps`; LIFE_GOES_ON: it would go on. Any other answer is the end. */
enum life_end life_go_on(struct life *l, uint64_t steps);
void life_close(struct life *l); /* takes l */

/* A whole life. */
enum life_end life_live(struct world *w, uint32_t parallelism, struct history *h);

#endif
