/* A job's lock: an open-file-description lock on a file that is never unlinked.
 *
 * The kernel lets go of it when the process ends, however it ends. The text inside only says who
 * holds it; it proves nothing.
 */
#ifndef SR_CKPT_LOCK_H
#define SR_CKPT_LOCK_H

#include "engine/base/env.h"

struct lock;

/* SR_EBUSY, with who holds it, when another process does. */
sr_rc lock_take(struct lock **out, const struct env *env, const char *path, const char *job_name,
                struct sr_error *err);
void lock_release(struct lock *l); /* NULL allowed */

#endif
