#include "cli/options.h"

#include <inttypes.h>
#include <string.h>

static const char *option_kind(enum sr_opt_kind kind)
{
    switch (kind) {
    case SR_OPT_BOOL:
        return "true or false";
    case SR_OPT_INT:
        return "whole number";
    case SR_OPT_FLOAT:
        return "number";
    case SR_OPT_TEXT:
        return "text";
    case SR_OPT_DURATION:
        return "duration";
    case SR_OPT_SIZE:
        return "size";
    case SR_OPT_LIST:
        return "list";
    case SR_OPT_PAIRS:
        return "keys with this prefix";
    case SR_OPT_CHOICE:
        return "one of";
    }
    return "text";
}

static const char *option_choices(struct arena *a, const struct sr_opt *o)
{
    const char *text = "";
    for (uint32_t i = 0; o->choices && o->choices[i]; i++) {
        text = arena_printf(a, "%s%s%s", text ? text : "", i == 0 ? "" : ", ", o->choices[i]);
    }
    return text ? text : "";
}

static const char *option_range(struct arena *a, const struct sr_opt *o)
{
    if (o->min == 0 && o->max == 0) return "";
    if (o->kind == SR_OPT_DURATION) {
        return arena_printf(a, ", at least %s", show_duration(a, o->min));
    }
    if (o->kind == SR_OPT_SIZE) return arena_printf(a, ", at least %s", show_size(a, o->min));
    if (o->max >= INT64_MAX) return arena_printf(a, ", at least %" PRId64, o->min);
    return arena_printf(a, ", %" PRId64 " to %" PRId64, o->min, o->max);
}

const char *option_nature(struct arena *a, const struct sr_opt *o)
{
    const char *kind = o->kind == SR_OPT_CHOICE ? arena_printf(a, "one of %s", option_choices(a, o))
                       : (o->flags & SR_OPT_PATH) != 0 ? "path"
                                                       : option_kind(o->kind);
    return arena_printf(a, "%s%s%s%s%s%s", kind, option_range(a, o),
                        (o->flags & SR_OPT_REQUIRED) != 0 ? ", required" : "",
                        o->def ? ", default " : "", o->def ? (*o->def ? o->def : "''") : "",
                        (o->flags & SR_OPT_OURS) != 0 ? ", not in Flink" : "");
}

/* `mark` stands between the indentation and the words of each line; `head`, unless NULL, in place
 * of both in the first. */
static void option_lines(FILE *to, const char *text, const char *head, const char *mark, int indent,
                         int width)
{
    int at = 0, room = width - indent - (int)strlen(mark);
    while (*text) {
        int len = (int)strcspn(text, " \n");
        if (at > 0 && at + 1 + len > room) {
            fputc('\n', to);
            at = 0;
        }
        if (at == 0) {
            fprintf(to, "%*s%s%.*s", head ? 0 : indent, "", head ? head : mark, len, text);
            head = NULL;
            at = len;
        } else {
            fprintf(to, " %.*s", len, text);
            at += 1 + len;
        }
        text += len;
        while (*text == ' ' || *text == '\n') {
            text++;
        }
    }
    fprintf(to, "%s\n", head ? head : "");
}

void options_wrap(FILE *to, const char *text, int indent, int width)
{
    option_lines(to, text, NULL, "", indent, width);
}

void options_hang(FILE *to, const char *head, const char *text, int width)
{
    option_lines(to, text, head, "", (int)strlen(head), width);
}

void options_comment(FILE *to, const char *text, int indent, int width)
{
    option_lines(to, text, NULL, "# ", indent, width);
}

void options_print(const struct cli *c, const struct sr_opt *opts, const char *prefix)
{
    for (const struct sr_opt *o = opts; o && o->key; o++) {
        if ((o->flags & SR_OPT_IGNORED) != 0) continue;
        fprintf(c->out, "  %s%s\n", prefix, o->key);
        options_wrap(c->out, option_nature(c->arena, o), 6, c->width);
        options_wrap(c->out, o->doc ? o->doc : "", 6, c->width);
    }
}

json_t *options_json(const struct sr_opt *opts, const char *prefix)
{
    json_t *list = json_array();
    for (const struct sr_opt *o = opts; o && o->key; o++) {
        json_t *j =
            json_pack("{s:s+, s:s, s:b, s:s}", "key", prefix, o->key, "type", option_kind(o->kind),
                      "required", (o->flags & SR_OPT_REQUIRED) != 0, "doc", o->doc ? o->doc : "");
        if (o->def) json_object_set_new(j, "default", json_string(o->def));
        if (o->kind == SR_OPT_CHOICE) {
            json_t *choices = json_array();
            for (uint32_t i = 0; o->choices && o->choices[i]; i++) {
                json_array_append_new(choices, json_string(o->choices[i]));
            }
            json_object_set_new(j, "choices", choices);
        }
        json_array_append_new(list, j);
    }
    return list;
}
