#include "cli/replay.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "cli/letter_source.h"
#include "cli/replay_ledger.h"
#include "cli/replay_place.h"
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
    struct replay_place *place;          /* by letter: where it goes */
    bool *is_taken;                      /* by letter: goes into the batch */
    uint32_t taken;
    struct replay_place *used; /* by the batch, each once; sources are not told */
    uint32_t useds;
    uint32_t number; /* of the batch */
    const char *dir; /* absolute: its files and checkpoints */
};

/* --- Choosing --------------------------------------------------------------------------------- */

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

static enum cli_exit replay_check_chosen(const struct replay *r, const char *const *chosen,
                                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (letter_list_find(r->letters, chosen[i])) continue;
        return cli_fail(r->c, CLI_USAGE, "%s: there is no letter '%s'", r->letters->path,
                        chosen[i]);
    }
    return CLI_OK;
}

static void replay_use(struct replay *r, const struct replay_place *p)
{
    bool is_new = p->at != REPLAY_SOURCE;
    for (uint32_t i = 0; i < r->useds && is_new; i++) {
        is_new = !replay_place_equal(&r->used[i], p);
    }
    if (is_new) r->used[r->useds++] = *p;
}

static void replay_take(struct replay *r, uint32_t letter)
{
    r->is_taken[letter] = true;
    r->taken++;
    replay_use(r, &r->place[letter]);
}

static enum cli_exit replay_choose(struct replay *r, const char *const *chosen, uint32_t count)
{
    struct cli *c = r->c;
    uint32_t before = 0, hurdles = 0;
    enum cli_exit code = replay_check_chosen(r, chosen, count);
    if (code != CLI_OK) return code;
    for (uint32_t i = 0; i < r->letters->count; i++) {
        const struct letter_row *l = &r->letters->item[i];
        if (!replay_is_chosen(l->id, chosen, count)) continue;
        r->place[i] = replay_place_of(c->arena, r->loaded->plan, l);
        const char *hurdle = r->place[i].hurdle;
        if (replay_is_done(r, l->id)) {
            before++;
        } else if (hurdle) {
            hurdles++;
            cli_note(c, "letter %s cannot be replayed: %s", l->id, hurdle);
        } else {
            replay_take(r, i);
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

static const char *replay_file(const struct replay *r, const struct replay_place *at)
{
    const char *name = replay_place_file(r->c->arena, r->loaded->job, at);
    return name ? arena_printf(r->c->arena, "%s/%s", r->dir, name) : NULL;
}

/* What goes in at one place. */
static sr_rc replay_write_place(const struct replay *r, const struct replay_place *at,
                                struct sr_error *err)
{
    bool is_record = at->at == REPLAY_SOURCE || at->at == REPLAY_BRANCH;
    uint32_t source = at->at == REPLAY_BRANCH ? at->source : at->step;
    const struct sr_format_type *format = r->loaded->job->step[source].format;
    struct sr_out out = bytes_out();
    const char *path = replay_file(r, at);
    bool is_ok = path != NULL;
    for (uint32_t i = 0; i < r->letters->count && is_ok; i++) {
        const struct letter_row *l = &r->letters->item[i];
        if (!r->is_taken[i] || !replay_place_equal(&r->place[i], at)) continue;
        /* An empty line of CSV may be a record; an empty message is one to `raw` alone. */
        bool is_line = l->raw_len == 0 && is_record && format && strcmp(format->name, "raw") != 0;
        is_ok = is_line ? letter_source_put(&out, "\n", 1)
                        : letter_source_put(&out, l->raw, l->raw_len);
    }
    sr_rc rc = is_ok ? durable_replace(&r->c->env, path, out.data ? (const void *)out.data : "",
                                       out.len, err)
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
        const struct replay_place at = {.at = REPLAY_SOURCE, .step = i};
        if (job->step[i].kind == JOB_SOURCE) rc = replay_write_place(r, &at, err);
    }
    for (uint32_t i = 0; i < r->useds && rc == SR_OK; i++) {
        rc = replay_write_place(r, &r->used[i], err);
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

static bool replay_read_letters(struct job *job, struct job_step *s,
                                const struct sr_source_type *of, const char *path)
{
    const struct sr_source_type *letters = letter_source_type(job->arena, of);
    struct letter_source_conf *conf = arena_get(job->arena, sizeof(*conf));
    if (!letters || !conf || !path) return false;
    conf->path = path;
    s->source = letters;
    s->conf = conf;
    s->rate_limit = 0;
    s->is_periodic = true; /* with a period of 0: the watermark stands until the last letter */
    return true;
}

/* A row that lacks a column which is used is bad: a NULL in its place would be a guess. */
static const void *replay_strict_json(const struct job *job)
{
    const struct sr_format_type *json = job->dead_letter.json;
    char *conf = json ? arena_copy(job->arena, job->dead_letter.json_conf, json->conf_size) : NULL;
    for (const struct sr_opt *o = json ? json->opts : NULL; conf && o->key; o++) {
        bool is_it = strcmp(o->key, "fail-on-missing-field") == 0 && o->kind == SR_OPT_BOOL;
        if (is_it) *(bool *)(void *)(conf + o->offset) = true;
    }
    return conf;
}

/* The source of the rows that join a step. */
static bool replay_feed(const struct replay *r, struct job *job, const struct replay_place *at)
{
    struct job_step *feed = arena_get(job->arena, sizeof(*feed)), *step = &job->step[at->step];
    const char *path = replay_file(r, at);
    const char *file = replay_place_file(job->arena, job, at);
    const void *conf = replay_strict_json(job);
    if (!feed || !file || !conf) return false;
    *feed = (struct job_step){.kind = JOB_SOURCE,
                              .name = step->name,
                              .uid = file,
                              .parallelism = 1,
                              .format = job->dead_letter.json,
                              .format_conf = conf,
                              .on_error = job->dead_letter.step ? JOB_DEAD_LETTER : JOB_FAIL,
                              .idle_timeout = {.us = -1}};
    feed->name.text = file;
    feed->name.len = (uint32_t)strlen(file);
    step->feed[at->at] = feed;
    return replay_read_letters(job, feed, NULL, path);
}

/* Like its source, but that it reads letters for one step. */
static bool replay_branch(const struct replay *r, struct job *job, const struct replay_place *at)
{
    const struct job_step *of = &job->step[at->source];
    struct job_step *step = &job->step[at->step];
    struct job_step *source = arena_copy(job->arena, of, sizeof(*source));
    struct job_replay *one = arena_get(job->arena, sizeof(*one));
    if (!source || !one) return false;
    source->uid = replay_place_file(job->arena, job, at);
    *one = (struct job_replay){.source = source, .of = of, .next = step->replay};
    step->replay = one;
    return source->uid && replay_read_letters(job, source, of->source, replay_file(r, at));
}

/* Sources read letters; the job is another one, with checkpoints beside them. */
static enum cli_exit replay_change(void *ctx, struct job *job)
{
    struct replay *r = ctx;
    struct cli *c = r->c;
    for (uint32_t i = 0; i < job->steps; i++) {
        struct job_step *s = &job->step[i];
        const struct replay_place at = {.at = REPLAY_SOURCE, .step = i};
        if (s->kind != JOB_SOURCE) continue;
        const struct sr_source_type *of = s->source;
        if (!s->format && !replay_as_json(job, s)) {
            return cli_fail(c, CLI_FAILED, "source '%s': no rows can be read from JSON",
                            s->name.text);
        }
        if (!replay_read_letters(job, s, of, replay_file(r, &at))) {
            return cli_fail(c, CLI_FAILED, "out of memory");
        }
    }
    for (uint32_t i = 0; i < r->useds; i++) {
        const struct replay_place *at = &r->used[i];
        bool is_ok = at->at == REPLAY_BRANCH ? replay_branch(r, job, at) : replay_feed(r, job, at);
        if (!is_ok) return cli_fail(c, CLI_FAILED, "out of memory");
    }
    const char *name = arena_printf(c->arena, "%s (replay %u)", job->name, r->number);
    const char *id = arena_printf(c->arena, "%s replay %u %s", job->id, r->number, r->dir);
    if (!name || !id) return cli_fail(c, CLI_FAILED, "out of memory");
    job->name = name;
    digest_text(digest_of(id, strlen(id)), job->id);
    job->settings.dir = arena_printf(c->arena, "file://%s/checkpoints", r->dir);
    job->settings.storage.index = STORAGE_FILESYSTEM;
    job->settings.auto_watermark.us = 0; /* letters lie in no order of time, and none is late */
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
    return arena_printf(r->c->arena, "%s/letters", r->dir);
}

/* One plain file of dead letters is not replaced: see replay_target.h. Any number of tasks may
 * write into a directory. */
static enum cli_exit replay_aside(struct replay *r, struct args *a)
{
    if (!replay_target(r->loaded->plan)) return CLI_OK;
    const char *path = arena_printf(r->c->arena, "%s/", replay_own_letters(r));
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

/* The job of the batch; its faults are told, and what else there is to say unless it is tried. */
static enum cli_exit replay_load(struct replay *r, bool is_trial, struct args *a,
                                 struct loaded *loaded)
{
    static const struct args_option go_on = {"continue", NULL, 0, NULL, ""};
    static const struct args_option drain = {"drain", NULL, 0, NULL, ""};
    struct cli *c = r->c;
    *a = *r->args;
    if (a->options + 2 > ARGS_MAX) return cli_fail(c, CLI_USAGE, "too many options");
    a->given[a->options++].option = &go_on;
    a->given[a->options++].option = &drain;
    enum cli_exit code = replay_headers(r, a);
    if (code == CLI_OK) code = replay_aside(r, a);
    if (code != CLI_OK) return code;
    struct load_change change = {.job = replay_change, .ctx = r};
    code = load_changed(c, a, r->loaded, &change, loaded);
    if (loaded->faults && (!is_trial || code != CLI_OK)) show_faults(c, loaded->faults);
    return code;
}

static enum cli_exit replay_batch(struct replay *r, bool is_trial)
{
    struct loaded loaded;
    struct args *a = arena_get(r->c->arena, sizeof(*a));
    if (!a) return cli_fail(r->c, CLI_FAILED, "out of memory");
    enum cli_exit code = replay_load(r, is_trial, a, &loaded);
    return code == CLI_OK && !is_trial ? run_loaded(r->c, a, &loaded) : code;
}

static enum cli_exit replay_finish(struct replay *r)
{
    struct sr_error err = {0};
    enum cli_exit code = replay_batch(r, false);
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
    struct arena *a = r->c->arena;
    r->is_taken = arena_array(a, (size_t)r->letters->count + 1, sizeof(bool));
    r->place = arena_array(a, (size_t)r->letters->count + 1, sizeof(*r->place));
    size_t steps = r->loaded->job->steps; /* a branch is of two */
    r->used = arena_array(a, steps * (REPLAY_BRANCH + steps) + 1, sizeof(*r->used));
    sr_rc rc = r->is_taken && r->place && r->used
                   ? replay_ledger_open(r->c, r->letters, &r->ledger, err)
                   : error_set(err, SR_ENOMEM, "out of memory");
    if (rc == SR_OK && r->originals) {
        rc = replay_ledger_open(r->c, r->originals, &r->original, err);
    }
    return rc == SR_OK ? CLI_OK : cli_fail(r->c, CLI_FAILED, "%s", err->words);
}

/* Which places a batch that was interrupted has rows for. Files that no place of the job is called
 * by hold letters that would be lost. */
static enum cli_exit replay_find_rows(struct replay *r)
{
    const struct job *job = r->loaded->job;
    const struct sr_files *fs = r->c->env.files;
    struct sr_stat stat;
    struct sr_error err = {0};
    char **names = NULL;
    if (fs->list(fs, r->dir, &names, &err) != SR_OK) {
        return cli_fail(r->c, CLI_FAILED, "%s", err.words);
    }
    const char *stranger = NULL;
    for (char **n = names; *n; n++) {
        bool is_known = strcmp(*n, "checkpoints") == 0 || strcmp(*n, "letters") == 0;
        struct replay_place at;
        if (!is_known && replay_place_find(r->c->arena, job, *n, &at)) {
            is_known = true;
            replay_use(r, &at);
        }
        const char *path = arena_printf(r->c->arena, "%s/%s", r->dir, *n);
        bool is_full = path && fs->stat(fs, path, &stat, &err) == SR_OK &&
                       stat.kind == SR_FILE_REGULAR && stat.size_bytes > 0;
        if (!is_known && is_full) stranger = path;
    }
    fs->names_free(fs, names);
    return stranger ? cli_fail(r->c, CLI_CONFIG,
                               "%s has letters for a step that this job has not: finish it with "
                               "the job that began it",
                               stranger)
                    : CLI_OK;
}

static enum cli_exit replay_go_on(struct replay *r)
{
    cli_note(r->c, "replay %u was interrupted: it is finished first", r->number);
    r->dir = replay_ledger_dir(&r->ledger, r->c, r->number);
    enum cli_exit code = r->dir ? replay_find_rows(r) : CLI_FAILED;
    if (code == CLI_OK) code = replay_finish(r);
    r->useds = 0;
    return code;
}

/* A batch of those that are taken. It is not begun with a job that cannot take them. */
static enum cli_exit replay_new(struct replay *r)
{
    struct sr_error err = {0};
    enum cli_exit code = replay_check_sinks(r, r->loaded->plan);
    if (code != CLI_OK) return code;
    r->number = replay_ledger_next(&r->ledger);
    r->dir = replay_ledger_dir(&r->ledger, r->c, r->number);
    code = r->dir ? replay_batch(r, true) : CLI_FAILED;
    if (code != CLI_OK) return code;
    if (replay_begin(r, &err) != SR_OK) return cli_fail(r->c, CLI_FAILED, "%s", err.words);
    return replay_finish(r);
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
    if (r.number > 0) code = replay_go_on(&r);
    if (code == CLI_OK) code = replay_choose(&r, what->chosen, what->count);
    if (code == CLI_OK && r.taken > 0) code = replay_new(&r);
    replay_ledger_close(&r.ledger);
    replay_ledger_close(&r.original);
    return code;
}
