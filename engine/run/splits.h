/* The splits of one source that no reader has: shared by its subtasks, under a lock.
 *
 * Whoever notices that discovery is due does it. Splits are given out by order, then id. A split
 * that was restored in the middle waits here too, with its note and its watermark.
 *
 * In a checkpoint every subtask saves the splits that it reads and has read. What waits is saved
 * once, by the first subtask that the barrier reaches: whatever is taken later by another one is
 * either here or, when it came to the other one before its own barrier, there as well; on restore
 * finished beats reading beats waiting. A split found between the two is not saved at all and found
 * again.
 *
 *   splits_new -> splits_restore* -> splits_open -> { splits_take | splits_save }* -> splits_free
 */
#ifndef SR_RUN_SPLITS_H
#define SR_RUN_SPLITS_H

#include <stdatomic.h>

#include "engine/base/bytes.h"
#include "engine/base/thread.h"
#include "engine/ckpt/manifest.h"
#include "engine/data/host.h"
#include "engine/plan/plan.h"

enum split_state { SPLIT_WAITING, SPLIT_READING, SPLIT_FINISHED };

struct split {
    char *id; /* owned, like the note */
    uint8_t *note;
    uint32_t note_len;
    enum split_state state; /* when it was saved */
    int64_t order;
    int64_t size_bytes; /* 0: not known */
    int64_t done;       /* bytes (a stream) or records that were consumed */
    int64_t watermark;  /* SR_WATERMARK_NONE: no row yet */
    int64_t lines;      /* newlines in front of what comes next, from the file's first byte on; -1:
                           not known */
};

void split_done(struct split *s); /* frees what it owns, and clears it */
bool split_put(struct sr_out *o, const struct split *s);
/* SR_ECORRUPT, SR_ENOMEM; *out is the caller's. */
sr_rc split_get(struct bytes_in *in, struct split *out);

struct split_list {
    uint32_t count, capacity;
    struct split *item;
};

sr_rc split_list_add(struct split_list *l, struct split *s); /* takes what s owns, always */
void split_list_done(struct split_list *l);

/* Is it a part of a checkpoint with splits of that source: a subtask's "splits", or the pool's
 * "waiting"? */
bool splits_is_part(const struct manifest_part *p, const char *uid);
/* Adds its splits. *watermark: told by a subtask that was not idle, else SR_WATERMARK_END.
 * SR_ECORRUPT, SR_ENOMEM: some may have been added. */
sr_rc splits_read(const struct manifest_part *p, struct split_list *out, int64_t *watermark);

/* The splits of one source in a checkpoint, each once, by id: as a run that is restored from it
 * would have them. *out is the caller's: split_list_done. */
sr_rc splits_saved(const struct manifest *m, const char *uid, struct split_list *out,
                   struct sr_error *err);

struct splits {
    const struct plan_node *node;
    struct mutex *lock;
    struct sr_home *home;
    struct sr_host host;
    struct host_ctx ctx;
    void *discoverer;
    bool is_open;
    bool is_sorted;             /* waiting is: last one first out */
    bool is_all;                /* no split will be found any more */
    struct sr_wait next;        /* when to look again */
    struct split_list waiting;  /* not read yet, or restored in the middle */
    struct split_list finished; /* restored; the subtasks keep their own */
    uint32_t restored[2];       /* how many of `finished`, then of `waiting`, are numbered; until
                                   the first discovery is done */
    uint64_t saved;             /* newest checkpoint that has what waits */
    int64_t bytes_total;        /* of all splits ever seen; -1: some are not known */
    uint32_t parts;
    bool has_caught_up;    /* the supervisor's: all that was there has been read, once */
    bool goes_on;          /* behind the end, in a later run; set before splits_open */
    uint32_t given;        /* to readers, and not ended */
    atomic_bool has_more;  /* relaxed: something waits or may be found */
    atomic_bool has_given; /* relaxed: a reader was given a split, ever */
};

sr_rc splits_new(struct splits **out, const struct plan *p, const struct plan_node *node,
                 uint32_t parts, const struct env *env, struct sr_error *err);
void splits_free(struct splits *s); /* NULL allowed */
/* From the parts of a checkpoint, as splits_read; the same id may come several times. */
sr_rc splits_restore(struct splits *s, const struct manifest_part *p, int64_t *watermark);
sr_rc splits_open(struct splits *s, struct sr_error *err);

enum splits_got {
    SPLITS_ONE,   /* *out is the caller's */
    SPLITS_LATER, /* nothing now: *wait */
    SPLITS_ALL,   /* nothing any more */
    SPLITS_FAILED
};

/* Gives a split to a reader that has `held` of them. A bounded source is read one split a reader at
 * a time, oldest first, unless its splits are read side by side; an unbounded one is spread
 * evenly. */
enum splits_got splits_take(struct splits *s, uint32_t held, int64_t now_us, struct split *out,
                            struct sr_wait *wait, struct sr_error *err);
int64_t splits_bytes(struct splits *s); /* of all splits so far; -1: not known */
void splits_ended(struct splits *s);    /* a reader has read one to its end */
/* A reader came upon it; copies. SR_ENOMEM. */
sr_rc splits_found(struct splits *s, const struct sr_split *split);
/* One is told of by a reader. */
sr_rc splits_told(struct splits *s, const struct sr_split *split, struct sr_error *err);
/* Saves what waits, if checkpoint n has it not yet; else *out stays empty. */
sr_rc splits_save(struct splits *s, uint64_t n, struct sr_out *out);

#endif
