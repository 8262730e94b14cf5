/* How a state goes on while frozen views of it are read by another thread.
 *
 *   epoch 1 --freeze--> view of epoch 1, the state is in epoch 2 --freeze--> view of epoch 2 ...
 *
 * Pages of records belong to the epoch in which they were made. One that a live view may read, its
 * epoch not above `frozen`, is never written: a copy takes its place in the map first. Texts are
 * not overwritten and not reused while a view lives: new ones go to new blocks. What took leave of
 * the state waits in limbo until no view is left that can read it. So a view costs what is written
 * while it lives, at most the state's size for pages, and a reader needs no lock for what it reads.
 *
 * When memory runs out for a copy, or for a place in limbo, all views are broken: their reader is
 * told so at its next step, that checkpoint fails, and the state goes on in place. The lock is held
 * by a reader during a step for this case only.
 *
 * All calls but freezer_leave are the owner's of the state.
 */
#ifndef SR_STATE_FREEZER_H
#define SR_STATE_FREEZER_H

#include <stdatomic.h>

#include "engine/base/thread.h"

#define FREEZER_VIEWS_MAX 16u /* views of one state at once */

/* What has left the state but may be read: memory of its own, or a small block of a heap. */
struct limbo_item {
    void *memory; /* NULL: the block */
    uint32_t at, len;
    uint32_t epoch; /* in which it left: views of earlier epochs may read it */
};

/* First in, first out; epochs ascend. */
struct limbo {
    struct limbo_item *item;
    uint32_t first, count, space; /* count: that wait, from `first` on */
};

struct freezer_view {
    uint32_t epoch;
    bool is_broken;        /* under the lock */
    atomic_bool is_left;   /* release: the reader touches it no more */
    struct freezer *owner; /* whose epochs these are */
};

struct freezer {
    struct mutex *lock;
    uint32_t epoch;  /* of what is made now; from 1 */
    uint32_t frozen; /* epoch of the newest live view; 0: none */
    uint32_t oldest; /* epoch of the oldest live view; UINT32_MAX: none */
    struct freezer_view *view[FREEZER_VIEWS_MAX]; /* ascending; freed with free() when left */
    uint32_t views;
    uint64_t copied_bytes; /* pages copied for views, ever */
};

sr_rc freezer_init(struct freezer *f, struct sr_error *err);
void freezer_done(struct freezer *f); /* all views were left; frees them */
/* Takes a place for a view: SR_ELIMIT when there are too many. */
sr_rc freezer_enter(struct freezer *f, struct freezer_view *v);
void freezer_leave(struct freezer_view *v); /* any thread; the state's owner frees it later */
/* Forgets views that were left. */
void freezer_reap(struct freezer *f);
/* Memory ran out: waits for readers to pause, and tells them not to go on. */
void freezer_break(struct freezer *f);
/* A reader's step: false, and nothing is locked, when the view is broken. */
bool freezer_begin_step(struct freezer_view *v);
void freezer_end_step(struct freezer_view *v);

/* False: no memory. */
bool limbo_put(struct limbo *l, const struct limbo_item *item);
/* The first one if no view from `oldest` on can read it any more. */
bool limbo_take(struct limbo *l, uint32_t oldest, struct limbo_item *out);
void limbo_done(struct limbo *l);   /* frees memory that waits, and the list */
void limbo_forget(struct limbo *l); /* frees the list */

#endif
