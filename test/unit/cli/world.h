/* A struct cli whose words go into memory, for tests. */
#ifndef TEST_UNIT_CLI_WORLD_H
#define TEST_UNIT_CLI_WORLD_H

#include "cli/cli.h"

struct world {
    struct cli cli; /* work_dir is "/work-dir" */
    char *out, *err;
    size_t out_len, err_len;
};

void world_open(struct world *w);
const char *world_out(struct world *w); /* all words so far; good until the next call of it */
const char *world_err(struct world *w);
void world_close(struct world *w);

#endif
