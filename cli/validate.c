/* validate: every fault of each job, and what its paths guarantee. */
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/show.h"

/* What each source->sink path keeps, and the weakest link where it could keep more. */
static void validate_print(struct cli *c, const char *path, const struct loaded *l)
{
    const struct plan_path *p = NULL;
    uint32_t n = plan_paths(c->arena, l->plan, &p);
    json_t *list = json_array();
    if (!c->is_json) fprintf(c->out, "%s: valid\n", path);
    for (uint32_t i = 0; i < n; i++) {
        const char *from = l->plan->node[p[i].source_node].step,
                   *to = l->plan->node[p[i].sink_node].step;
        const char *keeps = plan_guarantee_words(p[i].guarantee);
        if (c->is_json) {
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "source", from, "sink",
                                                  to, "guarantee", keeps, "weakest", p[i].weakest));
        } else {
            fprintf(c->out, "  %s -> %s: %s%s%s%s\n", from, to, keeps, p[i].weakest ? " (" : "",
                    p[i].weakest ? p[i].weakest : "", p[i].weakest ? ")" : "");
        }
    }
    if (c->is_json) {
        show_json(c, json_pack("{s:s, s:b, s:i, s:o}", "job", path, "valid", 1, "warnings",
                               (int)l->faults->warnings, "paths", list));
    } else {
        json_decref(list);
    }
}

static enum cli_exit validate_one(struct cli *c, const struct args *a, const char *path)
{
    struct loaded l;
    enum cli_exit code = load_job(c, a, path, NULL, &l);
    if (code == CLI_USAGE) return code;
    if (l.job && l.job->settings.storage.index == STORAGE_JOBMANAGER) {
        fault_add(l.faults, FAULT_WARNING, (struct place){path, 0, 0},
                  "set execution.checkpointing.dir, and storage to filesystem",
                  "checkpoints lie in memory only and die with the process "
                  "(execution.checkpointing.storage: jobmanager)");
    }
    show_faults(c, l.faults);
    if (code == CLI_OK && args_has(a, "strict") && l.faults->warnings > 0) code = CLI_CONFIG;
    if (code != CLI_OK || !l.plan) return code;
    validate_print(c, path, &l);
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
