/* The sqlite sink: rows into a table, exactly-once, by redo files (fault tolerance shape C).
 *
 *   write -> redo file -> prepare: durable, noted -> commit: one transaction -> file removed
 *
 * The target is locked only while a checkpoint is applied. A crash anywhere leaves either the redo
 * file and no row of it, or all its rows and their record in streamrun_commit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <streamrun/plugin.h>
#include <string.h>

#include "connectors/common/reach.h"
#include "connectors/common/redo_box.h"
#include "connectors/sqlite/base.h"
#include "connectors/sqlite/cell.h"
#include "connectors/sqlite/target.h"

#define SQLITE_ROWS_NOTE 4u /* bytes of the note that only says that there are rows */

struct sqlite_conf {
    const char *path, *table;
    bool may_create;
    sr_size redo_max;
};

struct sqlite_sink {
    const struct sr_host *host;
    const struct sqlite_conf *conf;
    char *job, *uid;
    bool has_rows; /* some were prepared, in this run or before the checkpoint */
    struct redo_box box;
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

/* Where redo files lie without a checkpoint storage: beside the database. */
static char *sqlite_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash > path ? strndup(path, (size_t)(slash - path)) : strdup("/");
}

static sr_rc sqlite_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct sqlite_sink *s = sink;
    s->host = o->host;
    s->conf = o->conf;
    s->job = strdup(o->job_id);
    s->uid = strdup(o->uid);
    char *dir = sqlite_dir(s->conf->path);
    if (!s->job || !s->uid || !dir) {
        free(dir);
        return o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
    }
    s->target = (struct target){.host = o->host,
                                .schema = o->schema,
                                .path = s->conf->path,
                                .table = s->conf->table,
                                .job = s->job,
                                .sink = s->uid};
    struct redo_box_how how = {
        .target = s->conf->path, .dir = dir, .bytes_max = s->conf->redo_max.bytes};
    sr_rc rc = target_open(&s->target, s->conf->may_create, err);
    if (rc == SR_OK) {
        rc = redo_box_open(&s->box, o, &how, err);
    }
    free(dir);
    return rc;
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

static sr_rc sqlite_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                          struct sr_wait *wait, struct sr_error *err)
{
    struct sqlite_sink *s = sink;
    sr_rc rc = redo_box_room(&s->box, wait, err);
    if (rc != SR_OK) {
        return rc;
    }
    uint32_t bad = sqlite_find_null_key(s->target.schema, v, from);
    if (bad > from) {
        rc = redo_append(&s->box.redo, v, from, bad - from, err);
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
    bool has_more = s->box.redo.file != NULL;
    s->box.redo.mark.has_older = s->has_rows;
    sr_rc rc = redo_box_prepare(&s->box, checkpoint, notes, err);
    if (rc != SR_OK) {
        return rc;
    }
    s->has_rows = s->has_rows || has_more;
    return sqlite_note_rows(s, notes, err);
}

static sr_rc sqlite_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                           struct sr_error *err)
{
    (void)checkpoint; /* that of the note counts: a later one may carry it */
    struct sqlite_sink *s = sink;
    struct redo_mark mark;
    sr_rc rc = redo_box_load(&s->box, &mark, note, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = mark.has_older ? target_is_old(&s->target, err) : SR_OK;
    if (rc == SR_OK) {
        rc = target_apply(&s->target, &mark, err);
    }
    if (rc == SR_OK) {
        redo_box_remove(&s->box, mark.path);
        mark.path = NULL;
    }
    redo_mark_done(&mark);
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
        rc = redo_box_load(&s->box, &mark[loaded], live[i], err);
        loaded += rc == SR_OK ? 1 : 0;
    }
    if (rc == SR_OK) {
        rc = redo_box_leftovers(&s->box, mark, loaded, err);
    }
    for (uint32_t i = 0; i < loaded; i++) {
        redo_mark_done(&mark[i]);
    }
    free(mark);
    return rc;
}

static sr_rc sqlite_ask(struct sr_ask *a, struct sr_error *err)
{
    const struct sqlite_conf *c = a->conf;
    struct target t = {.host = a->host, .schema = a->schema, .path = c->path, .table = c->table};
    struct sr_stat stat;
    struct sr_error ignored;
    sr_rc rc = reach_file(a, c->path, err); /* the journal lies beside it */
    if (rc == SR_OK && a->host->files->stat(a->host->files, c->path, &stat, &ignored) == SR_OK) {
        rc = target_look(&t, c->may_create, err);
    } else if (rc == SR_OK && !c->may_create) {
        rc = a->host->fail(a->host, err, SR_EABSENT, "%s is not there, and table.create is false",
                           c->path);
    }
    target_close(&t);
    return rc;
}

static void sqlite_close(void *sink)
{
    struct sqlite_sink *s = sink;
    redo_box_close(&s->box);
    target_close(&s->target);
    free(s->job);
    free(s->uid);
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
    .ask = sqlite_ask,
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
