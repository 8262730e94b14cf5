#include "connectors/filesystem/fs_sink.h"

#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/common/reach.h"
#include "connectors/filesystem/fs_set.h"

#define FS_SINK_ROLL   (UINT64_C(128) << 20)        /* bytes, as in Flink */
#define FS_SINK_AGE_US (INT64_C(30) * 60 * 1000000) /* as in Flink */

static sr_rc fs_sink_no_memory(struct fs_sink *s, struct sr_error *err)
{
    return s->host->fail(s->host, err, SR_ENOMEM, "out of memory");
}

/* --- Open ------------------------------------------------------------------------------------ */

static sr_rc fs_sink_open_parting(struct fs_sink *s, const struct sr_sink_open *o,
                                  struct sr_error *err)
{
    s->group = calloc(SR_BATCH_ROWS, sizeof(*s->group));
    return s->group ? fs_parting_open(&s->parting, s->host, s->conf, o->schema, err)
                    : fs_sink_no_memory(s, err);
}

static void fs_sink_open_writer(struct fs_sink *s)
{
    const struct fs_sink_conf *c = s->conf;
    bool has_policy = c->roll_size.bytes > 0 || c->roll_interval.us > 0 ||
                      c->inactive_interval.us > 0 || c->check_interval.us > 0;
    s->goes_on = s->place.is_plain || s->is_uncheckpointed || has_policy;
    struct fs_writer *w = &s->writer;
    w->host = s->host;
    w->place = &s->place;
    w->encoder = &s->encoder;
    w->pack = fs_sink_pack(c);
    w->roll_bytes = c->roll_size.bytes > 0 ? c->roll_size.bytes : FS_SINK_ROLL;
    if (s->goes_on) {
        w->roll_us = c->roll_interval.us > 0 ? c->roll_interval.us : FS_SINK_AGE_US;
        w->inactive_us = c->inactive_interval.us > 0 ? c->inactive_interval.us : FS_SINK_AGE_US;
    }
}

static sr_rc fs_sink_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct fs_sink *s = sink;
    s->host = o->host;
    s->conf = o->conf;
    s->rows = note_out();
    s->watermark = SR_WATERMARK_NONE;
    s->is_parted = s->conf->partition_keys.count > 0;
    s->is_announced = s->is_parted && s->conf->commit_policy.count > 0;
    s->is_uncheckpointed =
        SR_HAS_FIELD(o, struct sr_sink_open, is_uncheckpointed) && o->is_uncheckpointed;
    sr_rc rc = fs_place_open(&s->place, s->conf, fs_sink_pack(s->conf), o, err);
    if (rc != SR_OK) {
        return rc;
    }
    fs_sink_open_writer(s);
    if (o->part == 0) {
        rc = fs_place_probe(&s->place, err);
    }
    struct sr_sink_open inner = *o; /* the format sees what goes into files */
    if (rc == SR_OK && s->is_parted) {
        rc = fs_sink_open_parting(s, o, err);
        inner.schema = &s->parting.schema;
    }
    return rc == SR_OK ? encoder_open(&s->encoder, &inner, err) : rc;
}

/* --- Rows ------------------------------------------------------------------------------------ */

/* Without checkpoints nobody else will show what is ready. */
static sr_rc fs_sink_show_ready(struct fs_sink *s, struct sr_error *err)
{
    for (uint32_t i = 0; i < s->writer.ready.count; i++) {
        sr_rc rc = fs_part_show(s->host, &s->writer.ready.item[i], true, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    fs_names_clear(&s->writer.ready);
    return SR_OK;
}

static sr_rc fs_sink_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                           struct sr_wait *wait, struct sr_error *err)
{
    (void)wait;
    struct fs_sink *s = sink;
    sr_rc rc = fs_sink_put(s, v, from, done, err);
    return rc == SR_OK && s->is_uncheckpointed ? fs_sink_show_ready(s, err) : rc;
}

static sr_rc fs_sink_flush(void *sink, struct sr_wait *wait, struct sr_error *err)
{
    (void)wait;
    struct fs_sink *s = sink;
    if (!s->is_uncheckpointed) {
        return SR_OK;
    }
    sr_rc rc = SR_OK;
    for (uint32_t i = s->writer.count; rc == SR_OK && i-- > 0;) {
        struct fs_bucket *b = s->writer.item[i];
        rc = fs_writer_is_due(&s->writer, b) ? fs_writer_close(&s->writer, b, err) : SR_OK;
    }
    return rc == SR_OK ? fs_sink_show_ready(s, err) : rc;
}

static void fs_sink_watermark(void *sink, int64_t watermark_ms)
{
    struct fs_sink *s = sink;
    s->watermark = watermark_ms;
}

/* --- Notes ----------------------------------------------------------------------------------- */

static sr_rc fs_sink_add_note(struct fs_sink *s, struct sr_out *note, bool is_put,
                              enum sr_note_kind kind, struct sr_notes *notes)
{
    sr_rc rc = is_put ? notes->add(notes, kind, (struct sr_bytes){note->data, (uint32_t)note->len})
                      : SR_ENOMEM;
    note_free(note);
    (void)s;
    return rc;
}

static sr_rc fs_sink_note_part(struct fs_sink *s, const struct fs_part_name *name,
                               enum sr_note_kind kind, struct sr_notes *notes, struct sr_error *err)
{
    struct sr_out note = note_out();
    bool is_put = fs_part_name_save(name, &note) == SR_OK;
    sr_rc rc = fs_sink_add_note(s, &note, is_put, kind, notes);
    return rc == SR_OK ? rc : s->host->fail(s->host, err, rc, "cannot note %s", name->hidden);
}

static char *fs_sink_success_path(const struct fs_sink *s, const char *partition)
{
    char *dir = fs_path_join(s->place.dir, partition);
    char *path = dir ? fs_path_join(dir, s->conf->success_name) : NULL;
    free(dir);
    return path;
}

/* The success files of partitions that are complete, behind their parts; and who waits still. */
static sr_rc fs_sink_note_partitions(struct fs_sink *s, struct sr_notes *notes,
                                     struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < s->pending.count; i++) {
        const struct fs_waiting *w = &s->pending.item[i];
        if (w->is_due) {
            struct sr_out note = note_out();
            char *path = fs_sink_success_path(s, w->partition);
            bool is_put = path && note_put_u8(&note, FS_NOTE_SUCCESS) && note_put_text(&note, path);
            rc = fs_sink_add_note(s, &note, is_put, SR_NOTE_COMMIT, notes);
            free(path);
        }
    }
    if (rc == SR_OK && s->pending.count > 0) {
        struct sr_out note = note_out();
        bool is_put = note_put_u8(&note, FS_NOTE_PENDING) && fs_pending_save(&s->pending, &note);
        rc = fs_sink_add_note(s, &note, is_put, SR_NOTE_STATE, notes);
    }
    return rc == SR_OK
               ? rc
               : s->host->fail(s->host, err, rc, "cannot note the partitions of %s", s->place.path);
}

/* --- Checkpoints ----------------------------------------------------------------------------- */

static void fs_sink_decide(struct fs_sink *s, bool is_last)
{
    struct fs_when when = {.trigger = (enum fs_trigger)s->conf->commit_trigger.index,
                           .delay_ms = s->conf->commit_delay.us / 1000,
                           .now_ms = s->host->wall_us(s->host) / 1000,
                           .watermark = s->watermark,
                           .is_last = is_last};
    fs_pending_decide(&s->pending, &when);
}

/* Makes each part durable, and closes those that end here. */
static sr_rc fs_sink_settle_parts(struct fs_sink *s, bool is_last, struct sr_error *err)
{
    struct fs_writer *w = &s->writer;
    sr_rc rc = SR_OK;
    for (uint32_t i = w->count; rc == SR_OK && i-- > 0;) {
        struct fs_bucket *b = w->item[i];
        if (b->rows == 0) {
            rc = is_last ? fs_writer_drop(w, b, err) : SR_OK;
            continue;
        }
        bool is_done = is_last || !s->goes_on || fs_writer_is_due(w, b) ||
                       fs_pending_is_due(&s->pending, b->part.name.partition);
        rc = is_done ? fs_writer_close(w, b, err) : fs_writer_sync(w, b, err);
    }
    return rc == SR_OK ? fs_place_sync(&s->place, err) : rc;
}

static sr_rc fs_sink_prepare_parts(struct fs_sink *s, bool is_last, struct sr_notes *notes,
                                   struct sr_error *err)
{
    struct fs_writer *w = &s->writer;
    fs_sink_decide(s, is_last);
    sr_rc rc = fs_sink_settle_parts(s, is_last, err);
    for (uint32_t i = 0; rc == SR_OK && i < w->ready.count; i++) {
        rc = fs_sink_note_part(s, &w->ready.item[i], SR_NOTE_COMMIT, notes, err);
    }
    for (uint32_t i = 0; rc == SR_OK && i < w->count; i++) {
        if (w->item[i]->rows > 0) {
            rc = fs_sink_note_part(s, &w->item[i]->part.name, SR_NOTE_STATE, notes, err);
        }
    }
    if (rc == SR_OK && s->is_announced) {
        rc = fs_sink_note_partitions(s, notes, err);
    }
    if (rc == SR_OK) { /* notes of a call that fails do not count: what is ready stays so */
        fs_names_clear(&w->ready);
        fs_pending_drop_due(&s->pending);
    }
    return rc;
}

/* The file appears even when no row came. The state note at the end lets a later run, which found
 * more input, go on behind the rows of this one. */
static sr_rc fs_sink_prepare_plain(struct fs_sink *s, bool is_last, struct sr_notes *notes,
                                   struct sr_error *err)
{
    struct fs_writer *w = &s->writer;
    struct fs_bucket *b = NULL;
    sr_rc rc = SR_OK;
    if (!s->is_finished) {
        rc = fs_writer_find(w, "", &b, err);
        rc = rc == SR_OK ? fs_writer_sync(w, b, err) : rc;
    }
    if (rc == SR_OK) {
        rc = fs_place_sync(&s->place, err);
    }
    const struct fs_part_name *name = b ? &b->part.name : &w->ready.item[0];
    if (rc == SR_OK) {
        rc = fs_sink_note_part(s, name, SR_NOTE_STATE, notes, err);
    }
    if (rc != SR_OK || !is_last || s->is_finished) {
        return rc;
    }
    rc = fs_sink_note_part(s, name, SR_NOTE_COMMIT, notes, err);
    if (rc == SR_OK) {
        rc = fs_writer_close(w, b, err); /* it is synced: only its name is kept */
        s->is_finished = rc == SR_OK;
    }
    return rc;
}

static sr_rc fs_sink_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                             struct sr_wait *wait, struct sr_error *err)
{
    (void)checkpoint;
    (void)wait;
    struct fs_sink *s = sink;
    return s->place.is_plain ? fs_sink_prepare_plain(s, is_last, notes, err)
                             : fs_sink_prepare_parts(s, is_last, notes, err);
}

/* What the copies were made from is of no use once a checkpoint that names the copies was shown. */
static void fs_sink_remove_stale(struct fs_sink *s)
{
    struct sr_error ignored;
    for (uint32_t i = 0; i < s->stale.count; i++) {
        (void)s->host->files->remove(s->host->files, s->stale.item[i].hidden, &ignored);
    }
    if (s->stale.count >
        0) { /* or a power loss brings them back, and no later run looks for them */
        (void)s->host->files->sync_dir(s->host->files, s->place.dir, &ignored);
    }
    fs_names_clear(&s->stale);
}

static sr_rc fs_sink_damaged(struct fs_sink *s, sr_rc rc, struct sr_error *err)
{
    return s->host->fail(s->host, err, rc, "a note of the part files in %s %s", s->place.dir,
                         rc == SR_ENOMEM ? "cannot be read" : "is damaged");
}

static uint8_t fs_sink_note_kind(struct sr_bytes note)
{
    return note.len > 0 ? ((const uint8_t *)note.data)[0] : 0;
}

static struct sr_bytes fs_sink_note_body(struct sr_bytes note)
{
    return (struct sr_bytes){(const uint8_t *)note.data + 1, note.len - 1};
}

static sr_rc fs_sink_load(struct fs_sink *s, struct fs_part_name *name, struct sr_bytes note,
                          struct sr_error *err)
{
    sr_rc rc = fs_part_name_load(name, note);
    return rc == SR_OK ? rc : fs_sink_damaged(s, rc, err);
}

/* An empty file, in a directory that is made if somebody took it away. */
static sr_rc fs_sink_make_success(struct fs_sink *s, const char *path, struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    struct sr_file *f = NULL;
    char *dir = fs_path_parent(path);
    sr_rc rc = dir ? fs_path_make(s->host, dir, err) : fs_sink_no_memory(s, err);
    if (rc == SR_OK) {
        rc = files->open(files, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_TRUNCATE, &f, err);
    }
    if (rc == SR_OK) {
        rc = files->sync(f, err);
        (void)files->close(f, NULL); /* it was synced */
    }
    if (rc == SR_OK) {
        rc = files->sync_dir(files, dir, err);
    }
    free(dir);
    return rc;
}

static sr_rc fs_sink_commit_success(struct fs_sink *s, struct sr_bytes note, struct sr_error *err)
{
    struct note_in in = note_in(fs_sink_note_body(note));
    char *path = note_get_text(&in);
    bool is_sound = note_is_done(&in) && path && path[0] == '/';
    sr_rc rc =
        is_sound ? fs_sink_make_success(s, path, err) : fs_sink_damaged(s, note_why(&in), err);
    free(path);
    return rc;
}

static sr_rc fs_sink_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                            struct sr_error *err)
{
    (void)checkpoint;
    struct fs_sink *s = sink;
    struct fs_part_name name;
    if (fs_sink_note_kind(note) == FS_NOTE_SUCCESS) {
        return fs_sink_commit_success(s, note, err);
    }
    sr_rc rc = fs_sink_load(s, &name, note, err);
    if (rc != SR_OK) {
        return rc;
    }
    bool is_own = name.attempt == s->place.attempt && name.part == s->place.part;
    rc = fs_part_show(s->host, &name, is_own, err);
    if (rc == SR_OK && is_own) {
        fs_sink_remove_stale(s);
    }
    fs_part_name_done(&name);
    return rc;
}

static sr_rc fs_sink_restore(void *sink, struct sr_bytes note, struct sr_error *err)
{
    struct fs_sink *s = sink;
    if (fs_sink_note_kind(note) == FS_NOTE_PENDING) {
        sr_rc rc = fs_pending_load(&s->pending, fs_sink_note_body(note));
        return rc == SR_OK ? rc : fs_sink_damaged(s, rc, err);
    }
    struct fs_part_name from;
    sr_rc rc = fs_sink_load(s, &from, note, err);
    if (rc != SR_OK) {
        return rc;
    }
    rc = fs_writer_restore(&s->writer, &from, err);
    if (rc != SR_OK) {
        fs_part_name_done(&from);
        return rc;
    }
    return fs_names_add(&s->stale, &from) == SR_OK ? SR_OK : fs_sink_no_memory(s, err);
}

static sr_rc fs_sink_remove_leftovers(struct fs_sink *s, char *const *names,
                                      const struct fs_set *live, bool may_be_new,
                                      struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    uint32_t removed = 0;
    for (; *names; names++) {
        if (!fs_place_is_leftover(&s->place, *names, may_be_new)) {
            continue;
        }
        char *path = fs_path_join(s->place.dir, *names);
        sr_rc rc = !path                    ? fs_sink_no_memory(s, err)
                   : fs_set_has(live, path) ? SR_OK
                                            : files->remove(files, path, err);
        removed += path && !fs_set_has(live, path) ? 1u : 0u;
        free(path);
        if (rc != SR_OK && rc != SR_EABSENT) {
            return rc;
        }
    }
    if (removed > 0) {
        s->host->log(s->host, SR_INFO, "removed %u unfinished part files in %s", removed,
                     s->place.dir);
    }
    return removed > 0 ? files->sync_dir(files, s->place.dir, err) : SR_OK;
}

/* Adds the hidden file that a note names, if it names one. */
static sr_rc fs_sink_add_live(struct fs_sink *s, struct fs_set *live, struct sr_bytes note,
                              struct sr_error *err)
{
    uint8_t kind = fs_sink_note_kind(note);
    if (kind == FS_NOTE_SUCCESS || kind == FS_NOTE_PENDING) {
        return SR_OK;
    }
    struct fs_part_name name;
    sr_rc rc = fs_sink_load(s, &name, note, err);
    if (rc == SR_OK && fs_set_add(live, name.hidden, NULL) != SR_OK) {
        rc = fs_sink_no_memory(s, err);
    }
    fs_part_name_done(&name);
    return rc;
}

static sr_rc fs_sink_recover(void *sink, const struct sr_bytes *live, uint32_t count,
                             struct sr_error *err)
{
    struct fs_sink *s = sink;
    const struct sr_files *files = s->host->files;
    struct fs_set names = {0};
    char **found = NULL;
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && i < count; i++) {
        rc = fs_sink_add_live(s, &names, live[i], err);
    }
    if (rc == SR_OK) {
        rc = files->list(files, s->place.dir, &found, err);
    }
    if (rc == SR_OK) {
        rc = fs_sink_remove_leftovers(s, found, &names, count > 0, err);
        files->names_free(files, found);
    }
    fs_set_done(&names);
    return rc;
}

static sr_rc fs_sink_ask(struct sr_ask *a, struct sr_error *err)
{
    const struct fs_sink_conf *c = a->conf;
    return fs_place_names_file(c->path) ? reach_file(a, c->path, err) : reach_dir(a, c->path, err);
}

static void fs_sink_close(void *sink)
{
    struct fs_sink *s = sink;
    fs_writer_done(&s->writer);
    fs_names_clear(&s->stale);
    free(s->stale.item);
    encoder_close(&s->encoder);
    fs_parting_done(&s->parting);
    fs_pending_done(&s->pending);
    fs_place_done(&s->place);
    note_free(&s->rows);
    free(s->group);
    *s = (struct fs_sink){0};
}

const struct sr_sink_type fs_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "filesystem",
    .doc = "Part files in a directory, in one a partition, or one plain file, exactly-once: they "
           "appear by rename.",
    .keeps = "exactly-once: part files of a directory appear by rename with their checkpoint; a "
             "plain file (of a bounded job) is complete at the end, or not there at all",
    .opts = fs_sink_opts,
    .conf_size = sizeof(struct fs_sink_conf),
    .sink_size = sizeof(struct fs_sink),
    .check = fs_sink_check,
    .open = fs_sink_open,
    .restore = fs_sink_restore,
    .recover = fs_sink_recover,
    .write = fs_sink_write,
    .flush = fs_sink_flush,
    .prepare = fs_sink_prepare,
    .commit = fs_sink_commit,
    .close = fs_sink_close,
    .watermark = fs_sink_watermark,
    .leave_out = fs_sink_leave_out,
    .can_retry = true,
    .ask = fs_sink_ask,
};
