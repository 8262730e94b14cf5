/* Which types there are, by kind and name: the built-in tables, then modules that a job needs.
 *
 * Filled once when a command starts; read-only from then on.
 */
#ifndef SR_PLUG_REGISTRY_H
#define SR_PLUG_REGISTRY_H

#include <streamrun/plugin.h>

struct registry;

struct registry *registry_new(void); /* NULL: out of memory */
void registry_free(struct registry *r);
/* Adds everything a plugin brings. SR_EABI for another major version, SR_EEXISTS for a name twice. */
sr_rc registry_add(struct registry *r, const struct sr_plugin *p, struct sr_error *err);
sr_rc registry_add_op(struct registry *r, const struct sr_op_type *t, struct sr_error *err);
/* Loads a module file and adds it; it stays loaded. */
sr_rc registry_load(struct registry *r, const char *path, struct sr_error *err);
/* Where modules are looked for when a name is not known: DIR/<name>.so. Copied. */
sr_rc registry_set_dir(struct registry *r, const char *dir, struct sr_error *err);

/* By name; tries the module directory; NULL when there is none. */
const struct sr_source_type *registry_source(struct registry *r, const char *name);
const struct sr_sink_type *registry_sink(struct registry *r, const char *name);
const struct sr_format_type *registry_format(struct registry *r, const char *name);
const struct sr_op_type *registry_op(struct registry *r, const char *name);

enum registry_kind { REGISTRY_SOURCE, REGISTRY_SINK, REGISTRY_FORMAT, REGISTRY_OP };
/* The i-th of a kind in name order: its name and doc; false behind the last. */
struct registry_item {
    const char *name, *doc;
    const struct sr_opt *opts; /* NULL for operators */
    const char *plugin;        /* who brought it */
};
bool registry_item(const struct registry *r, enum registry_kind kind, uint32_t i,
                   struct registry_item *out);
const char *registry_nearest(const struct registry *r, enum registry_kind kind, const char *name);

#endif
