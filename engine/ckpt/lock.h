/* A job's lock: an open-file-description lock on a file, and in it the leader's beat.
 *
 * The kernel lets go of the lock when the process ends, however it ends. A process that is stopped
 * or hangs keeps it; so its holder writes a beat into the file from time to time, and who waits may
 * seize the lock when the beat has stood still for long enough by his own clock: he puts a locked
 * file of his own in the place of the old one. The old holder finds that the path is not its file
 * any more. That alone makes nothing safe: what the old holder still does is refused by the store's
 * fence (store.h). The file is never unlinked, and replaced by lock_seize only.
 *
 *   pid 123 since 2026-01-31T12:00:00.000Z      for people
 *   process ...                                 the holder's name for itself, if it gave one
 *   beat 00000000000000000017
 *   ended finished                              how the job ended; absent: not by itself
 *
 * Calls may come from any thread, one at a time.
 */
#ifndef SR_CKPT_LOCK_H
#define SR_CKPT_LOCK_H

#include "engine/base/env.h"

#define LOCK_TEXT_MAX 400u /* bytes that are read of the file */

struct lock;

/* What a lock file looks like at one moment; all zeros: it is not there. */
struct lock_sight {
    uint64_t device, inode;
    char text[LOCK_TEXT_MAX + 1];
};

struct lock_conf {
    const char *path;
    const char *job_name;
    const char *holder; /* one line about this process, for those who wait; NULL: none */
};

/* SR_EBUSY, with who holds it, when another process does. */
sr_rc lock_take(struct lock **out, const struct env *env, const struct lock_conf *conf,
                struct sr_error *err);
/* Takes it from a holder that has not moved since `seen`; SR_EBUSY: it has, or another one was
 * quicker. */
sr_rc lock_seize(struct lock **out, const struct env *env, const struct lock_conf *conf,
                 const struct lock_sight *seen, struct sr_error *err);
void lock_release(struct lock *l); /* NULL allowed */

/* Shows that the holder lives. SR_EFENCED: the lock was seized. */
sr_rc lock_beat(struct lock *l, struct sr_error *err);
/* Notes that the job ended by itself, in one word ("finished"): nobody need take over. "": it has
 * begun again. Whoever takes the lock and says nothing leaves what the holder before said. */
void lock_say_end(struct lock *l, const char *word);
/* What the last holder that said something said; "": it began, and was killed or suspended. */
const char *lock_end_before(const struct lock *l);

/* From outside. */
sr_rc lock_look(const struct env *env, const char *path, struct lock_sight *out,
                struct sr_error *err);
bool lock_is_same(const struct lock_sight *a, const struct lock_sight *b);

#endif
