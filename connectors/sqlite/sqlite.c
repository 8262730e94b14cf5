/* The sqlite sink: rows into a table, exactly-once, by redo files (fault tolerance shape C).
 *
 *   write -> redo file -> prepare: durable, noted -> commit: one transaction -> file removed
 *
 * The target is locked only while a checkpoint is applied. A crash anywhere leaves either the redo
 * file and no row of it, or all its rows and their record in streamrun_commit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/common/sink_id.h"
#include "connectors/sqlite/base.h"
#include "connectors/sqlite/cell.h"
#include "connectors/sqlite/redo.h"
#include "connectors/sqlite/target.h"

#define SQLITE_ROWS_NOTE    4u    /* bytes of the note that only says that there are rows */
#define SQLITE_SINK_FULL_US 50000 /* how soon to ask again while the redo file is too large */

struct sqlite_conf {
    const char *path, *table;
    bool may_create;
    sr_size redo_max;
};

struct sqlite_sink {
    const struct sr_host *host;
    const struct sqlite_conf *conf;
    struct sr_sink_open open; /* ids in it are copied below */
    char *job, *uid;
    char *redo_dir;
    char own[SINK_ID_SIZE + 8]; /* how the redo files of this sink begin */
    bool has_rows;              /* some were prepared, in this run or before the checkpoint */
    bool is_memory_only;        /* no checkpoint before the end: the redo file grows as it must */
    bool has_asked;             /* for a checkpoint, since the last prepare */
    char *unremoved;            /* a redo file that was applied and could not be removed; or NULL */
    struct redo redo;
    struct target target;
};

static sr_rc sqlite_check(const void *conf, const struct sr_schema *schema,
                          struct sr_sink_caps *caps, struct sr_error *err)
{
    const struct sqlite_conf *c = conf;
    sr_rc rc = target_check(schema, c->table, err);
    if (rc == SR_OK) {
        *caps = (struct sr_sink_caps){
            .guarantee = SR_EXACTLY_ONCE, .takes_changes = schema->keys > 0, .makes_rows = true};
    }
    return rc;
}

/* Where redo files lie: beside the checkpoints, else beside the database. */
static char *sqlite_redo_dir(const struct sr_sink_open *o, const char *path)
{
    if (o->redo_dir) {
        return strdup(o->redo_dir);
    }
    const char *slash = strrchr(path, '/');
    return slash && slash > path ? strndup(path, (size_t)(slash - path)) : strdup("/");
}

static sr_rc sqlite_make_redo_dir(struct sqlite_sink *s, struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    struct sr_stat stat;
    sr_rc rc = files->stat(files, s->redo_dir, &stat, err);
    if (rc == SR_EABSENT && !s->is_memory_only) {
        rc = files->make_dir(files, s->redo_dir, err);
        rc = rc == SR_EEXISTS ? SR_OK : rc; /* another subtask made it */
    }
    return rc;
}

static sr_rc sqlite_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct sqlite_sink *s = sink;
    s->host = o->host;
    s->conf = o->conf;
    s->open = *o;
    s->is_memory_only = o->redo_dir == NULL;
    s->job = strdup(o->job_id);
    s->uid = strdup(o->uid);
    s->redo_dir = sqlite_redo_dir(o, s->conf->path);
    char id[SINK_ID_SIZE];
    if (!s->job || !s->uid || !s->redo_dir || !sink_id(o, id)) {
        return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    (void)snprintf(s->own, sizeof(s->own), ".redo-%s-", id);
    struct redo *r = &s->redo;
    r->host = o->host;
    r->dir = s->redo_dir;
    (void)snprintf(r->stem, sizeof(r->stem), "%s%" PRIu64 "-%" PRIu64 "-%" PRIu32 "-", s->own,
                   o->lineage, o->attempt, o->part);
    (void)snprintf(r->mark.writer, sizeof(r->mark.writer), "%016" PRIx64 "%016" PRIx64,
                   o->host->random(o->host), o->host->random(o->host));
    r->mark.lineage = o->lineage;
    r->mark.attempt = o->attempt;
    r->mark.part = o->part;
    s->target = (struct target){.host = o->host,
                                .schema = o->schema,
                                .path = s->conf->path,
                                .table = s->conf->table,
                                .job = s->job,
                                .sink = s->uid};
    sr_rc rc = target_open(&s->target, s->conf->may_create, err);
    return rc == SR_OK ? sqlite_make_redo_dir(s, err) : rc;
}

/* The first live row at `from` or later that has NULL in its key; v->picked: none. */
static uint32_t sqlite_find_null_key(const struct sr_schema *schema, const struct sr_view *v,
                                     uint32_t from)
{
    uint32_t found = v->picked;
    for (uint32_t k = 0; k < schema->keys; k++) {
        const struct sr_column *c = v->col[schema->key[k]];
        for (uint32_t i = from; c->valid && i < found; i++) {
            if (!sr_is_valid(c, sr_row(v, i))) {
                found = i;
            }
        }
    }
    return found;
}

/* SR_EBUSY while more waits than twice the limit: a checkpoint was asked for, and makes room. */
static sr_rc sqlite_make_room(struct sqlite_sink *s, struct sr_wait *wait, struct sr_error *err)
{
    uint64_t max = s->conf->redo_max.bytes;
    if (s->is_memory_only || redo_size(&s->redo) < max) {
        return SR_OK;
    }
    if (!s->has_asked && s->open.ask_checkpoint) {
        s->open.ask_checkpoint(&s->open);
        s->has_asked = true;
    }
    if (redo_size(&s->redo) / 2 < max) {
        return SR_OK;
    }
    *wait = (struct sr_wait){.fd = -1, .until_us = s->host->mono_us(s->host) + SQLITE_SINK_FULL_US};
    return s->host->fail(s->host, err, SR_EBUSY,
                         "%s: more than twice sink.redo.max-size waits for a checkpoint",
                         s->conf->path);
}

static sr_rc sqlite_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    struct sqlite_sink *s = sink;
    sr_rc rc = sqlite_make_room(s, wait, err);
    if (rc != SR_OK) {
        return rc;
    }
    uint32_t bad = sqlite_find_null_key(s->target.schema, v, from);
    if (bad > from) {
        rc = redo_append(&s->redo, v, from, bad - from, err);
    }
    *done = rc == SR_OK ? bad - from : 0;
    if (rc == SR_OK && bad < v->picked) {
        return s->host->fail(s->host, err, SR_EDATA,
                             "a column of the primary key of table %s is NULL", s->conf->table);
    }
    return rc;
}

/* Whoever goes on from here knows that the target holds rows. */
static sr_rc sqlite_note_rows(const struct sqlite_sink *s, struct sr_notes *notes,
                              struct sr_error *err)
{
    static const uint8_t note[] = {'r', 'o', 'w', 's'};
    sr_rc rc = SR_OK;
    if (s->has_rows) {
        rc = notes->add(notes, SR_NOTE_STATE, (struct sr_bytes){note, sizeof(note)});
    }
    return rc == SR_OK ? rc : s->host->fail(s->host, err, rc, "out of memory");
}

static sr_rc sqlite_restore(void *sink, struct sr_bytes note, struct sr_error *err)
{
    (void)note, (void)err; /* there is one kind */
    ((struct sqlite_sink *)sink)->has_rows = true;
    return SR_OK;
}

static sr_rc sqlite_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                            struct sr_wait *wait, struct sr_error *err)
{
    (void)is_last;
    (void)wait;
    struct sqlite_sink *s = sink;
    s->has_asked = false;
    if (!s->redo.file) {
        return sqlite_note_rows(s, notes, err); /* no row since the last one */
    }
    sr_rc rc = redo_prepare(&s->redo, err);
    if (rc != SR_OK) {
        return rc;
    }
    s->redo.mark.checkpoint = checkpoint;
    s->redo.mark.has_older = s->has_rows;
    struct sr_out note = note_out();
    rc = redo_mark_save(&s->redo.mark, &note);
    if (rc == SR_OK) {
        rc = notes->add(notes, SR_NOTE_COMMIT, (struct sr_bytes){note.data, (uint32_t)note.len});
    }
    note_free(&note);
    if (rc != SR_OK) {
        return s->host->fail(s->host, err, rc, "cannot note %s", s->redo.mark.path);
    }
    redo_reset(&s->redo);
    s->has_rows = true;
    return sqlite_note_rows(s, notes, err);
}

static sr_rc sqlite_load(struct sqlite_sink *s, struct redo_mark *mark, struct sr_bytes note,
                         struct sr_error *err)
{
    sr_rc rc = redo_mark_load(mark, note);
    return rc == SR_OK
               ? rc
               : s->host->fail(s->host, err, rc, "a note of the rows for %s %s", s->conf->path,
                               rc == SR_ENOMEM ? "cannot be read" : "is damaged");
}

/* Removes what was applied, and what could not be removed last time: takes `path`, NULL allowed.
 * What stays for good is removed at the next start. */
static void sqlite_remove_applied(struct sqlite_sink *s, char *path)
{
    const struct sr_files *files = s->host->files;
    struct sr_error ignored;
    char *paths[2] = {s->unremoved, path};
    s->unremoved = NULL;
    for (int i = 0; i < 2; i++) {
        sr_rc rc = paths[i] ? files->remove(files, paths[i], &ignored) : SR_OK;
        if (rc == SR_OK || rc == SR_EABSENT) {
            free(paths[i]);
            continue;
        }
        free(s->unremoved);
        s->unremoved = paths[i];
    }
}

static sr_rc sqlite_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                           struct sr_error *err)
{
    (void)checkpoint; /* that of the note counts: a later one may carry it */
    struct sqlite_sink *s = sink;
    struct redo_mark mark;
    sr_rc rc = sqlite_load(s, &mark, note, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = mark.has_older ? target_is_old(&s->target, err) : SR_OK;
    if (rc == SR_OK) {
        rc = target_apply(&s->target, &mark, err);
    }
    if (rc == SR_OK) {
        sqlite_remove_applied(s, mark.path);
        mark.path = NULL;
    }
    redo_mark_done(&mark);
    return rc;
}

static bool sqlite_is_live(const struct redo_mark *mark, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(mark[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

static sr_rc sqlite_remove_leftovers(struct sqlite_sink *s, const struct redo_mark *mark,
                                     uint32_t count, struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    char **names = NULL;
    uint32_t removed = 0;
    sr_rc rc = files->list(files, s->redo_dir, &names, err);
    if (rc != SR_OK) {
        return rc;
    }
    for (char **name = names; rc == SR_OK && *name; name++) {
        if (strncmp(*name, s->own, strlen(s->own)) != 0) {
            continue;
        }
        char *path = NULL;
        if (asprintf(&path, "%s/%s", s->redo_dir, *name) < 0) {
            rc = s->host->fail(s->host, err, SR_ENOMEM, "out of memory");
            break;
        }
        if (!sqlite_is_live(mark, count, path)) {
            rc = files->remove(files, path, err);
            rc = rc == SR_EABSENT ? SR_OK : rc;
            removed++;
        }
        free(path);
    }
    files->names_free(files, names);
    if (removed > 0) {
        s->host->log(s->host, SR_INFO, "removed %u redo files that no checkpoint names", removed);
    }
    return rc;
}

static sr_rc sqlite_recover(void *sink, const struct sr_bytes *live, uint32_t count,
                            struct sr_error *err)
{
    struct sqlite_sink *s = sink;
    struct redo_mark *mark = calloc((size_t)count + 1, sizeof(*mark));
    if (!mark) {
        return s->host->fail(s->host, err, SR_ENOMEM, "out of memory");
    }
    sr_rc rc = SR_OK;
    uint32_t loaded = 0;
    for (uint32_t i = 0; rc == SR_OK && i < count; i++) {
        if (live[i].len == SQLITE_ROWS_NOTE) {
            rc = target_is_old(&s->target, err); /* all commits of the checkpoint are done */
            continue;
        }
        rc = sqlite_load(s, &mark[loaded], live[i], err);
        loaded += rc == SR_OK ? 1 : 0;
    }
    if (rc == SR_OK) {
        rc = sqlite_remove_leftovers(s, mark, loaded, err);
    }
    for (uint32_t i = 0; i < loaded; i++) {
        redo_mark_done(&mark[i]);
    }
    free(mark);
    return rc;
}

static void sqlite_close(void *sink)
{
    struct sqlite_sink *s = sink;
    if (s->unremoved) {
        sqlite_remove_applied(s, NULL);
    }
    free(s->unremoved);
    redo_done(&s->redo);
    target_close(&s->target);
    free(s->job);
    free(s->uid);
    free(s->redo_dir);
    *s = (struct sqlite_sink){0};
}

static const struct sr_opt sqlite_opts[] = {
    SR_OPT(struct sqlite_conf, "path", path, .flags = SR_OPT_REQUIRED | SR_OPT_PATH,
           .doc = "The database file, made if absent."),
    SR_OPT(struct sqlite_conf, "table-name", table, .flags = SR_OPT_REQUIRED,
           .doc = "The table. With a primary-key on the sink, rows replace and delete by key."),
    SR_OPT(struct sqlite_conf, "table.create", may_create, .def = "true", .flags = SR_OPT_OURS,
           .doc = "Make the table if absent: BOOLEAN as 0 and 1, integers, REAL, TEXT, BLOB; "
                  "DECIMAL, DATE, TIME and TIMESTAMP as exact TEXT."),
    SR_OPT(struct sqlite_conf, "sink.redo.max-size", redo_max, .def = "256 mb", .min = 1,
           .max = INT64_MAX / 4, .flags = SR_OPT_OURS,
           .doc = "When so much waits for the next checkpoint one is taken early; at twice that, "
                  "writing waits."),
    SR_OPT_END};

const struct sr_sink_type sqlite_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "sqlite",
    .doc = "A table in an SQLite database, exactly-once.",
    .keeps = "exactly-once: applied with a commit id in the table's own transaction",
    .opts = sqlite_opts,
    .conf_size = sizeof(struct sqlite_conf),
    .sink_size = sizeof(struct sqlite_sink),
    .check = sqlite_check,
    .open = sqlite_open,
    .recover = sqlite_recover,
    .restore = sqlite_restore,
    .write = sqlite_write,
    .prepare = sqlite_prepare,
    .commit = sqlite_commit,
    .close = sqlite_close,
    .can_retry = true,
};

static const struct sr_sink_type *const sqlite_sinks[] = {&sqlite_sink_type, NULL};
static const struct sr_source_type *const sqlite_sources[] = {&sqlite_source_type, NULL};

SR_PLUGIN(sqlite) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "sqlite",
    .version = "0.1.0",
    .doc = "SQLite databases.",
    .sources = sqlite_sources,
    .sinks = sqlite_sinks,
};
