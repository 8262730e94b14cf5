/* validate: every fault of each job, what its paths guarantee, what may be lost all the same. */
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/load.h"
#include "cli/risk.h"
#include "cli/show.h"

/* What each source->sink path keeps, and the weakest link where it could keep more. */
static void validate_paths(const struct cli *c, const struct loaded *l)
{
    const struct plan_path *p = NULL;
    uint32_t n = plan_paths(c->arena, l->plan, &p);
    for (uint32_t i = 0; i < n; i++) {
        fprintf(c->out, "  %s -> %s: %s%s%s%s\n", l->plan->node[p[i].source_node].step,
                l->plan->node[p[i].sink_node].step, plan_path_words(&p[i]),
                p[i].weakest ? " (" : "", p[i].weakest ? p[i].weakest : "",
                p[i].weakest ? ")" : "");
    }
    if (l->plan->dead_letter) {
        const char *weakest = NULL;
        enum sr_guarantee g = plan_aside_guarantee(c->arena, l->plan, &weakest);
        fprintf(c->out, "  dead letters -> %s: %s%s%s%s\n", l->plan->dead_letter->node.sink->name,
                plan_guarantee_words(g), weakest ? " (" : "", weakest ? weakest : "",
                weakest ? ")" : "");
    }
}

static void validate_risks(const struct cli *c, const struct risks *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct risk *k = &r->risk[i];
        bool is_warning = k->level == FAULT_WARNING;
        if (!is_warning && c->is_quiet) continue;
        fprintf(c->out, "  %s: %s", is_warning ? "warning" : "notice", k->words);
        if (k->at.file && k->at.line > 0) fprintf(c->out, " (%s:%u)", k->at.file, k->at.line);
        fprintf(c->out, "\n    cure: %s\n", k->cure);
    }
}

static json_t *validate_paths_json(const struct cli *c, const struct loaded *l)
{
    json_t *list = json_array();
    const struct plan_path *p = NULL;
    uint32_t n = plan_paths(c->arena, l->plan, &p);
    for (uint32_t i = 0; i < n; i++) {
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?, s:b}", "source",
                                              l->plan->node[p[i].source_node].step, "sink",
                                              l->plan->node[p[i].sink_node].step, "guarantee",
                                              plan_guarantee_words(p[i].guarantee), "weakest",
                                              p[i].weakest, "decider", p[i].is_decided));
    }
    if (l->plan->dead_letter) {
        const char *weakest = NULL;
        enum sr_guarantee g = plan_aside_guarantee(c->arena, l->plan, &weakest);
        json_array_append_new(list,
                              json_pack("{s:n, s:s, s:s, s:s?}", "source", "sink", "dead-letter",
                                        "guarantee", plan_guarantee_words(g), "weakest", weakest));
    }
    return list;
}

static json_t *validate_risks_json(const struct risks *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->count; i++) {
        const struct risk *k = &r->risk[i];
        json_t *j =
            json_pack("{s:s, s:s, s:s}", "level", k->level == FAULT_WARNING ? "warning" : "notice",
                      "message", k->words, "cure", k->cure);
        if (k->at.file && k->at.line > 0) {
            json_object_set_new(j, "file", json_string(k->at.file));
            json_object_set_new(j, "line", json_integer(k->at.line));
        }
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *validate_connected_json(const struct connect_result *r)
{
    json_t *facts = json_array();
    for (uint32_t i = 0; i < r->asked.rows; i++) {
        json_array_append_new(facts, asked_row_json(&r->asked, i));
    }
    json_t *j = json_pack("{s:s, s:s?, s:o, s:o}", r->what, r->step, "fault", r->asked.fault,
                          "found", facts, "warnings", asked_words_json(&r->asked, SR_WARN));
    if (r->has_splits) json_object_set_new(j, "splits", json_integer(r->splits));
    return j;
}

/* ": topic orders, partitions 4; topic ..." */
static void validate_facts(const struct cli *c, const struct asked *k)
{
    for (uint32_t n = 0; n < k->rows * k->columns; n++) {
        const struct sr_fact *f = &k->fact[n];
        const char *between = n == 0 ? ": " : n % k->columns == 0 ? "; " : ", ";
        fprintf(c->out, "%s%s %s", between, asked_head(c->arena, f->name), asked_text(c->arena, f));
    }
}

/* "out: connected: topic orders, partitions 4" */
static void validate_connected_text(const struct cli *c, const struct connect_result *r)
{
    bool is_source = strcmp(r->what, "source") == 0, is_sink = strcmp(r->what, "sink") == 0;
    const char *of = is_source || is_sink ? "" : arena_printf(c->arena, " (%s)", r->what);
    const char *done = is_source ? "read" : is_sink ? "written" : "used";
    if (r->asked.fault) {
        fprintf(c->out, "  %s%s: cannot be %s: %s\n", r->step, of, done, r->asked.fault);
        return;
    }
    fprintf(c->out, "  %s%s: connected", r->step, of);
    if (r->has_splits) fprintf(c->out, ", %s", show_many(c->arena, r->splits, "partition"));
    validate_facts(c, &r->asked);
    (void)fputc('\n', c->out);
    for (uint32_t i = 0; i < r->asked.words; i++) {
        const struct ask_word *w = &r->asked.word[i];
        if (w->level >= SR_WARN) fprintf(c->out, "  warning: %s: %s\n", r->step, w->text);
    }
}

/* What --connect found, for people, or as `list`. False: something is not as a run needs it. */
static bool validate_connected(const struct cli *c, const struct connect_result *r, uint32_t count,
                               json_t *list)
{
    bool is_good = true;
    for (uint32_t i = 0; i < count; i++) {
        is_good = is_good && !r[i].asked.fault;
        if (list) {
            json_array_append_new(list, validate_connected_json(&r[i]));
        } else {
            validate_connected_text(c, &r[i]);
        }
    }
    return is_good;
}

static enum cli_exit validate_one(struct cli *c, const struct args *a, const char *path)
{
    struct loaded l;
    enum cli_exit code = load_job(c, a, path, NULL, &l);
    if (code == CLI_USAGE) return code;
    show_faults(c, l.faults);
    if (code != CLI_OK || !l.plan) return code;
    struct risks *r = arena_get(c->arena, sizeof(*r));
    if (!r) return cli_fail(c, CLI_FAILED, "out of memory");
    risks_find(r, c, &l);
    struct connect_result *met = NULL;
    uint32_t mets = 0;
    struct sr_error err = {0};
    if (args_has(a, "connect") && connect_all(c, l.plan, &met, &mets, &err) != SR_OK) {
        return cli_fail(c, CLI_FAILED, "%s", err.words);
    }
    json_t *list = c->is_json ? json_array() : NULL;
    bool is_met = validate_connected(c, met, c->is_json ? mets : 0, list);
    uint32_t warnings = l.faults->warnings + r->warnings;
    bool is_good = warnings == 0 || !args_has(a, "strict");
    if (c->is_json) {
        show_json(c, json_pack("{s:s, s:b, s:i, s:o, s:o, s:o}", "job", path, "valid", is_good,
                               "warnings", (int)warnings, "paths", validate_paths_json(c, &l),
                               "risks", validate_risks_json(r), "connected", list));
    } else {
        fprintf(c->out, "%s: %s\n", path, is_good ? "valid" : "refused by --strict");
        validate_paths(c, &l);
        is_met = validate_connected(c, met, mets, NULL);
        validate_risks(c, r);
    }
    if (!is_good) return CLI_CONFIG;
    return is_met ? CLI_OK : CLI_FAILED;
}

enum cli_exit command_validate(struct cli *c, const struct args *a)
{
    if (a->words == 0) return cli_fail(c, CLI_USAGE, "validate: name a job file, or several");
    enum cli_exit worst = CLI_OK;
    for (uint32_t i = 0; i < a->words; i++) {
        enum cli_exit code = validate_one(c, a, a->word[i]);
        if (code > worst) worst = code;
    }
    return worst;
}
