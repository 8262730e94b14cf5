/* Which lines of the log are let through: a level for all, and one for each component that has its
 * own. Changed while the job runs (`streamrun log-level`), read by any thread without a lock.
 *
 * A component is who stands in front of a line: a part of the engine (levels_parts), or a step of
 * the job.
 */
#ifndef SR_CLI_LEVELS_H
#define SR_CLI_LEVELS_H

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/base/thread.h"

#define LEVELS_MAX 64u /* components with a level of their own */

struct levels;

/* A part of the engine that writes lines of its own. */
struct levels_part {
    const char *name, *doc;
};
extern const struct levels_part levels_parts[]; /* ends with name NULL */

/* All at `level`; levels_free comes before the arena goes. NULL: out of memory. */
struct levels *levels_new(struct arena *a, enum sr_level level);
void levels_free(struct levels *l); /* NULL allowed */
/* From now on env's log goes through these levels to where it went before. */
void levels_apply(struct levels *l, struct env *env);

/* "debug", "WARN"; false: no such level. */
bool levels_parse(const char *word, enum sr_level *level);
const char *levels_name(enum sr_level level);

/* Of all components; those that had their own have it no longer. Any thread may set. */
void levels_set_all(struct levels *l, enum sr_level level);
/* SR_ELIMIT: LEVELS_MAX others have one. */
sr_rc levels_set(struct levels *l, const char *component, enum sr_level level);

/* The level of all others, and those of the components that have their own, by number. */
enum sr_level levels_base(const struct levels *l);
uint32_t levels_count(const struct levels *l);
const char *levels_own(const struct levels *l, uint32_t i, enum sr_level *level);

#endif
