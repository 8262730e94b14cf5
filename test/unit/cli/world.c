#include "test/unit/cli/world.h"

#include <stdlib.h>
#include <string.h>

void world_open(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->cli.env = env_posix(SR_WARN);
    w->cli.arena = arena_new();
    w->cli.work_dir = "/work-dir";
    w->cli.out = open_memstream(&w->out, &w->out_len);
    w->cli.err = open_memstream(&w->err, &w->err_len);
    if (!w->cli.arena || !w->cli.out || !w->cli.err) abort();
}

const char *world_out(struct world *w)
{
    (void)fflush(w->cli.out); /* into memory */
    return w->out;
}

const char *world_err(struct world *w)
{
    (void)fflush(w->cli.err); /* into memory */
    return w->err;
}

void world_close(struct world *w)
{
    (void)fclose(w->cli.out); /* from memory */
    (void)fclose(w->cli.err); /* from memory */
    free(w->out);
    free(w->err);
    arena_free(w->cli.arena);
}
