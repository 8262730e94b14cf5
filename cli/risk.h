/* What can lose, repeat or hold up rows of a job that is valid: each cause, with its cure.
 */
#ifndef SR_CLI_RISK_H
#define SR_CLI_RISK_H

#include "cli/load.h"

#define RISKS_MAX 200u /* further ones are not told */

struct risk {
    enum fault_level level; /* a warning: rows can be lost or come twice; a notice: they cannot */
    struct place at;        /* file NULL: the job as a whole */
    const char *words, *cure;
};

struct risks {
    uint32_t count, warnings;
    struct risk risk[RISKS_MAX];
};

/* Looks at the job, and at the file system where its checkpoints will lie. */
void risks_find(struct risks *r, struct cli *c, const struct loaded *l);

#endif
