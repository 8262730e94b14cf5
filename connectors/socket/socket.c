#include "connectors/socket/socket.h"

#include <streamrun/plugin.h>

static const struct sr_source_type *const socket_sources[] = {&socket_source_type, NULL};
static const struct sr_sink_type *const socket_sinks[] = {&socket_sink_type, NULL};

SR_PLUGIN(socket) = {.abi_major = SR_ABI_MAJOR,
                     .abi_minor = SR_ABI_MINOR,
                     .name = "socket",
                     .version = "0.1.0",
                     .doc = "Records over TCP.",
                     .sources = socket_sources,
                     .sinks = socket_sinks};
