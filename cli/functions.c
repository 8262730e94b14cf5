/* functions: which there are, and one explained; all from the one table of the engine. */
#include <strings.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "engine/expr/func.h"

static json_t *functions_json(const struct func_doc *d)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "name", d->name, "family", d->family, "forms",
                     d->forms, "doc", d->doc);
}

static enum cli_exit functions_list(const struct cli *c)
{
    uint32_t n = func_count();
    if (c->is_json) {
        json_t *list = json_array();
        for (uint32_t i = 0; i < n; i++) {
            struct func_doc d = func_doc(i);
            json_array_append_new(list, functions_json(&d));
        }
        show_json(c, list);
        return CLI_OK;
    }
    const char **cell = arena_array(c->arena, (size_t)(n + 1) * 3, sizeof(*cell));
    if (!cell) return cli_fail(c, CLI_FAILED, "out of memory");
    cell[0] = "name", cell[1] = "family", cell[2] = "forms";
    for (uint32_t i = 0; i < n; i++) {
        struct func_doc d = func_doc(i);
        cell[(size_t)3 * (i + 1)] = d.name;
        cell[(size_t)3 * (i + 1) + 1] = d.family;
        cell[(size_t)3 * (i + 1) + 2] = d.forms;
    }
    show_table(c->out, &(struct show_table){.columns = 3, .rows = n + 1, .cell = cell});
    return CLI_OK;
}

bool functions_is_window(const char *name)
{
    static const char *const windows[] = {"TUMBLE", "HOP", "SESSION", "CUMULATE"};
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        if (strcasecmp(windows[i], name) == 0) return true;
    }
    return false;
}

enum cli_exit command_functions(struct cli *c, const struct args *a)
{
    if (a->words == 0) return functions_list(c);
    struct func_doc d;
    if (functions_is_window(a->word[0])) {
        return cli_fail(c, CLI_USAGE, "%s is a window; 'streamrun help window' explains it",
                        a->word[0]);
    }
    if (!func_find(a->word[0], &d)) {
        const char *near = func_nearest(a->word[0]);
        return cli_fail(c, CLI_USAGE, "no function '%s'%s%s%s", a->word[0],
                        near ? "; did you mean '" : "; 'streamrun functions' lists them",
                        near ? near : "", near ? "'?" : "");
    }
    if (c->is_json) {
        show_json(c, functions_json(&d));
        return CLI_OK;
    }
    fprintf(c->out, "%s (%s)\n", d.name, d.family);
    options_wrap(c->out, d.forms, 2, c->width);
    options_wrap(c->out, d.doc, 2, c->width);
    return CLI_OK;
}
