#include "connectors/filesystem/fs_finder.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "connectors/common/note.h"
#include "connectors/filesystem/fs_input.h"
#include "connectors/filesystem/fs_split.h"
#include "connectors/filesystem/fs_walk.h"

sr_rc fs_finder_open(void *finder, const struct sr_source_open *o, struct sr_error *err)
{
    struct fs_finder *f = finder;
    f->host = o->host;
    f->conf = o->conf;
    f->may_cut = (o->format_flags & SR_FORMAT_LINES) != 0;
    f->path = fs_path_clean(f->conf->path);
    return f->path ? SR_OK : o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
}

void fs_finder_known(void *finder, const struct sr_split *split)
{
    struct fs_finder *f = finder;
    char *path = fs_split_id_path(split->id);
    if (!path || fs_set_add(&f->known, path, NULL) != SR_OK) {
        f->is_broken = true; /* naming it again would double its rows: discover fails */
    }
    free(path);
}

/* Flink reads these by their name; what they hold has no sign of its own. */
static bool fs_finder_is_deflate(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".deflate") == 0;
}

static sr_rc fs_finder_add(const struct fs_found *file, uint64_t begin, uint64_t end,
                           struct sr_splits *out)
{
    struct fs_split s = {.path = file->path, .begin = begin, .end = end, .offset = begin};
    s.is_aligned = begin == 0;
    s.file.device = file->stat.device;
    s.file.inode = file->stat.inode;
    s.file.size_bytes = file->stat.size_bytes;
    struct sr_out note = note_out();
    char *id = fs_split_id(file->path, begin);
    sr_rc rc = id ? fs_split_save(&s, &note) : SR_ENOMEM;
    if (rc == SR_OK) {
        uint64_t last = end < s.file.size_bytes ? end : s.file.size_bytes;
        struct sr_split split = {.id = id,
                                 .note = {note.data, (uint32_t)note.len},
                                 .order = file->stat.modified_us,
                                 .size_bytes = (int64_t)(last - begin)};
        rc = out->add(out, &split);
    }
    free(id);
    note_free(&note);
    return rc;
}

/* What cannot be opened is told by the reader. */
static bool fs_finder_is_packed(const struct fs_finder *f, const char *path)
{
    struct fs_input input;
    struct sr_error ignored;
    bool is_packed =
        fs_input_open(&input, f->host, path, &ignored) == SR_OK && fs_input_is_packed(&input);
    fs_input_close(&input);
    return is_packed;
}

/* A file of lines that is not compressed is cut where it is large; the last piece of a bounded one ends where the file did
 * when it was found, that of a monitored one never. Other formats are read whole. */
static sr_rc fs_finder_cut(struct fs_finder *f, const struct fs_found *file, struct sr_splits *out)
{
    uint64_t size = file->stat.size_bytes, piece = f->conf->split_size.bytes;
    bool is_packed = f->may_cut && piece > 0 && size > piece && fs_finder_is_packed(f, file->path);
    bool is_monitored = f->conf->monitor_interval.us > 0;
    uint64_t last_end = is_monitored || !f->may_cut || is_packed ? FS_SPLIT_OPEN : size;
    uint64_t begin = 0;
    sr_rc rc = SR_OK;
    while (rc == SR_OK && f->may_cut && !is_packed && piece > 0 && size - begin > piece) {
        rc = fs_finder_add(file, begin, begin + piece, out);
        begin += piece;
    }
    return rc == SR_OK ? fs_finder_add(file, begin, last_end, out) : rc;
}

static sr_rc fs_finder_name(struct fs_finder *f, const struct fs_list *l, struct sr_splits *out,
                            struct sr_error *err)
{
    const struct sr_host *h = f->host;
    for (size_t i = 0; i < l->count; i++) {
        const struct fs_found *file = &l->item[i];
        if (fs_set_has(&f->known, file->path)) {
            continue;
        }
        if (fs_finder_is_deflate(file->path)) {
            return h->fail(h, err, SR_ECONFIG,
                           "%s is compressed by deflate, which this source cannot read: decompress "
                           "it, or leave it out of path",
                           file->path);
        }
        sr_rc rc = fs_finder_cut(f, file, out);
        if (rc == SR_OK) {
            rc = fs_set_add(&f->known, file->path, NULL);
        }
        if (rc != SR_OK) {
            return h->fail(h, err, rc, "cannot take %s as a split", file->path);
        }
    }
    return SR_OK;
}

enum sr_discovered fs_finder_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                      struct sr_error *err)
{
    struct fs_finder *f = finder;
    const struct sr_host *h = f->host;
    bool is_monitored = f->conf->monitor_interval.us > 0;
    if (f->is_broken) {
        (void)h->fail(h, err, SR_ENOMEM, "out of memory while taking back the restored splits");
        return SR_DISCOVER_FAILED;
    }
    struct fs_list list = {0};
    sr_rc rc = fs_walk(h, f->path, &list, err);
    if (rc == SR_EABSENT && (f->has_looked || f->known.count > 0)) {
        rc = SR_OK; /* it was there: what it held is read or known */
    }
    if (rc == SR_OK && list.count == 0 && !is_monitored && f->known.count == 0 &&
        fs_walk_is_pattern(f->path)) {
        struct sr_stat stat;
        if (h->files->stat(h->files, f->path, &stat, err) == SR_EABSENT) {
            rc = h->fail(h, err, SR_EABSENT, "no file matches %s", f->path);
        }
    }
    if (rc == SR_OK) {
        rc = fs_finder_name(f, &list, out, err);
    }
    fs_list_done(&list);
    if (rc != SR_OK) {
        return SR_DISCOVER_FAILED;
    }
    f->has_looked = true;
    if (!is_monitored) {
        return SR_DISCOVERED_ALL;
    }
    *wait = (struct sr_wait){.fd = -1, .until_us = h->mono_us(h) + f->conf->monitor_interval.us};
    return SR_DISCOVERED_SOFAR;
}

void fs_finder_close(void *finder)
{
    struct fs_finder *f = finder;
    fs_set_done(&f->known);
    free(f->path);
    f->path = NULL;
}
