#include "connectors/filesystem/filesystem.h"

#include <streamrun/plugin.h>

static const struct sr_source_type *const filesystem_sources[] = {&fs_source_type, NULL};
static const struct sr_sink_type *const filesystem_sinks[] = {&fs_sink_type, NULL};

SR_PLUGIN(filesystem) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "filesystem",
    .version = "0.1.0",
    .doc = "Files on this machine.",
    .sources = filesystem_sources,
    .sinks = filesystem_sinks,
};
