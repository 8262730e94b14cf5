/* The tables of built-in connectors and formats, and of the names of those that come as modules;
 * both end with NULL. builtin.c is written by meson. */
#ifndef SR_CONNECTORS_BUILTIN_H
#define SR_CONNECTORS_BUILTIN_H

#include <streamrun/plugin.h>

extern const struct sr_plugin *const connectors_builtin[];
extern const char *const connectors_modules[];

#endif
