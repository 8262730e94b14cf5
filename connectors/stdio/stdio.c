#include "connectors/stdio/stdio.h"

#include <streamrun/plugin.h>

static const struct sr_source_type *const stdio_sources[] = {&stdin_type, NULL};
static const struct sr_sink_type *const stdio_sinks[] = {&stdout_type, NULL};

SR_PLUGIN(stdio) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "stdio",
    .version = "0.1.0",
    .doc = "Standard input and output.",
    .sources = stdio_sources,
    .sinks = stdio_sinks,
};
