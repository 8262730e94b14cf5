/* What tasks tell the supervisor: a queue with a lock, many writers, one reader.
 *
 * Reports are rare (a few a checkpoint and task), so a lock is no matter. A report carries a number
 * or the bytes of a checkpoint; whoever takes it frees it.
 */
#ifndef SR_RUN_REPORT_H
#define SR_RUN_REPORT_H

#include "engine/base/bytes.h"
#include "engine/base/thread.h"
#include "engine/run/letters.h"

enum report_kind {
    REPORT_SAVED,     /* the task's part of `checkpoint`; or error: it could not save it */
    REPORT_CONFIRMED, /* its sink has committed everything up to `checkpoint` */
    REPORT_DRAINED,   /* its source is read to its end */
    REPORT_WANTED,    /* its sink wants a checkpoint soon */
    REPORT_ENDED,     /* it passed on the end, and will do nothing more */
    REPORT_FAILED     /* error says why */
};

/* One part of a checkpoint. */
struct report_part {
    const char *uid; /* the plan's */
    char name[24];
    uint32_t part, parts; /* the task's, but for what tasks of several vertices share */
    struct sr_out bytes;
    struct frozen *frozen; /* what bytes are still to be made of; NULL: nothing */
};

struct report_counts {
    uint32_t node;
    struct counts counts;
};

struct report {
    enum report_kind kind;
    uint32_t task, part, parts;
    uint32_t life; /* of the task's region */
    uint64_t checkpoint;
    struct sr_error error;
    bool is_final;          /* of a failure: a restart would be of no use */
    struct culprit culprit; /* of a failure; source NULL: no record's fault */
    uint32_t saved;         /* parts that it holds */
    uint32_t capacity;      /* parts that there is room for */
    struct report_part *item;
    int64_t align_us; /* from the first barrier at the task's gate to the last */
    int64_t sync_us;  /* while the task stood still to save */
    int64_t async_us; /* while its state was made bytes beside it */
    uint32_t counted; /* nodes of the task */
    struct report_counts *count;
    struct report *next;
};

struct report *report_new(enum report_kind kind); /* NULL: out of memory */
void report_free(struct report *r);               /* NULL allowed */
/* Takes bytes; part and parts are the report's. False: out of memory. */
bool report_add_part(struct report *r, const char *uid, const char *name, struct sr_out *bytes);
/* Takes the view. */
bool report_add_frozen(struct report *r, const char *uid, const char *name, struct frozen *f);
bool report_is_frozen(const struct report *r); /* some of its parts are */
void report_drop_parts(struct report *r);

struct reports {
    struct mutex *lock;
    struct report *first, *last;
    atomic_bool is_lost;     /* memory ran out for a report of a failure */
    void (*wake)(void *ctx); /* after every put; NULL: the reader looks by itself */
    void *ctx;
};

sr_rc reports_init(struct reports *q, struct sr_error *err);
void reports_done(struct reports *q);
void reports_put(struct reports *q, struct report *r); /* takes r; any thread */
void reports_lose(struct reports *q);           /* a task failed, and not even that can be told */
struct report *reports_take(struct reports *q); /* the oldest, the caller's; NULL: none */

#endif
