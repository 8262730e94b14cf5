/* What the two sides of the socket connector share. */
#ifndef CONNECTORS_SOCKET_SOCKET_H
#define CONNECTORS_SOCKET_SOCKET_H

#include "connectors/socket/dial.h"

extern const struct sr_source_type socket_source_type;
extern const struct sr_sink_type socket_sink_type;

#endif
