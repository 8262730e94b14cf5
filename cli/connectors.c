/* connectors: which there are, and the options of one. */
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "engine/data/schema.h"

static const char *const connectors_kind[] = {"source", "sink", "format"};

static void connectors_list(const struct cli *c)
{
    json_t *list = json_array();
    for (enum registry_kind k = REGISTRY_SOURCE; k <= REGISTRY_FORMAT; k++) {
        struct registry_item item;
        for (uint32_t i = 0; registry_item(c->registry, k, i, &item); i++) {
            if (c->is_json) {
                json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", connectors_kind[k],
                                                      "name", item.name, "doc", item.doc));
            } else {
                const char *head =
                    arena_printf(c->arena, "%-7s %-13s ", connectors_kind[k], item.name);
                options_hang(c->out, head, item.doc, c->width);
            }
        }
    }
    if (c->is_json) {
        show_json(c, list);
    } else {
        json_decref(list);
    }
}

static const struct sr_metadata *connectors_metadata(const struct cli *c, enum registry_kind k,
                                                     const char *name)
{
    if (k == REGISTRY_FORMAT) {
        const struct sr_format_type *f = registry_format(c->registry, name);
        return f ? f->metadata : NULL;
    }
    const struct sr_source_type *t =
        k == REGISTRY_SOURCE ? registry_source(c->registry, name) : NULL;
    return t ? t->metadata : NULL;
}

static void connectors_print_metadata(const struct cli *c, const struct sr_metadata *m)
{
    if (m && m->name) fprintf(c->out, "  metadata columns: name TYPE METADATA FROM 'key'\n");
    for (; m && m->name; m++) {
        fprintf(c->out, "    %s  %s\n", m->name, type_text(c->arena, &m->type));
        options_wrap(c->out, m->doc, 8, c->width);
    }
}

static json_t *connectors_metadata_json(const struct cli *c, const struct sr_metadata *m)
{
    json_t *list = json_array();
    for (; m && m->name; m++) {
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key", m->name, "type",
                                              type_text(c->arena, &m->type), "doc", m->doc));
    }
    return list;
}

/* The table of README, in its form: one row a source, then one a sink. */
static void connectors_guarantees(const struct cli *c)
{
    static const char *const head[] = {"source | what it can go back to after a kill",
                                       "sink | what it keeps"};
    json_t *list = json_array();
    for (enum registry_kind k = REGISTRY_SOURCE; k <= REGISTRY_SINK; k++) {
        struct registry_item item;
        if (!c->is_json) fprintf(c->out, "%s| %s |\n|---|---|\n", k ? "\n" : "", head[k]);
        for (uint32_t i = 0; registry_item(c->registry, k, i, &item); i++) {
            const char *keeps = item.keeps ? item.keeps : "not said by its plugin";
            if (c->is_json) {
                json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", connectors_kind[k],
                                                      "name", item.name, "keeps", keeps));
            } else {
                fprintf(c->out, "| `%s` | %s |\n", item.name, keeps);
            }
        }
    }
    if (c->is_json) {
        show_json(c, list);
    } else {
        json_decref(list);
    }
}

static json_t *connectors_item_json(const struct cli *c, enum registry_kind k,
                                    const struct registry_item *item, const char *prefix)
{
    const struct sr_metadata *metadata = connectors_metadata(c, k, item->name);
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "kind", connectors_kind[k], "name", item->name,
                     "doc", item->doc, "options", options_json(item->opts, prefix), "metadata",
                     connectors_metadata_json(c, metadata));
}

static void connectors_item_print(const struct cli *c, enum registry_kind k,
                                  const struct registry_item *item, const char *prefix)
{
    fprintf(c->out, "%s %s\n", connectors_kind[k], item->name);
    options_wrap(c->out, item->doc, 2, c->width);
    if (item->keeps) {
        const char *what = k == REGISTRY_SOURCE ? "can go back to" : "keeps";
        options_wrap(c->out, arena_printf(c->arena, "After a kill it %s: %s.", what, item->keeps),
                     2, c->width);
    }
    options_print(c, item->opts, prefix);
    connectors_print_metadata(c, connectors_metadata(c, k, item->name));
}

/* The type of a kind and name; false: there is none. */
static bool connectors_find(const struct cli *c, enum registry_kind k, const char *name,
                            struct registry_item *item)
{
    for (uint32_t i = 0; registry_item(c->registry, k, i, item); i++) {
        if (strcmp(item->name, name) == 0) return true;
    }
    return false;
}

/* All kinds of one name: a connector may be a source and a sink. */
static bool connectors_one(const struct cli *c, const char *name)
{
    bool is_found = false;
    json_t *list = json_array();
    for (enum registry_kind k = REGISTRY_SOURCE; k <= REGISTRY_FORMAT; k++) {
        struct registry_item item;
        if (!connectors_find(c, k, name, &item)) continue;
        const char *prefix = k == REGISTRY_FORMAT ? arena_printf(c->arena, "%s.", name) : "";
        if (c->is_json) {
            json_array_append_new(list, connectors_item_json(c, k, &item, prefix));
        } else {
            if (is_found) fputc('\n', c->out);
            connectors_item_print(c, k, &item, prefix);
        }
        is_found = true;
    }
    if (c->is_json && is_found) {
        show_json(c, list);
    } else {
        json_decref(list);
    }
    return is_found;
}

enum cli_exit command_connectors(struct cli *c, const struct args *a)
{
    const char *plugins = args_value(a, "plugins");
    struct sr_error err = {0};
    registry_load_home(c->registry);
    if (plugins && registry_set_dir(c->registry, cli_absolute(c, plugins), &err) != SR_OK) {
        return cli_fail(c, CLI_USAGE, "--plugins: %s", err.words);
    }
    if (args_has(a, "guarantees")) {
        connectors_guarantees(c);
        return CLI_OK;
    }
    if (a->words == 0) {
        connectors_list(c);
        return CLI_OK;
    }
    const char *name = a->word[0];
    (void)registry_source(c->registry, name); /* its module is loaded, whatever it holds */
    (void)registry_sink(c->registry, name);
    (void)registry_format(c->registry, name);
    if (connectors_one(c, name)) return CLI_OK;
    const char *near = NULL;
    for (enum registry_kind k = REGISTRY_SOURCE; k <= REGISTRY_FORMAT && !near; k++) {
        near = registry_nearest(c->registry, k, name);
    }
    if (near) {
        return cli_fail(c, CLI_USAGE, "no connector or format '%s'; did you mean '%s'?", name,
                        near);
    }
    return cli_fail(c, CLI_USAGE, "no connector or format '%s'; 'streamrun connectors' lists them",
                    name);
}
