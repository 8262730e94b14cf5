/* A sink built outside the tree: files that appear whole, by rename, with their checkpoint.
 *
 * Rows since the last checkpoint lie in a hidden file. prepare makes it durable and notes its name,
 * commit takes the dot away, recover removes what no checkpoint names. Writes the first column, a
 * line a row.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <streamrun/plugin.h>

#define NAME_MAX_BYTES 64u
#define PATH_BYTES     4096u
#define PREFIX         "shelf-"

struct shelf_conf {
    const char *path;
};

struct shelf {
    const struct sr_host *host;
    const struct shelf_conf *conf;
    uint32_t part;
    char name[NAME_MAX_BYTES]; /* of the file being written, without its dot */
    struct sr_file *file;      /* NULL: no row came yet */
    uint64_t size;
};

static sr_rc shelf_check(const void *conf, const struct sr_schema *schema,
                         struct sr_sink_caps *caps, struct sr_error *err)
{
    (void)conf;
    if (schema->fields == 0 || !sr_is_text(schema->field[0].type.kind)) {
        err->rc = SR_ECONFIG;
        (void)snprintf(err->words, sizeof(err->words), "shelf writes one STRING column");
        return SR_ECONFIG;
    }
    *caps = (struct sr_sink_caps){.guarantee = SR_EXACTLY_ONCE, .makes_rows = true};
    return SR_OK;
}

/* The path of a name, hidden or not. */
static void shelf_path(const struct shelf *s, const char *name, bool is_hidden,
                       char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/%s%s", s->conf->path, is_hidden ? "." : "", name);
}

static sr_rc shelf_open(void *sink, const struct sr_sink_open *o, struct sr_error *err)
{
    struct shelf *s = sink;
    const struct sr_files *fs = o->host->files;
    s->host = o->host;
    s->conf = o->conf;
    s->part = o->part;
    sr_rc rc = fs->make_dir(fs, s->conf->path, err);
    return rc == SR_EEXISTS ? SR_OK : rc;
}

/* A name that nobody else uses, whatever run, attempt or subtask it is. */
static sr_rc shelf_begin(struct shelf *s, struct sr_error *err)
{
    const struct sr_files *fs = s->host->files;
    char path[PATH_BYTES];
    (void)snprintf(s->name, sizeof(s->name), PREFIX "%016" PRIx64 "-%u", s->host->random(s->host),
                   s->part);
    shelf_path(s, s->name, true, path);
    s->size = 0;
    return fs->open(fs, path, SR_FILE_WRITE | SR_FILE_CREATE | SR_FILE_EXCLUSIVE, &s->file, err);
}

static sr_rc shelf_write(void *sink, const struct sr_view *v, uint32_t from, uint32_t *done,
                         struct sr_wait *wait, struct sr_error *err)
{
    struct shelf *s = sink;
    const struct sr_files *fs = s->host->files;
    (void)wait;
    *done = 0;
    sr_rc rc = s->file ? SR_OK : shelf_begin(s, err);
    for (uint32_t i = from; rc == SR_OK && i < v->picked; i++) {
        uint32_t r = sr_row(v, i), len = 0;
        bool is_null = !sr_is_valid(v->col[0], r);
        const char *text = is_null ? "" : sr_text(v->col[0], r, &len);
        rc = len > 0 ? fs->write(s->file, text, len, s->size, err) : SR_OK;
        rc = rc == SR_OK ? fs->write(s->file, "\n", 1, s->size + len, err) : rc;
        s->size += rc == SR_OK ? len + 1 : 0;
        *done += rc == SR_OK ? 1 : 0;
    }
    return rc;
}

static sr_rc shelf_prepare(void *sink, uint64_t checkpoint, bool is_last, struct sr_notes *notes,
                           struct sr_wait *wait, struct sr_error *err)
{
    struct shelf *s = sink;
    const struct sr_files *fs = s->host->files;
    (void)checkpoint, (void)is_last, (void)wait;
    if (!s->file) return SR_OK;
    sr_rc rc = fs->sync(s->file, err);
    sr_rc closed = fs->close(s->file, rc == SR_OK ? err : NULL);
    s->file = NULL;
    rc = rc == SR_OK ? closed : rc;
    rc = rc == SR_OK ? fs->sync_dir(fs, s->conf->path, err) : rc;
    if (rc != SR_OK) return rc;
    rc = notes->add(notes, SR_NOTE_COMMIT, (struct sr_bytes){s->name, (uint32_t)strlen(s->name)});
    return rc == SR_OK ? SR_OK : s->host->fail(s->host, err, rc, "cannot note %s", s->name);
}

/* Again after a crash: the file has its name already. */
static sr_rc shelf_commit(void *sink, uint64_t checkpoint, struct sr_bytes note,
                          struct sr_error *err)
{
    struct shelf *s = sink;
    const struct sr_files *fs = s->host->files;
    char name[NAME_MAX_BYTES], hidden[PATH_BYTES], path[PATH_BYTES];
    struct sr_stat st;
    (void)checkpoint;
    if (note.len >= sizeof(name) || note.len < sizeof(PREFIX) ||
        memcmp(note.data, PREFIX, sizeof(PREFIX) - 1) != 0) {
        return s->host->fail(s->host, err, SR_ECORRUPT, "the note of a file is damaged");
    }
    memcpy(name, note.data, note.len);
    name[note.len] = '\0';
    shelf_path(s, name, true, hidden);
    shelf_path(s, name, false, path);
    sr_rc rc = fs->rename(fs, hidden, path, true, err);
    if (rc == SR_EABSENT && fs->stat(fs, path, &st, err) == SR_OK) return SR_OK;
    return rc == SR_OK ? fs->sync_dir(fs, s->conf->path, err) : rc;
}

static bool shelf_is_live(const char *name, const struct sr_bytes *live, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (live[i].len == strlen(name) && memcmp(live[i].data, name, live[i].len) == 0) {
            return true;
        }
    }
    return false;
}

static sr_rc shelf_recover(void *sink, const struct sr_bytes *live, uint32_t count,
                           struct sr_error *err)
{
    struct shelf *s = sink;
    const struct sr_files *fs = s->host->files;
    char **names = NULL, path[PATH_BYTES];
    sr_rc rc = fs->list(fs, s->conf->path, &names, err);
    if (rc != SR_OK) return rc;
    for (uint32_t i = 0; rc == SR_OK && names[i]; i++) {
        bool is_ours = strncmp(names[i], "." PREFIX, sizeof("." PREFIX) - 1) == 0;
        if (!is_ours || shelf_is_live(names[i] + 1, live, count)) continue;
        shelf_path(s, names[i], false, path);
        rc = fs->remove(fs, path, err);
    }
    fs->names_free(fs, names);
    return rc;
}

static void shelf_close(void *sink)
{
    struct shelf *s = sink;
    if (s->host) (void)s->host->files->close(s->file, NULL); /* NULL where no row came */
}

static const struct sr_opt shelf_opts[] = {SR_OPT(struct shelf_conf, "path", path,
                                                  .flags = SR_OPT_REQUIRED | SR_OPT_PATH,
                                                  .doc = "Directory of the files, made if absent."),
                                           SR_OPT_END};

static const struct sr_sink_type shelf_type = {
    .size = sizeof(struct sr_sink_type),
    .name = "shelf",
    .doc = "Files of lines, exactly-once.",
    .keeps = "exactly-once: files appear by rename with their checkpoint",
    .opts = shelf_opts,
    .conf_size = sizeof(struct shelf_conf),
    .sink_size = sizeof(struct shelf),
    .check = shelf_check,
    .open = shelf_open,
    .recover = shelf_recover,
    .write = shelf_write,
    .prepare = shelf_prepare,
    .commit = shelf_commit,
    .close = shelf_close,
};

static const struct sr_sink_type *const shelf_sinks[] = {&shelf_type, NULL};

SR_PLUGIN(shelf) = {
    .abi_major = SR_ABI_MAJOR,
    .abi_minor = SR_ABI_MINOR,
    .name = "shelf",
    .version = "1",
    .doc = "A sink for tests.",
    .sinks = shelf_sinks,
};
