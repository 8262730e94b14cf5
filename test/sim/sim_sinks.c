/* Two sinks, as plain as their shapes allow. Rows are texts, one a line, gathered until a
 * checkpoint.
 *
 *   staged (A)  prepare: a hidden file, durable     commit: renamed
 *   remote (C)  prepare: a redo file, durable       commit: applied by the service together with
 * its
 *               id; the answer may be an error though it was applied; then the file goes
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/sim_rows.h"
#include "test/sim/world.h"

#define SIM_NAME_MAX 200u

struct sim_sink {
    const struct sr_host *host;
    char dir[SIM_NAME_MAX];
    uint64_t lineage, attempt;
    uint32_t part;
    struct sim_rows rows;
};

struct sim_sink_conf {
    bool unused;
};

/* clang-format off */
static const struct sr_opt sim_sink_opts[] = {
    SR_OPT(struct sim_sink_conf, "unused", unused, .doc = "Nothing."),
    SR_OPT_END};
/* clang-format on */

/* --- Rows to text ----------------------------------------------------------------------------- */

static long long sim_value(const struct sr_column *c, uint32_t r)
{
    return sr_value_size(&c->type) == 4 ? ((const int32_t *)c->values)[r]
                                        : ((const int64_t *)c->values)[r];
}

static void sim_add_row(struct sim_rows *s, const struct sr_view *v, uint32_t r, char mark)
{
    if (s->room - s->len < v->cols * 24 + 8) {
        s->room = s->room * 2 + v->cols * 24 + 8;
        s->text = realloc(s->text, s->room);
    }
    if (mark) {
        s->text[s->len++] = mark;
    }
    for (uint32_t c = 0; c < v->cols; c++) {
        s->len += (size_t)snprintf(s->text + s->len, s->room - s->len, "%s%lld", c ? "," : "",
                                   sim_value(v->col[c], r));
    }
    s->text[s->len++] = '\n';
}

sr_rc sim_rows_write(struct sim_rows *s, const struct sr_view *v, uint32_t from, uint32_t *done,
                     struct sr_wait *wait, bool has_marks)
{
    struct world *w = world_now;
    uint32_t count = v->picked - from;
    if (world_below(w, 8) == 0) {
        count = world_below(w, count + 1);
    }
    for (uint32_t i = from; i < from + count; i++) {
        uint32_t r = sr_row(v, i);
        enum sr_change change = sr_change_of(v, r);
        sim_add_row(s, v, r,
                    !has_marks                                         ? '\0'
                    : change == SR_INSERT || change == SR_UPDATE_AFTER ? '+'
                                                                       : '-');
    }
    *done = count;
    *wait = (struct sr_wait){.fd = -1, .until_us = w->now_us + world_below(w, 3000)};
    return count < v->picked - from ? SR_EBUSY : SR_OK;
}

static sr_rc staged_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    (void)err;
    return sim_rows_write(&((struct sim_sink *)sink)->rows, v, from, done, wait, false);
}

static sr_rc remote_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    (void)err;
    return sim_rows_write(&((struct sim_sink *)sink)->rows, v, from, done, wait, true);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void sim_path(const struct sim_sink *s, const char *prefix, const char *name,
                     char out[SIM_NAME_MAX * 2])
{
    (void)snprintf(out, SIM_NAME_MAX * 2, "%s/%s%s", s->dir, prefix, name);
}

static sr_rc sim_store(struct sim_sink *s, const char *path, struct sr_error *err)
{
    const struct sr_files *f = s->host->files;
    struct sr_file *file = NULL;
    sr_rc rc = f->open(f, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_TRUNCATE, &file, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = f->write(file, s->rows.text, s->rows.len, 0, err);
    if (rc == SR_OK) {
        rc = f->sync(file, err);
    }
    struct sr_error ignored;
    (void)f->close(file, &ignored);
    return rc == SR_OK ? f->sync_dir(f, s->dir, err) : rc;
}

/* A file, as text that the caller frees. */
static sr_rc sim_fetch(const struct sim_sink *s, const char *path, char **text,
                       struct sr_error *err)
{
    const struct sr_files *f = s->host->files;
    struct sr_file *file = NULL;
    struct sr_stat stat;
    sr_rc rc = f->open(f, path, SR_FILE_READ, &file, err);
    if (rc != SR_OK) {
        return rc;
    }
    size_t got = 0;
    rc = f->stat_file(file, &stat, err);
    *text = calloc(1, rc == SR_OK ? stat.size_bytes + 1 : 1);
    if (rc == SR_OK) {
        rc = f->read(file, *text, stat.size_bytes, 0, &got, err);
    }
    struct sr_error ignored;
    (void)f->close(file, &ignored);
    if (rc != SR_OK) {
        free(*text);
    }
    return rc;
}

static sr_rc sim_open_in(struct sim_sink *s, const struct sr_sink_open *o, const char *dir,
                         struct sr_error *err)
{
    s->host = o->host;
    s->lineage = o->lineage;
    s->attempt = o->attempt;
    s->part = o->part;
    (void)snprintf(s->dir, sizeof(s->dir), "%s", dir);
    const struct sr_files *f = o->host->files;
    sr_rc rc = f->make_dir(f, dir, err);
    return rc == SR_EEXISTS ? SR_OK : rc == SR_OK ? f->sync_dir(f, "/", err) : rc;
}

static sr_rc staged_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    return sim_open_in(sink, o, "/out", err);
}

static sr_rc remote_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    return sim_open_in(sink, o, o->redo_dir, err);
}

static sr_rc sim_prepare(struct sim_sink *s, uint64_t checkpoint, const char *prefix,
                         struct sr_notes *notes, struct sr_wait *wait, struct sr_error *err)
{
    struct world *w = world_now;
    if (world_below(w, 6) == 0) {
        *wait = (struct sr_wait){.fd = -1, .until_us = w->now_us + world_below(w, 3000)};
        return SR_EBUSY;
    }
    if (s->rows.len == 0) {
        return SR_OK;
    }
    char name[SIM_NAME_MAX], path[SIM_NAME_MAX * 2];
    (void)snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIu64 "-%u-%" PRIu64, s->lineage,
                   s->attempt, s->part, checkpoint);
    sim_path(s, prefix, name, path);
    sr_rc rc = sim_store(s, path, err);
    if (rc == SR_OK) {
        struct sr_bytes note = {name, (uint32_t)strlen(name) + 1};
        rc = notes->add(notes, SR_NOTE_COMMIT, note);
    }
    if (rc == SR_OK) {
        s->rows.len = 0;
    }
    return rc;
}

static sr_rc staged_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                            struct sr_wait *wait, struct sr_error *err)
{
    (void)is_last;
    return sim_prepare(sink, checkpoint, ".staged-", notes, wait, err);
}

static sr_rc remote_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                            struct sr_wait *wait, struct sr_error *err)
{
    (void)is_last;
    return sim_prepare(sink, checkpoint, "remote-", notes, wait, err);
}

/* --- Commits ---------------------------------------------------------------------------------- */

static sr_rc staged_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                           struct sr_error *err)
{
    (void)checkpoint;
    struct sim_sink *s = sink;
    const struct sr_files *f = s->host->files;
    char from[SIM_NAME_MAX * 2], to[SIM_NAME_MAX * 2];
    struct sr_stat stat;
    sim_path(s, ".staged-", note.data, from);
    sim_path(s, "part-", note.data, to);
    sr_rc rc = f->rename(f, from, to, true, err);
    if (rc == SR_EABSENT) {
        rc = f->stat(f, to, &stat, err); /* done before */
    }
    return rc == SR_OK ? f->sync_dir(f, s->dir, err) : rc;
}

static uint64_t remote_id(const char *name)
{
    uint64_t h = 1469598103934665603u;
    for (; *name; name++) {
        h = (h ^ (uint8_t)*name) * 1099511628211u;
    }
    return h;
}

static bool remote_has(const struct remote *r, uint64_t id)
{
    for (uint32_t i = 0; i < r->applieds; i++) {
        if (r->applied[i] == id) {
            return true;
        }
    }
    return false;
}

/* Rows begin with + or -; the scene's counts are a table by the first column. */
static void remote_row(struct world *w, const char *line)
{
    struct remote *r = &w->remote;
    size_t key = strcspn(line + 1, ",") + 1;
    uint32_t i = 0;
    while (w->scene.shape == SCENE_COUNTS && i < r->rows &&
           (strncmp(r->row[i], line + 1, key) != 0)) {
        i++;
    }
    i = w->scene.shape == SCENE_COUNTS ? i : r->rows;
    if (line[0] == '-') {
        return; /* an update follows: the scenes never delete */
    }
    if (i == r->rows) {
        if (r->rows == r->room) {
            r->room = r->room * 2 + 64;
            r->row = realloc(r->row, r->room * sizeof(*r->row));
        }
        r->row[r->rows++] = NULL;
    }
    free(r->row[i]);
    r->row[i] = strdup(line + 1);
}

void sim_remote_row(const char *row)
{
    char line[SIM_NAME_MAX];
    (void)snprintf(line, sizeof(line), "+%s", row);
    remote_row(world_now, line);
}

static void remote_apply(struct world *w, uint64_t id, char *text)
{
    struct remote *r = &w->remote;
    if (r->applieds == r->applied_room) {
        r->applied_room = r->applied_room * 2 + 64;
        r->applied = realloc(r->applied, r->applied_room * sizeof(*r->applied));
    }
    r->applied[r->applieds++] = id;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        remote_row(w, line);
    }
}

static sr_rc remote_fail(struct sr_error *err, const char *words)
{
    *err = (struct sr_error){.rc = SR_EIO};
    (void)snprintf(err->words, sizeof(err->words), "%s", words);
    return SR_EIO;
}

static sr_rc remote_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                           struct sr_error *err)
{
    (void)checkpoint;
    struct sim_sink *s = sink;
    struct world *w = world_now;
    const struct sr_files *f = s->host->files;
    char path[SIM_NAME_MAX * 2];
    uint64_t id = remote_id(note.data);
    if (world_is_dead(w) || world_chance(w, w->scene.remote_ppm / 2)) {
        return remote_fail(err, "the remote service cannot be reached");
    }
    sim_path(s, "remote-", note.data, path);
    if (!remote_has(&w->remote, id)) {
        char *text = NULL;
        sr_rc rc = sim_fetch(s, path, &text, err);
        if (rc != SR_OK) {
            return rc;
        }
        remote_apply(w, id, text);
        free(text);
    }
    world_trace(w, "remote applied", id, w->remote.rows);
    if (world_chance(w, w->scene.remote_ppm / 2)) {
        return remote_fail(err, "the remote service did not answer");
    }
    sr_rc rc = f->remove(f, path, err);
    return rc == SR_EABSENT ? SR_OK : rc;
}

/* --- What is left over ------------------------------------------------------------------------ */

static sr_rc sim_recover(struct sim_sink *s, const char *prefix, const struct sr_bytes *live,
                         uint32_t count, struct sr_error *err)
{
    const struct sr_files *f = s->host->files;
    char **names = NULL;
    sr_rc rc = f->list(f, s->dir, &names, err);
    if (rc != SR_OK) {
        return rc;
    }
    for (char **n = names; *n && rc == SR_OK; n++) {
        bool is_dead = strncmp(*n, prefix, strlen(prefix)) == 0;
        for (uint32_t i = 0; i < count; i++) {
            is_dead = is_dead && strcmp(*n + strlen(prefix), live[i].data) != 0;
        }
        if (is_dead) {
            char path[SIM_NAME_MAX * 2];
            sim_path(s, "", *n, path);
            rc = f->remove(f, path, err);
        }
    }
    f->names_free(f, names);
    return rc;
}

static sr_rc staged_recover(void *sink, const struct sr_bytes *live, uint32_t count,
                            struct sr_error *err)
{
    return sim_recover(sink, ".staged-", live, count, err);
}

static sr_rc remote_recover(void *sink, const struct sr_bytes *live, uint32_t count,
                            struct sr_error *err)
{
    return sim_recover(sink, "remote-", live, count, err);
}

static void sim_sink_close(void *sink) { free(((struct sim_sink *)sink)->rows.text); }

/* --- Types ------------------------------------------------------------------------------------ */

static sr_rc staged_check(const void *conf, const struct sr_schema *schema,
                          struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf, (void)schema, (void)err;
    *caps = (struct sr_sink_caps){.guarantee = SR_EXACTLY_ONCE, .makes_rows = true};
    return SR_OK;
}

static sr_rc remote_check(const void *conf, const struct sr_schema *schema,
                          struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf, (void)schema, (void)err;
    *caps = (struct sr_sink_caps){
        .guarantee = SR_EXACTLY_ONCE, .takes_changes = true, .makes_rows = true};
    return SR_OK;
}

const struct sr_sink_type staged_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "staged",
    .doc = "Files under another name until they are committed.",
    .opts = sim_sink_opts,
    .conf_size = sizeof(struct sim_sink_conf),
    .sink_size = sizeof(struct sim_sink),
    .check = staged_check,
    .open = staged_open,
    .recover = staged_recover,
    .write = staged_write,
    .prepare = staged_prepare,
    .commit = staged_commit,
    .close = sim_sink_close,
};

const struct sr_sink_type remote_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "remote",
    .doc = "A service that outlives every crash.",
    .opts = sim_sink_opts,
    .conf_size = sizeof(struct sim_sink_conf),
    .sink_size = sizeof(struct sim_sink),
    .check = remote_check,
    .open = remote_open,
    .recover = remote_recover,
    .write = remote_write,
    .prepare = remote_prepare,
    .commit = remote_commit,
    .close = sim_sink_close,
};

static const struct sr_source_type *const sim_sources[] = {&sim_source_type, NULL};
static const struct sr_sink_type *const sim_sink_types[] = {&remote_sink_type, &staged_sink_type,
                                                            &ledger_sink_type, NULL};

const struct sr_plugin sim_plugin = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "sim",
    .version = "1",
    .doc = "Connectors of the simulator.",
    .sources = sim_sources,
    .sinks = sim_sink_types,
};
