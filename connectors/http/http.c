#include <streamrun/plugin.h>

SR_PLUGIN(http) = {.abi_major = SR_ABI_MAJOR,
                   .abi_minor = SR_ABI_MINOR,
                   .name = "http",
                   .version = "0.1.0",
                   .doc = "Records over HTTP."};
