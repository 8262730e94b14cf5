/* Asks what sources far away are connected to, as a run would when it starts, and reads nothing. */
#ifndef SR_CLI_CONNECT_H
#define SR_CLI_CONNECT_H

#include "cli/cli.h"
#include "engine/plan/plan.h"

struct connect_result {
    const char *step;
    uint32_t splits;   /* that it would read */
    const char *fault; /* NULL: it could be asked */
};

/* One for each such source, in the order of the plan; *out lies in c->arena. SR_ENOMEM. */
sr_rc connect_sources(struct cli *c, const struct plan *p, struct connect_result **out,
                      uint32_t *count, struct sr_error *err);

#endif
