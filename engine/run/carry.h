/* What a job remembers over the death of its process: its restarts, and why the first one was.
 *
 * Lies in memory that the process shares with the one that watches over it. The engine writes it as
 * it goes (supervise.c); when it has died, the watcher asks carry_crashed what to do, as after any
 * other failure, and the next engine goes on from what is there.
 */
#ifndef SR_RUN_CARRY_H
#define SR_RUN_CARRY_H

#include "engine/base/env.h"
#include "engine/plan/settings.h"
#include "engine/run/restart.h"

struct carry {
    struct restart restart; /* good if is_set */
    bool is_set;
    uint32_t restarts;     /* that were made or are waited for */
    char first_cause[508]; /* "": none */
};

/* The engine's process died, for `words`. */
struct restart_answer carry_crashed(struct carry *c, const struct env *env,
                                    const struct settings *s, const char *words);

#endif
