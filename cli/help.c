/* help: the commands, one command, or a configuration key wherever it may stand. */
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "conf/conf.h"

#define HELP_WIDTH 100

static const struct {
    int code;
    const char *meaning;
} help_codes[] = {
    {CLI_OK, "finished; or ended as asked, with its state saved"},
    {CLI_FAILED, "the job failed"},
    {CLI_USAGE, "wrong usage of the command line"},
    {CLI_CONFIG, "faults in the job file or configuration"},
    {CLI_STATE, "the state is missing, damaged, does not fit, or waits for a decision"},
    {CLI_BUSY, "the job is running already, or its state is held"},
    {CLI_DIVERTED, "finished, but records were set aside (with --fail-on-dead-letter)"},
    {CLI_UNSAVED, "ended by a signal without saving the state it promised"},
    {CLI_NO_JOB, "no such running job"},
    {CLI_SUSPENDED, "a bounded job was ended by a signal, state saved: --continue goes on"},
    {CLI_CLOSED, "stdout was closed"},
};
enum { HELP_CODES = sizeof(help_codes) / sizeof(help_codes[0]) };

static void help_all(const struct cli *c)
{
    fputs("streamrun runs streaming jobs with Apache Flink's semantics on one machine.\n\n"
          "usage: streamrun COMMAND [ARGUMENT]...\n\n",
          c->out);
    for (const struct command *k = commands; k->name; k++) {
        fprintf(c->out, "  %-12s %s\n", k->name, k->summary);
    }
    fputs("\n'streamrun help COMMAND' explains a command, 'streamrun help KEY' a key of a job.\n"
          "\nexit codes:\n",
          c->out);
    for (uint32_t i = 0; i < HELP_CODES; i++) {
        fprintf(c->out, "  %5d  %s\n", help_codes[i].code, help_codes[i].meaning);
    }
    fputs("  128+n  ended at once by a second signal n\n", c->out);
}

static json_t *help_command_json(const struct command *k)
{
    json_t *options = json_array();
    for (const struct args_option *o = k->options; o->name; o++) {
        char letter[2] = {o->letter, '\0'};
        json_t *j =
            json_pack("{s:s, s:s?, s:s}", "name", o->name, "value", o->value, "doc", o->doc);
        if (o->letter) json_object_set_new(j, "letter", json_string(letter));
        if (o->alias) json_object_set_new(j, "alias", json_string(o->alias));
        json_array_append_new(options, j);
    }
    return json_pack("{s:s, s:s, s:s, s:s?, s:o}", "command", k->name, "usage", k->usage, "summary",
                     k->summary, "doc", k->doc, "options", options);
}

static void help_all_json(const struct cli *c)
{
    json_t *list = json_array(), *codes = json_object();
    for (const struct command *k = commands; k->name; k++) {
        json_array_append_new(list, help_command_json(k));
    }
    for (uint32_t i = 0; i < HELP_CODES; i++) {
        json_object_set_new(codes, arena_printf(c->arena, "%d", help_codes[i].code),
                            json_string(help_codes[i].meaning));
    }
    show_json(c, json_pack("{s:o, s:o}", "commands", list, "exit-codes", codes));
}

/* Two places of a key that say the same are told once. */
static bool help_is_same(struct arena *a, const struct sr_opt *x, const struct sr_opt *y)
{
    return strcmp(x->key, y->key) == 0 && strcmp(x->doc ? x->doc : "", y->doc ? y->doc : "") == 0 &&
           strcmp(option_nature(a, x), option_nature(a, y)) == 0;
}

static void help_option(const struct cli *c, const char *key, const struct sr_opt *o,
                        const char *where)
{
    bool is_older = false;
    for (uint32_t i = 0; o->aliases && o->aliases[i]; i++) {
        is_older = is_older || strcmp(o->aliases[i], key) == 0;
    }
    fprintf(c->out, "%s (%s)\n", is_older ? o->key : key, where);
    options_wrap(c->out, option_nature(c->arena, o), 2, HELP_WIDTH);
    options_wrap(c->out, o->doc ? o->doc : "", 2, HELP_WIDTH);
    for (uint32_t i = 0; o->aliases && o->aliases[i]; i++) {
        fprintf(c->out, "  older name: %s\n", o->aliases[i]);
    }
}

/* Every place of the key; answers how many there are. */
static uint32_t help_places(const struct cli *c, const char *key)
{
    const struct sr_opt *o, *last = NULL;
    const char *where, *wheres = "";
    uint32_t n = 0;
    for (; conf_option(c->registry, key, n, &o, &where); n++) {
        if (last && help_is_same(c->arena, last, o)) {
            wheres = arena_printf(c->arena, "%s, %s", wheres, where);
            continue;
        }
        if (last) {
            help_option(c, key, last, wheres);
            fputc('\n', c->out);
        }
        last = o;
        wheres = where;
    }
    if (last) help_option(c, key, last, wheres);
    return n;
}

static uint32_t help_places_json(const struct cli *c, const char *key)
{
    const struct sr_opt *o;
    const char *where;
    uint32_t n = 0;
    json_t *list = json_array();
    for (; conf_option(c->registry, key, n, &o, &where); n++) {
        const struct sr_opt one[] = {*o, SR_OPT_END};
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "of", where, "options", options_json(one, "")));
    }
    if (n > 0) {
        show_json(c, list);
    } else {
        json_decref(list);
    }
    return n;
}

static const struct {
    const char *name, *text;
} help_blocks[] = {
    {"sources",
     "sources: NAME: {connector: ..., format: ..., schema: ...}\n\nWhere rows come from; "
     "'streamrun connectors' lists the connectors and formats, 'streamrun help KEY' "
     "explains a key, such as schema, watermark or on-error."},
    {"transforms",
     "transforms: NAME: {from: ..., where: ..., select: [...]}\n\nWhat happens to rows "
     "between sources and sinks: where, select, window and group-by; see 'streamrun "
     "help KEY' for each, 'streamrun functions' for what select and where may use."},
    {"sinks",
     "sinks: NAME: {from: ..., connector: ...}\n\nWhere rows go; 'streamrun connectors' lists "
     "the connectors, 'streamrun help KEY' explains a key, such as from or "
     "sink.delivery-guarantee."},
};

static bool help_block(const struct cli *c, const char *name)
{
    for (size_t i = 0; i < sizeof(help_blocks) / sizeof(help_blocks[0]); i++) {
        if (strcmp(help_blocks[i].name, name) != 0) continue;
        if (c->is_json) {
            show_json(c, json_pack("{s:s, s:s}", "block", name, "doc", help_blocks[i].text));
        } else {
            const char *body = strchr(help_blocks[i].text, '\n');
            fprintf(c->out, "%.*s\n", (int)(body - help_blocks[i].text), help_blocks[i].text);
            options_wrap(c->out, body + 2, 2, HELP_WIDTH);
        }
        return true;
    }
    return false;
}

static enum cli_exit help_unknown(const struct cli *c, const char *key)
{
    const char *near = conf_nearest_key(c->registry, c->arena, key);
    return cli_fail(c, CLI_USAGE, "no command and no key '%s'%s%s%s", key,
                    near ? "; did you mean '" : "; 'streamrun help' lists the commands",
                    near ? near : "", near ? "'?" : "");
}

enum cli_exit command_help(struct cli *c, const struct args *a)
{
    if (a->words == 0) {
        (c->is_json ? help_all_json : help_all)(c);
        return CLI_OK;
    }
    const char *name = a->word[0];
    const struct command *k = command_find(name);
    if (k && c->is_json) {
        show_json(c, help_command_json(k));
    } else if (k) {
        command_usage(c, c->out, k);
    } else if (!help_block(c, name) &&
               (c->is_json ? help_places_json : help_places)(c, name) == 0) {
        return help_unknown(c, name);
    }
    return CLI_OK;
}
