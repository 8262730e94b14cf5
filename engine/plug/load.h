/* A module file becomes a plugin: checked, opened by the dynamic linker, its symbol found.
 *
 * A module is code that runs with our rights, so it must be a regular file that nobody but root, us
 * or our own group can write, in a directory of which the same is true. It is opened with all its
 * symbols bound at once and kept to itself, and is never closed again.
 */
#ifndef SR_PLUG_LOAD_H
#define SR_PLUG_LOAD_H

#include <streamrun/error.h>
#include <streamrun/plugin.h>

sr_rc load_module(const char *path, const struct sr_plugin **out, struct sr_error *err);

#endif
