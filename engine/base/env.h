/* The outside world, lent to the engine as one struct: clock, random, files, log.
 *
 * Nothing in the engine names time, files or randomness but through here, so that the same code
 * runs on a machine (env_posix.c) and in a simulator that owns them all (test/sim). Threads are
 * base/thread.h; run, cli and base/warm.c start some.
 */
#ifndef SR_BASE_ENV_H
#define SR_BASE_ENV_H

#include <streamrun/files.h>
#include <streamrun/host.h>

struct env {
    void *ctx;
    const struct sr_files *files;
    const char *sqlite_vfs; /* for sqlite3_open_v2; NULL: the default one */
    int64_t (*wall_us)(const struct env *e);
    int64_t (*mono_us)(const struct env *e);
    uint64_t (*random)(const struct env *e);
    /* One finished line without a newline; `who` names the room or the step. */
    void (*log)(const struct env *e, enum sr_level level, const char *who, const char *line);
    /* A named place where a rehearsed crash may strike: in the simulator, or where cli/rehearse.c
     * was told to. NULL: nothing happens there. */
    void (*crash_point)(const struct env *e, const char *name);
    void *crash_ctx; /* crash_point's own */
};

/* The machine. Log lines go to stderr as `2026-01-31T12:00:00.000Z LEVEL who: line`, those below
 * `level` are dropped. The env may be copied; there is nothing to free. */
struct env env_posix(enum sr_level level);

void env_log(const struct env *e, enum sr_level level, const char *who, const char *fmt, ...)
    SR_PRINTF(4, 5);
void env_crash_point(const struct env *e, const char *name);

#endif
