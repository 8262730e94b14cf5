/* Everything outside the engine, owned by one seed: clock, randomness, disk, remote service,
 * faults.
 *
 * A process dies when the disk goes off (disk.h): from then on nothing that it does has an effect,
 * the remote service does not hear it either, and the one who steps it notices.
 */
#ifndef TEST_SIM_WORLD_H
#define TEST_SIM_WORLD_H

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "test/sim/disk.h"
#include "test/sim/scene.h"
#include "test/sim/sqlite_vfs.h"
#include "test/sim/target.h"

#define WORLD_POINTS_MAX 64u
#define WORLD_ROTS_MAX   16u
#define WORLD_SPLITS_MAX 64u

/* A named place where processes can die. */
struct world_point {
    const char *name;
    uint64_t reached, died;
};

/* One byte of a stored file that has gone bad. */
struct rot {
    char path[1024];
    uint64_t at;
    uint8_t good, bad;
    uint64_t before, behind; /* hashes of its neighbours: something else may be written there */
    uint64_t page;           /* hash of the page around it, with it */
};

/* Rows of the remote service, as texts, and what it has applied. */
struct remote {
    char **row;
    uint32_t rows, room;
    uint64_t *applied; /* ids of commits */
    uint32_t applieds, applied_room;
};

struct world {
    struct scene scene;
    uint64_t random;
    int64_t now_us;      /* monotonic; the wall clock is beside it */
    int64_t wall_off_us; /* what somebody set it to, less what it should be */
    struct disk *disk;
    struct sqlite_vfs *vfs;
    struct env env;
    struct remote remote;
    uint32_t forgotten[WORLD_SPLITS_MAX]; /* rows of a split that were acknowledged, and are gone */
    struct target target;
    struct rot rot[WORLD_ROTS_MAX];
    uint32_t rots;
    bool is_deciding;   /* the target was asked to decide, and has not answered yet */
    bool is_calm;       /* no fault any more */
    bool seizes;        /* who is born takes the lock away from one that does not move */
    bool is_zombie;     /* who is stepped was replaced: it may not publish */
    bool was_haunted;   /* such a one has left behind what it liked */
    bool is_incurable;  /* a bad byte was written on, with its page, to who knows where */
    uint32_t die_at;    /* crash point to die at; WORLD_POINTS_MAX: none */
    uint32_t die_skip;  /* times to pass it before */
    uint64_t trace;     /* hash of everything that happened */
    bool is_loud;       /* print it too */
    char *last_log[16]; /* the newest lines, for a failure */
    uint32_t logs;
    uint64_t failures; /* injected */
};

extern struct world *world_now; /* the one that runs: connectors have no other way to it */
extern struct world_point world_points[WORLD_POINTS_MAX]; /* over all seeds */
extern uint32_t world_points_known;

void world_open(struct world *w, const struct scene *s);
void world_close(struct world *w);
uint64_t world_random(struct world *w); /* what the simulator decides */
uint32_t world_below(struct world *w, uint32_t n);
bool world_chance(struct world *w, uint32_t ppm); /* never when calm */
bool world_is_dead(const struct world *w);
void world_restart(struct world *w); /* after a crash; nothing of the old process may be open */
void world_die(struct world *w, const char *where);
/* Lets a byte of what is stored go bad; and makes all of them good again, but for one in a page
 * that SQLite has written anew since, which moves rows about: the store is incurable then. */
void world_rot(struct world *w);
bool world_has_rot(const struct world *w);
void world_heal(struct world *w);
void world_set_faults(struct world *w, bool is_calm);
void world_trace(struct world *w, const char *what, uint64_t a, uint64_t b);
/* Prints the seed, the scene and what went wrong; the run goes on with the next seed. */
void world_fail(struct world *w, const char *fmt, ...) SR_PRINTF(2, 3);
extern bool world_has_failed;

#endif
