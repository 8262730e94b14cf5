#include "connectors/filesystem/fs_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/note.h"
#include "connectors/common/sink_id.h"
#include "connectors/filesystem/fs_set.h"

#define FS_SINK_END    ".inprogress"
#define FS_SINK_ROLL   (UINT64_C(128) << 20)        /* bytes, as in Flink */
#define FS_SINK_AGE_US (INT64_C(30) * 60 * 1000000) /* as in Flink */
#define FS_SINK_TRIES  1000000u                     /* names that may be taken already */

static sr_rc fs_sink_no_memory(struct fs_sink *s, struct sr_error *err)
{
    return s->host->fail(s->host, err, SR_ENOMEM, "out of memory");
}

/* Takes *name in any case. */
static sr_rc fs_names_add(struct fs_names *l, struct fs_part_name *name)
{
    if (l->count == l->capacity) {
        uint32_t more = l->capacity > 0 ? l->capacity * 2 : 4;
        void *moved = realloc(l->item, more * sizeof(*l->item));
        if (!moved) {
            fs_part_name_done(name);
            return SR_ENOMEM;
        }
        l->item = moved;
        l->capacity = more;
    }
    l->item[l->count++] = *name;
    *name = (struct fs_part_name){0};
    return SR_OK;
}

static void fs_names_clear(struct fs_names *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        fs_part_name_done(&l->item[i]);
    }
    l->count = 0;
}

/* --- Plan time ------------------------------------------------------------------------------- */

/* A path names a plain file when its name has an extension and no slash follows. */
static bool fs_sink_names_file(const char *path)
{
    const char *dot = strrchr(fs_path_name(path), '.');
    return dot && dot != fs_path_name(path) && dot[1] != 0;
}

static sr_rc fs_sink_check(const void *conf, const struct sr_schema *schema,
                           struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)schema;
    (void)err;
    const struct fs_sink_conf *c = conf;
    bool is_plain = fs_sink_names_file(c->path);
    *caps = (struct sr_sink_caps){.guarantee = SR_EXACTLY_ONCE,
                                  .takes_changes = false,
                                  .makes_rows = false,
                                  .is_bounded_only = is_plain,
                                  .parts_max = is_plain ? 1 : 0};
    return SR_OK;
}

/* --- Open ------------------------------------------------------------------------------------ */

/* One directory, whose parent is there. */
static sr_rc fs_sink_make_dir(struct fs_sink *s, const char *path, struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    struct sr_stat stat;
    sr_rc rc = files->stat(files, path, &stat, err);
    if (rc == SR_OK && stat.kind != SR_FILE_DIRECTORY) {
        return s->host->fail(s->host, err, SR_ECONFIG,
                             "%s is no directory: path is a directory of part files, unless its "
                             "name has an extension, as in out.csv",
                             path);
    }
    if (rc != SR_EABSENT) {
        return rc;
    }
    rc = files->make_dir(files, path, err);
    if (rc != SR_OK) {
        return rc == SR_EEXISTS ? SR_OK : rc; /* another subtask made it */
    }
    char *above = fs_path_parent(path);
    rc = above ? files->sync_dir(files, above, err) : fs_sink_no_memory(s, err);
    free(above);
    return rc;
}

/* Makes `dir` and the directories above it that are missing. */
static sr_rc fs_sink_make_dirs(struct fs_sink *s, const char *dir, struct sr_error *err)
{
    char *path = strdup(dir);
    if (!path) {
        return fs_sink_no_memory(s, err);
    }
    sr_rc rc = SR_OK;
    for (char *slash = strchr(path + 1, '/'); rc == SR_OK && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        rc = fs_sink_make_dir(s, path, err);
        *slash = '/';
    }
    free(path);
    return rc == SR_OK ? fs_sink_make_dir(s, dir, err) : rc;
}

/* Whether files can be made here shows now, not at the first checkpoint. */
static sr_rc fs_sink_probe(struct fs_sink *s, struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    char *path = NULL;
    /* Named as a leftover of this sink, so that one that could not be removed goes at recovery. */
    size_t size = strlen(s->own) + (size_t)FS_SINK_STEM * 2;
    char *name = malloc(size);
    if (name) {
        (void)snprintf(name, size, "%s%sprobe-%016" PRIx64 FS_SINK_END, s->own, s->run,
                       s->host->random(s->host));
        path = fs_path_join(s->dir, name);
    }
    free(name);
    struct sr_file *f = NULL;
    struct sr_error ignored;
    sr_rc rc =
        path ? files->open(files, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE, &f, err)
             : fs_sink_no_memory(s, err);
    if (rc == SR_OK) {
        rc = files->write(f, "probe", 5, 0, err);
        (void)files->close(f, NULL);
        (void)files->remove(files, path, &ignored); /* whatever the write said */
    }
    free(path);
    return rc;
}

static sr_rc fs_sink_find_place(struct fs_sink *s, struct sr_error *err)
{
    const struct sr_host *h = s->host;
    struct sr_stat stat;
    s->path = fs_path_clean(s->conf->path);
    if (!s->path) {
        return fs_sink_no_memory(s, err);
    }
    size_t len = strlen(s->conf->path);
    bool has_slash = len > 0 && s->conf->path[len - 1] == '/';
    sr_rc rc = h->files->stat(h->files, s->path, &stat, err);
    if (rc != SR_OK && rc != SR_EABSENT) {
        return rc;
    }
    bool is_dir = rc == SR_OK && stat.kind == SR_FILE_DIRECTORY;
    s->is_plain = fs_sink_names_file(s->path) && !has_slash && !is_dir;
    if (!s->is_plain) {
        s->dir = strdup(s->path);
        return s->dir ? fs_sink_make_dirs(s, s->dir, err) : fs_sink_no_memory(s, err);
    }
    if (rc == SR_OK && stat.kind != SR_FILE_REGULAR) {
        return h->fail(h, err, SR_ECONFIG, "%s is there and is no regular file", s->path);
    }
    s->dir = fs_path_parent(s->path);
    if (!s->dir) {
        return fs_sink_no_memory(s, err);
    }
    rc = h->files->stat(h->files, s->dir, &stat, err);
    if (rc == SR_EABSENT || (rc == SR_OK && stat.kind != SR_FILE_DIRECTORY)) {
        return h->fail(h, err, SR_EABSENT, "cannot write %s: there is no directory %s", s->path,
                       s->dir);
    }
    return rc;
}

static sr_rc fs_sink_name_itself(struct fs_sink *s, const struct sr_sink_open *o,
                                 struct sr_error *err)
{
    char id[SINK_ID_SIZE] = "";
    bool has_id = sink_id(o, id);
    (void)snprintf(s->run, sizeof(s->run), "%" PRIu64 "-%" PRIu64 "-", o->lineage, o->attempt);
    const char *name = s->is_plain ? fs_path_name(s->path) : "part-";
    size_t size = strlen(name) + 16;
    s->own = malloc(size);
    if (!has_id || !s->own) {
        return fs_sink_no_memory(s, err);
    }
    (void)snprintf(s->own, size, ".%s%s%s-", name, s->is_plain ? "." : "", id);
    return SR_OK;
}

static sr_rc fs_sink_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct fs_sink *s = sink;
    s->host = o->host;
    s->conf = o->conf;
    s->attempt = o->attempt;
    s->part = o->part;
    s->is_uncheckpointed =
        SR_HAS_FIELD(o, struct sr_sink_open, is_uncheckpointed) && o->is_uncheckpointed;
    const struct fs_sink_conf *c = s->conf;
    s->roll_bytes = c->roll_size.bytes > 0 ? c->roll_size.bytes : FS_SINK_ROLL;
    s->roll_us = c->roll_interval.us > 0 ? c->roll_interval.us : FS_SINK_AGE_US;
    s->inactive_us = c->inactive_interval.us > 0 ? c->inactive_interval.us : FS_SINK_AGE_US;
    sr_rc rc = fs_sink_find_place(s, err);
    if (rc == SR_OK) {
        rc = fs_sink_name_itself(s, o, err);
    }
    s->goes_on = s->is_plain || s->is_uncheckpointed || c->roll_size.bytes > 0 ||
                 c->roll_interval.us > 0 || c->inactive_interval.us > 0 || c->check_interval.us > 0;
    if (rc == SR_OK && s->part == 0) {
        rc = fs_sink_probe(s, err);
    }
    return rc == SR_OK ? encoder_open(&s->encoder, o, err) : rc;
}

/* --- Parts ----------------------------------------------------------------------------------- */

static struct fs_part_name fs_sink_next_name(struct fs_sink *s)
{
    struct fs_part_name n = {.attempt = s->attempt, .part = s->part, .may_replace = s->is_plain};
    size_t size = strlen(s->own) + FS_SINK_STEM + 64;
    char *name = malloc(size);
    if (!name) {
        return n;
    }
    if (s->is_plain) {
        (void)snprintf(name, size, "%s%s%" PRIu64 FS_SINK_END, s->own, s->run, s->next++);
        n.hidden = fs_path_join(s->dir, name);
        n.final = strdup(s->path);
    } else {
        (void)snprintf(name, size, "%s%s%" PRIu32 "-%" PRIu64, s->own, s->run, s->part, s->next++);
        n.final = fs_path_join(s->dir, name + 1); /* without the dot */
        size_t len = strlen(name);
        (void)snprintf(name + len, size - len, FS_SINK_END);
        n.hidden = fs_path_join(s->dir, name);
    }
    free(name);
    return n;
}

/* A new part file under names that nobody has; with the bytes of `from` unless that is NULL. */
static sr_rc fs_sink_new_part(struct fs_sink *s, const struct fs_part_name *from,
                              struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    for (uint32_t i = 0; i < FS_SINK_TRIES; i++) {
        struct fs_part_name name = fs_sink_next_name(s);
        struct sr_stat stat;
        if (name.final && !s->is_plain && files->stat(files, name.final, &stat, err) == SR_OK) {
            fs_part_name_done(&name);
            continue;
        }
        sr_rc rc = from ? fs_part_copy(&s->now, s->host, name, from, err)
                        : fs_part_create(&s->now, s->host, name, err);
        if (rc != SR_EEXISTS) {
            s->has_new_names = true;
            return rc;
        }
    }
    return s->host->fail(s->host, err, SR_ELIMIT, "no name is left for a part file in %s", s->dir);
}

static sr_rc fs_sink_begin(struct fs_sink *s, struct sr_error *err)
{
    sr_rc rc = fs_sink_new_part(s, NULL, err);
    s->rows = 0;
    return rc == SR_OK ? encoder_head(&s->encoder, &s->now.buf, err) : rc;
}

/* Closes the part: it is durable, and ready to be noted. */
static sr_rc fs_sink_roll(struct fs_sink *s, struct sr_error *err)
{
    sr_rc rc = fs_part_sync(&s->now, err);
    if (rc != SR_OK) {
        return rc;
    }
    struct fs_part_name name;
    fs_part_done(&s->now, &name);
    return fs_names_add(&s->ready, &name) == SR_OK ? SR_OK : fs_sink_no_memory(s, err);
}

static bool fs_sink_is_due(const struct fs_sink *s)
{
    if (s->is_plain || !fs_part_is_open(&s->now) || s->rows == 0) {
        return false;
    }
    if (fs_part_length(&s->now) >= s->roll_bytes) {
        return true;
    }
    int64_t now_us = s->goes_on ? s->host->mono_us(s->host) : 0;
    return s->goes_on && (now_us - s->now.created_us >= s->roll_us ||
                          now_us - s->now.touched_us >= s->inactive_us);
}

/* Without checkpoints nobody else will show what is ready. */
static sr_rc fs_sink_show_ready(struct fs_sink *s, struct sr_error *err)
{
    for (uint32_t i = 0; i < s->ready.count; i++) {
        sr_rc rc = fs_part_show(s->host, &s->ready.item[i], true, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    fs_names_clear(&s->ready);
    return SR_OK;
}

static sr_rc fs_sink_roll_if_due(struct fs_sink *s, struct sr_error *err)
{
    sr_rc rc = fs_sink_is_due(s) ? fs_sink_roll(s, err) : SR_OK;
    return rc == SR_OK && s->is_uncheckpointed ? fs_sink_show_ready(s, err) : rc;
}

/* --- Rows ------------------------------------------------------------------------------------ */

static sr_rc fs_sink_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                           struct sr_wait *wait, struct sr_error *err)
{
    (void)wait;
    struct fs_sink *s = sink;
    if (!fs_part_is_open(&s->now)) {
        sr_rc rc = fs_sink_begin(s, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    sr_rc rc = encoder_rows(&s->encoder, v, from, &s->now.buf, done, err);
    s->rows += *done;
    if (rc != SR_OK) {
        return rc;
    }
    if (s->goes_on) {
        s->now.touched_us = s->host->mono_us(s->host);
    }
    rc = fs_part_write(&s->now, err);
    return rc == SR_OK ? fs_sink_roll_if_due(s, err) : rc;
}

static sr_rc fs_sink_flush(void *sink, struct sr_wait *wait, struct sr_error *err)
{
    (void)wait;
    struct fs_sink *s = sink;
    return s->is_uncheckpointed ? fs_sink_roll_if_due(s, err) : SR_OK;
}

/* --- Checkpoints ----------------------------------------------------------------------------- */

static sr_rc fs_sink_note(struct fs_sink *s, const struct fs_part_name *name,
                          enum sr_note_kind kind, struct sr_notes *notes, struct sr_error *err)
{
    struct sr_out note = note_out();
    sr_rc rc = fs_part_name_save(name, &note);
    if (rc == SR_OK) {
        rc = notes->add(notes, kind, (struct sr_bytes){note.data, (uint32_t)note.len});
    }
    note_free(&note);
    return rc == SR_OK ? rc : s->host->fail(s->host, err, rc, "cannot note %s", name->hidden);
}

static sr_rc fs_sink_sync_names(struct fs_sink *s, struct sr_error *err)
{
    sr_rc rc = s->has_new_names ? s->host->files->sync_dir(s->host->files, s->dir, err) : SR_OK;
    s->has_new_names = s->has_new_names && rc != SR_OK;
    return rc;
}

/* Throws away a part without rows. */
static sr_rc fs_sink_drop_empty(struct fs_sink *s, struct sr_error *err)
{
    struct fs_part_name name;
    fs_part_done(&s->now, &name);
    sr_rc rc = s->host->files->remove(s->host->files, name.hidden, err);
    fs_part_name_done(&name);
    return rc;
}

static sr_rc fs_sink_prepare_parts(struct fs_sink *s, bool is_last, struct sr_notes *notes,
                                   struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (fs_part_is_open(&s->now) && s->rows > 0) {
        bool is_done = is_last || !s->goes_on || fs_sink_is_due(s);
        rc = is_done ? fs_sink_roll(s, err) : fs_part_sync(&s->now, err);
    } else if (fs_part_is_open(&s->now) && is_last) {
        rc = fs_sink_drop_empty(s, err);
    }
    if (rc == SR_OK) {
        rc = fs_sink_sync_names(s, err);
    }
    for (uint32_t i = 0; rc == SR_OK && i < s->ready.count; i++) {
        rc = fs_sink_note(s, &s->ready.item[i], SR_NOTE_COMMIT, notes, err);
    }
    if (rc == SR_OK && fs_part_is_open(&s->now) && s->rows > 0) {
        rc = fs_sink_note(s, &s->now.name, SR_NOTE_STATE, notes, err);
    }
    if (rc == SR_OK) { /* notes of a call that fails do not count: what is ready stays so */
        fs_names_clear(&s->ready);
    }
    return rc;
}

/* The file appears even when no row came. The state note at the end lets a later run, which found
 * more input, go on behind the rows of this one. */
static sr_rc fs_sink_prepare_plain(struct fs_sink *s, bool is_last, struct sr_notes *notes,
                                   struct sr_error *err)
{
    sr_rc rc = SR_OK;
    if (!s->is_finished && !fs_part_is_open(&s->now)) {
        rc = fs_sink_begin(s, err);
    }
    if (rc == SR_OK && !s->is_finished) {
        rc = fs_part_sync(&s->now, err);
    }
    if (rc == SR_OK) {
        rc = fs_sink_sync_names(s, err);
    }
    const struct fs_part_name *name = s->is_finished ? &s->ready.item[0] : &s->now.name;
    if (rc == SR_OK) {
        rc = fs_sink_note(s, name, SR_NOTE_STATE, notes, err);
    }
    if (rc != SR_OK || !is_last || s->is_finished) {
        return rc;
    }
    rc = fs_sink_note(s, name, SR_NOTE_COMMIT, notes, err);
    if (rc == SR_OK) {
        s->is_finished = true;
        struct fs_part_name last;
        fs_part_done(&s->now, &last);
        rc = fs_names_add(&s->ready, &last) == SR_OK ? SR_OK : fs_sink_no_memory(s, err);
    }
    return rc;
}

static sr_rc fs_sink_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                             struct sr_wait *wait, struct sr_error *err)
{
    (void)checkpoint;
    (void)wait;
    struct fs_sink *s = sink;
    return s->is_plain ? fs_sink_prepare_plain(s, is_last, notes, err)
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
        (void)s->host->files->sync_dir(s->host->files, s->dir, &ignored);
    }
    fs_names_clear(&s->stale);
}

static sr_rc fs_sink_load(struct fs_sink *s, struct fs_part_name *name, struct sr_bytes note,
                          struct sr_error *err)
{
    sr_rc rc = fs_part_name_load(name, note);
    return rc == SR_OK ? rc
                       : s->host->fail(s->host, err, rc,
                                       "a note of the part files in %s is damaged", s->dir);
}

static sr_rc fs_sink_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                            struct sr_error *err)
{
    (void)checkpoint;
    struct fs_sink *s = sink;
    struct fs_part_name name;
    sr_rc rc = fs_sink_load(s, &name, note, err);
    if (rc != SR_OK) {
        return rc;
    }
    bool is_own = name.attempt == s->attempt && name.part == s->part;
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
    struct fs_part_name from;
    sr_rc rc = fs_sink_load(s, &from, note, err);
    if (rc != SR_OK) {
        return rc;
    }
    if (fs_part_is_open(&s->now)) { /* the state of a second writer: its part ends here */
        rc = fs_sink_roll(s, err);
    }
    if (rc == SR_OK) {
        rc = fs_sink_new_part(s, &from, err);
    }
    if (rc != SR_OK) {
        fs_part_name_done(&from);
        return rc;
    }
    s->rows = 1;
    return fs_names_add(&s->stale, &from) == SR_OK ? SR_OK : fs_sink_no_memory(s, err);
}

static bool fs_sink_is_leftover(const struct fs_sink *s, const char *name, bool may_be_new)
{
    size_t own = strlen(s->own), len = strlen(name), end = sizeof(FS_SINK_END) - 1;
    if (len <= own + end || strncmp(name, s->own, own) != 0 ||
        strcmp(name + len - end, FS_SINK_END) != 0) {
        return false;
    }
    /* Parts that this run has gone on with already are nobody's leftovers. */
    return !may_be_new || strncmp(name + own, s->run, strlen(s->run)) != 0;
}

static sr_rc fs_sink_remove_leftovers(struct fs_sink *s, char *const *names,
                                      const struct fs_set *live, bool may_be_new,
                                      struct sr_error *err)
{
    const struct sr_files *files = s->host->files;
    uint32_t removed = 0;
    for (; *names; names++) {
        if (!fs_sink_is_leftover(s, *names, may_be_new)) {
            continue;
        }
        char *path = fs_path_join(s->dir, *names);
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
        s->host->log(s->host, SR_INFO, "removed %u unfinished part files in %s", removed, s->dir);
    }
    return removed > 0 ? files->sync_dir(files, s->dir, err) : SR_OK;
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
        struct fs_part_name name;
        rc = fs_sink_load(s, &name, live[i], err);
        if (rc == SR_OK && fs_set_add(&names, name.hidden, NULL) != SR_OK) {
            rc = fs_sink_no_memory(s, err);
        }
        fs_part_name_done(&name);
    }
    if (rc == SR_OK) {
        rc = files->list(files, s->dir, &found, err);
    }
    if (rc == SR_OK) {
        rc = fs_sink_remove_leftovers(s, found, &names, count > 0, err);
        files->names_free(files, found);
    }
    fs_set_done(&names);
    return rc;
}

static void fs_sink_close(void *sink)
{
    struct fs_sink *s = sink;
    fs_part_done(&s->now, NULL);
    note_free(&s->now.buf);
    fs_names_clear(&s->ready);
    fs_names_clear(&s->stale);
    free(s->ready.item);
    free(s->stale.item);
    encoder_close(&s->encoder);
    free(s->path);
    free(s->dir);
    free(s->own);
    *s = (struct fs_sink){0};
}

static const struct sr_opt fs_sink_opts[] = {
    SR_OPT(struct fs_sink_conf, "path", path, .flags = SR_OPT_REQUIRED | SR_OPT_PATH,
           .doc = "A directory of part files, made if absent; in a bounded job also a plain file, "
                  "whose name has an extension: it appears complete at the end, or not at all."),
    SR_OPT(
        struct fs_sink_conf, "sink.rolling-policy.file-size", roll_size, .min = 1, .max = INT64_MAX,
        .doc = "A part of this size is closed (128 mb unless written). Where a rolling-policy key "
               "is written, parts go on over checkpoints; else each checkpoint closes its part."),
    SR_OPT(struct fs_sink_conf, "sink.rolling-policy.rollover-interval", roll_interval, .min = 1000,
           .max = INT64_C(1000000) * 86400 * 365,
           .doc = "A part of this age is closed (30 min unless written)."),
    SR_OPT(struct fs_sink_conf, "sink.rolling-policy.inactivity-interval", inactive_interval,
           .min = 1000, .max = INT64_C(1000000) * 86400 * 365,
           .doc = "A part that took no row for so long is closed (30 min unless written)."),
    SR_OPT(struct fs_sink_conf, "sink.rolling-policy.check-interval", check_interval, .min = 1000,
           .max = INT64_C(1000000) * 86400 * 365,
           .doc =
               "Flink's interval of looking at ages; here they are looked at with each row and at "
               "each checkpoint."),
    SR_OPT_END};

const struct sr_sink_type fs_sink_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "filesystem",
    .doc = "Part files in a directory, or one plain file, exactly-once: they appear by rename.",
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
};
