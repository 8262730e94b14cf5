/* The job as a checkpoint keeps it: YAML that conf_read reads back to the same job.
 *
 * It is effective (-D, --conf and variables are in it) and absolute, and has no secret: where a
 * value is one, the reference that it came from is kept; a secret that was written out becomes a
 * reference to a variable named after its key, so that whoever resumes can supply it.
 */
#ifndef SR_CONF_DESCRIBE_H
#define SR_CONF_DESCRIBE_H

#include "conf/reader.h"

/* NULL: out of memory. */
const char *describe_job(struct reader *rd, const struct job *job);

#endif
