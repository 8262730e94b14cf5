/* Where checkpoints lie: a directory in Flink's layout, one SQLite file, or memory.
 *
 * Promise: after store_publish(n) returned SR_OK, store_load_newest answers n, across power loss
 * too; before, never. A checkpoint is whole or absent. Every byte is under a digest and checked
 * before it is believed. Calls may block; one thread at a time.
 *
 * Numbers only grow, over attempts and lineages: a new lineage begins above all older ones, so that
 * the highest number is the newest checkpoint of the newest lineage. Lineages are just names.
 *
 *   store_open -> { store_publish | store_savepoint | store_retain | store_mark_end | store_delete
 *                   | store_claim | store_next_attempt | store_load_newest }* -> store_close
 *
 *   store_publish  SR_OK ------> it is there, and will be
 *                  SR_EUNKNOWN > nobody can tell whether it is there: the process must stop and let
 *                                recovery look
 *                  SR_EFENCED -> another process has taken over: the process must stop; its own
 *                                publication may or may not be there, and was not counted on
 *                  others -----> it is not there, and never will be; the next number may be tried
 *
 * After SR_EUNKNOWN and SR_EFENCED every further call is refused with the same code. A store that
 * is opened for running holds the job's lock (SR_EBUSY names the holder) and takes a new attempt
 * number, which fences all older ones: a publication, deletion or mark by an older attempt is
 * refused with SR_EFENCED.
 *
 * One whose `end` is MANIFEST_PENDING is as durable as any, but whether it counts is decided by the
 * target of a sink (streamrun/decider.h); nothing else is published before that is known.
 *
 *   store_publish --> PENDING --store_complete--> COMPLETE: like any other one
 *                        '------store_drop------> gone; the one before it is the newest again
 *
 * Directory:  DIR/JOB-ID/chk-N/{_metadata,state}   published checkpoints, immutable
 *             DIR/JOB-ID/ended-N                   how the run behind chk-N ended (store_mark_end);
 *                                                  that a pending one is complete
 *             DIR/JOB-ID/shared/                   for parts of several checkpoints; empty so far
 *             DIR/JOB-ID/redo/                     store_redo_dir
 *             DIR/JOB-ID/LOCK, counters, .ep-E/, trash/     store_dir.c says what they are for
 * SQLite:     FILE, FILE.lock, FILE.redo/          tables: chkdb.h
 * Savepoint:  DIR/savepoint-<6 of job id>-<12>/{_metadata,state}, or one SQLite file ... .db
 */
#ifndef SR_CKPT_STORE_H
#define SR_CKPT_STORE_H

#include "engine/base/env.h"
#include "engine/ckpt/lock.h"
#include "engine/ckpt/manifest.h"

struct store;

/* Where a simulated crash may strike, between any two steps that change what lies on disk. */
#define STORE_POINT_LIST(X)                                \
    X(STORE_LOCKED, "store: locked")                       \
    X(STORE_SEALED, "store: older attempts sealed")        \
    X(STORE_ATTEMPT, "store: attempt taken")               \
    X(STORE_BUILD_MADE, "store: build directory made")     \
    X(STORE_DATA_WRITTEN, "store: data written")           \
    X(STORE_DATA_SYNCED, "store: data synced")             \
    X(STORE_METADATA_SYNCED, "store: metadata synced")     \
    X(STORE_BUILD_SYNCED, "store: build directory synced") \
    X(STORE_RENAMED, "store: renamed")                     \
    X(STORE_PUBLISHED, "store: published")                 \
    X(STORE_BEGUN, "store: transaction begun")             \
    X(STORE_ROWS, "store: rows inserted")                  \
    X(STORE_COMMITTED, "store: transaction committed")     \
    X(STORE_TRASHED, "store: moved to trash")              \
    X(STORE_TRASH_SYNCED, "store: trash synced")           \
    X(STORE_RETAINED, "store: trash removed")              \
    X(STORE_MARKED, "store: end marked")                   \
    X(STORE_COMPLETED, "store: pending made complete")     \
    X(STORE_DROPPED, "store: pending dropped")             \
    X(STORE_SAVEPOINT_BUILT, "store: savepoint built")     \
    X(STORE_SAVEPOINT_RENAMED, "store: savepoint renamed")

enum store_point {
#define STORE_POINT_NAME(name, words) name,
    STORE_POINT_LIST(STORE_POINT_NAME)
#undef STORE_POINT_NAME
        STORE_POINT_COUNT
};

const char *store_point_name(enum store_point p); /* as env->crash_point gets it */

/* Tables for people in a savepoint that is an SQLite file (chktables.h). */
enum store_value_kind { STORE_NULL, STORE_INTEGER, STORE_REAL, STORE_TEXT, STORE_BLOB };

struct store_value {
    enum store_value_kind kind;
    int64_t integer;
    double real;
    struct sr_bytes bytes;
};

struct store_column {
    const char *name;
    const char *type; /* INTEGER, REAL, TEXT, BLOB */
};

struct store_table {
    const char *uid, *name; /* of the operator; of its state */
    const char *signature;  /* the columns, for people */
    uint32_t columns;
    const struct store_column *column;
};

struct store_tables {
    sr_rc (*begin)(struct store_tables *t, const struct store_table *table, struct sr_error *err);
    sr_rc (*row)(struct store_tables *t, const struct store_value *value, struct sr_error *err);
};

/* Says what tables a checkpoint makes: begin, its rows, the next begin ... */
struct store_filler {
    sr_rc (*fill)(void *ctx, const struct manifest *m, struct store_tables *to,
                  struct sr_error *err);
    void *ctx;
};

struct store_conf {
    const char *url;    /* "file:///dir", "sqlite:///file.db", an absolute path (a directory; a file
                           when it ends in .db or .sqlite), "memory:" */
    const char *job_id; /* 32 hex digits */
    const char *job_name;
    uint32_t retained;   /* checkpoints of the own lineage that are kept, at least 1 */
    const char *run_dir; /* where the lock lies for "memory:" */
    const struct store_filler *filler; /* of savepoints in SQLite files; NULL: no tables */
    bool is_flat;       /* a directory is one job's, without JOB-ID/ in it (create-subdir: false) */
    const char *holder; /* of the lock: struct lock_conf */
    /* Whose lock is seized if it has not moved since; NULL: a held lock is SR_EBUSY. */
    const struct lock_sight *seize;
    /* The lock is held, all else is still to come: from now on store_beat may be called, from one
     * other thread, until on_unlock returns, which comes before the store lets go of it. Both or
     * none. */
    void (*on_locked)(void *ctx, struct store *s);
    void (*on_unlock)(void *ctx);
    void *ctx;
};

/* Opens for running: makes what is absent, takes the lock and the next attempt. */
sr_rc store_open(struct store **out, const struct env *env, const struct store_conf *conf,
                 struct sr_error *err);
void store_close(struct store *s); /* NULL allowed */
/* Shows those who wait that the leader lives. SR_EFENCED: another process has taken over. */
sr_rc store_beat(struct store *s, struct sr_error *err);
/* Tells those who wait that the job ended, in one word, or with "" that it begins; until then what
 * the run before told holds. While no beat is going on. */
void store_say_end(struct store *s, const char *word);
/* What the leader before us told so; "": nothing. */
const char *store_end_before(const struct store *s);
uint64_t store_attempt(const struct store *s); /* of this run, > 0 */
/* Highest checkpoint id ever used, savepoints too; 0: none. The next one must be above it. */
uint64_t store_newest_id(const struct store *s);
/* Takes the next attempt without letting go of the lock: for a restart within the process. */
sr_rc store_next_attempt(struct store *s, struct sr_error *err);
bool store_is_durable(const struct store *s); /* outlives the process */
/* Directory for redo files that belong to checkpoints of this store; made when asked; NULL:
 * none. */
const char *store_redo_dir(struct store *s, struct sr_error *err);

/* Publishes in one atomic step. m->part[i].bytes are written, parts put in order, digests filled
 * in, and `attempt`, `version`, `job_id` and `job_name` too. */
sr_rc store_publish(struct store *s, struct manifest *m, struct sr_error *err);
/* After a checkpoint was shown: deletes what is beyond `retained` in the lineage; nothing that a
 * newer one needs. A failure is to be logged, no more. */
sr_rc store_retain(struct store *s, uint64_t lineage, uint64_t shown, struct sr_error *err);
/* What became of a pending one, durably; of one that is complete already, SR_OK. */
sr_rc store_complete(struct store *s, uint64_t number, struct sr_error *err);
/* Deletes a pending one for good; older ones of its lineage stay what they were. SR_EMISFIT: it is
 * complete. */
sr_rc store_drop(struct store *s, uint64_t number, struct sr_error *err);
/* SR_EFENCED: another process has taken over. */
sr_rc store_check_fence(struct store *s, struct sr_error *err);
/* Says beside the newest checkpoint how the run ended (checkpoints list, plain `run`), durably; the
 * checkpoint itself is not touched. SR_EABSENT: there is none. SR_EBUSY: it is pending. */
sr_rc store_mark_end(struct store *s, enum manifest_end end, struct sr_error *err);
/* Deletes for good: checkpoint `number`, or with 0 all of the lineage, and what it has claimed.
 * When the newest one goes, those that are left are no longer taken for the newest: nothing goes on
 * from them by itself. SR_EABSENT: there is no such number. */
sr_rc store_delete(struct store *s, uint64_t lineage, uint64_t number, struct sr_error *err);
/* The lineage begins with the checkpoint or savepoint at a found entry's path. With is_owned it is
 * the lineage's from now on: store_retain deletes it when `retained` newer ones are shown. Durable:
 * later runs keep to it. entry_path NULL: it begins with nothing, and what was noted is forgotten.
 * A store that dies with the process keeps nothing: SR_EMISFIT. */
sr_rc store_claim(struct store *s, const char *entry_path, uint64_t lineage, bool is_owned,
                  struct sr_error *err);
/* What the newest lineage began with, if it has no checkpoint of its own yet; NULL: there is no
 * such lineage. `newest` is that of the newest checkpoint, 0: none. *is_owned as it was said. */
const char *store_begun_with(const struct store *s, uint64_t newest, bool *is_owned);
/* Loads the newest, which is that of the newest lineage, with all parts' bytes. SR_EABSENT: none.
 * SR_ECORRUPT: it is damaged; older ones are never taken instead. */
sr_rc store_load_newest(struct store *s, struct arena *a, struct manifest **out,
                        struct sr_error *err);

/* A savepoint: a directory `DIR/savepoint-<6>-<12>` or, for a job whose store is SQLite, one file
 * `DIR/savepoint-<6>-<12>.db`. Answers its path. Belongs to no store, and is never deleted.
 * Its number is used then; store_publish may follow with the same one, so that recovery does not go
 * back behind a savepoint whose output was committed. */
sr_rc store_savepoint(struct store *s, const char *dir, struct manifest *m, struct arena *a,
                      const char **path, struct sr_error *err);
/* The same in two steps, for a checkpoint that is not decided yet: under a hidden name beside
 * `path`, then under that. What was not kept is removed. */
sr_rc store_savepoint_hidden(struct store *s, const char *dir, struct manifest *m, struct arena *a,
                             const char **path, struct sr_error *err);
sr_rc store_savepoint_keep(struct store *s, const char *path, struct sr_error *err);
void store_savepoint_forget(struct store *s, const char *path);

/* --- Looking from outside: no lock is taken, nothing is changed. ------------------------------ */

/* One checkpoint that was found. */
struct store_entry {
    const char *path;              /* absolute; "store.db#chk-7" for SQLite */
    const char *job_id, *job_name; /* "" when damage hides them */
    uint64_t checkpoint, lineage, attempt;
    enum manifest_kind kind;
    enum manifest_end end;
    int64_t started_us, ended_us;
    uint64_t bytes;
    const char *damage; /* NULL: whole, as far as the manifest tells */
    bool is_retired;    /* a newer one was deleted: nothing goes on from it by itself */
};

struct store_list {
    uint32_t count;
    struct store_entry *entry; /* by job and number, ascending: the newest of a job is its last */
};

/* All that PATH holds: a checkpoint, a savepoint, a job's directory, a checkpoint directory, a
 * SQLite store or `store.db#chk-7`, urls too. SR_EABSENT: nothing is there. */
sr_rc store_find(const struct env *env, const char *path, struct arena *a, struct store_list *out,
                 struct sr_error *err);
/* How the lock of a job's store looks; SR_EABSENT: checkpoints in memory. */
sr_rc store_look_lock(const struct env *env, const struct store_conf *conf, struct lock_sight *out,
                      struct sr_error *err);
/* The newest checkpoint of a job in a store url, with `damage` if it has any; SR_EABSENT: none, or
 * none that anything would go on from. */
sr_rc store_peek(const struct env *env, const struct store_conf *conf, struct arena *a,
                 struct store_entry *out, struct sr_error *err);
/* Deletes one found entry: a savepoint, or a checkpoint of a store, whose lock is taken for it
 * (SR_EBUSY: its job runs). */
sr_rc store_remove(const struct env *env, const struct store_entry *e, struct sr_error *err);
/* Loads one found entry with all bytes, each digest checked. SR_ECORRUPT with what is damaged. */
sr_rc store_load(const struct env *env, const char *entry_path, struct arena *a,
                 struct manifest **out, struct sr_error *err);

#endif
