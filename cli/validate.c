/* validate: every fault of each job, and what its paths guarantee. */
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/show.h"

static enum cli_exit validate_one(struct cli *c, const struct args *a, const char *path)
{
    struct loaded l;
    enum cli_exit code = load_job(c, a, path, NULL, &l);
    if (code == CLI_USAGE) return code;
    show_faults(c, l.faults);
    if (code == CLI_OK && args_has(a, "strict") && l.faults->warnings > 0) code = CLI_CONFIG;
    if (code != CLI_OK || !l.plan) return code;
    if (c->is_json) {
        show_json(c, json_pack("{s:s, s:b, s:i}", "job", path, "valid", 1, "warnings",
                               (int)l.faults->warnings));
        return code;
    }
    fprintf(c->out, "%s: valid\n%s", path, plan_guarantees(c->arena, l.plan));
    return code;
}

enum cli_exit command_validate(struct cli *c, const struct args *a)
{
    if (a->words == 0) return cli_fail(c, CLI_USAGE, "validate: which job file?");
    enum cli_exit worst = CLI_OK;
    for (uint32_t i = 0; i < a->words; i++) {
        enum cli_exit code = validate_one(c, a, a->word[i]);
        if (code > worst) worst = code;
    }
    return worst;
}
