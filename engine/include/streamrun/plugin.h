/* A plugin is one constant that lists what it brings.
 *
 * The same source builds into the binary (symbol sr_plugin_<name>, listed in
 * connectors/builtin.c) or into <name>.so with -DSR_PLUGIN_MODULE (symbol sr_plugin_module).
 */
#ifndef STREAMRUN_PLUGIN_H
#define STREAMRUN_PLUGIN_H

#include <streamrun/connector.h>
#include <streamrun/op.h>

struct sr_plugin {
    uint32_t abi_major, abi_minor;
    const char *name, *version, *doc;
    const struct sr_source_type *const *sources; /* NULL-terminated, or NULL */
    const struct sr_sink_type *const *sinks;
    const struct sr_format_type *const *formats;
    const struct sr_op_type *const *ops;
};

#ifdef SR_PLUGIN_MODULE
#define SR_PLUGIN_SYMBOL(name) sr_plugin_module
#else
#define SR_PLUGIN_SYMBOL(name) sr_plugin_##name
#endif

#define SR_PLUGIN(name)                                             \
    extern SR_EXPORT const struct sr_plugin SR_PLUGIN_SYMBOL(name); \
    const struct sr_plugin SR_PLUGIN_SYMBOL(name)

#endif
