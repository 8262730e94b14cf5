#include "connectors/filesystem/fs_known.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/list.h"
#include "connectors/filesystem/filesystem.h"
#include "connectors/filesystem/fs_print.h"

#define FS_KNOWN_SAME_US INT64_C(2000000) /* times of a file and its copy, at most apart */

/* --- Taking ----------------------------------------------------------------------------------- */

sr_rc fs_known_add(struct fs_known *k, uint32_t number, const struct sr_split *split)
{
    void *moved = list_room(k->piece, k->pieces, &k->capacity, sizeof(*k->piece));
    if (!moved) {
        return SR_ENOMEM;
    }
    k->piece = moved;
    struct fs_piece p = {.number = number, .id = strdup(split->id), .order = split->order};
    sr_rc rc = p.id ? fs_split_load(&p.split, split->note) : SR_ENOMEM;
    if (rc != SR_OK) {
        free(p.id);
        return rc;
    }
    p.id_file = fs_split_id_file(p.id);
    k->piece[k->pieces++] = p;
    return SR_OK;
}

void fs_known_done(struct fs_known *k)
{
    for (uint32_t i = 0; i < k->pieces; i++) {
        free(k->piece[i].id);
        fs_split_done(&k->piece[i].split);
    }
    free(k->piece);
    free(k->past);
    fs_set_done(&k->stems);
    *k = (struct fs_known){0};
}

static int fs_known_compare_files(const struct fs_piece *x, const struct fs_piece *y)
{
    size_t len = x->id_file < y->id_file ? x->id_file : y->id_file;
    int by_name = memcmp(x->id, y->id, len);
    return by_name != 0 ? by_name : x->id_file < y->id_file ? -1 : x->id_file > y->id_file;
}

static int fs_known_compare(const void *a, const void *b)
{
    const struct fs_piece *x = a;
    const struct fs_piece *y = b;
    int by_file = fs_known_compare_files(x, y);
    return by_file != 0                      ? by_file
           : x->split.begin < y->split.begin ? -1
                                             : x->split.begin > y->split.begin;
}

/* Up to its first dot: "app" of "app.log.1". */
static size_t fs_known_stem(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

sr_rc fs_known_settle(struct fs_known *k)
{
    if (k->pieces > 0) {
        qsort(k->piece, k->pieces, sizeof(*k->piece), fs_known_compare);
    }
    k->past = calloc((size_t)k->pieces + 1, sizeof(*k->past));
    if (!k->past) {
        return SR_ENOMEM;
    }
    for (uint32_t i = 0; i < k->pieces; i++) {
        struct fs_piece *p = &k->piece[i];
        bool is_new = i == 0 || fs_known_compare_files(p, p - 1) != 0;
        k->pasts += is_new ? 1 : 0;
        struct fs_past *past = &k->past[k->pasts - 1];
        past->piece = is_new ? p : past->piece;
        past->pieces++;
        const char *name = fs_path_name(p->split.path);
        char *stem = is_new ? strndup(name, fs_known_stem(name)) : NULL;
        if (is_new && (!stem || fs_set_add(&k->stems, stem, NULL) != SR_OK)) {
            free(stem);
            return SR_ENOMEM;
        }
        free(stem);
        /* Of a followed file the head is kept before anything is read. */
        bool has_read = p->split.offset > p->split.begin || p->split.begin == 0;
        if (has_read && p->split.file.head.bytes > 0 &&
            (!past->mark || p->split.offset > past->mark->split.offset)) {
            past->mark = p;
        }
    }
    return SR_OK;
}

/* --- Indexes ---------------------------------------------------------------------------------- */

static const struct fs_split *fs_past_split(const struct fs_past *p) { return &p->piece[0].split; }

static int fs_known_compare_inodes(const void *a, const void *b)
{
    const struct fs_identity *x = &fs_past_split(*(struct fs_past *const *)a)->file;
    const struct fs_identity *y = &fs_past_split(*(struct fs_past *const *)b)->file;
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static int fs_known_compare_paths(const void *a, const void *b)
{
    return strcmp(fs_past_split(*(struct fs_past *const *)a)->path,
                  fs_past_split(*(struct fs_past *const *)b)->path);
}

static int fs_known_compare_stems(const void *a, const void *b)
{
    const char *x = fs_path_name(fs_past_split(*(struct fs_past *const *)a)->path);
    const char *y = fs_path_name(fs_past_split(*(struct fs_past *const *)b)->path);
    size_t n = fs_known_stem(x), m = fs_known_stem(y);
    int by_text = memcmp(x, y, n < m ? n : m);
    return by_text != 0 ? by_text : n < m ? -1 : n > m;
}

typedef int fs_known_order(const void *a, const void *b);

struct fs_index {
    struct fs_past **by;
    uint32_t count;
};

/* Those past files in some order that were not found yet. The caller frees `by`. SR_ENOMEM. */
static sr_rc fs_known_index(struct fs_known *k, fs_known_order *order, struct fs_index *out)
{
    out->count = 0;
    out->by = calloc((size_t)k->pasts + 1, sizeof(struct fs_past *));
    for (uint32_t i = 0; out->by && i < k->pasts; i++) {
        if (!k->past[i].now) {
            out->by[out->count++] = &k->past[i];
        }
    }
    if (out->count > 0) {
        qsort((void *)out->by, out->count, sizeof(struct fs_past *), order);
    }
    return out->by ? SR_OK : SR_ENOMEM;
}

/* The first that is not before `key`. */
static uint32_t fs_known_find(const struct fs_index *index, struct fs_past *key,
                              fs_known_order *order)
{
    uint32_t low = 0, high = index->count;
    while (low < high) {
        uint32_t i = low + (high - low) / 2;
        if (order(&index->by[i], &key) < 0) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return low;
}

static sr_rc fs_known_no_memory(const struct fs_known *k, struct sr_error *err)
{
    return k->host->fail(k->host, err, SR_ENOMEM, "out of memory for files that were read before");
}

/* --- Contents --------------------------------------------------------------------------------- */

static bool fs_known_is_same_inode(const struct fs_split *s, const struct fs_found *f)
{
    return s->file.device == f->stat.device && s->file.inode == f->stat.inode;
}

/* Untouched since a split of it was last looked at. */
static bool fs_known_is_untouched(const struct fs_split *s, const struct fs_found *f)
{
    return fs_known_is_same_inode(s, f) && s->file.size_bytes == f->stat.size_bytes &&
           s->file.modified_us == f->stat.modified_us;
}

/* Has it bytes behind `offset`? What is at fault has: its reader tells. */
static sr_rc fs_known_has_more(struct fs_input *in, const struct fs_found *f, uint64_t offset,
                               bool *has_more, struct sr_error *err)
{
    uint8_t byte;
    size_t got = 0;
    *has_more = f->stat.size_bytes > offset;
    if (!fs_input_is_packed(in)) {
        return SR_OK;
    }
    sr_rc rc = fs_input_read(in, &byte, 1, offset, &got, err);
    *has_more = rc != SR_OK || got > 0;
    return fs_input_is_at_fault(rc) ? SR_OK : rc;
}

/* Does the open file hold what was read of p? Sets p's has_more and is_packed then. */
static sr_rc fs_known_fits_open(struct fs_past *p, struct fs_input *in, const struct fs_found *f,
                                bool *fits, struct sr_error *err)
{
    const struct fs_split *s = p->mark ? &p->mark->split : fs_past_split(p);
    sr_rc rc = SR_OK;
    *fits = false;
    if (!fs_input_is_packed(in) && f->stat.size_bytes < s->offset) {
        return SR_OK;
    }
    *fits = !p->mark;
    rc = p->mark ? fs_print_fits(in, s, fits, err) : SR_OK;
    if (fs_input_is_at_fault(rc)) {
        *fits = fs_known_is_same_inode(s, f);
        rc = SR_OK;
    }
    if (rc == SR_OK && *fits) {
        p->is_packed = fs_input_is_packed(in);
        rc = fs_known_has_more(in, f, p->mark ? s->offset : 0, &p->has_more, err);
    }
    return rc;
}

static sr_rc fs_known_fits(const struct fs_known *k, struct fs_past *p, const struct fs_found *f,
                           bool *fits, struct sr_error *err)
{
    const struct fs_split *s = p->mark ? &p->mark->split : fs_past_split(p);
    p->is_packed = s->is_packed;
    if (p->mark && fs_known_is_untouched(s, f)) {
        p->has_more = !s->is_packed && f->stat.size_bytes > s->offset;
        *fits = true;
        return SR_OK;
    }
    struct fs_input in;
    sr_rc rc = fs_input_open(&in, k->host, f->path, err);
    if (fs_input_is_at_fault(rc)) { /* its reader tells why, if it is given to one */
        *fits = p->has_more = fs_known_is_same_inode(s, f);
        rc = SR_OK;
    } else if (rc == SR_OK) {
        rc = fs_known_fits_open(p, &in, f, fits, err);
    }
    fs_input_close(&in);
    return rc;
}

/* --- Names ------------------------------------------------------------------------------------ */

static bool fs_known_begins(const char *name, const char *with, size_t len)
{
    return strncmp(name, with, len) == 0 && !isalnum((unsigned char)name[len]);
}

bool fs_known_is_related(const char *old_path, const char *new_path)
{
    const char *old = fs_path_name(old_path);
    return fs_known_begins(fs_path_name(new_path), old, fs_known_stem(old));
}

/* May `f` be a copy of what was at p's path? Where that path is gone, nothing says that it was
 * rotated, so more is asked for: the whole old name, or its time. */
static bool fs_known_may_be_copy(const struct fs_past *p, const struct fs_found *f, bool is_gone)
{
    const struct fs_split *s = fs_past_split(p);
    const char *old = fs_path_name(s->path), *name = fs_path_name(f->path);
    if (!fs_known_is_related(s->path, f->path)) {
        return false;
    }
    int64_t apart = f->stat.modified_us - (p->mark ? p->mark->split.file.modified_us : 0);
    bool is_same_time = apart <= FS_KNOWN_SAME_US && -apart <= FS_KNOWN_SAME_US;
    return !is_gone || is_same_time || fs_known_begins(name, old, strlen(old));
}

/* --- Matching --------------------------------------------------------------------------------- */

struct fs_match {
    struct fs_known *known;
    const struct fs_list *list;
    bool *is_taken;
    const struct fs_found **now; /* the list by path */
    struct sr_error *err;
};

/* If it fits, and neither has another. What nothing was read of fits anything. */
static sr_rc fs_match_take(struct fs_match *m, struct fs_past *p, size_t i)
{
    const struct fs_found *f = &m->list->item[i];
    bool fits = false;
    sr_rc rc = p->now || m->is_taken[i] ? SR_OK : fs_known_fits(m->known, p, f, &fits, m->err);
    if (rc == SR_OK && fits) {
        p->now = f;
        m->is_taken[i] = true;
    }
    return rc;
}

/* A past file that looks like f in the fields that an order compares. */
static struct fs_piece fs_match_key(const struct fs_found *f)
{
    return (struct fs_piece){
        .split = {.path = f->path, .file = {.device = f->stat.device, .inode = f->stat.inode}}};
}

static sr_rc fs_match_by(struct fs_match *m, fs_known_order *order, bool only_read)
{
    struct fs_index index;
    sr_rc rc = fs_known_index(m->known, order, &index);
    for (size_t i = 0; rc == SR_OK && i < m->list->count; i++) {
        struct fs_piece piece = fs_match_key(&m->list->item[i]);
        struct fs_past key = {.piece = &piece}, *at = &key;
        uint32_t k = fs_known_find(&index, &key, order);
        while (rc == SR_OK && !m->is_taken[i] && k < index.count && order(&index.by[k], &at) == 0) {
            struct fs_past *p = index.by[k++];
            rc = p->mark || !only_read ? fs_match_take(m, p, i) : SR_OK;
        }
    }
    free((void *)index.by);
    return rc;
}

static int fs_match_compare_now(const void *a, const void *b)
{
    return strcmp((*(const struct fs_found *const *)a)->path,
                  (*(const struct fs_found *const *)b)->path);
}

/* The next shorter beginning of a name that may be a stem, from `len` on; 0: none. */
static size_t fs_known_next_stem(const char *name, size_t len)
{
    while (len > 0 && (isalnum((unsigned char)name[len]) || memchr(name + 1, '.', len - 1))) {
        len--;
    }
    return len;
}

static bool fs_match_is_gone(const struct fs_match *m, const struct fs_past *p)
{
    struct fs_found sought = {.path = fs_past_split(p)->path};
    const struct fs_found *key = &sought;
    return !bsearch(&key, m->now, m->list->count, sizeof(struct fs_found *), fs_match_compare_now);
}

/* Of lost files with a stem, from the first on: the one that f holds, and that got furthest. */
static sr_rc fs_match_furthest(struct fs_match *m, const struct fs_index *index, uint32_t first,
                               const struct fs_found *f, struct fs_past **best)
{
    struct fs_past *at = first < index->count ? index->by[first] : NULL;
    sr_rc rc = SR_OK;
    uint32_t looked = 0;
    for (uint32_t k = first; rc == SR_OK && k < index->count && looked < FS_COPIES_MAX; k++) {
        struct fs_past *p = index->by[k];
        if (fs_known_compare_stems(&p, &at) != 0) {
            break;
        }
        if (p->now || !p->mark || (*best && (*best)->mark->split.offset >= p->mark->split.offset) ||
            !fs_known_may_be_copy(p, f, fs_match_is_gone(m, p))) {
            continue;
        }
        looked++;
        bool fits = false;
        rc = fs_known_fits(m->known, p, f, &fits, m->err);
        *best = fits ? p : *best;
    }
    return rc;
}

/* By the stem of `len` bytes of f's name. */
static sr_rc fs_match_copy(struct fs_match *m, const struct fs_index *index, size_t i, size_t len)
{
    const struct fs_found *f = &m->list->item[i];
    char *stem = strndup(fs_path_name(f->path), len);
    if (!stem) {
        return SR_ENOMEM;
    }
    struct fs_piece piece = {.split = {.path = stem}};
    struct fs_past key = {.piece = &piece}, *at = &key, *best = NULL;
    uint32_t k = fs_known_find(index, &key, fs_known_compare_stems);
    sr_rc rc = k < index->count && fs_known_compare_stems(&index->by[k], &at) == 0
                   ? fs_match_furthest(m, index, k, f, &best)
                   : SR_OK;
    free(stem);
    return rc == SR_OK && best ? fs_match_take(m, best, i) : rc;
}

static sr_rc fs_match_copies(struct fs_match *m)
{
    struct fs_index index;
    sr_rc rc = fs_known_index(m->known, fs_known_compare_stems, &index);
    for (size_t i = 0; rc == SR_OK && i < m->list->count; i++) {
        const char *name = fs_path_name(m->list->item[i].path);
        size_t len = m->is_taken[i] ? 0 : fs_known_next_stem(name, strlen(name));
        while (rc == SR_OK && len > 0) {
            rc = fs_match_copy(m, &index, i, len);
            len = m->is_taken[i] ? 0 : fs_known_next_stem(name, len - 1);
        }
    }
    free((void *)index.by);
    return rc;
}

sr_rc fs_known_match(struct fs_known *k, const struct fs_list *l, bool *is_taken,
                     struct sr_error *err)
{
    if (k->pasts == 0) {
        return SR_OK;
    }
    struct fs_match m = {
        .known = k, .list = l, .now = calloc(l->count + 1, sizeof(struct fs_found *))};
    sr_rc rc = m.now ? SR_OK : SR_ENOMEM;
    m.is_taken = is_taken;
    m.err = err;
    for (size_t i = 0; rc == SR_OK && i < l->count; i++) {
        m.now[i] = &l->item[i];
    }
    if (rc == SR_OK && l->count > 0) {
        qsort((void *)m.now, l->count, sizeof(struct fs_found *), fs_match_compare_now);
    }
    rc = rc == SR_OK ? fs_match_by(&m, fs_known_compare_inodes, true) : rc;
    rc = rc == SR_OK ? fs_match_by(&m, fs_known_compare_paths, false) : rc;
    rc = rc == SR_OK ? fs_match_by(&m, fs_known_compare_inodes, false) : rc;
    rc = rc == SR_OK ? fs_match_copies(&m) : rc;
    for (uint32_t i = 0; rc == SR_OK && i < k->pasts; i++) {
        k->past[i].is_gone = !k->past[i].now && fs_match_is_gone(&m, &k->past[i]);
    }
    free((void *)m.now);
    return rc == SR_ENOMEM ? fs_known_no_memory(k, err) : rc;
}

static sr_rc fs_known_has_stem(const struct fs_known *k, const char *name, bool *has)
{
    size_t len = fs_known_next_stem(name, strlen(name));
    *has = false;
    while (len > 0 && !*has) {
        char *stem = strndup(name, len);
        if (!stem) {
            return SR_ENOMEM;
        }
        *has = fs_set_has(&k->stems, stem);
        free(stem);
        len = fs_known_next_stem(name, len - 1);
    }
    return SR_OK;
}

/* Is it one of what lies where a past file was found? A copy has the longer name. */
static sr_rc fs_past_is_copying(const struct fs_past *p, const struct sr_host *host,
                                const struct fs_found *file, bool *is_copying, struct sr_error *err)
{
    const char *id = p->piece[0].id, *more = strstr(id, "//");
    char *path = strndup(id, more ? (size_t)(more - id) : strlen(id));
    if (!path) {
        return SR_ENOMEM;
    }
    *is_copying = false;
    bool may_be = strlen(fs_path_name(path)) < strlen(fs_path_name(file->path)) &&
                  fs_known_is_related(path, file->path);
    sr_rc rc = may_be ? fs_print_is_part(host, file, path, is_copying, err) : SR_OK;
    free(path);
    return rc;
}

sr_rc fs_known_is_copying(const struct fs_known *k, const struct fs_found *file, bool *is_copying,
                          struct sr_error *err)
{
    bool has_stem = false;
    *is_copying = false;
    sr_rc rc = fs_known_has_stem(k, fs_path_name(file->path), &has_stem);
    for (uint32_t i = 0; rc == SR_OK && has_stem && !*is_copying && i < k->pasts; i++) {
        const struct fs_past *p = &k->past[i];
        if (p->now && fs_known_is_related(p->now->path, file->path)) {
            rc = fs_print_is_part(k->host, file, p->now->path, is_copying, err);
        }
        if (rc == SR_OK && !*is_copying) {
            rc = fs_past_is_copying(p, k->host, file, is_copying, err);
        }
    }
    return rc == SR_ENOMEM ? fs_known_no_memory(k, err) : rc;
}
