/* What the kinds of stores have in common, inside this room. */
#ifndef SR_CKPT_STORE_TYPE_H
#define SR_CKPT_STORE_TYPE_H

#include "engine/ckpt/store.h"

#define STORE_PATH_MAX 4096u /* bytes of a path */

struct store_type {
    bool is_durable;
    bool has_file; /* one file, not a directory: savepoints are files too */
    /* Takes the lock and an attempt; sets s->attempt and s->newest. */
    sr_rc (*open)(struct store *s, struct sr_error *err);
    void (*close)(struct store *s); /* of a half-opened one too; the lock goes afterwards */
    sr_rc (*next_attempt)(struct store *s, struct sr_error *err);
    /* `metadata` is m, encoded. */
    sr_rc (*publish)(struct store *s, const struct manifest *m, const struct sr_out *metadata,
                     struct sr_error *err);
    sr_rc (*retain)(struct store *s, uint64_t lineage, uint64_t shown, struct sr_error *err);
    /* How many of the lineage are there, up to `shown`. */
    sr_rc (*count)(struct store *s, uint64_t lineage, uint64_t shown, uint32_t *count,
                   struct sr_error *err);
    sr_rc (*remove)(struct store *s, uint64_t lineage, uint64_t number, struct sr_error *err);
    sr_rc (*mark_end)(struct store *s, enum manifest_end end, struct sr_error *err);
    sr_rc (*load_newest)(struct store *s, struct arena *a, struct manifest **out,
                         struct sr_error *err);
    sr_rc (*complete)(struct store *s, uint64_t number, struct sr_error *err);
    /* Answers store_is_complete for one that is not pending. */
    sr_rc (*drop)(struct store *s, uint64_t number, struct sr_error *err);
    sr_rc (*check_fence)(const struct store *s, struct sr_error *err);
    /* Makes it durable that this id was used (by a savepoint); NULL: need not be. */
    sr_rc (*use_id)(struct store *s, uint64_t id, struct sr_error *err);
    const char *redo_name;  /* of the directory, behind `place`; NULL: none */
    const char *claim_name; /* of the file, behind `place`; NULL: it claims nothing */
    const char *lock_name;  /* of the lock, behind `place`; NULL: where the type says */
};

struct store {
    const struct store_type *type;
    const struct env *env;
    struct arena *arena; /* texts, as long as the store */
    const char *place;   /* the directory DIR/JOB-ID, or the file */
    const char *job_id, *job_name, *run_dir;
    uint32_t retained;
    bool is_flat;
    const struct store_filler *filler; /* NULL: none */
    struct claim *claim;               /* in the arena; NULL: nothing is claimed */
    uint64_t attempt, newest;
    uint64_t savepoint; /* number of one whose checkpoint may still be published; 0: none */
    sr_rc dead;         /* SR_EUNKNOWN or SR_EFENCED: nothing more is done */
    struct lock *lock;
    const struct store_conf *conf; /* while it opens */
    void (*on_unlock)(void *ctx);  /* NULL: nobody was told of the lock */
    void *ctx;
    void *own; /* the type's */
};

extern const struct store_type store_dir_type;
extern const struct store_type store_sqlite_type;
extern const struct store_type store_memory_type;

/* Opens the store at a place, as store_open does. */
sr_rc store_open_at(struct store **out, const struct env *env, const struct store_type *type,
                    const char *place, const struct store_conf *conf, struct sr_error *err);

/* What a url names. */
struct store_url {
    const struct store_type *type;
    const char *path; /* absolute, without a slash at the end; NULL for memory */
};

sr_rc store_url_parse(const char *url, struct arena *a, struct store_url *out,
                      struct sr_error *err);

void store_point(const struct env *env, enum store_point p);

/* Takes the lock, or seizes it as the conf says. */
sr_rc store_lock(struct store *s, const char *path, struct sr_error *err);

/* Orders, digests, checks and encodes: what publishing and savepoints begin with. */
sr_rc store_seal(struct manifest *m, struct sr_out *metadata, struct sr_error *err);

/* Answers for who may not be marked yet, or not dropped any more. */
sr_rc store_is_pending(uint64_t number, struct sr_error *err);
sr_rc store_is_complete(uint64_t number, struct sr_error *err);

/* Looking at one place; each adds what it finds to a list that grows in the arena. */
struct store_finder {
    const struct env *env;
    struct arena *arena;
    struct store_list list;
    uint32_t capacity;
};

sr_rc store_finder_add(struct store_finder *f, const struct store_entry *e, struct sr_error *err);
sr_rc store_dir_find(struct store_finder *f, const char *job_dir, struct sr_error *err);
/* One checkpoint's or savepoint's directory. */
sr_rc store_dir_find_one(struct store_finder *f, const char *dir, struct sr_error *err);
/* A file; `number` 0: all that is in it. */
sr_rc store_sqlite_find(struct store_finder *f, const char *file, uint64_t number,
                        struct sr_error *err);
sr_rc store_dir_load(const struct env *env, const char *dir, struct arena *a, struct manifest **out,
                     struct sr_error *err);
sr_rc store_sqlite_load(const struct env *env, const char *file, uint64_t number, struct arena *a,
                        struct manifest **out, struct sr_error *err);
/* Orders entries by job and number. */
void store_list_sort(struct store_list *l);
/* The newest checkpoint, damaged or not; a file of which nothing can be trusted is it. NULL: none.
 * The list must be of one job. */
const struct store_entry *store_list_newest(const struct store_list *l);

#endif
