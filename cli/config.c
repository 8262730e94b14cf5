/* config: every effective key of a job, its value, and where it came from. */
#include <string.h>

#include "cli/commands.h"
#include "cli/load.h"
#include "cli/show.h"

static void config_json(const struct cli *c, const struct conf_value *v, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *j = json_pack("{s:s, s:s?, s:s}", "key", v[i].key, "value", v[i].value, "origin",
                              v[i].origin);
        if (v[i].note) json_object_set_new(j, "note", json_string(v[i].note));
        json_array_append_new(list, j);
    }
    show_json(c, list);
}

enum cli_exit command_config(struct cli *c, const struct args *a)
{
    if (a->words != 1) return cli_fail(c, CLI_USAGE, "config: name one job file");
    struct loaded l;
    enum cli_exit code = load_job(c, a, a->word[0], NULL, &l);
    if (code == CLI_USAGE) return code;
    show_faults(c, l.faults);
    if (code != CLI_OK) return code;
    const struct conf_value *v = NULL;
    uint32_t n = conf_values(l.job, c->arena, &v);
    if (c->is_json) {
        config_json(c, v, n);
        return CLI_OK;
    }
    const char **cell = arena_array(c->arena, (size_t)(n + 1) * 3, sizeof(*cell));
    if (!cell) return cli_fail(c, CLI_FAILED, "out of memory");
    cell[0] = "key", cell[1] = "value", cell[2] = "from";
    for (uint32_t i = 0; i < n; i++) {
        cell[(size_t)3 * (i + 1)] = v[i].key;
        cell[(size_t)3 * (i + 1) + 1] = v[i].value ? v[i].value : "(none)";
        cell[(size_t)3 * (i + 1) + 2] =
            v[i].note ? arena_printf(c->arena, "%s (%s)", v[i].origin, v[i].note) : v[i].origin;
    }
    show_table(c->out, &(struct show_table){.columns = 3, .rows = n + 1, .cell = cell});
    return CLI_OK;
}
