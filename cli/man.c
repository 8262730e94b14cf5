#include "cli/man.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/options.h"
#include "conf/steps.h"

/* Words as they are: backslashes, and points and quotes at the begin of a line, are escaped. */
static void man_text(FILE *to, const char *text)
{
    bool is_start = true;
    for (; *text; text++) {
        if (is_start && (*text == '.' || *text == '\'')) fputs("\\&", to);
        is_start = *text == '\n';
        if (*text == '\\') {
            fputs("\\e", to);
        } else if (*text == '-') {
            fputs("\\-", to);
        } else {
            fputc(*text, to);
        }
    }
}

/* ".TP" with a head in bold. */
static void man_item(FILE *to, const char *prefix, const char *head, const char *text)
{
    fputs(".TP\n.B ", to);
    man_text(to, prefix);
    man_text(to, head);
    fputc('\n', to);
    man_text(to, text);
    fputc('\n', to);
}

static bool man_is_common(const struct args_option *o)
{
    static const char *const common[] = {"json", "quiet", "verbose", "help"};
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
        if (strcmp(common[i], o->name) == 0) return true;
    }
    return false;
}

static void man_options(const struct cli *c, const struct command *k, bool is_common)
{
    for (const struct args_option *o = k->options; o->name; o++) {
        if (man_is_common(o) != is_common) continue;
        const char *letter = o->letter ? arena_printf(c->arena, "-%c, ", o->letter) : "";
        const char *head = arena_printf(c->arena, "--%s%s%s", o->name, o->value ? " " : "",
                                        o->value ? o->value : "");
        man_item(c->out, letter, head ? head : "", o->doc);
    }
}

static void man_commands(const struct cli *c)
{
    fputs(".SH COMMANDS\n", c->out);
    for (const struct command *k = commands; k->name; k++) {
        fputs(".SS ", c->out);
        man_text(c->out, k->name);
        fputc(' ', c->out);
        man_text(c->out, k->usage);
        fputc('\n', c->out);
        man_text(c->out, k->summary);
        fputs(".\n", c->out);
        if (k->doc) man_text(c->out, k->doc);
        fputc('\n', c->out);
        man_options(c, k, false);
    }
    fputs(".SS Every command\n", c->out);
    man_options(c, &commands[0], true);
}

static void man_keys(const struct cli *c, const struct sr_opt *opts, const char *prefix)
{
    for (const struct sr_opt *o = opts; o && o->key; o++) {
        if ((o->flags & SR_OPT_IGNORED) != 0) continue;
        const char *nature = option_nature(c->arena, o);
        const char *text = arena_printf(c->arena, "%s (%s)", o->doc ? o->doc : "", nature);
        man_item(c->out, prefix, o->key, text ? text : "");
    }
}

static void man_job(const struct cli *c)
{
    static const struct {
        const char *title;
        const struct sr_opt *opts;
    } tables[] = {{"Keys of a job", settings_opts},
                  {"Keys of a source", steps_source_opts},
                  {"Keys of a transform", steps_transform_opts},
                  {"Keys of a sink", steps_sink_opts},
                  {"Keys of a source or sink whose records have keys", steps_keyed_opts}};
    fputs(".SH JOB FILE\nOne YAML file is one job: Flink's configuration keys, and under sources, "
          "transforms and sinks a name for each step with its keys.\n",
          c->out);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        fprintf(c->out, ".SS %s\n", tables[i].title);
        man_keys(c, tables[i].opts, "");
    }
}

static void man_types(const struct cli *c)
{
    static const char *const kind[] = {"Source", "Sink", "Format"};
    fputs(".SH CONNECTORS AND FORMATS\n", c->out);
    for (enum registry_kind k = REGISTRY_SOURCE; k <= REGISTRY_FORMAT; k++) {
        struct registry_item item;
        for (uint32_t i = 0; registry_item(c->registry, k, i, &item); i++) {
            fprintf(c->out, ".SS %s %s\n", kind[k], item.name);
            man_text(c->out, item.doc);
            fputc('\n', c->out);
            bool is_format = k == REGISTRY_FORMAT;
            man_keys(c, item.opts, is_format ? arena_printf(c->arena, "%s.", item.name) : "");
        }
    }
}

void man_print(const struct cli *c)
{
    fputs(".TH STREAMRUN 1 \"\" \"streamrun " CLI_VERSION "\"\n.SH NAME\n"
          "streamrun \\- run streaming jobs with Apache Flink's semantics on one machine\n"
          ".SH SYNOPSIS\n.B streamrun\n.I COMMAND\n[\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n"
          "A job is one YAML file with Flink's configuration keys, connector options and SQL "
          "expressions.\nstdout carries records or the asked\\-for answer, everything else goes to "
          "stderr.\n",
          c->out);
    man_commands(c);
    man_job(c);
    man_types(c);
    fputs(".SH EXIT STATUS\n", c->out);
    for (const struct exit_doc *d = exit_docs; d->code; d++) {
        const char *text = arena_printf(c->arena, "%s. %s", d->meaning, d->doc);
        man_item(c->out, "", d->code, text ? text : "");
    }
    fputs(".SH ENVIRONMENT\n", c->out);
    man_item(c->out, "", "STREAMRUN_CONF_DIR",
             "Directory whose config.yaml or flink-conf.yaml has defaults for every job.");
    man_item(c->out, "", "STREAMRUN_RUN_DIR",
             "Where running jobs listen; /tmp/streamrun-UID unless set.");
    man_item(c->out, "", "XDG_STATE_HOME",
             "Checkpoints go to streamrun/checkpoints in it when no directory is set.");
    man_item(c->out, "", "NO_COLOR", "Set to anything: no colour, on a terminal too.");
}
