/* plan: the operator graph as text, for dot(1), or as JSON. */
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/show.h"

enum cli_exit command_plan(struct cli *c, const struct args *a)
{
    if (a->words != 1) return cli_fail(c, CLI_USAGE, "plan: name one job file");
    struct loaded l;
    enum cli_exit code = load_job(c, a, a->word[0], NULL, &l);
    if (code == CLI_USAGE) return code;
    show_faults(c, l.faults);
    if (code != CLI_OK) return code;
    const char *text = c->is_json           ? plan_json(c->arena, l.plan)
                       : args_has(a, "dot") ? plan_dot(c->arena, l.plan)
                                            : plan_text(c->arena, l.plan);
    if (!text) return cli_fail(c, CLI_FAILED, "out of memory");
    fputs(text, c->out);
    return CLI_OK;
}
