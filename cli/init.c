/* init: a commented skeleton of a job, from the option tables of a connector and a format.
 *
 * Which format and which columns a connector takes, only its own check knows: skeletons are tried
 * until one is valid, and only a valid one is printed.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/load.h"
#include "cli/options.h"
#include "conf/steps.h"

#define INIT_WIDTH 100
#define INIT_FILL  "CHANGE_ME"

/* One skeleton; NULL formats: the connector makes or takes rows itself. */
struct init {
    struct cli *cli;
    const char *words; /* of the command line, for the head */
    const struct sr_source_type *source;
    const struct sr_sink_type *sink;
    const struct sr_format_type *read, *write;
    bool is_one_column;
    bool has_key;
};

/* A plain scalar, or one in quotes where YAML would take it for something else. */
static const char *init_scalar(struct arena *a, const char *text)
{
    size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/ -");
    bool is_plain = *text && !text[plain] && *text != '-' && *text != ' ' && *text != '.';
    is_plain = is_plain && strcmp(text, "null") != 0;
    if (is_plain) return text;
    const char *out = "'";
    for (; *text && out; text++) {
        out = arena_printf(a, *text == '\'' ? "%s''" : "%s%c", out, *text);
    }
    return arena_printf(a, "%s'", out ? out : "'");
}

/* What stands behind a required or usual key: its default, or something of its kind. */
static const char *init_filler(const struct sr_opt *o)
{
    if (o->def) return o->def;
    switch (o->kind) {
    case SR_OPT_BOOL:
        return "true";
    case SR_OPT_INT:
    case SR_OPT_FLOAT:
        return "1";
    case SR_OPT_DURATION:
        return "10 s";
    case SR_OPT_SIZE:
        return "1 mb";
    case SR_OPT_CHOICE:
        return o->choices[0];
    case SR_OPT_TEXT:
        return strcmp(o->key, "url") == 0 ? "http://" INIT_FILL "/" : INIT_FILL;
    case SR_OPT_LIST:
    case SR_OPT_PAIRS:
        break;
    }
    return INIT_FILL;
}

static bool init_is_written(const char *key)
{
    static const char *const written[] = {"connector", "format", "schema", "from", "watermark"};
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        if (strcmp(written[i], key) == 0) return true;
    }
    return false;
}

/* A key with its doc: to be filled in, or behind a #. */
static void init_option(FILE *to, struct arena *a, const struct sr_opt *o, const char *prefix,
                        bool is_required)
{
    const char *doc = arena_printf(a, "%s (%s)", o->doc ? o->doc : "", option_nature(a, o));
    options_comment(to, doc ? doc : "", 4, INIT_WIDTH);
    if (is_required && o->kind == SR_OPT_PAIRS) {
        for (uint32_t i = 0; o->choices && o->choices[i]; i++) {
            fprintf(to, "    %s%s%s: " INIT_FILL "\n", prefix, o->key, o->choices[i]);
        }
    } else if (is_required) {
        fprintf(to, "    %s%s: %s\n", prefix, o->key, init_scalar(a, init_filler(o)));
    } else {
        const char *name = o->kind == SR_OPT_PAIRS ? "NAME" : ""; /* the key is a prefix */
        const char *value = o->def ? init_scalar(a, o->def) : "...";
        fprintf(to, "    #%s%s%s: %s\n", prefix, o->key, name, value);
    }
}

/* Required keys first, then the others. */
static void init_options(FILE *to, struct arena *a, const struct sr_opt *opts, const char *prefix)
{
    for (int pass = 0; pass < 2; pass++) {
        for (const struct sr_opt *o = opts; o && o->key; o++) {
            bool is_required = (o->flags & (SR_OPT_REQUIRED | SR_OPT_USUAL)) != 0;
            bool is_shown = (o->flags & (SR_OPT_IGNORED | SR_OPT_DEPRECATED)) == 0;
            if (is_required == (pass == 0) && is_shown && !init_is_written(o->key)) {
                init_option(to, a, o, prefix, is_required);
            }
        }
    }
}

static void init_format(FILE *to, struct arena *a, const struct sr_format_type *f)
{
    if (!f) return;
    fprintf(to, "    format: %s\n", f->name);
    init_options(to, a, f->opts, arena_printf(a, "%s.", f->name));
}

/* Rows that replace others by their key, which the record has beside its value. */
static void init_key(FILE *to, const struct init *n, const struct sr_format_type *f)
{
    if (!n->has_key) return;
    fprintf(to, "    primary-key: [%s]\n", n->is_one_column ? "line" : "id");
    if (f) fprintf(to, "    key.format: %s\n", f->name);
}

static void init_source(FILE *to, const struct init *n)
{
    struct arena *a = n->cli->arena;
    fprintf(to, "sources:\n  events:\n    connector: %s\n", n->source->name);
    init_options(to, a, n->source->opts, "");
    init_format(to, a, n->read);
    bool has_schema = n->source->schema != NULL;
    if (has_schema) {
        options_comment(to, "The columns are the connector's own.", 4, INIT_WIDTH);
    } else if (n->is_one_column) {
        fputs("    schema:\n      line: STRING\n", to);
    } else {
        fputs("    schema:                        # 'streamrun infer FILE' writes it\n"
              "      id: BIGINT\n      name: STRING\n      ts: TIMESTAMP(3)\n",
              to);
    }
    init_key(to, n, n->read);
    options_comment(to, "The event time and how late rows may be: windows need it.", 4, INIT_WIDTH);
    fputs("    #watermark: ts AS ts - INTERVAL '5' SECOND\n", to);
    init_options(to, a, steps_source_opts, "");
}

static void init_transform(FILE *to)
{
    fputs("\ntransforms:\n  rows:\n    from: events\n"
          "    # Rows for which it is not TRUE are dropped.\n"
          "    #where: id IS NOT NULL\n"
          "    # The columns that go on; all unless written ('streamrun functions').\n"
          "    #select: [id, UPPER(name) AS name]\n"
          "    # Rows of equal values are aggregated, by time with a window.\n"
          "    #window: TUMBLE(ts, INTERVAL '1' MINUTE)\n"
          "    #group-by: [name]\n",
          to);
}

static void init_sink(FILE *to, const struct init *n)
{
    struct arena *a = n->cli->arena;
    fprintf(to, "\nsinks:\n  out:\n    from: rows\n    connector: %s\n", n->sink->name);
    init_options(to, a, n->sink->opts, "");
    init_format(to, a, n->write);
    init_key(to, n, n->write);
    init_options(to, a, steps_sink_opts, "");
}

static void init_head(FILE *to, const struct init *n)
{
    struct arena *a = n->cli->arena;
    options_comment(
        to,
        arena_printf(a,
                     "A job, as `streamrun init%s` made it. Put your own words where " INIT_FILL
                     " stands; a key behind a # has the value shown unless "
                     "it is written. `streamrun validate FILE` checks it, `streamrun "
                     "help KEY` explains a key.",
                     n->words),
        0, INIT_WIDTH);
    fputs(
        "pipeline.name: " INIT_FILL "\n#parallelism.default: 1\n"
        "execution.checkpointing:\n  interval: 10 s\n"
        "  dir: state                       # a directory, or one SQLite file when it ends in .db\n"
        "#restart-strategy.type: exponential-delay\n\n",
        to);
}

/* The text of a skeleton, in the arena; NULL: out of memory. */
static const char *init_text(const struct init *n)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    if (!to) return NULL;
    init_head(to, n);
    init_source(to, n);
    init_transform(to);
    init_sink(to, n);
    bool is_whole = fclose(to) == 0;
    const char *out = is_whole ? arena_text_n(n->cli->arena, text, len) : NULL;
    free(text);
    return out;
}

/* Tries a skeleton; its first fault in *why when it is none. */
static enum cli_exit init_try(const struct init *n, const char **text, const char **why)
{
    static const struct args none = {0};
    struct loaded l;
    *text = init_text(n);
    if (!*text) return cli_fail(n->cli, CLI_FAILED, "out of memory");
    enum cli_exit code = load_job(n->cli, &none, NULL, *text, &l);
    for (uint32_t i = 0; code == CLI_CONFIG && !*why && i < l.faults->count; i++) {
        if (l.faults->fault[i].level == FAULT_ERROR) *why = l.faults->fault[i].words;
    }
    return code;
}

/* All ways to use the format: at both ends, at one, with one column, with a key; the first valid
 * one counts. */
static enum cli_exit init_find(struct init n, const struct sr_format_type *format,
                               bool is_format_given, const char **text, const char **why)
{
    for (uint32_t way = 0; way < 16; way++) {
        n.is_one_column = (way & 1u) != 0;
        n.read = (way & 2u) != 0 ? NULL : format;
        n.write = (way & 4u) != 0 ? NULL : format;
        n.has_key = (way & 8u) != 0;
        if (is_format_given && !n.read && !n.write) continue;
        enum cli_exit code = init_try(&n, text, why);
        if (code != CLI_CONFIG) return code;
    }
    return CLI_CONFIG;
}

/* The other end: the same connector where it can, else one that is always there. */
static enum cli_exit init_ends(struct init *n, const char *name)
{
    struct registry *r = n->cli->registry;
    n->source = registry_source(r, name);
    const struct sr_error *fault = registry_fault(r);
    n->sink = registry_sink(r, name);
    if (n->source || n->sink) {
        if (!n->source) n->source = registry_source(r, "filesystem");
        if (!n->sink) n->sink = registry_sink(r, "print");
        if (n->source && n->sink) return CLI_OK;
        return cli_fail(n->cli, CLI_FAILED,
                        "init: this streamrun was built without a connector "
                        "for the other end");
    }
    if (fault) return cli_fail(n->cli, CLI_USAGE, "init: %s", fault->words);
    registry_load_home(r);
    const char *near = registry_nearest(r, REGISTRY_SOURCE, name);
    if (!near) near = registry_nearest(r, REGISTRY_SINK, name);
    return cli_fail(n->cli, CLI_USAGE, "init: no connector '%s'%s%s%s", name,
                    near ? "; did you mean '" : "; 'streamrun connectors' lists them",
                    near ? near : "", near ? "'?" : "");
}

/* The format that was named, or else the usual one; NULL with a message: there is none. */
static const struct sr_format_type *init_format_of(struct cli *c, const char *given,
                                                   const char *usual)
{
    const struct sr_format_type *f = registry_format(c->registry, given ? given : usual);
    if (f || !given) return f;
    const char *near = registry_nearest(c->registry, REGISTRY_FORMAT, given);
    (void)cli_fail(c, CLI_USAGE, "init: no format '%s'%s%s%s", given,
                   near ? "; did you mean '" : "; 'streamrun connectors' lists them",
                   near ? near : "", near ? "'?" : "");
    return NULL;
}

static enum cli_exit init_print(const struct cli *c, const char *text)
{
    if (c->is_json) {
        show_json(c, json_pack("{s:s}", "job", text));
    } else {
        fputs(text, c->out);
    }
    return CLI_OK;
}

enum cli_exit command_init(struct cli *c, const struct args *a)
{
    const char *name = a->words > 0 ? a->word[0] : "filesystem";
    const char *given = a->words > 1 ? a->word[1] : NULL;
    const char *words = a->words > 0 ? arena_printf(c->arena, " %s", name) : "";
    if (given) words = arena_printf(c->arena, "%s %s", words, given);
    struct init n = {.cli = c, .words = words};
    enum cli_exit code = init_ends(&n, name);
    if (code != CLI_OK) return code;
    const struct sr_format_type *format = init_format_of(c, given, a->words == 0 ? "csv" : "json");
    if (given && !format) return CLI_USAGE;
    const char *text = NULL, *why = NULL;
    code = init_find(n, format, given != NULL, &text, &why);
    if (code == CLI_CONFIG) {
        return cli_fail(c, CLI_USAGE, "init: '%s' does not go with format '%s': %s", name,
                        format ? format->name : "", why ? why : "no skeleton is valid");
    }
    return code == CLI_OK ? init_print(c, text) : code;
}
