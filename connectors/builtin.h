/* The table of built-in connectors and formats, ends with NULL. builtin.c is written by meson. */
#ifndef SR_CONNECTORS_BUILTIN_H
#define SR_CONNECTORS_BUILTIN_H

#include <streamrun/plugin.h>

extern const struct sr_plugin *const connectors_builtin[];

#endif
