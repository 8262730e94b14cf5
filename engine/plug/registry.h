/* Which types there are, by kind and name: the built-in tables, then modules that a job needs.
 *
 * Filled once when a command starts; read-only from then on, but that a name that is not known
 * makes the registry look for a module of that name. Modules stay loaded until the process ends,
 * so that a type may be used for as long as its job.
 */
#ifndef SR_PLUG_REGISTRY_H
#define SR_PLUG_REGISTRY_H

#include <streamrun/plugin.h>

struct registry;

struct registry *registry_new(void); /* NULL: out of memory */
void registry_free(struct registry *r);
/* Adds everything a plugin brings, or nothing. SR_EABI for another version of the lobby or a type
 * without what it must have, SR_EEXISTS for a name twice. */
sr_rc registry_add(struct registry *r, const struct sr_plugin *p, struct sr_error *err);
sr_rc registry_add_op(struct registry *r, const struct sr_op_type *t, struct sr_error *err);
/* Loads a module file and adds it; it stays loaded. SR_EABSENT: no such file; SR_EACCESS: others
 * could have written it; SR_EABI: not a plugin, or one for another streamrun. */
sr_rc registry_load(struct registry *r, const char *path, struct sr_error *err);
/* Where modules are looked for when a name is not known: DIR/<name>.so. Copied. */
sr_rc registry_set_dir(struct registry *r, const char *dir, struct sr_error *err);

/* Our own modules, HOME/<name>.so, looked for before those of `dir`; `names` ends with NULL, is
 * borrowed and outlives the registry; "a:b" says that b.so brings a too. `home` is copied. */
sr_rc registry_set_home(struct registry *r, const char *home, const char *const *names,
                        struct sr_error *err);
/* Loads all of them, so that registry_item lists them; one that is not there is left out. */
void registry_load_home(struct registry *r);

/* By name; tries the module directories; NULL when there is none. */
const struct sr_source_type *registry_source(struct registry *r, const char *name);
const struct sr_sink_type *registry_sink(struct registry *r, const char *name);
const struct sr_format_type *registry_format(struct registry *r, const char *name);
const struct sr_op_type *registry_op(struct registry *r, const char *name);
/* Why the module that the last look-up found could not be used; NULL: there was none, or it was. */
const struct sr_error *registry_fault(const struct registry *r);

enum registry_kind { REGISTRY_SOURCE, REGISTRY_SINK, REGISTRY_FORMAT, REGISTRY_OP };
/* The i-th of a kind in name order: its name and doc; false behind the last. */
struct registry_item {
    const char *name, *doc;
    const char *keeps;         /* of sources and sinks: what they guarantee; NULL: not said */
    const struct sr_opt *opts; /* NULL for operators */
    const char *plugin;        /* who brought it */
    const char *title;         /* "connector filesystem", "format csv"; the registry's */
};
bool registry_item(const struct registry *r, enum registry_kind kind, uint32_t i,
                   struct registry_item *out);
/* The known name nearest to a word that is not known; NULL: none is near enough. */
const char *registry_nearest(const struct registry *r, enum registry_kind kind, const char *name);

#endif
