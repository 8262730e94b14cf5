/* Bread crumbs: which records each task works on, in memory that outlives a process that dies.
 *
 * The caller lends a shared mapping of a file. A task notes the records of a view before it begins
 * and clears the note when nothing of it is left in its hands; so after a crash of the process (a
 * plugin that aborts, the out-of-memory killer) the next one knows whom to suspect. It does not
 * outlive the machine, and need not.
 *
 *   crumbs_take, crumbs_begin -> { crumbs_set -> crumbs_clear }* -> crumbs_end
 */
#ifndef SR_RUN_CRUMBS_H
#define SR_RUN_CRUMBS_H

#include <stdatomic.h>

#include "engine/data/origin.h"
#include "engine/plan/plan.h"
#include "engine/run/poison.h"

#define CRUMBS_MAX POISON_SUSPECTS_MAX /* tasks that leave some; others do not */

struct crumb {
    _Atomic uint32_t is_busy; /* release: the rest is written before */
    uint32_t is_decoding;     /* the records are not rows yet */
    int64_t from, to;         /* offsets of the first and the last record */
    char source[256];         /* uid */
    char step[256];           /* the first of the task */
    char split[POISON_TEXT_MAX];
};

struct crumbs {
    uint64_t magic;
    _Atomic uint32_t is_running; /* 1: the process has not ended by itself */
    struct crumb crumb[CRUMBS_MAX];
};

/* What a process left that died: suspects into `p`. */
sr_rc crumbs_take(struct crumbs *c, struct poison *p, struct sr_error *err);
void crumbs_begin(struct crumbs *c); /* all clear, running */
void crumbs_end(struct crumbs *c);   /* nothing to be suspected */

/* Words for people about where a process died: "in step 'a'", "in one of the steps 'a', 'b'"; ""
 * when no record was in anybody's hands. */
void crumbs_where(const struct crumbs *c, char *out, size_t size);

/* `c` may be NULL. */
void crumbs_set(struct crumb *c, const struct plan *p, const char *step, const struct sr_view *v);
/* The same for records that are being decoded. */
struct crumb_place {
    const char *source, *step, *split;
    int64_t from, to;
};
void crumbs_decoding(struct crumb *c, const struct crumb_place *at);
void crumbs_clear(struct crumb *c);

#endif
