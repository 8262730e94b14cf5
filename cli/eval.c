/* eval: one SQL expression, or one a line, computed by the engine itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/show.h"
#include "engine/base/code.h"
#include "engine/base/zone.h"
#include "engine/bind/bind.h"
#include "engine/data/host.h"
#include "engine/data/schema.h"
#include "engine/expr/program.h"

#define EVAL_LINE_MAX (1u << 20)

/* The words of an error on one line, whatever it quotes. */
static const char *eval_line(struct arena *a, const char *words)
{
    char *s = arena_text(a, words), code[CODE_LEN + 1];
    if (s) code_take(s, code);
    for (char *p = s; p && *p; p++) {
        if (*p == '\n' || *p == '\t') *p = ' ';
    }
    return s;
}

static enum cli_exit eval_one(struct cli *c, const struct args *a, const struct sr_host *host,
                              const char *text)
{
    struct sr_error err = {0};
    const struct expr *e = NULL;
    if (bind_constant(c->arena, text, &e, &err) != SR_OK) {
        return cli_fail(c, CLI_CONFIG, "%s", err.words); /* the fault's own code leads them */
    }
    struct program_text value;
    if (program_constant(c->arena, e, host->time_zone, host, &value, &err) != SR_OK) {
        return cli_error(c, CLI_FAILED, &err);
    }
    if (c->is_json) {
        show_json(c, json_pack("{s:s, s:s?}", "type", type_text(c->arena, &e->type), "value",
                               value.text));
        return CLI_OK;
    }
    if (args_has(a, "type")) fprintf(c->out, "%s\t", type_text(c->arena, &e->type));
    if (value.text) {
        (void)fwrite(value.text, 1, value.len, c->out);
    } else {
        fprintf(c->out, "NULL");
    }
    fprintf(c->out, "\n");
    return CLI_OK;
}

/* A value as a field: a tab, a newline, a backslash and control characters are escaped. */
static void eval_field(struct cli *c, const struct program_text *v)
{
    if (!v->text) fprintf(c->out, "\\N");
    for (uint32_t i = 0; v->text && i < v->len; i++) {
        unsigned char b = (unsigned char)v->text[i];
        if (b == '\\' || b == '\t' || b == '\n') {
            fprintf(c->out, "\\%c", b == '\t' ? 't' : b == '\n' ? 'n' : '\\');
        } else if (b < 0x20 || b == 0x7F) {
            fprintf(c->out, "\\x%02x", b);
        } else {
            fputc(b, c->out);
        }
    }
}

/* expression, type, value; errors stand in the value. */
static void eval_row(struct cli *c, const struct sr_host *host, const char *text)
{
    struct arena *arena = arena_new(); /* a line's own: a file may be long */
    struct sr_error err = {0};
    const struct expr *e = NULL;
    struct program_text value;
    if (!arena) return;
    if (bind_constant(arena, text, &e, &err) != SR_OK) {
        fprintf(c->out, "%s\t\t!VALIDATE %s\n", text, eval_line(arena, err.words));
    } else if (program_constant(arena, e, host->time_zone, host, &value, &err) != SR_OK) {
        fprintf(c->out, "%s\t%s\t!RUNTIME %s\n", text, type_text(arena, &e->type),
                eval_line(arena, err.words));
    } else {
        fprintf(c->out, "%s\t%s\t", text, type_text(arena, &e->type));
        eval_field(c, &value);
        fputc('\n', c->out);
    }
    arena_free(arena);
}

static enum cli_exit eval_file(struct cli *c, const struct sr_host *host, const char *path)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!in) return cli_fail(c, CLI_FAILED, "cannot open %s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    enum cli_exit code = CLI_OK;
    while (code == CLI_OK && (len = getline(&line, &room, in)) >= 0) {
        if ((size_t)len > EVAL_LINE_MAX) {
            code =
                cli_fail(c, CLI_FAILED, "%s: a line is longer than %u bytes", path, EVAL_LINE_MAX);
            break;
        }
        line[strcspn(line, "\t\r\n")] = '\0';
        if (*line && *line != '#') eval_row(c, host, line);
    }
    free(line);
    if (in != stdin) (void)fclose(in); /* read-only */
    return code;
}

enum cli_exit command_eval(struct cli *c, const struct args *a)
{
    const char *file = args_value(a, "file"), *zone = args_value(a, "time-zone");
    bool is_file = file && a->words == 0;
    if (!is_file && a->words != 1)
        return cli_fail(c, CLI_USAGE, "eval: one expression, in quotes, or --file FILE");
    struct sr_host host; /* a clock and random numbers */
    struct host_ctx ctx;
    struct zone *known = NULL;
    struct sr_error err = {0};
    if (zone && zone_load(zone, &known, &err) != SR_OK) return cli_error(c, CLI_USAGE, &err);
    zone_free(known);
    host_init(&host, &ctx, &c->env, NULL, "eval");
    host.time_zone = zone ? zone : "UTC";
    return is_file ? eval_file(c, &host, file) : eval_one(c, a, &host, a->word[0]);
}
