/* The conformance kit of stores: what engine/ckpt/store.h promises, whatever the kind of store.
 *
 *   struct store_world *w = store_world_new(STORE_DIR, true, seed);   on a simulated disk
 *   store_kit_promise(w);                                             any of the kits
 *   store_world_free(w);
 *
 * Kits that need faults, crashes or flipped bits make simulated worlds of their own.
 */
#ifndef TEST_KIT_STORE_KIT_H
#define TEST_KIT_STORE_KIT_H

#include "engine/ckpt/store.h"
#include "test/sim/sqlite_vfs.h"

enum store_form { STORE_DIR, STORE_SQLITE, STORE_MEMORY };

#define STORE_KIT_JOB "0123456789abcdef0123456789abcdef"

/* A machine with one store on it. */
struct store_world {
    enum store_form form;
    struct env env;
    struct disk *disk; /* NULL: the real one */
    struct sqlite_vfs *vfs;
    char root[64];  /* a directory of its own */
    char url[128];  /* of the store */
    char file[160]; /* path of what a hand would damage: DIR/JOB-ID or the SQLite file */
    struct store_conf conf;
    uint64_t random;
    uint32_t hits[STORE_POINT_COUNT];
    int32_t crash_point; /* where to lose power; -1: nowhere */
    enum disk_crash crash_kind;
    struct arena *arena;
    struct sr_error err;
};

struct store_world *store_world_new(enum store_form form, bool is_simulated, uint64_t seed);
void store_world_free(struct store_world *w); /* the real directory goes too */

/* A checkpoint whose whole content follows from its number. */
sr_rc store_kit_publish(struct store_world *w, struct store *s, uint64_t number, uint64_t lineage);
sr_rc store_kit_publish_pending(struct store_world *w, struct store *s, uint64_t number,
                                uint64_t lineage);
sr_rc store_kit_savepoint(struct store_world *w, struct store *s, uint64_t number,
                          const char **path);
/* Fails the test unless it is exactly that checkpoint. */
void store_kit_check(const struct manifest *m, uint64_t number, uint64_t lineage);
struct store *store_kit_open(struct store_world *w); /* fails the test when it does not open */
uint64_t store_kit_newest(struct store_world *w, struct store *s); /* loaded and checked; 0: none */

void store_kit_promise(struct store_world *w);  /* published is there, numbers are numbers */
void store_kit_lineages(struct store_world *w); /* newest of the newest, retention of its own */
void store_kit_lock(struct store_world *w);     /* one at a time */
void store_kit_fence(struct store_world *w);    /* an older attempt can do nothing */
void store_kit_end(struct store_world *w);      /* how a run ended */
void store_kit_savepoints(struct store_world *w);
void store_kit_find(struct store_world *w);   /* every form of a path */
void store_kit_misuse(struct store_world *w); /* bad conf, used numbers, bad texts */
void store_kit_large(struct store_world *w);  /* parts that are read alone; not simulated */

void store_kit_pending(struct store_world *w);      /* made complete, or dropped */
void store_kit_pending_crash(enum store_form form); /* at every step of either */

void store_kit_delete(struct store_world *w); /* what is left of older ones is not the newest */
void store_kit_remove(struct store_world *w); /* by a path, with the lock */
void store_kit_claim(struct store_world *w);

void store_kit_crash(enum store_form form);  /* at every step, with every loss: n or n - 1 */
void store_kit_points(enum store_form form); /* every crash point is reached; the same there */
void store_kit_delete_crash(enum store_form form); /* at every step of deletions */
void store_kit_faults(enum store_form form);       /* every call failing once: true answers */
void store_kit_space(enum store_form form);        /* the disk full, and freed again */
void store_kit_damage(enum store_form form);       /* every byte flipped, every length */
void store_kit_tables(void);                       /* for people, in savepoint files */
void store_kit_late(void);                    /* a rename that lands after a takeover (directory) */
void store_kit_looking(enum store_form form); /* changes nothing */

#endif
