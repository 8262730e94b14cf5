#include "cli/ask.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "cli/show.h"
#include "engine/data/host.h"

struct asking {
    struct cli *cli;
    struct asked *out;
    bool is_broken; /* out of memory */
};

/* --- Taking the answer ------------------------------------------------------------------------ */

/* A place for one more, in the arena. */
static void *ask_room(struct asking *k, void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room) return items;
    uint32_t more = *room > 0 ? *room * 2 : 16;
    void *grown = arena_array(k->cli->arena, more, size);
    if (!grown) {
        k->is_broken = true;
        return NULL;
    }
    if (count > 0) memcpy(grown, items, count * size);
    *room = more;
    return grown;
}

static sr_rc ask_row(struct sr_ask *a, const struct sr_fact *fact, uint32_t facts)
{
    struct asking *k = a->engine;
    struct asked *out = k->out;
    if (out->columns > 0 && out->columns != facts) return SR_EABI;
    out->columns = facts;
    size_t row_bytes = facts * sizeof(*fact);
    struct sr_fact *rows = ask_room(k, out->fact, out->rows, &out->room, row_bytes);
    if (!rows) return SR_ENOMEM;
    out->fact = rows;
    struct sr_fact *to = rows + (size_t)out->rows * facts;
    for (uint32_t i = 0; i < facts; i++) {
        to[i] =
            (struct sr_fact){.name = arena_text(k->cli->arena, fact[i].name),
                             .text = arena_text(k->cli->arena, fact[i].text ? fact[i].text : ""),
                             .number = fact[i].number};
        k->is_broken = k->is_broken || !to[i].name || !to[i].text;
        if (!fact[i].text) to[i].text = NULL;
    }
    out->rows++;
    return k->is_broken ? SR_ENOMEM : SR_OK;
}

SR_PRINTF(3, 4)
static void ask_tell(struct sr_ask *a, enum sr_level level, const char *fmt, ...)
{
    struct asking *k = a->engine;
    struct asked *out = k->out;
    char words[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(words, sizeof(words), fmt, args); /* cut */
    va_end(args);
    struct ask_word *list = ask_room(k, out->word, out->words, &out->word_room, sizeof(*list));
    const char *text = list ? arena_text(k->cli->arena, words) : NULL;
    k->is_broken = k->is_broken || !text;
    if (!text) return;
    out->word = list;
    list[out->words++] = (struct ask_word){level, text};
}

/* --- Asking ----------------------------------------------------------------------------------- */

typedef sr_rc ask_call(struct sr_ask *a, struct sr_error *err);

static sr_rc ask(struct cli *c, const struct plan *p, const char *step, ask_call *call,
                 struct sr_ask *a, struct asked *out)
{
    struct sr_host host;
    struct host_ctx *ctx = arena_get(c->arena, sizeof(*ctx));
    struct sr_home *home = home_new();
    struct asking k = {.cli = c, .out = out};
    struct sr_error err = {0};
    *out = (struct asked){.columns = 0};
    if (!ctx || !home) {
        home_close(home);
        return SR_ENOMEM;
    }
    host_init(&host, ctx, &c->env, home, step);
    host.time_zone = p->job->settings.time_zone;
    a->size = sizeof(*a);
    a->host = &host;
    a->interval_us = p->job->settings.interval.us;
    a->until_us = c->env.mono_us(&c->env) + ASK_US;
    a->row = ask_row;
    a->tell = ask_tell;
    a->engine = &k;
    if (call(a, &err) != SR_OK) {
        out->fault = arena_text(c->arena, err.words);
        k.is_broken = k.is_broken || !out->fault;
    }
    home_close(home);
    return k.is_broken ? SR_ENOMEM : SR_OK;
}

bool ask_can_source(const struct plan_node *n)
{
    return n->kind == PLAN_SOURCE && SR_HAS_FIELD(n->source, struct sr_source_type, ask) &&
           n->source->ask;
}

bool ask_can_sink(const struct plan_node *n)
{
    return n->kind == PLAN_SINK && SR_HAS_FIELD(n->sink, struct sr_sink_type, ask) && n->sink->ask;
}

static const struct sr_format_type *ask_type(const struct plan_node *n, bool is_key)
{
    return is_key ? (n->keyed ? n->keyed->how.key_format : NULL) : n->format;
}

bool ask_can_format(const struct plan_node *n, bool is_key)
{
    const struct sr_format_type *t = ask_type(n, is_key);
    return t && SR_HAS_FIELD(t, struct sr_format_type, ask) && t->ask;
}

sr_rc ask_source(struct cli *c, const struct plan *p, const struct plan_node *n, struct sr_ask *a,
                 struct asked *out)
{
    a->conf = n->conf;
    a->schema = n->brought;
    return ask(c, p, n->step, n->source->ask, a, out);
}

sr_rc ask_sink(struct cli *c, const struct plan *p, const struct plan_node *n, struct sr_ask *a,
               struct asked *out)
{
    a->conf = n->conf;
    a->schema = n->out;
    return ask(c, p, n->step, n->sink->ask, a, out);
}

sr_rc ask_format(struct cli *c, const struct plan *p, const struct plan_node *n, bool is_key,
                 struct sr_ask *a, struct asked *out)
{
    const struct sr_schema *valued = n->kind == PLAN_SOURCE ? n->valued : n->out;
    a->conf = is_key ? n->keyed->how.key_conf : n->format_conf;
    a->schema = is_key                            ? n->keyed->how.key
                : n->keyed && n->keyed->how.value ? n->keyed->how.value
                                                  : valued;
    a->is_write = n->kind == PLAN_SINK;
    return ask(c, p, n->step, ask_type(n, is_key)->ask, a, out);
}

/* --- Showing it ------------------------------------------------------------------------------- */

const struct sr_fact *asked_find(const struct asked *k, uint32_t row, const char *name)
{
    for (uint32_t i = 0; i < k->columns; i++) {
        const struct sr_fact *f = &k->fact[(size_t)row * k->columns + i];
        if (strcmp(f->name, name) == 0) return f;
    }
    return NULL;
}

const char *asked_text(struct arena *a, const struct sr_fact *f)
{
    if (f->text) return f->text;
    return f->number == SR_NO_NUMBER ? "-" : arena_printf(a, "%" PRId64, f->number);
}

json_t *asked_row_json(const struct asked *k, uint32_t row)
{
    json_t *j = json_object();
    for (uint32_t i = 0; i < k->columns; i++) {
        const struct sr_fact *f = &k->fact[(size_t)row * k->columns + i];
        json_object_set_new(j, f->name,
                            f->text                     ? json_string(f->text)
                            : f->number == SR_NO_NUMBER ? json_null()
                                                        : json_integer(f->number));
    }
    return j;
}

const char *asked_head(struct arena *a, const char *name)
{
    char *head = arena_text(a, name);
    for (char *at = head; at && *at; at++) {
        if (*at == '_') *at = ' ';
    }
    return head;
}

void asked_table(const struct cli *c, const struct asked *k)
{
    bool is_right[SHOW_COLUMNS_MAX] = {false};
    if (k->rows == 0 || k->columns > SHOW_COLUMNS_MAX) return;
    const char **cell = arena_array(c->arena, ((size_t)k->rows + 1) * k->columns, sizeof(*cell));
    for (uint32_t i = 0; cell && i < k->columns; i++) {
        cell[i] = asked_head(c->arena, k->fact[i].name);
        is_right[i] = !k->fact[i].text;
    }
    for (size_t i = 0; cell && i < (size_t)k->rows * k->columns; i++) {
        cell[k->columns + i] = asked_text(c->arena, &k->fact[i]);
    }
    if (cell) show_table(c->out, &(struct show_table){k->columns, is_right, k->rows + 1, cell});
}

void asked_tell(const struct cli *c, const char *step, const struct asked *k)
{
    for (uint32_t i = 0; i < k->words; i++) {
        const struct ask_word *w = &k->word[i];
        if (w->level < SR_WARN) {
            cli_note(c, "%s: %s", step, w->text);
        } else {
            cli_note(c, "warning: %s: %s", step, w->text);
        }
    }
}

json_t *asked_words_json(const struct asked *k, enum sr_level least)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < k->words; i++) {
        if (k->word[i].level >= least) {
            json_array_append_new(list, json_string(k->word[i].text));
        }
    }
    return list;
}
