/* The checkpoint or savepoint that a path names, loaded.
 */
#ifndef SR_CLI_RESTORE_FROM_H
#define SR_CLI_RESTORE_FROM_H

#include "cli/cli.h"
#include "engine/ckpt/store.h"

struct restore_from {
    const char *path; /* of the one that was taken, as store_find names it */
    struct manifest *manifest;
    bool is_older; /* the newest was damaged */
};

/* PATH: one checkpoint, or what holds those of one job: its newest then. A damaged newest one is
 * exit code 4, or with may_fall_back a note, and the next older one that is whole. */
enum cli_exit restore_from_find(struct cli *c, const char *path, bool may_fall_back,
                                struct restore_from *out);

#endif
