#include "cli/complete.h"

#include <string.h>
#include <unistd.h>

#include "cli/codes.h"
#include "cli/commands.h"
#include "cli/control.h"
#include "cli/load.h"
#include "cli/rundir.h"
#include "cli/usage.h"
#include "conf/conf.h"
#include "conf/steps.h"
#include "engine/expr/func.h"

struct complete {
    struct cli *cli;
    const struct command *command;
    const char *word; /* that is being written */
    const char *file; /* the first word that is none of an option: a job file, perhaps; or NULL */
    const char *done; /* in front of what is completed: "--define="; "" most often */
};

static void complete_offer(const struct complete *k, const char *text, const char *tail)
{
    const char *word = k->word + strlen(k->done);
    if (strncmp(text, word, strlen(word)) == 0) {
        fprintf(k->cli->out, "%s%s%s\n", k->done, text, tail);
    }
}

static void complete_commands(const struct complete *k)
{
    for (const struct command *o = commands; o->name; o++) {
        complete_offer(k, o->name, "");
    }
}

static void complete_options(const struct complete *k)
{
    for (const struct args_option *o = k->command->options; o->name; o++) {
        complete_offer(k, arena_printf(k->cli->arena, "--%s", o->name), "");
    }
}

static void complete_types(const struct complete *k, enum registry_kind from, enum registry_kind to)
{
    for (enum registry_kind kind = from; kind <= to; kind++) {
        struct registry_item item;
        for (uint32_t i = 0; registry_item(k->cli->registry, kind, i, &item); i++) {
            bool is_twice = kind == REGISTRY_SINK && from == REGISTRY_SOURCE &&
                            registry_source(k->cli->registry, item.name);
            if (!is_twice) complete_offer(k, item.name, "");
        }
    }
}

/* Function names are offered in the case in which they are begun. */
static void complete_functions(const struct complete *k)
{
    for (uint32_t i = 0; i < func_count(); i++) {
        char *name = arena_text(k->cli->arena, func_doc(i).name);
        bool is_lower = k->word[0] >= 'a' && k->word[0] <= 'z';
        for (char *p = name; p && is_lower && *p; p++) {
            if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
        }
        if (name) complete_offer(k, name, "");
    }
}

/* Names of the jobs that run; nothing is said of those that do not answer. */
static void complete_jobs(const struct complete *k)
{
    struct sr_error err = {0};
    const char *dir = NULL;
    if (rundir_open(k->cli, NULL, &dir, &err) != SR_OK) return;
    const char *const *ids = rundir_ids(k->cli, dir);
    for (uint32_t i = 0; ids && ids[i]; i++) {
        json_t *answer = NULL;
        json_t *request = json_pack("{s:s}", "command", "status");
        if (control_ask(k->cli, dir, ids[i], request, &answer, &err) != SR_OK) continue;
        const json_t *status = json_object_get(answer, "status");
        const char *name = json_string_value(json_object_get(status, "name"));
        if (name) complete_offer(k, name, "");
        json_decref(answer);
    }
}

static void complete_keys_of(const struct complete *k, const struct sr_opt *opts,
                             const char *prefix, const char *tail)
{
    for (const struct sr_opt *o = opts; o && o->key; o++) {
        if ((o->flags & SR_OPT_IGNORED) != 0) continue;
        const char *key = arena_printf(k->cli->arena, "%s%s", prefix, o->key);
        if (key) complete_offer(k, key, o->kind == SR_OPT_PAIRS ? "" : tail);
    }
}

static void complete_step_keys(const struct complete *k, const struct job_step *s)
{
    static const char *const section[] = {"sources", "transforms", "sinks"};
    static const struct sr_opt *const own[] = {steps_source_opts, steps_transform_opts,
                                               steps_sink_opts};
    struct arena *a = k->cli->arena;
    const char *prefix = arena_printf(a, "%s.%s.", section[s->kind], s->name.text);
    complete_keys_of(k, own[s->kind], prefix, "=");
    if (s->source) complete_keys_of(k, s->source->opts, prefix, "=");
    if (s->sink) complete_keys_of(k, s->sink->opts, prefix, "=");
    if (s->key_prefix) complete_keys_of(k, steps_keyed_opts, prefix, "=");
    if (s->key_format) {
        complete_keys_of(k, s->key_format->opts,
                         arena_printf(a, "%skey.%s.", prefix, s->key_format->name), "=");
    }
    if (s->format) {
        complete_keys_of(k, s->format->opts, arena_printf(a, "%s%s.", prefix, s->format->name),
                         "=");
    }
}

/* Keys of the job, and those of its steps when the job file is there to be read. */
static void complete_keys(const struct complete *k)
{
    static const struct args none = {0};
    struct loaded l;
    complete_keys_of(k, settings_opts, "", "=");
    if (!k->file || access(k->file, R_OK) != 0) return;
    (void)load_job(k->cli, &none, k->file, NULL, &l); /* its faults are not asked for */
    for (uint32_t i = 0; l.job && i < l.job->steps; i++) {
        complete_step_keys(k, &l.job->step[i]);
    }
}

/* key=...: the values that the key may have. */
static void complete_value(struct complete *k, const char *equals)
{
    const struct sr_opt *o = NULL;
    const char *where = NULL;
    struct arena *a = k->cli->arena;
    const char *key = k->word + strlen(k->done);
    key = arena_text_n(a, key, (size_t)(equals - key));
    bool is_of_step = strncmp(key, "sources.", 8) == 0 || strncmp(key, "sinks.", 6) == 0 ||
                      strncmp(key, "transforms.", 11) == 0;
    if (is_of_step) {
        const char *dot = strchr(strchr(key, '.') + 1, '.'); /* behind the step's name */
        key = dot ? dot + 1 : "";
    }
    k->done = arena_text_n(a, k->word, (size_t)(equals + 1 - k->word));
    if (!conf_option(k->cli->registry, key, 0, &o, &where)) return;
    if (o->kind == SR_OPT_BOOL) {
        complete_offer(k, "true", "");
        complete_offer(k, "false", "");
    }
    for (uint32_t i = 0; o->kind == SR_OPT_CHOICE && o->choices[i]; i++) {
        const char *c = o->choices[i]; /* the first of its spellings */
        if (*c) complete_offer(k, arena_text_n(a, c, strcspn(c, "|")), "");
    }
    if ((o->flags & SR_OPT_PATH) != 0) fputs(":files\n", k->cli->out);
}

/* Topics of `help`: all that has a name. */
static void complete_topics(const struct complete *k)
{
    const struct sr_opt *o = NULL;
    const char *key = NULL;
    complete_commands(k);
    complete_offer(k, "exit-codes", "");
    complete_offer(k, "codes", "");
    const struct code_page *p;
    for (uint32_t i = 0; (p = codes_page(i)) != NULL; i++) {
        complete_offer(k, p->code, "");
    }
    complete_types(k, REGISTRY_SOURCE, REGISTRY_FORMAT);
    for (uint32_t i = 0; conf_key(k->cli->registry, k->cli->arena, i, &key, &o); i++) {
        complete_offer(k, key, "");
    }
    complete_functions(k);
}

/* What a word is called in a usage or an option. */
static void complete_kind(struct complete *k, const char *kind)
{
    const char *equals = strchr(k->word + strlen(k->done), '=');
    if (strcmp(kind, "KEY=VALUE") == 0 && equals) {
        complete_value(k, equals);
    } else if (strcmp(kind, "KEY=VALUE") == 0) {
        complete_keys(k);
    } else if (strcmp(kind, "JOB") == 0) {
        complete_jobs(k);
    } else if (strcmp(kind, "CONNECTOR") == 0) {
        complete_types(k, REGISTRY_SOURCE, REGISTRY_SINK);
    } else if (strcmp(kind, "FORMAT") == 0) {
        complete_types(k, REGISTRY_FORMAT, REGISTRY_FORMAT);
    } else if (strcmp(kind, "FUNCTION") == 0) {
        complete_functions(k);
    } else if (strcmp(kind, "TOPIC") == 0) {
        complete_topics(k);
    } else if (strcmp(kind, "DIR") == 0) {
        fputs(":dirs\n", k->cli->out);
    } else if (strcmp(kind, "PATH") == 0 || strcmp(kind, "FILE") == 0 || strchr(kind, '.')) {
        fputs(":files\n", k->cli->out);
    } else if (*kind >= 'a' && *kind <= 'z') {
        complete_offer(k, kind, "");
    }
}

/* The option of one letter that a word begins, with its value right behind. */
static const struct args_option *complete_glued(const struct complete *k)
{
    if (k->word[0] != '-' || !k->word[1] || k->word[1] == '-' || !k->word[2]) return NULL;
    const char letter[] = {'-', k->word[1], '\0'};
    const struct args_option *o = usage_option(k->command, letter);
    return o && o->value ? o : NULL;
}

void complete_words(struct cli *c, const char *const *word, uint32_t words)
{
    registry_load_home(c->registry);
    struct complete k = {.cli = c, .word = words > 0 ? word[words - 1] : "", .done = ""};
    if (words <= 1) {
        complete_commands(&k);
        return;
    }
    k.command = command_find(word[0]);
    if (!k.command) return;
    const struct args_option *open = NULL; /* its value is the next word */
    uint32_t position = 0;
    for (uint32_t i = 1; i + 1 < words; i++) {
        const struct args_option *o = open ? NULL : usage_option(k.command, word[i]);
        bool is_word = !open && word[i][0] != '-';
        if (is_word && position++ == 0) k.file = word[i];
        open = o && o->value && !strchr(word[i], '=') ? o : NULL;
    }
    const struct args_option *o = usage_option(k.command, k.word);
    const char *equals = strchr(k.word, '=');
    const struct args_option *glued = complete_glued(&k); /* -Dkey */
    if (open) {
        complete_kind(&k, open->value);
    } else if (glued) {
        k.done = arena_text_n(c->arena, k.word, 2);
        complete_kind(&k, glued->value);
    } else if (o && o->value && equals && k.word[1] == '-') {
        k.done = arena_text_n(c->arena, k.word, (size_t)(equals + 1 - k.word));
        complete_kind(&k, o->value);
    } else if (k.word[0] == '-') {
        complete_options(&k);
    } else {
        const char *name[USAGE_WORDS_MAX];
        uint32_t n = usage_words(c->arena, k.command, position, name);
        for (uint32_t i = 0; i < n; i++) {
            complete_kind(&k, name[i]);
        }
    }
}
