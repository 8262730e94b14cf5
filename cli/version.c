/* version: of the program, and of what it stands on. */
#include <sqlite3.h>
#include <yaml.h>

#include "cli/commands.h"
#include "cli/show.h"

enum cli_exit command_version(struct cli *c, const struct args *a)
{
    (void)a;
    if (c->is_json) {
        show_json(c, json_pack("{s:s, s:i, s:i, s:s, s:s, s:s}", "version", CLI_VERSION, "abiMajor",
                               (int)SR_ABI_MAJOR, "abiMinor", (int)SR_ABI_MINOR, "sqlite",
                               sqlite3_libversion(), "libyaml", yaml_get_version_string(),
                               "jansson", JANSSON_VERSION));
        return CLI_OK;
    }
    fprintf(c->out, "streamrun %s\nplugin ABI %u.%u, sqlite %s, libyaml %s, jansson %s\n",
            CLI_VERSION, SR_ABI_MAJOR, SR_ABI_MINOR, sqlite3_libversion(),
            yaml_get_version_string(), JANSSON_VERSION);
    return CLI_OK;
}
