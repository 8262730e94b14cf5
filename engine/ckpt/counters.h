/* The numbers of a job's directory that must only grow: attempts and checkpoint ids, in one file.
 *
 *   streamrun counters 1
 *   attempt 8          the last attempt that was taken
 *   newest 43          highest checkpoint id that was used when it was written
 *   base 42            newest checkpoint that attempt 8 found: it goes on behind that one
 *   retired 40         nothing goes on by itself from a checkpoint up to this one; absent: 0
 *   digest 0123...     of all lines before
 *
 * `base` decides about a late rename: a process that lost its attempt may have been stopped within
 * the very call that publishes. A chk-N with N > base whose manifest tells an attempt before this
 * one came after the takeover; it is no part of the job's history.
 *
 * `retired` decides when the newest checkpoint was deleted: what is left of older ones must not be
 * taken for the newest, since the job has written more than they know.
 */
#ifndef SR_CKPT_COUNTERS_H
#define SR_CKPT_COUNTERS_H

#include "engine/base/arena.h"
#include "engine/base/env.h"

#define COUNTERS_NAME "counters"

struct counters {
    uint64_t attempt, newest, base, retired; /* all 0: never written */
};

/* A missing file gives zeros. SR_ECORRUPT, with a hint, when it is not as it was written. */
sr_rc counters_read(const struct env *env, const char *path, struct counters *out,
                    struct sr_error *err);
/* Durable, in one step, by way of `tmp` in the attempt's own directory: SR_EABSENT when that was
 * sealed, so that a process that was taken over cannot put old numbers back. */
sr_rc counters_write(const struct env *env, const char *tmp, const char *path,
                     const struct counters *c, struct sr_error *err);

#endif
