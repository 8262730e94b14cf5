#include <streamrun/plugin.h>

#include "connectors/http/http_sink.h"
#include "connectors/http/http_source.h"

static const struct sr_source_type *const http_sources[] = {&http_source_type, NULL};
static const struct sr_sink_type *const http_sinks[] = {&http_sink_type, NULL};

SR_PLUGIN(http) = {.abi_major = SR_ABI_MAJOR,
                   .abi_minor = SR_ABI_MINOR,
                   .name = "http",
                   .version = "0.1.0",
                   .doc = "Records over HTTP.",
                   .sources = http_sources,
                   .sinks = http_sinks};
