/* dead-letter list | show | replay: what was set aside, and once more through the job. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/letter_list.h"
#include "cli/named.h"
#include "cli/replay.h"
#include "cli/replay_ledger.h"
#include "cli/show.h"

struct dead_letter {
    struct cli *c;
    const struct args *args;
    struct loaded loaded; /* job NULL: a path was named */
    struct letter_list letters;
    struct letter_list originals; /* of the job, when the letters lie elsewhere */
    bool has_originals;
    struct replay_ledger ledger;
};

/* --- Where they lie --------------------------------------------------------------------------- */

static const char *dead_letter_value(const struct dead_letter *d, const char *key)
{
    const struct conf_value *v = NULL;
    uint32_t count = conf_values(d->loaded.job, d->c->arena, &v);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(v[i].key, key) == 0) return v[i].value;
    }
    return NULL;
}

static bool dead_letter_is_job(const char *path)
{
    size_t len = strlen(path);
    return (len > 5 && strcmp(path + len - 5, ".yaml") == 0) ||
           (len > 4 && strcmp(path + len - 4, ".yml") == 0);
}

/* The target of the job's dead letters, as a path that can be read. `job` for people; it is read
 * from a file or a description, as load_job. */
static enum cli_exit dead_letter_of_job(struct dead_letter *d, const char *job,
                                        const struct named *from, const char **path)
{
    struct cli *c = d->c;
    enum cli_exit code = load_job(c, d->args, from->path, from->text, &d->loaded);
    if (code == CLI_USAGE) return code;
    if (d->loaded.faults->errors > 0) show_faults(c, d->loaded.faults);
    if (code != CLI_OK) return code;
    const struct plan_dead_letter *to = d->loaded.plan->dead_letter;
    if (!to) return cli_fail(c, CLI_CONFIG, "%s: the job has no `dead-letter:` block", job);
    const char *format = to->node.format ? to->node.format->name : NULL;
    *path = dead_letter_value(d, "dead-letter.path");
    if (!*path || (format && strcmp(format, "json") != 0)) {
        return cli_fail(c, CLI_CONFIG,
                        "%s: dead letters can be read back from the filesystem as JSON lines, and "
                        "from SQLite; these go to connector '%s'%s%s",
                        job, to->node.sink->name, format ? ", format " : "", format ? format : "");
    }
    return CLI_OK;
}

/* Reads the letters that are meant, and what was replayed of them. */
static enum cli_exit dead_letter_read(struct dead_letter *d, const char *path, const char *table)
{
    struct cli *c = d->c;
    struct sr_error err = {0};
    const char *other = args_value(d->args, "letters");
    if (other && d->loaded.job) {
        d->has_originals = letter_list_read(c, path, table, &d->originals, &err) == SR_OK;
        table = NULL;
    }
    const char *given = args_value(d->args, "table");
    sr_rc rc = letter_list_read(c, other ? other : path, given ? given : table, &d->letters, &err);
    if (rc == SR_EABSENT && d->loaded.job && !other) return CLI_OK; /* none was ever written */
    if (rc == SR_EABSENT) {
        return cli_fail(c, CLI_FAILED, "there are no letters at %s", d->letters.path);
    }
    if (rc == SR_OK) rc = replay_ledger_open(c, &d->letters, &d->ledger, &err);
    return rc == SR_OK ? CLI_OK : cli_fail(c, CLI_FAILED, "%s", err.words);
}

/* Whom does the word mean that is no file of letters? */
static enum cli_exit dead_letter_name(struct dead_letter *d, const char *where, struct named *job)
{
    struct cli *c = d->c;
    struct sr_error ignored;
    struct sr_stat stat;
    const char *full = cli_absolute(c, where);
    bool is_there = c->env.files->stat(c->env.files, full, &stat, &ignored) == SR_OK;
    if (is_there && strchr(where, '/')) return CLI_OK;
    enum cli_exit code = named_find(c, d->args, where, job);
    if (code == CLI_OK && is_there) {
        return cli_fail(c, CLI_USAGE,
                        "'%s' is a job, and a path here: say which by the job's file or id, or "
                        "./%s",
                        where, where);
    }
    if (is_there && code == CLI_NO_JOB) return CLI_OK;
    if (code != CLI_NO_JOB) return code;
    return cli_fail(c, CLI_FAILED,
                    "there are no letters at %s, and no job of that name runs or has a "
                    "checkpoint in %s (--checkpoints looks elsewhere)",
                    full, job->dir);
}

static enum cli_exit dead_letter_open(struct dead_letter *d, const char *where)
{
    struct named job = {.path = dead_letter_is_job(where) ? where : NULL};
    const char *path = where, *table = NULL;
    enum cli_exit code = job.path ? CLI_OK : dead_letter_name(d, where, &job);
    if (code == CLI_OK && (job.path || job.text)) {
        code = dead_letter_of_job(d, where, &job, &path);
        if (code == CLI_OK) table = dead_letter_value(d, "dead-letter.table-name");
    }
    return code == CLI_OK ? dead_letter_read(d, path, table) : code;
}

/* --- Showing ---------------------------------------------------------------------------------- */

static json_t *dead_letter_json(const struct dead_letter *d, const struct letter_row *l)
{
    json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "id", l->id, "time", l->time,
                          "step", l->step, "source", l->source, "split", l->split, "error",
                          l->error, "replayed", replay_ledger_has(&d->ledger, l->id));
    if (l->offset >= 0) (void)json_object_set_new(j, "offset", json_integer(l->offset));
    if (l->line >= 0) (void)json_object_set_new(j, "line", json_integer(l->line));
    if (l->attempt >= 0) (void)json_object_set_new(j, "attempt", json_integer(l->attempt));
    if (l->raw) {
        json_t *text = json_stringn((const char *)l->raw, l->raw_len);
        if (text) (void)json_object_set_new(j, "text", text); /* unless it is no UTF-8 */
    }
    return j;
}

static bool dead_letter_is_named(const struct dead_letter *d, const struct letter_row *l)
{
    const struct args *a = d->args;
    for (uint32_t i = 2; i < a->words; i++) {
        if (strcmp(a->word[i], l->id) == 0) return true;
    }
    return a->words <= 2;
}

static void dead_letter_table(const struct dead_letter *d)
{
    enum { FIELDS = 7 };
    static const char *const head[FIELDS] = {"id",     "time", "step", "split",
                                             "offset", "line", "error"};
    static const bool is_right[FIELDS] = {false, false, false, false, true, true, false};
    struct arena *a = d->c->arena;
    const char **cell = arena_array(a, ((size_t)d->letters.count + 1) * FIELDS, sizeof(*cell));
    if (!cell) return;
    memcpy(cell, head, sizeof(head));
    uint32_t rows = 1;
    for (uint32_t i = 0; i < d->letters.count; i++) {
        const struct letter_row *l = &d->letters.item[i];
        const char **row = cell + (size_t)rows++ * FIELDS;
        bool is_replayed = replay_ledger_has(&d->ledger, l->id);
        row[0] = l->id;
        row[1] = l->time;
        row[2] = l->step;
        row[3] = l->split;
        row[4] = l->offset >= 0 ? arena_printf(a, "%lld", (long long)l->offset) : "";
        row[5] = l->line >= 0 ? arena_printf(a, "%lld", (long long)l->line) : "";
        row[6] = is_replayed ? arena_printf(a, "%s (replayed)", l->error) : l->error;
    }
    show_table(d->c->out, &(struct show_table){FIELDS, is_right, rows, cell});
}

static enum cli_exit dead_letter_list(const struct dead_letter *d)
{
    if (!d->c->is_json) {
        if (d->letters.count > 0) dead_letter_table(d);
        return CLI_OK;
    }
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->letters.count; i++) {
        (void)json_array_append_new(list, dead_letter_json(d, &d->letters.item[i]));
    }
    show_json(d->c, list);
    return CLI_OK;
}

static void dead_letter_print(const struct dead_letter *d, const struct letter_row *l)
{
    FILE *to = d->c->out;
    fprintf(to, "letter %s of %s%s\n", l->id, l->time,
            replay_ledger_has(&d->ledger, l->id) ? ", replayed" : "");
    fprintf(to, "  step    %s\n", l->step);
    if (*l->source) {
        fprintf(to, "  source  %s\n  split   %s\n  offset  %lld\n", l->source, l->split,
                (long long)l->offset);
    }
    if (l->line >= 0) fprintf(to, "  line    %lld\n", (long long)l->line);
    if (l->attempt >= 0) fprintf(to, "  attempt %lld\n", (long long)l->attempt);
    fprintf(to, "  error   %s\n  raw     ", l->error);
    for (size_t i = 0; i < l->raw_len; i++) {
        uint8_t b = l->raw[i];
        if (b < ' ' || b == 0x7f) {
            fprintf(to, "\\x%02x", b);
        } else {
            (void)fputc(b, to);
        }
    }
    (void)fputc('\n', to);
}

static enum cli_exit dead_letter_show(const struct dead_letter *d)
{
    bool is_raw = args_has(d->args, "raw");
    json_t *list = json_array();
    for (uint32_t i = 2; i < d->args->words; i++) {
        if (!letter_list_find(&d->letters, d->args->word[i])) {
            json_decref(list);
            return cli_fail(d->c, CLI_USAGE, "there is no letter '%s'", d->args->word[i]);
        }
    }
    for (uint32_t i = 0; i < d->letters.count; i++) {
        const struct letter_row *l = &d->letters.item[i];
        if (!dead_letter_is_named(d, l)) continue;
        if (is_raw) {
            (void)fwrite(l->raw, 1, l->raw_len, d->c->out);
            (void)fputc('\n', d->c->out);
        } else if (d->c->is_json) {
            (void)json_array_append_new(list, dead_letter_json(d, l));
        } else {
            dead_letter_print(d, l);
        }
    }
    if (d->c->is_json && !is_raw) {
        show_json(d->c, list);
    } else {
        json_decref(list);
    }
    return CLI_OK;
}

static enum cli_exit dead_letter_replay(struct dead_letter *d)
{
    if (!d->loaded.job) {
        return cli_fail(
            d->c, CLI_USAGE,
            "dead-letter replay: name the job, or its file; --letters PATH names letters "
            "that lie elsewhere");
    }
    if (d->letters.count == 0) {
        cli_note(d->c, "there are no dead letters");
        return CLI_OK;
    }
    const struct replay_what what = {.loaded = &d->loaded,
                                     .letters = &d->letters,
                                     .originals = d->has_originals ? &d->originals : NULL,
                                     .chosen = d->args->word + 2,
                                     .count = d->args->words - 2};
    return replay_run(d->c, d->args, &what);
}

enum cli_exit command_dead_letter(struct cli *c, const struct args *a)
{
    const char *what = a->words > 0 ? a->word[0] : "";
    bool is_list = strcmp(what, "list") == 0, is_show = strcmp(what, "show") == 0;
    bool is_replay = strcmp(what, "replay") == 0;
    if (a->words < 2 || (is_list && a->words > 2) || !(is_list || is_show || is_replay)) {
        return cli_fail(c, CLI_USAGE,
                        "dead-letter: list, show or replay, then a job or the letters");
    }
    struct dead_letter d = {.c = c, .args = a};
    enum cli_exit code = dead_letter_open(&d, a->word[1]);
    if (code == CLI_OK) {
        code = is_list   ? dead_letter_list(&d)
               : is_show ? dead_letter_show(&d)
                         : dead_letter_replay(&d);
    }
    replay_ledger_close(&d.ledger);
    return code;
}
