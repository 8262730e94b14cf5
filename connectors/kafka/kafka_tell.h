/* What kafka sources and sinks answer to people's commands (streamrun/ask.h). Calls wait for
 * brokers.
 */
#ifndef CONNECTORS_KAFKA_KAFKA_TELL_H
#define CONNECTORS_KAFKA_KAFKA_TELL_H

#include <streamrun/ask.h>

sr_rc kafka_tell_source(struct sr_ask *a, struct sr_error *err);
sr_rc kafka_tell_sink(struct sr_ask *a, struct sr_error *err);

#endif
