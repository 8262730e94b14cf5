/* log-level: what a running job lets through to its log. */
#include "cli/commands.h"
#include "cli/control.h"
#include "cli/running.h"
#include "cli/show.h"

static void log_level_show(const struct cli *c, json_t *levels)
{
    const char *name;
    json_t *level;
    json_object_foreach(levels, name, level)
    {
        fprintf(c->out, "%-16s %s\n", name, json_string_value(level));
    }
}

/* [JOB] COMPONENT LEVEL, or [JOB]. */
enum cli_exit command_log_level(struct cli *c, const struct args *a)
{
    json_t *request = json_pack("{s:s}", "command", "log-level");
    bool is_change = a->words >= 2;
    if (is_change) {
        json_object_set_new(request, "component", json_string(a->word[a->words - 2]));
        json_object_set_new(request, "level", json_string(a->word[a->words - 1]));
    }
    const char *job = a->words == 1 || a->words == 3 ? a->word[0] : NULL;
    json_t *answer = NULL;
    enum cli_exit code = running_ask_job(c, a, job, request, &answer);
    if (code != CLI_OK) return code;
    if (c->is_json) {
        show_json(c, json_incref(json_object_get(answer, "levels")));
    } else if (!is_change) {
        log_level_show(c, json_object_get(answer, "levels"));
    }
    json_decref(answer);
    return CLI_OK;
}
