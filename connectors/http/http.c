#include "connectors/http/http_sink.h"

#include <streamrun/plugin.h>

static const struct sr_sink_type *const http_sinks[] = {&http_sink_type, NULL};

SR_PLUGIN(http) = {.abi_major = SR_ABI_MAJOR,
                   .abi_minor = SR_ABI_MINOR,
                   .name = "http",
                   .version = "0.1.0",
                   .doc = "Records over HTTP.",
                   .sinks = http_sinks};
