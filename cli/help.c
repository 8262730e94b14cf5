/* help: the commands, one command, or a configuration key wherever it may stand. */
#include "cli/commands.h"
#include "cli/options.h"
#include "conf/conf.h"

static void help_all(const struct cli *c)
{
    fputs("streamrun runs streaming jobs with Apache Flink's semantics on one machine.\n\n"
          "usage: streamrun COMMAND [ARGUMENT]...\n\n",
          c->out);
    for (const struct command *k = commands; k->name; k++) {
        fprintf(c->out, "  %-12s %s\n", k->name, k->summary);
    }
    fputs("\n'streamrun help COMMAND' explains a command, 'streamrun help KEY' a key of a job.\n"
          "\nexit codes: 0 done, 1 the job failed, 2 wrong usage, 3 faults in the job file,\n"
          "  4 state missing, damaged or waiting for a decision, 5 already running,\n"
          "  6 records were set aside, 7 ended without saving, 8 no such running job,\n"
          "  9 a bounded job was interrupted, 141 stdout was closed\n",
          c->out);
}

static enum cli_exit help_key(struct cli *c, const char *key)
{
    const struct sr_opt *o;
    const char *where;
    uint32_t n = 0;
    json_t *list = json_array();
    for (; conf_option(c->registry, key, n, &o, &where); n++) {
        if (c->is_json) {
            const struct sr_opt one[] = {*o, SR_OPT_END};
            json_array_append_new(
                list, json_pack("{s:s, s:o}", "of", where, "option", options_json(one, "")));
            continue;
        }
        fprintf(c->out, "%s%s (%s)\n", n ? "\n" : "", key, where);
        options_wrap(c->out, option_nature(c->arena, o), 2, 100);
        options_wrap(c->out, o->doc ? o->doc : "", 2, 100);
        for (uint32_t i = 0; o->aliases && o->aliases[i]; i++) {
            fprintf(c->out, "  older name: %s\n", o->aliases[i]);
        }
    }
    if (c->is_json && n > 0) {
        show_json(c, list);
    } else {
        json_decref(list);
    }
    if (n > 0) return CLI_OK;
    const char *near = conf_nearest_key(c->registry, c->arena, key);
    return cli_fail(c, CLI_USAGE, "no command and no key '%s'%s%s%s", key,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

enum cli_exit command_help(struct cli *c, const struct args *a)
{
    if (a->words == 0) {
        help_all(c);
        return CLI_OK;
    }
    const struct command *k = command_find(a->word[0]);
    if (k) {
        command_usage(c, c->out, k);
        return CLI_OK;
    }
    return help_key(c, a->word[0]);
}
