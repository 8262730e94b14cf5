/* Checkpoints in an SQLite file: the store of a job, or one savepoint.
 *
 * Can be read in the sqlite3 shell (`SELECT checkpoint, ended, run, bytes FROM checkpoint;`):
 *
 *   job         id: whose checkpoints these are; one job a file
 *   fence       attempt: the last one taken; newest: highest id ever used; published: the newest
 *               checkpoint; digest: of these three, so that a flipped bit cannot hide a checkpoint
 *   checkpoint  one row each; `metadata` is the encoded manifest (manifest.h) and decides, the
 *               other columns are copies for people, and checked against it; run: how the run
 *               behind it ended; job_name, times in UTC
 *   part        what the subtasks saved, in pieces of at most CHKDB_PIECE_BYTES, with digests
 *   counter     counters, in the manifest's order
 *   state, state_...  in savepoints: what it holds, for people (chktables.h)
 *
 * The schema is part of the format: a file whose schema is another one is not read.
 */
#ifndef SR_CKPT_CHKDB_H
#define SR_CKPT_CHKDB_H

#include <sqlite3.h>

#include "engine/ckpt/lookvfs.h"
#include "engine/ckpt/store_type.h"

#define CHKDB_APPLICATION_ID 0x53524350 /* "SRCP": file(1) and sqlite3 .dbinfo show it */
#define CHKDB_USER_VERSION   2
#define CHKDB_PIECE_BYTES    (1u << 28)

enum chkdb_mode {
    CHKDB_RUN,  /* reads and writes; the file is there; journal TRUNCATE, synchronous FULL */
    CHKDB_LOOK, /* read-only; an interrupted commit is rolled back in memory (lookvfs.h) */
    CHKDB_BUILD /* a new file that is synced when it is complete */
};

struct chkdb {
    sqlite3 *db;
    const char *file;     /* borrowed; for words */
    char job_id[33];      /* whose checkpoints these are */
    struct lookvfs *look; /* NULL: the file is opened as it is */
};

struct chkdb_fence {
    uint64_t attempt, newest, published;
};

/* CHKDB_BUILD gives an empty file its schema. SR_EMISFIT: it is something else's database, or
 * another job's (job_id NULL: any). SR_ECORRUPT: no database, or an empty one: a store is never put
 * in place before it has its schema. */
sr_rc chkdb_open(struct chkdb *out, const struct env *env, const char *file, enum chkdb_mode mode,
                 const char *job_id, struct sr_error *err);
void chkdb_close(struct chkdb *c); /* a closed one too */
bool chkdb_is_open(const struct chkdb *c);

sr_rc chkdb_exec(const struct chkdb *c, const char *sql, struct sr_error *err);
/* Ends a transaction. Not committed, for certain: SR_EBUSY, SR_ENOSPC, SR_ENOMEM. Else
 * SR_EUNKNOWN. */
sr_rc chkdb_commit(const struct chkdb *c, struct sr_error *err);
void chkdb_rollback(const struct chkdb *c);

sr_rc chkdb_fence_get(const struct chkdb *c, struct chkdb_fence *out, struct sr_error *err);
/* Within a transaction; SR_EFENCED unless the attempt in the file is still `attempt`. */
sr_rc chkdb_fence_set(const struct chkdb *c, uint64_t attempt, const struct chkdb_fence *to,
                      struct sr_error *err);

/* Within a transaction. `metadata` is m, encoded. */
sr_rc chkdb_insert(const struct chkdb *c, const struct manifest *m, const struct sr_out *metadata,
                   struct sr_error *err);
/* The manifest, with `end` as the file has it, and all copies compared with it. */
sr_rc chkdb_read(const struct chkdb *c, uint64_t number, struct arena *a, struct manifest **out,
                 struct sr_error *err);
/* With all parts, each digest checked. */
sr_rc chkdb_load(const struct chkdb *c, uint64_t number, struct arena *a, struct manifest **out,
                 struct sr_error *err);
/* The newest checkpoint; SR_EABSENT: none; SR_ECORRUPT: it was published and is
 * not there. */
sr_rc chkdb_newest(const struct chkdb *c, uint64_t *number, struct sr_error *err);

/* What a new file is to hold besides its schema. */
struct chkdb_content {
    const struct manifest *m; /* NULL: no checkpoint */
    const struct sr_out *metadata;
    const struct store_filler *filler; /* tables for people; NULL: none */
};

/* A new file, synced; its name is not durable yet. */
sr_rc chkdb_write_file(const struct env *env, const char *file, const char *job_id,
                       const struct chkdb_content *content, struct sr_error *err);

#endif
