/* The job's own keys: struct settings, and what to make of Flink's other ones.
 */
#ifndef SR_CONF_KEYS_H
#define SR_CONF_KEYS_H

#include "conf/reader.h"

/* Fills job->settings, name and id. */
void keys_read(struct reader *rd, struct job *job);
/* Faults what is left in the entries: after all else was read. */
void keys_leftovers(struct reader *rd);

#endif
