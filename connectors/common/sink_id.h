/* What marks the files of one sink: 8 hex digits made of the job and the step. */
#ifndef CONNECTORS_COMMON_SINK_ID_H
#define CONNECTORS_COMMON_SINK_ID_H

#include <streamrun/connector.h>

#define SINK_ID_SIZE 9u /* with the closing zero */

/* False: out of memory. */
bool sink_id(const struct sr_sink_open *o, char out[SINK_ID_SIZE]);

#endif
