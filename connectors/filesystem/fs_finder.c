#include "connectors/filesystem/fs_finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "connectors/common/note.h"
#include "connectors/filesystem/fs_print.h"

sr_rc fs_finder_open(void *finder, const struct sr_source_open *o, struct sr_error *err)
{
    struct fs_finder *f = finder;
    f->host = o->host;
    f->conf = o->conf;
    f->may_cut = (o->format_flags & SR_FORMAT_LINES) != 0;
    f->is_monitored = f->conf->monitor_interval.us > 0;
    f->goes_on = o->goes_on;
    f->known.host = o->host;
    f->path = fs_path_clean(f->conf->path);
    char why[160];
    f->regex = f->conf->regex ? fs_regex_new(f->conf->regex, why, sizeof(why)) : NULL;
    if (f->conf->regex && !f->regex) {
        return o->host->fail(o->host, err, SR_ECONFIG, "source.path.regex-pattern: %s", why);
    }
    return f->path ? SR_OK : o->host->fail(o->host, err, SR_ENOMEM, "out of memory");
}

void fs_finder_restored(void *finder, uint32_t number, const struct sr_split *split,
                        bool is_finished)
{
    struct fs_finder *f = finder;
    sr_rc rc = fs_known_add(&f->known, number, split);
    if (rc != SR_OK) {
        f->broken = rc; /* naming it again would double its rows: discover fails */
        return;
    }
    f->known.piece[f->known.pieces - 1].split.is_finished = is_finished;
}

void fs_finder_close(void *finder)
{
    struct fs_finder *f = finder;
    fs_known_done(&f->known);
    fs_claims_done(&f->claims);
    fs_set_done(&f->ids);
    fs_regex_free(f->regex);
    f->regex = NULL;
    for (uint32_t i = 0; i < f->names; i++) {
        free(f->named[i].path);
    }
    free(f->named);
    free(f->path);
    f->named = NULL;
    f->path = NULL;
}

static sr_rc fs_finder_no_memory(const struct fs_finder *f, struct sr_error *err)
{
    return f->host->fail(f->host, err, SR_ENOMEM, "out of memory for the files of %s", f->path);
}

sr_rc fs_finder_told(void *finder, const struct sr_split *split, struct sr_error *err)
{
    struct fs_finder *f = finder;
    sr_rc rc = fs_claims_put(&f->claims, split->id, split->note);
    return rc == SR_ENOMEM ? fs_finder_no_memory(f, err) : rc;
}

/* --- One file by many paths ------------------------------------------------------------------- */

static int fs_finder_compare_inodes(const void *a, const void *b)
{
    int by_inode = fs_found_compare_inodes(a, b);
    return by_inode != 0
               ? by_inode
               : strcmp(((const struct fs_found *)a)->path, ((const struct fs_found *)b)->path);
}

static bool fs_finder_is_same_file(const struct fs_found *x, const struct fs_found *y)
{
    return x->stat.device == y->stat.device && x->stat.inode == y->stat.inode;
}

static bool fs_finder_is_link(const struct fs_finder *f, const char *path)
{
    char *real = NULL;
    struct sr_error ignored;
    sr_rc rc = f->host->files->follow(f->host->files, path, &real, &ignored);
    bool is_link = rc != SR_OK || strcmp(real, path) != 0;
    free(rc == SR_OK ? real : NULL);
    return is_link;
}

/* Of the paths to one file, the first that is no link stays, else the first. */
static void fs_finder_unite(const struct fs_finder *f, struct fs_list *l)
{
    if (l->count > 1) {
        qsort(l->item, l->count, sizeof(*l->item), fs_finder_compare_inodes);
    }
    uint32_t kept = 0;
    bool is_kept_link = false, is_looked_up = false;
    for (uint32_t i = 0; i < l->count; i++) {
        struct fs_found file = l->item[i];
        if (kept == 0 || !fs_finder_is_same_file(&l->item[kept - 1], &file)) {
            l->item[kept++] = file;
            is_looked_up = false;
            continue;
        }
        is_kept_link = is_looked_up ? is_kept_link : fs_finder_is_link(f, l->item[kept - 1].path);
        is_looked_up = true;
        if (is_kept_link && !fs_finder_is_link(f, file.path)) {
            struct fs_found link = l->item[kept - 1];
            l->item[kept - 1] = file;
            file = link;
            is_kept_link = false;
        }
        free(file.path);
    }
    l->count = kept;
}

/* --- Naming ----------------------------------------------------------------------------------- */

/* Flink reads these by their name; what they hold has no sign of its own. */
static bool fs_finder_is_deflate(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".deflate") == 0;
}

/* What is at fault is not: its reader tells. */
static sr_rc fs_finder_is_packed(const struct fs_finder *f, const char *path, bool *is_packed,
                                 struct sr_error *err)
{
    struct fs_input in;
    sr_rc rc = fs_input_open(&in, f->host, path, err);
    *is_packed = rc == SR_OK && fs_input_is_packed(&in);
    fs_input_close(&in);
    return fs_input_is_at_fault(rc) ? SR_OK : rc;
}

/* That of what is at fault is empty: its reader tells. */
static sr_rc fs_finder_head(const struct fs_finder *f, const char *path, struct fs_print *head,
                            struct sr_error *err)
{
    struct fs_input in;
    sr_rc rc = fs_input_open(&in, f->host, path, err);
    rc = rc == SR_OK ? fs_print_take(&in, 0, FS_PRINT_BYTES, head, err) : rc;
    fs_input_close(&in);
    return fs_input_is_at_fault(rc) ? SR_OK : rc;
}

static struct fs_identity fs_finder_identity(const struct fs_found *file)
{
    return (struct fs_identity){.device = file->stat.device,
                                .inode = file->stat.inode,
                                .size_bytes = file->stat.size_bytes,
                                .modified_us = file->stat.modified_us};
}

static sr_rc fs_finder_claim(struct fs_finder *f, const struct fs_split *s, const char *id)
{
    struct sr_out note = note_out();
    sr_rc rc = fs_split_save(s, &note);
    rc = rc == SR_OK
             ? fs_claims_put(&f->claims, id, (struct sr_bytes){note.data, (uint32_t)note.len})
             : rc;
    note_free(&note);
    return rc;
}

/* Calls add or change with the note of s; of a followed one it is claimed. */
static sr_rc fs_finder_put(struct fs_finder *f, struct sr_splits *out, const struct fs_split *s,
                           const char *id, int64_t order, const struct fs_piece *piece)
{
    struct sr_out note = note_out();
    sr_rc rc = fs_split_save(s, &note);
    uint64_t last = s->end < s->file.size_bytes ? s->end : s->file.size_bytes;
    struct sr_split split = {.id = id,
                             .note = {note.data, (uint32_t)note.len},
                             .order = order,
                             .size_bytes = last > s->begin ? (int64_t)(last - s->begin) : 0};
    if (rc == SR_OK) {
        rc =
            piece ? out->change(out, piece->number, &split, s->is_finished) : out->add(out, &split);
    }
    if (rc == SR_OK && f->is_monitored) {
        rc = fs_claims_put(&f->claims, id, split.note);
    }
    note_free(&note);
    return rc;
}

static sr_rc fs_finder_add(struct fs_finder *f, const char *file_id, const struct fs_found *file,
                           const uint64_t range[2], struct sr_splits *out, struct sr_error *err)
{
    struct fs_split s = {.path = file->path,
                         .begin = range[0],
                         .end = range[1],
                         .offset = range[0],
                         .is_aligned = range[0] == 0,
                         .file = fs_finder_identity(file)};
    if (f->is_monitored) { /* so that its reader knows it again, wherever it is by then */
        sr_rc rc = fs_finder_head(f, file->path, &s.file.head, err);
        if (rc != SR_OK) {
            return rc;
        }
    }
    char *id = fs_split_id(file_id, range[0]);
    sr_rc rc = id ? fs_finder_put(f, out, &s, id, file->stat.modified_us, NULL) : SR_ENOMEM;
    free(id);
    return rc == SR_OK ? rc : fs_finder_no_memory(f, err);
}

/* A file of lines that is not compressed is cut where it is large; the last piece of a bounded one
 * ends where the file did when it was found, that of a monitored one never. Other formats are read
 * whole. */
static sr_rc fs_finder_cut(struct fs_finder *f, const struct fs_found *file, const char *id,
                           uint64_t begin, struct sr_splits *out, struct sr_error *err)
{
    uint64_t size = file->stat.size_bytes, piece = f->conf->split_size.bytes;
    bool may_cut = f->may_cut && piece > 0 && size > begin && size - begin > piece;
    sr_rc rc = SR_OK;
    if (may_cut && begin == 0) {
        bool is_packed = false;
        rc = fs_finder_is_packed(f, file->path, &is_packed, err);
        may_cut = !is_packed;
    }
    bool is_open = f->is_monitored || !f->may_cut || (!may_cut && begin == 0 && size > piece);
    while (rc == SR_OK && may_cut && size - begin > piece) {
        rc = fs_finder_add(f, id, file, (uint64_t[]){begin, begin + piece}, out, err);
        begin += piece;
    }
    uint64_t last[] = {begin, is_open ? FS_SPLIT_OPEN : size};
    return rc == SR_OK ? fs_finder_add(f, id, file, last, out, err) : rc;
}

/* An id that no file had yet: its path, if it can be. The caller frees it; NULL: out of memory. */
static char *fs_finder_new_id(struct fs_finder *f, const char *path)
{
    size_t size = strlen(path) + 16;
    char *id = malloc(size);
    bool is_new = false;
    for (uint32_t n = 1; id && !is_new; n++) {
        (void)snprintf(id, size, n == 1 ? "%s" : "%s//#%u", path, n);
        if (fs_set_add(&f->ids, id, &is_new) != SR_OK) {
            free(id);
            id = NULL;
        }
    }
    return id;
}

static sr_rc fs_finder_name(struct fs_finder *f, const struct fs_found *file, struct sr_splits *out,
                            struct sr_error *err)
{
    const struct sr_host *h = f->host;
    if (fs_finder_is_deflate(file->path)) {
        return h->fail(h, err, SR_ECONFIG,
                       "%s is compressed by deflate, which this source cannot read: decompress "
                       "it, or leave it out of path",
                       file->path);
    }
    char *id = fs_finder_new_id(f, file->path);
    sr_rc rc = id ? fs_finder_cut(f, file, id, 0, out, err) : fs_finder_no_memory(f, err);
    free(id);
    return rc;
}

/* --- What earlier runs read ------------------------------------------------------------------- */

static int64_t fs_finder_quiet_us(const struct fs_finder *f, const struct fs_found *file)
{
    return f->host->wall_us(f->host) - file->stat.modified_us;
}

static sr_rc fs_finder_keep_id(struct fs_finder *f, const struct fs_past *p)
{
    char *id = strndup(p->piece[0].id, p->piece[0].id_file);
    sr_rc rc = id ? fs_set_add(&f->ids, id, NULL) : SR_ENOMEM;
    free(id);
    return rc;
}

static void fs_finder_forget(const struct fs_past *p, struct sr_splits *out)
{
    for (uint32_t i = 0; i < p->pieces; i++) {
        out->forget(out, p->piece[i].number);
    }
}

/* Its contents are nowhere. What was read to its end is forgotten: at once where its path holds
 * something else, and when two runs did not find it: the first may have looked in the middle of a
 * rename. */
static sr_rc fs_finder_lose(struct fs_finder *f, const struct fs_past *p, struct sr_splits *out)
{
    const struct sr_host *h = f->host;
    bool is_read = true, was_missing = true;
    for (uint32_t i = 0; i < p->pieces; i++) {
        is_read = is_read && p->piece[i].split.is_finished;
        was_missing = was_missing && p->piece[i].split.is_missing;
    }
    if (p->is_gone && !is_read) {
        return fs_finder_keep_id(f, p); /* its reader tells what that means */
    }
    if (!p->is_gone && !is_read) {
        h->log(h, SR_WARN,
               "%s was cut or replaced before it was read to its end, at byte %llu: it is read "
               "from its beginning",
               p->piece[0].split.path, (unsigned long long)(p->mark ? p->mark->split.offset : 0));
        h->count(h, "files-replaced", 1);
    }
    if (!p->is_gone || was_missing) {
        fs_finder_forget(p, out);
        return SR_OK;
    }
    sr_rc rc = fs_finder_keep_id(f, p);
    for (uint32_t i = 0; rc == SR_OK && i < p->pieces; i++) {
        struct fs_split s = p->piece[i].split;
        s.is_missing = true;
        rc = fs_finder_put(f, out, &s, p->piece[i].id, p->piece[i].order, &p->piece[i]);
    }
    return rc;
}

/* Where the last piece of a file ends now. *next: where further pieces begin, or 0. */
static uint64_t fs_finder_extend(const struct fs_finder *f, const struct fs_past *p,
                                 const struct fs_split *s, uint64_t *next)
{
    uint64_t size = p->now->stat.size_bytes, piece = f->conf->split_size.bytes;
    *next = 0;
    if (f->is_monitored || !f->may_cut || p->is_packed) {
        return FS_SPLIT_OPEN;
    }
    uint64_t cut = s->begin + piece > s->offset ? s->begin + piece : s->offset;
    if (piece == 0 || size <= cut) {
        return size > s->offset ? size : s->offset;
    }
    *next = cut;
    return cut;
}

static bool fs_finder_has_moved(const struct fs_past *p, const struct fs_split *s)
{
    return strcmp(s->path, p->now->path) != 0 || s->file.device != p->now->stat.device ||
           s->file.inode != p->now->stat.inode || s->is_missing || s->is_packed != p->is_packed ||
           (!s->is_finished && s->file.size_bytes > p->now->stat.size_bytes);
}

/* One piece of a file whose contents are at p->now: it goes on if it may have more. */
static sr_rc fs_finder_resume_piece(struct fs_finder *f, const struct fs_past *p, uint32_t i,
                                    struct sr_splits *out, uint64_t *next)
{
    const struct fs_piece *piece = &p->piece[i];
    struct fs_split s = piece->split;
    bool is_last = i + 1 == p->pieces;
    bool is_complete = !is_last && s.is_aligned && s.offset >= s.end;
    bool has_more = is_last && f->is_monitored ? true : p->has_more && !is_complete;
    bool goes_on = s.is_finished && has_more;
    if (!goes_on && !fs_finder_has_moved(p, &s)) {
        return f->is_monitored ? fs_finder_claim(f, &s, piece->id) : SR_OK;
    }
    s.path = p->now->path;
    s.file.device = p->now->stat.device;
    s.file.inode = p->now->stat.inode;
    s.is_packed = p->is_packed;
    s.is_missing = false;
    s.is_finished = s.is_finished && !goes_on;
    if (!s.is_finished) {
        s.file.size_bytes = p->now->stat.size_bytes;
    }
    if (goes_on) {
        s.end = is_last ? fs_finder_extend(f, p, &s, next) : s.end;
    }
    return fs_finder_put(f, out, &s, piece->id, p->now->stat.modified_us, piece);
}

static sr_rc fs_finder_resume(struct fs_finder *f, const struct fs_past *p, struct sr_splits *out,
                              struct sr_error *err)
{
    uint64_t next = 0;
    sr_rc rc = p->now ? fs_finder_keep_id(f, p) : fs_finder_lose(f, p, out);
    for (uint32_t i = 0; p->now && rc == SR_OK && i < p->pieces; i++) {
        rc = fs_finder_resume_piece(f, p, i, out, &next);
    }
    char *id = rc == SR_OK && next > 0 ? strndup(p->piece[0].id, p->piece[0].id_file) : NULL;
    if (rc != SR_OK || (next > 0 && !id)) {
        return fs_finder_no_memory(f, err);
    }
    rc = next > 0 ? fs_finder_cut(f, p->now, id, next, out, err) : SR_OK;
    free(id);
    return rc;
}

static sr_rc fs_finder_resume_all(struct fs_finder *f, const struct fs_list *l, bool *is_taken,
                                  bool *is_left, struct sr_splits *out, struct sr_error *err)
{
    sr_rc rc = fs_known_settle(&f->known) == SR_OK ? SR_OK : fs_finder_no_memory(f, err);
    rc = rc == SR_OK ? fs_known_match(&f->known, l, is_taken, err) : rc;
    for (size_t i = 0; rc == SR_OK && i < l->count; i++) {
        bool is_fresh = fs_finder_quiet_us(f, &l->item[i]) <= FS_COPYING_US;
        if (!is_taken[i] && is_fresh) {
            rc = fs_known_is_copying(&f->known, &l->item[i], &is_left[i], err);
        }
    }
    for (uint32_t i = 0; rc == SR_OK && i < f->known.pasts; i++) {
        rc = fs_finder_resume(f, &f->known.past[i], out, err);
    }
    fs_known_done(&f->known);
    f->known.host = f->host;
    return rc;
}

/* --- Following -------------------------------------------------------------------------------- */

static int fs_finder_compare_named(const void *a, const void *b)
{
    const struct fs_named *x = a;
    const struct fs_named *y = b;
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static struct fs_named *fs_finder_find_named(const struct fs_finder *f, const struct fs_found *file)
{
    struct fs_named key = {.device = file->stat.device, .inode = file->stat.inode};
    return f->names > 0 ? bsearch(&key, f->named, f->names, sizeof(key), fs_finder_compare_named)
                        : NULL;
}

/* What was named, as it is now: files that are gone are left out, so that an inode can be used
 * anew. The list is in order of inodes. */
static sr_rc fs_finder_remember(struct fs_finder *f, struct fs_list *l, const bool *is_named,
                                struct sr_error *err)
{
    struct fs_named *now = calloc(l->count + 1, sizeof(*now));
    uint32_t count = 0;
    for (size_t i = 0; now && i < l->count; i++) {
        if (is_named[i]) {
            now[count++] = (struct fs_named){.device = l->item[i].stat.device,
                                             .inode = l->item[i].stat.inode,
                                             .path = l->item[i].path};
            l->item[i].path = NULL; /* ours from now on */
        }
    }
    for (uint32_t i = 0; i < f->names; i++) {
        free(f->named[i].path);
    }
    free(f->named);
    f->named = now;
    f->names = count;
    return now ? SR_OK : fs_finder_no_memory(f, err);
}

/* Does the file hold what a followed one of a related name has at its beginning now? */
static sr_rc fs_finder_is_copying(const struct fs_finder *f, const struct fs_list *l,
                                  const struct fs_found *file, bool *is_copying,
                                  struct sr_error *err)
{
    sr_rc rc = SR_OK;
    for (uint32_t i = 0; rc == SR_OK && !*is_copying && i < f->names; i++) {
        const struct fs_named *n = &f->named[i];
        if (strcmp(n->path, file->path) == 0 || !fs_known_is_related(n->path, file->path)) {
            continue;
        }
        struct fs_found key = {.stat = {.device = n->device, .inode = n->inode}};
        const struct fs_found *now =
            bsearch(&key, l->item, l->count, sizeof(key), fs_found_compare_inodes);
        rc = now ? fs_print_is_part(f->host, file, now->path, is_copying, err) : SR_OK;
    }
    return rc;
}

/* Is a file that appears while others are followed new, or a copy of what is read already? */
static sr_rc fs_finder_newness(struct fs_finder *f, const struct fs_list *l,
                               const struct fs_found *file, enum fs_newness *out,
                               struct sr_error *err)
{
    sr_rc rc = fs_claims_match(&f->claims, f->host, l, file, out, err);
    if (rc != SR_OK || *out == FS_COPY) {
        return rc;
    }
    int64_t quiet_us = fs_finder_quiet_us(f, file);
    bool is_settled = quiet_us > 3 * f->conf->monitor_interval.us && quiet_us > FS_COPYING_US;
    bool is_maybe = *out == FS_COPY_MAYBE;
    if (!is_maybe && !is_settled) {
        rc = fs_finder_is_copying(f, l, file, &is_maybe, err);
    }
    *out = is_maybe && !is_settled ? FS_COPY_MAYBE : FS_NEW;
    return rc;
}

/* --- Looking ---------------------------------------------------------------------------------- */

static sr_rc fs_finder_name_new(struct fs_finder *f, const struct fs_list *l, bool *is_named,
                                struct sr_splits *out, struct sr_error *err)
{
    sr_rc rc = SR_OK;
    const bool *is_left = is_named + l->count + 1;
    for (size_t i = 0; rc == SR_OK && i < l->count; i++) {
        const struct fs_found *file = &l->item[i];
        if (is_left[i]) {
            continue;
        }
        is_named[i] = is_named[i] || fs_finder_find_named(f, file);
        enum fs_newness newness = FS_NEW;
        if (!is_named[i] && f->looks > 0) {
            rc = fs_finder_newness(f, l, file, &newness, err);
        }
        if (rc == SR_OK && !is_named[i] && newness == FS_NEW) {
            rc = fs_finder_name(f, file, out, err);
        }
        is_named[i] = is_named[i] || newness != FS_COPY_MAYBE;
    }
    return rc;
}

static sr_rc fs_finder_list(struct fs_finder *f, struct fs_list *l, struct sr_error *err)
{
    const struct sr_host *h = f->host;
    sr_rc rc = fs_walk(h, f->path, l, err);
    if (rc == SR_EABSENT && (f->looks > 0 || f->known.pieces > 0)) {
        rc = SR_OK; /* it was there: what it held is read or known */
    }
    if (rc == SR_EABSENT && !f->is_monitored) {
        rc = err->rc = SR_EFINAL; /* trying again would wait for ever; one that watches may wait */
    }
    if (rc == SR_OK && f->regex && fs_regex_filter(f->regex, l) != SR_OK) {
        rc = h->fail(h, err, SR_ELIMIT,
                     "source.path.regex-pattern takes too many steps to match a path");
    }
    if (rc == SR_OK && l->count == 0 && !f->is_monitored && f->known.pieces == 0 &&
        fs_walk_is_pattern(f->path)) {
        struct sr_stat stat;
        rc = h->files->stat(h->files, f->path, &stat, err);
        rc = rc == SR_EABSENT ? h->fail(h, err, SR_EFINAL, "no file matches %s", f->path) : rc;
    }
    if (rc == SR_OK && l->nowhere > 0 && f->looks == 0) {
        h->log(h, SR_WARN, "%s is a link that leads nowhere%s: left out", l->nowhere_first,
               l->nowhere > 1 ? ", and there are more" : "");
    }
    if (rc == SR_OK) {
        fs_finder_unite(f, l);
    }
    return rc;
}

/* When to look again. Looking at very many files takes its time: it is given at most the
 * FS_LOOK_SHARE-th part of all, as long as that does not stretch the interval tenfold. */
static int64_t fs_finder_next_us(const struct fs_finder *f, int64_t began_us)
{
    int64_t now_us = f->host->mono_us(f->host), interval_us = f->conf->monitor_interval.us;
    int64_t fair_us = f->looks > 1 ? (now_us - began_us) * FS_LOOK_SHARE : 0;
    fair_us = fair_us < 10 * interval_us ? fair_us : 10 * interval_us;
    return now_us + (fair_us > interval_us ? fair_us : interval_us);
}

enum sr_discovered fs_finder_discover(void *finder, struct sr_splits *out, struct sr_wait *wait,
                                      struct sr_error *err)
{
    struct fs_finder *f = finder;
    const struct sr_host *h = f->host;
    if (f->broken != SR_OK) {
        (void)h->fail(h, err, f->broken, "a restored position cannot be read");
        return SR_DISCOVER_FAILED;
    }
    struct fs_list list = {0};
    bool *is_named = NULL;
    int64_t began_us = h->mono_us(h);
    sr_rc rc = fs_finder_list(f, &list, err);
    if (rc == SR_OK) {
        is_named = calloc(2 * ((size_t)list.count + 1), sizeof(*is_named)); /* and what is left */
        if (!is_named) {
            (void)fs_finder_no_memory(f, err);
            rc = SR_ENOMEM;
        }
    }
    if (rc == SR_OK && f->looks == 0) {
        rc = fs_finder_resume_all(f, &list, is_named, is_named + list.count + 1, out, err);
    }
    if (rc == SR_OK) {
        rc = fs_finder_name_new(f, &list, is_named, out, err);
    }
    if (rc == SR_OK && f->is_monitored) {
        rc = fs_finder_remember(f, &list, is_named, err);
    }
    free(is_named);
    fs_list_done(&list);
    if (rc != SR_OK) {
        return SR_DISCOVER_FAILED;
    }
    f->looks++;
    if (!f->is_monitored) {
        return SR_DISCOVERED_ALL;
    }
    *wait = (struct sr_wait){.fd = -1, .until_us = fs_finder_next_us(f, began_us)};
    return SR_DISCOVERED_SOFAR;
}
