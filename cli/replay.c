#include "cli/replay.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "cli/letter_source.h"
#include "cli/replay_ledger.h"
#include "cli/replay_target.h"
#include "cli/run.h"
#include "cli/show.h"
#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/ckpt/durable.h"
#include "engine/data/schema.h"

struct replay {
    struct cli *c;
    const struct args *args; /* of the command */
    const struct loaded *loaded;
    const struct letter_list *letters;
    struct replay_ledger ledger;
    const struct letter_list *originals; /* NULL: `letters` are them */
    struct replay_ledger original;       /* of the originals */
    bool *is_taken;                      /* by letter: goes into the batch */
    uint32_t taken;
    uint32_t number; /* of the batch */
    const char *dir; /* absolute: its files and checkpoints */
};

/* --- Choosing --------------------------------------------------------------------------------- */

static const struct job_step *replay_step(const struct replay *r, const char *name)
{
    const struct job *job = r->loaded->job;
    for (uint32_t i = 0; i < job->steps; i++) {
        if (strcmp(job->step[i].name.text, name) == 0) return &job->step[i];
    }
    return NULL;
}

/* Of a source that makes rows itself, `raw` is a row as JSON: of the source's columns only where
 * the step that could not take it reads the source. */
static const char *replay_row_hurdle(const struct replay *r, const struct letter_row *l)
{
    /* Steps that became one are named "a + b": the first one of them takes the row. */
    const char *end = strstr(l->step, " + ");
    const struct job_step *s = replay_step(r, l->step);
    if (!s && end) {
        s = replay_step(r, arena_text_n(r->c->arena, l->step, (size_t)(end - l->step)));
    }
    if (!r->loaded->job->dead_letter.json) return "there is no format to read its row with";
    if (!s || s->kind == JOB_SOURCE) return "its source could not read it: there is no row";
    for (uint32_t i = 0; i < s->from.count; i++) {
        if (strcmp(s->from.item[i].text, l->source) == 0) return NULL;
    }
    return "it is a row of a later step, and its source makes rows itself";
}

/* Why a letter cannot go through the job; NULL: it can. */
static const char *replay_hurdle(const struct replay *r, const struct letter_row *l)
{
    if (!*l->source) return "it is a result, not a record of a source";
    const struct job_step *s = replay_step(r, l->source);
    if (!s || s->kind != JOB_SOURCE) return "the job has no source of that name";
    if (!l->raw) return "its bytes were not kept";
    return s->format ? NULL : replay_row_hurdle(r, l);
}

static bool replay_is_chosen(const char *id, const char *const *chosen, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(chosen[i], id) == 0) return true;
    }
    return count == 0;
}

static bool replay_is_done(const struct replay *r, const char *id)
{
    return replay_ledger_has(&r->ledger, id) ||
           (r->originals && replay_ledger_has(&r->original, id));
}

static enum cli_exit replay_choose(struct replay *r, const char *const *chosen, uint32_t count)
{
    struct cli *c = r->c;
    uint32_t before = 0, hurdles = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!letter_list_find(r->letters, chosen[i])) {
            return cli_fail(c, CLI_USAGE, "%s: there is no letter '%s'", r->letters->path,
                            chosen[i]);
        }
    }
    for (uint32_t i = 0; i < r->letters->count; i++) {
        const struct letter_row *l = &r->letters->item[i];
        if (!replay_is_chosen(l->id, chosen, count)) continue;
        const char *hurdle = replay_hurdle(r, l);
        if (replay_is_done(r, l->id)) {
            before++;
        } else if (hurdle) {
            hurdles++;
            cli_note(c, "letter %s cannot be replayed: %s", l->id, hurdle);
        } else {
            r->is_taken[i] = true;
            r->taken++;
        }
    }
    if (r->taken == 0) {
        cli_note(c, "nothing to replay: %s",
                 before == 0   ? "none of the letters can be"
                 : before == 1 ? "1 letter was replayed before"
                               : arena_printf(c->arena, "%u letters were replayed before", before));
        return hurdles > 0 && count > 0 ? CLI_FAILED : CLI_OK;
    }
    if (before > 0) cli_note(c, "%u were replayed before and are left out", before);
    return CLI_OK;
}

/* --- The batch -------------------------------------------------------------------------------- */

static const char *replay_file(const struct replay *r, const struct job_step *source)
{
    return arena_printf(r->c->arena, "%s/%s.records", r->dir, source->name.text);
}

/* The records of one source. */
static sr_rc replay_write_source(const struct replay *r, const struct job_step *source,
                                 struct sr_error *err)
{
    struct sr_out out = bytes_out();
    bool is_ok = true;
    for (uint32_t i = 0; i < r->letters->count && is_ok; i++) {
        const struct letter_row *l = &r->letters->item[i];
        if (!r->is_taken[i] || strcmp(l->source, source->name.text) != 0) continue;
        /* An empty line of CSV may be a record; an empty message is one to `raw` alone. */
        bool is_line =
            l->raw_len == 0 && source->format && strcmp(source->format->name, "raw") != 0;
        is_ok = is_line ? letter_source_put(&out, "\n", 1)
                        : letter_source_put(&out, l->raw, l->raw_len);
    }
    sr_rc rc = is_ok ? durable_replace(&r->c->env, replay_file(r, source),
                                       out.data ? (const void *)out.data : "", out.len, err)
                     : error_set(err, SR_ENOMEM, "out of memory");
    bytes_free(&out);
    return rc;
}

/* Files first, then the note that names them. */
static sr_rc replay_begin(struct replay *r, struct sr_error *err)
{
    const struct job *job = r->loaded->job;
    sr_rc rc = durable_make_dirs(&r->c->env, r->dir, err);
    for (uint32_t i = 0; i < job->steps && rc == SR_OK; i++) {
        if (job->step[i].kind == JOB_SOURCE) rc = replay_write_source(r, &job->step[i], err);
    }
    if (rc != SR_OK) return rc;
    json_t *ids = json_array();
    for (uint32_t i = 0; i < r->letters->count; i++) {
        if (r->is_taken[i]) (void)json_array_append_new(ids, json_string(r->letters->item[i].id));
    }
    return replay_ledger_begin(&r->ledger, r->c, r->number, ids, err);
}

static int replay_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    (void)remove(path); /* what is left does no harm: the batch is done */
    return 0;
}

/* --- The job ---------------------------------------------------------------------------------- */

/* Its rows come as JSON; where it brought its columns, they are declared now. */
static bool replay_as_json(struct job *job, struct job_step *s)
{
    const struct sr_schema *brought = s->columns == 0 && !s->schema_text.text && s->source->schema
                                          ? s->source->schema(s->conf)
                                          : NULL;
    s->format = job->dead_letter.json;
    s->format_conf = job->dead_letter.json_conf;
    if (!brought) return s->format != NULL;
    struct job_column *column = arena_array(job->arena, brought->fields, sizeof(*column));
    for (uint32_t i = 0; column && i < brought->fields; i++) {
        const char *name = brought->field[i].name;
        const char *type = type_text(job->arena, &brought->field[i].type);
        if (!type) return false;
        column[i].name = (struct job_text){.text = name, .len = (uint32_t)strlen(name)};
        column[i].type = (struct job_text){.text = type, .len = (uint32_t)strlen(type)};
    }
    s->column = column;
    s->columns = column ? brought->fields : 0;
    return s->format && column;
}

/* Sources read letters; the job is another one, with checkpoints beside them. */
static enum cli_exit replay_change(void *ctx, struct job *job)
{
    struct replay *r = ctx;
    struct cli *c = r->c;
    for (uint32_t i = 0; i < job->steps; i++) {
        struct job_step *s = &job->step[i];
        if (s->kind != JOB_SOURCE) continue;
        const struct sr_source_type *letters = letter_source_type(job->arena, s->source);
        struct letter_source_conf *conf = arena_get(job->arena, sizeof(*conf));
        if (!letters || !conf) return cli_fail(c, CLI_FAILED, "out of memory");
        conf->path = replay_file(r, s);
        if (!s->format && !replay_as_json(job, s)) {
            return cli_fail(c, CLI_FAILED, "source '%s': no rows can be read from JSON",
                            s->name.text);
        }
        s->source = letters;
        s->conf = conf;
        s->rate_limit = 0;
    }
    const char *name = arena_printf(c->arena, "%s (replay %u)", job->name, r->number);
    const char *id = arena_printf(c->arena, "%s replay %u %s", job->id, r->number, r->dir);
    if (!name || !id) return cli_fail(c, CLI_FAILED, "out of memory");
    job->name = name;
    digest_text(digest_of(id, strlen(id)), job->id);
    job->settings.dir = arena_printf(c->arena, "file://%s/checkpoints", r->dir);
    job->settings.storage.index = STORAGE_FILESYSTEM;
    return CLI_OK;
}

/* A plain file that is there would be replaced by one that holds the replayed rows only. Asked
 * before a batch begins: the file that is there later may be the one that it wrote. */
static enum cli_exit replay_check_sinks(struct replay *r, const struct plan *p)
{
    for (uint32_t i = 0; i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        const char *path = n->sink_caps.exclusive;
        struct sr_stat stat;
        struct sr_error ignored;
        bool is_there = n->kind == PLAN_SINK && n->sink_caps.is_bounded_only && path &&
                        r->c->env.files->stat(r->c->env.files, path, &stat, &ignored) == SR_OK;
        if (!is_there) continue;
        return cli_fail(r->c, CLI_CONFIG,
                        "sink '%s' writes one plain file, and %s is there: it would be replaced by "
                        "the replayed rows alone\n  name another one: -D sinks.%s.path=FILE",
                        n->step, path, n->step);
    }
    return CLI_OK;
}

static const struct args_option replay_define = {"define", NULL, 'D', "KEY=VALUE", ""};

static const char *replay_own_letters(const struct replay *r)
{
    return arena_printf(r->c->arena, "%s/letters.json", r->dir);
}

/* One plain file of dead letters is not replaced: see replay_target.h. */
static enum cli_exit replay_aside(struct replay *r, struct args *a)
{
    if (!replay_target(r->loaded->plan)) return CLI_OK;
    const char *path = replay_own_letters(r);
    if (a->options == ARGS_MAX) return cli_fail(r->c, CLI_USAGE, "too many options");
    a->given[a->options].option = &replay_define;
    a->given[a->options++].value = arena_printf(r->c->arena, "dead-letter.path=%s", path);
    return CLI_OK;
}

/* The header line of a CSV file is no letter; one that matched has the columns in their order. */
static enum cli_exit replay_headers(struct replay *r, struct args *a)
{
    const struct conf_value *v = NULL;
    uint32_t values = conf_values(r->loaded->job, r->c->arena, &v);
    for (uint32_t i = 0; i < values; i++) {
        size_t len = strlen(v[i].key);
        static const char end[] = ".csv.header";
        bool is_header = strncmp(v[i].key, "sources.", 8) == 0 && len >= sizeof(end) &&
                         strcmp(v[i].key + len - (sizeof(end) - 1), end) == 0;
        if (!is_header || strcmp(v[i].value, "none") == 0) continue;
        if (a->options == ARGS_MAX) return cli_fail(r->c, CLI_USAGE, "too many options");
        a->given[a->options].option = &replay_define;
        a->given[a->options++].value = arena_printf(r->c->arena, "%s=none", v[i].key);
    }
    return CLI_OK;
}

static enum cli_exit replay_batch(struct replay *r)
{
    static const struct args_option go_on = {"continue", NULL, 0, NULL, ""};
    static const struct args_option drain = {"drain", NULL, 0, NULL, ""};
    struct cli *c = r->c;
    struct loaded loaded;
    struct args *a = arena_copy(c->arena, r->args, sizeof(*a));
    if (!a || a->options + 2 > ARGS_MAX) return cli_fail(c, CLI_USAGE, "too many options");
    a->given[a->options++].option = &go_on;
    a->given[a->options++].option = &drain;
    enum cli_exit code = replay_headers(r, a);
    if (code == CLI_OK) code = replay_aside(r, a);
    if (code != CLI_OK) return code;
    struct load_change change = {.job = replay_change, .ctx = r};
    code = load_changed(c, a, r->loaded, &change, &loaded);
    if (loaded.faults) show_faults(c, loaded.faults);
    return code == CLI_OK ? run_loaded(c, a, &loaded) : code;
}

static enum cli_exit replay_finish(struct replay *r)
{
    struct sr_error err = {0};
    enum cli_exit code = replay_batch(r);
    if (code != CLI_OK && code != CLI_DIVERTED) {
        cli_note(r->c, "replay %u is not done; the next replay of these letters goes on with it",
                 r->number);
        return code;
    }
    const char *target = replay_target(r->loaded->plan);
    sr_rc rc = target ? replay_target_keep(r->c, target, replay_own_letters(r), &err) : SR_OK;
    if (rc == SR_OK && r->originals) {
        rc = replay_ledger_copy(&r->original, &r->ledger, r->c, r->number, r->originals, &err);
    }
    if (rc == SR_OK) rc = replay_ledger_done(&r->ledger, r->c, r->number, &err);
    if (rc != SR_OK) {
        return cli_fail(r->c, CLI_FAILED, "%s", err.words);
    }
    (void)nftw(r->dir, replay_remove, 8, FTW_DEPTH | FTW_PHYS);
    return code;
}

static enum cli_exit replay_open(struct replay *r, struct sr_error *err)
{
    r->is_taken = arena_array(r->c->arena, (size_t)r->letters->count + 1, sizeof(bool));
    sr_rc rc = r->is_taken ? replay_ledger_open(r->c, r->letters, &r->ledger, err)
                           : error_set(err, SR_ENOMEM, "out of memory");
    if (rc == SR_OK && r->originals) {
        rc = replay_ledger_open(r->c, r->originals, &r->original, err);
    }
    return rc == SR_OK ? CLI_OK : cli_fail(r->c, CLI_FAILED, "%s", err->words);
}

enum cli_exit replay_run(struct cli *c, const struct args *a, const struct replay_what *what)
{
    struct replay r = {.c = c,
                       .args = a,
                       .loaded = what->loaded,
                       .letters = what->letters,
                       .originals = what->originals};
    struct sr_error err = {0};
    enum cli_exit code = replay_open(&r, &err);
    r.number = code == CLI_OK ? replay_ledger_open_batch(&r.ledger) : 0;
    if (r.number > 0) {
        cli_note(c, "replay %u was interrupted: it is finished first", r.number);
        r.dir = replay_ledger_dir(&r.ledger, c, r.number);
        code = replay_finish(&r);
    }
    if (code == CLI_OK) code = replay_choose(&r, what->chosen, what->count);
    if (code == CLI_OK && r.taken > 0) code = replay_check_sinks(&r, what->loaded->plan);
    if (code == CLI_OK && r.taken > 0) {
        r.number = replay_ledger_next(&r.ledger);
        r.dir = replay_ledger_dir(&r.ledger, c, r.number);
        if (!r.dir || replay_begin(&r, &err) != SR_OK) {
            code = cli_fail(c, CLI_FAILED, "%s", err.words);
        } else {
            code = replay_finish(&r);
        }
    }
    replay_ledger_close(&r.ledger);
    replay_ledger_close(&r.original);
    return code;
}
