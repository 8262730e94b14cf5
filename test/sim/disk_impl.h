/* The insides of the simulated disk: nodes, names, what is pending. For disk*.c and
 * sqlite_vfs.c. */
#ifndef TEST_SIM_DISK_IMPL_H
#define TEST_SIM_DISK_IMPL_H

#include "test/sim/disk.h"

struct disk_content {
    uint8_t *bytes;
    size_t size, capacity;
};

struct disk_name {
    char *name;
    struct disk_node *node;
};

/* Names of a directory in byte order. */
struct disk_names {
    struct disk_name *name;
    uint32_t count, capacity;
};

/* A file or directory. `refs` counts names (of both views), pending changes and open files. */
struct disk_node {
    uint32_t number, refs;
    enum sr_file_kind kind;
    int64_t modified_us;
    struct disk_content now, kept; /* regular: what is seen, what was synced */
    uint8_t *dirty;                /* regular: a byte a sector of `now`: written since the sync */
    size_t dirties;                /* sectors that `dirty` has room for */
    bool is_resized;               /* regular: size differs, or may, from that of the sync */
    struct disk_names names, names_kept;        /* directory */
    const void *lock;                           /* who holds the OFD lock */
    uint32_t shared;                            /* SQLite: holders of SHARED and above */
    const void *reserved, *pending, *exclusive; /* SQLite: holders */
};

/* A change of names that is not durable yet: `name` in `dir` becomes `node` (NULL: nothing), and
 * for a rename `from_name` in `from_dir` goes with it. */
struct disk_change {
    struct disk_node *dir, *node, *from_dir;
    char *name, *from_name;
    bool is_lost; /* drawn when power is lost */
};

struct disk {
    struct sr_files files;
    struct disk_node *root;
    struct disk_change *change;
    uint32_t changes, changes_capacity;
    uint32_t next_number, generation;
    uint64_t random, luck; /* two streams: survivors and SQLite's bytes; chances of faults */
    uint64_t steps, used, capacity;
    int64_t now_us;
    bool is_off, will_crash, will_fail;
    enum disk_crash kind;
    uint64_t crash_at; /* step */
    enum disk_fault fault;
    uint64_t fault_in; /* calls that the fault can strike */
    struct disk_chances chances;
};

struct sr_file {
    struct disk *disk;
    struct disk_node *node;
    uint32_t flags, generation;
    char path[DISK_PATH_MAX];
};

uint64_t disk_random(uint64_t *stream);
void *disk_alloc(void *old, size_t size); /* realloc that aborts */

/* --- Nodes ------------------------------------------------------------------------------------ */

struct disk_node *disk_node_new(struct disk *d, enum sr_file_kind kind);
void disk_node_hold(struct disk_node *n);
void disk_node_drop(struct disk *d, struct disk_node *n); /* frees it with the last reference */
void disk_node_resize(struct disk *d, struct disk_node *n, size_t size); /* new bytes are zeros */
void disk_node_write(struct disk *d, struct disk_node *n, const void *bytes, size_t len, size_t at);
void disk_node_sync(struct disk_node *n); /* now is kept */
/* Part of what is dirty becomes kept by coins; the rest is lost, seen until the next restart. */
void disk_node_sync_some(struct disk *d, struct disk_node *n, enum disk_mercy mercy);
void disk_node_revert(struct disk *d, struct disk_node *n); /* kept is now */
bool disk_node_is_dirty(const struct disk_node *n);

/* --- Names ------------------------------------------------------------------------------------ */

struct disk_node *disk_names_get(const struct disk_names *l, const char *name); /* or NULL */
/* node NULL removes. References are moved. */
void disk_names_set(struct disk *d, struct disk_names *l, const char *name, struct disk_node *node);
void disk_names_clear(struct disk *d, struct disk_names *l);
void disk_names_copy(struct disk *d, struct disk_names *to, const struct disk_names *from);

/* The node of a path in the view of the process; NULL: none. */
struct disk_node *disk_find(const struct disk *d, const char *path);
/* The directory of a path and its last name, which points into `path`; NULL: none. */
struct disk_node *disk_find_dir(const struct disk *d, const char *path, const char **name);

/* Changes names now, and remembers that it is not durable. from_dir NULL: no rename. */
void disk_change_now(struct disk *d, const struct disk_change *c);
/* Makes durable what is pending in a directory. */
void disk_change_sync(struct disk *d, struct disk_node *dir);
void disk_change_settle(struct disk *d, enum disk_mercy mercy); /* all: some survive, none pends */

/* --- What happens to a call ------------------------------------------------------------------- */

enum disk_call { DISK_CALL_READ, DISK_CALL_CHANGE, DISK_CALL_GROW, DISK_CALL_SYNC };

/* Before a call takes effect: counts it, dies if it is time, answers a fault if one strikes. */
sr_rc disk_enter(struct disk *d, enum disk_call call, const char *operation, const char *path,
                 struct sr_error *err);
bool disk_is_alive(const struct sr_file *f); /* opened since the last restart, and ON */
sr_rc disk_fail(struct sr_error *err, sr_rc rc, const char *operation, const char *path);

#endif
