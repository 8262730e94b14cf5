/* Asks what sources, sinks and formats are connected to, as a run would need it, and reads and
 * writes nothing: validate --connect.
 */
#ifndef SR_CLI_CONNECT_H
#define SR_CLI_CONNECT_H

#include "cli/ask.h"

struct connect_result {
    const char *step, *what; /* "source", "sink", "format" */
    bool has_splits;         /* it is a source that names them */
    uint32_t splits;         /* that it would read */
    struct asked asked;      /* `fault` of either question */
};

/* One for each of them that can be asked, in the order of the plan; *out lies in c->arena.
 * SR_ENOMEM. */
sr_rc connect_all(struct cli *c, const struct plan *p, struct connect_result **out, uint32_t *count,
                  struct sr_error *err);

#endif
