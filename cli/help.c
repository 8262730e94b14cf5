/* help: the commands, or whatever has a name: a command, a key, a connector, an exit code ... */
#include <string.h>
#include <strings.h>

#include "cli/codes.h"
#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/man.h"
#include "cli/options.h"
#include "conf/conf.h"
#include "engine/base/nearest.h"
#include "engine/expr/func.h"

static void help_exits(const struct cli *c)
{
    fputs("\nexit codes:\n", c->out);
    for (const struct exit_doc *d = exit_docs; d->code; d++) {
        fprintf(c->out, "  %5s  %s\n", d->code, d->meaning);
    }
}

static json_t *help_exits_json(void)
{
    json_t *codes = json_object();
    for (const struct exit_doc *d = exit_docs; d->code; d++) {
        json_object_set_new(codes, d->code, json_string(d->meaning));
    }
    return codes;
}

static void help_all(const struct cli *c)
{
    fputs("streamrun runs streaming jobs with Apache Flink's semantics on one machine.\n\n"
          "usage: streamrun COMMAND [ARGUMENT]...\n\n",
          c->out);
    for (const struct command *k = commands; k->name; k++) {
        fprintf(c->out, "  %-12s %s\n", k->name, k->summary);
    }
    fputs("\n'streamrun help TOPIC' explains a command, a key of a job, a connector, a format, a\n"
          "function, an exit code, or the code at the end of an error.\n",
          c->out);
    help_exits(c);
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
    json_t *list = json_array();
    for (const struct command *k = commands; k->name; k++) {
        json_array_append_new(list, help_command_json(k));
    }
    show_json(c, json_pack("{s:o, s:o}", "commands", list, "exit-codes", help_exits_json()));
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
    options_wrap(c->out, option_nature(c->arena, o), 2, c->width);
    options_wrap(c->out, o->doc ? o->doc : "", 2, c->width);
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
            options_wrap(c->out, body + 2, 2, c->width);
        }
        return true;
    }
    return false;
}

/* One exit code, or all of them. */
static bool help_exit(const struct cli *c, const char *name)
{
    const struct exit_doc *d = exit_find(name);
    bool is_all = strcmp(name, "exit-codes") == 0;
    if (!d && !is_all) return false;
    if (c->is_json) {
        show_json(c, is_all ? help_exits_json()
                            : json_pack("{s:s, s:s, s:s}", "exit-code", d->code, "meaning",
                                        d->meaning, "doc", d->doc));
        return true;
    }
    for (const struct exit_doc *e = is_all ? exit_docs : d; e->code && (is_all || e == d); e++) {
        fprintf(c->out, "%sexit code %s: %s\n", is_all && e != exit_docs ? "\n" : "", e->code,
                e->meaning);
        options_wrap(c->out, e->doc, 2, c->width);
    }
    return true;
}

/* A code at the end of an error. */
static bool help_code(const struct cli *c, const char *name)
{
    const struct code_page *p = codes_find(name);
    if (!p) return false;
    if (c->is_json) {
        show_json(c, json_pack("{s:s, s:s, s:s, s:s?}", "code", p->code, "title", p->title, "doc",
                               p->page, "example", p->example));
        return true;
    }
    fprintf(c->out, "%s: %s\n", p->code, p->title);
    options_wrap(c->out, p->page, 2, c->width);
    for (const char *line = p->example; line && *line;) {
        int len = (int)strcspn(line, "\n");
        fprintf(c->out, "%s      %.*s\n", line == p->example ? "\n" : "", len, line);
        line += len + (line[len] ? 1 : 0);
    }
    return true;
}

static bool help_codes(const struct cli *c, const char *name)
{
    const struct code_page *p;
    if (strcmp(name, "codes") != 0) return help_code(c, name);
    json_t *list = json_array();
    for (uint32_t i = 0; (p = codes_page(i)) != NULL; i++) {
        if (c->is_json) {
            json_array_append_new(list,
                                  json_pack("{s:s, s:s}", "code", p->code, "title", p->title));
        } else {
            fprintf(c->out, "%s  %s\n", p->code, p->title);
        }
    }
    if (c->is_json) {
        show_json(c, list);
    } else {
        json_decref(list);
    }
    return true;
}

/* The name of a type, as in a schema. */
static bool help_is_type(const char *name)
{
    static const char *const types[] = {
        "types",         "type",     "BOOLEAN",   "TINYINT",    "SMALLINT", "INT",  "INTEGER",
        "BIGINT",        "FLOAT",    "DOUBLE",    "DECIMAL",    "NUMERIC",  "CHAR", "VARCHAR",
        "STRING",        "BINARY",   "VARBINARY", "BYTES",      "DATE",     "TIME", "TIMESTAMP",
        "TIMESTAMP_LTZ", "MULTISET", "VARIANT",   "STRUCTURED", NULL};
    uint32_t i = 0;
    while (types[i] && strcasecmp(types[i], name) != 0) {
        i++;
    }
    return types[i] != NULL;
}

/* A topic that another command explains: asks that one. */
static bool help_other(struct cli *c, const char *name)
{
    struct args one = {.words = 1, .word = {name}};
    struct func_doc d;
    for (enum registry_kind k = REGISTRY_SOURCE; k <= REGISTRY_FORMAT; k++) {
        struct registry_item item;
        for (uint32_t i = 0; registry_item(c->registry, k, i, &item); i++) {
            if (strcmp(item.name, name) == 0) return command_connectors(c, &one) == CLI_OK;
        }
    }
    if (functions_is_window(name)) {
        return (c->is_json ? help_places_json : help_places)(c, "window") > 0;
    }
    if (func_find(name, &d)) return command_functions(c, &one) == CLI_OK;
    return help_is_type(name) && (c->is_json ? help_places_json : help_places)(c, "schema") > 0;
}

/* The nearest of all that has a name. */
static const char *help_nearest(const struct cli *c, const char *name)
{
    const char *near[] = {NULL, NULL, NULL, NULL, NULL};
    const char **all = arena_array(c->arena, ARGS_MAX + 1, sizeof(*all));
    uint32_t n = 0;
    for (const struct command *k = commands; all && k->name && n < ARGS_MAX - 1; k++) {
        all[n++] = k->name;
    }
    if (!all) return NULL;
    all[n] = "exit-codes";
    near[0] = nearest_word(name, all);
    near[1] = conf_nearest_key(c->registry, c->arena, name);
    near[2] = func_nearest(name);
    for (enum registry_kind k = REGISTRY_SOURCE; k <= REGISTRY_FORMAT && !near[3]; k++) {
        near[3] = registry_nearest(c->registry, k, name);
    }
    const char *best = NULL;
    for (uint32_t i = 0; i < 4; i++) {
        if (near[i] && (!best || word_distance(name, near[i]) < word_distance(name, best))) {
            best = near[i];
        }
    }
    return best;
}

static enum cli_exit help_unknown(const struct cli *c, const char *name)
{
    const char *near = help_nearest(c, name);
    return cli_fail(c, CLI_USAGE, "nothing is called '%s'%s%s%s", name,
                    near ? "; did you mean '"
                         : "; 'streamrun help' lists the commands, 'connectors' and 'functions' "
                           "what a job may use",
                    near ? near : "", near ? "'?" : "");
}

enum cli_exit command_help(struct cli *c, const struct args *a)
{
    if (args_has(a, "man") || a->words > 0) registry_load_home(c->registry);
    if (args_has(a, "man")) {
        man_print(c);
        return CLI_OK;
    }
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
    } else if (!help_block(c, name) && !help_exit(c, name) && !help_codes(c, name) &&
               (c->is_json ? help_places_json : help_places)(c, name) == 0 &&
               !help_other(c, name)) {
        return help_unknown(c, name);
    }
    return CLI_OK;
}
