/* Sources, transforms and sinks of a job: their keys, their connectors' and formats' options.
 */
#ifndef SR_CONF_STEPS_H
#define SR_CONF_STEPS_H

#include "conf/reader.h"

/* Our own keys of each kind of step, for `help KEY` and hints. */
extern const struct sr_opt steps_source_opts[];
extern const struct sr_opt steps_transform_opts[];
extern const struct sr_opt steps_sink_opts[];
extern const struct sr_opt steps_dead_letter_opts[];
/* Of sources and sinks whose records have keys. */
extern const struct sr_opt steps_keyed_opts[];

/* Fills job->step. */
void steps_read(struct reader *rd, struct job *job);
/* Fills job->dead_letter. */
void steps_read_dead_letter(struct reader *rd, struct job *job);

#endif
