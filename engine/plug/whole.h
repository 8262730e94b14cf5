/* Whether the types of a module have every call that they must have: a missing one would be a jump
 * to nowhere in the middle of a job.
 */
#ifndef SR_PLUG_WHOLE_H
#define SR_PLUG_WHOLE_H

#include <streamrun/plugin.h>

/* The member that a type lacks: "poll"; NULL: it is whole. The type knows the whole struct. */
const char *whole_source(const struct sr_source_type *t);
const char *whole_sink(const struct sr_sink_type *t);
const char *whole_format(const struct sr_format_type *t);

#endif
